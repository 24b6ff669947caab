"""The endings that the filter's models read: from pool blocks to `Items`.

Found and assigned endings of all contexts are held in memory, some ten rows a context; the other
candidates are read for a few contexts at a time. It knows no models and no rules.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.assignment import Assignment
from swag_studio.engine.corpus import Corpus, Ids
from swag_studio.engine.items import Items
from swag_studio.engine.remap import Swaps
from swag_studio.engine.tagging import TagCache, Tagger, Tags, missing
from swag_studio.pool import Pool, Rows

_TAGGED_AT_ONCE = 100  # endings between two yields

Places = NDArray[np.int64]


class Tagging:
    """The tagger with its cache, and the tags of the contexts' noun phrases."""

    def __init__(self, tagger: Tagger, cache: TagCache, n: Ids, n_lengths: NDArray[np.uint8]):
        self.tagger, self.cache = tagger, cache
        self.tags_n = tagger.phrases(n, n_lengths)  # (C, Tn)


class Source:
    """C contexts of a pool with their noun phrases. A place counts these contexts.

    `tagging` is None where no member reads tags.
    """

    def __init__(self, corpus: Corpus, pool: Pool, contexts: NDArray[np.int64]) -> None:
        self.pool, self.contexts = pool, contexts
        lengths = corpus.n.lengths[contexts]
        self.n = corpus.n.padded(contexts, int(lengths.max(initial=1)))  # (C, Tn)
        self.n_lengths = lengths.astype(np.uint8)
        self.tagging: Tagging | None = None

    def tag_with(self, tagger: Tagger, cache: TagCache) -> None:
        """Endings get tags from now on."""
        self.tagging = Tagging(tagger, cache, self.n, self.n_lengths)

    def items(
        self,
        places: Places,
        v: Ids,
        v_lengths: NDArray[np.uint8],
        features: NDArray[np.float32],
        tags_v: Tags | None,
    ) -> Items:
        """The endings of one row each as `Items`; `places` (E,) says whose they are."""
        tags_n = None if tags_v is None or not self.tagging else self.tagging.tags_n[places]
        return Items(self.n[places], v, self.n_lengths[places], v_lengths, features, tags_n, tags_v)

    def tag(self, places: Places, v: Ids, v_lengths: NDArray[np.uint8]) -> Tags:
        """(E, T) the tags of these endings, computed."""
        assert self.tagging is not None
        return self.tagging.tagger.endings(self.n[places], self.n_lengths[places], v, v_lengths)


# --- assigned --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assigned:
    """The found ending (column 0) and the k assigned ones of every context, in memory."""

    source: Source
    rows: NDArray[np.uint16]  # (C, k + 1) pool rows
    v: Ids  # (C, k + 1, T)
    v_lengths: NDArray[np.uint8]  # (C, k + 1)
    features: NDArray[np.float32]  # (C, k + 1, F)
    tags: Tags  # (C, k + 1, T), 0 where not computed yet; (C, k + 1, 0) without a tagger

    @classmethod
    def gather(cls, source: Source, assignment: Assignment) -> Generator[int, None, Assigned]:
        """Reads them from the pool; yields the number of contexts read."""
        layout, contexts = source.pool.layout, len(source.contexts)
        shape = (contexts, assignment.k + 1)
        rows = np.zeros(shape, np.uint16)
        rows[:, 1:] = assignment.rows
        result = cls(
            source,
            rows,
            v=np.zeros((*shape, layout.max_tokens), np.uint16),
            v_lengths=np.zeros(shape, np.uint8),
            features=np.zeros((*shape, len(layout.feature_names)), np.float32),
            tags=np.zeros((*shape, layout.max_tokens if source.tagging else 0), np.uint8),
        )
        for place, context in enumerate(source.contexts):
            every = source.pool.context(int(context))
            result.v[place] = every.tokens[rows[place]]
            result.v_lengths[place] = every.lengths[rows[place]]
            result.features[place] = every.features[rows[place]]
            if place % 256 == 255 or place == contexts - 1:
                yield place + 1
        return result

    def items(self, places: Places, tags: bool) -> Items:
        """All k + 1 endings of these contexts, context by context, the found one first."""
        return self.source.items(
            np.repeat(places, self.rows.shape[1]),
            _flat(self.v[places]),
            self.v_lengths[places].reshape(-1),
            _flat(self.features[places]),
            _flat(self.tags[places]) if tags else None,
        )

    def put(self, swaps: Swaps, new: Incoming) -> None:
        """Replaces the endings that `swaps` names by `new`, in the same order."""
        place, column = swaps.place, swaps.slot.astype(np.int64) + 1
        self.rows[place, column] = swaps.new
        self.v[place, column] = new.v
        self.v_lengths[place, column] = new.v_lengths
        self.features[place, column] = new.features
        self.tags[place, column] = 0

    def fill_tags(self) -> Generator[int, None, None]:
        """Tags what has no tags yet; yields the number of contexts that are complete."""
        tagging = self.source.tagging
        assert tagging is not None
        flat_lengths = self.v_lengths.reshape(-1)
        lacking = missing(self.tags.reshape(len(flat_lengths), -1), flat_lengths)
        places = np.flatnonzero(lacking.reshape(self.rows.shape).any(axis=1))
        step = max(1, _TAGGED_AT_ONCE // self.rows.shape[1])
        for start in range(0, len(places), step):
            part = places[start : start + step]
            contexts = [int(c) for c in self.source.contexts[part]]
            known = [tagging.cache.read(context) for context in contexts]
            tags = np.stack([k[rows] for k, rows in zip(known, self.rows[part], strict=True)])
            todo = missing(tags.reshape(-1, tags.shape[2]), self.v_lengths[part].reshape(-1))
            at, column = np.nonzero(todo.reshape(tags.shape[:2]))
            if len(at):
                rows = part[at]
                tags[at, column] = self.source.tag(
                    rows, self.v[rows, column], self.v_lengths[rows, column]
                )
                for i in np.unique(at):
                    known[i][self.rows[part[i]]] = tags[i]
                    tagging.cache.write(contexts[i], known[i])
            self.tags[part] = tags
            yield len(self.source.contexts) - len(places) + start + len(part)


# --- candidates ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Incoming:
    """The endings that take the places of others, S rows."""

    v: Ids  # (S, T)
    v_lengths: NDArray[np.uint8]  # (S,)
    features: NDArray[np.float32]  # (S, F)

    @classmethod
    def join(cls, parts: Sequence[Incoming]) -> Incoming:
        names = ("v", "v_lengths", "features")
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))

    @classmethod
    def none(cls, assigned: Assigned) -> Incoming:
        """No endings, in the shape of those that are assigned."""
        return cls(assigned.v[:0, 0], assigned.v_lengths[:0, 0], assigned.features[:0, 0])


