"""Leaving a project: what becomes of a running job, and threads that are over before the window.

The window hides at once; it goes, and the project is closed, once no thread uses the project any
more. How long that may take is the application's to say. A run that was paused is noted in the
project, so that the next window can offer to go on.
"""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from swag_studio.files import read_json, write_json
from swag_studio.project import Project
from swag_studio.recipe import STAGES
from swag_studio.ui.page import set_role
from swag_studio.ui.workspace import Workspace

NOTE = "paused.json"
BEAT = 50  # ms between two looks at whether the engine and the reader are over
MOMENT = 0.5  # seconds that a thread with little left to do gets to end


class Closing(QObject):
    """Has the engine stop after its present step. `done` once the window may go."""

    stopping = Signal()  # the window is left: nothing more is to be seen of it
    done = Signal()

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self.workspace, self._window = workspace, window
        self.box: QMessageBox | None = None
        self.leaving = self._finished = False
        self._timer = QTimer(self)
        self._timer.setInterval(BEAT)
        self._timer.timeout.connect(self._look)
        workspace.bridge.idle_changed.connect(self._idle)

    def may_go(self) -> bool:
        """Whether the window may go at once; else someone is asked first, or `done` will come."""
        if not self._finished:
            if self.workspace.bridge.engine.busy:
                self.ask()
            elif self.workspace.reader.close(MOMENT):
                self.finish()
            else:
                self.leave(pause=False)
        return self._finished

    def ask(self) -> None:
        """Asks, without blocking, what is to become of the job."""
        if self.box is not None or self.leaving:
            return
        box = self.box = QMessageBox(self._window)
        box.setWindowTitle("A job is running")
        box.setText("A job is running.")
        box.setInformativeText(
            "Paused, it goes on where it stopped when the project is opened again. "
            "Cancelled, what is done so far is kept too, but nothing goes on by itself."
        )
        keep = box.addButton("Keep running", QMessageBox.ButtonRole.RejectRole)
        pause = box.addButton("Pause and quit", QMessageBox.ButtonRole.AcceptRole)
        cancel = box.addButton("Cancel the job", QMessageBox.ButtonRole.DestructiveRole)
        set_role(cancel, "danger")
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        pause.clicked.connect(lambda: self.leave(pause=True))
        cancel.clicked.connect(lambda: self.leave(pause=False))
        box.finished.connect(self._answered)
        box.open()

    def _answered(self) -> None:
        if self.box is not None:
            self.box.deleteLater()
            self.box = None

    def _idle(self, idle: bool) -> None:
        if idle and self.box is not None:  # the job ended while it was asked about
            self.leave(pause=False)
        elif not idle:
            forget(self.workspace.project)

    def leave(self, *, pause: bool) -> None:
        """Stops the job after its present step and then tells `done`; `pause` notes it."""
        if self.leaving:
            return
        self.leaving = True
        dismiss_dialogs(self._window)
        if pause:
            stages = [task.until for task in self.workspace.bridge.tasks() if task.until]
            note(self.workspace.project, max(stages, key=STAGES.index, default=""))
        self.workspace.bridge.cancel()
        self.workspace.reader.close(0)
        self.stopping.emit()
        self._timer.start()
        self._look()

    def _look(self) -> None:
        if not (self.workspace.bridge.engine.busy or self.workspace.reader.busy):
            self.finish()
            self.done.emit()

    def finish(self) -> None:
        """Ends the threads, which have nothing left to do, and closes the project."""
        if self._finished:
            return
        self._finished = self.leaving = True
        self._timer.stop()
        self.workspace.bridge.stop()
        read = self.workspace.reader.close(MOMENT)
        # SQLite's connections must not be closed under a thread that uses them.
        if self.workspace.bridge.engine.close(MOMENT) and read:
            self.workspace.project.close()


def dismiss_dialogs(window: QWidget) -> None:
    """Has the dialogs above a window go, as Escape does; they would stay when it hides.

    With them go the event loops that Qt runs for file dialogs inside the click that asked for one.
    """
    for dialog in window.findChildren(QDialog):
        if dialog.isVisible():
            dialog.reject()


def note(project: Project, until: str) -> None:
    """Keeps in the project that a run to the stage `until` was paused. A full disk is no matter."""
    if until:
        with suppress(OSError):
            write_json(project.root / NOTE, {"until": until})


def paused(project: Project) -> str:
    """The stage that a paused run goes to, or ""."""
    try:
        until = read_json(project.root / NOTE)["until"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return until if until in STAGES else ""


def forget(project: Project) -> None:
    """Removes the note."""
    with suppress(OSError):
        (project.root / NOTE).unlink(missing_ok=True)
