"""The swap rules against a literal reading of METHOD 2, and the lazy scan against the full one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.remap import Rule, Swaps, adaptive_count, remap

POLICIES = ("random", "hardest", "softmax")


def ended(generator: Generator[None, None, Swaps]) -> Swaps:
    """What the generator returned."""
    while True:
        try:
            next(generator)
        except StopIteration as stop:
            return stop.value


class Case:
    """Contexts whose rows 1..pool have the given scores; rows 1..k are assigned."""

    def __init__(self, gold: list[float], rows: list[list[float]], k: int) -> None:
        self.gold = np.array(gold, np.float32)
        self.k, self.table = k, [np.array([np.inf, *r], np.float32) for r in rows]
        self.assigned = np.tile(np.arange(1, k + 1, dtype=np.uint16), (len(gold), 1))
        self.candidates = [np.arange(k + 1, len(t)) for t in self.table]
        self.asked: Counter[tuple[int, int]] = Counter()

    def score(self, places: Any, rows: Any) -> Any:
        self.asked.update(zip(places.tolist(), rows.tolist(), strict=True))
        yield
        pairs = zip(places, rows, strict=True)
        return np.array([self.table[p][r] for p, r in pairs], np.float32)

    def run(self, rule: Rule, rng: Any, **options: Any) -> Swaps:
        assigned_scores = np.array([t[1 : self.k + 1] for t in self.table], np.float32)
        assigned_scores = assigned_scores.reshape(len(self.gold), self.k)
        swaps = ended(
            remap(
                rule,
                self.gold,
                self.assigned,
                assigned_scores,
                self.candidates,
                self.score,
                rng,
                **options,
            )
        )
        assert swaps.scanned == sum(self.asked.values())
        return swaps

    def easy(self, place: int) -> set[int]:
        return {r for r in range(1, self.k + 1) if self.table[place][r] < self.gold[place]}

    def adversarial(self, place: int) -> set[int]:
        return {int(r) for r in self.candidates[place] if self.table[place][r] > self.gold[place]}


small_scores = st.integers(-3, 3).map(float)  # few values, so that ties are common


@st.composite
def cases(draw: Any) -> Case:
    k, contexts = draw(st.integers(1, 4)), draw(st.integers(0, 5))
    rows = st.lists(small_scores, min_size=k, max_size=k + 12)
    return Case(
        [draw(small_scores) for _ in range(contexts)], [draw(rows) for _ in range(contexts)], k
    )


@settings(deadline=None, max_examples=150)
@given(
    cases(), st.sampled_from(POLICIES), st.integers(0, 3), st.booleans(), st.integers(0, 2**32 - 1)
)
def test_a_swap_follows_the_rule(
    case: Case, policy: str, replace: int, lazy: bool, seed: int
) -> None:
    swaps = case.run(
        Rule(policy, replace),
        np.random.default_rng(seed),
        lazy=lazy,
        first_round=2,
    )
    exhausted = 0
    for place in range(len(case.gold)):
        mine = swaps.place == place
        easy, adversarial = case.easy(place), case.adversarial(place)
        out, came = swaps.old[mine].tolist(), swaps.new[mine].tolist()
        assert len(out) == min(replace, len(easy), len(adversarial))
        assert len(set(out)) == len(out) and set(out) <= easy
        assert len(set(came)) == len(came) and set(came) <= adversarial
        assert swaps.slot[mine].tolist() == [row - 1 for row in out]
        scanned = {row for p, row in case.asked if p == place}
        if not easy or replace == 0:
            assert not scanned
        elif not adversarial:
            exhausted += 1
            assert scanned == set(case.candidates[place].tolist())
    assert max(case.asked.values(), default=1) == 1
    assert (swaps.old_score < swaps.gold_score).all() and (swaps.new_score > swaps.gold_score).all()
    assert swaps.exhausted == exhausted
    assert swaps.with_easy == sum(bool(case.easy(p)) for p in range(len(case.gold)))
    assert swaps.place.tolist() == sorted(swaps.place.tolist())


@settings(deadline=None, max_examples=100)
@given(cases(), st.integers(1, 3))
def test_hardest_takes_the_extremes(case: Case, replace: int) -> None:
    swaps = case.run(Rule("hardest", replace), np.random.default_rng(0))
    for place, table in enumerate(case.table):
        mine = swaps.place == place
        count = int(mine.sum())
        lowest = sorted(table[r] for r in case.easy(place))[:count]
        highest = sorted((table[r] for r in case.adversarial(place)), reverse=True)[:count]
        assert swaps.old_score[mine].tolist() == lowest
        assert swaps.new_score[mine].tolist() == highest


class Dealt:
    """A generator of random numbers whose first permutations are given."""

    def __init__(self, orders: list[tuple[int, ...]]) -> None:
        self.orders, self.rest = orders, np.random.default_rng(0)

    def permutation(self, values: Any) -> Any:
        return np.array(self.orders.pop(0)) if self.orders else self.rest.permutation(values)


@pytest.mark.parametrize("adversarial", range(6))
@pytest.mark.parametrize("replace", [1, 2, 3])
@pytest.mark.parametrize("first_round", [1, 2, 8])
def test_lazy_scan_is_uniform_over_ordered_draws(
    adversarial: int, replace: int, first_round: int
) -> None:
    """All 5! orders of five candidates, equally likely, through the real scan.

    The full scan takes a uniform draw without replacement of m = min(replace, adversarial); so
    each of the a! / (a - m)! ordered draws must come from 120 (a - m)! / a! of the orders.
    """
    outcomes: Counter[tuple[int, ...]] = Counter()
    for order in itertools.permutations(range(4, 9)):
        scores = [-1.0] * 3 + [1.0] * adversarial + [-1.0] * (5 - adversarial)
        case = Case([0.0], [scores], 3)
        swaps = case.run(Rule("random", replace), Dealt([order]), first_round=first_round)
        outcomes[tuple(swaps.new.tolist())] += 1
    m = min(replace, adversarial)
    expected = set(itertools.permutations(range(4, 4 + adversarial), m))
    assert set(outcomes) == expected
    assert set(outcomes.values()) == {120 // len(expected)}


def chi_square(counts: Counter[Any], outcomes: int, total: int) -> float:
    mean = total / outcomes
    empty = outcomes - len(counts)
    return (sum((n - mean) ** 2 for n in counts.values()) + empty * mean**2) / mean


@pytest.mark.parametrize("lazy", [True, False])
def test_both_scans_choose_uniformly(lazy: bool) -> None:
    """2,000 contexts at once, 12 adversarial among 60, 4 easy among 6, two swapped.

    66 unordered pairs come in and 6 go out, each equally often. The 0.1% points of chi square
    with 65 and 5 degrees of freedom are 105.99 and 20.52 (a fixed seed: no flicker).
    """
    scores = [-1.0] * 4 + [1.0] * 2 + [-1.0] * 20 + [1.0] * 12 + [-1.0] * 28
    case = Case([0.0] * 2000, [scores] * 2000, 6)
    swaps = case.run(Rule("random", 2), np.random.default_rng(5), lazy=lazy)
    came = Counter(frozenset(p) for p in swaps.new.reshape(-1, 2).tolist())
    gone = Counter(frozenset(p) for p in swaps.old.reshape(-1, 2).tolist())
    assert len(swaps.new) == 4000 and set(came) <= {
        frozenset(p) for p in itertools.combinations(range(27, 39), 2)
    }
    assert chi_square(came, 66, 2000) < 105.99
    assert chi_square(gone, 6, 2000) < 20.52
    if lazy:
        assert swaps.scanned < 2000 * 60 / 3
    else:
        assert swaps.scanned == 2000 * 60


def test_softmax_draws_by_the_softmax() -> None:
    """One of three adversarial ones with scores log 1, log 2, log 5, and so 1/8, 2/8, 5/8; one
    of two easy ones with scores -log 1, -log 3, and so 1/4, 3/4. 4,000 contexts; the 0.1% points
    of chi square with 2 and 1 degrees of freedom are 13.82 and 10.83.
    """
    easy, adversarial = -np.log([1.0, 3.0]), np.log([1.0, 2.0, 5.0])
    case = Case([-0.0 - 1e-6] * 4000, [[-0.5 + e for e in easy] + list(adversarial)] * 4000, 2)
    swaps = case.run(Rule("softmax", 1), np.random.default_rng(3))
    came, gone = np.bincount(swaps.new)[3:], np.bincount(swaps.old)[1:]
    for counts, parts, limit in ((came, [1, 2, 5], 13.82), (gone, [1, 3], 10.83)):
        expected = 4000 * np.array(parts) / sum(parts)
        assert counts.sum() == 4000
        assert ((counts - expected) ** 2 / expected).sum() < limit


def test_a_cold_softmax_is_the_hardest_policy() -> None:
    scores = np.random.default_rng(1).normal(size=(20, 40)).tolist()
    hardest = Case([0.0] * 20, scores, 5).run(Rule("hardest", 2), np.random.default_rng(1))
    cold = Case([0.0] * 20, scores, 5).run(Rule("softmax", 2, 1e-6), np.random.default_rng(1))
    assert hardest.new.tolist() == cold.new.tolist()
    assert hardest.slot.tolist() == cold.slot.tolist()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["gold", "assigned", "candidate"])
def test_a_score_that_is_not_finite_is_an_error(bad: float, where: str) -> None:
    case = Case([0.0], [[-1.0, -1.0, 1.0]], 2)
    if where == "gold":
        case.gold[0] = bad
    else:
        case.table[0][1 if where == "assigned" else 3] = bad
    with pytest.raises(ValueError, match="not finite"):
        case.run(Rule("random", 2), np.random.default_rng(0))


def test_a_constant_scorer_swaps_nothing() -> None:
    case = Case([1.0] * 3, [[1.0] * 12] * 3, 4)
    swaps = case.run(Rule("random", 2), np.random.default_rng(0))
    assert (len(swaps.place), swaps.with_easy, swaps.exhausted, swaps.scanned) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("accuracy", "count"), [(0.4, 0), (0.525, 0), (0.526, 1), (0.575, 1), (0.576, 2), (1.0, 2)]
)
def test_adaptive_count(accuracy: float, count: int) -> None:
    assert adaptive_count(accuracy) == count
