"""The points of a growing series, and the fewest of them that look the same on a screen.

Arithmetic only: it knows keys and pens as little as it knows stages. A point costs the same
however many there are; what is drawn is bounded by the pixels, not by the points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swag_studio.series import Smoother

Floats = NDArray[np.float64]


class Curve:
    """Points in ascending order of x, and their debiased moving averages. Grows by doubling."""

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.n = 0
        self._x, self._y, self._mean = (np.empty(64) for _ in range(3))
        self._smoother, self._averaged = Smoother(weight), 0

    def put(self, x: float, y: float) -> bool:
        """Adds a point, or changes the one at `x`; False when it stood there already."""
        if self.n and x <= self._x[self.n - 1]:
            return self._put_before(x, y)
        self._reserve(self.n + 1)
        self._x[self.n], self._y[self.n] = x, y
        self.n += 1
        return True

    def extend(self, xs: Sequence[float] | Floats, ys: Sequence[float] | Floats) -> bool:
        """`put` for many points, in any order; quick where they come after all others."""
        x, y = np.asarray(xs, dtype=float), np.asarray(ys, dtype=float)
        follows = self.n == 0 or len(x) == 0 or x[0] > self._x[self.n - 1]
        if not (follows and (np.diff(x) > 0).all()):
            return sum(self.put(*point) for point in zip(x, y, strict=True)) > 0
        self._reserve(self.n + len(x))
        self._x[self.n : self.n + len(x)] = x
        self._y[self.n : self.n + len(x)] = y
        self.n += len(x)
        return len(x) > 0

    @property
    def x(self) -> Floats:
        return self._x[: self.n]

    @property
    def y(self) -> Floats:
        return self._y[: self.n]

    @property
    def mean(self) -> Floats:
        """`smoothed(y)`, of which only what is new is computed."""
        if self._averaged < self.n:
            fresh = self._smoother.extend(self._y[self._averaged : self.n])
            self._mean[self._averaged : self.n] = fresh
            self._averaged = self.n
        return self._mean[: self.n]

    def at(self, x: float) -> float:
        """The value at exactly `x`; NaN where there is none."""
        i = int(np.searchsorted(self.x, x))
        return float(self._y[i]) if i < self.n and self._x[i] == x else float("nan")

    def near(self, x: float, beside: int = 0) -> float | None:
        """The step nearest to `x`; the first after it for `beside` 1, the last before it for -1."""
        if beside > 0:
            i = int(np.searchsorted(self.x, x, side="right"))
        elif beside < 0:
            i = int(np.searchsorted(self.x, x)) - 1
        else:
            i = int(np.searchsorted(self.x, x))
            if i == self.n or (i > 0 and x - self._x[i - 1] <= self._x[i] - x):
                i -= 1
        return float(self._x[i]) if 0 <= i < self.n else None

    def _put_before(self, x: float, y: float) -> bool:
        i = int(np.searchsorted(self.x, x))
        if self._x[i] == x:
            if np.array_equal(self._y[i], y, equal_nan=True):
                return False
            self._y[i] = y
        else:
            self._reserve(self.n + 1)
            for array, value in ((self._x, x), (self._y, y)):
                array[i + 1 : self.n + 1] = array[i : self.n]
                array[i] = value
            self.n += 1
        if i < self._averaged:  # the averages after it are of another history
            self._smoother, self._averaged = Smoother(self.weight), 0
        return True

    def _reserve(self, count: int) -> None:
        if count > len(self._x):
            more = np.empty(max(count, 2 * len(self._x)) - len(self._x))
            self._x, self._y, self._mean = (
                np.concatenate([array, more]) for array in (self._x, self._y, self._mean)
            )


def thinned(x: Floats, y: Floats, low: float, high: float, columns: int) -> tuple[Floats, Floats]:
    """The line through the points with `low` <= x <= `high`, as it looks in `columns` of pixels.

    x ascending. One point more on either side lets the line run to the edges. Up to four points a
    column all are given as they are; more become each column's exact extremes, by turns upwards
    and downwards: so the line is as short as it can be, and as quick to paint. NaN is a gap where
    a column holds nothing else.
    """
    first = max(int(np.searchsorted(x, low)) - 1, 0)
    last = int(np.searchsorted(x, high, side="right")) + 1
    x, y = x[first:last], y[first:last]
    if len(x) <= 4 * columns:
        return x, y
    edges = np.searchsorted(x, np.linspace(low, high, columns + 1))
    bounds = np.concatenate([[0], edges, [len(x)]])
    filled = np.diff(bounds) > 0
    starts, ends = bounds[:-1][filled], bounds[1:][filled] - 1
    extremes = np.stack([np.fmin.reduceat(y, starts), np.fmax.reduceat(y, starts)], axis=1)
    extremes[1::2] = extremes[1::2, ::-1].copy()
    return np.stack([x[starts], x[ends]], axis=1).reshape(-1), extremes.reshape(-1)
