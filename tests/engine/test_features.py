"""Features against a slow computation, and no difference between found and drawn endings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_lm import STOP, drive, log_p, model, reader

from swag_studio.engine.decoding import (
    Endings,
    LetterKeys,
    Plan,
    read_contexts,
    read_endings,
    sample,
)
from swag_studio.engine.features import FEATURE_NAMES, Spans, features
from swag_studio.engine.lm import LanguageModel
from swag_studio.recipe import GenerateRecipe

TOKENS = st.integers(1, 39)
CONTEXT = st.tuples(
    st.lists(TOKENS, min_size=1, max_size=4), st.lists(TOKENS, min_size=1, max_size=3)
)
ENDING = st.lists(TOKENS, min_size=1, max_size=5)


def slow(made: LanguageModel, s: list[int], n: list[int], v: list[int]) -> list[float]:
    """The features by their definitions (METHOD section 2), in float64, token by token."""
    backward = log_p(made, "backward", [], [*v[::-1], *n[::-1], *s[::-1]])
    forward = log_p(made, "forward", [], [*s, *n, *v])
    c = len(s) + len(n)
    return [
        -sum(forward[:c]) / c,
        -sum(forward[c:]) / len(v),
        -sum(backward[len(v) :]) / c,
        -sum(backward[: len(v)]) / len(v),
        -forward[-1],
        len(v),
        len(n),
        len(s),
    ]


def fast(
    made: LanguageModel, contexts: list[tuple[list[int], list[int]]], at: list[int],
    endings: list[list[int]],
) -> np.ndarray:  # fmt: skip
    spans = Spans(*([np.array(x, np.uint16) for x in part] for part in zip(*contexts, strict=True)))
    forward, backward = (reader(made, name) for name in ("forward", "backward"))
    context_log_p, states = drive(read_contexts(forward, spans.forward()))
    tokens = np.array([v + [0] * (6 - len(v)) for v in endings], np.uint16)
    read = drive(read_endings(forward, states, np.array(at), tokens))
    return drive(features(backward, spans, read, context_log_p))


@settings(max_examples=20, deadline=None)
@given(
    contexts=st.lists(CONTEXT, min_size=1, max_size=3),
    endings=st.lists(ENDING, min_size=3, max_size=6),
    layers=st.sampled_from([1, 2]),
)
def test_features_are_those_of_the_slow_computation(
    contexts: list[tuple[list[int], list[int]]], endings: list[list[int]], layers: int
) -> None:
    made = model(7, layers=layers)
    at = sorted(i % len(contexts) for i in range(len(endings)))
    got = fast(made, contexts, at, endings)
    assert got.dtype == np.float32
    assert got.shape == (len(endings), len(FEATURE_NAMES))
    for c, v, row in zip(at, endings, got, strict=True):
        assert row.tolist() == pytest.approx(slow(made, *contexts[c], v), abs=1e-4)


def test_a_drawn_ending_read_again_as_a_given_one_has_the_same_features() -> None:
    """Otherwise the way they were computed would tell the found ending from the candidates."""
    made = model(3)
    s = [np.array(x, np.uint16) for x in ([10, 11, 12], [20, 21, 22, 23, 24])]
    n = [np.array(x, np.uint16) for x in ([13], [25, 26])]
    spans = Spans(s, n)
    forward, backward = (reader(made, name, 30) for name in ("forward", "backward"))
    context_log_p, states = drive(read_contexts(forward, spans.forward()))
    found = np.array([[15, STOP, 0, 0, 0, 0], [16, 17, 18, 19, 20, STOP]], np.uint16)
    recipe = GenerateRecipe(candidates=60, max_tokens=6, floor=3, temperature=1.5)
    plan = Plan(recipe, LetterKeys([f"w{i}" for i in range(40)]), np.arange(40) == STOP)
    drawn, _ = drive(sample(forward, states, found, plan, lambda c, r: 10 * c + r))
    again = drive(read_endings(forward, states, drawn.context, drawn.tokens))
    assert np.array_equal(again.lengths, drawn.lengths)
    first = drive(features(backward, spans, drawn, context_log_p))
    second = drive(features(backward, spans, again, context_log_p))
    assert first == pytest.approx(second, abs=1e-5)
    assert np.isfinite(first).all()


def test_no_endings_have_no_features() -> None:
    made = model(3)
    got = drive(
        features(
            reader(made, "backward"),
            Spans([np.array([5], np.uint16)], [np.array([6], np.uint16)]),
            Endings.none(6),
            np.zeros((1, 2), np.float32),
        )
    )
    assert got.shape == (0, len(FEATURE_NAMES))


def test_an_impossible_ending_has_finite_features() -> None:
    made = model(3)
    for direction in (made.forward_lm, made.backward_lm):
        direction.output_bias[9] = -1e30
    got = fast(made, [([9, 9], [9])], [0], [[9, 9, 9]])
    assert np.isfinite(got).all()
    assert got[0, :5] == pytest.approx([87.3365] * 5, abs=1e-3)  # -ln(2^-126), float32's least
