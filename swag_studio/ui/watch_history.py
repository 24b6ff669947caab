"""What watched contexts held after each iteration of a filter run, and how it is read.

`read` is for the reading thread; the window replays what it brought, so that stepping through the
iterations reads nothing. It knows no widgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from swag_studio.project import Project
from swag_studio.ui.workspace import Jobs
from swag_studio.views import ContextRow, Origin, WatchReader

AT_FIRST = 3  # contexts that are watched before anyone chose

Change = tuple[int, int, str, str]  # iteration, slot, text out, text in


@dataclass(frozen=True, slots=True)
class Held:
    """One distractor: its place from 1, its text, the iteration from 0 that brought it in (-1:
    the first draw, or with an `origin` an earlier run), and what it displaced then."""

    place: int
    text: str
    since: int = -1
    displaced: str = ""
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class History:
    """With what a run began in one context, by slot, and every change since, in order."""

    first: tuple[str, ...]
    changes: tuple[Change, ...]  # the slot as a place from 1
    origins: tuple[Origin | None, ...]  # of the first ones: how they came in in an earlier run

    @classmethod
    def of(cls, reader: WatchReader, place: int, iterations: int) -> History:
        slots = sorted(reader.slots(place, 0), key=lambda slot: slot.slot)
        places = {slot.slot: number for number, slot in enumerate(slots, 1)}
        changes = (c for c in reader.changes(place) if c[0] < iterations)
        return cls(
            tuple(slot.text for slot in slots),
            tuple((i, places[slot], out, into) for i, slot, out, into in changes),
            tuple(slot.origin for slot in slots),
        )

    def after(self, iterations: int) -> list[Held]:
        """The k distractors after so many iterations, by place."""
        first = enumerate(zip(self.first, self.origins, strict=True), 1)
        held = {place: Held(place, text, origin=origin) for place, (text, origin) in first}
        for iteration, place, out, into in self.changes:
            if iteration < iterations:
                held[place] = Held(place, into, iteration, out)
        return list(held.values())

    def changed_in(self, iteration: int) -> int:
        """How many distractors an iteration, counted from 0, replaced."""
        return sum(change[0] == iteration for change in self.changes)


class Contexts:
    """The contexts of a run by place, to look up and to search."""

    def __init__(self, rows: Sequence[ContextRow]) -> None:
        self.rows = list(rows)
        self.by_id = {row.id: row for row in self.rows}
        self._folded = [f"{row.sent1} {row.sent2}".casefold() for row in self.rows]

    def holding(self, text: str) -> list[ContextRow]:
        """Those that hold all words of `text`, in whatever case."""
        words = text.casefold().split()
        pairs = zip(self.rows, self._folded, strict=True)
        return [row for row, folded in pairs if all(word in folded for word in words)]


@dataclass(frozen=True)
class Reading:
    """What was read of one version. The reader stays in the reading thread."""

    version: int
    reader: WatchReader
    contexts: Contexts
    iterations: int
    histories: dict[str, History] = field(default_factory=dict)  # by the context's id


def read(
    jobs: Jobs, project: Project, version: int, ids: Sequence[str] | None, known: Reading | None
) -> Reading:
    """How the contexts `ids`, else the first ones, went; of what is `known` only what is new."""
    if known is None or known.version != version or not known.contexts.rows:
        reader = jobs.watch(project, version)
        iterations = reader.iterations()  # first: what a run commits meanwhile comes next time
        contexts, histories = Contexts(reader.contexts()), dict[str, History]()
    else:
        reader, contexts = known.reader, known.contexts
        iterations = reader.iterations()
        histories = known.histories if iterations == known.iterations else {}
    wanted = [row.id for row in contexts.rows[:AT_FIRST]] if ids is None else ids
    return Reading(
        version,
        reader,
        contexts,
        iterations,
        {
            id: histories.get(id) or History.of(reader, contexts.by_id[id].place, iterations)
            for id in wanted
            if id in contexts.by_id
        },
    )
