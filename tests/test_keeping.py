"""What follows from answers and edits is caught up with, also after an early end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_run import make_store

from swag_studio import judged
from swag_studio.allocation import OverlapPlan
from swag_studio.checks import CheckRules
from swag_studio.curating import Change, Curator
from swag_studio.judging import Annotator, Judgement, Task
from swag_studio.keeping import MARKS, keep_up, keeping_up
from swag_studio.records import Ending, ending_id
from swag_studio.reviewing import ReviewRow
from swag_studio.rounds import HumanWork
from swag_studio.store import Store


@pytest.fixture
def work(tmp_path: Path) -> Iterator[HumanWork]:
    """Six contexts, given to one annotator."""
    store = make_store(tmp_path, 6)
    work = HumanWork(store, 1, 1, seed=7)
    work.keep(checks=CheckRules(share=0.0))
    store.put_annotator(Annotator("a", "Ada"))
    work.open_first_round(6)
    work.allocate(OverlapPlan(), ["a"])
    keep_up(work)
    yield work
    store.close()


def judge(store: Store) -> Task:
    task = store.next_task("a")
    assert task is not None
    labels = ("likely", *["unlikely"] * 5)
    store.submit(Judgement(task.id, "a", labels, best=0, second=1))  # type: ignore[arg-type]
    return task


def row(store: Store, context: str) -> ReviewRow:
    rows = store.review_rows(store.review_ids(1))
    return next(r for r in rows if r.context_id == context)


def edit(store: Store, task: Task, version: int = 1) -> None:
    """Writes another text in the place of an ending that the task shows."""
    before = store.curated(version, task.context_id)
    new = Ending(ending_id(task.context_id, "leaps."), task.context_id, "leaps.", "edited", -1)
    store.put_endings([new])
    endings = tuple(new.id if e == task.endings[2] else e for e in before.endings)
    after = dataclasses.replace(before, endings=endings)
    store.apply_edits(version, "Cura", "Edit", {task.context_id: (before, after)})


def test_an_answer_reaches_the_table(work: HumanWork) -> None:
    task = judge(work.store)
    assert row(work.store, task.context_id).verdict == "open"
    assert keep_up(work) == {"review_rows"}
    shown = row(work.store, task.context_id)
    assert (shown.status, shown.verdict, shown.judged) == ("judged", "found", 1)
    assert keep_up(work) == frozenset()


def test_an_edited_context_is_judged_anew(work: HumanWork) -> None:
    task = judge(work.store)
    keep_up(work)
    edit(work.store, task)
    assert {"tasks", "allocations", "review_rows"} == keep_up(work)
    assert row(work.store, task.context_id).verdict == "open"
    new = [t for t in work.store.tasks(1) if t.context_id == task.context_id and t.id != task.id]
    assert len(new) == 1 and task.endings[2] not in new[0].endings
    given = {t: state for t, _, _, state in work.store.allocations("a")}
    assert (given[task.id], given[new[0].id]) == ("done", "open")
    assert work.store.judgement_count() == 1  # kept, though it no longer counts


def test_nothing_is_lost_with_a_program_that_ended_before_it_caught_up(work: HumanWork) -> None:
    edit(work.store, judge(work.store))
    other = judge(work.store)
    again = HumanWork(work.store, 1, 1, seed=7)  # the next program's
    assert "tasks" in keep_up(again)
    assert row(work.store, other.context_id).verdict == "found"


# --- older runs ----------------------------------------------------------------------------------


@pytest.fixture
def older(work: HumanWork) -> HumanWork:
    """A run of the same endings that nobody works on any more: an older one."""
    rows = [
        (context, slot, e.id, e.row, score)
        for context, slots in work.store.assigned(1)
        for slot, e, score in slots
    ]
    work.store.put_assignments(2, rows)
    list(work.store.build_review(2, 1, {}))
    older = HumanWork(work.store, 2, 1, seed=7)
    keep_up(older, dealing=False)
    return older


def verdict_in(work: HumanWork, context: str) -> str:
    rows = work.store.review_rows(work.store.review_ids(work.version))
    return next(r.verdict for r in rows if r.context_id == context)


def test_an_answer_reaches_the_rows_of_an_older_run(work: HumanWork, older: HumanWork) -> None:
    task = judge(work.store)
    keep_up(work)
    assert verdict_in(older, task.context_id) == "open"
    assert keep_up(older, dealing=False) == {"review_rows"}
    assert verdict_in(older, task.context_id) == "found"
    assert keep_up(older, dealing=False) == frozenset()


def test_other_rules_reach_the_rows_of_an_older_run(work: HumanWork, older: HumanWork) -> None:
    task = judge(work.store)
    for each in (work, older):
        keep_up(each)
    ada = work.annotator("a")
    for active, verdict in ((False, "open"), (True, "found")):
        work.store.put_annotator(dataclasses.replace(ada, active=active))
        work.refresh()
        assert keep_up(work) == frozenset() and not work.overdue
        assert keep_up(older, dealing=False) == {"review_rows"}
        assert verdict_in(older, task.context_id) == verdict
        assert not older.overdue


def test_an_edit_in_an_older_run_leaves_the_work_of_the_other_one(
    work: HumanWork, older: HumanWork
) -> None:
    """And is dealt anew once people work on that run again."""
    task = work.store.next_task("a")
    assert task is not None
    edit(work.store, task, version=2)
    given = work.store.allocations("a")
    assert keep_up(older, dealing=False) == keep_up(work) == frozenset()
    assert work.store.allocations("a") == given
    assert "tasks" in keep_up(older)
    assert work.store.allocations("a") != given


def test_marks_of_an_older_program_hold(work: HumanWork) -> None:
    task = judge(work.store)
    keep_up(work)
    edit(work.store, task)
    marks = {name: mark[:2] for name, mark in work.store.people_setting(MARKS, {}).items()}
    work.store.set_people_setting(MARKS, marks)
    assert {"tasks", "allocations", "review_rows"} == keep_up(work)
    assert keep_up(work) == frozenset()


def test_a_flag_is_nothing_to_catch_up_with(work: HumanWork) -> None:
    task = judge(work.store)
    keep_up(work)
    curator = Curator(work.store, 1, "Cura")
    contexts = [context for context, _ in work.store.assigned(1)]
    curator.bulk(contexts, Change("flag", "typo"))
    assert work.store.edited_since(1, 0)[0] == []
    curator.exclude(task.context_id)
    assert work.store.edited_since(1, 0)[0] == [task.context_id]
    keep_up(work)
    assert row(work.store, task.context_id).status == "not judged"


def test_rules_that_change_between_two_slices_hold_for_the_rest(
    work: HumanWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged, "_WRITTEN", 2)
    for _ in range(6):
        judge(work.store)
    going = keeping_up(work)
    next(going)
    ada = work.annotator("a")
    work.store.put_annotator(dataclasses.replace(ada, active=False))
    work.refresh()
    list(going)
    assert {verdict_in(work, context) for context, _ in work.store.assigned(1)} == {"open"}
