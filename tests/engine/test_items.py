from __future__ import annotations

import numpy as np
import pytest
from engine.made_items import noise
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from swag_studio.engine.items import accuracy

tables = st.tuples(st.integers(1, 8), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(-2, 2).map(float))
)


@settings(deadline=None)
@given(tables)
def test_accuracy_is_the_mean_chance_of_drawing_the_right_one_among_the_best(table):
    earned = []
    for row in table:
        best = [i for i, score in enumerate(row) if score == max(row)]
        earned.append(1 / len(best) if 0 in best else 0.0)
    assert accuracy(table) == pytest.approx(sum(earned) / len(earned))


@pytest.mark.parametrize("n", [2, 4, 10])
def test_a_constant_scorer_gets_chance(n):
    assert accuracy(np.full((7, n), 3.0)) == pytest.approx(1 / n)


def test_nan_is_an_error_wherever_it_stands():
    for column in range(3):
        table = np.zeros((2, 3))
        table[1, column] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            accuracy(table)


def test_no_contexts_have_no_accuracy():
    assert np.isnan(accuracy(np.zeros((0, 4))))


def test_take_chooses_rows_of_every_array():
    items = noise(3)
    index = np.array([5, 0, 5])
    taken = items.take(index)
    assert len(taken) == 3
    for name in ("n", "v", "n_lengths", "v_lengths", "features", "tags_n", "tags_v"):
        assert np.array_equal(getattr(taken, name), getattr(items, name)[index])
