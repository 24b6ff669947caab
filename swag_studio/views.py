"""What pages show of a pool, a filter run and a release: plain records, and readers that give them.

The readers are the engine's (browse.py, watch.py, rehearsal.py) and are handed to the window, which
knows these protocols only. All of it is read-only and may be asked for while a run is at work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A context as a list shows it. `place` is its place in the pool; `candidates` its count."""

    place: int
    id: str
    sent1: str
    sent2: str
    candidates: int
    found: str = ""  # the found ending as shown text, where the reader knows it


@dataclass(frozen=True, slots=True)
class PoolEnding:
    """One row of a context's pool as shown text. `features` are in the pool's order.

    `barred` says why it is never assigned: "cut_off", "repeat" of another row, or "short",
    "opening", "doubled", "unpaired" as no found ending is; "" where it may be, and for the found
    ending.
    """

    row: int
    text: str
    found: bool
    features: tuple[float, ...]
    barred: str = ""

    @property
    def usable(self) -> bool:
        """Whether it may be assigned."""
        return not self.found and not self.barred


@dataclass(frozen=True)
class Distribution:
    """A feature's values over sampled contexts: found endings, and candidates that may be assigned.

    `smaller` is how often a found ending's value is smaller than that of a candidate of its own
    context, equal ones counting half; ± `margin` is its 95% interval.
    """

    name: str
    found: NDArray[np.float32]  # (contexts,)
    generated: NDArray[np.float32]  # (candidates,) context after context
    sizes: NDArray[np.int64]  # (contexts,) candidates of each
    smaller: float
    margin: float

    @property
    def told(self) -> float:
        """How often this number alone tells the found ending from a candidate, 0.5 to 1."""
        return max(self.smaller, 1.0 - self.smaller)

    @property
    def weights(self) -> NDArray[np.float64]:
        """(candidates,) weights that let every context count alike; their sum is 1."""
        return np.repeat(1.0 / (self.sizes * max(1, len(self.sizes))), self.sizes)


class PoolReader(Protocol):
    """Reads one version of the pool. For the reading thread; ProjectError where it is damaged."""

    version: int

    @property
    def feature_names(self) -> tuple[str, ...]: ...
    def contexts(self) -> list[ContextRow]: ...
    def place_of(self, context_id: str) -> int | None:
        """The place of a context in the pool; None where it is not in it."""
        ...

    def endings(self, place: int) -> list[PoolEnding]: ...
    def distributions(self, contexts: int) -> list[Distribution]: ...


@dataclass(frozen=True, slots=True)
class Origin:
    """How a distractor came in that a run took over from an earlier one.

    `run` is the run in which it did. `since` is the iteration there, -1 for its first draw; None
    where a `curator` put it there, or where it is not known.
    """

    run: int
    since: int | None = None
    curator: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """What one slot of a context holds after some iterations.

    `since` is the iteration that brought it in, -1 where it was there when the run began: by the
    first draw, or with an `origin` in an earlier run. `displaced` is what it took the place of,
    empty where no iteration of this run did.
    """

    slot: int
    row: int
    text: str
    since: int
    displaced: str
    origin: Origin | None = None


class WatchReader(Protocol):
    """Reads how the distractors of a filter run changed, also while it is at work."""

    version: int

    def iterations(self) -> int:
        """How many are committed by now."""
        ...

    def contexts(self) -> list[ContextRow]:
        """The contexts that have distractors, by place."""
        ...

    def slots(self, place: int, iterations: int) -> list[Slot]:
        """The k distractors of the context after so many iterations, by slot."""
        ...

    def changes(self, place: int) -> list[tuple[int, int, str, str]]:
        """(iteration, slot, text out, text in) of the context, in order."""
        ...

    def place_of(self, context_id: str) -> int | None:
        """The place of a context that has distractors; None of any other."""
        ...


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a release would hold now, of a filter run with so many `contexts`.

    `counts` and `people` are those of a manifest: questions by split and kind, contexts left out
    by reason, who verified; and `feedback_by`, with whose word the filter went on.
    """

    contexts: int
    counts: Mapping[str, Any]
    people: Mapping[str, Any]

    @property
    def questions(self) -> int:
        """Of all splits."""
        return sum(split["all"] for split in self.counts["questions"].values())


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question as a reader of the CSV files sees it: row `row` of its split's file."""

    split: str
    row: int
    context_id: str
    video_id: str
    start: str  # both parts of the context
    endings: tuple[str, ...]
    label: int
    gold_source: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What writing a release would come to. `problems` are as in a manifest: kind, level, count,
    sentence, places; `continued` counts questions whose found ending is the context of another of
    their split, which is normal."""

    outlook: Outlook
    problems: tuple[Mapping[str, Any], ...]
    continued: int
    first: tuple[ShownQuestion, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that two releases do not have alike; `before` or `after` is None where one lacks
    it. `what` names what changed of it."""

    how: Literal["added", "removed", "changed"]
    what: tuple[str, ...]
    before: ShownQuestion | None
    after: ShownQuestion | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two releases: in sentences, and the questions that differ: the first ones of `total`."""

    names: tuple[str, str]
    words: tuple[str, ...]
    differences: tuple[Difference, ...]
    total: int


@dataclass(frozen=True, slots=True)
class FeedbackPreview:
    """What filtering again would mean.

    `excluded` assigned endings go, in `affected` contexts, of which people judged `judged`: these
    are to be judged again. `edited` texts that people wrote stay in run `parent` alone.
    `classifier` is "" where one can be trained, else why not.
    """

    parent: int
    excluded: int
    affected: int
    untouched: int
    judged: int
    edited: int
    gibberish: int
    sensible: int
    classifier: str
    simulated: bool
