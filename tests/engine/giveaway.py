"""Classifiers that tell found endings from generated ones by characters or by tokens.

If the characters of text tell more than its tokens do, casing or spacing gives something away.
Everything is cross-validated by document, and compared by standard errors clustered by document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

from swag_studio.engine.text import tokens_of

FOLDS = 3
# One-sided, of a paired difference: equal classifiers exceed it in about one of 700 sets.
STANDARD_ERRORS = 3.0
GIVEAWAYS = ("spacing", "casing")

Hits = NDArray[np.float64]  # (endings,) 1 where the classifier that was fitted without it is right


@dataclass(frozen=True)
class Endings:
    """Endings as they are released, which of them were found, and whose document each is of."""

    texts: list[str]
    found: NDArray[np.bool_]
    documents: NDArray[np.int64]  # counted from 0

    def bare(self) -> list[str]:
        """All in lower case, with a space between any two tokens."""
        return [" ".join(tokens_of(text)) for text in self.texts]

    def giving_away(self, kind: str, every: int) -> list[str]:
        """The texts, but one of `every` so many found ones written in another way."""
        texts = list(self.texts)
        for i in np.flatnonzero(self.found)[::every].tolist():
            texts[i] = texts[i][:-1] + " ." if kind == "spacing" else texts[i].capitalize()
        return texts

    def weights(self) -> NDArray[np.float64]:
        """(endings,) with which found and generated ones count a half each, 1 in all."""
        sizes = np.bincount(self.found, minlength=2)
        return 0.5 / sizes[self.found.astype(int)]


def hits(endings: Endings, texts: Sequence[str], **tfidf: Any) -> Hits:
    """A classifier on n-grams, cross-validated by document."""
    result = np.zeros(len(texts))
    given = np.array(texts, dtype=object)
    for fit, held in GroupKFold(FOLDS).split(given, groups=endings.documents):
        model = make_pipeline(
            TfidfVectorizer(sublinear_tf=True, min_df=2, lowercase=False, **tfidf),
            LogisticRegression(C=10.0, solver="liblinear", class_weight="balanced"),
        )
        model.fit(given[fit], endings.found[fit])
        result[held] = model.predict(given[held]) == endings.found[held]
    return result


def by_characters(endings: Endings, texts: Sequence[str]) -> Hits:
    return hits(endings, texts, analyzer="char", ngram_range=(1, 4))


def by_tokens(endings: Endings, texts: Sequence[str]) -> Hits:
    return hits(endings, texts, analyzer=_token_ngrams)


def _token_ngrams(text: str) -> list[str]:
    tokens = tokens_of(text)
    return [" ".join(tokens[i : i + n]) for n in (1, 2, 3) for i in range(len(tokens) - n + 1)]


def standard_errors(endings: Endings, first: Hits, second: Hits) -> float:
    """By how many standard errors the first is more often right, clustered by document."""
    weights, difference = endings.weights(), first - second
    mean = weights @ difference  # of their balanced accuracies
    clusters = np.bincount(endings.documents, weights=weights * (difference - mean))
    return float(mean / np.sqrt((clusters**2).sum()))
