"""What goes wrong in the engine's thread, as the window tells it; and nothing is lost by it."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeJobs
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from sqlite_utils import Database
from waiting import leave

sys.path.append(str(Path(__file__).parent.parent / "engine"))

from tiny_project import RECIPE, prepared

from swag_studio.connections import Connections
from swag_studio.engine import pipeline
from swag_studio.engine.candidates import BlockMaker
from swag_studio.engine.engine import Engine
from swag_studio.engine.ingest import run_import
from swag_studio.errors import StageError
from swag_studio.events import Event, Progress
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import Artifact
from swag_studio.settings import Settings
from swag_studio.ui.bridge import Bridge
from swag_studio.ui.faults import Faults
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.pages import PAGES
from swag_studio.ui.theme import LIGHT
from swag_studio.ui.workspace import Workspace

WITHIN = 30_000  # ms: for a machine that does much else
CPU = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8589934592 bytes."
AGAIN = "run again: it goes on where it stopped."


class RealJobs(FakeJobs):
    """Runs the real pipeline; `meanwhile` is called before each of its events is passed on."""

    meanwhile: Callable[[Event], None] | None = None

    def run(self, recipe: Recipe, project: Project, until: str) -> Iterator[Event]:
        for event in pipeline.run(recipe, project, until):
            if self.meanwhile is not None:
                self.meanwhile(event)
            yield event


@pytest.fixture
def tiny(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    """The window, with the real engine, of a project whose candidates can be sampled at once."""
    project = prepared(tmp_path / "tiny.swag", RECIPE)
    yield from opened(qtbot, project, RealJobs(), tmp_path)


@pytest.fixture
def window(qtbot: QtBot, project: Project, jobs: FakeJobs, tmp_path: Path) -> Iterator[MainWindow]:
    """The window, with the real engine, of an empty project with faked jobs."""
    yield from opened(qtbot, project, jobs, tmp_path)


def opened(qtbot: QtBot, project: Project, jobs: FakeJobs, tmp_path: Path) -> Iterator[MainWindow]:
    workspace = Workspace(project, Bridge(Engine()), jobs, LIGHT, Settings())
    window = MainWindow(workspace, PAGES[:1])
    faults = Faults(tmp_path / "logs", lambda text, detail: panel.say(text, "error", detail))
    panel = window.job_panel
    faults.install()
    window.show()
    yield window
    leave(qtbot, window)
    faults.remove()


def run(qtbot: QtBot, window: MainWindow, until: str = "generate") -> None:
    """Runs and waits until nothing is left to do."""
    window.workspace.run_until(until)
    qtbot.waitUntil(lambda: window.workspace.bridge.idle, timeout=WITHIN)


def told(qtbot: QtBot, window: MainWindow) -> tuple[str, str]:
    """The last error that the panel tells, and its detail, unfolded and copied as a person does."""
    assert QApplication.activeModalWidget() is None and window.isVisible()
    panel = window.job_panel
    assert panel.list.isVisible() and not panel.list.detail.isVisible()
    rows = [panel.list.list.item(i).text() for i in range(panel.list.list.count())]
    row = max(i for i, text in enumerate(rows) if "✗" in text)
    panel.list.list.setCurrentRow(row)
    qtbot.keyClick(panel.list.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    text, _, detail = QApplication.clipboard().text().partition("\n")
    assert panel.list.detail.isVisible() == bool(detail)
    assert panel.list.detail.toPlainText() == detail
    panel.list.list.clearSelection()
    return text, detail


def whole(window: MainWindow) -> bool:
    return window.workspace.project.check() == []


def is_done(window: MainWindow, stage: str = "generate") -> bool:
    states = {s.stage: s.state for s in window.workspace.project.states(RECIPE)}
    return states[stage] == "done"


# --- told ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "The memory is full. Close other programs"),
        (RuntimeError(CPU), "The memory is full. Close other programs"),
        (RuntimeError("CUDA out of memory."), "The accelerator’s memory is full."),
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full. Make room"),
        (sqlite3.OperationalError("database or disk is full"), "The disk is full. Make room"),
        (FileNotFoundError(errno.ENOENT, "gone", "/films/a.json"), "/films/a.json is gone:"),
        (PermissionError(errno.EACCES, "no", "/films/a.json"), "/films/a.json may not be used"),
    ],
)
def test_a_misfortune_is_told_in_plain_words(
    qtbot: QtBot, window: MainWindow, jobs: FakeJobs, error: Exception, said: str
) -> None:
    jobs.error = error
    run(qtbot, window)
    text, detail = told(qtbot, window)
    assert text.startswith(f"Sampling candidates: {said}") and AGAIN in text
    assert "Traceback" in detail and type(error).__name__ in detail
    jobs.error = None
    run(qtbot, window)
    assert window.job_panel.latest.text() == "Sampling candidates: done."
    assert whole(window)


def test_an_error_of_the_user_has_no_traceback(
    qtbot: QtBot, window: MainWindow, jobs: FakeJobs
) -> None:
    jobs.error = StageError("only 3 contexts are left. Import more captions.")
    run(qtbot, window, "filter")
    words = "Adversarial filtering: only 3 contexts are left. Import more captions."
    assert told(qtbot, window) == (words, "")


def test_a_fault_of_ours_keeps_the_data_out_of_its_sentence(
    qtbot: QtBot, window: MainWindow, jobs: FakeJobs
) -> None:
    jobs.error = KeyError("she opens the door")
    run(qtbot, window)
    text, detail = told(qtbot, window)
    assert "a fault of its own (KeyError)" in text and "door" not in text
    assert "Traceback" in detail


def test_what_fails_again_and_again_is_told_once(qtbot: QtBot, window: MainWindow) -> None:
    panel = window.job_panel
    panel.say("one", "info")
    for _ in range(50):
        panel.say("The disk is full.", "error", "trace")
    panel.say("The disk is full.", "error", "another trace")
    rows = [panel.list.list.item(i).text() for i in range(panel.list.list.count())]
    assert len(rows) == 3 and "(50 times)" in rows[1] and "times" not in rows[2]
    assert panel.list.text().splitlines()[:3] == ["one", "The disk is full.", "trace"]


CONNECT = Connections._connect


def with_few_pages(self: Connections) -> Database:
    """A connection to a database that may hardly grow: SQLite's own limit, which it tells as it
    tells a full disk."""
    db = CONNECT(self)
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages + 4}")
    return db


def much(project: Project, artifact: Artifact, summary: object) -> Artifact:
    """Writes more than the free pages of a database hold."""
    project.store.put_artifact(replace(artifact, done=True, recipe="#" * 1_000_000))
    return artifact


def room(project: Project) -> Iterator[Event]:
    """Lifts the limit of this thread's connection."""
    project.store.db.execute("PRAGMA max_page_count = 1000000")
    yield Progress("", 1, 1)


