"""Released text gives nothing away by casing or spacing: what a classifier sees in its characters
is no more than what one sees in its tokens.

Found endings are real, generated ones drawn from bigrams of the same captions, and both are written
by `TextMaker`. A classifier on character n-grams of the text is held against one on token n-grams,
and against itself on bare tokens: lower case, a space between any two. The endings of whole
releases are looked at in tests/interop.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from importlib.resources import files

import numpy as np
import pytest
from giveaway import (
    GIVEAWAYS,
    STANDARD_ERRORS,
    Endings,
    Hits,
    by_characters,
    by_tokens,
    standard_errors,
)

from swag_studio.engine.cleaning import clean
from swag_studio.engine.corpus import Ids
from swag_studio.engine.text import SENTENCE_STOPS, TextMaker, tokenise
from swag_studio.engine.vocabulary import TokenTable, build

DOCUMENTS, SUBJECT, SHORTEST, LONGEST = 300, 2, 5, 25


@pytest.fixture(scope="module")
def endings() -> Endings:
    """Found endings, then as many generated ones. Seeded: the same in every run."""
    captions = json.loads((files("swag_studio.resources") / "demo/captions.json").read_bytes())
    table, documents = TokenTable(), []
    for number, document in enumerate(list(captions.values())[:DOCUMENTS]):
        for sentence in document["sentences"]:
            table.add(tokenise(clean(sentence).text))
            documents.append(number)
    words = build(table, Counter(), 1)
    every = [words.sequences[i] for i in range(len(words.sequences))]
    kept = [i for i, ids in enumerate(every) if SHORTEST <= len(ids) - SUBJECT <= LONGEST]
    stops = [i for i, token in enumerate(words.vocabulary.tokens) if token in SENTENCE_STOPS]
    rng = np.random.default_rng(1)
    followers = defaultdict(list)
    for ids in every:
        for a, b in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
            followers[a].append(b)

    def draw(last: int) -> Ids:
        made: list[int] = []
        while len(made) < LONGEST and last not in stops:
            last = followers[last][rng.integers(len(followers[last]))]
            made.append(last)
        return np.array(made, np.uint16)

    maker, owners = TextMaker(words.vocabulary), np.array([documents[i] for i in kept])
    drawn = [draw(int(every[i][SUBJECT - 1])) for i in kept]
    return Endings(
        [maker.ending(ids) for ids in [*(every[i][SUBJECT:] for i in kept), *drawn]],
        np.repeat([True, False], len(kept)),
        np.concatenate([owners, owners]),
    )


@pytest.fixture(scope="module")
def on_tokens(endings: Endings) -> Hits:
    return by_tokens(endings, endings.texts)


@pytest.fixture(scope="module")
def on_bare(endings: Endings) -> Hits:
    return by_characters(endings, endings.bare())


def test_characters_tell_no_more_than_tokens(
    endings: Endings, on_tokens: Hits, on_bare: Hits
) -> None:
    released = by_characters(endings, endings.texts)
    assert standard_errors(endings, released, on_tokens) < STANDARD_ERRORS
    assert abs(standard_errors(endings, released, on_bare)) < STANDARD_ERRORS
    # There is something to tell: more than chance by as many standard errors of a fair coin.
    assert on_tokens.mean() > 0.5 + STANDARD_ERRORS * 0.5 / len(on_tokens) ** 0.5


@pytest.mark.parametrize("kind", GIVEAWAYS)
def test_a_giveaway_would_be_seen(endings: Endings, on_bare: Hits, kind: str) -> None:
    given_away = by_characters(endings, endings.giving_away(kind, every=3))
    assert standard_errors(endings, given_away, on_bare) > STANDARD_ERRORS
