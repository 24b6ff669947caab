"""`release-check` and `release-diff` on releases of a small project that people judged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from judged_project import BEST, context, filtered, judge

from swag_studio import cli
from swag_studio import recipe as recipes
from swag_studio.engine import release
from swag_studio.engine.publish import publish
from swag_studio.project import Project
from swag_studio.releases import ReleaseOptions


def options(version: str, **values: Any) -> ReleaseOptions:
    return ReleaseOptions(version, formats=("swag_csv",), cost_per_hour=0.0, **values)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A draft, a release of 12 judged contexts, and one with 4 more that nobody judged."""
    path = tmp_path / "p.swag"
    contexts = [context(i) for i in range(16)]
    with filtered(path, recipes.preset("demo"), contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts[:12]})
        list(publish(project, options("1.0.0")))
        list(publish(project, options("1.1.0", unverified=True)))
        list(release.run(project.recipe, project))
    return path


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return summary


def test_a_sound_release(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["release-check", str(path), "--json"]) == 0
    summary = told(capsys)
    assert (summary["release"], summary["questions"], summary["problems"]) == ("1.1.0", 16, [])
    assert cli.main(["release-check", str(path), "v1"]) == 0
    assert "16 questions, 0 kinds of error" in capsys.readouterr().out.replace("\n", " ")


def test_damaged_files_are_named(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open(path / "releases/1.0.0/val.csv", "a", encoding="utf-8") as file:
        file.write("\n")
    assert cli.main(["release-check", str(path), "1.0.0", "--json"]) == 1
    assert told(capsys)["damaged"] == ["val.csv"]
    assert cli.main(["release-check", str(path), "1.0.0"]) == 1
    assert "not as it was written" in capsys.readouterr().out.replace("\n", " ")


def test_a_file_that_is_not_of_the_release_is_named(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path / "releases/1.0.0/more.csv").write_text("", "utf-8")
    assert cli.main(["release-check", str(path), "1.0.0", "--json"]) == 1
    assert told(capsys)["unlisted"] == ["more.csv"]


def test_an_edited_manifest_is_found_where_the_project_is_at_hand(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["release-check", str(path), "1.0.0", "--json"]) == 0
    assert told(capsys)["manifest"] == "as written"
    file = path / "releases/1.0.0/manifest.json"
    text = file.read_text("utf-8")
    file.write_text(text.replace('"unverified": false', '"unverified": true'), "utf-8")
    assert file.read_text("utf-8") != text
    assert cli.main(["release-check", str(path), "1.0.0"]) == 1
    assert "what it says may be untrue" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["release-diff", str(path), "1.0.0", "1.1.0"]) == 0
    assert "manifest.json is not as it was written" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["release-check", str(path), "v1", "--json"]) == 0
    assert told(capsys)["manifest"] == "not known"  # a draft's is not kept


def test_a_copy_under_another_name_is_no_release_of_that_name(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(path / "releases/1.0.0", path / "releases/10.0.0")
    assert cli.main(["release-check", str(path), "--json"]) == 1
    summary = told(capsys)
    assert (summary["release"], summary["version"]) == ("10.0.0", "1.0.0")
    assert cli.main(["release-check", str(path)]) == 1
    assert "says of itself that it is 1.0.0" in " ".join(capsys.readouterr().out.split())


def test_an_overridden_error_is_still_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.swag"
    contexts = [context(i, sent1=f"Person sits.{' ' * 2 * (i == 3)}\x07") for i in range(8)]
    with filtered(path, recipes.preset("demo"), contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts})
        kinds = ("control_characters", "context_across_splits")
        why = "to look at them"
        list(publish(project, options("1.0.0", overrides=kinds, override_reason=why)))
    assert cli.main(["release-check", str(path), "--json"]) == 1
    summary = told(capsys)
    assert summary["overrides"] == sorted(kinds)
    found = {p["kind"]: p["count"] for p in summary["problems"]}
    assert found["control_characters"] == 8 and found["stray_space"] == 1
    assert cli.main(["release-check", str(path)]) == 1
    assert "Released all the same: context_across" in capsys.readouterr().out.replace("\n", " ")


def test_two_releases_are_compared(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["release-diff", str(path), "1.0.0", "1.1.0", "--json"]) == 0
    summary = told(capsys)
    assert [len(summary[what]) for what in ("added", "removed")] == [4, 0]
    # Labels are balanced anew over more questions, so endings move.
    changes = {what for change in summary["changed"] for what in change["what"]}
    assert changes <= {"order of the options"}
    assert cli.main(["release-diff", str(path), "1.0.0", "1.1.0"]) == 0
    out = capsys.readouterr().out.replace("\n", " ")
    assert "4 questions added, 0 removed" in out
    for change in summary["added"]:
        assert change["context"] in out
    assert cli.main(["release-diff", str(path), "v1", "v1"]) == 0
    assert "equal, byte for byte" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["{", '{"files": {"train.csv": null}}'])
def test_a_damaged_manifest_is_said_and_not_called_no_release(
    path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (path / "releases/1.1.0/manifest.json").write_text(text, "utf-8")
    for words in (
        ["release-check"],
        ["release-check", "1.1.0"],
        ["release-diff", "1.0.0", "1.1.0"],
    ):
        assert cli.main([words[0], str(path), *words[1:]]) == 1
        error = " ".join(capsys.readouterr().err.split())
        assert "releases/1.1.0/manifest.json is damaged. Put a copy of it back, or write" in error


@pytest.mark.parametrize("words", [["release-check", "2.0.0"], ["release-diff", "v1", "2.0.0"]])
def test_a_release_that_is_not_there(
    path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([words[0], str(path), *words[1:]]) == 1
    error = capsys.readouterr().err.replace("\n", " ")
    assert "no release 2.0.0; there are v1, 1.0.0, 1.1.0" in error


def test_a_project_without_a_release(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["release-check", str(project.root)]) == 1
    assert "swag-studio release" in capsys.readouterr().err.replace("\n", " ")
