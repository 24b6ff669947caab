"""The only wiring of the window and the engine, and the choice between window and terminal."""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from swag_studio import cli
from swag_studio.errors import quoted
from swag_studio.events import Event, Finished, Message, Progress

if TYPE_CHECKING:
    from swag_studio.integrity import Look
    from swag_studio.project import Project
    from swag_studio.recipe import Recipe
    from swag_studio.releases import ReleaseOptions
    from swag_studio.ui.application import Parts
    from swag_studio.views import (
        Comparison,
        FeedbackPreview,
        Outlook,
        PoolReader,
        ShownQuestion,
        WatchReader,
    )

# torch, spaCy and Qt are imported where they are used: the window shows before the first two, and
# a command needs no window.

_OPENED = (".swag", ".swagproj", ".swagpacket")  # what a window shows


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _tell_crashes()
    if (wish := _window_wanted(words)) is not None:
        return _run_window(wish)
    if (asked := _asked(words)) is not None and asked.paths:
        return cli.without_display(str(asked.paths[0]))
    return cli.main(words)


def _tell_crashes() -> None:
    """A crash says on the terminal where it happened. A window writes it to its log instead."""
    if not faulthandler.is_enabled():
        with suppress(RuntimeError, OSError, ValueError):  # no terminal, such as for a program file
            faulthandler.enable()


# --- window or terminal ------------------------------------------------------------------------


def _window_wanted(words: list[str]) -> argparse.Namespace | None:
    """What the window is to open; None for a command, and where there is no display."""
    return _asked(words) if _has_display() else None


def _asked(words: list[str]) -> argparse.Namespace | None:
    """What a window would open: nothing, project folders, work packets, or the demo.

    None where the words are those of a command.
    """
    parser = argparse.ArgumentParser(prog="swag-studio", add_help=False, exit_on_error=False)
    parser.add_argument("--basedir", type=Path)
    parser.add_argument("--quit-when-done", action="store_true")  # for packaging/smoke alone
    parser.add_argument("paths", nargs="*")
    try:
        wish, unknown = parser.parse_known_args(words)
    except (argparse.ArgumentError, SystemExit):
        return None
    first = wish.paths[0] if wish.paths else ""
    wish.demo = None
    if unknown:
        return None
    if first == "demo" and len(wish.paths) <= 2:
        wish.demo = Path(wish.paths[1] if len(wish.paths) == 2 else "")
        wish.paths = []
    elif first and not all(Path(p).suffix in _OPENED for p in wish.paths):
        return None
    wish.paths = [Path(p) for p in wish.paths]
    return wish


def _has_display() -> bool:
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(k) for k in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _run_window(wish: argparse.Namespace) -> int:
    # The engine's thread gives way to the window's ten times as often as Python would have it:
    # without this, parsing delays the window by up to 150 ms.
    sys.setswitchinterval(0.0005)
    _without_pandas()
    from PySide6.QtWidgets import QApplication

    from swag_studio.ui.application import Application

    app = QApplication(sys.argv[:1])
    # The application knows better: a window that is hidden may still have a step to end.
    app.setQuitOnLastWindowClosed(False)
    application = Application(app, parts(wish.basedir))
    application.over.connect(lambda: app.exit(0))  # quit() would ask the windows once more
    application.watch_signals()
    application.start(wish.paths, wish.demo)
    if wish.quit_when_done:
        application.quit_when_done()
    code = app.exec()
    for number in (signal.SIGTERM, signal.SIGINT):  # what they ask for is happening
        signal.signal(number, signal.SIG_IGN)
    application.shut_down()
    _end_under_threads(code)
    return code


def _end_under_threads(code: int) -> None:
    """Ends the process, if a thread of the program is still at a step or a read.

    It had its time (`application.LEAVE_WITHIN`). Nothing stops a thread in the middle of, say, an
    import, and the interpreter must not be taken down under it. The settings are saved and the log
    is closed by now; a project is whole at any moment, and what of it is not done is made anew.
    """
    names = ("engine", "reader", "backups")
    if not any(t.name in names and t.is_alive() for t in threading.enumerate()):
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # none, broken or closed
            stream.flush()
    os._exit(code)


def _without_pandas() -> None:
    """sqlite-utils imports pandas where it finds it, for a feature that is not used: 0.5 s."""
    if "pandas" not in sys.modules:
        sys.modules["pandas"] = None  # type: ignore[assignment]
        import sqlite_utils  # noqa: F401

        del sys.modules["pandas"]


# --- the engine, as the window gets it -----------------------------------------------------------


