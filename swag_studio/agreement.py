"""How far annotators agree: alpha, percent, pairs, over sources and time.

The unit is an ending of a task. What was not judged is missing, never a category. Alpha is
Krippendorff's, nominal, by the krippendorff package. Which answers enter is decided in ratings.py,
whose names are offered here as well. Knows neither the project nor a screen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import krippendorff
import numpy as np
from numpy.typing import NDArray

from swag_studio.numerals import plain
from swag_studio.ratings import (
    MEASURES,
    MISSING,
    PAPER,
    VALUES,
    Codes,
    Frequencies,
    Ints,
    Measure,
    Ratings,
    Shares,
    collect,
    frequencies,
    numbered,
)

__all__ = [
    "MEASURES",
    "PAPER",
    "PAPER_ALPHA",
    "PAPER_PERCENT",
    "Agreement",
    "Estimate",
    "Frequencies",
    "Measure",
    "PairMatrix",
    "Period",
    "Ratings",
    "Shares",
    "WithOthers",
    "agreement",
    "by_annotator",
    "by_source",
    "collect",
    "frequencies",
    "over_time",
    "pair_matrix",
]

PAPER_ALPHA: dict[Measure, float] = {"labels": 0.39, "choices": 0.43}  # section 4
PAPER_PERCENT: dict[Measure, float] = {"labels": 0.64, "choices": 0.72, "top_two": 0.79}

_DRAWS_AT_ONCE = 50  # bootstrap draws whose weights stand in memory together
_CONFIDENCE = 0.95

Floats = NDArray[np.float64]


# --- pairs -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pairs:
    """All pairs of rows that answer one task. Shapes: P pairs, E endings.

    `weight` is 1 / (raters of the task - 1): what a pair counts in Krippendorff's coincidences.
    """

    one: Ints
    other: Ints
    weight: Floats


def _pairs(ratings: Ratings) -> _Pairs:
    task, rows = ratings.task, np.arange(len(ratings))
    raters = np.bincount(task) if len(task) else np.zeros(0, np.int64)
    one, other = [], []
    for step in range(1, int(raters.max(initial=0))):  # sorted by task, so partners are near
        near = rows[:-step][task[:-step] == task[step:]]
        one.append(near)
        other.append(near + step)
    first = np.concatenate([np.zeros(0, np.int64), *one])
    second = np.concatenate([np.zeros(0, np.int64), *other])
    return _Pairs(first, second, 1.0 / np.maximum(raters[task[first]] - 1, 1))


def _compared(values: Codes, pairs: _Pairs) -> tuple[Ints, Ints]:
    """(P) endings of each pair on which both agree; (P) endings that both rated."""
    one, other = values[pairs.one], values[pairs.other]
    rated = (one != MISSING) & (other != MISSING)
    return ((one == other) & rated).sum(axis=1), rated.sum(axis=1)


# --- agreement -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its bootstrap interval, or why there is none. NaN interval: not asked for."""

    value: float | None
    low: float = float("nan")
    high: float = float("nan")
    why: str = ""

    def text(self) -> str:
        """ "0.43 (0.40 to 0.46)", "0.43", or "undefined (no variation)"."""
        if self.value is None:
            return f"undefined ({self.why})"
        if np.isnan(self.low):
            return plain(self.value)
        return f"{plain(self.value)} ({plain(self.low)} to {plain(self.high)})"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement in one measure. `units`: endings that two or more rated; `pairs`: of ratings."""

    alpha: Estimate
    percent: Estimate
    units: int
    pairs: int
    raters: int


def agreement(ratings: Ratings, measure: Measure, *, draws: int = 1000, seed: int = 0) -> Agreement:
    """Alpha over all raters and the share of equal pairs, with 95% bootstrap intervals.

    The bootstrap draws contexts, not endings: six endings of one context are judged together and
    are no independent draws. `draws` 0 leaves the intervals out. Draws without variation, where
    alpha is undefined, are left out of its interval.
    """
    values = ratings.values(measure)
    pairs = _pairs(ratings)
    equal, rated = _compared(values, pairs)
    n = int(rated.sum())
    counts = _counts(ratings, values, len(VALUES[measure]))
    shared = counts[counts.sum(axis=1) >= 2]
    raters = len(np.unique(ratings.annotator[np.concatenate([pairs.one, pairs.other])]))
    if n == 0:
        nothing = Estimate(None, why="nothing was judged by two annotators")
        return Agreement(nothing, nothing, 0, 0, raters)
    percent = float(equal.sum() / n)
    varied = int((shared.sum(axis=0) > 0).sum()) > 1
    alpha = _alpha(shared) if varied else None
    alphas, percents = _bootstrap(ratings, measure, pairs, draws, seed)
    return Agreement(
        alpha=_estimate(alpha, alphas, "no variation"),
        percent=_estimate(percent, percents, ""),
        units=len(shared),
        pairs=n,
        raters=raters,
    )


def _counts(ratings: Ratings, values: Codes, size: int) -> Ints:
    """(tasks * E, size): how many gave each value to each ending."""
    row, place = np.nonzero(values != MISSING)
    unit = ratings.task[row] * values.shape[1] + place
    units = (int(ratings.task.max(initial=-1)) + 1) * values.shape[1]
    flat = unit * size + values[row, place]
    return np.bincount(flat, minlength=units * size).reshape(units, size)


def _alpha(counts: Ints) -> float:
    """Krippendorff's nominal alpha of (units, values) counts with at least two values."""
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def _estimate(value: float | None, draws: Floats, why: str) -> Estimate:
    if value is None:
        return Estimate(None, why=why)
    defined = draws[~np.isnan(draws)]
    if len(defined) == 0:
        return Estimate(value)
    tail = (1 - _CONFIDENCE) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Estimate(value, float(low), float(high))


