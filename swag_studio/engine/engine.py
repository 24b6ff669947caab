"""The background thread: pulls one generator of events after another for a window.

Cancel and pause act between two events, so that a stage is only ever left where it is whole.
It knows neither Qt nor the stages: a job is any function that returns an iterator of events.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress

from swag_studio.errors import UserError, in_words
from swag_studio.events import Cancelled, Event, Failed

NICENESS = 10  # of the engine's threads; the window's stays at 0

Job = Callable[[], Iterator[Event]]


class Engine:
    """Runs jobs in the order they were submitted. Every method may be called from any thread.

    What the jobs yield comes out of `events`. A job that raises ends with Failed, one that was
    cancelled with Cancelled; no job can take the thread down.
    """

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._jobs: list[Job] = []
        self._turn = threading.Condition()
        self._running = False  # a job is at hand
        self._paused = False
        self._cancelled = False  # the job at hand is to stop
        self._closed = False
        self._thread: threading.Thread | None = None

    # --- asked from outside ------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        """Queues a job and starts the thread if there is none yet."""
        with self._turn:
            if self._closed:
                raise RuntimeError("the engine is closed")
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="engine", daemon=True)
                self._thread.start()
            self._turn.notify_all()

    @property
    def busy(self) -> bool:
        """Whether a job is at hand or queued. All of a job's events are out when it ends."""
        with self._turn:
            return self._running or bool(self._jobs)

    @property
    def paused(self) -> bool:
        with self._turn:
            return self._paused

    def pause(self) -> None:
        """Stops pulling after the event at hand."""
        with self._turn:
            self._paused = True

    def resume(self) -> None:
        with self._turn:
            self._paused = False
            self._turn.notify_all()

    def cancel(self) -> None:
        """Ends the job at hand after its next event, also when paused; drops those queued."""
        with self._turn:
            self._jobs.clear()
            self._cancelled = self._running
            self._paused = False
            self._turn.notify_all()

    def join(self, timeout: float | None = None) -> bool:
        """Waits until nothing is left to do; False when `timeout` seconds were not enough."""
        with self._turn:
            return self._turn.wait_for(lambda: not (self._running or self._jobs), timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Cancels, ends the thread, and waits for it. False when it has not ended in time."""
        until = None if timeout is None else time.monotonic() + timeout
        self.cancel()
        with self._turn:
            self._closed = True
            thread = self._thread
            self._turn.notify_all()
        if thread is None:
            return True
        thread.join(None if until is None else max(0.0, until - time.monotonic()))
        return not thread.is_alive()

    # --- the thread --------------------------------------------------------------------------

    def _work(self) -> None:
        _give_way()
        while (job := self._next_job()) is not None:
            try:
                self._pull(job)
            finally:
                with self._turn:
                    self._running = self._cancelled = False
                    self._turn.notify_all()

    def _next_job(self) -> Job | None:
        with self._turn:
            self._turn.wait_for(lambda: self._closed or bool(self._jobs))
            if not self._jobs:
                return None
            self._running = True
            return self._jobs.pop(0)

    def _pull(self, job: Job) -> None:
        """One job from its first event to its last, with its end told as an event."""
        stage = ""
        events: Iterator[Event] | None = None
        try:
            try:
                events = job()
                while self._may_go_on():
                    event = next(events, None)
                    if event is None:
                        return
                    stage = getattr(event, "stage", stage)
                    self.events.put(event)
            finally:
                if events is not None and hasattr(events, "close"):
                    events.close()
            self.events.put(Cancelled(stage))
        except UserError as error:
            self.events.put(Failed(stage, str(error)))
        except BaseException as error:
            fault = f"SWAG Studio stopped on a fault of its own ({type(error).__name__})."
            self.events.put(Failed(stage, in_words(error, fault), traceback.format_exc()))

    def _may_go_on(self) -> bool:
        """Waits while paused. False when the job is to stop."""
        with self._turn:
            self._turn.wait_for(lambda: not self._paused or self._cancelled)
            return not self._cancelled


def _give_way() -> None:
    """Lets the window's thread go first where both want a core: on Linux a thread has a niceness.

    The threads that torch starts inherit it.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
