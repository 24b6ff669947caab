"""The allocator's promises, against brute force where work is small enough for it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swag_studio.allocation import OverlapPlan, Pair, allocate, preview, requeue, shortfall

PEOPLE = [f"person {i}" for i in range(6)]

plans = st.builds(OverlapPlan, st.integers(0, 8), st.integers(1, 4), st.integers(1, 4))
seeds = st.integers(0, 2**31)


def named(count: int) -> list[str]:
    return [f"task {i}" for i in range(count)]


def spread(people: list[str], pairs: list[Pair] | set[Pair]) -> int:
    loads = Counter(who for _, who in pairs)
    return max(loads[who] for who in people) - min(loads[who] for who in people)


def every_way(tasks: list[str], people: list[str], plan: OverlapPlan, before: set[Pair]):  # type: ignore[no-untyped-def]
    """All ways to give each task what it lacks, or all that is left where too few may take it."""
    choices = []
    for place, task in enumerate(tasks):
        holders = {who for t, who in before if t == task}
        free = [who for who in people if who not in holders]
        lacks = max(0, (plan.by if place < plan.first else plan.rest) - len(holders))
        choices.append([[(task, w) for w in c] for c in combinations(free, min(lacks, len(free)))])
    for way in product(*choices):
        yield [pair for part in way for pair in part]


@given(st.integers(0, 30), st.integers(4, 6), plans, seeds)
def test_fresh_work_is_dealt_to_within_one(n: int, people: int, plan: OverlapPlan, s: int) -> None:
    tasks, who = named(n), PEOPLE[:people]
    pairs = allocate(tasks, who, plan, s)
    assert len(set(pairs)) == len(pairs)
    holders = Counter(task for task, _ in pairs)
    assert [holders[t] for t in tasks] == [
        plan.by if i < plan.first else plan.rest for i in range(n)
    ]
    assert spread(who, pairs) <= 1
    assert shortfall(tasks, plan, pairs) == {}


@st.composite
def begun(draw: st.DrawFn) -> tuple[list[str], list[str], OverlapPlan, set[Pair]]:
    """Small work of which some was dealt before, unevenly."""
    tasks, people = named(draw(st.integers(1, 4))), PEOPLE[: draw(st.integers(1, 3))]
    plan = OverlapPlan(draw(st.integers(0, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    possible = [(t, w) for t in [*tasks, "old 1", "old 2"] for w in [*people, "someone gone"]]
    return tasks, people, plan, set(draw(st.lists(st.sampled_from(possible), max_size=8)))


@settings(max_examples=120)
@given(begun(), seeds)
def test_no_way_to_deal_is_more_even(
    work: tuple[list[str], list[str], OverlapPlan, set[Pair]], seed: int
) -> None:
    tasks, people, plan, before = work
    pairs = allocate(tasks, people, plan, seed, before)
    assert not set(pairs) & before
    ways = [set(way) for way in every_way(tasks, people, plan, before)]
    assert set(pairs) in ways  # nobody twice, k never exceeded, and reached where it can be
    assert spread(people, before | set(pairs)) == min(spread(people, before | w) for w in ways)


@given(begun(), seeds, st.booleans())
def test_nobody_gets_two_tasks_of_a_context_unless_allowed(
    work: tuple[list[str], list[str], OverlapPlan, set[Pair]], seed: int, again: bool
) -> None:
    tasks, people, plan, before = work
    contexts = {t: f"context {i // 2}" for i, t in enumerate([*tasks, "old 1", "old 2"])}
    pairs = allocate(tasks, people, plan, seed, before, contexts=None if again else contexts)
    held = before | set(pairs)
    assert len(held) == len(before) + len(pairs)
    for task, who in pairs:
        others = {t for t, w in held if w == who and t != task and contexts[t] == contexts[task]}
        assert again or not others
    holders = Counter(t for t, _ in held)
    given_before = Counter(t for t, _ in before)
    for i, task in enumerate(tasks):
        assert holders[task] <= max(given_before[task], plan.wanted(i))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6), seeds)
def test_a_further_round_goes_to_others(first: list[int], seed: int) -> None:
    """Each context's first round was judged by one of three; the second is for the other two."""
    tasks, people = [f"second {i}" for i in range(len(first))], PEOPLE[:3]
    before = {(f"first {i}", PEOPLE[who]) for i, who in enumerate(first)}
    contexts = {f"{r} {i}": str(i) for i in range(len(first)) for r in ("first", "second")}
    pairs = allocate(tasks, people, OverlapPlan(), seed, before, contexts=contexts)
    assert [t for t, _ in pairs] == tasks
    assert all(PEOPLE[first[i]] != who for i, (_, who) in enumerate(pairs))
    ways = product(*([who for who in people if who != PEOPLE[i]] for i in first))
    best = min(spread(people, before | set(zip(tasks, way, strict=True))) for way in ways)
    assert spread(people, before | set(pairs)) == best


