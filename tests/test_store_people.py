"""The tables of human work: revisions, queues, drafts, merging twice, what is refused."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio import store_people
from swag_studio.errors import ProjectError
from swag_studio.judging import Adjudication, Annotator, Judgement, Label, Skip, Task, task_id
from swag_studio.store import Store

ANN, BOB = Annotator("a1", "Ann"), Annotator("a2", "Bob")
LABELS: tuple[Label, ...] = ("likely", *["unlikely"] * 5)
ENDINGS = tuple(f"e{n}" for n in range(6))
TASKS = [Task(task_id(f"c{n}", 0, ENDINGS), f"c{n}", 1, 0, ENDINGS) for n in range(5)]
FIRST = Judgement(TASKS[0].id, ANN.id, LABELS, 0, 1, seconds=12.5, given="2026-01-01T00:00:00.000Z")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two annotators; Ann has all five tasks."""
    store = Store(tmp_path / "project.db")
    store.migrate()
    for annotator in (ANN, BOB):
        store.put_annotator(annotator)
    store.put_tasks(TASKS)
    store.allocate((t.id, ANN.id) for t in TASKS)
    yield store
    store.close()


def states(store: Store, annotator: str = ANN.id) -> list[str]:
    return [state for _, _, _, state in store.allocations(annotator)]


def queue(store: Store, annotator: str = ANN.id) -> list[str]:
    """What is open to an annotator, in order."""
    return [task.id for task in store.open_tasks(annotator)]


# --- annotators and tasks ----------------------------------------------------------------------


def test_annotators_are_changed_and_told_apart(store: Store) -> None:
    store.put_annotator(dataclasses.replace(ANN, active=False))
    assert [(a.name, a.active) for a in store.annotators()] == [("Ann", False), ("Bob", True)]
    with pytest.raises(ProjectError, match="name"):
        store.put_annotator(Annotator("a3", "  ANN"))
    assert len(store.annotators()) == 2


def test_a_task_is_its_content(store: Store) -> None:
    store.put_tasks([dataclasses.replace(TASKS[0], filter_version=2)])
    assert store.task(TASKS[0].id) == TASKS[0]
    assert [t.context_id for t in store.tasks(1)] == [f"c{n}" for n in range(5)]
    assert store.task("t0") is None


def test_a_check_keeps_its_key(store: Store) -> None:
    key = {"top": [0], "gibberish": [4, 5]}
    check = Task(task_id("c0", 0, ENDINGS, "check"), "c0", 1, 0, ENDINGS, "check", key)
    store.put_tasks([check])
    assert store.task(check.id) == check


# --- queues ------------------------------------------------------------------------------------


def test_a_queue_is_worked_off_in_its_order(store: Store) -> None:
    assert queue(store) == [t.id for t in TASKS]
    assert store.next_task(ANN.id) == TASKS[0] and store.next_task(BOB.id) is None
    store.submit(FIRST)
    assert store.next_task(ANN.id) == TASKS[1]
    assert store.progress_of(ANN.id) == {"open": 4, "done": 1}


def test_work_is_given_once(store: Store) -> None:
    store.submit(FIRST)
    pairs = [(t.id, who) for who in (ANN.id, BOB.id) for t in TASKS[:2]]
    assert store.allocate(pairs) == 2  # Bob's
    assert states(store) == ["done", *["open"] * 4] and queue(store, BOB.id) == [
        t.id for t in TASKS[:2]
    ]


def test_skipped_work_comes_back_where_it_stood(store: Store) -> None:
    store.skip(Skip(TASKS[0].id, ANN.id, "unsure", "2026-01-01"))
    assert store.next_task(ANN.id) == TASKS[1]
    store.reopen(TASKS[0].id, ANN.id)
    assert store.next_task(ANN.id) == TASKS[0]
    assert [s.reason for s in store.skips()] == ["unsure"]


def test_withdrawn_work_keeps_what_is_done_and_may_be_given_again(store: Store) -> None:
    store.submit(FIRST)
    store.skip(Skip(TASKS[1].id, ANN.id, "unsure"))
    assert store.withdraw(ANN.id) == sorted(t.id for t in TASKS[1:])
    assert states(store) == ["done", *["withdrawn"] * 4] and store.next_task(ANN.id) is None
    assert store.allocate([(TASKS[3].id, ANN.id), (TASKS[0].id, ANN.id)]) == 1
    assert queue(store) == [TASKS[3].id]


def test_tasks_are_taken_back_from_everybody(store: Store) -> None:
    store.allocate([(TASKS[0].id, BOB.id), (TASKS[1].id, BOB.id)])
    store.submit(FIRST)
    assert store.withdraw_tasks([TASKS[0].id, TASKS[1].id]) == 3
    assert states(store)[:2] == ["done", "withdrawn"]
    assert states(store, BOB.id) == ["withdrawn", "withdrawn"]


# --- answers -----------------------------------------------------------------------------------


def test_a_correction_is_a_new_revision(store: Store) -> None:
    first = store.submit(FIRST)
    second = store.submit(dataclasses.replace(FIRST, best=2, comment="日本語 \u0000?"))
    assert (first.revision, second.revision) == (0, 1)
    assert list(store.judgements()) == [second]
    assert list(store.judgements(all_revisions=True)) == [first, second]
    assert store.judgement_count() == 2 and states(store).count("done") == 1
    ((task, newest),) = store.answers()
    assert (task, newest) == (TASKS[0], second)
    assert store.judgements_of(["c0", "c1"]) == {TASKS[0].id: [second]}


