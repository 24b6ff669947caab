"""What an annotator's work comes from and goes to, as the judging widget sees it.

Everything here is in the order shown: which ending is the found one, and what the endings' ids
are, is the desk's own and passes to no widget. store_desk.py has the desk of a project,
packet_window.py that of a work packet.
"""

from __future__ import annotations

import statistics
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from swag_studio.judging import Label, only_sane

State = Literal["open", "done", "skipped"]


@dataclass(frozen=True, slots=True)
class Item:
    """A task as its annotator sees it. `key` is the desk's own; `number` counts from 1."""

    key: str
    number: int
    sent1: str
    opening: str
    endings: tuple[str, ...]
    state: State = "open"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as far as it is given, in the order shown; `seconds` is active time.

    `seconds` of a correction includes the time of the answer that it corrects.
    """

    labels: tuple[Label | None, ...]
    best: int | None = None
    second: int | None = None
    comment: str = ""
    seconds: float = 0.0

    @staticmethod
    def empty(size: int) -> Answer:
        """Nothing given yet."""
        return Answer((None,) * size)

    def same_as(self, other: Answer) -> bool:
        """Whether it says the same; the time that it took is no matter."""
        return replace(self, seconds=0.0) == replace(other, seconds=0.0)

    def labelled(self, place: int, label: Label) -> tuple[Answer, str]:
        """With a label; a rank that gibberish cannot have is taken away, which is then told."""
        labels = (*self.labels[:place], label, *self.labels[place + 1 :])
        answer, told = replace(self, labels=labels), ""
        if label == "gibberish" and place == self.best:
            answer, told = replace(answer, best=None), "No longer best: it is gibberish now."
        elif label == "gibberish" and place == self.second:
            answer = replace(answer, second=None)
            told = "No longer second best: it is gibberish now."
        return answer, told

    def ranked(self, place: int, rank: Literal["best", "second"]) -> tuple[Answer, str]:
        """With the rank at `place`, taken from where it was; given twice, it is taken away.

        An ending has one rank: the newer one. Refused for gibberish, which is then told; but
        where nothing makes sense beside the best ending, some gibberish has to be second.
        """
        words = "best" if rank == "best" else "second best"
        only = rank == "second" and self.best is not None and only_sane(self.labels, self.best)
        if self.labels[place] == "gibberish" and not only:
            return self, f"Gibberish cannot be {words}. Change its label first."
        taken = place == (self.best if rank == "best" else self.second)
        best = None if self.best == place else self.best
        second = None if self.second == place else self.second
        if rank == "best":
            best = None if taken else place
        else:
            second = None if taken else place
        return replace(self, best=best, second=second), ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far an annotator is. `seconds` is their median per item, None before `ENOUGH` items."""

    done: int
    skipped: int
    total: int
    seconds: float | None = None


ENOUGH = 3  # answers before a median says anything


class Desk(Protocol):
    """An annotator's work. All writes raise what the machine does to us; `submit` is durable."""

    name: str  # the annotator's, as shown
    may_edit: bool  # whether the guidelines can be changed here

    def reload(self) -> None:
        """Rows may have changed elsewhere."""
        ...

    def holds(self, key: str) -> bool:
        """Whether an item is still the annotator's to judge."""
        ...

    def next(self) -> Item | None:
        """The first open item."""
        ...

    def before(self, key: str) -> Item | None:
        """The nearest item before, in the order of work, that was answered or skipped.

        `key` "" stands for the end of all work.
        """
        ...

    def after(self, key: str) -> Item | None:
        """As `before`, the other way; at last the first open item."""
        ...

    def last(self, key: str) -> Item | None:
        """What was answered or skipped last, in time; given such an item, the one before it."""
        ...

    def undoable(self, key: str) -> tuple[int, State]:
        """The number and state of what `last` gives; 0 for nothing."""
        ...

    def given(self, key: str) -> Answer | None:
        """The annotator's own answer that counts."""
        ...

    def draft(self, key: str) -> Answer | None:
        """What was half-given."""
        ...

    def keep_draft(self, key: str, answer: Answer | None) -> None:
        """Keeps a half-given answer; None forgets it."""
        ...

    def submit(self, key: str, answer: Answer) -> None:
        """Gives a whole answer; on the disk when this returns."""
        ...

    def skip(self, key: str, reason: str) -> None: ...

    def reopen(self, key: str) -> None:
        """Puts a skipped item back where it stood."""
        ...

    def standing(self) -> Standing: ...

    def idle(self) -> tuple[str, str]:
        """Why there is nothing to judge and what to do, and the title of a page that helps."""
        ...

    def setting(self, name: str, default: Any) -> Any:
        """ "guidelines" (Markdown) or "keys" (action -> key)."""
        ...

    def keep_setting(self, name: str, value: Any) -> None: ...


class QueueDesk(ABC):
    """The part of a desk that follows from an order of work, states and times, all in memory.

    A subclass says what they are, and makes the items.
    """

    _queue: list[str]  # keys, in the order of work
    _numbers: dict[str, int]

    def _line_up(self, keys: Iterable[str]) -> None:
        self._queue = list(keys)
        self._numbers = {key: i for i, key in enumerate(self._queue)}

    @abstractmethod
    def _state(self, key: str) -> State: ...

    @abstractmethod
    def _times(self) -> Mapping[str, str]:
        """Key -> when it was answered or skipped, of what counts."""

    @abstractmethod
    def _paces(self) -> Collection[float]:
        """The seconds of each answer that counts."""

    @abstractmethod
    def _make(self, key: str, number: int, state: State) -> Item: ...

    def holds(self, key: str) -> bool:
        return key in self._numbers

    def next(self) -> Item | None:
        return self._item(next((k for k in self._queue if self._state(k) == "open"), ""))

    def before(self, key: str) -> Item | None:
        place = self._numbers.get(key, len(self._queue))
        return self._item(self._first_given(self._queue[:place][::-1]))

    def after(self, key: str) -> Item | None:
        place = self._numbers.get(key, len(self._queue))
        return self._item(self._first_given(self._queue[place + 1 :])) or self.next()

    def last(self, key: str) -> Item | None:
        return self._item(self._last(key))

    def undoable(self, key: str) -> tuple[int, State]:
        found = self._last(key)
        return (self._numbers[found] + 1, self._state(found)) if found else (0, "open")

    def standing(self) -> Standing:
        states, seconds = [self._state(key) for key in self._queue], self._paces()
        return Standing(
            done=states.count("done"),
            skipped=states.count("skipped"),
            total=len(states),
            seconds=statistics.median(seconds) if len(seconds) >= ENOUGH else None,
        )

    def _last(self, key: str) -> str:
        times = {k: (time, self._numbers[k]) for k, time in self._times().items()}
        earlier = [k for k in times if key not in times or times[k] < times[key]]
        return max(earlier, key=times.__getitem__, default="")

    def _first_given(self, keys: Iterable[str]) -> str:
        return next((k for k in keys if self._state(k) != "open"), "")

    def _item(self, key: str) -> Item | None:
        return self._make(key, self._numbers[key] + 1, self._state(key)) if key else None
