"""`release` with and without a version, on a project that people judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judged_project import BEST, context, filtered, judge

from swag_studio import cli
from swag_studio.recipe import preset


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
        (["--version", "1.0.0", "--override", "stray_space"], "Give the reason with --because"),
        (["--version", "1.0.0", "--because", "so"], "Add --override CHECK"),
        (["--version", "1.0.0", "--run", "7"], "no finished run 7"),
    ],
)
def test_what_cannot_be_is_refused(
    path: Path, capsys: pytest.CaptureFixture[str], words: list[str], text: str
) -> None:
    assert cli.main(["release", str(path), *words]) == 1
    assert text in told(capsys)
    assert list((path / "releases").iterdir()) == []