def test_an_answer_that_is_not_complete_is_refused_whole(store: Store) -> None:
    store.put_draft(TASKS[0].id, ANN.id, {"best": 0})
    with pytest.raises(ValueError, match="different"):
        store.submit(dataclasses.replace(FIRST, second=0))
    with pytest.raises(ValueError, match="gibberish"):
        store.adjudicate(Adjudication(TASKS[0].id, "C", ("gibberish", *LABELS[1:]), 0, 1))
    assert store.judgement_count() == 0 and states(store)[0] == "open"
    assert store.draft(TASKS[0].id, ANN.id) == {"best": 0}


def test_a_draft_is_kept_until_the_answer_is_given(store: Store) -> None:
    for body in ({"labels": ["likely", None]}, {"labels": ["likely", "unlikely"], "comment": "é"}):
        store.put_draft(TASKS[0].id, ANN.id, body)
        assert store.draft(TASKS[0].id, ANN.id) == body
    store.put_draft(TASKS[1].id, ANN.id, {"best": 1})
    store.submit(FIRST)
    assert store.draft(TASKS[0].id, ANN.id) is None
    assert store.draft(TASKS[1].id, ANN.id) == {"best": 1}


answers = st.builds(
    Judgement,
    task_id=st.sampled_from([t.id for t in TASKS]),
    annotator_id=st.sampled_from([ANN.id, BOB.id]),
    labels=st.tuples(*[st.sampled_from(("likely", "unlikely"))] * 6),
    best=st.integers(0, 2),
    second=st.integers(3, 5),
    revision=st.integers(0, 2),
    comment=st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    seconds=st.floats(0, 1000),
    given=st.just("2026-01-01T00:00:00.000Z"),
    via=st.just("packet"),
)


@settings(max_examples=12)
@given(st.lists(answers, max_size=12))
def test_merging_twice_is_merging_once(
    tmp_path_factory: pytest.TempPathFactory, brought: list[Judgement]
) -> None:
    store = Store(tmp_path_factory.mktemp("merge") / "project.db")
    store.migrate()
    try:
        store.put_tasks(TASKS)
        store.allocate((t.id, ANN.id) for t in TASKS)
        once = {j.id: j for j in reversed(brought)}  # of two with one id the first is kept
        assert store.add_judgements(brought) == len(once)
        before = (list(store.judgements(all_revisions=True)), store.allocations())
        assert {j.id: j for j in before[0]} == once
        assert store.add_judgements(reversed(brought)) == 0
        assert (list(store.judgements(all_revisions=True)), store.allocations()) == before
        done = {j.task_id for j in brought if j.annotator_id == ANN.id}
        assert {t for t, _, _, state in before[1] if state == "done"} == done
    finally:
        store.close()


def test_the_newest_adjudication_counts(store: Store) -> None:
    for best, given_at in ((0, "2026-01-01"), (2, "2026-01-02")):
        store.adjudicate(Adjudication(TASKS[0].id, "Cura", LABELS, best, 1, given_at))
    assert store.adjudications()[TASKS[0].id].best == 2
    assert store.adjudications_of(["c0"]) == store.adjudications()


def test_settings_keep_their_type_and_their_default(store: Store) -> None:
    assert store.people_setting("guidelines", "none") == "none"
    for value in ("日本語", {"by": 2, "first": 10}, True, None, [1.5]):
        store.set_people_setting("guidelines", value)
        assert store.people_setting("guidelines", "none") == value


# --- two at once -------------------------------------------------------------------------------


def test_what_was_answered_or_taken_back_meanwhile_is_not_skipped(store: Store) -> None:
    """The item was on the screen while a packet brought its answer, or its work went to another."""
    store.put_draft(TASKS[1].id, ANN.id, {"best": 0})
    store.add_judgements([FIRST])
    store.withdraw_tasks([TASKS[1].id])
    for task in TASKS[:3]:
        store.skip(Skip(task.id, ANN.id, "unclear"))
    assert states(store) == ["done", "withdrawn", "skipped", "open", "open"]
    assert len(store.skips()) == 3


def test_nobody_writes_between_the_reading_of_a_setting_and_its_change(store: Store) -> None:
    other = Store(store.path)
    other.db.execute("PRAGMA busy_timeout = 0")  # it fails at once, where it had to wait

    def change(before: list[int]) -> list[int]:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.set_people_setting("rows", [9])
        return [*before, 1]

    assert store.change_people_setting("rows", [], change) == [1]
    assert store.change_people_setting("rows", [], change) == [1, 1]
    with pytest.raises(ZeroDivisionError):
        store.change_people_setting("rows", [], lambda _: 1 // 0)
    assert other.people_setting("rows", []) == [1, 1]
    other.close()


def test_no_answer_is_dated_before_one_that_was_written_before(store: Store) -> None:
    """What follows from answers is caught up with by their times."""
    other = Store(store.path)

    def simulated() -> Iterator[Judgement]:
        yield dataclasses.replace(FIRST, given="")
        other.submit(dataclasses.replace(FIRST, annotator_id=BOB.id, given="2999-01-01"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_people, "now", lambda: next(times))
        times = iter(f"30{n:02}-01-01" for n in range(99))
        store.add_judgements(simulated())
    first, second = store.judgements()
    assert (first.given, second.given) == ("3000-01-01", "2999-01-01")
    other.close()


def test_two_annotators_are_not_given_one_name_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, read = Store(store.path), store.annotators
    other.db.execute("PRAGMA busy_timeout = 0")

    def annotators() -> list[Annotator]:
        found = read()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.put_annotator(Annotator("a4", "CLEO"))
        return found

    monkeypatch.setattr(store, "annotators", annotators)
    store.put_annotator(Annotator("a3", "Cleo"))
    with pytest.raises(ProjectError, match="name"):
        other.put_annotator(Annotator("a4", "CLEO"))
    other.close()
