"""The endings of whole releases give nothing away by casing or spacing.

As tests/engine/test_no_giveaway.py has it, with what a language model wrote, adversarial filtering
chose and annotators let pass: characters of released text tell found endings from generated ones
no better than its tokens, and as well as those of bare tokens.
"""

from __future__ import annotations

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
from made_releases import Released

pytestmark = [
    pytest.mark.interop,
    pytest.mark.parametrize("released", ["demo", "real"], indirect=True),
]


@pytest.fixture(scope="module")
def endings(released: Released) -> Endings:
    """Each found ending once, and all generated ones beside it."""
    asked = [q for q in released.questions if q.gold_source == "gold"]
    number = {group: i for i, group in enumerate(sorted({q.group for q in asked}))}
    rows = [(q.right, True, number[q.group]) for q in asked]
    rows += [
        (d.text, False, number[q.group])
        for q in asked
        for d in q.distractors
        if d.kind == "generated"
    ]
    texts, found, documents = zip(*rows, strict=True)
    return Endings(list(texts), np.array(found), np.array(documents))


@pytest.fixture(scope="module")
def on_tokens(endings: Endings) -> Hits:
    return by_tokens(endings, endings.texts)


@pytest.fixture(scope="module")
def on_bare(endings: Endings) -> Hits:
    return by_characters(endings, endings.bare())


def test_characters_tell_no_more_than_tokens(
    endings: Endings, on_tokens: Hits, on_bare: Hits
) -> None:
    on_text = by_characters(endings, endings.texts)
    assert standard_errors(endings, on_text, on_tokens) < STANDARD_ERRORS
    assert abs(standard_errors(endings, on_text, on_bare)) < STANDARD_ERRORS


@pytest.mark.parametrize("kind", GIVEAWAYS)
def test_a_giveaway_would_be_seen(
    endings: Endings, on_tokens: Hits, on_bare: Hits, kind: str
) -> None:
    """In half of the found endings beside bare tokens, which are the closer comparison; in all of
    them also beside tokens, whose n-grams see more words than those of characters do."""
    some = by_characters(endings, endings.giving_away(kind, every=2))
    assert standard_errors(endings, some, on_bare) > STANDARD_ERRORS
    all_of_them = by_characters(endings, endings.giving_away(kind, every=1))
    assert standard_errors(endings, all_of_them, on_tokens) > STANDARD_ERRORS
