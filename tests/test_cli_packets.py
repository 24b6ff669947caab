"""`packets`: out, back and in from a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from packet_project import ANNA, give_out

from swag_studio import cli
from swag_studio import recipe as recipes
from swag_studio.judging import Judgement
from swag_studio.packet_answers import PacketAnswers
from swag_studio.packets import PacketAnswer
from swag_studio.project import Project


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A closed project with work given out, and the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    with Project.create(tmp_path / "p.swag", recipes.preset("demo")) as project:
        give_out(project)
    return project.root


def told(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    """The summary, or the error, of `packets` with these words."""
    capsys.readouterr()
    assert cli.main(["packets", *map(str, words), "--json"]) == code
    last: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return last


def judged(path: Path) -> Path:
    """What comes back when the first item was answered."""
    work = PacketAnswers(path)
    item = work.packet.items[0].id
    given = "2030-01-01T00:00:00.000Z"
    work.answer(PacketAnswer(item, ("likely",) * 6, 0, 1, "", 2.0, given))
    target = work.finish()
    work.close()
    return target


def test_out_back_and_in(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "export", root, "--annotator", "anna")
    assert (out["file"], out["items"], out["annotator"]) == ("Anna.swagpacket", 3, "Anna")
    assert told(capsys, "check", "Anna.swagpacket")["result"] is False
    back = judged(Path("Anna.swagpacket"))
    assert told(capsys, "check", back)["answered"] == 1
    for words in (("--dry-run",), ()):
        one = told(capsys, "merge", root, back, *words)["files"][str(back)]
        assert (one["answers"], one["same"], one["conflicts"]) == (1, 0, [])
    again = told(capsys, "merge", root, back, back)["files"][str(back)]
    assert (again["answers"], again["same"]) == (0, 1)
    with Project.open(root, readonly=True) as project:
        assert project.store.progress_of(ANNA.id) == {"done": 1, "open": 2}
    data = Path("Anna.swagpacket").read_bytes()
    told(capsys, "export", root, "--packet", out["id"], "--out", "again.swagpacket")
    assert Path("again.swagpacket").read_bytes() == data


def test_a_conflict_is_shown_and_decided(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "export", root, "--annotator", "Anna")
    with Project.open(root) as project:
        (task, *_) = [t for t, *_ in project.store.allocations(ANNA.id)]
        project.store.submit(
            Judgement(task, ANNA.id, ("unlikely",) * 6, 2, 3, given="2040-01-01T00:00:00.000Z")
        )
    back = judged(Path("Anna.swagpacket"))
    for keep, counts in (("later", "project"), ("packet", "packet")):
        one = told(capsys, "merge", root, back, "--keep", keep, "--dry-run")["files"][str(back)]
        assert one["conflicts"] == [{"task": task, "counts": counts}]
    capsys.readouterr()
    assert cli.main(["packets", "merge", str(root), str(back)]) == 0
    assert "answered otherwise" in capsys.readouterr().out


def test_nothing_is_merged_when_one_file_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "export", root, "--annotator", "Anna")
    back = judged(Path("Anna.swagpacket"))
    Path("bad.swagpacket").write_bytes(b"PK")
    error = told(capsys, "merge", root, back, "bad.swagpacket", code=cli.USER_ERROR)
    assert error["text"].startswith("bad.swagpacket is refused")
    error = told(capsys, "merge", root, back, "Anna.swagpacket", code=cli.USER_ERROR)
    assert "no answers in it yet" in error["text"]
    with Project.open(root, readonly=True) as project:
        assert project.store.judgement_count() == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--annotator", "Nobody"], "No annotator is named Nobody"),
        ([], "Give either"),
        (["--packet", "0"], "No packet 0"),
        (["--annotator", "Anna", "--out", "x.zip"], "named *.swagpacket"),
        (["--annotator", "Anna", "--out", "taken.swagpacket"], "exists already"),
    ],
)
def test_an_export_that_cannot_be_is_told(
    root: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str
) -> None:
    Path("taken.swagpacket").write_bytes(b"somebody's")
    text = told(capsys, "export", root, *words, code=cli.USER_ERROR)["text"]
    assert reason in text
    assert Path("taken.swagpacket").read_bytes() == b"somebody's"
