"""Reads for pages that may take longer than a frame, in one thread beside the window.

A page asks under a key; of several asks under one key that wait, only the newest is done. The
answer comes by signal in the window's thread. It knows nothing of what is read.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from swag_studio.errors import in_words

log = logging.getLogger(__name__)

Work = Callable[[], Any]


class Background(QObject):
    """One thread that reads. `close` ends it; what is unread by then is dropped."""

    _answered = Signal(object, object, object)  # then, result, error: crosses threads by the queue

    def __init__(self, parent: QObject | None = None, name: str = "reader") -> None:
        super().__init__(parent)
        self._name = name
        self._waiting: dict[str, tuple[Work, Callable[[Any], None], Callable[[str], None]]] = {}
        self._turn = threading.Condition()
        self._closed = False
        self._at_work = False
        self._untold = 0  # answers on their way to the window's thread
        self._thread: threading.Thread | None = None
        self._answered.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def ask(
        self,
        key: str,
        work: Work,
        then: Callable[[Any], None],
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Has `work` done in the thread and hands its result to `then` in the window's thread.

        On an exception `failed` gets it in words; the traceback goes to the log.
        """
        with self._turn:
            if self._closed:
                return
            self._waiting.pop(key, None)  # to the end of the queue
            self._waiting[key] = (work, then, failed or (lambda _: None))
            if self._thread is None:  # none is needed before the first ask
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._turn.notify()

    @property
    def busy(self) -> bool:
        """Whether something waits, is being read, or was read and is not yet told."""
        with self._turn:
            return self._at_work or bool(self._waiting or self._untold)

    def close(self, timeout: float = 5.0) -> bool:
        """Drops what waits and ends the thread. False when it has not ended in time."""
        with self._turn:
            self._closed = True
            self._waiting.clear()
            self._turn.notify()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._turn:
                self._at_work = False
                self._turn.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                key = next(iter(self._waiting))
                work, then, failed = self._waiting.pop(key)
                self._at_work = True
            try:
                result = work()
            except Exception as error:
                log.warning("a read for %s failed", key, exc_info=True)
                fault = f"A fault of the program ({type(error).__name__}); the log has more."
                self._send(failed, in_words(error, fault))
            else:
                self._send(then, result)

    def _send(self, then: Callable[[Any], None], result: Any) -> None:
        with self._turn:
            if not self._closed:
                self._untold += 1
                self._answered.emit(then, result, None)

    def _tell(self, then: Callable[[Any], None], result: Any, _: object) -> None:
        try:
            if not self._closed:
                then(result)  # what it asks for is asked before this counts as told
        finally:
            with self._turn:
                self._untold -= 1
