"""The desk of one annotator of a project: work is given out, and kept, in its store.

It turns what is shown, in an order of each annotator's own, into what the store keeps, and back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from swag_studio.errors import ProjectError
from swag_studio.judging import (
    LABELS,
    Annotator,
    Judgement,
    Label,
    Skip,
    Task,
    shown_order,
)
from swag_studio.project import Project
from swag_studio.records import Context
from swag_studio.ui.desk import Answer, Item, QueueDesk, State

_STATES: dict[str, State] = {"open": "open", "done": "done", "skipped": "skipped"}


class StoreDesk(QueueDesk):
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
        self._line_up(self._states)
        self._when: dict[str, str] = {}  # of the answers and skips that count
        self._seconds: dict[str, float] = {}
        for skip in self._store.skips():
            if skip.annotator_id == self._who and self._states.get(skip.task_id) == "skipped":
                self._when[skip.task_id] = skip.given
        for j in self._store.judgements(annotator_id=self._who):
            self._when[j.task_id], self._seconds[j.task_id] = j.given, j.seconds

    # --- items ---------------------------------------------------------------------------

    def _state(self, key: str) -> State:
        return self._states[key]

    def _times(self) -> Mapping[str, str]:
        return {task: time for task, time in self._when.items() if task in self._states}

    def _paces(self) -> Collection[float]:
        return self._seconds.values()

    def _make(self, key: str, number: int, state: State) -> Item:
        task = self._task(key)
        endings = self._store.endings_by_id(task.endings)
        context = self._context(task)
        if context is None or len(endings) < len(set(task.endings)):
            raise ProjectError(
                f"The text of item {number} is no longer in the project. Take the work back on "
                "the Agreement page, and give it out anew."
            )
        texts = tuple(endings[task.endings[place]].text for place in self._order(task))
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
        self._when[key], self._seconds[key] = kept.given, kept.seconds

    def skip(self, key: str, reason: str) -> None:
        self._store.skip(Skip(key, self._who, reason))
        self.reload()  # the time of the skip is the store's

    def reopen(self, key: str) -> None:
        self._store.reopen(key, self._who)
        self._states[key] = "open"
        self._when.pop(key, None)

    def _place(self, key: str) -> tuple[int, ...]:
        return self._order(self._task(key))

    # --- the rest ------------------------------------------------------------------------

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
