"""Three runs of the filter, each going on from the one before: whose word it was, and where each
distractor came from, against a replay of all runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_feedback import RECIPE, assigned, filtered, judge

from swag_studio import cli
from swag_studio.curating import Curator
from swag_studio.engine.assignment import AssignmentLog
from swag_studio.engine.corpus import Corpus
from swag_studio.engine.earlier import before, feedback_told
from swag_studio.engine.feedback import filter_again
from swag_studio.engine.history import History, Span
from swag_studio.engine.pool_texts import PoolTexts
from swag_studio.engine.publish import publish
from swag_studio.engine.rehearsal import outlook
from swag_studio.engine.review import fill_version
from swag_studio.engine.said import FILE
from swag_studio.engine.usable import Usable
from swag_studio.engine.watch import AssignmentWatch
from swag_studio.errors import ProjectError
from swag_studio.events import Message
from swag_studio.project import Project
from swag_studio.records import Artifact
from swag_studio.releases import ReleaseOptions
from swag_studio.views import Origin

__all__ = ["filtered"]  # the fixture

K = 4
CURATED = range(24, 36)  # places of contexts of which nobody says anything else
UNVERIFIED = ReleaseOptions("1.0.0", unverified=True, formats=("swag_csv",), cost_per_hour=0.0)


@dataclass(frozen=True)
class Runs:
    """A project with three runs. In the first a curator put `taken` into slot 1, by place."""

    project: Project
    ids: list[str]
    taken: dict[int, int]

    def run(self, version: int) -> Artifact:
        return next(a for a in self.project.store.artifacts("filter") if a.version == version)

    def log(self, version: int) -> AssignmentLog:
        return AssignmentLog(self.project.folder(self.run(version)))

    def texts(self) -> PoolTexts:
        return texts_of(self.project)

    def history(self, version: int) -> History:
        return History.of(self.project, self.run(version), self.texts)


def texts_of(project: Project) -> PoolTexts:
    return PoolTexts.of_run(project, project.store.artifacts("filter")[0])


@pytest.fixture(scope="module")
def made(filtered: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People reject in run 1, a simulated annotator in run 2."""
    root = tmp_path_factory.mktemp("runs") / "p.swag"
    shutil.copytree(filtered, root)
    with Project.open(root) as project:
        ids = list(assigned(project, 1))
        curator = Curator(project.store, 1, "Grace Hopper")
        texts = texts_of(project)
        for place in CURATED:
            curator.replace(ids[place], 0, texts.of(place)(free_row(project, texts, place)))
        curator.edit_text(ids[1], 1, "a text that a person wrote .")
        for context in ids[2:12]:
            judge(project, context, {"a0": {2: "gibberish"}})
        list(filter_again(project, iterations=3))
        project.store.set_people_setting("count_simulated", True)
        for context in ids[8:20]:
            judge(project, context, {"a3": {4: "gibberish"}}, version=2)
        list(filter_again(project, iterations=3))
    return root


def free_row(project: Project, texts: PoolTexts, place: int) -> int:
    """A candidate that may be assigned to a context, and that the first run left unassigned."""
    rows = texts.pool.context(place)
    taken = {row for _, _, row in assigned(project, 1)[texts.ids[place]]}
    usable = Usable.of(RECIPE, Corpus.load(project.root / "prepared/v1"))(rows)
    return next(row for row in np.flatnonzero(usable).tolist() if row not in taken)


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Iterator[Runs]:
    shutil.copytree(made, tmp_path / "p.swag")
    with Project.open(tmp_path / "p.swag") as project:
        texts = texts_of(project)
        taken = {place: free_row(project, texts, place) for place in CURATED}
        yield Runs(project, list(assigned(project, 1)), taken)


# --- whose word it was -----------------------------------------------------------------------


