"""Caption files on their way in: each is read without writing, shown, then imported or skipped.

The work is done by the engine; what it found comes back here, file by file. It knows no widgets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from swag_studio.errors import UserError
from swag_studio.events import Changed, Event, Finished, Progress
from swag_studio.ui.bridge import Task
from swag_studio.ui.workspace import Workspace

READING = "preview"  # the stage that a dry run's events bear: it imports nothing

_CANCELLED = "Cancelled. Nothing of the file was imported."

State = Literal["reading", "read", "refused", "importing", "imported", "failed"]


@dataclass(eq=False)
class Errand:
    """One job for one file, and how it ended. Written in the engine's thread until it is over."""

    dry_run: bool
    summary: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    published: bool = False  # from here on the file is imported, whoever cancels
    task: Task | None = None

    @property
    def over(self) -> bool:
        # Asked first: what was found is here before the task is over.
        ended = self.task is not None and self.task.state == "over"
        return ended or bool(self.summary or self.error)

    @property
    def cancelled(self) -> bool:
        """Of one that is over: whether it did not come to an end of its own."""
        return not (self.summary or self.error or self.published)


@dataclass(eq=False)
class WaitingFile:
    """A file that was chosen. `source` is the format asked for, "" to have it recognised."""

    path: Path
    source: str = ""
    state: State = "reading"
    summary: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    errand: Errand | None = None

    @property
    def waits(self) -> bool:
        """Whether its job stands behind another one."""
        task = self.errand.task if self.errand else None
        return task is not None and task.state == "waiting"


class ImportQueue(QObject):
    """The chosen files in their order. `changed` after anything that a view shows."""

    changed = Signal()
    imported = Signal(object)  # WaitingFile

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self.files: list[WaitingFile] = []
        workspace.bridge.ended.connect(lambda _: self.collect())
        workspace.bridge.idle_changed.connect(lambda idle: self.collect(idle=idle))
        workspace.bridge.queue_changed.connect(lambda _: self.changed.emit())

    # --- what a person asks for --------------------------------------------------------------

    def add(self, paths: list[Path]) -> None:
        """Reads these files without importing them. One that waits already is not added again."""
        for path in dict.fromkeys(paths):
            if all(f.path != path for f in self.files):
                file = WaitingFile(path)
                self.files.append(file)
                self._send(file, dry_run=True)
        self.changed.emit()

    def read_as(self, file: WaitingFile, source: str) -> None:
        """Reads the file again, as another format."""
        file.source = source
        self._send(file, dry_run=True)
        self.changed.emit()

    def bring_in(self, file: WaitingFile) -> None:
        """Imports a file that was read."""
        if file.state == "read" and not file.summary.get("already_imported"):
            file.source = str(file.summary["format"])
            self._send(file, dry_run=False)
            self.changed.emit()

    def drop(self, file: WaitingFile) -> None:
        """Leaves a file out."""
        if file in self.files:
            self.files.remove(file)
            self.changed.emit()

    # --- the work ----------------------------------------------------------------------------

    def _send(self, file: WaitingFile, *, dry_run: bool) -> None:
        errand = Errand(dry_run)
        file.errand, file.error = errand, ""
        file.state = "reading" if dry_run else "importing"
        path, source = file.path, file.source or None
        jobs, project = self.workspace.jobs, self.workspace.project

        def work() -> Iterator[Event]:
            stage = READING if dry_run else "ingest"
            yield Progress(stage, 0, 0, "bytes", path.name)
            try:
                yield from _told(jobs.import_file(path, project, source, dry_run), errand)
            except UserError as error:
                errand.error = str(error)
                if not dry_run:
                    raise
                yield Finished(READING)
            except Exception:
                errand.error = f"{path.name} could not be read: see the messages of the run."
                raise

        name = f"{'Read' if dry_run else 'Import'} {path.name}"
        errand.task = self.workspace.bridge.submit(work, name)

    def collect(self, *, idle: bool = False) -> None:
        """Takes over what the jobs that are over have found; all are where the engine is idle.

        Whatever is over and did not say how it ended was cancelled.
        """
        done = [f for f in self.files if f.errand is not None and (f.errand.over or idle)]
        for file in done:
            errand, file.errand = file.errand, None
            assert errand is not None
            file.error = _CANCELLED if errand.cancelled else errand.error
            file.summary = errand.summary or file.summary
            if errand.dry_run:
                file.state = "refused" if file.error else "read"
            else:
                file.state = "failed" if file.error else "imported"
            if file.state == "imported":
                self.files.remove(file)
                self.imported.emit(file)
        if done:
            self.changed.emit()


def _told(events: Iterator[Event], errand: Errand) -> Iterator[Event]:
    """The events as the window is to see them, with the summary kept.

    A dry run's messages say what the preview shows, and it is no import.
    """
    for event in events:
        if isinstance(event, Finished):
            errand.summary = dict(event.summary)
        elif isinstance(event, Changed) and "sources" in event.tables and not errand.dry_run:
            errand.published = True
        if not errand.dry_run:
            yield event
        elif isinstance(event, Progress | Finished):
            yield replace(event, stage=READING)
