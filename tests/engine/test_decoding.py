"""Draws follow the model's distribution, and a pool holds different endings only."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tiny_lm import STOP, drive, expectations, log_p, model, reader

from swag_studio.engine.decoding import (
    LEAST_DRAWS,
    Endings,
    LetterKeys,
    Plan,
    Sampler,
    Search,
    letters,
    read_contexts,
    sample,
)
from swag_studio.engine.reading import PIECE, Drawing, Walk
from swag_studio.recipe import GenerateRecipe
from swag_studio.records import folded

WORDS = [f"w{i}" for i in range(40)]
STOPS = np.arange(40) == STOP


def even(draws: int) -> torch.Tensor:
    """Uniforms on a grid: inverting them gives each column its share of the draws, +-1 each end."""
    return (torch.arange(draws) + 0.5) / draws


def shares(sampler: Sampler, logits: torch.Tensor, draws: int = 100_000) -> np.ndarray:
    padded = torch.full((1, 2 * PIECE), -torch.inf)
    padded[0, : len(logits)] = logits
    p = torch.softmax(padded, 1)
    columns = sampler(padded, p, torch.zeros(draws, dtype=torch.long), even(draws))
    return np.bincount(columns.numpy(), minlength=2 * PIECE)[: len(logits)] / draws


@pytest.fixture
def logits() -> torch.Tensor:
    return torch.randn(100, generator=torch.Generator().manual_seed(0)) * 2


# --- one token -------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_shares_are_the_softmax(logits: torch.Tensor, temperature: float) -> None:
    expected = torch.softmax(logits.double() / temperature, 0).numpy()
    assert shares(Sampler(temperature), logits) == pytest.approx(expected, abs=5e-5)


def test_top_k_leaves_exactly_the_k_likeliest(logits: torch.Tensor) -> None:
    got = shares(Sampler(top_k=7), logits)
    best = np.argsort(-logits.numpy())[:7]
    assert set(np.flatnonzero(got)) == set(best)
    expected = np.exp(logits.double().numpy()[best])
    assert got[best] == pytest.approx(expected / expected.sum(), abs=5e-5)


def test_top_p_leaves_the_smallest_set_that_reaches_p() -> None:
    logits = torch.tensor([0.1, 0.4, 0.05, 0.3, 0.15]).log()
    # From the top: .4, .7, .85: two words reach .7 only just not, three reach .75.
    assert set(np.flatnonzero(shares(Sampler(top_p=0.75), logits))) == {1, 3, 4}
    assert set(np.flatnonzero(shares(Sampler(top_p=0.65), logits))) == {1, 3}
    assert set(np.flatnonzero(shares(Sampler(top_p=0.01), logits))) == {1}


def test_top_k_comes_before_top_p() -> None:
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    # Of the two likeliest, .4 is 4/7 = .571 of what is left: one word reaches .57, two reach .58.
    assert set(np.flatnonzero(shares(Sampler(top_k=2, top_p=0.57), logits))) == {0}
    assert set(np.flatnonzero(shares(Sampler(top_k=2, top_p=0.58), logits))) == {0, 1}


@settings(max_examples=100, deadline=None)
@given(
    weights=st.lists(st.sampled_from([0.0, 1e-38, 1e-7, 0.3, 1.0]), min_size=1, max_size=PIECE * 2),
    u=st.one_of(st.floats(0, 1, exclude_max=True, width=32), st.just(1 - 2**-24)),
)
def test_a_column_of_weight_zero_is_never_drawn(weights: list[float], u: float) -> None:
    if not any(weights):
        weights[-1] = 0.5
    p = torch.zeros(1, 2 * PIECE)
    p[0, : len(weights)] = torch.tensor(weights)
    column = Sampler()(p.log(), p, torch.zeros(1, dtype=torch.long), torch.tensor([u]))
    assert p[0, column] > 0


# --- equality --------------------------------------------------------------------------------

TOKENS = ["", "", "", "", ".", "can", "n't", "cannot", "a", "the", "Ａ", "ﬁsh", "fish", "fi", "sh",
          "straße", "strasse", "İ", "n", "'t", "can't", "ca", "caNN", "ot", "é", "e"]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.integers(4, len(TOKENS) - 1), max_size=6), min_size=2, max_size=8))
def test_keys_are_equal_when_the_letters_are(rows: list[list[int]]) -> None:
    width = max(map(len, rows))
    padded = np.array([row + [0] * (width - len(row)) for row in rows], np.uint16)
    keys = LetterKeys(TOKENS).of(padded)
    texts = [folded(" ".join(TOKENS[i] for i in row)).replace(" ", "") for row in rows]
    for i in range(len(rows)):
        for j in range(len(rows)):
            assert (keys[i] == keys[j]) == (texts[i] == texts[j])


def test_letters_forget_case_width_and_space() -> None:
    wide = unicodedata.normalize("NFKC", "Ｇoes") == "Goes"
    assert wide and letters(" Ｇoes  AWAY .") == letters("goes away.") == "goesaway."


# --- a context -------------------------------------------------------------------------------


CONTEXTS = np.array([[10, 11, 12, 13], [20, 21, 0, 0], [10, 11, 12, 0]], np.uint16)


FOUND = np.array([[15, STOP, 0, 0, 0, 0], [16, 17, 18, STOP, 0, 0], [STOP, 0, 0, 0, 0, 0]],
                 np.uint16)  # fmt: skip


def draw(recipe: GenerateRecipe, seed: int = 1, stop: float = 1.5) -> tuple[Endings, list[Search]]:
    read = reader(model(3, stop=stop), "forward", 30, 31)
    _, states = drive(read_contexts(read, CONTEXTS))
    plan = Plan(recipe, LetterKeys(WORDS), STOPS)
    return drive(sample(read, states, FOUND, plan, lambda c, r: 100 * seed + 10 * c + r))


def allowed(made_log_p: torch.Tensor) -> np.ndarray:
    """The distribution over what may be drawn: no special tokens, no masked words."""
    p = made_log_p.exp().numpy()
    p[[0, 1, 2, 3, 30, 31]] = 0
    return p / p.sum()


def test_words_follow_the_model() -> None:
    made, draws = model(3), 20_000
    read = reader(made, "forward", 30, 31)
    _, states = drive(read_contexts(read, CONTEXTS))
    uniforms = torch.rand(draws, 2, generator=torch.Generator().manual_seed(5))
    free, stops = torch.ones(draws, dtype=torch.bool), torch.zeros(40, dtype=torch.bool)
    drawing = Drawing(free, uniforms, stops, Sampler())
    node, limits = torch.ones(draws, dtype=torch.long), torch.full((draws,), 2)
    walk = Walk(read, states, node, torch.zeros(draws, 2, dtype=torch.long), limits,
                drawing=drawing)  # fmt: skip
    drive(walk.run())
    first = np.bincount(walk.tokens[:, 0], minlength=40)
    assert fit(first, allowed(expectations(made, "forward", [20, 21])[-1])) > 0.01
    word = int(first.argmax())  # and the second word after the most frequent first one
    second = np.bincount(walk.tokens[walk.tokens[:, 0] == word, 1], minlength=40)
    assert fit(second, allowed(expectations(made, "forward", [20, 21, word])[-1])) > 0.01


def fit(counts: np.ndarray, p: np.ndarray) -> float:
    """The chi-square test's p-value; 0 where something impossible was drawn."""
    if counts[p == 0].any():
        return 0.0
    return float(stats.chisquare(counts[p > 0], p[p > 0] * counts.sum()).pvalue)


