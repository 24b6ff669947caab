"""Backups in the window: made in time, listed, and put back when a database is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from fakes import FakeJobs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from swag_studio import backups
from swag_studio import recipe as recipes
from swag_studio.project import Project
from swag_studio.records import SourceInfo
from swag_studio.ui.application import Application, Parts
from swag_studio.ui.faults import CRASHES
from swag_studio.ui.keeping import Keeper
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.restoring import BackupsDialog

LEFT = Qt.MouseButton.LeftButton
NOON = datetime(2026, 11, 29, 12, 0, 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A closed project with one source."""
    with Project.create(tmp_path / "mine.swag", recipes.preset("small")) as project:
        add_source(project, "s1")
    return tmp_path / "mine.swag"


def add_source(project: Project, name: str) -> None:
    info = SourceInfo(name, f"{name}.csv", "csv", name, 1, 1, 1, 0)
    project.store.stage_source(info)
    project.store.publish_source(info)


def sources(window: MainWindow) -> list[str]:
    return [source.id for source in window.workspace.project.store.sources()]


def messages(window: MainWindow) -> str:
    return window.job_panel.list.text()


def in_front(application: Application) -> MainWindow:
    (window,) = application.windows
    assert application.start_window is None
    return window


# --- a damaged database ------------------------------------------------------------------------


@pytest.mark.parametrize("bytes_", [None, b"", b"no database " * 1000])
def test_the_start_window_restores_the_newest_backup(
    qtbot: QtBot, application: Application, root: Path, bytes_: bytes | None
) -> None:
    backups.make(root, NOON)
    database = root / "project.db"
    database.unlink() if bytes_ is None else database.write_bytes(bytes_)
    application.start([root])
    start = application.start_window
    assert start is not None and "project.db" in start.problem.text()
    assert start.remedy.isVisible()
    assert start.remedy.text() == "Restore the backup of 2026-11-29 12:00"
    qtbot.mouseClick(start.remedy, LEFT)
    window = in_front(application)
    assert sources(window) == ["s1"]
    assert "The backup of 2026-11-29 12:00 is in place." in messages(window)


def test_a_damaged_backup_makes_way_for_an_older_one(
    qtbot: QtBot, application: Application, root: Path
) -> None:
    backups.make(root, NOON)
    for day in (1, 2):
        backups.make(root, NOON + timedelta(days=day)).path.write_bytes(b"junk" * 2000)
    (root / "project.db").unlink()
    application.start([root])
    start = application.start_window
    assert start is not None
    for offered in ("12-01 12:00", "11-30 12:00", "11-29 12:00"):
        assert start.remedy.text().endswith(offered)
        qtbot.mouseClick(start.remedy, LEFT)
    assert sources(in_front(application)) == ["s1"]


def test_without_a_backup_nothing_is_offered(application: Application, root: Path) -> None:
    (root / "project.db").unlink()
    application.start([root])
    assert application.start_window is not None
    assert application.start_window.problem.isVisible()
    assert application.start_window.remedy.isHidden()


def test_a_project_of_a_newer_program_is_not_to_be_restored(
    application: Application, root: Path
) -> None:
    backups.make(root)
    with Project.open(root) as project:
        project.store.db.execute("UPDATE _sqlite_migrations SET name = name || '_of_2031'")
    application.start([root])
    assert application.start_window is not None
    assert "newer version" in application.start_window.problem.text()
    assert application.start_window.remedy.isHidden()


# --- by hand -----------------------------------------------------------------------------------


@pytest.fixture
def window(application: Application, root: Path) -> Iterator[MainWindow]:
    window = application.open(root)
    assert window is not None
    yield window


def dialog_of(window: MainWindow) -> BackupsDialog:
    (tools,) = [menu for menu in window.menus if menu.title() == "&Tools"]
    (action,) = [a for a in tools.actions() if a.text() == "&Backups …"]
    action.trigger()
    dialog: BackupsDialog = window.findChild(BackupsDialog)
    return dialog


