"""Backups while a window is open: soon after it opened, and then by the hour if work was done.

They are made in a thread of their own, on connections of their own, so nothing waits for them;
one that the window's end breaks off leaves a temporary file that the next one removes.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from swag_studio import backups
from swag_studio.ui.background import Background

AFTER = 15_000  # ms: the window is there and its pages are made
EVERY = 3_600_000  # ms


class Keeper(QObject):
    """Has backups of a project made in time. `told` when one cannot be made."""

    told = Signal(str, str)  # text, level

    def __init__(self, root: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = root
        self._thread = Background(self, "backups")
        self._timer = QTimer(self)
        self._timer.setInterval(AFTER)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        first = self._timer.interval() == AFTER
        self._timer.setInterval(EVERY)
        self.keep(backups.DAILY if first else backups.HOURLY)

    def keep(self, every: timedelta) -> None:
        """Makes a backup if the last is older than `every` and something changed."""
        root = self._root
        self._thread.ask("keep", lambda: backups.keep(root, every), lambda _: None, self._failed)

    def _failed(self, text: str) -> None:
        self.told.emit(text, "warning")

    def stop(self) -> None:
        """No more; one at work may end by itself."""
        self._timer.stop()
        self._thread.close(0)
