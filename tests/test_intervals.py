"""The exact interval against scipy's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from swag_studio.intervals import exact_interval


@settings(max_examples=40)
@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_is_clopper_and_pearsons(hits: int, missed: int, confidence: float) -> None:
    n = hits + missed
    found = exact_interval(hits, n, confidence)
    if n == 0:
        assert found == (0.0, 1.0)
        return
    ends = stats.binomtest(hits, n).proportion_ci(confidence, method="exact")
    assert found == pytest.approx((ends.low, ends.high), abs=1e-9)