def test_the_runs_before_are_told_with_whose_word_it_was(runs: Runs) -> None:
    third, second, first = runs.run(3), runs.run(2), runs.run(1)
    assert (before(runs.project, third), before(runs.project, second)) == (second, first)
    assert before(runs.project, first) is None
    assert feedback_told(runs.project, first) == {"by": "nobody", "runs": []}
    assert feedback_told(runs.project, second) == {
        "by": "people",
        "runs": [{"run": 1, "by": "people", "contexts": 23, "gibberish": 10, "not_gibberish": 30}],
    }
    told = feedback_told(runs.project, third)
    assert told["by"] == "people and simulation"
    assert [(r["run"], r["by"]) for r in told["runs"]] == [
        (1, "people"),
        (2, "people and simulation"),  # those of whom people spoke in run 1 stay rejected
    ]


@pytest.mark.parametrize(("people", "by"), [(False, "simulation"), (True, "people and simulation")])
def test_a_release_says_that_simulated_annotators_moved_the_filter(
    filtered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], people: bool, by: str
) -> None:
    root = tmp_path / "p.swag"
    shutil.copytree(filtered, root)
    with Project.open(root) as project:
        ids = list(assigned(project, 1))
        project.store.set_people_setting("count_simulated", True)
        judge(project, ids[0], {"a3": {1: "gibberish"}})
        if people:
            judge(project, ids[1], {"a0": {}})  # nothing follows, but it is a word
        list(filter_again(project, iterations=1))
        assert outlook(project, UNVERIFIED).people["feedback_by"] == by
    words = ["release", str(root), "--version", "1.0.0", "--unverified", "--format", "swag_csv"]
    assert cli.main(words) == 0
    told = " ".join("".join(capsys.readouterr()).split())
    assert "went on with what simulated annotators said" in told
    manifest = json.loads((root / "releases/1.0.0/manifest.json").read_text("utf-8"))
    assert manifest["feedback"]["by"] == by
    assert manifest["verification"]["by"] == ("people" if people else "nobody")
    card = (root / "releases/1.0.0/README.md").read_text("utf-8")
    how = "beside" if people else "not"
    assert f"annotators said of an earlier run, {how} people." in card
    who = "people and simulated annotators" if people else "simulated annotators"
    assert f"rejected: of run 1 by {who} (1 context moved)." in card
    assert cli.main(["run", str(root)]) == 0
    draft = json.loads((root / "releases/v1/manifest.json").read_text("utf-8"))
    assert draft["feedback"] == manifest["feedback"]


# --- where a distractor came from --------------------------------------------------------------


def replayed(runs: Runs, place: int, version: int) -> dict[int, list[Span]]:
    """As History.spans, slot by slot from the files; a start is kept where it stood before."""
    spans: dict[int, list[Span]] = {}
    last: list[int] = []
    for run in range(1, version + 1):
        log = runs.log(run)
        initial = log.initial()
        assert initial is not None
        holds = [(row, -1) for row in initial.rows[place].tolist()]
        if run == 2 and (taken := runs.taken.get(place)) is not None:
            last[0] = taken
            by_hand: Span = {"run": 1, "by": "curator", "in": None, "out": None}
            spans.setdefault(taken, []).append(by_hand)
        for slot, (row, _) in enumerate(holds):
            by = "run" if last[slot : slot + 1] == [row] else "draw"
            spans.setdefault(row, []).append({"run": run, "by": by, "in": -1, "out": None})
        for iteration, slot, old, new in log.history(place):
            spans[old][-1]["out"] = iteration
            spans.setdefault(new, []).append(
                {"run": run, "by": "filter", "in": iteration, "out": None}
            )
            holds[slot] = (new, iteration)
        last = [row for row, _ in holds]
    return spans


def test_the_history_of_a_run_goes_on_from_those_before(runs: Runs) -> None:
    histories = {version: runs.history(version) for version in (1, 2, 3)}
    seen: set[tuple[int, Any]] = set()
    for place in range(len(runs.ids)):
        for version, history in histories.items():
            expected = replayed(runs, place, version)
            assert history.spans(place) == expected
            seen |= {(s["run"], s["by"]) for spans in expected.values() for s in spans}
    ways = {(run, by) for run in (2, 3) for by in ("run", "draw", "filter")}
    assert seen == {*ways, (1, "draw"), (1, "filter"), (1, "curator")}


