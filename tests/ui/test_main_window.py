"""The shell around the pages: steps, menus, running, closing."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

import pytest
from fakes import FakeEngine, FakeJobs, captions
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from waiting import at_rest, leave

from swag_studio.events import Progress
from swag_studio.records import SourceInfo
from swag_studio.ui import help as sheets
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.pages import PAGES, Step
from swag_studio.ui.workspace import Workspace

LEFT = Qt.MouseButton.LeftButton
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(qtbot: QtBot, workspace: Workspace) -> Iterator[MainWindow]:
    """The window of a project with three captions, all pages made."""
    store = workspace.project.store
    info = SourceInfo("s", "a.json", "activitynet", "0", 1, 1, 3, 0)
    store.stage_source(info)
    store.add_captions("s", captions(3))
    store.publish_source(info)
    window = MainWindow(workspace)
    window.show()
    window.make_pages()
    window.show_page(0)
    at_rest(qtbot, workspace.reader)
    yield window
    leave(qtbot, window)


def choose(window: MainWindow, menu: str, text: str) -> None:
    """Chooses an action of a menu by its words."""
    for entry in window.menus:
        if entry.title().replace("&", "") == menu:
            for action in entry.actions():
                if action.text().replace("&", "") == text:
                    assert action.isEnabled()
                    action.trigger()
                    return
    raise AssertionError(f"no {menu} > {text}")


def button(box: QMessageBox | None, text: str) -> QPushButton:
    assert box is not None and box.isVisible()
    (found,) = [b for b in box.findChildren(QPushButton) if b.text().replace("&", "") == text]
    return found


@pytest.fixture
def running(window: MainWindow, jobs: FakeJobs, engine: FakeEngine) -> MainWindow:
    """The window with an endless run to Filtering at hand and one to the release behind it."""
    jobs.endless = True
    window.workspace.run_until("filter")
    window.workspace.run_until("release")
    engine.step()
    window.workspace.bridge.drain()
    return window


# --- steps -----------------------------------------------------------------------------------


def test_the_steps_stand_in_the_order_of_the_data(window: MainWindow) -> None:
    titles = [window.step_bar.button(i).accessibleName() for i in range(len(PAGES))]
    assert titles == [
        *("Sources", "Language models", "Candidates", "Filtering"),
        *("Review", "Annotate", "Agreement", "Release", "Audit"),
    ]
    assert window.step_bar.button(0).isChecked()
    assert window.step_bar.button(0).text() == "Sources ○"


def test_the_window_makes_its_pages_by_itself(qtbot: QtBot, workspace: Workspace) -> None:
    window = MainWindow(workspace)
    window.show()
    assert window.pages == []  # it shows before anything slow begins
    qtbot.waitUntil(lambda: len(window.pages) == len(PAGES), timeout=30_000)
    assert window.stack.currentIndex() == 0 and not window._builder.isActive()
    window.close()


def test_what_a_page_needs_is_read_beside_the_window_first(
    qtbot: QtBot, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    formats = workspace.jobs.release_formats

    def noting() -> Mapping[str, str]:
        asked.append(threading.current_thread().name)
        return formats()

    monkeypatch.setattr(workspace.jobs, "release_formats", noting)
    window = MainWindow(workspace, [step for step in PAGES if step.title == "Release"])
    window.show()
    qtbot.waitUntil(lambda: bool(window.pages))
    assert asked[0] == "reader" and len(asked) == 2
    window.close()


def test_a_click_or_a_key_shows_a_page(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.mouseClick(window.step_bar.button(3), LEFT)
    assert window.stack.currentIndex() == 3
    choose(window, "View", "Audit")
    assert window.stack.currentIndex() == 8 and window.step_bar.button(8).isChecked()


def test_the_step_at_work_is_marked_in_words_too(running: MainWindow) -> None:
    step = running.step_bar.button(3)
    assert step.text() == "Filtering ▶" and step.accessibleDescription() == "running"
    running.refresh(frozenset({"contexts"}))
    assert step.text() == "Filtering ▶"


def test_the_steps_wrap_where_they_do_not_fit(window: MainWindow) -> None:
    window.resize(620, 600)
    QApplication.processEvents()
    rows = {window.step_bar.button(i).parentWidget().y() for i in range(len(PAGES))}
    assert len(rows) > 1
    assert all(
        window.step_bar.button(i).parentWidget().geometry().right() <= window.step_bar.width()
        for i in range(len(PAGES))
    )


def test_the_demo_shows_the_step_at_work_until_someone_chooses(
    qtbot: QtBot, window: MainWindow, engine: FakeEngine, jobs: FakeJobs
) -> None:
    window.following = True
    for stage in ("generate", "filter"):
        window.workspace.run_until(stage)
    for shown in (2, 3):
        engine.step()
        window.workspace.bridge.drain()
        assert window.stack.currentIndex() == shown
        if shown == 2:
            engine.step(), engine.step(), engine.step()
    qtbot.mouseClick(window.step_bar.button(0), LEFT)
    engine.work()
    window.workspace.run_until("generate")
    engine.work()
    window.workspace.bridge.drain()
    assert window.stack.currentIndex() == 0


# --- work ------------------------------------------------------------------------------------


def test_run_everything_and_run_this_step(
    window: MainWindow, jobs: FakeJobs, engine: FakeEngine
) -> None:
    choose(window, "Run", "Run everything")
    window.show_titled("Candidates")
    choose(window, "Run", "Run this step")
    choose(window, "Run", "Run this step")  # the same run, which waits already
    engine.work()
    assert jobs.ran == ["release", "generate"]
    window.workspace.bridge.drain()


def test_without_captions_a_run_says_what_is_missing(
    qtbot: QtBot, workspace: Workspace, jobs: FakeJobs
) -> None:
    window = MainWindow(workspace)
    window.show()
    choose(window, "Run", "Run everything")
    assert window.job_panel.latest.text() == "⚠ There are no captions yet. Bring some in first."
    assert jobs.ran == [] and window.stack.currentIndex() == 0
    window.close()


def test_the_panel_names_what_waits(running: MainWindow) -> None:
    assert running.job_panel.queued.text() == "Then: Run everything"
    assert running.job_panel.stage.text() == "Adversarial filtering"


def test_pause_and_cancel_by_menu(running: MainWindow, engine: FakeEngine) -> None:
    choose(running, "Run", "Pause or resume")
    assert engine.paused and running.job_panel.pause_button.text() == "Resume"
    running.job_panel.show_progress(Progress("filter", 3, 26, "iterations"))  # told late
    assert "Paused" in running.job_panel.numbers.text()
    choose(running, "Run", "Pause or resume")
    assert not engine.paused
    choose(running, "Run", "Cancel")
    running.workspace.bridge.drain()
    assert engine.cancelled and not running.job_panel.row.isVisible()
    assert not running.job_panel.queued.isVisible()


def test_what_is_run_after_a_cancel_can_be_cancelled_too(
    running: MainWindow, engine: FakeEngine
) -> None:
    """The window is not told of an idle engine in between."""
    panel = running.job_panel
    at_hand, _ = running.workspace.bridge.tasks()
    panel.cancel_button.click()
    at_hand.state = "at hand"  # its present step takes a while
    running.workspace.run_until("generate")
    panel.show_progress(Progress("filter", 3, 26, "iterations"))
    assert not panel.cancel_button.isEnabled()
    at_hand.state = "over"
    running.workspace.bridge.drain()
    assert panel.row.isVisible() and panel.cancel_button.isEnabled()


def test_a_job_that_fails_while_it_is_paused_does_not_hold_up_the_next(
    window: MainWindow, jobs: FakeJobs, engine: FakeEngine
) -> None:
    window.workspace.run_until("filter")
    engine.step()
    window.job_panel.toggle_pause()
    jobs.error = MemoryError("no memory")
    engine.step()  # the one that was at hand
    window.workspace.bridge.drain()
    assert window.workspace.bridge.idle and not engine.paused


def test_a_hidden_page_hears_what_changed_also_where_everything_may_have(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job's changes and its end are told in one beat."""
    heard: list[frozenset[str]] = []
    page = window.page(7)
    monkeypatch.setattr(page, "refresh", heard.append)
    for tables in ({"judgements"}, {"tasks"}, (), {"people"}):
        window.refresh(frozenset(tables))
    window.show_page(7)
    assert heard == [{"judgements", "tasks", "people"}, frozenset()]


