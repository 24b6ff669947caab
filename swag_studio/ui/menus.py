"""The menus of a project's window."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from swag_studio.ui import again_dialog
from swag_studio.ui.actions import add
from swag_studio.ui.undo import Undo

if TYPE_CHECKING:
    from swag_studio.ui.main_window import MainWindow


def build(window: MainWindow) -> None:
    """Gives the window its menus."""
    file, edit, view, run, tools, help_menu = window.add_menus(
        "&File", "&Edit", "&View", "&Run", "&Tools", "&Help"
    )
    _file(window, file)
    window.undo = Undo(window.workspace, edit)
    window.undo.told.connect(window.job_panel.say)
    edit.addSeparator()
    add(edit, "Copy &messages of the run", window.job_panel.list.copy)
    edit.addSeparator()
    window.add_settings(edit)
    _view(window, view)
    _run(window, run)
    add(tools, "&Check project", window.workspace.check)
    add(tools, "&Backups …", window.backups_requested.emit)
    add(tools, "Open project &folder", window.open_project_folder)
    window.add_help(help_menu)


def _file(window: MainWindow, menu: QMenu) -> None:
    window.add_opening(menu)
    recent = menu.addMenu("Open &recent")
    recent.aboutToShow.connect(lambda: _fill_recent(window, recent))
    window.add_leaving(menu)


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
        add(menu, step.title, partial(window.choose_page, i), f"Ctrl+{i + 1}")
    menu.addSeparator()
    add(menu, "&Messages of the run", window.job_panel.more.toggle, "Ctrl+M")
    add(menu, "&Reset window layout", window.reset_layout)


def _run(window: MainWindow, menu: QMenu) -> None:
    add(menu, "Run &everything", window.run_everything, "Ctrl+R")
    add(menu, "Run this &step", window.run_step, "Ctrl+Return")
    add(
        menu,
        "&Filter again with what people said …",
        lambda: again_dialog.ask(window.workspace, window),
    )
    menu.addSeparator()
    pause = add(menu, "&Pause or resume", window.job_panel.toggle_pause, "Ctrl+P")
    cancel = add(menu, "&Cancel", window.job_panel.cancel, "Ctrl+.")
    for action in (pause, cancel):
        action.setEnabled(False)
        window.workspace.bridge.idle_changed.connect(
            lambda idle, action=action: action.setEnabled(not idle)
        )