def test_a_long_sentence_is_whole_beside_its_detail(qtbot: QtBot, window: MainWindow) -> None:
    panel = window.job_panel
    window.resize(700, 600)
    panel.more.setChecked(True)
    panel.say("The disk is full. " * 12, "error", "trace")
    view = panel.list.list
    view.setCurrentRow(0)
    QApplication.processEvents()
    row, metrics = view.visualItemRect(view.item(0)), view.fontMetrics()
    assert panel.list.detail.isVisible()
    lines = metrics.horizontalAdvance(view.item(0).text()) / row.width()
    assert row.height() >= lines * metrics.lineSpacing() > 3 * metrics.lineSpacing()
    assert row.width() <= view.viewport().width()


# --- lived through: the real pipeline ----------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "The disk is full. "),
        (errno.EACCES, "may not be used (permission denied)"),
        (errno.EROFS, "may not be used (read-only file system)"),
        (errno.EIO, "The drive does not answer. "),
    ],
)
def test_a_folder_that_takes_no_more_files(
    qtbot: QtBot, tiny: MainWindow, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    written = []

    def fsync(file: int) -> None:
        written.append(file)
        if len(written) > 4:  # a part of the pool is there by then
            raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        run(qtbot, tiny)
    text, detail = told(qtbot, tiny)
    root = tiny.workspace.project.root
    assert said in text and str(root) in text and AGAIN in text and "Traceback" in detail
    assert whole(tiny) and not is_done(tiny)
    assert list(root.rglob("*.tmp")) == []
    run(qtbot, tiny)
    assert is_done(tiny) and whole(tiny)


def test_a_database_that_is_full(
    qtbot: QtBot, tiny: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Connections, "_connect", with_few_pages)  # the engine's thread has none yet
        patch.setattr(Project, "finish", much)
        run(qtbot, tiny)
    assert told(qtbot, tiny)[0].startswith("Sampling candidates: The disk is full.")
    assert whole(tiny) and not is_done(tiny)
    tiny.workspace.bridge.submit(lambda: room(tiny.workspace.project))
    run(qtbot, tiny)
    assert is_done(tiny) and whole(tiny)


def test_memory_that_is_full_in_the_middle(
    qtbot: QtBot, tiny: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = BlockMaker.make

    def short(self: Any, contexts: range, rows: int) -> Any:
        if contexts.start:
            raise RuntimeError(CPU)
        return make(self, contexts, rows)

    with monkeypatch.context() as patch:
        patch.setattr(BlockMaker, "make", short)
        run(qtbot, tiny)
    assert told(qtbot, tiny)[0].startswith("Sampling candidates: The memory is full.")
    assert whole(tiny) and not is_done(tiny)
    run(qtbot, tiny)
    assert is_done(tiny) and whole(tiny)


def test_a_project_that_is_moved_away_while_it_runs(qtbot: QtBot, tiny: MainWindow) -> None:
    project, jobs = tiny.workspace.project, tiny.workspace.jobs
    assert isinstance(jobs, RealJobs)
    elsewhere = project.root.with_name("elsewhere")

    def move(event: Event) -> None:
        if getattr(event, "stage", "") == "generate" and project.root.exists():
            project.root.rename(elsewhere)

    jobs.meanwhile = move
    run(qtbot, tiny)
    text, _ = told(qtbot, tiny)
    assert f"{project.root} is gone: it was moved or removed" in text and AGAIN in text
    assert not project.root.exists(), "a second project was begun in its place"
    jobs.meanwhile = None
    tiny.job_panel.say("asked again")
    QTimer.singleShot(0, tiny, lambda: tiny.workspace.run_until("generate"))
    latest = tiny.job_panel.latest
    qtbot.waitUntil(lambda: f"{project.root} is gone" in latest.text(), timeout=WITHIN)
    assert not project.root.exists()
    elsewhere.rename(project.root)
    run(qtbot, tiny)
    assert is_done(tiny) and whole(tiny)


# --- lived through: imports ------------------------------------------------------------------


def bring_in(
    qtbot: QtBot, window: MainWindow, path: Path, meanwhile: Callable[[], object] = lambda: None
) -> None:
    """Imports a file with the engine's own job; `meanwhile` is called at its first event."""
    project = window.workspace.project

    def job() -> Iterator[Event]:
        for number, event in enumerate(run_import(path, project)):
            if not number:
                meanwhile()
            yield event

    window.workspace.bridge.submit(job, "Import")
    qtbot.waitUntil(lambda: window.workspace.bridge.idle, timeout=WITHIN)


def file_of_captions(folder: Path, count: int) -> Path:
    path = folder / "captions.jsonl"
    lines = [
        {"document": f"d{i // 5}", "position": i % 5, "text": f"She opens the door {i} of a house."}
        for i in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_a_source_that_vanishes_while_it_is_read(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = file_of_captions(tmp_path, 50)
    bring_in(qtbot, window, path, path.unlink)
    assert told(qtbot, window) == (f"Importing: {path}: there is no such file.", "")
    assert window.workspace.project.store.sources() == [] and whole(window)
    bring_in(qtbot, window, file_of_captions(tmp_path, 50))
    assert len(window.workspace.project.store.sources()) == 1 and whole(window)


def test_an_import_that_fills_the_disk_leaves_nothing(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store = file_of_captions(tmp_path, 3000), window.workspace.project.store
    with monkeypatch.context() as patch:
        patch.setattr(Connections, "_connect", with_few_pages)
        bring_in(qtbot, window, path)
    text, detail = told(qtbot, window)
    assert text.startswith("Importing: The disk is full.") and "door" not in text + detail
    assert store.sources() == [] and list(store.captions()) == [] and whole(window)
    window.workspace.bridge.submit(lambda: room(window.workspace.project))
    bring_in(qtbot, window, path)
    assert [source.captions for source in store.sources()] == [3000] and whole(window)