def test_a_pool_holds_different_allowed_endings() -> None:
    endings, searches = draw(GenerateRecipe(candidates=50, max_tokens=6, floor=3))
    for c, search in enumerate(searches):
        rows = endings.take(np.flatnonzero(endings.context == c))
        assert np.array_equal(rows.tokens[0], FOUND[c])
        texts = ["".join(WORDS[i] for i in t[:n]) for t, n in zip(rows.tokens, rows.lengths,
                 strict=True)]  # fmt: skip
        assert len(set(texts)) == len(texts) == 51
        assert 50 <= search.drawn <= 100
        assert search.repeated <= search.drawn - 50
        for tokens, n in zip(rows.tokens[1:], rows.lengths[1:], strict=True):
            assert not np.isin(tokens[:n], [0, 1, 2, 3, 30, 31]).any()
            assert not tokens[n:].any()
            stop = np.flatnonzero(tokens == STOP)
            assert n == (stop[0] + 1 if len(stop) else 6)


def test_log_p_is_that_of_the_whole_softmax_at_temperature_1() -> None:
    recipe = GenerateRecipe(
        candidates=8, max_tokens=6, floor=3, temperature=2.0, top_k=12, top_p=0.9
    )
    endings, _ = draw(recipe)
    made = model(3)
    for c, tokens, n, got in zip(endings.context, endings.tokens, endings.lengths, endings.log_p,
                                 strict=True):  # fmt: skip
        before = [int(i) for i in CONTEXTS[c] if i]
        assert got[:n].tolist() == pytest.approx(
            log_p(made, "forward", before, tokens[:n].tolist()), abs=1e-5
        )
        assert not got[n:].any()