class Candidates:
    """All pool rows of a few contexts. Where they have tags, `fill_tags` comes before `items`."""

    def __init__(self, source: Source, places: Places, tags: bool) -> None:
        self._source, self.places = source, places
        parts = [source.pool.context(int(c)) for c in source.contexts[places]]
        self._starts = np.cumsum([0, *map(len, parts)])[:-1]
        names = ("tokens", "lengths", "complete", "origin", "features")
        self._rows = Rows(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))
        self._tags: Tags | None = None
        if tags:
            assert source.tagging is not None
            cache = source.tagging.cache
            self._tags = np.concatenate([cache.read(int(c)) for c in source.contexts[places]])
            self._changed = np.zeros(len(parts), np.bool_)

    def items(self, which: Places, rows: Places) -> Items:
        """The endings in `rows` (E,) of the contexts `which` (E,), which count the few."""
        at = self._starts[which] + rows
        return self._source.items(
            self.places[which],
            self._rows.tokens[at],
            self._rows.lengths[at],
            self._rows.features[at],
            None if self._tags is None else self._tags[at],
        )

    def fill_tags(self, which: Places, rows: Places) -> Generator[None, None, None]:
        """Tags those of these endings that have no tags yet; pauses on the way."""
        if self._tags is None:
            return
        at = self._starts[which] + rows
        todo = np.flatnonzero(missing(self._tags[at], self._rows.lengths[at]))
        for start in range(0, len(todo), _TAGGED_AT_ONCE):
            part = todo[start : start + _TAGGED_AT_ONCE]
            here = at[part]
            self._tags[here] = self._source.tag(
                self.places[which[part]], self._rows.tokens[here], self._rows.lengths[here]
            )
            self._changed[which[part]] = True
            yield

    def incoming(self, which: Places, rows: NDArray[np.uint16]) -> Incoming:
        """The endings in `rows` (S,) of the contexts `which` (S,)."""
        at = self._starts[which] + rows
        return Incoming(self._rows.tokens[at], self._rows.lengths[at], self._rows.features[at])

    def keep_tags(self) -> None:
        """Writes the tags that were computed to the cache."""
        if self._tags is None:
            return
        assert self._source.tagging is not None
        ends = [*self._starts[1:], len(self._tags)]
        for i in np.flatnonzero(self._changed):
            context = int(self._source.contexts[self.places[i]])
            self._source.tagging.cache.write(context, self._tags[self._starts[i] : ends[i]])


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    """(C, k + 1, X) -> (C * (k + 1), X)."""
    return values.reshape(-1, values.shape[2])
