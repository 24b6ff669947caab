"""The vocabulary: ids by falling count, casing, what becomes UNK."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine import vocabulary as module
from swag_studio.engine.corpus import SPECIALS, UNK, Vocabulary
from swag_studio.engine.text import tokenise
from swag_studio.engine.vocabulary import TokenTable, Words, build, holds_masked


def _words(*texts: str, min_count: int = 1, others: dict[str, int] | None = None) -> Words:
    table = TokenTable()
    for text in texts:
        table.add(tokenise(text))
    return build(table, Counter(others or {}), min_count)


def _own(vocabulary: Vocabulary) -> list[str]:
    return list(vocabulary.tokens[len(SPECIALS) :])


@given(st.lists(st.lists(st.sampled_from(["A", "a", "b", "B", "c", "."]), max_size=6), max_size=6))
def test_by_falling_count_then_token(texts: list[list[str]]) -> None:
    table = TokenTable()
    for text in texts:
        table.add(text)
    assert [table.tokens(i) for i in range(len(table))] == texts
    words = build(table, Counter(), 2)
    counts = Counter(token.lower() for text in texts for token in text)
    kept = [t for t in counts if counts[t] >= 2]
    assert _own(words.vocabulary) == sorted(kept, key=lambda t: (-counts[t], t))
    names = words.vocabulary.tokens
    for i, text in enumerate(texts):
        expected = [t.lower() if t.lower() in kept else names[UNK] for t in text]
        assert [names[id] for id in words.sequences[i]] == expected
    total = sum(counts.values())
    known = sum(counts[t] for t in kept)
    assert words.known_share == (pytest.approx(known / total) if total else 1.0)


def test_words_of_own_endings_count_too() -> None:
    words = _words("a b", min_count=2, others={"b": 1, "c": 2})
    assert _own(words.vocabulary) == ["b", "c"]


def test_no_more_words_than_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_VOCABULARY", len(SPECIALS) + 2)
    words = _words("a a a b b c")
    assert _own(words.vocabulary) == ["a", "b"]
    assert words.sequences[0].tolist() == [4, 4, 4, 5, 5, UNK]


def test_written_as_in_the_middle_of_sentences() -> None:
    words = _words(
        "Walks Berlin with BMX and i.",
        "The Walks of berlin, Berlin.",  # twice Berlin, once berlin
        'The sign "Open Daily" hangs.',  # in quotes a capital says nothing
        "Two Men, two men.",  # a tie is lower case
        "He uses a T-shirt.",
    )
    assert words.vocabulary.cased == {
        "berlin": "Berlin",
        "bmx": "BMX",
        "i": "I",
        "t-shirt": "T-shirt",
        "walks": "Walks",
    }


def test_a_word_in_special_brackets_is_no_special_token() -> None:
    words = _words("<unk> <pad>")
    assert min(words.sequences[0]) >= len(SPECIALS)


def test_what_a_fold_cannot_make() -> None:
    masked = np.zeros(8, np.bool_)
    masked[6] = True
    for ids, expected in (([4, 5], False), ([4, 6], True), ([4, UNK], True), ([], False)):
        assert holds_masked(np.array(ids, np.uint16), masked) is expected
