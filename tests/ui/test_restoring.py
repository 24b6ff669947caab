"""Backups in the window: made in time, listed, and put back when a database is damaged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from fakes import FakeJobs
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot
from sights import packet_of
from waiting import end

from swag_studio import backups
from swag_studio import recipe as recipes
from swag_studio.errors import ProjectError
from swag_studio.project import Project
from swag_studio.records import SourceInfo
from swag_studio.ui.application import Application, Parts
from swag_studio.ui.crash_dialog import CrashDialog
from swag_studio.ui.faults import CRASHES
from swag_studio.ui.keeping import Keeper
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.packet_window import PacketWindow
from swag_studio.ui.restoring import BackupsDialog
from swag_studio.ui.start import StartWindow

LEFT = Qt.MouseButton.LeftButton
NOON = datetime(2020, 11, 29, 12, 0, 0)


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
    assert start.waiting.text().startswith("Looking for") and start.remedy.isHidden()
    qtbot.waitUntil(start.remedy.isVisible)
    assert start.waiting.isHidden()
    assert start.remedy.text() == "Restore the backup of 2020-11-29 12:00"
    qtbot.mouseClick(start.remedy, LEFT)
    assert "is being put back" in start.waiting.text() and start.remedy.isHidden()
    qtbot.waitUntil(lambda: bool(application.windows))
    window = in_front(application)
    assert sources(window) == ["s1"]
    assert "The backup of 2020-11-29 12:00 is in place." in messages(window)


def test_a_damaged_backup_is_named_and_an_older_one_offered(
    qtbot: QtBot, application: Application, root: Path
) -> None:
    backups.make(root, NOON)
    damaged = [backups.make(root, NOON + timedelta(days=day)) for day in (2, 1)]
    for backup in damaged:
        backup.path.write_bytes(b"junk" * 2000)
    (root / "project.db").unlink()
    application.start([root])
    start = application.start_window
    assert start is not None
    qtbot.waitUntil(start.remedy.isVisible)
    names = ", ".join(backup.name for backup in damaged)
    assert start.problem.text().endswith(f"\nNewer, but damaged: {names}.")
    assert start.remedy.text().endswith("11-29 12:00")
    qtbot.mouseClick(start.remedy, LEFT)
    qtbot.waitUntil(lambda: bool(application.windows))
    assert sources(in_front(application)) == ["s1"]


def test_where_no_backup_is_whole_none_is_offered(
    qtbot: QtBot, application: Application, root: Path
) -> None:
    backups.make(root, NOON).path.write_bytes(b"junk" * 2000)
    (root / "project.db").unlink()
    application.start([root])
    start = application.start_window
    assert start is not None
    qtbot.waitUntil(lambda: "No copy is whole." in start.problem.text())
    assert start.remedy.isHidden() and start.waiting.isHidden()


def test_a_backup_that_cannot_be_put_back_is_told(
    qtbot: QtBot, application: Application, root: Path
) -> None:
    made = backups.make(root, NOON)
    (root / "project.db").unlink()
    application.start([root])
    start = application.start_window
    assert start is not None
    qtbot.waitUntil(start.remedy.isVisible)
    made.path.write_bytes(b"junk" * 2000)  # since it was verified
    qtbot.mouseClick(start.remedy, LEFT)
    qtbot.waitUntil(lambda: "No copy is whole." in start.problem.text())
    assert start.problem.text().startswith("The backup could not be restored: ")
    assert start.waiting.isHidden() and application.windows == []


@pytest.mark.parametrize("work", ["newest_whole", "restore"])
def test_the_window_goes_on_while_copies_are_read(
    qtbot: QtBot, application: Application, root: Path, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    """The reading waits for the window here: in the window's own thread it would never end."""
    backups.make(root, NOON)
    (root / "project.db").unlink()
    turn, real = threading.Event(), getattr(backups, work)

    def late(*given: object) -> object:
        assert turn.wait(60)
        return real(*given)

    monkeypatch.setattr(backups, work, late)
    application.start([root])
    start = application.start_window
    assert start is not None
    if work == "restore":
        qtbot.waitUntil(start.remedy.isVisible)
        qtbot.mouseClick(start.remedy, LEFT)
    assert start.waiting.isVisible() and start.new_button.isEnabled()
    QTimer.singleShot(0, turn.set)
    qtbot.waitUntil(lambda: bool(application.windows) or start.remedy.isVisible())


def test_an_offer_that_comes_late_is_not_made_to_another_problem(
    qtbot: QtBot, application: Application, root: Path, tmp_path: Path
) -> None:
    backups.make(root, NOON)
    (root / "project.db").unlink()
    application.start([root])
    application.open(tmp_path / "none.swag")
    start = application.start_window
    assert start is not None
    qtbot.waitUntil(lambda: not application.restoring._thread.busy)
    QApplication.processEvents()
    assert "none.swag is not a project" in start.problem.text()
    assert start.remedy.isHidden() and start.waiting.isHidden()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[Path], threading.Event]]:
    """What is put back, none of which succeeds, and that lets the first one go on."""
    asked, turn = list[Path](), threading.Event()

    def fails(root: Path, _: str) -> None:
        asked.append(root)
        assert turn.wait(60)
        raise ProjectError("The backup is damaged.")

    monkeypatch.setattr(backups, "restore", fails)
    yield asked, turn
    turn.set()


