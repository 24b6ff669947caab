"""Putting a backup back: offered when a database is damaged, and by hand from the Tools menu.

The rules are in backups.py; this file asks, closes the project's window first, and opens it anew.
Copies are verified and put back in a thread of their own, since a database may be large.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio import backups
from swag_studio.backups import Backup, Newest, Restored
from swag_studio.ui.background import Background
from swag_studio.ui.page import set_role
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import ems

if TYPE_CHECKING:
    from swag_studio.ui.application import Application
    from swag_studio.ui.main_window import MainWindow
    from swag_studio.ui.start import StartWindow

LEAVE_WITHIN = 3.0  # s that a restore at work gets when the program ends
NOTE = (
    "The project's database, with all that people did, is copied once a day and after an hour's "
    "work. The last seven days and four weeks are kept. Pools and models are not in it: a run "
    "makes them anew."
)
COLUMNS = (
    Column("Made", lambda b: b.made, lambda made: when(made)),
    Column("Kind", lambda b: backups.KINDS[b.kind]),
    Column("MB", lambda b: b.size / 1e6, lambda size: f"{size:,.1f}"),
    Column("File", lambda b: b.name, stretch=True),
)


def when(made: datetime) -> str:
    """A time as a person says it, the same in every language setting."""
    return f"{made:%Y-%m-%d %H:%M}"


class Restoring(QObject):
    """Offers backups and puts one back."""

    def __init__(self, application: Application) -> None:
        super().__init__(application)
        self._application = application
        self._thread = Background(self, "backups")

    def close(self) -> None:
        """Ends the thread. A restore that is broken off leaves the project as it was, or done."""
        self._thread.close(LEAVE_WITHIN)

    def offer(self, root: Path, problem: str) -> None:
        """Says in the start window what is wrong, with a button for the newest whole backup."""
        if self._application.quitting:
            return
        start = self._application.show_start(problem)
        if not backups.found(root):
            return
        start.wait("Looking for the newest backup that is whole …")
        self._thread.ask(
            "look",
            lambda: backups.newest_whole(root),
            lambda newest: self._offer(root, problem, newest),
            lambda fault: self._tell(problem, f"The backups cannot be read: {fault}"),
        )

    def _offer(self, root: Path, problem: str, newest: Newest) -> None:
        start, backup = self._showing(problem), newest.backup
        self._tell(problem, newest.skipped())
        if start is not None and backup is not None:
            text = f"Restore the backup of {when(backup.made)}"
            start.offer(text, lambda: self.put_back(root, backup))

    def _tell(self, problem: str, more: str) -> None:
        """Adds to a problem what was found out about its remedy."""
        if start := self._showing(problem):
            start.show_problem(f"{problem}\n{more}".strip())

    def _showing(self, problem: str) -> StartWindow | None:
        """The window that shows a problem; None once it is closed, or shows another one."""
        start = self._application.start_window
        return start if start is not None and start.problem.text() == problem else None

    def show(self, window: MainWindow) -> BackupsDialog:
        """The list of an open project's backups."""
        root = window.workspace.project.root
        dialog = BackupsDialog(root, window)
        dialog.restore_requested.connect(lambda backup: self._leave_and_put_back(window, backup))
        dialog.show()
        return dialog

    def _leave_and_put_back(self, window: MainWindow, backup: Backup) -> None:
        root = window.workspace.project.root
        self._application.show_start().wait(
            f"{root} is closed, and opened again with the backup of {when(backup.made)}."
        )
        window.closed.connect(lambda: QTimer.singleShot(0, lambda: self.put_back(root, backup)))
        window.leave()

    def put_back(self, root: Path, backup: Backup) -> None:
        """Restores and opens the project; offers another backup when this one cannot be used."""
        if self._application.quitting:
            return
        self._application.show_start().wait(
            f"The backup of {when(backup.made)} is being put back into {root} …"
        )
        self._thread.ask(
            f"restore {root}",  # one project's must not make room for another's
            lambda: backups.restore(root, backup.name),
            lambda done: self._open(root, done),
            lambda fault: self.offer(root, f"The backup could not be restored: {fault}"),
        )

    def _open(self, root: Path, done: Restored) -> None:
        if self._application.quitting or not (window := self._application.open(root)):
            return
        text = f"The backup of {when(done.backup.made)} is in place."
        if done.replaced:
            text += f" The database that was there is kept: {done.replaced}"
        window.job_panel.say(text, "info")
        if done.unknown:
            names = ", ".join(done.unknown)
            text = f"Younger than the backup, and made anew by a run: {names}"
            window.job_panel.say(text, "warning")


class BackupsDialog(QDialog):
    """The backups of a project, with buttons to make one and to put one back."""

    restore_requested = Signal(object)  # Backup

    def __init__(self, root: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Backups")
        self._root = root
        self._thread = Background(self, "backups")
        self.finished.connect(lambda: self._thread.close(0))
        note = QLabel(NOTE)
        note.setWordWrap(True)
        self.told = QLabel("")
        self.told.setTextFormat(Qt.TextFormat.PlainText)
        self.told.setWordWrap(True)
        self.told.hide()
        empty = "No backups yet. One is made soon after a project is opened."
        self.table = Table("Backups", COLUMNS, empty)
        self.make_button = QPushButton("Back up now")
        self.make_button.clicked.connect(self.make)
        self.restore_button = QPushButton("Restore …")
        self.restore_button.clicked.connect(self.ask)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for button in (self.make_button, self.restore_button):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(note)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.told)
        layout.addWidget(buttons)
        self.resize(ems(self, 110), 26 * self.fontMetrics().lineSpacing())
        self.table.chosen.connect(lambda _: self._enable())
        self._list()

    def _list(self) -> None:
        chosen = self.chosen()
        self.table.set_rows(backups.found(self._root))
        rows = self.table.rows_model.rows
        if rows:
            self.table.selectRow(rows.index(chosen) if chosen in rows else 0)
        self._enable()

    def _enable(self) -> None:
        self.restore_button.setEnabled(self.chosen() is not None)

    def chosen(self) -> Backup | None:
        """The backup that is selected."""
        chosen: Backup | None = self.table.current()
        return chosen

    def make(self) -> None:
        """Makes one now, beside whatever runs."""
        self.make_button.setEnabled(False)
        self._say("The backup is being made and verified …")
        root = self._root
        self._thread.ask("make", lambda: backups.make(root), self._made, self._done)

    def _made(self, backup: Backup) -> None:
        self._done(f"{backup.name} is made and verified.")
        self._list()

    def _done(self, text: str) -> None:
        self.make_button.setEnabled(True)
        self._say(text)

    def _say(self, text: str) -> None:
        self.told.setText(text)
        self.told.show()

    def ask(self) -> QMessageBox | None:
        """Asks, without blocking, whether the selected backup is to be put back."""
        backup = self.chosen()
        if backup is None:
            return None
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle("Restore a backup")
        box.setText(f"Go back to how the project was at {when(backup.made)}?")
        box.setInformativeText(
            "What was done since is no longer in the project. The present database is kept beside "
            "the backups, so that you can go back to it in the same way. A run that is at work is "
            "paused, and the project is opened again."
        )
        restore = box.addButton("Restore", QMessageBox.ButtonRole.AcceptRole)
        set_role(restore, "danger")
        keep = box.addButton("Keep the project as it is", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        restore.clicked.connect(lambda: self.restore_requested.emit(backup))
        box.open()
        return box