class EngineJobs:
    """The window's `Jobs`. The bodies run in the engine's thread, and so do their imports."""

    def run(self, recipe: Recipe, project: Project, until: str) -> Iterator[Event]:
        from swag_studio.engine.loading import load_torch

        load_torch()
        from swag_studio.engine import pipeline

        yield from pipeline.run(recipe, project, until)

    def import_file(
        self, path: Path, project: Project, source: str | None, dry_run: bool
    ) -> Iterator[Event]:
        from swag_studio.engine.ingest import run_import

        yield from run_import(path, project, source, dry_run, preview=50, places=200)

    def check(self, project: Project) -> Iterator[Event]:
        from swag_studio.integrity import KINDS, whole
        from swag_studio.mending import mendable

        yield Progress("check", 0, 0, note=KINDS["database"][0])
        looks: list[Look] = []
        for look in project.checking():
            looks.append(look)
            yield Progress("check", len(looks), 0, "files", look.name)
        problems = [look for look in looks if look.problem]
        told = [look.told for look in problems]
        if mendable(project, looks):
            again = f"swag-studio check {quoted(project.root)} --mend"
            told.append(f"Close the project, then: {again}")
        if problems:
            text = f"Check project: {len(problems):,} of what was looked at is damaged or missing."
            yield Message("check", text, "error", "\n".join(told))
        else:
            yield Message("check", f"Checked: {whole(looks)}.")
        yield Finished("check", {"problems": told})

    def source_names(self) -> list[str]:
        from swag_studio.engine.registry import SOURCES

        return list(SOURCES)

    def source_reasons(self) -> Mapping[str, str]:
        from swag_studio.engine.sources.base import REASONS

        return REASONS

    def demo_captions(self) -> Path:
        from importlib.resources import files

        return Path(str(files("swag_studio.resources") / "demo" / "captions.json"))

    def pool(self, project: Project) -> PoolReader:
        from swag_studio.engine.browse import PoolBrowser

        return PoolBrowser(project)

    def watch(self, project: Project, version: int) -> WatchReader:
        from swag_studio.engine.watch import AssignmentWatch

        return AssignmentWatch(project, version)

    def review(self, project: Project, version: int) -> Iterator[int]:
        from swag_studio.engine.review import fill_version

        yield from fill_version(project, version)

    def publish(self, project: Project, options: ReleaseOptions) -> Iterator[Event]:
        from swag_studio.engine.publish import publish

        yield from publish(project, options)

    def rehearse(self, project: Project, options: ReleaseOptions) -> Iterator[Event]:
        from swag_studio.engine.rehearsal import rehearse

        yield from rehearse(project, options)

    def outlook(self, project: Project, options: ReleaseOptions) -> Outlook:
        from swag_studio.engine.rehearsal import outlook

        return outlook(project, options)

    def release_formats(self) -> Mapping[str, str]:
        from swag_studio.engine.release_asked import formats

        return formats()

    def release_questions(self, folder: Path) -> list[ShownQuestion]:
        from swag_studio.engine.rehearsal import first_of
        from swag_studio.engine.released import questions

        return first_of(questions(folder))

    def compare_releases(self, first: Path, second: Path) -> Comparison:
        from swag_studio.engine.rehearsal import compared

        return compared(first, second)

    def feedback_preview(self, project: Project) -> FeedbackPreview:
        from swag_studio.engine import feedback

        return feedback.preview(project)

    def filter_again(self, project: Project, gibberish: str, iterations: int) -> Iterator[Event]:
        from swag_studio.engine import feedback
        from swag_studio.engine.loading import load_torch

        load_torch()
        use = next(use for use in feedback.USES if use == gibberish)
        yield from feedback.filter_again(project, 0, use, iterations)

    def accelerator(self) -> str:
        """The GPU's memory; "" until the engine has brought torch in and uses a GPU."""
        torch = sys.modules.get("torch")
        try:
            if torch is not None and torch.cuda.is_initialized():
                free, total = torch.cuda.mem_get_info()
                return f"GPU memory {(total - free) / 2**30:.1f} of {total / 2**30:.0f} GiB"
        except (AttributeError, RuntimeError):  # another thread is still importing it
            pass
        return ""


def parts(basedir: Path | None) -> Parts:
    """The engine and the folders, for a window."""
    import appdirs

    from swag_studio.engine.engine import Engine
    from swag_studio.ui.application import Parts

    logs = basedir / "logs" if basedir else Path(appdirs.user_log_dir("swag-studio", False))
    return Parts(Engine, EngineJobs(), logs, basedir)
