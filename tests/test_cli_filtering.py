"""`diagnose` on a run whose curves and evidence are made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swag_studio import cli, evidence
from swag_studio.events import Metric
from swag_studio.evidence import Clue, Evidence
from swag_studio.project import Project
from swag_studio.recipe import preset


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of 20 iterations in which the bag of words stays at 45%, going by "zzyzx"."""
    path = tmp_path / "p.swag"
    with Project.create(path, preset("demo")) as project:
        artifact = project.begin("filter", project.recipe)
        points = [
            Metric("filter", "accuracy_4way", i, value, {"member": member, "arm": "main"})
            for i in range(20)
            for member, value in (("mlp", 0.25), ("bow", 0.45), ("ensemble", 0.45))
        ]
        project.store.put_metrics(artifact.version, points)
        clue = Clue("zzyzx", 1.5, 0.25, 0.01, ("c1",))
        heads = [Evidence(19, "bow", "words", 400, (clue,))]
        evidence.write(project.folder(artifact), 19, heads)
    return path


def test_it_says_who_stalls_why_and_what_to_try(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["diagnose", str(path), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    states = {f["member"]: f["verdict"]["state"] for f in summary["findings"]}
    assert states == {"mlp": "at_chance", "bow": "stalled", "ensemble": "stalled"}
    assert summary["evidence"][0]["clues"][0]["text"] == "zzyzx"
    assert any("zzyzx" in advice["why"] for advice in summary["advice"])
    assert cli.main(["diagnose", str(path)]) == 0
    told = capsys.readouterr().out
    assert "zzyzx" in told and "25.0%" in told and "stalled at 45%" in told


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--run", "7"], "no filter run 7; there are 1"), (["--iteration", "3"], "some of 19")],
)
def test_what_is_not_there_is_said(
    path: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["diagnose", str(path), *options]) == 1
    assert words in capsys.readouterr().err.replace("\n", " ")


def test_a_project_without_a_run_is_told_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Project.create(tmp_path / "new.swag", preset("demo")):
        pass
    assert cli.main(["diagnose", str(tmp_path / "new.swag")]) == 1
    assert "swag-studio run" in capsys.readouterr().err.replace("\n", " ")