def _bootstrap(
    ratings: Ratings, measure: Measure, pairs: _Pairs, draws: int, seed: int
) -> tuple[Floats, Floats]:
    """(draws) alphas, NaN where undefined, and (draws) shares of equal pairs.

    Coincidences add up over contexts, so a draw is a weighted sum of the contexts' own. Weights
    are counts of contexts drawn with replacement, among those where anybody can agree.
    """
    size = len(VALUES[measure])
    sums = _by_context(ratings, ratings.values(measure), pairs, size)
    rng = np.random.default_rng(_seed(seed, "agreement", measure))
    found = [np.zeros((0, sums.shape[1]))]
    for start in range(0, draws, _DRAWS_AT_ONCE):
        count = min(_DRAWS_AT_ONCE, draws - start)
        drawn = rng.integers(len(sums), size=(count, len(sums)), dtype=np.int32)
        weights = np.stack([np.bincount(row, minlength=len(sums)) for row in drawn])
        found.append(weights.astype(np.float64) @ sums)
    drawn_sums = np.concatenate(found)
    coincidences = drawn_sums[:, 2:].reshape(-1, size, size)
    return _alphas(coincidences), drawn_sums[:, 0] / np.maximum(drawn_sums[:, 1], 1)


def _by_context(ratings: Ratings, values: Codes, pairs: _Pairs, size: int) -> Floats:
    """(contexts with a pair, 2 + size * size): equal and all pairs, then the coincidences."""
    context = ratings.context[pairs.one]
    places, context = np.unique(context, return_inverse=True)
    sums = np.zeros((len(places), 2 + size * size))
    equal, rated = _compared(values, pairs)
    sums[:, 0] = np.bincount(context, equal, len(places))
    sums[:, 1] = np.bincount(context, rated, len(places))
    for place in range(values.shape[1]):
        one = values[pairs.one, place].astype(np.int64)
        other = values[pairs.other, place].astype(np.int64)
        both = (one != MISSING) & (other != MISSING)
        for a, b in ((one, other), (other, one)):
            cell = context[both] * size * size + a[both] * size + b[both]
            added = np.bincount(cell, pairs.weight[both], len(places) * size * size)
            sums[:, 2:] += added.reshape(len(places), size * size)
    return sums


