"""Checking and writing a release as jobs of the engine, one at a time, and how they ended.

It knows no widget; what was found is told by a signal once the engine is through.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from swag_studio.errors import UserError
from swag_studio.events import Event, Finished
from swag_studio.releases import ReleaseOptions
from swag_studio.ui.bridge import Task
from swag_studio.ui.workspace import Workspace

Kind = Literal["rehearse", "publish"]


@dataclass(eq=False)
class Errand:
    """A job, and how it ended: without summary and error it was cancelled, or failed by a fault.

    `summary` and `error` are written in the engine's thread until it is over.
    """

    kind: Kind
    options: ReleaseOptions
    summary: dict[str, Any] | None = None
    error: str = ""
    task: Task | None = None
    overtaken: bool = False  # what it looks at was changed meanwhile

    @property
    def over(self) -> bool:
        found = self.summary is not None or bool(self.error)
        return found or (self.task is not None and self.task.state == "over")


class ReleaseJobs(QObject):
    """Starts a job and follows it to its end. `errand` is the one at hand, or None."""

    ended = Signal(object)  # Errand

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self.errand: Errand | None = None
        workspace.bridge.ended.connect(lambda _: self._collect(idle=False))
        workspace.bridge.idle_changed.connect(lambda idle: self._collect(idle=idle))

    def start(self, kind: Kind, options: ReleaseOptions) -> bool:
        """Queues a check, or the writing. False while another one is not over."""
        if self.errand is not None:
            return False
        errand = self.errand = Errand(kind, options)
        jobs, project = self.workspace.jobs, self.workspace.project
        job = jobs.rehearse if kind == "rehearse" else jobs.publish

        def work() -> Iterator[Event]:
            try:
                for event in job(project, options):
                    if isinstance(event, Finished):
                        errand.summary = dict(event.summary)
                    yield event
            except UserError as error:
                errand.error = str(error)
                raise

        verb = "Check" if kind == "rehearse" else "Write"
        errand.task = self.workspace.bridge.submit(work, f"{verb} release {options.version}")
        return True

    def _collect(self, *, idle: bool) -> None:
        errand = self.errand
        if errand is not None and (errand.over or idle):
            self.errand = None
            self.ended.emit(errand)
