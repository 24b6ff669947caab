"""The verdict on curves whose truth is known, and the smoothing's rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.series import NEAR, WINDOW, Smoother, smoothed, verdict

TESTED = 200
CHANCE = 0.25


def draw(truth: np.ndarray, seed: int) -> np.ndarray:
    """Shares of TESTED contexts, drawn around the true accuracies."""
    return np.random.default_rng(seed).binomial(TESTED, truth) / TESTED


def states(truth: np.ndarray, repeats: int = 100) -> dict[str, int]:
    found = [verdict(draw(truth, seed), CHANCE, TESTED).state for seed in range(repeats)]
    return {state: found.count(state) for state in set(found)}


@given(st.floats(-1e6, 1e6), st.integers(1, 60), st.floats(0, 0.99))
def test_a_constant_series_stays_constant(value: float, n: int, weight: float) -> None:
    assert (smoothed([value] * n, weight) == value).all()


@given(st.lists(st.floats(0, 1) | st.just(math.nan), max_size=40), st.floats(0.0, 0.99))
def test_smoothing_is_the_weighted_mean_of_what_was_seen(values: list[float], w: float) -> None:
    result = smoothed(values, w)
    for i, value in enumerate(values):
        seen = [v for v in values[: i + 1] if not math.isnan(v)]
        if math.isnan(value):
            assert math.isnan(result[i])
            continue
        weights = [w ** (len(seen) - 1 - j) for j in range(len(seen))]
        expected = sum(a * b for a, b in zip(weights, seen, strict=True)) / sum(weights)
        assert result[i] == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(st.floats(0, 1e4) | st.just(math.nan), max_size=600),
    st.lists(st.integers(0, 600), max_size=5),
    st.floats(0.0, 0.99),
)
def test_smoothing_in_pieces_is_smoothing_at_once(
    values: list[float], cuts: list[int], w: float
) -> None:
    smoother = Smoother(w)
    pieces = np.split(np.array(values), sorted(min(c, len(values)) for c in cuts))
    result = np.concatenate([smoother.extend(piece) for piece in pieces])
    assert result == pytest.approx(smoothed(values, w), abs=1e-8, nan_ok=True)


def test_flat_at_chance() -> None:
    assert states(np.full(40, CHANCE)).get("at_chance", 0) >= 85


def test_flat_above_chance_is_stalled_from_the_start() -> None:
    truth = np.full(40, 0.40)
    assert states(truth).get("stalled", 0) >= 90
    since = [verdict(draw(truth, s), CHANCE, TESTED).since for s in range(100)]
    assert np.median(since) <= 2


def test_steady_fall_is_falling() -> None:
    assert states(np.linspace(0.70, 0.30, 40)).get("falling", 0) >= 90


def test_fall_that_stops_is_stalled_since_then() -> None:
    truth = np.concatenate([np.linspace(0.70, 0.40, 20), np.full(30, 0.40)])
    assert states(truth).get("stalled", 0) >= 85
    since = [verdict(draw(truth, s), CHANCE, TESTED).since for s in range(100)]
    assert 14 <= np.median(since) <= 22


def test_fall_to_chance() -> None:
    truth = np.concatenate([np.linspace(0.60, CHANCE, 20), np.full(30, CHANCE)])
    assert states(truth).get("at_chance", 0) >= 75


def test_late_jump_is_not_called_falling_or_at_chance() -> None:
    truth = np.concatenate([np.full(30, CHANCE), np.full(5, 0.50)])
    found = states(truth)
    assert found.get("rising", 0) >= 90


def test_short_curves_are_not_judged() -> None:
    assert verdict([0.5] * (WINDOW - 1), CHANCE, TESTED).state == "too_early"
    assert verdict([], CHANCE, TESTED).state == "too_early"


def test_noise_free_curves() -> None:
    assert verdict([0.4] * 30, CHANCE, 10**9).state == "stalled"
    assert verdict(list(np.linspace(0.9, 0.3, 30)), CHANCE, 10**9).state == "falling"


def test_what_is_hardly_above_chance_is_near_it() -> None:
    level = [0.28] * 30
    assert verdict(level, CHANCE, 10**9).state == "near_chance"
    assert verdict(level, CHANCE, 10).state == "at_chance"  # so few tell no difference
    assert verdict([CHANCE + NEAR + 1e-6] * 30, CHANCE, 10**9).state == "stalled"
    assert verdict(level, CHANCE, 10**9).text(CHANCE) == (
        "near chance since iteration 0 (28%, chance 25%)"
    )


def test_words() -> None:
    text = verdict([0.4] * 30, CHANCE, 10**9).text(CHANCE)
    assert text == "stalled at 40% since iteration 0 (chance 25%)"