def _alphas(coincidences: Floats) -> Floats:
    """(B) nominal alphas of (B, V, V) coincidences; NaN where all pairs have one value."""
    totals = coincidences.sum(axis=2)
    n = totals.sum(axis=1)
    observed = n - np.trace(coincidences, axis1=1, axis2=2)
    expected = n**2 - (totals**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        alphas = 1 - (n - 1) * observed / expected
    return np.where(expected > 1e-9, alphas, np.nan)


def _seed(seed: int, *names: str) -> int:
    text = " ".join((str(seed), *names)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


# --- parts -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """Each pair of annotators: the share of endings on which they agree, NaN where they share
    none, and over how many. (A, A), symmetric; the diagonal is NaN and 0."""

    annotators: tuple[str, ...]
    share: Floats
    n: Ints


def pair_matrix(ratings: Ratings, measure: Measure) -> PairMatrix:
    """Percent agreement of every two annotators."""
    pairs, size = _pairs(ratings), len(ratings.annotators)
    equal, rated = _compared(ratings.values(measure), pairs)
    cell = ratings.annotator[pairs.one] * size + ratings.annotator[pairs.other]
    matrices = [np.bincount(cell, w, size * size).reshape(size, size) for w in (equal, rated)]
    agreed, n = (matrix + matrix.T for matrix in matrices)
    share = np.divide(agreed, n, out=np.full(n.shape, np.nan), where=n > 0)
    return PairMatrix(ratings.annotators, share, n.astype(np.int64))


@dataclass(frozen=True, slots=True)
class WithOthers:
    """How one annotator agrees with all others: NaN where nothing is shared. `judged`: tasks."""

    annotator: str
    share: float
    n: int
    judged: int


def by_annotator(ratings: Ratings, measure: Measure) -> list[WithOthers]:
    """Each annotator's percent agreement with whoever judged the same, by annotator's id."""
    matrix = pair_matrix(ratings, measure)
    judged = np.bincount(ratings.annotator, minlength=len(ratings.annotators))
    rows = []
    for i, name in enumerate(ratings.annotators):
        n = int(matrix.n[i].sum())
        agreed = np.nansum(matrix.share[i] * matrix.n[i])
        rows.append(WithOthers(name, float(agreed / n) if n else float("nan"), n, int(judged[i])))
    return rows


def by_source(
    ratings: Ratings, measure: Measure, sources: Mapping[str, str]
) -> dict[str, Agreement]:
    """The agreement of each source, without intervals; `sources` is context id -> its source."""
    names, source = numbered(sources[context] for context in ratings.contexts)
    of_row = source[ratings.context]
    return {
        name: agreement(ratings.where(of_row == i), measure, draws=0)
        for i, name in enumerate(names)
    }


@dataclass(frozen=True, slots=True)
class Period:
    """Agreement on tasks whose last answer was given from `start` to `end` (ISO 8601)."""

    start: str
    end: str
    agreement: Agreement


def over_time(ratings: Ratings, measure: Measure, periods: int = 10) -> list[Period]:
    """Agreement in up to `periods` stretches of equally many tasks, by when they were complete.

    Only tasks that two or more judged; no intervals.
    """
    pairs = _pairs(ratings)
    shared = np.isin(ratings.task, ratings.task[pairs.one])
    kept = ratings.where(shared)
    tasks, task = np.unique(kept.task, return_inverse=True)
    last = np.full(len(tasks), "", dtype=kept.given.dtype)
    for row, number in enumerate(task):
        last[number] = max(last[number], kept.given[row])
    parts = np.array_split(np.argsort(last, kind="stable"), max(1, min(periods, len(tasks))))
    return [
        Period(
            str(last[part[0]]),
            str(last[part[-1]]),
            agreement(kept.where(np.isin(task, part)), measure, draws=0),
        )
        for part in parts
        if len(part)
    ]