@given(st.integers(1, 20), st.integers(3, 5), plans, seeds)
def test_it_is_a_matter_of_the_seed_alone(n: int, people: int, plan: OverlapPlan, s: int) -> None:
    tasks, who = named(n), PEOPLE[:people]
    pairs = allocate(tasks, who, plan, s)
    assert pairs == allocate(tasks, who[::-1], plan, s)


# (people, tasks that three judge, pairs of task and person dealt before; task -1: of other work).
# In some orders the least loaded are not enough, and work has to be passed on: in the first from
# one to another, in the second along two, since nobody with more may give to those with less.
UNEVEN: list[tuple[int, int, list[tuple[int, int]]]] = [
    (4, 4, [(0, 1), (0, 2), (2, 3), (3, 2)]),  # 4 dealt, 8 to deal: three each
    (5, 2, [(0, 3), (1, 1), (1, 2), (-1, 0), (-1, 4), (-2, 1), (-2, 4)]),  # 7 and 3: two each
]


@pytest.mark.parametrize(("people", "count", "begun_with"), UNEVEN)
def test_work_is_passed_on_until_all_have_the_same(
    people: int, count: int, begun_with: list[tuple[int, int]]
) -> None:
    tasks, who, plan = named(count), PEOPLE[:people], OverlapPlan(first=count, by=3)
    before = {(tasks[t] if t >= 0 else f"old {t}", who[w]) for t, w in begun_with}
    for seed in range(40):
        pairs = allocate(tasks, who, plan, seed, before)
        assert not set(pairs) & before
        assert Counter(task for task, _ in before | set(pairs) if task in tasks) == dict.fromkeys(
            tasks, 3
        )
        assert spread(who, before | set(pairs)) == 0


def test_another_seed_deals_otherwise() -> None:
    ways = {tuple(allocate(named(10), PEOPLE, OverlapPlan(), seed)) for seed in range(20)}
    assert len(ways) == 20


def test_what_was_dealt_is_not_dealt_again() -> None:
    tasks, plan = named(20), OverlapPlan(first=5, by=3)
    pairs = allocate(tasks, PEOPLE, plan, 1)
    assert allocate(tasks, PEOPLE, plan, 2, pairs) == []
    assert len(allocate([*tasks, "one more"], PEOPLE, plan, 1, pairs)) == 1


def test_too_few_people_is_told() -> None:
    plan = OverlapPlan(first=2, by=3)
    pairs = allocate(named(3), PEOPLE[:2], plan, 1)
    shown = preview(named(3), PEOPLE[:2], plan, [], pairs)
    assert shown.short == {"task 0": 1, "task 1": 1}
    assert sum(shown.new.values()) == 5
    assert allocate(named(3), [], plan, 1) == []


@given(st.integers(1, 15), st.integers(4, 6), st.integers(1, 3), seeds)
def test_work_of_someone_dropped_goes_to_others(n: int, people: int, by: int, s: int) -> None:
    tasks, plan = named(n), OverlapPlan(first=4, by=by)
    dealt = allocate(tasks, PEOPLE[:people], plan, s)
    dropped = dealt[0][1]
    theirs = {task for task, who in dealt if who == dropped}
    assume(len(theirs) < n or by == 1)
    new = requeue(tasks, PEOPLE[:people], plan, s, dealt, dropped)
    assert sorted(task for task, _ in new) == sorted(theirs)
    assert all(who != dropped for _, who in new)
    assert not set(new) & set(dealt)
    left = [pair for pair in dealt if pair[1] != dropped]
    assert shortfall(tasks, plan, [*left, *new]) == {}


def test_a_preview_counts_new_and_old() -> None:
    shown = preview(named(2), PEOPLE[:2], OverlapPlan(), [("old", PEOPLE[0])], [
        ("task 0", PEOPLE[1]), ("task 1", PEOPLE[1])
    ])  # fmt: skip
    assert shown.new == {PEOPLE[0]: 0, PEOPLE[1]: 2}
    assert shown.total == {PEOPLE[0]: 1, PEOPLE[1]: 2}
    assert shown.short == {}
