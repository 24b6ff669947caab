"""People's answers as arrays, and how often they say what: the paper's Table 2.

Only answers to tasks of kind "work" enter, each annotator's latest, those of simulated annotators
only where asked; adjudications never do. Knows neither the project nor a screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swag_studio.judging import FOUND, LABELS, Annotator, Judgement, Task, counting

Measure = Literal["labels", "choices", "top_two"]
MEASURES: tuple[Measure, ...] = ("labels", "choices", "top_two")
VALUES: dict[Measure, tuple[str, ...]] = {
    "labels": LABELS,
    "choices": ("neither", "best", "second"),
    "top_two": ("neither", "best or second"),
}
MISSING = -1  # a value's place where there is no such ending

Ints = NDArray[np.int64]
Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Ratings:
    """Answers as arrays, one row each, sorted by task. Shapes: R rows, T tasks, E endings at most.

    `labels` and `choices` hold places in VALUES, -1 beyond a smaller task's endings.
    """

    annotators: tuple[str, ...]
    contexts: tuple[str, ...]
    annotator: Ints  # (R) place in annotators
    task: Ints  # (R) from 0
    context: Ints  # (R) place in contexts
    labels: Codes  # (R, E)
    choices: Codes  # (R, E)
    given: NDArray[np.str_]  # (R) ISO 8601

    def __len__(self) -> int:
        return len(self.task)

    def values(self, measure: Measure) -> Codes:
        """(R, E) places in VALUES[measure]; -1: no such ending."""
        if measure == "labels":
            return self.labels
        return self.choices if measure == "choices" else np.minimum(self.choices, 1)

    def where(self, rows: NDArray[np.bool_]) -> Ratings:
        """The ratings of some rows, (R) True where kept."""
        return Ratings(
            self.annotators,
            self.contexts,
            self.annotator[rows],
            self.task[rows],
            self.context[rows],
            self.labels[rows],
            self.choices[rows],
            self.given[rows],
        )


def collect(
    judgements: Iterable[Judgement],
    tasks: Mapping[str, Task],
    annotators: Iterable[Annotator],
    simulated: bool = False,
) -> Ratings:
    """The ratings that count. `tasks` by id, at least those that were judged."""
    kept = [
        (tasks[j.task_id], j)
        for j in counting(judgements, annotators, simulated)
        if tasks[j.task_id].kind == "work"
    ]
    kept.sort(key=lambda pair: (pair[0].id, pair[1].annotator_id))
    names, people = numbered(j.annotator_id for _, j in kept)
    contexts, context = numbered(task.context_id for task, _ in kept)
    width = max((len(j.labels) for _, j in kept), default=0)
    labels = np.full((len(kept), width), MISSING, np.int8)
    code = {label: i for i, label in enumerate(LABELS)}
    for row, (_, judgement) in enumerate(kept):
        labels[row, : len(judgement.labels)] = [code[label] for label in judgement.labels]
    choices = np.where(labels == MISSING, np.int8(MISSING), np.int8(0))
    rows = np.arange(len(kept))
    choices[rows, np.array([j.best for _, j in kept], np.int64)] = 1
    choices[rows, np.array([j.second for _, j in kept], np.int64)] = 2
    return Ratings(
        annotators=names,
        contexts=contexts,
        annotator=people,
        task=numbered(task.id for task, _ in kept)[1],
        context=context,
        labels=labels,
        choices=choices,
        given=np.array([j.given for _, j in kept], dtype=np.str_),
    )


def numbered(names: Iterable[str]) -> tuple[tuple[str, ...], Ints]:
    """(the different names, sorted; the place of each of `names` in them)."""
    listed = list(names)
    places = {name: i for i, name in enumerate(sorted(set(listed)))}
    return tuple(places), np.array([places[name] for name in listed], np.int64)


# --- how they answer -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of ratings, 0 to 1: the row of the paper's Table 2. `n` ratings, 0: unknown."""

    likely: float
    unlikely: float
    gibberish: float
    best: float
    second: float
    n: int = 0


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How found and generated endings were judged. NaN where there are none."""

    found: Shares
    generated: Shares


PAPER = Frequencies(  # Table 2
    found=Shares(0.803, 0.190, 0.007, 0.535, 0.202),
    generated=Shares(0.333, 0.575, 0.091, 0.093, 0.159),
)


def frequencies(ratings: Ratings) -> Frequencies:
    """This project's Table 2; the paper's is PAPER."""
    return Frequencies(
        found=_shares(ratings, slice(FOUND, FOUND + 1)),
        generated=_shares(ratings, slice(FOUND + 1, None)),
    )


def _shares(ratings: Ratings, places: slice) -> Shares:
    labels, choices = ratings.labels[:, places].ravel(), ratings.choices[:, places].ravel()
    rated = labels != MISSING
    n = int(rated.sum())
    counts = np.concatenate(
        [np.bincount(labels[rated], minlength=3), np.bincount(choices[rated], minlength=3)[1:]]
    )
    shares = counts / n if n else np.full(5, np.nan)
    likely, unlikely, gibberish, best, second = (float(share) for share in shares)
    return Shares(likely, unlikely, gibberish, best, second, n)
