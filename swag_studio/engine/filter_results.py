"""What a filter run leaves to the rest of the project: the assigned endings as text, with scores.

It knows the pool, the store and the vocabulary, not models or iterations.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import Corpus
from swag_studio.engine.filter_items import Assigned
from swag_studio.engine.text import TextMaker
from swag_studio.errors import ProjectError
from swag_studio.records import Context, Ending, EndingKind, ending_id
from swag_studio.store import Store

_AT_ONCE = 100  # contexts: about as many rows as one short transaction takes


def write_endings(
    store: Store,
    prepare_version: int,
    filter_version: int,
    corpus: Corpus,
    assigned: Assigned,
    scores: NDArray[np.float32],
) -> Generator[int, None, None]:
    """Puts endings and assignments; `scores` (C, k + 1), the found ending in slot 0.

    Yields the number of contexts written. Writing again what is there changes nothing.
    """
    maker = _EndingMaker(store, corpus, assigned)
    selected = store.contexts(prepare_version, selected_only=True)
    contexts = iter(zip(range(len(corpus.context_ids)), selected, strict=True))
    places = assigned.source.contexts.tolist()
    for start in range(0, len(places), _AT_ONCE):
        endings: list[Ending] = []
        rows: list[tuple[str, int, str, int, float]] = []
        for place, wanted in enumerate(places[start : start + _AT_ONCE], start):
            context = next(context for index, context in contexts if index == wanted)
            if context.id != corpus.context_ids[wanted]:
                raise ProjectError("the prepared contexts and the database do not match.")
            mine = maker.endings(place, context)
            endings += mine
            rows += [
                (context.id, slot, ending.id, ending.row, float(scores[place, slot]))
                for slot, ending in enumerate(mine)
            ]
        store.put_endings(endings)
        store.put_assignments(filter_version, rows)
        yield start + len(places[start : start + _AT_ONCE])


class _EndingMaker:
    """Makes shown text: of own candidates as it was given, of all others from their tokens."""

    def __init__(self, store: Store, corpus: Corpus, assigned: Assigned) -> None:
        self._store, self._assigned = store, assigned
        self._text = TextMaker(corpus.vocabulary)

    def endings(self, place: int, context: Context) -> list[Ending]:
        """The found ending of a context, then its distractors by slot."""
        found = Ending(ending_id(context.id, context.found), context.id, context.found, "found", 0)
        kind: EndingKind = "own" if context.origin == "own" else "generated"
        texts = self._own(place, context) if kind == "own" else self._generated(place)
        rows = self._assigned.rows[place, 1:].tolist()
        return [found] + [
            Ending(ending_id(context.id, text), context.id, text, kind, row)
            for text, row in zip(texts, rows, strict=True)
        ]

    def _generated(self, place: int) -> list[str]:
        lengths = self._assigned.v_lengths[place, 1:]
        tokens = self._assigned.v[place, 1:]
        return [self._text.ending(ids[:n]) for ids, n in zip(tokens, lengths, strict=True)]

    def _own(self, place: int, context: Context) -> list[str]:
        given = self._store.own_context(context.source_id, context.document)
        if given is None:
            raise ProjectError(f"the own candidates of {context.document} are not in the database.")
        source = self._assigned.source
        origin = source.pool.context(int(source.contexts[place])).origin
        return [given.endings[origin[row] - 1] for row in self._assigned.rows[place, 1:]]