def test_people_see_in_which_run_a_distractor_came_in(runs: Runs) -> None:
    watch = AssignmentWatch(runs.project, 3)
    origins = []
    for place in range(len(runs.ids)):
        spans = replayed(runs, place, 3)
        for slot in watch.slots(place, watch.iterations()):
            *_, last = spans[slot.row]
            (came, *_) = [s for s in reversed(spans[slot.row]) if s["by"] != "run"]
            if last["by"] == "run":
                assert slot.since == -1 and slot.displaced == ""
                assert slot.origin == Origin(came["run"], came["in"], came["by"] == "curator")  # type: ignore[arg-type]
                origins.append(slot.origin)
            else:
                assert slot.origin is None and slot.since == last["in"]
    assert Origin(1, None, curator=True) in origins
    assert {o.run for o in origins} == {1, 2}
    assert all(s.origin is None for s in AssignmentWatch(runs.project, 1).slots(0, 2))


def test_provenance_tells_of_earlier_runs_and_of_their_curators(runs: Runs) -> None:
    place, texts = 40, runs.texts()
    row = free_row(runs.project, texts, place)
    Curator(runs.project.store, 3, "Alan Turing").replace(runs.ids[place], 0, texts.of(place)(row))
    list(publish(runs.project, UNVERIFIED))
    folder = runs.project.root / "releases/1.0.0"
    lines = [json.loads(t) for t in (folder / "provenance.jsonl").read_text("utf-8").splitlines()]
    edited = set[tuple[int, str]]()
    for line in lines:
        spans = replayed(runs, runs.ids.index(line["context"]), 3)
        if line["context"] == runs.ids[place]:
            now: Span = {"run": 3, "by": "curator", "in": None, "out": None}
            spans.setdefault(row, []).append(now)
        wrong = [e for e in line["endings"] if not e["right"]]
        assert len(wrong) == K
        for ending in wrong:
            assert ending["assigned"] == spans[ending["pool_row"]]
        by_hand = [
            {"run": span["run"], "in": [e["id"]]}
            for e in wrong
            for span in e["assigned"]
            if span["by"] == "curator"
        ]
        assert [{"run": e["run"], "in": e["in"]} for e in line["edits"]] == by_hand
        edited |= {(e["run"], e["by"]) for e in line["edits"]}
    assert {run for run, _ in edited} == {1, 3}
    assert {by for _, by in edited} == {"curator-1", "curator-2"}
    assert "Hopper" not in (folder / "provenance.jsonl").read_text("utf-8")


def test_the_table_tells_contexts_that_stand_as_the_run_before_left_them(runs: Runs) -> None:
    store = runs.project.store
    for version in (2, 3):
        *_, _ = fill_version(runs.project, version)
        rows = store.review_rows(store.review_ids(version))
        for row in rows:
            spans = replayed(runs, runs.ids.index(row.context_id), version).values()
            own = [s for mine in spans for s in mine if s["run"] == version]
            newest = max(-2 if s["by"] == "run" else int(s["in"]) for s in own)  # type: ignore[arg-type]
            assert row.newest == newest
        assert {-2} < {row.newest for row in rows}  # and some in which something changed


# --- what is gone ----------------------------------------------------------------------------


def test_where_files_of_an_earlier_run_are_gone_its_part_is_not_known(runs: Runs) -> None:
    shutil.rmtree(runs.project.root / "filter/v2")
    spans = runs.history(3).spans(len(runs.ids) - 1)  # nobody spoke of it
    for mine in spans.values():
        assert mine[0] == {"run": 2, "by": None, "in": None, "out": None}
        assert mine[1]["by"] == "run"
    slots = AssignmentWatch(runs.project, 3).slots(len(runs.ids) - 1, 3)
    assert {slot.origin for slot in slots} == {Origin(2)}


def test_where_what_people_said_is_gone_nothing_is_made_up(runs: Runs) -> None:
    for path in (runs.project.root / "filter").glob("feedback-*.json"):
        path.unlink()
    (runs.project.root / "filter/v3" / FILE).unlink()
    assert not runs.history(3).known and runs.history(3).spans(0) == {}
    with pytest.raises(ProjectError, match="missing or damaged"):
        AssignmentWatch(runs.project, 3)
    events = list(publish(runs.project, UNVERIFIED))
    assert any("iterations are gone" in e.text for e in events if isinstance(e, Message))