def test_a_failed_job_leaves_its_sentence_and_its_detail(
    qtbot: QtBot, window: MainWindow, jobs: FakeJobs, engine: FakeEngine
) -> None:
    jobs.error = MemoryError("no memory")
    window.workspace.run_until("train_lm")
    engine.work()
    window.workspace.bridge.drain()
    panel = window.job_panel
    assert panel.list.isVisible() and panel.latest.text().startswith("✗ The job: MemoryError")
    panel.list.list.setCurrentRow(panel.list.list.count() - 1)
    assert "no memory" in panel.list.detail.toPlainText()
    qtbot.keyClick(panel.list.list, Qt.Key.Key_C, CTRL)
    assert "no memory" in QApplication.clipboard().text()


def test_check_project_tells_what_it_found(window: MainWindow, engine: FakeEngine) -> None:
    choose(window, "Tools", "Check project")
    engine.work()
    window.workspace.bridge.drain()
    assert "The project is whole." in window.job_panel.list.text()


def test_the_sheet_of_keys_is_made_from_the_menus(window: MainWindow) -> None:
    sheet = sheets.keys(window)
    sheet.show()
    keys = {row[1]: row[2] for row in sheet.table.rows_model.rows}
    assert keys["Filtering"] == "Ctrl+4" and keys["Run everything"] == "Ctrl+R"
    assert keys["Keys"] == "F1" and keys["Settings …"] == "Ctrl+,"
    assert len(set(keys.values())) == len(keys), "a key stands for two actions"
    sheet.close()


