"""The human work from the command line: what is told, written, refused; read beside a window."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from made_run import make_project

from swag_studio import cli
from swag_studio.judging import Judgement, Label
from swag_studio.project import Project
from swag_studio.recipe import preset

CONTEXTS = 24


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "p.swag"
    make_project(path, CONTEXTS)
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    """The summary of a command that succeeds."""
    assert cli.main([*map(str, arguments), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return dict(json.loads(out.splitlines()[-1]))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What a command says that ends with an error of its user."""
    assert cli.main([*map(str, arguments)]) == 1
    return capsys.readouterr().err


def test_from_a_project_to_verdicts(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = told(capsys, "annotators", path, "--add", "Ann", "--add", "Bob")["annotators"]
    assert [p["annotator"]["name"] for p in people] == ["Ann", "Bob"]
    asked = ("annotators", path, "--allocate", "--first", "4", "--by", "2")
    told(capsys, "annotators", path, "--contexts", "10")
    preview = told(capsys, *asked, "--preview")["allocation"]
    assert sum(preview["new"].values()) == 14
    dealt = told(capsys, *asked)
    assert dealt["allocation"] == preview
    assert sum(p["progress"]["open"] for p in dealt["annotators"]) >= 14
    assert told(capsys, "verdicts", path)["verdicts"] == {"open": 10}
    dropped = told(capsys, "annotators", path, "--drop", "ann")["annotators"]
    assert [p["annotator"]["active"] for p in dropped] == [False, True]
    assert dropped[1]["progress"]["open"] >= 10


def test_simulated_annotators_are_marked_and_counted(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    summary = told(capsys, "simulate", path, "--annotators", "3", "--overlap", "2")
    assert summary["simulated"] and summary["counted"]
    assert sum(summary["verdicts"].values()) == CONTEXTS
    agreed = told(capsys, "agreement", path, "--draws", "0")
    assert agreed["simulated"] and agreed["agreement"]["choices"]["raters"] == 3
    assert agreed["paper"]["alpha"]["choices"] == 0.43
    assert agreed["sources"]["labels"].keys() == {"captions.json"}
    target = tmp_path / "verdicts.csv"
    counted = told(capsys, "verdicts", path, "--csv", target)
    assert counted["verdicts"] == summary["verdicts"]
    rows = list(csv.DictReader(target.read_text("utf-8").splitlines()))
    assert len(rows) == CONTEXTS
    found = [row for row in rows if row["verdict"] == "found"]
    assert found and all(3 <= len(row["distractors"].split()) <= 4 for row in found)
    plan = told(capsys, "plan", path, "--questions", "100", "--pay", "10")
    assert plan["questions"] == len(found)
    low, expected, high = (plan["left"][name]["cost"] for name in ("low", "expected", "high"))
    assert low <= expected <= high
    assert plan["whole"]["cost"] == pytest.approx(plan["whole"]["hours"] * 10)


def test_simulated_annotators_do_not_count_beside_people(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "annotators", path, "--add", "Ann", "--contexts", "2", "--allocate")
    with Project.open(path) as project:
        (ann,) = project.store.annotators()
        task = project.store.next_task(ann.id)
        assert task is not None
        labels: tuple[Label, ...] = ("likely", *["unlikely"] * 5)
        project.store.submit(Judgement(task.id, ann.id, labels, 0, 1))
    summary = told(capsys, "simulate", path)
    assert not summary["counted"] and summary["judged"] == 2
    assert told(capsys, "simulate", path, "--count")["counted"]


def test_time_and_pay_go_to_a_spreadsheet(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "pay.csv"
    told(capsys, "annotators", path, "--add", "=cmd()")
    told(capsys, "simulate", path, "--annotators", "1")
    told(capsys, "annotators", path, "--csv", target)
    formula, simulated = csv.DictReader(target.read_text("utf-8").splitlines())
    assert formula["annotator"] == "'=cmd()" and formula["per_hour"] == ""
    assert simulated["kind"] == "simulated"
    assert float(simulated["earned"]) == pytest.approx(0.2 * int(simulated["judgements"]))


@pytest.mark.parametrize("command", ["annotators", "agreement", "plan", "verdicts"])
def test_readings_work_beside_a_window(
    path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Project.open(path) as held:
        before = held.store.allocations()
        assert told(capsys, command, path)["command"] == command
        assert held.store.allocations() == before
        assert "in use" in refused(capsys, "simulate", path)


@pytest.mark.parametrize("command", ["annotators", "agreement", "plan", "verdicts"])
def test_a_person_is_told_in_words(
    path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "simulate", path)
    assert cli.main([command, str(path)]) == 0
    out = capsys.readouterr().out
    words = {
        "annotators": "Simulated 1",
        "agreement": "gibberish",
        "plan": "as measured",
        "verdicts": "question, found ending right",
    }
    assert words[command] in out and "None" not in out and "nan" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["annotators", "--drop", "Zoe"], "no annotator Zoe"),
        (["annotators", "--allocate"], "nobody to deal work to"),
        (["annotators", "--preview"], "--preview writes nothing"),
        (["annotators", "--add", " "], "needs a name"),
        (["verdicts", "--run", "7"], "no finished filter run 7; there are 1"),
    ],
)
def test_what_cannot_be_done_is_said(
    path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refused(capsys, arguments[0], path, *arguments[1:]).replace("\n", " ")


def test_no_context_at_work_is_said(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "annotators", path, "--add", "Ann")
    assert "--contexts" in refused(capsys, "annotators", path, "--allocate")


def test_a_project_without_a_run_is_told_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Project.create(tmp_path / "new.swag", preset("demo")):
        pass
    for command in ("annotators", "agreement", "plan", "verdicts", "simulate"):
        assert "swag-studio run" in refused(capsys, command, tmp_path / "new.swag")
