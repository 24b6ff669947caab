"""Dialogs open and close while Python collects what it can: no crash, and nothing is left of them.

The short form runs with all tests; `make soak` opens two hundred.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot
from tiny import captions, tiny_recipe

from swag_studio import app as wiring
from swag_studio.engine.ingest import run_import
from swag_studio.project import Project
from swag_studio.ui.application import Application
from swag_studio.ui.charts import Chart
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.sources_page import SourcesPage

WITHIN = 30_000  # ms: for a machine that does much else
# More of each than before, after every kind of dialog was there once. What Qt and Python keep for
# good (a cached completer, a file icon) comes with the first; a leak would grow with each.
MORE = 0


@pytest.fixture
def application(qapp: QApplication, tmp_path: Path) -> Iterator[Application]:
    qapp.setQuitOnLastWindowClosed(False)
    application = Application(qapp, wiring.parts(tmp_path / "profile"))
    yield application
    for window in list(application.windows):
        window.close()
    application.shut_down()


@pytest.fixture
def window(qtbot: QtBot, application: Application, tmp_path: Path) -> MainWindow:
    """A project with captions, with a file that waits and a message that has a detail."""
    root = tmp_path / "p.swag"
    with Project.create(root, tiny_recipe()) as project:
        list(run_import(captions(tmp_path / "a.json", 5), project))
    window = application.open(root)
    assert window is not None
    window.make_pages()
    blank = '{"v_1": {"duration": 1, "timestamps": [[0, 1], [0, 1]], "sentences": ["A b.", " "]}}'
    (tmp_path / "b.json").write_text(blank, encoding="utf-8")
    page = sources(window)
    page.add_files([tmp_path / "b.json"])
    qtbot.waitUntil(page.panel.bring_in.isVisible, timeout=WITHIN)
    qtbot.waitUntil(lambda: window.workspace.bridge.idle, timeout=WITHIN)
    window.job_panel.say("Something went wrong.", "error", "in two\nlines")
    return window


def sources(window: MainWindow) -> SourcesPage:
    page = window.page(0)
    assert isinstance(page, SourcesPage)
    return page


def message(window: MainWindow) -> None:
    """Opens the list of messages at one with a detail; it is no window of its own."""
    panel = window.job_panel
    panel.more.setChecked(True)
    panel.list.list.setCurrentRow(panel.list.list.count() - 1)
    assert panel.list.detail.isVisible()
    panel.list.list.clearSelection()
    panel.more.setChecked(False)


def saving(window: MainWindow) -> None:
    chart = window.findChildren(Chart)[0]
    chart._ask_and_save("PNG")


def set_aside(window: MainWindow) -> None:
    panel = sources(window).panel
    panel.open_reason(panel.reasons.rows_model.row(0))


KINDS: dict[str, Callable[[MainWindow], object]] = {
    "settings": lambda w: w.settings_requested.emit(),
    "keys": lambda w: w.keys_requested.emit(),
    "about": lambda w: w.about_requested.emit(),
    "new project": lambda w: w.new_requested.emit(),
    "open project": lambda w: w.open_requested.emit(),
    "rows of a source": lambda w: sources(w).open_source(w.workspace.project.store.sources()[0]),
    "rows of a reason": set_aside,
    "files": lambda w: sources(w).choose(),
    "chart": saving,
    "message": message,
    "closing": lambda w: w.closing.ask(),
}


def open_and_close(window: MainWindow, name: str) -> None:
    """A dialog, looked at once, and gone. One with an event loop of its own is closed in it."""
    closed: list[str] = []

    def close() -> None:
        for dialog in shown():
            gc.collect()
            dialog.reject()
            closed.append(dialog.windowTitle())

    QTimer.singleShot(0, close)
    KINDS[name](window)
    QApplication.processEvents()
    close()
    assert len(closed) == (name != "message"), (name, closed)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()


def shown() -> list[QDialog]:
    """The dialogs on the screen."""
    tops = QApplication.topLevelWidgets()
    return [w for w in tops if isinstance(w, QDialog) and w.isVisible()]


def alive(window: MainWindow) -> tuple[int, int, int]:
    """(widgets in Qt, objects below the window, objects of Qt that Python holds)."""
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    below = len(window.findChildren(QObject))  # first: Python holds what it has once looked at
    held = sum(isinstance(o, QObject) and shiboken6.isValid(o) for o in gc.get_objects())
    return len(QApplication.allWidgets()), below, held


def open_many(window: MainWindow, count: int) -> None:
    for name in KINDS:
        open_and_close(window, name)
    before = alive(window)
    for name in islice(cycle(KINDS), count):
        open_and_close(window, name)
    more = [b - a for a, b in zip(before, alive(window), strict=True)]
    print(f"{count} dialogs: widgets {more[0]:+}, objects {more[1]:+}, held by Python {more[2]:+}")
    assert max(more) <= MORE, more


def test_twenty_dialogs(window: MainWindow) -> None:
    open_many(window, 20)


@pytest.mark.soak
def test_two_hundred_dialogs(window: MainWindow) -> None:
    open_many(window, 200)