# --- closing ---------------------------------------------------------------------------------


def test_without_a_job_the_window_just_closes(window: MainWindow, engine: FakeEngine) -> None:
    window.close()
    assert engine.closed and not window.isVisible()
    assert not (window.workspace.project.root / "lock.json").exists()


@pytest.mark.parametrize("how", ["Keep running", "Escape"])
def test_keep_running_keeps_the_window(
    qtbot: QtBot, running: MainWindow, engine: FakeEngine, how: str
) -> None:
    running.close()
    box = running.closing.box
    assert box is not None
    if how == "Escape":
        qtbot.keyClick(box, Qt.Key.Key_Escape)
    else:
        qtbot.mouseClick(button(box, how), LEFT)
    assert running.isVisible() and engine.busy and running.closing.box is None
    running.close()
    assert running.closing.box is not None  # it asks again


def test_pause_and_quit_offers_to_go_on_next_time(
    qtbot: QtBot, running: MainWindow, engine: FakeEngine, jobs: FakeJobs
) -> None:
    root = running.workspace.project.root
    running.close()
    qtbot.mouseClick(button(running.closing.box, "Pause and quit"), LEFT)
    assert not running.isVisible()
    qtbot.waitUntil(lambda: engine.closed)  # a page may be read for
    assert (root / "paused.json").exists()


def test_cancel_the_job_closes_and_offers_nothing(
    qtbot: QtBot, running: MainWindow, engine: FakeEngine
) -> None:
    root = running.workspace.project.root
    running.close()
    qtbot.mouseClick(button(running.closing.box, "Cancel the job"), LEFT)
    assert not running.isVisible()
    qtbot.waitUntil(lambda: engine.closed)
    assert not (root / "paused.json").exists()


def test_a_paused_run_goes_on_by_a_click(
    qtbot: QtBot, window: MainWindow, engine: FakeEngine, jobs: FakeJobs
) -> None:
    from swag_studio.ui.closing import note

    note(window.workspace.project, "filter")
    window.job_panel.offer("It was paused.")
    qtbot.mouseClick(window.job_panel.go_on_button, LEFT)
    engine.work()
    window.workspace.bridge.drain()
    assert jobs.ran == ["filter"] and not window.job_panel.go_on_button.isVisible()
    assert not (window.workspace.project.root / "paused.json").exists()


def test_a_job_that_ends_while_one_is_asked_lets_the_window_close(
    qtbot: QtBot, running: MainWindow, engine: FakeEngine, jobs: FakeJobs
) -> None:
    running.close()
    jobs.endless = False
    engine.work()
    running.workspace.bridge.drain()
    assert not running.isVisible()
    qtbot.waitUntil(lambda: engine.closed)


def test_a_page_that_cannot_be_made_is_told_of_once(qtbot: QtBot, workspace: Workspace) -> None:
    steps = [PAGES[0], Step("Language models", "train_lm", "swag_studio.ui.no_such_page:Page")]
    with qtbot.captureExceptions() as faults:
        window = MainWindow(workspace, steps)
        window.show()
        window.following = True
        qtbot.waitUntil(lambda: bool(faults))
        workspace.bridge.progress.emit(Progress("train_lm", 1, 2))
        workspace.bridge.progress.emit(Progress("train_lm", 2, 2))
        at_rest(qtbot, workspace.reader)
        assert not window._builder.isActive()  # it is not tried again
    assert [error[0] for error in faults] == [ModuleNotFoundError] * 2
    assert [page.title for page in window.pages] == ["Sources"]
    leave(qtbot, window)


def test_an_answer_that_comes_while_the_window_keeps_up_is_kept_up_with(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the reading thread's look whether something is behind and what it does about it."""
    pulled: list[bool] = []
    behind, coming = [False], [True]

    class KeepingUp:
        def pull(self, behind: bool) -> frozenset[str]:
            pulled.append(behind)
            return frozenset()

    def look(_: MainWindow) -> bool:
        now = behind[0]
        if coming:
            behind[0] = coming.pop()
        return now

    def note(_: MainWindow, value: bool) -> None:
        behind[0] = value

    monkeypatch.delattr(window, "_behind")
    monkeypatch.setattr(MainWindow, "_behind", property(look, note), raising=False)
    monkeypatch.setattr(window, "_keeping_up", KeepingUp())
    for _ in range(3):
        window._kept_up()
    assert pulled == [False, True, False]
