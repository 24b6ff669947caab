"""Leaving a project: what becomes of a running job, and an engine that is over before the window.

A job that was paused is noted in the project, so that the next window can offer to go on.
"""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from swag_studio.files import read_json, write_json
from swag_studio.project import Project
from swag_studio.recipe import STAGES
from swag_studio.ui.workspace import Workspace

NOTE = "paused.json"
BEAT = 50  # ms between two looks at whether the engine is over
CLOSE_WITHIN = 10.0  # seconds that the engine's thread gets to end once its job is over


class Closing(QObject):
    """Has the engine stop after its present step. `done` once the window may go."""

    done = Signal()
    stopping = Signal()

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self.workspace, self._window = workspace, window
        self.box: QMessageBox | None = None
        self._leaving = self._finished = False
        self._timer = QTimer(self)
        self._timer.setInterval(BEAT)
        self._timer.timeout.connect(self._look)
        workspace.bridge.idle_changed.connect(self._idle)

    def ask(self) -> None:
        """Asks, without blocking, what is to become of the job."""
        if self.box is not None or self._leaving:
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
        if self._leaving:
            return
        self._leaving = True
        if self.box is not None:
            self.box.close()
        if pause:
            stages = [task.until for task in self.workspace.bridge.tasks() if task.until]
            note(self.workspace.project, max(stages, key=STAGES.index, default=""))
        self.workspace.bridge.cancel()
        self.stopping.emit()
        self._timer.start()
        self._look()

    def _look(self) -> None:
        if not self.workspace.bridge.engine.busy:
            self.finish()
            self.done.emit()

    def finish(self) -> None:
        """Ends the engine's thread and closes the project. Safe to call twice."""
        if self._finished:
            return
        self._finished = self._leaving = True
        self._timer.stop()
        self.workspace.bridge.stop()
        self.workspace.reader.close()
        self.workspace.bridge.engine.close(CLOSE_WITHIN)
        self.workspace.project.close()


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
