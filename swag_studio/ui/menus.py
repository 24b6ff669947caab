"""The menus of a project's window, and the sheet of keys that is made from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from swag_studio.ui import again_dialog
from swag_studio.ui.undo import Undo

if TYPE_CHECKING:
    from swag_studio.ui.main_window import MainWindow

Key = QKeySequence | QKeySequence.StandardKey | str
Keys = QKeySequence.StandardKey


def build(window: MainWindow) -> None:
    """Gives the window its menus."""
    titles = ("&File", "&Edit", "&View", "&Run", "&Tools", "&Help")
    # Kept, for QAction.menu() gives a menu whose end in Python ends it in Qt as well.
    window.menus = [window.menuBar().addMenu(title) for title in titles]
    file, edit, view, run, tools, help_menu = window.menus
    _file(window, file)
    window.undo = Undo(window.workspace, edit)
    window.undo.told.connect(window.job_panel.say)
    edit.addSeparator()
    _add(edit, "Copy &messages of the run", window.job_panel.list.copy)
    edit.addSeparator()
    settings = _add(edit, "&Settings …", window.settings_requested.emit, _preferences())
    settings.setMenuRole(QAction.MenuRole.PreferencesRole)
    _view(window, view)
    _run(window, run)
    _add(tools, "&Check project", window.workspace.check)
    _add(tools, "&Backups …", window.backups_requested.emit)
    _add(tools, "Open project &folder", window.open_project_folder)
    _add(help_menu, "&Keys", window.keys_requested.emit, Keys.HelpContents)
    _add(help_menu, "Open &log folder", window.logs_requested.emit)
    about = _add(help_menu, "&About SWAG Studio", window.about_requested.emit)
    about.setMenuRole(QAction.MenuRole.AboutRole)


def _file(window: MainWindow, menu: QMenu) -> None:
    _add(menu, "&New project …", window.new_requested.emit, Keys.New)
    _add(menu, "&Open project …", window.open_requested.emit, Keys.Open)
    recent = menu.addMenu("Open &recent")
    recent.aboutToShow.connect(lambda: _fill_recent(window, recent))
    _add(menu, "Open &demo", window.demo_requested.emit)
    menu.addSeparator()
    _add(menu, "&Close", window.close, Keys.Close)
    leave = _add(menu, "&Quit", window.quit_requested.emit, _quit())
    leave.setMenuRole(QAction.MenuRole.QuitRole)


def _fill_recent(window: MainWindow, menu: QMenu) -> None:
    menu.clear()
    here = str(window.workspace.project.root.absolute())
    paths = [text for text in window.workspace.settings.recent if text != here]
    for text in paths:
        action = menu.addAction(text.replace("&", "&&"))
        action.triggered.connect(lambda _=False, t=text: window.recent_requested.emit(Path(t)))
    if not paths:
        menu.addAction("No other projects yet").setEnabled(False)


def _view(window: MainWindow, menu: QMenu) -> None:
    for i, step in enumerate(window.step_list):
        _add(menu, step.title, partial(window.choose_page, i), f"Ctrl+{i + 1}")
    menu.addSeparator()
    _add(menu, "&Messages of the run", window.job_panel.more.toggle, "Ctrl+M")
    _add(menu, "&Reset window layout", window.reset_layout)


def _run(window: MainWindow, menu: QMenu) -> None:
    _add(menu, "Run &everything", window.run_everything, "Ctrl+R")
    _add(menu, "Run this &step", window.run_step, "Ctrl+Return")
    _add(
        menu,
        "&Filter again with what people said …",
        lambda: again_dialog.ask(window.workspace, window),
    )
    menu.addSeparator()
    pause = _add(menu, "&Pause or resume", window.job_panel.toggle_pause, "Ctrl+P")
    cancel = _add(menu, "&Cancel", window.job_panel.cancel, "Ctrl+.")
    for action in (pause, cancel):
        action.setEnabled(False)
        window.workspace.bridge.idle_changed.connect(
            lambda idle, action=action: action.setEnabled(not idle)
        )


def _add(menu: QMenu, text: str, slot: Callable[[], object], key: Key | None = None) -> QAction:
    action = menu.addAction(text)
    action.triggered.connect(lambda *_: slot())
    if key is not None:
        action.setShortcut(QKeySequence(key))
    return action


def _preferences() -> QKeySequence:
    """The platform's key for preferences, where it has one."""
    return _first(QKeySequence(Keys.Preferences), QKeySequence("Ctrl+,"))


def _quit() -> QKeySequence:
    return _first(QKeySequence(Keys.Quit), QKeySequence("Ctrl+Q"))


def _first(wanted: QKeySequence, otherwise: QKeySequence) -> QKeySequence:
    return otherwise if wanted.isEmpty() else wanted


def shortcuts(window: MainWindow) -> list[tuple[str, str, str]]:
    """(menu, action, key) of every action that has a key, in the order of the menus."""
    return [
        (menu.title().replace("&", ""), action.text().replace("&", ""), _native(action))
        for menu in window.menus
        for action in menu.actions()
        if not action.shortcut().isEmpty()
    ]


def _native(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
