"""Leaving a project while its engine, its reader or a dialog is busy; fake engines."""

from __future__ import annotations

import dataclasses
import threading

import pytest
from fakes import FakeEngine, FakeJobs
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from swag_studio.project import Project
from swag_studio.ui import closing
from swag_studio.ui.application import Application
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.sources_page import SourcesPage

WITHIN = 30_000  # ms: for a machine that does much else


class StuckEngine(FakeEngine):
    """In a step that takes its time: it is busy, also when cancelled, until `release`."""

    stuck = False

    @property
    def busy(self) -> bool:
        return self.stuck or super().busy

    def release(self) -> None:
        self.stuck = False


@pytest.fixture
def window(application: Application, project: Project) -> MainWindow:
    """A window with an engine that can be stuck."""
    project.close()
    application.parts = dataclasses.replace(application.parts, make_engine=StuckEngine)
    window = application.open(project.root)
    assert window is not None
    return window


@pytest.fixture
def engine(window: MainWindow, jobs: FakeJobs) -> StuckEngine:
    """The window's engine, in a step of a run."""
    jobs.endless = True
    window.workspace.run_until("filter")
    engine = window.workspace.bridge.engine
    assert isinstance(engine, StuckEngine)
    engine.step()
    engine.stuck = True
    return engine


@pytest.fixture
def ends(application: Application) -> list[str]:
    """Grows when the application has nothing to stay for."""
    ends: list[str] = []
    application.over.connect(lambda: ends.append("over"))
    return ends


def test_the_window_hides_at_once_and_the_project_closes_after_the_step(
    qtbot: QtBot, application: Application, window: MainWindow, engine: StuckEngine, ends: list[str]
) -> None:
    root = window.workspace.project.root
    settings = application.show_settings(window)
    window.leave()
    assert not window.isVisible() and not settings.isVisible()
    assert (root / "lock.json").exists() and ends == []
    engine.release()
    qtbot.waitUntil(lambda: bool(ends), timeout=WITHIN)
    assert application.windows == [] and engine.closed
    assert not (root / "lock.json").exists()


def test_a_project_that_is_still_closing_is_not_opened_anew(
    qtbot: QtBot, application: Application, window: MainWindow, engine: StuckEngine, ends: list[str]
) -> None:
    root = window.workspace.project.root
    window.leave()
    assert application.open(root) is None
    start = application.start_window
    assert start is not None and "is still being closed" in start.problem.text()
    engine.release()
    qtbot.waitUntil(lambda: application.windows == [], timeout=WITHIN)
    assert application.open(root) is not None and ends == []


def test_a_step_that_takes_too_long_is_not_waited_for(
    qtbot: QtBot, application: Application, window: MainWindow, engine: StuckEngine, ends: list[str]
) -> None:
    application._deadline.setInterval(10)
    window.leave()
    qtbot.waitUntil(lambda: bool(ends), timeout=WITHIN)
    assert application.windows == [window] and not engine.closed
    window.workspace.project.store.sources()  # nothing is closed under the thread
    engine.release()
    qtbot.waitUntil(lambda: application.windows == [], timeout=WITHIN)


def test_while_a_window_is_open_a_long_step_has_all_its_time(
    qtbot: QtBot, application: Application, window: MainWindow, engine: StuckEngine, ends: list[str]
) -> None:
    application._deadline.setInterval(10)
    application.show_start()
    window.leave()
    qtbot.wait(100)
    assert ends == [] and application.windows == [window]
    engine.release()
    qtbot.waitUntil(lambda: application.windows == [], timeout=WITHIN)
    assert ends == []
    start = application.start_window
    assert start is not None
    start.close()
    qtbot.waitUntil(lambda: bool(ends), timeout=WITHIN)


def test_the_project_stays_open_while_a_page_reads(
    qtbot: QtBot,
    application: Application,
    window: MainWindow,
    ends: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on, told = threading.Event(), threading.Event(), []

    def read() -> int:
        begun.set()
        assert go_on.wait(WITHIN)
        return len(window.workspace.project.store.sources())

    window.workspace.reader.ask("a page", read, told.append)
    assert begun.wait(WITHIN)
    with monkeypatch.context() as patch:
        patch.setattr(closing, "MOMENT", 0.01)
        window.close()
    assert not window.isVisible() and application.windows == [window]
    go_on.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=WITHIN)
    assert application.windows == [] and told == []


def test_a_signal_while_one_is_asked_pauses(
    qtbot: QtBot, application: Application, window: MainWindow, engine: StuckEngine, ends: list[str]
) -> None:
    engine.release()
    window.close()
    assert isinstance(window.closing.box, QMessageBox)
    application.quit()
    qtbot.waitUntil(lambda: bool(ends), timeout=WITHIN)  # a page may be read for
    assert application.windows == []
    again = application.open(window.workspace.project.root)
    assert again is not None and "Filtering was paused" in again.job_panel.latest.text()


def test_the_end_may_come_in_the_loop_of_a_file_dialog(
    qtbot: QtBot,
    qapp: QApplication,
    application: Application,
    window: MainWindow,
    ends: list[str],
) -> None:
    seen: list[bool] = []

    def end() -> None:
        seen.append(isinstance(qapp.activeModalWidget(), QFileDialog))
        application.quit()

    page = window.page(0)
    assert isinstance(page, SourcesPage)
    QTimer.singleShot(0, end)
    page.choose()
    assert seen == [True] and page.queue.files == [] and not window.isVisible()
    qtbot.waitUntil(lambda: bool(ends), timeout=WITHIN)  # a page may be read for
    assert application.windows == []


def test_two_signals_end_once(
    qtbot: QtBot, application: Application, window: MainWindow, engine: StuckEngine
) -> None:
    application.quit()
    assert application.quitting
    application._asked_to_quit = True
    application._look()
    assert application.windows == [window] and engine.cancelled == 1
    engine.release()
    qtbot.waitUntil(lambda: application.windows == [], timeout=WITHIN)
