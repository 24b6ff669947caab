"""Off screen, with the engine faked at the seam; nothing may be left running after a test."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["LC_ALL"] = "C.UTF-8"  # Qt warns of a locale that is not UTF-8

import pytest
import shiboken6
from fakes import FakeEngine, FakeJobs
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from waiting import PATIENCE, end

from swag_studio.project import Project
from swag_studio.settings import Settings
from swag_studio.ui import application as application_module
from swag_studio.ui import closing, keeping, restoring
from swag_studio.ui.application import Application, Parts
from swag_studio.ui.bridge import Bridge
from swag_studio.ui.theme import LIGHT
from swag_studio.ui.workspace import Workspace

for name in ("QT_SCALE_FACTOR", "QT_SCREEN_SCALE_FACTORS", "QT_FONT_DPI", "QT_STYLE_OVERRIDE"):
    os.environ.pop(name, None)  # a person's, for their own screen


@pytest.fixture(autouse=True)
def nothing_is_left(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[None]:
    """No window, thread or timer outlives its test.

    What a test leaves that passed is an error. What one leaves that failed is put away, so that
    the tests after it do not fail as well.
    """
    # Else the last window that closes sets Qt's quit flag, and no later event loop runs.
    qapp.setQuitOnLastWindowClosed(False)
    font, style, palette = qapp.font(), qapp.styleSheet(), qapp.palette()
    before, failures = set(threading.enumerate()), request.session.testsfailed
    yield
    qapp.processEvents()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [*_threads_left(before), *_timers_left(), *_windows_left(qapp)]
    qapp.setStyleSheet(style)
    qapp.setPalette(palette)
    qapp.setFont(font)
    if request.session.testsfailed == failures:
        assert left == []


def _threads_left(before: set[threading.Thread]) -> list[str]:
    """Threads that do not end. One that was told to gets the time that it needs."""
    ours = (t for t in threading.enumerate() if t.name in ("engine", "reader"))
    until = time.monotonic() + PATIENCE / 1000
    new = [thread for thread in ours if thread not in before]
    for thread in new:
        thread.join(max(0.0, until - time.monotonic()))
    return [f"thread {thread.name}" for thread in new if thread.is_alive()]


def _timers_left() -> list[str]:
    """Timers that run, which are stopped: told once, by the test that left them."""
    told = []
    for timer in [o for o in gc.get_objects() if type(o) is QTimer]:
        with suppress(RuntimeError):  # it is gone, as a thread that ends may take its own away
            if timer.isActive():
                timer.stop()
                told.append(f"timer of {timer.parent()}")
    return told


def _windows_left(qapp: QApplication) -> list[str]:
    """Windows that can be seen, which are put away: they would take what others are to get."""
    seen = [window for window in qapp.topLevelWidgets() if window.isVisible()]
    told = [f"{type(window).__name__} {window.windowTitle()}" for window in seen]
    for window in seen:
        window.hide()
        window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return told


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program breaks off after a moment has its time, and nothing comes by the hour."""
    for module, name, value in (
        (closing, "MOMENT", PATIENCE / 1000),
        (application_module, "LEAVE_WITHIN", PATIENCE),
        (restoring, "LEAVE_WITHIN", PATIENCE / 1000),
        (keeping, "AFTER", 100 * PATIENCE),
    ):
        monkeypatch.setattr(module, name, value)


class PatientBot(QtBot):
    """Waits for what must come also on a machine that is busy with other things."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE) -> None:
        super().waitUntil(callback, timeout=max(timeout, PATIENCE))

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE, **more: Any) -> Any:
        return super().waitSignal(signal, timeout=max(timeout, PATIENCE), **more)

    def waitExposed(self, widget: QWidget, *, timeout: int = PATIENCE) -> Any:
        return super().waitExposed(widget, timeout=max(timeout, PATIENCE))

    def waitActive(self, widget: QWidget, *, timeout: int = PATIENCE) -> Any:
        return super().waitActive(widget, timeout=max(timeout, PATIENCE))


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def jobs() -> FakeJobs:
    return FakeJobs()


@pytest.fixture
def workspace(
    qtbot: QtBot, project: Project, engine: FakeEngine, jobs: FakeJobs
) -> Iterator[Workspace]:
    """An empty project, for a page by itself."""
    bridge = Bridge(engine)
    workspace = Workspace(project, bridge, jobs, LIGHT, Settings())
    yield workspace
    # SQLite's connections must not be closed under a thread that uses them.
    assert workspace.reader.close(PATIENCE / 1000)
    if shiboken6.isValid(bridge):  # a window takes its bridge with it
        bridge.stop()


@pytest.fixture
def settle(engine: FakeEngine, workspace: Workspace) -> Callable[[], None]:
    """Has the engine do all its jobs, and the window hear of it."""

    def settle() -> None:
        while engine.busy:
            engine.work()
            workspace.bridge.drain()
        workspace.bridge.drain()

    return settle


@pytest.fixture
def application(qapp: QApplication, jobs: FakeJobs, tmp_path: Path) -> Iterator[Application]:
    """The application with fake engines and a profile of its own."""
    parts = Parts(FakeEngine, jobs, tmp_path / "profile" / "logs", tmp_path / "profile")
    application = Application(qapp, parts)
    yield application
    end(application)