def test_the_budget_ends_a_search() -> None:
    # With `stop` at 30 nearly every draw is the stop alone: few different endings exist.
    endings, searches = draw(GenerateRecipe(candidates=40, max_tokens=6, floor=3), stop=30.0)
    assert [s.drawn for s in searches] == [80, 80, 80]
    counts = np.bincount(endings.context)
    assert (counts < 41).all()
    assert [s.repeated for s in searches] == [80 - (n - 1) for n in counts]


def test_a_context_that_has_enough_waits_for_those_that_have_not() -> None:
    recipe = GenerateRecipe(candidates=40, max_tokens=6, floor=3, draw_budget=20.0)
    endings, searches = draw(recipe, stop=4.0)
    assert len({search.drawn for search in searches}) == 3  # or this would show nothing
    assert np.bincount(endings.context).tolist() == [1 + 40] * 3


def test_the_seed_decides() -> None:
    recipe = GenerateRecipe(candidates=20, max_tokens=6, floor=3)
    one, again, other = (draw(recipe, seed)[0].tokens for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@settings(max_examples=100, deadline=None)
@given(
    keys=st.lists(st.integers(1, 6), min_size=1, max_size=40),
    wanted=st.integers(1, 5),
    budget=st.integers(1, 40),
)
def test_a_search_keeps_the_first_of_equals(keys: list[int], wanted: int, budget: int) -> None:
    search, kept = Search(found=3, wanted=wanted, budget=budget), list[int]()
    left = list(keys)
    while (ask := search.ask) and len(left) >= ask:
        part, left = left[:ask], left[ask:]
        flags = search.keep(np.array(part, np.uint64))
        kept += [key for key, flag in zip(part, flags, strict=True) if flag]
    drawn = keys[: len(keys) - len(left)]
    assert kept == [k for k in dict.fromkeys(drawn) if k != 3][:wanted]
    assert search.drawn == len(drawn) <= budget
    # All but the first of each that is kept, and the found one whenever it comes.
    assert search.repeated == sum(drawn.count(key) for key in (3, *kept)) - len(kept)
    assert (search.ask == 0) == (len(kept) == wanted or search.drawn == budget)


def test_a_search_asks_for_what_the_rate_of_new_endings_needs() -> None:
    """100 are wanted: first 1/16 more. Half of them were new, so 47 more take 94, and 1.2 times
    as many are drawn, since the rate falls; never fewer than are worth a product, and never more
    than the budget has left."""
    search = Search(found=0, wanted=100, budget=250)
    assert search.ask == 106
    assert sum(search.keep(np.repeat(np.arange(1, 54, dtype=np.uint64), 2))) == 53
    assert search.ask == int(47 * 2 * 1.2) == 112
    assert sum(search.keep(np.arange(54, 100, dtype=np.uint64))) == 46
    assert search.ask == LEAST_DRAWS
    search.keep(np.zeros(90, np.uint64))
    assert search.ask == 250 - 106 - 46 - 90
