"""Points of a growing series against a dictionary; the thinned line against every point."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.series import smoothed
from swag_studio.ui.curves import Curve, thinned

values = st.floats(-10, 10) | st.just(math.nan)
points = st.tuples(st.integers(0, 30).map(float), values)


@given(st.lists(points, max_size=80), st.integers(1, 7), st.floats(0, 0.99))
def test_a_curve_is_its_newest_values_in_order(
    put: list[tuple[float, float]], look_every: int, weight: float
) -> None:
    curve, truth = Curve(weight), dict[float, float]()
    for i, (x, y) in enumerate(put):
        changed = x not in truth or not np.array_equal(truth[x], y, equal_nan=True)
        assert curve.put(x, y) is changed
        truth[x] = y
        if i % look_every == 0:  # what was averaged by then must not outlive an insertion
            assert len(curve.mean) == len(truth)
    assert curve.x.tolist() == sorted(truth)
    expected = np.array([truth[x] for x in sorted(truth)])
    assert np.array_equal(curve.y, expected, equal_nan=True)
    assert curve.mean == pytest.approx(smoothed(expected, weight), abs=1e-9, nan_ok=True)


@given(st.lists(points, max_size=40), st.lists(points, max_size=40))
def test_many_points_at_once_are_the_same_one_by_one(
    before: list[tuple[float, float]], more: list[tuple[float, float]]
) -> None:
    one, many = Curve(0.8), Curve(0.8)
    for curve in (one, many):
        for point in before:
            curve.put(*point)
    changed = [one.put(*point) for point in more]
    assert many.extend([x for x, _ in more], [y for _, y in more]) is any(changed)
    assert many.x.tolist() == one.x.tolist()
    assert np.array_equal(many.y, one.y, equal_nan=True)


@given(st.sets(st.integers(0, 20), max_size=12), st.integers(-2, 22), st.integers(0, 4))
def test_steps_beside_and_near(steps: set[int], whole: int, quarter: int) -> None:
    x = whole + quarter / 4
    curve = Curve(0.8)
    curve.extend(sorted(steps), [2.0 * s for s in sorted(steps)])
    assert curve.near(x, 1) == min((s for s in steps if s > x), default=None)
    assert curve.near(x, -1) == max((s for s in steps if s < x), default=None)
    nearest = min(steps, key=lambda s: (abs(s - x), s), default=None)
    assert curve.near(x) == nearest
    expected = 2 * x if x in steps else math.nan
    assert curve.at(x) == pytest.approx(expected, nan_ok=True)


@given(
    st.lists(st.tuples(st.floats(0, 100), values), max_size=300, unique_by=lambda p: p[0]),
    st.floats(0, 50),
    st.floats(1, 60),
    st.integers(4, 20),
)
def test_each_column_keeps_its_extremes(
    raw: list[tuple[float, float]], low: float, width: float, columns: int
) -> None:
    x, y = np.array(sorted(raw)).reshape(-1, 2).T
    edges = np.linspace(low, low + width, columns + 1)
    thin_x, thin_y = thinned(x, y, low, low + width, columns)
    assert (np.diff(thin_x) >= 0).all()
    for left, right in pairwise(edges):
        true, drawn = (b[(a >= left) & (a < right)] for a, b in ((x, y), (thin_x, thin_y)))
        true, drawn = true[~np.isnan(true)], drawn[~np.isnan(drawn)]
        assert (len(true) == 0) == (len(drawn) == 0)
        if len(true):
            assert (drawn.min(), drawn.max()) == (true.min(), true.max())


def test_the_drawn_line_is_bounded_by_the_pixels() -> None:
    x = np.arange(1e6)
    drawn, _ = thinned(x, np.sin(x), 0.0, 1e6, 800)
    assert len(drawn) <= 2 * 802


def test_few_points_are_drawn_as_they_are_with_one_more_on_either_side() -> None:
    x = np.arange(100_000.0)
    drawn, y = thinned(x, x**2, 500.5, 510.5, 800)
    assert drawn.tolist() == list(range(500, 512))
    assert (y == drawn**2).all()


def test_a_gap_of_whole_columns_stays_a_gap() -> None:
    x = np.arange(10_000.0)
    y = np.where((x > 4000) & (x < 6000), math.nan, 1.0)
    drawn, thin = thinned(x, y, 0.0, 10_000.0, 100)
    assert np.isnan(thin[(drawn > 4100) & (drawn < 5900)]).all()
    assert (thin[(drawn < 4000) | (drawn > 6000)] == 1.0).all()
