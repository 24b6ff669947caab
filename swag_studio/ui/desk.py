"""What an annotator's work comes from and goes to, as the judging widget sees it.

Everything here is in the order shown: which ending is the found one, and what the endings' ids
are, is the desk's own and passes to no widget. `StoreDesk` is the desk of a project; a work packet
has its own.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from swag_studio.errors import ProjectError
from swag_studio.judging import (
    LABELS,
    Annotator,
    Judgement,
    Label,
    Skip,
    Task,
    only_sane,
    shown_order,
)
from swag_studio.project import Project
from swag_studio.records import Context

State = Literal["open", "done", "skipped"]
_STATES: dict[str, State] = {"open": "open", "done": "done", "skipped": "skipped"}


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


class StoreDesk:
    """The desk of one annotator of a project. The queue is kept in memory until `reload`."""

    may_edit = True

    def __init__(self, project: Project, annotator: Annotator) -> None:
        self.name = annotator.name
        self._project, self._store, self._who = project, project.store, annotator.id
        self._seed = project.recipe.run.seed
        self.reload()

    def reload(self) -> None:
        rows = self._store.allocations(self._who)
        self._states: dict[str, State] = {
            task: _STATES[state] for task, _, _, state in rows if state in _STATES
        }
        self._queue = list(self._states)
        self._numbers = {task: i for i, task in enumerate(self._queue)}
        self._times: dict[str, str] = {}  # of the answers and skips that count
        self._seconds: dict[str, float] = {}
        for skip in self._store.skips():
            if skip.annotator_id == self._who and self._states.get(skip.task_id) == "skipped":
                self._times[skip.task_id] = skip.given
        for j in self._store.judgements(annotator_id=self._who):
            self._times[j.task_id], self._seconds[j.task_id] = j.given, j.seconds

    # --- items ---------------------------------------------------------------------------

    def holds(self, key: str) -> bool:
        return key in self._states

    def next(self) -> Item | None:
        return self._item(next((t for t in self._queue if self._states[t] == "open"), ""))

    def before(self, key: str) -> Item | None:
        place = self._numbers.get(key, len(self._queue))
        return self._item(self._first_given(self._queue[:place][::-1]))

    def after(self, key: str) -> Item | None:
        place = self._numbers.get(key, len(self._queue))
        return self._item(self._first_given(self._queue[place + 1 :])) or self.next()

    def last(self, key: str) -> Item | None:
        return self._item(self._last(key))

    def undoable(self, key: str) -> tuple[int, State]:
        if not (task := self._last(key)):
            return 0, "open"
        return self._numbers[task] + 1, self._states[task]

    def _last(self, key: str) -> str:
        times = {
            t: (time, self._numbers[t]) for t, time in self._times.items() if t in self._states
        }
        earlier = [t for t in times if key not in times or times[t] < times[key]]
        return max(earlier, key=times.__getitem__, default="")

    def _first_given(self, tasks: Sequence[str]) -> str:
        return next((t for t in tasks if self._states[t] != "open"), "")

    def _item(self, key: str) -> Item | None:
        if not key:
            return None
        task = self._task(key)
        endings = self._store.endings_by_id(task.endings)
        context = self._context(task)
        if context is None or len(endings) < len(set(task.endings)):
            raise ProjectError(
                f"The text of item {self._numbers[key] + 1} is no longer in the project. Take the "
                "work back on the Agreement page, and give it out anew."
            )
        texts = tuple(endings[task.endings[place]].text for place in self._order(task))
        number, state = self._numbers[key] + 1, self._states[key]
        return Item(key, number, context.sent1, context.sent2, texts, state)

    def _task(self, key: str) -> Task:
        task = self._store.task(key)
        assert task is not None, "an allocation names a task"
        return task

    def _context(self, task: Task) -> Context | None:
        """From any version that has it: its id is its text."""
        for artifact in reversed(self._store.artifacts("prepare")):
            if found := self._store.contexts_by_id(artifact.version, [task.context_id]):
                return found[0]
        return None

    def _order(self, task: Task) -> tuple[int, ...]:
        return shown_order(self._seed, task.id, self._who, len(task.endings))

    # --- answers -------------------------------------------------------------------------

    def given(self, key: str) -> Answer | None:
        rows = list(self._store.judgements(annotator_id=self._who, task_id=key))
        if not rows:
            return None
        j = rows[-1]
        return _shown(Answer(j.labels, j.best, j.second, j.comment, j.seconds), self._place(key))

    def draft(self, key: str) -> Answer | None:
        body = self._store.draft(key, self._who)
        order = self._place(key)
        return _shown(_answer(body, len(order)), order) if body else None

    def keep_draft(self, key: str, answer: Answer | None) -> None:
        body: dict[str, Any] = {}
        if answer is not None:
            a = _stored(answer, self._place(key))
            body = {"labels": a.labels, "best": a.best, "second": a.second}
            body |= {"comment": a.comment, "seconds": round(a.seconds, 1)}
        self._store.put_draft(key, self._who, body)

    def submit(self, key: str, answer: Answer) -> None:
        a = _stored(answer, self._place(key))
        labels = tuple(label for label in a.labels if label is not None)
        assert a.best is not None and a.second is not None and len(labels) == len(a.labels)
        kept = self._store.submit(
            Judgement(
                task_id=key,
                annotator_id=self._who,
                labels=labels,
                best=a.best,
                second=a.second,
                comment=a.comment,
                seconds=round(a.seconds, 1),
            )
        )
        self._states[key] = "done"
        self._times[key], self._seconds[key] = kept.given, kept.seconds

    def skip(self, key: str, reason: str) -> None:
        self._store.skip(Skip(key, self._who, reason))
        self.reload()  # the time of the skip is the store's

    def reopen(self, key: str) -> None:
        self._store.reopen(key, self._who)
        self._states[key] = "open"
        self._times.pop(key, None)

    def _place(self, key: str) -> tuple[int, ...]:
        return self._order(self._task(key))

    # --- standing ------------------------------------------------------------------------

    def standing(self) -> Standing:
        states = list(self._states.values())
        enough = len(self._seconds) >= ENOUGH
        return Standing(
            done=states.count("done"),
            skipped=states.count("skipped"),
            total=len(states),
            seconds=statistics.median(self._seconds.values()) if enough else None,
        )

    def idle(self) -> tuple[str, str]:
        standing = self.standing()
        if standing.total:
            return "", ""
        if not any(a.done for a in self._store.artifacts("filter")):
            return (
                "Nothing can be judged before the filter has finished: it chooses the endings. "
                "Run it on the Filtering page.",
                "Filtering",
            )
        return (
            f"No work has been given out to {self.name}. Give work out on the Agreement page.",
            "Agreement",
        )

    def setting(self, name: str, default: Any) -> Any:
        return self._store.people_setting(self._named(name), default)

    def keep_setting(self, name: str, value: Any) -> None:
        self._store.set_people_setting(self._named(name), value)

    def _named(self, name: str) -> str:
        """Keys are each annotator's own; the guidelines are everyone's."""
        return f"keys/{self._who}" if name == "keys" else name


def _stored(answer: Answer, order: Sequence[int]) -> Answer:
    """From the order shown to the task's: what is shown at i stands at order[i]."""
    labels: list[Label | None] = [None] * len(order)
    for shown, place in enumerate(order):
        labels[place] = answer.labels[shown]
    best, second = (None if i is None else order[i] for i in (answer.best, answer.second))
    return replace(answer, labels=tuple(labels), best=best, second=second)


def _shown(answer: Answer, order: Sequence[int]) -> Answer:
    """From the task's order to the one shown."""
    labels = tuple(answer.labels[place] for place in order)
    best, second = (None if i is None else order.index(i) for i in (answer.best, answer.second))
    return replace(answer, labels=labels, best=best, second=second)


def _answer(body: Mapping[str, Any], size: int) -> Answer:
    """A draft as it was kept; what is damaged in it counts as not given."""

    def place(value: Any) -> int | None:
        return value if isinstance(value, int) and 0 <= value < size else None

    given = body.get("labels")
    if not isinstance(given, list) or len(given) != size:
        given = [None] * size
    labels: tuple[Label | None, ...] = tuple(x if x in LABELS else None for x in given)
    seconds = body.get("seconds")
    return Answer(
        labels=labels,
        best=place(body.get("best")),
        second=place(body.get("second")),
        comment=str(body.get("comment", "")),
        seconds=seconds if isinstance(seconds, float) else 0.0,
    )
