"""When each candidate was assigned to its context and when it was replaced, run by run.

A run after feedback does not begin with a draw: what stood in the run before stays, as people left
it, and its history goes on. This knows the runs' files and the feedback, and no models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from swag_studio.engine.assignment import AssignmentLog
from swag_studio.engine.earlier import before
from swag_studio.engine.pool_texts import PoolTexts
from swag_studio.engine.said import Said, thawed
from swag_studio.errors import StageError
from swag_studio.project import Project
from swag_studio.recipe import from_toml
from swag_studio.records import Artifact, folded

Span = dict[str, int | str | None]
"""A while in which a candidate was assigned, JSON-ready.

`run` is the filter run. `by` says what brought it in: "draw" when the run began, "filter" in an
iteration, "run" where it stood in the run before and stayed, "curator" where a person put it there,
None where that is not known. `in` is the iteration from 0, -1 for the beginning, None if no
iteration did; `out` the iteration that replaced it, None where it stayed to the end.
"""


class History:
    """When each row of a pool context was assigned. 5 bytes in memory for each replacement.

    `start` is what the run went on from. `known` is False where files of the run are gone.
    """

    def __init__(self, log: AssignmentLog, run: int = 1, start: Inheritance | None = None) -> None:
        self.run, self._start = run, start
        initial = log.initial()
        self.known = initial is not None
        if initial is None:  # the run's files were removed
            return
        self._contexts, self._drawn = initial.contexts, initial.rows
        # Read twice, to be sorted by place: first what room each takes, then what goes there.
        counts = np.zeros(len(initial), np.int64)
        for swaps in log.swaps():
            counts += np.bincount(swaps.place, minlength=len(initial))
        self._first = np.concatenate([[0], np.cumsum(counts)])
        size, free = int(self._first[-1]), self._first[:-1].copy()
        self._iteration, self._slot = np.zeros(size, np.uint16), np.zeros(size, np.uint8)
        self._new = np.zeros(size, np.uint16)
        for iteration, swaps in enumerate(log.swaps()):
            order = np.argsort(swaps.place, kind="stable")
            place = swaps.place[order]
            at = free[place] + np.arange(len(place)) - np.searchsorted(place, place)
            self._iteration[at] = iteration
            self._slot[at], self._new[at] = swaps.slot[order], swaps.new[order]
            free += np.bincount(place, minlength=len(free))

    @classmethod
    def of(cls, project: Project, run: Artifact, texts: Callable[[], PoolTexts]) -> History:
        """Of a filter run and those before it. `texts` opens its pool, where that is needed."""
        log = AssignmentLog(project.folder(run))
        try:
            return cls(log, run.version, Inheritance.of(project, run, texts))
        except StageError:  # what people said is gone
            history = cls(log, run.version)
            history.known = False
            return history

    def spans(self, context: int) -> dict[int, list[Span]]:
        """Row -> when it was assigned to the context at this place of the pool, in order."""
        if not self.known:
            return {}
        at = int(np.searchsorted(self._contexts, context))
        if at == len(self._contexts) or self._contexts[at] != context:
            return {}
        spans = self._own(at)
        if self._start is None:
            return spans
        kept = self._start.kept(context, self._drawn[at].tolist())
        for row in kept:
            spans[row][0]["by"] = "run"
        earlier = self._start.spans(context, kept)
        return {
            row: earlier.get(row, []) + spans.get(row, []) for row in earlier.keys() | spans.keys()
        }

    def _own(self, at: int) -> dict[int, list[Span]]:
        """As `spans`, as if the run had begun with a draw."""
        spans: dict[int, list[Span]] = {}

        def close(slot: int, out: int | None) -> None:
            row, since = holds[slot]
            by = "draw" if since < 0 else "filter"
            spans.setdefault(row, []).append({"run": self.run, "by": by, "in": since, "out": out})

        holds = [(row, -1) for row in self._drawn[at].tolist()]
        mine = slice(*self._first[at : at + 2])
        columns = (array[mine].tolist() for array in (self._slot, self._iteration, self._new))
        for slot, iteration, new in zip(*columns, strict=True):
            close(slot, iteration)
            holds[slot] = (new, iteration)
        for slot in range(len(holds)):
            close(slot, None)
        return spans


@dataclass(frozen=True)
class Inheritance:
    """What a run after feedback began with: `run`, and what people `said` of it, by context."""

    project: Project
    run: Artifact
    said: Mapping[str, Said]
    texts: Callable[[], PoolTexts]

    @classmethod
    def of(
        cls, project: Project, run: Artifact, texts: Callable[[], PoolTexts]
    ) -> Inheritance | None:
        """None for a run that began with a draw. StageError where what people said is gone."""
        parent = before(project, run)
        if parent is None:
            return None
        feedback = thawed(project, from_toml(run.recipe).filter.feedback, project.folder(run))
        return cls(project, parent, feedback.contexts, texts)

    @cached_property
    def _texts(self) -> PoolTexts:
        return self.texts()

    @cached_property
    def _history(self) -> History:
        return History.of(self.project, self.run, lambda: self._texts)

    def kept(self, context: int, began: Sequence[int]) -> set[int]:
        """Those of the rows, by slot, with which a context began that stood in the run before."""
        start = self.said.get(self._texts.ids[context], Said()).start
        if not start:
            return set(began)
        text = self._texts.of(context)
        slots = zip(began, start, strict=True)
        return {row for row, kept in slots if kept and folded(text(row)) == kept}

    def spans(self, context: int, kept: set[int]) -> dict[int, list[Span]]:
        """As History's, of the runs before; those kept have one to the end of the last of them."""
        spans, run = self._history.spans(context), self.run.version
        for row in kept:
            mine = spans.setdefault(row, [])
            if not mine or mine[-1]["run"] != run or mine[-1]["out"] is not None:
                by = "curator" if self._history.known else None
                mine.append({"run": run, "by": by, "in": None, "out": None})
        return spans

    def origins(self, context: int, began: Sequence[int]) -> dict[int, Span]:
        """Row -> how it came in at first, of those with which a context began that were kept."""
        kept = self.kept(context, began)
        spans = self.spans(context, kept)
        return {row: next(s for s in reversed(spans[row]) if s["by"] != "run") for row in kept}
