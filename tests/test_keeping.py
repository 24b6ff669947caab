"""What follows from answers and edits is caught up with, also after an early end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_run import make_store

from swag_studio.allocation import OverlapPlan
from swag_studio.checks import CheckRules
from swag_studio.judging import Annotator, Judgement, Task
from swag_studio.keeping import keep_up
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


def edit(store: Store, task: Task) -> None:
    """Writes another text in the place of an ending that the task shows."""
    before = store.curated(1, task.context_id)
    new = Ending(ending_id(task.context_id, "leaps."), task.context_id, "leaps.", "edited", -1)
    store.put_endings([new])
    endings = tuple(new.id if e == task.endings[2] else e for e in before.endings)
    after = dataclasses.replace(before, endings=endings)
    store.apply_edits(1, "Cura", "Edit", {task.context_id: (before, after)})


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
