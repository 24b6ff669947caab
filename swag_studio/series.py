"""What a curve of the filter says: smoothing, and a verdict by a stated statistical rule.

Pure arithmetic on one series of accuracies, one value per iteration. It knows neither models nor
screens; the window, the command line and the tests read the same verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
State = Literal["too_early", "falling", "rising", "at_chance", "near_chance", "stalled"]

WINDOW = 10  # iterations that a statement about "now" rests on
NEAR = 0.05  # above chance by less: surely above it, and still what a filter is run for
Z_ABOVE = 1.645  # one-sided 5%: the tail's mean is above chance
Z_TREND = 2.326  # one-sided 1%: looked at after every iteration, so stricter


def smoothed(values: Sequence[float] | Floats, weight: float = 0.8) -> Floats:
    """The debiased exponential moving average; NaN is skipped and stays NaN in the result.

    Debiased: divided by 1 - weight^n, so that the first value counts fully and a constant series
    stays constant to the bit. `weight` 0 gives the values themselves.
    """
    return Smoother(weight).extend(values)


class Smoother:
    """`smoothed` of a series that grows, a piece at a time: what came before is not read again."""

    def __init__(self, weight: float = 0.8) -> None:
        self.weight = weight
        self._seen = 0  # values so far that are not NaN
        # All is averaged around the first value, so that a constant series is zeros: exact.
        self._base = 0.0
        self._last = 0.0

    def extend(self, values: Sequence[float] | Floats) -> Floats:
        """The averages at the next `values`, of which there may be any number."""
        array = np.asarray(values, dtype=float)
        seen = ~np.isnan(array)
        result = np.full(len(array), np.nan)
        fresh = array[seen]
        if len(fresh) == 0:
            return result
        if self._seen == 0:
            self._base = float(fresh[0])
        moving = _moving(fresh - self._base, self.weight, self._last)
        mass = 1.0 - self.weight ** np.arange(self._seen + 1, self._seen + len(fresh) + 1)
        result[seen] = self._base + moving / mass
        self._seen += len(fresh)
        self._last = float(moving[-1])
        return result


def _moving(values: Floats, weight: float, before: float) -> Floats:
    """y[t] = weight * y[t - 1] + (1 - weight) * values[t], y[-1] = before.

    A block at a time by one matrix product: scipy's filter would cost its import, two seconds
    before a window can show.
    """
    size = min(256, len(values))
    powers = weight ** np.arange(size + 1)
    lag = np.arange(size)[:, None] - np.arange(size)[None, :]
    within = np.where(lag >= 0, powers[np.maximum(lag, 0)], 0.0) * (1.0 - weight)
    blocks = np.zeros(-(-len(values) // size) * size)
    blocks[: len(values)] = values
    result = blocks.reshape(-1, size) @ within.T
    for row in result:
        row += before * powers[1:]
        before = row[-1]
    return result.reshape(-1)[: len(values)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one member's curve stands. `since` is the iteration where the present state began."""

    state: State
    since: int
    level: float  # mean accuracy since then
    error: float  # its standard error

    def text(self, chance: float) -> str:
        """The verdict in words: "stalled at 41% since iteration 30 (chance 25%)"."""
        level = f"{self.level:.0%}"
        if self.state == "too_early":
            return f"too early to tell: fewer than {WINDOW} iterations"
        if self.state == "falling":
            return f"falling, now {level} (chance {chance:.0%})"
        if self.state == "rising":
            return f"rising since iteration {self.since}, now {level} (chance {chance:.0%})"
        if self.state == "at_chance":
            return f"at chance since iteration {self.since} ({level}, chance {chance:.0%})"
        if self.state == "near_chance":
            return f"near chance since iteration {self.since} ({level}, chance {chance:.0%})"
        return f"stalled at {level} since iteration {self.since} (chance {chance:.0%})"


def verdict(
    values: Sequence[float] | Floats,
    chance: float,
    tested: int,
    steps: Sequence[int] | None = None,
) -> Verdict:
    """The state of one member's accuracies within one phase of the filter.

    The rule, for values that each rest on `tested` contexts:

    1. Fit the curve that changes linearly until iteration t and is level from then on, by least
       squares over all t. The level part is the tail.
    2. Fewer than `WINDOW` values: too early. A tail shorter than that, or whose own last `WINDOW`
       values have a slope with z < -2.33 (one-sided 1%): falling; z > 2.33: rising.
    3. Else the tail's mean is compared with chance, z = (mean - chance) / se: up to 1.645
       (one-sided 5%) it is at chance, since t; above, it is near chance where the mean is less
       than `NEAR` above chance, and stalled where it is more.

    A value's standard error is that of a share of `tested` contexts, or the scatter around the
    fit where that is larger: contexts return, so neighbours are not independent draws.
    """
    y = np.asarray(values, dtype=float)
    x = np.asarray(steps if steps is not None else range(len(y)), dtype=float)
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    last = y[-WINDOW:]
    if len(y) < WINDOW:
        level = float(last.mean()) if len(last) else float("nan")
        return Verdict("too_early", int(x[0]) if len(x) else 0, level, float("nan"))
    start, sigma = _level_from(x, y, chance, tested)
    z = _slope_z(x[-WINDOW:], last, sigma)
    now = Verdict("falling", int(x[-WINDOW]), float(last.mean()), sigma / math.sqrt(WINDOW))
    if abs(z) > Z_TREND:
        return now if z < 0 else Verdict("rising", now.since, now.level, now.error)
    tail = y[start:]
    if len(tail) < WINDOW:
        rose = last.mean() > y[: len(y) - WINDOW].mean() if len(y) > WINDOW else False
        return Verdict("rising", now.since, now.level, now.error) if rose else now
    level, error = float(tail.mean()), sigma / math.sqrt(len(tail))
    return Verdict(_level_state(level, error, chance), int(x[start]), level, error)


def _level_state(level: float, error: float, chance: float) -> State:
    """What a curve that changes no more is called."""
    if level - chance <= Z_ABOVE * error:
        return "at_chance"
    return "near_chance" if level - chance < NEAR else "stalled"


def _level_from(x: Floats, y: Floats, chance: float, tested: int) -> tuple[int, float]:
    """(index from which the best broken stick is level, standard error of one value)."""
    errors = np.empty(len(y))
    for t in range(len(y)):
        ramp = np.minimum(x - x[t], 0.0)  # linear until x[t], then 0
        design = np.column_stack([np.ones(len(y)), ramp])
        fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
        errors[t] = float(((y - fitted) ** 2).sum())
    # The earliest t that is not significantly worse than the best: a level curve fits with any t.
    freedom = max(len(y) - 3, 1)
    share = float(np.clip(y.mean(), chance, 1 - 1e-6))
    binomial = math.sqrt(share * (1 - share) / max(tested, 1))
    sigma = max(binomial, math.sqrt(float(errors.min()) / freedom))
    bound = errors.min() + (Z_ABOVE * sigma) ** 2
    return int(np.flatnonzero(errors <= bound)[0]), sigma


def _slope_z(x: Floats, y: Floats, sigma: float) -> float:
    """The least-squares slope of y on x in units of its standard error."""
    centred = x - x.mean()
    spread = float((centred**2).sum())
    slope = float((centred * y).sum()) / spread
    return slope * math.sqrt(spread) / sigma
