"""Reads for people how the distractors of a filter run changed, also while it is at work.

It knows the run's files and the pool that they count, not models, scores or rules. What was read
stays in memory as arrays, 9 bytes a swap; a later question reads the new files alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.assignment import AssignmentLog
from swag_studio.engine.history import Inheritance, Span
from swag_studio.engine.pool_texts import PoolTexts
from swag_studio.engine.remap import Swaps
from swag_studio.errors import ProjectError, StageError
from swag_studio.project import Project
from swag_studio.views import ContextRow, Origin, Slot


class AssignmentWatch:
    """One version of the filter. Not for several threads at once.

    Raises ProjectError when it has no assignment yet, or its pool or contexts are gone or damaged.
    """

    def __init__(self, project: Project, version: int) -> None:
        self.version = version
        run = next((a for a in project.store.artifacts("filter") if a.version == version), None)
        if run is None:
            raise ProjectError(f"There is no version {version} of the filter in this project.")
        self._texts = texts = PoolTexts.of_run(project, run)
        self._log = AssignmentLog(project.folder(run))
        initial = self._log.initial()
        if initial is None:
            raise ProjectError("No distractors are drawn yet. They are as soon as the filter runs.")
        self._contexts, self._drawn = initial.contexts, initial.rows
        self._replaced: list[_Replaced] = []
        self._ids, self._store = texts.ids, project.store
        try:
            self._start = Inheritance.of(project, run, lambda: texts)
        except StageError as error:
            raise ProjectError(str(error)) from None

    def iterations(self) -> int:
        """How many are committed by now; reads those that are new."""
        self._replaced += map(_Replaced.of, self._log.swaps(len(self._replaced)))
        return len(self._replaced)

    def contexts(self) -> list[ContextRow]:
        """The contexts that have distractors, by place."""
        counts = np.maximum(self._texts.pool.counts() - 1, 0).tolist()
        places = {self._ids[place]: place for place in self._contexts.tolist()}
        rows = [
            ContextRow(places[c.id], c.id, c.sent1, c.sent2, counts[places[c.id]], c.found)
            for c in self._store.contexts(self._texts.prepared, selected_only=True)
            if c.id in places
        ]
        return sorted(rows, key=lambda row: row.place)

    def slots(self, place: int, iterations: int) -> list[Slot]:
        """The k distractors of a context after so many iterations; none without distractors."""
        at = self._index(place)
        if at is None:
            return []
        holds = [(row, -1, -1) for row in self._drawn[at].tolist()]  # (row, since, displaced row)
        for iteration, slot, old, new in self._swaps(at, iterations):
            holds[slot] = (new, iteration, old)
        texts = self._texts.of(place)
        origins = self._start.origins(place, self._drawn[at].tolist()) if self._start else {}
        slots = []
        for slot, (row, since, old) in enumerate(holds):
            displaced = texts(old) if old >= 0 else ""
            origin = _origin(origins[row]) if since < 0 and row in origins else None
            slots.append(Slot(slot, row, texts(row), since, displaced, origin))
        return slots

    def changes(self, place: int) -> list[tuple[int, int, str, str]]:
        """(iteration, slot, text out, text in) of a context, in order."""
        at = self._index(place)
        if at is None:
            return []
        texts = self._texts.of(place)
        return [
            (iteration, slot, texts(old), texts(new))
            for iteration, slot, old, new in self._swaps(at, self.iterations())
        ]

    def place_of(self, context_id: str) -> int | None:
        """The place of a context that has distractors; None of any other."""
        place = bisect_left(self._ids, context_id)
        there = place < len(self._ids) and self._ids[place] == context_id
        return place if there and self._index(place) is not None else None

    # --- reading -------------------------------------------------------------------------

    def _index(self, place: int) -> int | None:
        """Where a context of the pool stands in the assignment."""
        at = int(np.searchsorted(self._contexts, place))
        return at if at < len(self._contexts) and self._contexts[at] == place else None

    def _swaps(self, at: int, iterations: int) -> Iterator[tuple[int, int, int, int]]:
        """(iteration, slot, row out, row in) of the first `iterations`, in order."""
        self.iterations()
        for iteration, replaced in enumerate(self._replaced[:iterations]):
            for slot, old, new in replaced.of_context(at):
                yield iteration, slot, old, new


def _origin(span: Span) -> Origin:
    since = span["in"]
    assert isinstance(span["run"], int) and not isinstance(since, str)
    return Origin(span["run"], since, span["by"] == "curator")


@dataclass(frozen=True, slots=True)
class _Replaced:
    """What one iteration replaced, by place."""

    place: NDArray[np.uint32]
    slot: NDArray[np.uint8]
    old: NDArray[np.uint16]
    new: NDArray[np.uint16]

    @classmethod
    def of(cls, swaps: Swaps) -> _Replaced:
        return cls(swaps.place.astype(np.uint32), swaps.slot, swaps.old, swaps.new)

    def of_context(self, at: int) -> Iterator[tuple[int, int, int]]:
        """(slot, row out, row in) of the context."""
        first, last = np.searchsorted(self.place, np.array([at, at + 1], np.uint32))
        columns: list[Any] = [
            array[first:last].tolist() for array in (self.slot, self.old, self.new)
        ]
        return zip(*columns, strict=True)
