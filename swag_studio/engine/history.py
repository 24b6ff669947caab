"""When each candidate was assigned to its context and when it was replaced, of a whole filter run.

It knows the run's files, not what the rows say.
"""

from __future__ import annotations

import numpy as np

from swag_studio.engine.assignment import AssignmentLog


class History:
    """When each row of a pool context was assigned. 11 bytes in memory for each replacement."""

    def __init__(self, log: AssignmentLog) -> None:
        initial = log.initial()
        self.known = initial is not None
        if initial is None:  # the run's files were removed
            return
        self._contexts, self._drawn = initial.contexts, initial.rows
        swaps = list(log.swaps())
        place = np.concatenate([np.zeros(0, np.uint32), *(s.place for s in swaps)])
        order = np.argsort(place, kind="stable")
        self._place = place[order].astype(np.uint32)
        sizes = [len(s.place) for s in swaps]
        self._iteration = np.repeat(np.arange(len(swaps), dtype=np.uint16), sizes)[order]
        none = np.zeros(0, np.uint16)
        self._slot = np.concatenate([none, *(s.slot for s in swaps)]).astype(np.uint8)[order]
        self._old = np.concatenate([none, *(s.old for s in swaps)])[order]
        self._new = np.concatenate([none, *(s.new for s in swaps)])[order]

    def spans(self, context: int) -> dict[int, list[dict[str, int | None]]]:
        """Row -> when it was assigned to the context at this place of the pool, in order.

        `in` is the iteration that brought it in, -1 for the first draw; `out` the one that
        replaced it, None if it stayed to the end.
        """
        if not self.known:
            return {}
        at = int(np.searchsorted(self._contexts, context))
        if at == len(self._contexts) or self._contexts[at] != context:
            return {}
        spans: dict[int, list[dict[str, int | None]]] = {}
        holds = [(row, -1) for row in self._drawn[at].tolist()]
        first, last = np.searchsorted(self._place, np.array([at, at + 1], np.uint32))
        for i in range(int(first), int(last)):
            slot, iteration = int(self._slot[i]), int(self._iteration[i])
            row, since = holds[slot]
            spans.setdefault(row, []).append({"in": since, "out": iteration})
            holds[slot] = (int(self._new[i]), iteration)
        for row, since in holds:
            spans.setdefault(row, []).append({"in": since, "out": None})
        return spans
