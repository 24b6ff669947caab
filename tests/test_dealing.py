"""The order of work, and dealing over rounds: who may, who must, and what is left."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from swag_studio.allocation import OverlapPlan
from swag_studio.dealing import Given, Wanted, deal, spread


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.integers(0, 9))
def test_the_order_has_each_context_once_and_spreads_groups(sizes: list[int], seed: int) -> None:
    groups = {f"c{g}-{i}": f"g{g}" for g, size in enumerate(sizes) for i in range(size)}
    order = spread(groups.items(), seed)
    assert sorted(order) == sorted(groups)
    assert order == spread(sorted(groups.items(), reverse=True), seed)
    for group, size in Counter(groups.values()).items():
        places = [i for i, c in enumerate(order) if groups[c] == group]
        # Between two of a group, each other group has its share, give or take one.
        for a, b in pairwise(places):
            assert b - a > len(order) / size - len(sizes) - 1


wanted_tasks = st.lists(
    st.builds(lambda context, round: (f"c{context}", round), st.integers(0, 9), st.integers(0, 2)),
    unique=True,
    max_size=20,
)


def want(rows: list[tuple[str, int]]) -> list[Wanted]:
    return [
        Wanted(round, int(context[1:]), f"t{context}-{round}", context, round > 0)
        for context, round in rows
    ]


@given(wanted_tasks, st.integers(1, 4), st.integers(0, 12), st.integers(1, 3), st.integers(1, 3))
def test_every_task_gets_its_judges_and_nobody_one_twice(
    rows: list[tuple[str, int]], people: int, first: int, by: int, rest: int
) -> None:
    wanted, names = want(rows), [f"a{n}" for n in range(people)]
    pairs = deal(wanted, names, OverlapPlan(first, by, rest), 1, [])
    assert len(set(pairs)) == len(pairs)
    judges = Counter(task for task, _ in pairs)
    firsts = [w.task_id for w in sorted(wanted) if w.round == 0][:first]
    for w in wanted:
        planned = min(by if w.task_id in firsts else rest, people)
        shared = any(o.context_id == w.context_id and o != w for o in wanted)
        # First rounds never go to somebody who has another task of the context.
        assert judges[w.task_id] <= planned
        if w.seen or not shared:
            assert judges[w.task_id] == planned
    order = {w.task_id: i for i, w in enumerate(sorted(wanted))}
    assert [order[task] for task, _ in pairs] == sorted(order[task] for task, _ in pairs)


@given(wanted_tasks, st.integers(2, 4), st.data())
def test_what_a_dropped_annotator_had_goes_to_the_others(
    rows: list[tuple[str, int]], people: int, data: st.DataObject
) -> None:
    wanted, names = want([(c, 0) for c in {c for c, _ in rows}]), [f"a{n}" for n in range(people)]
    contexts = {w.task_id: w.context_id for w in wanted}
    plan = OverlapPlan()
    pairs = deal(wanted, names, plan, 1, [])
    state = st.sampled_from(["open", "done", "skipped"])
    given_out = [Given(t, contexts[t], who, data.draw(state)) for t, who in pairs]
    new = deal(wanted, names, plan, 1, given_out, dropped="a0")
    theirs = {g.task_id for g in given_out if g.annotator_id == "a0"}
    skipped = {g.task_id for g in given_out if g.state == "skipped"}
    assert "a0" not in {who for _, who in new}
    assert theirs <= {task for task, _ in new} <= theirs | skipped
    again = [*given_out, *(Given(t, contexts[t], who, "open") for t, who in new)]
    assert deal(wanted, names[1:], plan, 1, [g for g in again if g.annotator_id != "a0"]) == []


def test_one_who_knows_a_context_is_asked_again_only_where_nobody_else_is() -> None:
    first, further = want([("c0", 0), ("c0", 1)])
    known = [Given(first.task_id, "c0", "a0", "done")]
    assert deal([first, further], ["a0", "a1"], OverlapPlan(), 1, known) == [
        (further.task_id, "a1")
    ]
    assert deal([first, further], ["a0"], OverlapPlan(), 1, known) == [(further.task_id, "a0")]


def test_one_who_had_a_check_of_a_context_does_not_judge_it() -> None:
    (task,) = want([("c0", 0)])
    check = [Given("check", "c0", "a0", "done")]
    assert deal([task], ["a0"], OverlapPlan(), 1, check) == []
    assert deal([task], ["a0", "a1"], OverlapPlan(), 1, check) == [(task.task_id, "a1")]
