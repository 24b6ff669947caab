"""The project's one vocabulary: all captions as token ids, how words are cased, who knows which.

It knows tokens and counts, not sentences' structure, pairs or files. Tokens are held in arrays;
only the different forms are Python objects.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import MAX_VOCABULARY, SPECIALS, UNK, Ids, Ragged, Vocabulary
from swag_studio.engine.text import case_unsure


class TokenTable:
    """Token sequences in the order in which they were added, cased as written."""

    def __init__(self) -> None:
        self.forms: list[str] = []  # the different forms, by number
        self._numbers: dict[str, int] = {}
        self._values, self._offsets = array("I"), array("q", [0])
        self._unsure = bytearray()  # 1: a capital says nothing about this token

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(self, tokens: Sequence[str]) -> int:
        """Adds a sequence, and returns its number."""
        for token in tokens:
            number = self._numbers.setdefault(token, len(self.forms))
            if number == len(self.forms):
                self.forms.append(token)
            self._values.append(number)
        self._unsure.extend(case_unsure(tokens))
        self._offsets.append(len(self._values))
        return len(self) - 1

    def tokens(self, index: int) -> list[str]:
        """A sequence, cased as written."""
        first, last = self._offsets[index], self._offsets[index + 1]
        return [self.forms[i] for i in self._values[first:last]]

    def arrays(self) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.bool_]]:
        """(form of each token, offsets of the sequences, whether its case says nothing)."""
        return (
            np.array(self._values, np.uint32),
            np.array(self._offsets, np.int64),
            np.frombuffer(bytes(self._unsure), np.bool_),
        )


@dataclass(frozen=True)
class Words:
    """The vocabulary and the table's sequences in its ids."""

    vocabulary: Vocabulary
    sequences: Ragged
    known_share: float  # of the tokens of all sequences


def build(table: TokenTable, others: Counter[str], min_count: int) -> Words:
    """The vocabulary over the table and `others`, counts of lowercased tokens (own endings).

    Ids fall with the count, equal counts by the token. What is seen fewer than `min_count` times
    in all, or falls beyond MAX_VOCABULARY, becomes UNK.
    """
    values, offsets, unsure = table.arrays()
    forms = table.forms
    seen = np.bincount(values, minlength=len(forms))
    inside = np.bincount(values[~unsure], minlength=len(forms))
    counts = Counter(others)
    for form, count in zip(forms, seen.tolist(), strict=True):
        counts[form.lower()] += count
    kept = sorted((t for t, c in counts.items() if c >= min_count), key=lambda t: (-counts[t], t))
    vocabulary = Vocabulary((*SPECIALS, *kept)[:MAX_VOCABULARY], _cased(forms, inside.tolist()))
    index = vocabulary.index
    ids = np.array([index.get(form.lower(), UNK) for form in forms], np.uint16)
    sequences = Ragged(ids[values] if len(values) else np.zeros(0, np.uint16), offsets)
    known = float(np.mean(sequences.values != UNK)) if len(values) else 1.0
    return Words(vocabulary, sequences, known)


def _cased(forms: Sequence[str], counts: Sequence[int]) -> dict[str, str]:
    """Lowercased token -> its written form, where that has capitals.

    The form that is most frequent where a capital means something; lower case wins a tie.
    """
    best: dict[str, tuple[int, bool, str]] = {}
    for form, count in zip(forms, counts, strict=True):
        lower = form.lower()
        if count:
            best[lower] = max(best.get(lower, (0, False, "")), (count, form == lower, form))
    cased = {lower: form for lower, (_, _, form) in best.items() if form != lower}
    return dict(sorted((cased | {"i": "I"}).items()))


def masks(sequences: Ragged, folds: NDArray[np.uint8], vocabulary: int, min_count: int,
          n_folds: int) -> NDArray[np.bool_]:  # fmt: skip
    """(folds, vocabulary) True for words seen < `min_count` times in the other folds' sequences.

    `folds` (sequences,) is the fold of each. The special tokens are never masked.
    """
    token_folds = np.repeat(folds, sequences.lengths)
    counts = np.zeros((n_folds, vocabulary), np.int64)
    for fold in range(n_folds):
        counts[fold] = np.bincount(sequences.values[token_folds == fold], minlength=vocabulary)
    masked: NDArray[np.bool_] = counts.sum(axis=0) - counts < min_count
    masked[:, : len(SPECIALS)] = False
    return masked


def holds_masked(ids: Ids, masked: NDArray[np.bool_]) -> bool:
    """Whether a fold with this row of `masks` cannot make the sequence: UNK counts too."""
    return bool((ids == UNK).any() or masked[ids].any())
