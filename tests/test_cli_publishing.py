"""`release` with and without a version, on a project that people judged."""

from __future__ import annotations

import errno
import json
import shlex
import shutil
from pathlib import Path

import pytest
from judged_project import BEST, context, filtered, judge

from swag_studio import cli
from swag_studio.project import Project
from swag_studio.recipe import preset
from swag_studio.releases import KEPT, ON_CARD


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Eight contexts, of which people judged four and a simulated annotator two."""
    contexts = [context(i) for i in range(8)]
    with filtered(tmp_path / "p.swag", preset("demo"), contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts[:4]})
        judge(project, {c.video_id: [BEST] for c in contexts[4:6]}, ["a9"])
    return tmp_path / "p.swag"


def told(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    return " ".join((out + err).split())


def test_a_version_makes_a_release(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["release", str(path), "--version", "1.0.0", "--format", "swag_csv", "--json"]
    assert cli.main([*words, "--licence", "mit", "--out", str(path.parent / "out")]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert summary["questions"] == 4 and summary["verified_by"] == "people"
    assert summary["left_out"] == {"not judged": 4}
    made = path / "releases/1.0.0"
    assert (path.parent / "out/train.csv").read_bytes() == (made / "train.csv").read_bytes()
    assert "license: mit\n" in (made / "README.md").read_text("utf-8")
    assert cli.main(words) == 1
    assert "exists already" in capsys.readouterr().out


def test_a_fault_is_overridden_with_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contexts = [context(0, sent1="She sits.\x07"), context(1)]
    with filtered(tmp_path / "p.swag", preset("demo"), contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts})
    words = ["release", str(tmp_path / "p.swag"), "--version", "1.0.0", "--format", "swag_csv"]
    assert cli.main(words) == 1
    assert "--override control_characters --because TEXT" in told(capsys)
    assert cli.main([*words, "--override", "control_characters", "--because", " a  bell "]) == 0
    folder = tmp_path / "p.swag/releases/1.0.0"
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest["overrides"] == ["control_characters"]
    assert manifest["override_reason"] == "a bell"
    card = (folder / "README.md").read_text("utf-8")
    assert "Released all the same, since: a bell\n" in card


def test_what_is_in_it_is_said(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--unverified", "--include-simulated", "--format", "swag_csv"]
    assert cli.main(["release", str(path), "--version", "1.0.0", *words]) == 0
    text = told(capsys)
    assert "Release done: 8 questions" in text
    assert "Simulated annotators' answers are in it" in text
    assert "Nobody judged 2 of its questions" in text


def test_without_a_version_verified_contexts_ask_for_one(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["release", str(path)]) == 1
    text = told(capsys)
    assert "People have verified 4 contexts" in text and "--version 1.0.0" in text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--unverified"], "Add --version 1.0.0"),
        (["--licence", "mit"], "Add --version 1.0.0"),
        (["--version", "1"], "1 is no version of a release"),
        (["--version", "1.0.0", "--override", "typos"], "typos is no check"),
        (["--version", "1.0.0", "--override", "empty_ending"], "Give the reason with --because"),
        (["--version", "1.0.0", "--override", "stray_space", "--because", "so"], "is a warning"),
        (["--version", "1.0.0", "--format", "docx"], "docx is no format"),
        (["--version", "1.0.0", "--language", "english"], "english is no code of a language"),
        (["--version", "1.0.0", "--because", "so"], "Add --override ERROR"),
        (["--version", "1.0.0", "--run", "7"], "no finished run 7"),
    ],
)
def test_what_cannot_be_is_refused(
    path: Path, capsys: pytest.CaptureFixture[str], words: list[str], text: str
) -> None:
    assert cli.main(["release", str(path), *words]) == 1
    assert text in told(capsys)
    assert list((path / "releases").iterdir()) == []


def test_the_pasted_command_of_a_blocked_release_releases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contexts = [context(i, sent1="She sits.\x07") for i in range(8)]
    with filtered(tmp_path / "p.swag", preset("demo"), contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts})
    words = ["release", str(tmp_path / "p.swag"), "--version", "1.0.0", "--format", "swag_csv"]
    words += ["--override", "control_characters", "--because", "it's a bell", "--out"]
    assert cli.main([*words, str(tmp_path / "a copy"), "--json"]) == 1
    error = json.loads(capsys.readouterr().out.splitlines()[-1])["text"]
    name, *pasted = shlex.split(error.partition("To release all the same: ")[2])
    assert name == "swag-studio" and cli.main(pasted) == 0
    assert (tmp_path / "a copy/train.csv").is_file()
    manifest = json.loads((tmp_path / "a copy/manifest.json").read_text("utf-8"))
    assert manifest["overrides"] == ["context_across_splits", "control_characters"]
    assert manifest["override_reason"] == "it's a bell"


@pytest.mark.parametrize(
    ("out", "text"),
    [
        ("p.swag/releases/10.0.0", "is in the project"),
        ("p.swag", "is in the project"),
        ("a.txt", "a.txt is a file"),
        ("a.txt/sub", "a.txt is a file"),
        ("full", "is not empty"),
    ],
)
def test_a_copy_goes_to_a_new_or_empty_folder_outside(
    path: Path, out: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (path.parent / "full").mkdir()
    for name in ("a.txt", "full/b.txt"):
        (path.parent / name).write_text("", "utf-8")
    words = ["release", str(path), "--version", "1.0.0", "--format", "swag_csv", "--out"]
    assert cli.main([*words, str(path.parent / out)]) == 1
    assert text in told(capsys)
    assert list((path / "releases").iterdir()) == []


@pytest.mark.parametrize("there", [True, False])
def test_a_copy_that_does_not_fit_is_none_and_the_release_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], there: bool
) -> None:
    copied: list[str] = []

    def full(source: Path, target: Path) -> None:
        if source.name == "manifest.json":
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        copied.append(source.name)
        target.write_bytes(source.read_bytes())

    monkeypatch.setattr(shutil, "copyfile", full)
    out = path.parent / "a/b/out"
    if there:
        out.mkdir(parents=True)
    words = ["release", str(path), "--version", "1.0.0", "--format", "spreadsheet", "--out"]
    assert cli.main([*words, str(out)]) == 1
    text = told(capsys)
    assert f"The release is written, in {path}/releases/1.0.0, but not all of it" in text
    assert "(no space left on device), so nothing is there" in text
    assert copied.count("train.csv") == 2  # the manifest came last
    assert out.exists() == there and not (there and any(out.iterdir()))
    assert (path / "releases/1.0.0/manifest.json").is_file()


def test_the_card_says_what_the_page_keeps_unless_it_is_given(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Project.open(path) as project:
        kept = {"title": "Kitchen scenes", "licence": "MIT", "language": "ja"}
        project.store.set_people_setting(KEPT, kept)
    words = ["release", str(path), "--format", "swag_csv", "--cost-per-hour", "2.5", "--version"]
    assert cli.main([*words, "1.0.0", "--title", "Cooks"]) == 0
    assert "On its card as on the page Release: licence MIT, language ja." in told(capsys)
    folder = path / "releases/1.0.0"
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert [manifest[name] for name in ON_CARD] == ["Cooks", "MIT", "ja"]
    assert json.loads((folder / "run.json").read_text("utf-8"))["cost_per_hour"] == 2.5
    assert cli.main([*words, "1.1.0", "--licence", "", "--language", "EN"]) == 0
    manifest = json.loads((path / "releases/1.1.0/manifest.json").read_text("utf-8"))
    assert [manifest[name] for name in ON_CARD] == ["Kitchen scenes", "", "en"]
    with Project.open(path) as project:  # someone emptied the field: it is not known
        project.store.set_people_setting(KEPT, {**kept, "language": ""})
    capsys.readouterr()
    assert cli.main([*words, "1.2.0"]) == 0
    assert "licence MIT, language not said." in told(capsys)
    assert json.loads((path / "releases/1.2.0/manifest.json").read_text("utf-8"))["language"] == ""
