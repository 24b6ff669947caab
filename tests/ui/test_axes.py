"""Ticks of a log axis: round values, where they belong, and not too many."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.ui.axes import ValueAxis, log_ticks


@given(st.floats(-20, 20), st.floats(0.01, 30), st.floats(50, 2000))
def test_log_ticks_stand_at_round_values_within_the_range(
    low: float, decades: float, size: float
) -> None:
    ticks = log_ticks(low, low + decades, size)
    assert len(ticks) <= max(2, size / 40) + 1
    assert ticks == sorted(ticks)
    assert all(low - 1e-6 <= t <= low + decades + 1e-6 for t in ticks)
    for tick in ticks:
        digits = 10 ** (tick - math.floor(tick + 1e-9))
        assert f"{digits:.5g}" == f"{digits:.4g}" or decades < 0.05


def test_a_log_axis_is_a_true_log_axis(qapp: object) -> None:
    axis = ValueAxis("left", log=True)
    [(_, places)] = axis.tickValues(0.0, 3.0, 400.0)
    assert places == pytest.approx(
        [math.log10(v) for v in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)]
    )
    assert axis.tickStrings(places, 1.0, 0.0)[-2:] == ["500", "1000"]


def test_less_than_a_decade_has_even_steps(qapp: object) -> None:
    axis = ValueAxis("left", log=True)
    [(_, places)] = axis.tickValues(math.log10(58), math.log10(152), 220.0)
    assert axis.tickStrings(places, 1.0, 0.0) == ["60", "80", "100", "120", "140"]


@given(st.floats(0, 1_000), st.floats(0.01, 10_000), st.floats(50, 2000))
def test_steps_are_whole(qapp: object, low: float, span: float, size: float) -> None:
    steps, values = ValueAxis("bottom"), ValueAxis("left")
    ticks = {v for _, level in steps.tickValues(low, low + span, size) for v in level}
    assert all(abs(v - round(v)) < 1e-9 for v in ticks)
    assert len(ticks) > 0 or span < 1.0
    assert len(values.tickValues(low, low + span, size)[-1][1]) > 0  # shares have all theirs


def test_shares_are_percentages(qapp: object) -> None:
    axis = ValueAxis("left", percent=True)
    assert axis.tickStrings([0.25, 0.5], 100.0, 0.25) == ["25%", "50%"]
