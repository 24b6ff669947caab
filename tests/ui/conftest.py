"""Off screen, with the engine faked at the seam; nothing may be left running after a test."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
import shiboken6
from fakes import FakeEngine, FakeJobs
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from swag_studio.project import Project
from swag_studio.settings import Settings
from swag_studio.ui.application import Application, Parts
from swag_studio.ui.bridge import Bridge
from swag_studio.ui.theme import LIGHT
from swag_studio.ui.workspace import Workspace

PATIENCE = 60_000  # ms


@pytest.fixture(autouse=True)
def nothing_is_left(qapp: QApplication) -> Iterator[None]:
    """No window, thread or timer outlives its test."""
    # Else the last window that closes sets Qt's quit flag, and no later event loop runs.
    qapp.setQuitOnLastWindowClosed(False)
    font, style = qapp.font(), qapp.styleSheet()
    yield
    qapp.processEvents()
    left = [t.name for t in threading.enumerate() if t.name in ("engine", "reader")]
    assert left == [], "threads are left"
    timers = [o for o in gc.get_objects() if type(o) is QTimer]
    ticking = [timer for timer in timers if shiboken6.isValid(timer) and timer.isActive()]
    for timer in ticking:
        timer.stop()  # told once, by the test that left it
    assert ticking == [], "timers are left"
    qapp.setStyleSheet(style)
    qapp.setFont(font)


class PatientBot(QtBot):
    """Waits for what must come also on a machine that is busy with other things."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE) -> None:
        super().waitUntil(callback, timeout=max(timeout, PATIENCE))

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE, **more: Any) -> Any:
        return super().waitSignal(signal, timeout=max(timeout, PATIENCE), **more)


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
    workspace.reader.close()
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
    application.quitting = False  # the last window must not end the test run's event loops
    for window in list(application.windows):
        window.leave()
    if application.start_window is not None:
        application.start_window.close()
    until = time.monotonic() + PATIENCE / 1000
    while application.windows and time.monotonic() < until:  # their readers may be at work
        QTest.qWait(10)
    application.shut_down()
