"""What follows from answers and edits is caught up with, also after an early end."""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from made_run import make_store

from swag_studio import judged, packet_exchange
from swag_studio.allocation import OverlapPlan
from swag_studio.checks import CheckRules
from swag_studio.curating import Change, Curator
from swag_studio.judged import Change as Row
from swag_studio.judging import Annotator, Judgement, Task
from swag_studio.keeping import MARKS, keep_up, keeping_up
from swag_studio.packets import PacketAnswer, Result, file_bytes, parse
from swag_studio.records import Artifact, Ending, ending_id
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


# --- two threads -------------------------------------------------------------------------------


def answer(task: Task, given: str) -> Judgement:
    labels = ("likely", *["unlikely"] * 5)
    return Judgement(task.id, "a", labels, best=0, second=1, given=given)  # type: ignore[arg-type]


def aside(deed: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=deed)
    thread.start()
    return thread


def test_answers_that_come_between_two_readings_are_caught_up_with_later(
    work: HumanWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = work.store
    first, second = list(store.open_tasks("a"))[:2]
    read, readings = store._query, list[str]()

    def query(sql: str, parameters: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
        if "UNION ALL" in sql:
            readings.append(sql)
            if len(readings) == 2:
                for second_of, task in enumerate((first, second)):
                    store.submit(answer(task, f"2999-01-01T00:00:0{second_of}.000Z"))
        return read(sql, parameters)

    monkeypatch.setattr(store, "_query", query)
    keep_up(work)
    assert len(readings) == 2
    keep_up(work)
    shown = {row(store, task.context_id).verdict for task in (first, second)}
    assert shown == {"found"}


def test_of_two_threads_the_one_that_looks_last_fills_the_table(
    work: HumanWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one catches up with an answer that this one, which has yet to write, did not see."""
    write, others = work._write, list[threading.Thread]()

    def caught_up() -> None:
        keep_up(HumanWork(work.store, 1, 1, seed=7))

    def overtaken(rows: Sequence[Row]) -> list[Row]:
        monkeypatch.undo()
        judge(work.store)
        others.append(aside(caught_up))
        others[0].join(0.5)  # as long as it takes, were it not to wait for this one
        return write(rows)

    monkeypatch.setattr(work, "_write", overtaken)
    work.refresh()
    others[0].join()
    judged_now = [r for r in work.store.review_rows(work.store.review_ids(1)) if r.judged]
    assert [r.verdict for r in judged_now] == ["found"]


@pytest.mark.parametrize("deed", ["allocate", "drop", "renew"])
def test_work_is_dealt_by_one_thread_at_a_time(
    work: HumanWork, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    work.store.put_annotator(Annotator("b", "Ben"))
    work.allocate(OverlapPlan(rest=2), ["a", "b"])
    task = work.store.next_task("a")
    assert task is not None
    edit(work.store, task)
    allocate, free = work.store.allocate, list[bool]()

    def watched(pairs: Iterable[tuple[str, str]]) -> int:
        aside(lambda: free.append(work.store.deriving.acquire(blocking=False))).join()
        return allocate(pairs)

    monkeypatch.setattr(work.store, "allocate", watched)
    if deed == "allocate":
        work.allocate(OverlapPlan(rest=2), ["a", "b"])
    elif deed == "drop":
        work.drop("b")
    else:
        work.renew()
    assert free == [False]
    aside(lambda: free.append(work.store.deriving.acquire(blocking=False))).join()
    assert free == [False, True]


def test_what_is_due_is_not_forgotten_when_two_note_it_at_once(
    work: HumanWork, older: HumanWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one thread notes that the older run's rows are done, they fall due once more."""
    other = Store(work.store.path)
    other.db.execute("PRAGMA busy_timeout = 0")
    work.refresh()
    read = work.store.people_setting

    def overtaken(name: str, default: Any) -> Any:
        found = read(name, default)
        if name == "refreshed":
            with suppress(sqlite3.OperationalError):  # it has to wait, and is done later
                judged.all_due(other)
        return found

    number = older.overdue
    monkeypatch.setattr(work.store, "people_setting", overtaken)
    older.refreshed(number)
    monkeypatch.undo()
    judged.all_due(other)
    assert older.overdue == number + 1
    other.close()


def test_answers_of_another_machine_reach_the_table_however_old_they_are(work: HumanWork) -> None:
    work.store.put_artifact(Artifact("prepare", 1, "key", "prepared/v1", True, ""))
    packet = packet_exchange.export(work.store, 7, work.annotator("a"))
    judge(work.store)
    keep_up(work)
    sent = work.store.packet(packet.id)
    assert sent is not None
    item = sent.items[1]
    order = item.order
    labels = tuple("likely" if place == 0 else "unlikely" for place in order)
    given = PacketAnswer(
        item.id, labels, order.index(0), order.index(1), "", 4.0, "2020-01-01T00:00:00.000Z"
    )
    packet_exchange.merge(work.store, parse(file_bytes(packet, Result((given,))), "Ada.swagpacket"))
    assert keep_up(work) == {"review_rows"}
    task = work.store.task(item.task_id)
    assert task is not None and row(work.store, task.context_id).verdict == "found"
