"""Between the engine's thread and the window: a timer drains the engine's queue.

No signal crosses a thread. However fast events come, the window gets one batch per beat: the last
Progress of each stage, all metrics in one list, all messages in one list.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import Protocol

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


class Bridge(QObject):
    """Signals of the engine's events, in the window's thread."""

    progress = Signal(object)  # Progress
    metrics = Signal(list)  # list[Metric]
    messages = Signal(list)  # list[Message]
    changed = Signal(object)  # frozenset of table names
    ended = Signal(object)  # Finished | Failed | Cancelled
    idle_changed = Signal(bool)  # True when no job is left

    def __init__(self, engine: EngineLike, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.engine = engine
        self._idle = True
        self._timer = QTimer(self)
        self._timer.setInterval(BEAT)
        self._timer.timeout.connect(self.drain)
        self._timer.start()

    def submit(self, job: Job) -> None:
        """Queues a job; `idle_changed(False)` comes at once."""
        self.engine.submit(job)
        self._tell_idle(False)

    def stop(self) -> None:
        """Ends the beat; what is still in the queue is not told."""
        self._timer.stop()

    def drain(self) -> None:
        """Takes what is in the queue and tells it in batches."""
        busy = self.engine.busy  # asked first: events of a job are in the queue before it ends
        progress: dict[str, Progress] = {}
        metrics: list[Metric] = []
        messages: list[Message] = []
        tables: set[str] = set()
        ends: list[Finished | Failed | Cancelled] = []
        for event in self._take():
            if isinstance(event, Progress):
                progress[event.stage] = event
            elif isinstance(event, Metric):
                metrics.append(event)
            elif isinstance(event, Message):
                messages.append(event)
            elif isinstance(event, Changed):
                tables.update(event.tables)
            else:
                ends.append(event)
        for last in progress.values():
            self.progress.emit(last)
        if metrics:
            self.metrics.emit(metrics)
        if messages:
            self.messages.emit(messages)
        if tables:
            self.changed.emit(frozenset(tables))
        for end in ends:
            self.ended.emit(end)
        self._tell_idle(not busy)

    def _take(self) -> Iterator[Event]:
        for _ in range(MOST):
            try:
                yield self.engine.events.get_nowait()
            except queue.Empty:
                return

    def _tell_idle(self, idle: bool) -> None:
        if idle != self._idle:
            self._idle = idle
            self.idle_changed.emit(idle)
