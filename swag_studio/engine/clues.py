"""What the tested endings show, and how the most telling of it is chosen.

A sample of the tested contexts as one member sees them; which endings show which things (words,
windows of symbols); and the clues that these make, once each thing has a weight and a rank. It
does not know how a member is asked for weights (`telling`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from swag_studio.engine import tag_names
from swag_studio.engine.corpus import Corpus
from swag_studio.engine.ensemble import SCORE_BATCH
from swag_studio.engine.filter_items import Assigned, Source
from swag_studio.engine.filter_iteration import Tested
from swag_studio.engine.members.base import Member
from swag_studio.engine.members.batches import Batch, Data
from swag_studio.engine.members.network import Network
from swag_studio.evidence import Clue

TOP = 20  # clues per member
SHOWN_CONTEXTS = 20  # ids per clue

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Names:
    """What the numbers in the arrays stand for."""

    words: Sequence[str]  # by token id
    tags: Sequence[str]  # by tag id - 1
    features: Sequence[str]
    contexts: Sequence[str]  # context ids by place of the assignment

    @classmethod
    def of(cls, corpus: Corpus, source: Source) -> Names:
        vocabulary, tagging = corpus.vocabulary, source.tagging
        return cls(
            words=[vocabulary.cased.get(token, token) for token in vocabulary.tokens],
            tags=[tag_names.name(t) for t in tagging.tagger.labels] if tagging else [],
            features=source.pool.layout.feature_names,
            contexts=[corpus.context_ids[c] for c in source.contexts],
        )


@dataclass(frozen=True)
class Sample:
    """Tested contexts with all their endings, as one member sees them: E = C * `size` rows."""

    member: str
    network: Network
    data: Data
    scores: Floats  # (E,) the member's
    contexts: Sequence[str]  # (C,)
    size: int
    names: Names

    @classmethod
    def draw(
        cls,
        member: str,
        tested: Tested,
        assigned: Assigned,
        names: Names,
        rng: np.random.Generator,
        most: int,
    ) -> Sample:
        """At most `most` of the tested contexts, drawn at random, in their order."""
        count, size = len(tested.test), assigned.rows.shape[1]
        chosen = np.sort(rng.choice(count, min(most, count), replace=False))
        places, network = tested.test[chosen], tested.ensemble.network
        part = network.members[member]
        assert isinstance(part, Member)
        items = assigned.items(places, part.needs_tags)
        return cls(
            member=member,
            network=network,
            data=Data(items, part.needs_tags, part.needs_features, tested.ensemble.device),
            scores=tested.scores[member].reshape(count, size)[chosen].ravel().astype(np.float64),
            contexts=[names.contexts[p] for p in places],
            size=size,
            names=names,
        )

    @property
    def part(self) -> Member:
        part = self.network.members[self.member]
        assert isinstance(part, Member)
        return part

    @property
    def head(self) -> nn.Linear:
        head = self.network.heads[self.member]
        assert isinstance(head, nn.Linear)
        return head

    @property
    def found(self) -> NDArray[np.bool_]:
        """(E,) whether an ending is the found one of its context."""
        return np.asarray(np.arange(len(self.scores)) % self.size == 0)

    @property
    def tokens(self) -> Ints:
        """(E, L) noun phrase, ending, padding."""
        return to_numpy(self.data.tokens).astype(np.int64)

    @property
    def n_lengths(self) -> Ints:
        return to_numpy(self.data.n_lengths)

    @property
    def in_ending(self) -> NDArray[np.bool_]:
        """(E, L) whether a place of the joined text belongs to the ending."""
        place = np.arange(self.data.tokens.shape[1])
        after = place >= self.n_lengths[:, None]
        return np.asarray(after & (place < self.data.host_lengths[:, None]))

    def batches(self) -> list[tuple[Ints, Batch]]:
        """(rows, batch) of all endings, in the size that scores are made in."""
        rows = np.arange(len(self.scores))
        parts = [rows[i : i + SCORE_BATCH] for i in range(0, len(rows), SCORE_BATCH)]
        return [(part, self.data.batch(part)) for part in parts]


@dataclass(frozen=True)
class Shown:
    """Which endings show which things: P different pairs."""

    ending: Ints  # (P,)
    thing: Ints  # (P,) below `things`
    things: int

    @classmethod
    def of(cls, ending: Ints, thing: Ints, things: int) -> Shown:
        """From pairs that may repeat."""
        return cls(*np.divmod(np.unique(ending * things + thing), things), things)

    @property
    def counts(self) -> Ints:
        """(things,) endings that show each."""
        return np.bincount(self.thing, minlength=self.things)

    def clues(
        self,
        sample: Sample,
        weight: Floats,
        rank: Floats,
        least: int,
        text: Callable[[int], str],
    ) -> tuple[Clue, ...]:
        """The things of the highest `rank` (things,) that at least `least` endings show."""
        counts = self.counts
        in_found = np.bincount(self.thing[sample.found[self.ending]], minlength=self.things)
        contexts, endings = len(sample.contexts), len(sample.scores)
        telling = np.flatnonzero((counts >= least) & (rank > 0))
        return tuple(
            Clue(
                text(t),
                short(weight[t]),
                short(in_found[t] / contexts),
                short((counts[t] - in_found[t]) / (endings - contexts)),
                self._contexts(sample, t, bool(weight[t] > 0)),
            )
            for t in telling[np.argsort(-rank[telling], kind="stable")][:TOP].tolist()
        )

    def _contexts(self, sample: Sample, thing: int, found: bool) -> tuple[str, ...]:
        """Where it is seen: in endings of the kind that it speaks for, if it is in any."""
        endings = self.ending[self.thing == thing]
        speaks = endings[sample.found[endings] == found]
        places = np.unique((speaks if len(speaks) else endings) // sample.size)
        return tuple(sample.contexts[place] for place in places[:SHOWN_CONTEXTS])


@dataclass(frozen=True)
class Windows:
    """All windows of one size within the texts that reach into the ending, N of them.

    Those within the noun phrase are the same for all endings of a context, and tell nothing.
    """

    ending: Ints  # (N,)
    start: Ints  # (N,)
    gram: Ints  # (N,) equal where the symbols are; 0, 1, 2 ...
    first: Ints  # (grams,) a window of each

    @classmethod
    def of(cls, sample: Sample, symbols: Ints, size: int) -> Windows:
        """`symbols` (E, L) of the texts."""
        stop = np.arange(symbols.shape[1]) + size
        whole = stop <= sample.data.host_lengths[:, None]
        ending, start = np.nonzero(whole & (stop > sample.n_lengths[:, None]))
        gram = symbols[ending, start]
        base = int(symbols.max(initial=0)) + 1
        for step in range(1, size):  # numbered anew at each step, so that 64 bits suffice
            longer = gram * base + symbols[ending, start + step]
            gram = np.unique(longer, return_inverse=True)[1]
        _, first, gram = np.unique(gram, return_index=True, return_inverse=True)
        return cls(ending, start, gram, first)

    def symbols(self, symbols: Ints, gram: int, size: int) -> list[int]:
        ending, start = int(self.ending[self.first[gram]]), int(self.start[self.first[gram]])
        return [int(s) for s in symbols[ending, start : start + size]]


def to_numpy(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().cpu().numpy()


def short(value: float) -> float:
    """Four digits: what a person reads, and all that the file keeps."""
    return float(f"{value:.4g}")
