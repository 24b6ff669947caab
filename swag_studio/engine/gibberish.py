"""A small classifier of gibberish, trained on what people called gibberish and what they did not.

Linear in an ending's words and in the language models' numbers of it, so that some hundred labels
suffice. It is judged on videos that it never saw before it may have a say. It knows arrays and a
file, not the filter or the project.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import Ids
from swag_studio.engine.seeds import seed_for
from swag_studio.errors import StageError
from swag_studio.files import read_json, write_json

LEAST = 50  # labels of each kind; with fewer, the area below is known to no better than +-0.1
FOLDS = 5  # of videos
KEPT = 0.95  # of what people did not call gibberish, the share that the threshold lets pass
SHOWN = 3  # labelled endings that must show a word, for it to have a weight
_TWO_SIDED_95 = 1.96

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """E endings with what people said of them."""

    tokens: Ids  # (E, T), 0 pads
    features: NDArray[np.float32]  # (E, F) as in the pool
    gibberish: NDArray[np.bool_]  # (E,)
    groups: Places  # (E,) the video, which no fold divides

    @property
    def counts(self) -> tuple[int, int]:
        """(gibberish, not gibberish)."""
        return int(self.gibberish.sum()), int((~self.gibberish).sum())


@dataclass(frozen=True, slots=True)
class Report:
    """How a classifier did on the labels of videos that it was not trained on.

    `area` is that under the ROC curve, `accuracy` the mean over both kinds at logit 0. `threshold`
    lets `KEPT` of what is not gibberish pass, and keeps `barred` of the gibberish out.
    """

    gibberish: int
    sensible: int
    area: float
    accuracy: float
    threshold: float
    barred: float

    def words(self) -> str:
        """For people."""
        return (
            f"The classifier of gibberish learned from {self.gibberish:,} endings that people "
            f"called gibberish and {self.sensible:,} that they did not. On videos that it never "
            f"saw it has an area under the ROC curve of {self.area:.2f} and an accuracy of "
            f"{self.accuracy:.0%} (chance 0.5 and 50%). Above its threshold {self.threshold:.2f}, "
            f"which {KEPT:.0%} of the sensible endings stay below, are {self.barred:.0%} of the "
            "gibberish."
        )


@dataclass(frozen=True)
class Gibberish:
    """A trained classifier: its logit is above 0 where gibberish is likelier."""

    words: NDArray[np.float64]  # (V,) what each word adds; 0 for the pad
    features: NDArray[np.float64]  # (F,) what a unit of each number adds
    bias: float
    report: Report

    def barred(self, tokens: Ids, features: NDArray[np.float32]) -> NDArray[np.bool_]:
        """(E,) which endings are above the threshold."""
        return self.logits(tokens, features) > self.report.threshold

    def logits(self, tokens: Ids, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """(E,) of endings (E, T) and their numbers (E, F)."""
        added = (features * self.features).sum(axis=1)
        result: NDArray[np.float64] = self.words[tokens].sum(axis=1) + added + self.bias
        return result

    def save(self, path: Path) -> None:
        """Writes all of it to a JSON file; words of no weight are left out."""
        shown = np.flatnonzero(self.words)
        content: dict[str, Any] = {
            "vocabulary": len(self.words),
            "words": list(zip(shown.tolist(), self.words[shown].tolist(), strict=True)),
            "features": self.features.tolist(),
            "bias": self.bias,
            "report": asdict(self.report),
        }
        write_json(path, content)

    @classmethod
    def load(cls, path: Path) -> Gibberish:
        """What `save` wrote."""
        try:
            d = read_json(path)
            words = np.zeros(d["vocabulary"])
            for word, weight in d["words"]:
                words[word] = weight
            return cls(words, np.array(d["features"]), d["bias"], Report(**d["report"]))
        except (ValueError, KeyError, TypeError, IndexError):
            raise StageError(
                f"{path} is damaged. Remove it and run the project again: it is made anew with "
                "the same contents."
            ) from None


def too_few(gibberish: int, sensible: int) -> str:
    """Why a classifier cannot be trained on so many labels; "" where it can."""
    if min(gibberish, sensible) >= LEAST:
        return ""
    return (
        f"A classifier of gibberish needs {LEAST} endings that people called gibberish and as many "
        f"that they did not; there are {gibberish:,} and {sensible:,}. Judge more contexts, or "
        "filter again without it."
    )


def learn(labels: Labelled, vocabulary: int, seed: int) -> Generator[str, None, Gibberish]:
    """A classifier for token ids below `vocabulary`; yields what it is at.

    Raises StageError for too few labels, or where it does no better than chance on videos that it
    never saw.
    """
    if trouble := too_few(*labels.counts):
        raise StageError(trouble)
    scores = yield from _cross_validated(labels, vocabulary, seed)
    report = judged(scores, labels.gibberish)
    if report.area <= 0.5 + _TWO_SIDED_95 * chance_error(*labels.counts):
        raise StageError(
            f"The classifier of gibberish does no better than chance on videos that it never saw "
            f"(area under the ROC curve {report.area:.2f}). Judge more contexts, or filter again "
            "without it."
        )
    yield "learning what gibberish is"
    words, features, bias = _fit(labels, np.arange(len(labels.tokens)), vocabulary)
    return Gibberish(words, features, bias, report)


# --- how good it is --------------------------------------------------------------------------


def _cross_validated(
    labels: Labelled, vocabulary: int, seed: int
) -> Generator[str, None, NDArray[np.float64]]:
    """(E,) the logit of each ending by a classifier that saw nothing of its video."""
    videos, video = np.unique(labels.groups, return_inverse=True)
    order = np.random.default_rng(seed_for(seed, "gibberish")).permutation(len(videos))
    fold_of = order[video] % FOLDS
    scores = np.zeros(len(video))
    for fold in range(FOLDS):
        yield f"learning what gibberish is: {fold}/{FOLDS}"
        held_out, seen = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
        if len(set(labels.gibberish[seen].tolist())) < 2:
            raise StageError(
                "All that people called gibberish, or all else that they judged, is of a few "
                "videos. Judge contexts of more videos, or filter again without the classifier."
            )
        words, features, bias = _fit(labels, seen, vocabulary)
        added = (labels.features[held_out] * features).sum(axis=1)
        scores[held_out] = words[labels.tokens[held_out]].sum(axis=1) + added + bias
    return scores


def judged(scores: NDArray[np.float64], gibberish: NDArray[np.bool_]) -> Report:
    """What these logits say of the labels."""
    bad, good = scores[gibberish], np.sort(scores[~gibberish])
    wins = np.searchsorted(good, bad, "left") + np.searchsorted(good, bad, "right")
    threshold = float(np.quantile(good, KEPT, method="higher"))
    return Report(
        gibberish=len(bad),
        sensible=len(good),
        area=float(wins.mean() / (2 * len(good))),
        accuracy=float(((bad > 0).mean() + (good <= 0).mean()) / 2),
        threshold=threshold,
        barred=float((bad > threshold).mean()),
    )


def chance_error(gibberish: int, sensible: int) -> float:
    """The standard error of the area of scores that say nothing (Mann and Whitney, 1947)."""
    return math.sqrt((gibberish + sensible + 1) / (12 * gibberish * sensible))


# --- training --------------------------------------------------------------------------------


def _fit(
    labels: Labelled, rows: Places, vocabulary: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Weights of words (V,) and of numbers (F,), and the bias: logistic regression, L2 penalty 1.

    Both kinds weigh the same in total. Numbers are standardised for the penalty's sake, words
    counted.
    """
    from scipy import sparse  # here, as they take a second to load
    from sklearn.linear_model import LogisticRegression

    tokens, numbers = labels.tokens[rows], labels.features[rows].astype(np.float64)
    ending, place = np.nonzero(tokens)
    counts = sparse.csr_matrix(
        (np.ones(len(ending)), (ending, tokens[ending, place])), (len(rows), vocabulary)
    )
    shown = np.flatnonzero(counts.getnnz(axis=0) >= SHOWN)
    mean, deviation = numbers.mean(axis=0), numbers.std(axis=0)
    constant = deviation <= 1e-6 * np.maximum(1.0, np.abs(mean))
    scale = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
    standard = sparse.csr_matrix((numbers - mean) * scale)
    model = LogisticRegression(class_weight="balanced", max_iter=2000)
    model.fit(sparse.hstack([standard, counts[:, shown]]).tocsr(), labels.gibberish[rows])
    features = model.coef_[0, : len(mean)] * scale
    words = np.zeros(vocabulary)
    words[shown] = model.coef_[0, len(mean) :]
    return words, features, float(model.intercept_[0] - features @ mean)