def test_a_backup_is_made_and_the_project_goes_back_to_it(
    qtbot: QtBot, application: Application, jobs: FakeJobs, root: Path, window: MainWindow
) -> None:
    dialog = dialog_of(window)
    assert not dialog.restore_button.isEnabled()
    qtbot.mouseClick(dialog.make_button, LEFT)
    qtbot.waitUntil(dialog.make_button.isEnabled)
    assert "made and verified" in dialog.told.text()
    add_source(window.workspace.project, "s2")
    qtbot.mouseClick(dialog.restore_button, LEFT)
    box = dialog.findChild(QMessageBox)
    (restore,) = [b for b in box.buttons() if b.text() == "Restore"]
    qtbot.mouseClick(restore, LEFT)
    qtbot.waitUntil(lambda: bool(application.windows) and application.windows[0] is not window)
    assert sources(in_front(application)) == ["s1"]
    (kept,) = [b for b in backups.found(root) if b.kind == "replaced"]
    assert backups.problems(kept.path) == []


def test_who_says_no_keeps_the_project(qtbot: QtBot, root: Path, window: MainWindow) -> None:
    backups.make(root)
    dialog = dialog_of(window)
    assert dialog.table.rows_model.rowCount() == 1
    box = dialog.ask()
    assert box is not None
    qtbot.keyClick(box, Qt.Key.Key_Return)  # the default does no harm
    dialog.close()
    assert window.isVisible() and not window.closing.leaving


def test_a_fault_of_the_disk_is_told(qtbot: QtBot, root: Path, window: MainWindow) -> None:
    (root / "backups").rmdir()
    (root / "backups").write_text("a file")
    dialog = dialog_of(window)
    qtbot.mouseClick(dialog.make_button, LEFT)
    qtbot.waitUntil(dialog.make_button.isEnabled)
    assert dialog.told.text() and "verified" not in dialog.told.text()
    dialog.close()


# --- in time -----------------------------------------------------------------------------------


def test_a_keeper_makes_one_in_its_own_thread_and_then_by_the_hour(
    qtbot: QtBot, root: Path
) -> None:
    keeper = Keeper(root)
    keeper._beat()
    qtbot.waitUntil(lambda: len(backups.found(root)) == 1)
    assert keeper._timer.interval() == 3_600_000
    keeper.stop()


def test_a_keeper_tells_of_damage(qtbot: QtBot, root: Path) -> None:
    (root / "project.db").write_bytes(b"junk" * 5000)
    keeper = Keeper(root)
    with qtbot.waitSignal(keeper.told) as heard:
        keeper.keep(backups.DAILY)
    keeper.stop()
    assert "is damaged" in heard.args[0] and heard.args[1] == "warning"
    assert backups.found(root) == []


# --- crashes -----------------------------------------------------------------------------------


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """The log folder of a program that crashed."""
    logs = tmp_path / "crashed" / "logs"
    logs.mkdir(parents=True)
    (logs / "crash.log").write_text("Fatal Python error: Segmentation fault\n", encoding="utf-8")
    return logs


def application_with(qapp: QApplication, jobs: FakeJobs, logs: Path) -> Application:
    from fakes import FakeEngine

    return Application(qapp, Parts(FakeEngine, jobs, logs, logs.parent))


def test_a_crash_is_told_once_in_the_start_window(
    qtbot: QtBot, qapp: QApplication, jobs: FakeJobs, crashed: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for expected in (True, False):
        application = application_with(qapp, jobs, crashed)
        shown: list[int] = []
        monkeypatch.setattr(application, "open_logs", lambda shown=shown: shown.append(1))
        application.start([])
        start = application.start_window
        assert start is not None
        assert start.problem.isVisible() == start.remedy.isVisible() == expected
        if expected:
            assert "ended by a crash" in start.problem.text()
            qtbot.mouseClick(start.remedy, LEFT)
            assert shown == [1]
        start.close()
        application.shut_down()
    (log,) = crashed.glob("crash-*.log")
    assert "Segmentation fault" in log.read_text("utf-8")


def test_a_crash_is_told_in_a_project_s_window(
    qapp: QApplication, jobs: FakeJobs, crashed: Path, root: Path
) -> None:
    application = application_with(qapp, jobs, crashed)
    application.start([root])
    (window,) = application.windows
    assert "ended by a crash" in messages(window) and "Segmentation fault" in messages(window)
    window.leave()
    application.shut_down()


def test_few_logs_of_crashes_are_kept(qapp: QApplication, jobs: FakeJobs, crashed: Path) -> None:
    for day in range(10, 20):
        (crashed / f"crash-202601{day}-000000.log").write_text("x")
    application = application_with(qapp, jobs, crashed)
    application.shut_down()
    assert application.faults.crashed is not None and application.faults.crashed.exists()
    assert len(list(crashed.glob("crash-*.log"))) == CRASHES