def at_rest(qtbot: QtBot, application: Application) -> None:
    qtbot.waitUntil(lambda: not application.restoring._thread.busy)
    QApplication.processEvents()


def test_no_backup_that_is_to_be_put_back_makes_room_for_another_projects(
    qtbot: QtBot,
    application: Application,
    root: Path,
    tmp_path: Path,
    slow: tuple[list[Path], threading.Event],
) -> None:
    asked, turn = slow
    backup = backups.make(root, NOON)
    roots = [tmp_path / f"{name}.swag" for name in "abc"]
    for other in roots:
        application.restoring.put_back(other, backup)
    turn.set()
    at_rest(qtbot, application)
    assert asked == roots


def test_a_restore_that_fails_while_the_program_ends_does_not_hold_it_up(
    qtbot: QtBot, application: Application, root: Path, slow: tuple[list[Path], threading.Event]
) -> None:
    asked, turn = slow
    backup = backups.make(root, NOON)
    application.restoring.put_back(root, backup)
    qtbot.waitUntil(lambda: bool(asked))
    application.quit()
    turn.set()
    at_rest(qtbot, application)
    assert application.start_window is None
    application.restoring.put_back(root, backup)  # as once a window is closed, and too late
    at_rest(qtbot, application)
    assert application.start_window is None and asked == [root]


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


def test_the_backup_that_was_chosen_stays_so_when_another_one_is_made(
    qtbot: QtBot, root: Path, window: MainWindow
) -> None:
    for day in range(2):
        backups.make(root, NOON + timedelta(days=day))
    dialog = dialog_of(window)
    qtbot.mouseClick(dialog.make_button, LEFT)
    dialog.table.selectRow(1)  # while it is being made
    qtbot.waitUntil(dialog.make_button.isEnabled)
    chosen = dialog.chosen()
    assert dialog.table.rows_model.rowCount() == 3 and chosen is not None and chosen.made == NOON
    dialog.close()


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
    qtbot.waitUntil(lambda: not keeper._thread.busy)
    assert len(backups.found(root)) == 1 and keeper._timer.interval() == 3_600_000
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


def told(application: Application) -> list[type[QWidget]]:
    """Above which kinds of windows the crash is told."""
    windows = (application.start_window, *application.windows, *application.packets.windows)
    return [
        type(window)
        for window in windows
        if window is not None and any(d.isVisible() for d in window.findChildren(CrashDialog))
    ]


def leave(application: Application) -> None:
    application.quit()
    end(application)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_a_crash_is_told_once_with_its_log(
    qtbot: QtBot, qapp: QApplication, jobs: FakeJobs, crashed: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    application = application_with(qapp, jobs, crashed)
    shown: list[int] = []
    monkeypatch.setattr(application, "open_logs", lambda: shown.append(1))
    application.start([])
    dialog = application.crash
    assert told(application) == [StartWindow] and dialog is not None
    assert "Segmentation fault" in dialog.log.toPlainText()
    qtbot.mouseClick(dialog.copy_button, LEFT)
    assert QApplication.clipboard().text() == "Fatal Python error: Segmentation fault\n"
    qtbot.mouseClick(dialog.folder_button, LEFT)
    assert shown == [1]
    (log,) = crashed.glob("crash-*.log")
    assert any(str(log) in label.text() for label in dialog.findChildren(QLabel))
    dialog.reject()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    application.show_start()
    assert told(application) == []
    leave(application)
    again = application_with(qapp, jobs, crashed)
    again.start([])
    assert told(again) == []
    leave(again)


def test_a_crash_is_told_above_a_project_and_above_one_that_does_not_open(
    qapp: QApplication, jobs: FakeJobs, crashed: Path, root: Path
) -> None:
    """Also after a project: a desktop may hand it over when the start window is there already."""
    (root / "project.db").rename(root / "away")
    application = application_with(qapp, jobs, crashed)
    application.start([root])
    start = application.start_window
    assert told(application) == [StartWindow] and start is not None and start.problem.isVisible()
    (root / "away").rename(root / "project.db")
    application.open(root)
    assert told(application) == [MainWindow] and application.start_window is None
    leave(application)


def test_a_crash_is_told_above_a_packet(
    qapp: QApplication, jobs: FakeJobs, crashed: Path, project: Project, tmp_path: Path
) -> None:
    packet = packet_of(project, tmp_path)
    application = application_with(qapp, jobs, crashed)
    application.start([packet])
    assert told(application) == [PacketWindow]
    leave(application)


def test_a_log_that_is_gone_is_no_reason_not_to_start(
    qapp: QApplication, jobs: FakeJobs, crashed: Path
) -> None:
    application = application_with(qapp, jobs, crashed)
    (log,) = crashed.glob("crash-*.log")
    log.unlink()
    application.start([])
    assert application.crash is not None
    assert "cannot be read" in application.crash.log.toPlainText()
    leave(application)


def test_few_logs_of_crashes_are_kept(qapp: QApplication, jobs: FakeJobs, crashed: Path) -> None:
    for day in range(10, 20):
        (crashed / f"crash-202601{day}-000000.log").write_text("x")
    application = application_with(qapp, jobs, crashed)
    application.shut_down()
    assert application.faults.crashed is not None and application.faults.crashed.exists()
    assert len(list(crashed.glob("crash-*.log"))) == CRASHES
