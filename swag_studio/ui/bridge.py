"""Between the engine's thread and the window: a timer drains the engine's queue.

No signal crosses a thread. However fast events come, the window gets one batch per beat: the last
Progress of each stage, all metrics in one list, all messages in one list.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from swag_studio.events import (
    Cancelled,
    Changed,
    Event,
    Failed,
    Finished,
    Message,
    Metric,
    Progress,
)

BEAT = 100  # ms
# Events taken per beat at most: at some 2 µs each a beat stays under 20 ms.
MOST = 10_000

Job = Callable[[], Iterator[Event]]


class EngineLike(Protocol):
    """What the window needs of the engine that app.py hands to it."""

    events: queue.SimpleQueue[Event]

    def submit(self, job: Job) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def cancel(self) -> None: ...
    def join(self, timeout: float | None = None) -> bool: ...
    def close(self, timeout: float | None = None) -> bool: ...
    @property
    def busy(self) -> bool: ...
    @property
    def paused(self) -> bool: ...


@dataclass(eq=False, slots=True)
class Task:
    """A submitted job. `until` is the last stage that it runs to, empty for other jobs.

    Its state is set in the engine's thread and only ever moves on.
    """

    name: str
    until: str = ""
    recipe: object = None  # that a run is made with: with another one it is another run
    state: Literal["waiting", "at hand", "over"] = "waiting"

    def watched(self, job: Job) -> Job:
        """The same job, which tells the task where it stands."""

        def watched() -> Iterator[Event]:
            self.state = "at hand"
            try:
                yield from job()
            finally:
                self.state = "over"

        return watched


class Bridge(QObject):
    """Signals of the engine's events, in the window's thread."""

    progress = Signal(object)  # Progress
    metrics = Signal(list)  # list[Metric]
    messages = Signal(list)  # list[Message]
    changed = Signal(object)  # frozenset of table names
    ended = Signal(object)  # Finished | Failed | Cancelled
    idle_changed = Signal(bool)  # True when no job is left
    queue_changed = Signal(list)  # list[Task] that wait

    def __init__(self, engine: EngineLike, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.engine = engine
        self.stage = ""  # the stage at work, as last told
        self._idle = True
        self._submitted = False  # since the last beat began
        self._tasks: list[Task] = []
        self._waiting: list[Task] = []
        self._timer = QTimer(self)
        self._timer.setInterval(BEAT)
        self._timer.timeout.connect(self.drain)
        self._timer.start()

    # --- asking --------------------------------------------------------------------------

    def submit(self, job: Job, name: str = "", until: str = "", recipe: object = None) -> Task:
        """Queues a job; `idle_changed(False)` comes at once.

        A run to the same stage, with the same recipe, as one that waits already is that one.
        """
        for task in self.tasks():
            alike = (task.until, task.recipe) == (until, recipe)
            if until and alike and task.state == "waiting":
                return task
        task = Task(name, until, recipe)
        self._tasks.append(task)
        self._submitted = True
        self.engine.submit(task.watched(job))
        self._tell_idle(False)
        self._tell_queue()
        return task

    def tasks(self) -> list[Task]:
        """The jobs that are not over, in their order."""
        return [task for task in self._tasks if task.state != "over"]

    @property
    def idle(self) -> bool:
        """Whether no job is left, as last told."""
        return self._idle

    def cancel(self) -> None:
        """Cancels the job at hand and drops those that wait."""
        for task in self._tasks:
            if task.state == "waiting":
                task.state = "over"
        self.engine.cancel()
        self._tell_queue()

    def stop(self) -> None:
        """Ends the beat; what is still in the queue is not told."""
        self._timer.stop()

    # --- telling -------------------------------------------------------------------------

    def drain(self) -> None:
        """Takes what is in the queue and tells it in batches."""
        self._submitted = False
        busy = self.engine.busy  # asked first: events of a job are in the queue before it ends
        progress: dict[str, Progress] = {}
        metrics: list[Metric] = []
        messages: list[Message] = []
        tables: set[str] = set()
        ends: list[Finished | Failed | Cancelled] = []
        stage = self.stage  # after all of them
        for event in self._take():
            if isinstance(event, Progress):
                progress.pop(event.stage, None)  # told last is what came last
                progress[event.stage] = event
                stage = event.stage
            elif isinstance(event, Metric):
                metrics.append(event)
            elif isinstance(event, Message):
                messages.append(event)
            elif isinstance(event, Changed):
                tables.update(event.tables)
            else:
                ends.append(event)
                stage = "" if event.stage in ("", stage) else stage
        for last in progress.values():
            self.stage = last.stage
            self.progress.emit(last)
        if metrics:
            self.metrics.emit(metrics)
        if messages:
            self.messages.emit(messages)
        if tables:
            self.changed.emit(frozenset(tables))
        self.stage = stage  # the next job may be at work in the stage that an end tells of
        for end in ends:
            self.ended.emit(end)
        # Who is told of an end may have submitted the next job.
        idle = not (busy or self._submitted) and self.engine.events.empty()
        self._tasks = [] if idle else self.tasks()
        self._tell_queue()
        self._tell_idle(idle)

    def _take(self) -> Iterator[Event]:
        for _ in range(MOST):
            try:
                yield self.engine.events.get_nowait()
            except queue.Empty:
                return

    def _tell_queue(self) -> None:
        waiting = [task for task in self._tasks if task.state == "waiting"]
        if waiting != self._waiting:
            self._waiting = waiting
            self.queue_changed.emit(waiting)

    def _tell_idle(self, idle: bool) -> None:
        if idle != self._idle:
            self._idle = idle
            self.stage = ""
            self.idle_changed.emit(idle)
