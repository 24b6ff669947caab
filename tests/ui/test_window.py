"""What windows have in common: their menus, what these ask for, and the keys of the platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMenu
from pytestqt.qtbot import QtBot
from sights import packet_of

from swag_studio import recipe as recipes
from swag_studio.project import Project
from swag_studio.ui import application as application_module
from swag_studio.ui import help as sheets
from swag_studio.ui.actions import Keys, add, bindings, shortcuts
from swag_studio.ui.application import Application
from swag_studio.ui.packet_window import PacketWindow
from swag_studio.ui.settings_dialog import SettingsDialog
from swag_studio.ui.start import NewProjectDialog, StartWindow
from swag_studio.ui.window import Window

# The keys that the guide names, on every platform.
DOCUMENTED = {
    "New project …": "Ctrl+N",
    "Open project …": "Ctrl+O",
    "Close": "Ctrl+W",
    "Quit": "Ctrl+Q",
    "Undo": "Ctrl+Z",
    "Redo": "Ctrl+Shift+Z",
    "Settings …": "Ctrl+,",
    "Keys": "F1",
    "Finish: write the file to send back": "Ctrl+S",
}
USUAL = {
    "Close": Keys.Close,
    "Quit": Keys.Quit,
    "Undo": Keys.Undo,
    "Redo": Keys.Redo,
    "Settings …": Keys.Preferences,
    "Keys": Keys.HelpContents,
}


@pytest.fixture
def windows(application: Application, project: Project, tmp_path: Path) -> Iterator[list[Window]]:
    """One of each kind."""
    Project.create(tmp_path / "mine.swag", recipes.preset("demo")).close()
    main = application.open(tmp_path / "mine.swag")
    application.open(packet_of(project, tmp_path))
    assert main is not None
    yield [main, *application.packets.windows, application.show_start()]
    application.packets.leave(asking=False)


@pytest.fixture
def start(application: Application, qtbot: QtBot) -> StartWindow:
    window = application.show_start()
    activate(qtbot, window)
    return window


def activate(qtbot: QtBot, window: Window) -> None:
    """Keys are those of the window in front."""
    with qtbot.waitActive(window):
        window.activateWindow()


def test_documented_keys_and_all_of_the_platform_work_in_every_window(
    windows: list[Window],
) -> None:
    for window in windows:
        found = {
            action.text().replace("&", ""): action.shortcuts()
            for menu in window.menus
            for action in menu.actions()
        }
        for words in DOCUMENTED.keys() & found.keys():
            assert found[words][0] == QKeySequence(DOCUMENTED[words])  # which the menu shows
        for words in USUAL.keys() & found.keys():
            usual = texts(QKeySequence.keyBindings(USUAL[words]))
            assert set(usual) <= set(texts(found[words])), words
        assert {"Close", "Quit", "Settings …", "Keys", "Open log folder"} <= found.keys()


def texts(keys: list[QKeySequence]) -> list[str]:
    return [key.toString() for key in keys]


def test_a_key_stands_for_one_action(windows: list[Window]) -> None:
    for window in windows:
        actions = [action for menu in window.menus for action in menu.actions()]
        often = Counter(key for action in actions for key in texts(action.shortcuts()))
        assert often and [key for key, times in often.items() if times > 1] == []


def test_each_key_of_an_action_does_it(qtbot: QtBot, start: StartWindow) -> None:
    done: list[int] = []
    menu = start.menuBar().addMenu("More")
    add(menu, "Do it", lambda: done.append(1), "Ctrl+Shift+K", Keys.Replace)
    assert bindings("Ctrl+H", Keys.Replace) == [QKeySequence("Ctrl+H")]  # not twice
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(start, Qt.Key.Key_K, control | Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(start, Qt.Key.Key_H, control)
    assert done == [1, 1]
    assert shortcuts([menu]) == [("More", "Do it", "Ctrl+Shift+K or Ctrl+H")]


def test_a_key_that_the_platform_lacks_leaves_an_action_without(qtbot: QtBot) -> None:
    menu = QMenu()
    qtbot.addWidget(menu)
    assert add(menu, "Do it", lambda: None, Keys.UnknownKey).shortcuts() == []


def test_settings_that_cannot_be_saved_are_told_in_whatever_window_there_is(
    application: Application, windows: list[Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(application_module.profile, "save", full)
    main, packet, start = windows
    for window in (main, packet, start):
        application.change_settings(cost_per_hour=application.settings.cost_per_hour + 1)
        shown = [label.text() for label in window.findChildren(QLabel)]
        assert any("could not be saved (No space left on device)" in text for text in shown)
        window.close()
        QApplication.processEvents()


# --- the start window ---------------------------------------------------------------------------


def test_the_keys_of_the_guide_work_in_the_start_window(
    qtbot: QtBot, application: Application, start: StartWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    asked: list[int] = []
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: asked.append(1) or "")
    qtbot.keyClick(start, Qt.Key.Key_O, control)
    assert asked == [1] and application.windows == []
    for key, kind in ((Qt.Key.Key_N, NewProjectDialog), (Qt.Key.Key_Comma, SettingsDialog)):
        qtbot.keyClick(start, key, control)
        dialog = start.findChild(kind)
        assert dialog is not None and dialog.isVisible()
        dialog.close()
        activate(qtbot, start)
    qtbot.keyClick(start, Qt.Key.Key_F1)
    (sheet,) = [d for d in start.findChildren(sheets.RowsDialog) if d.isVisible()]
    keys = {row[1]: row[2] for row in sheet.table.rows_model.rows}
    assert keys["Quit"] == "Ctrl+Q" and "Run everything" not in keys
    sheet.close()
    activate(qtbot, start)
    over: list[int] = []
    application.over.connect(lambda: over.append(1))
    qtbot.keyClick(start, Qt.Key.Key_Q, control)
    qtbot.waitUntil(lambda: over == [1])
    assert application.start_window is None


def test_the_start_window_s_text_follows_the_settings(
    qtbot: QtBot, application: Application, start: StartWindow
) -> None:
    application.change_settings(text_percent=200)
    QApplication.processEvents()
    for button in (start.demo_button, start.new_button, start.packet_button):
        hint = button.sizeHint()
        assert button.width() >= hint.width() and button.height() >= hint.height()
        assert button.fontMetrics().height() == start.fontMetrics().height()


def test_a_packet_is_opened_from_any_menu(
    application: Application, windows: list[Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    (packet,) = application.packets.windows
    chosen = str(packet.path)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (chosen, ""))
    packet.leave()
    for window in windows:
        if not isinstance(window, PacketWindow):
            window.packet_requested.emit()
            (again,) = application.packets.windows
            again.leave()
