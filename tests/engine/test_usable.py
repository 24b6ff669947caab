"""No distractor has a slip that found endings do not have: against the rule read out."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import cast

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from swag_studio.engine.corpus import UNK, Corpus, Ragged, Vocabulary
from swag_studio.engine.usable import PAIRS, Usable
from swag_studio.pool import Rows
from swag_studio.recipe import Recipe

WORDS = ["<pad>", "a", "very", "(", ")", '"', "“", "."]  # no "”", and neither of "[" and "]"
WIDTH = 6
RECIPE = Recipe().with_values({"filter.found_openings": False, "prepare.min_ending_tokens": 1})
endings = st.lists(st.sampled_from(WORDS[1:]), min_size=1, max_size=WIDTH)


def rule(found: list[list[str]], recipe: Recipe = RECIPE) -> Usable:
    vocabulary = Vocabulary(tuple(WORDS), {})
    v = Ragged.of([[vocabulary.index[word] for word in ending] for ending in found])
    return Usable.of(recipe, cast(Corpus, SimpleNamespace(v=v, vocabulary=vocabulary)))


def rows_of(candidates: list[list[str]], origin: int = 0) -> Rows:
    """The found ending, which no rule is for, and candidates after it."""
    tokens = np.zeros((len(candidates) + 1, WIDTH), np.uint16)
    for row, ending in zip(tokens[1:], candidates, strict=True):
        row[: len(ending)] = [WORDS.index(word) for word in ending]
    return Rows(
        tokens,
        np.array([1, *map(len, candidates)], np.uint8),
        np.ones(len(tokens), np.uint8),
        np.full(len(tokens), origin, np.uint16),
        np.zeros((len(tokens), 0), np.float32),
    )


def doubled(ending: list[str]) -> set[str]:
    return {a for a, b in itertools.pairwise(ending) if a == b}


def unpaired(ending: list[str]) -> set[str]:
    """The first marks of the pairs of which one stands more often; of equal ones, an odd number."""
    uneven = set()
    for first, last in PAIRS:
        one, other = ending.count(first), ending.count(last)
        if (one % 2 == 1) if first == last else (one != other):
            uneven.add(first)
    return uneven & {'"', "("}  # the pairs that the vocabulary has


@given(st.lists(endings, min_size=1, max_size=4), st.lists(endings, min_size=1, max_size=8))
@example([["a", "very", "very", "a", "."]], [["very", "very", "."], ["a", "a", "."]])
@example([["(", "a", "."]], [["a", "("], ['"', "a", "."], ["a", "a", '"']])
def test_slips_are_those_that_no_found_ending_has(
    found: list[list[str]], candidates: list[list[str]]
) -> None:
    twice = set().union(*map(doubled, found))
    alone = set().union(*map(unpaired, found))
    wanted = [
        "doubled" if doubled(c) - twice else "unpaired" if unpaired(c) - alone else ""
        for c in candidates
    ]
    repeats = {i for i, c in enumerate(candidates) if c in candidates[:i]}
    told = rule(found).barred(rows_of(candidates))[1:]
    assert [why for i, why in enumerate(told) if i not in repeats] == [
        why for i, why in enumerate(wanted) if i not in repeats
    ]
    own = rule(found).barred(rows_of(candidates, origin=1))[1:]
    assert {why for i, why in enumerate(own) if i not in repeats} == {""}


def test_found_endings_keep_their_own_rule() -> None:
    """Whatever slips found endings have, no one of them would be barred."""
    found = [["a", "a", "."], ["very", '"', "."], ["(", ")", "."]]
    assert set(rule(found).barred(rows_of(found))[1:]) == {""}
    tidy = rule([["(", "a", ")", "."]])
    assert tidy.barred(rows_of(found))[1:] == ["doubled", "unpaired", ""]


def test_the_rule_can_be_turned_off() -> None:
    off = rule([["a", "."]], RECIPE.with_values({"filter.found_slips": False}))
    assert set(off.barred(rows_of([["a", "a"], ['"', "a"]]))) == {""}


def test_own_candidates_that_differ_in_unknown_words_are_no_repeats() -> None:
    """Their texts differ, or they would not be in the pool; of sampled ones the tokens are all."""
    assert WORDS[UNK] == "a"
    candidates = [["very", "a"], ["very", "a"], ["very", "."], ["very", "."]]
    own, sampled = (rows_of(candidates, origin) for origin in (1, 0))
    assert rule([["very", "."]]).barred(own)[1:] == ["", "", "", "repeat"]
    assert rule([["very", "."]]).barred(sampled)[1:] == ["", "repeat", "", "repeat"]
