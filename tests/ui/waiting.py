"""Waiting for what must come, however busy the machine is; nothing here goes by the clock."""

from __future__ import annotations

import time

import shiboken6
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from swag_studio.ui.application import Application
from swag_studio.ui.background import Background
from swag_studio.ui.main_window import MainWindow

PATIENCE = 60_000  # ms


def at_rest(qtbot: QtBot, reader: Background) -> None:
    """Until all is read and told, what answers ask for too, and all is laid out and painted.

    What was to be deleted is gone.
    """

    def resting() -> bool:
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        tops = QApplication.topLevelWidgets()
        soon = (t for top in tops for t in top.findChildren(QTimer) if not t.interval())
        return not reader.busy and not any(timer.isActive() for timer in soon)

    qtbot.waitUntil(resting)


def leave(qtbot: QtBot, window: MainWindow) -> None:
    """Leaves a window, and waits until no thread uses its project any more."""
    if shiboken6.isValid(window):
        window.leave()
        qtbot.waitUntil(lambda: not shiboken6.isValid(window) or window.closing._finished)


def end(application: Application) -> None:
    """Closes all that is open, waits until no thread uses it any more, and ends."""
    application.quitting = False  # the last window must not end the test run's event loops
    application.packets.leave(asking=False)
    for window in list(application.windows):
        window.leave()
    if application.start_window is not None:
        application.start_window.close()
    until = time.monotonic() + PATIENCE / 1000
    while application.windows and time.monotonic() < until:  # their readers may be at work
        QTest.qWait(10)
    application.shut_down()
