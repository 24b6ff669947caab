"""All that people did on a context: which contexts a run has, and which tasks still hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from made_run import make_store

from swag_studio.cases import CaseReader
from swag_studio.judging import Annotator, Judgement, Label, Task, task_id
from swag_studio.policy import VerificationPolicy
from swag_studio.store import Store

POLICY = VerificationPolicy()
GOOD: tuple[Label, ...] = ("likely", *["unlikely"] * 5)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = make_store(tmp_path, 4)
    for who in ("Ann", "Bob"):
        store.put_annotator(Annotator(who, who))
    yield store
    store.close()


def reader(store: Store, version: int = 1) -> CaseReader:
    return CaseReader(store, version, 1, frozenset())


def asked(
    store: Store, context: str, round: int, places: str, kind: Literal["work", "check"] = "work"
) -> Task:
    """A task of the found ending and of distractors by their slots, as digits; kept."""
    ids = store.assigned_of(1, [context])[context]
    endings = (ids[0], *(ids[int(place)] for place in places))
    task = Task(task_id(context, round, endings, kind), context, 1, round, endings, kind)
    store.put_tasks([task])
    return task


def judge(store: Store, task: Task, *people: str) -> None:
    store.add_judgements([Judgement(task.id, who, GOOD, 0, 1) for who in people])


def test_a_context_that_the_run_left_out_is_no_case(store: Store) -> None:
    ids = [c.id for c in store.contexts(1)]
    rows = [
        (context, slot, ending.id, slot, 0.0)
        for context, slots in store.assigned(1)
        for slot, ending, _ in slots
        if context != ids[2]
    ]
    store.put_assignments(2, rows)
    order = ids[::-1]
    assert [c.context.id for c in reader(store).read(order, False)] == order
    assert [c.context.id for c in reader(store, 2).read(order, False)] == [ids[3], ids[1], ids[0]]


def test_a_check_is_no_work(store: Store) -> None:
    (context, *_) = (c.id for c in store.contexts(1))
    check = asked(store, context, 0, "12345", "check")
    judge(store, check, "Ann")
    (case,) = reader(store).read([context], False)
    assert (case.live, case.obsolete, case.judgements) == ((), (), ())
    assert case.verdict(POLICY, 1) is None


def test_of_two_tasks_of_a_round_the_one_that_was_judged_most_counts(store: Store) -> None:
    (context, *_) = (c.id for c in store.contexts(1))
    tasks = [asked(store, context, 0, places) for places in ("12345", "12346")]
    most, few = sorted(tasks, key=lambda task: task.id)  # by the id alone it would be the other
    judge(store, few, "Ann")
    judge(store, most, "Ann", "Bob")
    (case,) = reader(store).read([context], False)
    assert (case.live, case.obsolete) == ((most,), (few,))
    assert {j.task_id for j in case.judgements} == {most.id}


def test_a_further_round_follows_from_the_one_before_it(store: Store) -> None:
    """One in which an ending stands elsewhere than it stood the round before comes of another
    round 1, and does not follow, whatever stood there at first."""
    (context, *_) = (c.id for c in store.contexts(1))
    rounds = [asked(store, context, 0, "12345"), asked(store, context, 1, "62345")]
    judge(store, rounds[1], "Ann")
    stray = asked(store, context, 2, "76345")  # of a round 1 in which 6 came in for 2
    (case,) = reader(store).read([context], False)
    assert (case.live, case.obsolete) == (tuple(rounds), (stray,))
    rounds.append(asked(store, context, 2, "68345"))
    (case,) = reader(store).read([context], False)
    assert (case.live, case.obsolete) == (tuple(rounds), (stray,))


def test_the_status_tells_who_is_waited_for(store: Store) -> None:
    (context, *_) = (c.id for c in store.contexts(1))
    (case,) = reader(store).read([context], False)
    assert case.status(None) == "not judged"
    task = asked(store, context, 0, "12345")
    (case,) = reader(store).read([context], False)
    found = case.verdict(POLICY, 1)
    assert found is not None and found.kind == "open"
    assert case.status(found) == "not judged"  # nobody has it yet
    given = dataclasses.replace(case, asked={task.id: {"Ann": "open"}})
    assert given.status(found) == "in work"
    judge(store, task, "Ann")
    (case,) = reader(store).read([context], False)
    assert case.status(found) == "in work"
    for kind, status in (("found", "judged"), ("surprising", "judged"), ("adjudicate", "in work")):
        assert case.status(dataclasses.replace(found, kind=kind)) == status
