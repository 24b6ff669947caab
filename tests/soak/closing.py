"""Leaves the real window while it works, in a process of its own, and looks at what is left.

`leave` starts the window and waits for its end. In that process `Hand` does what a person does:
begins a job, and takes the way out at a given moment after a given event of it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swag_studio import app
from swag_studio.events import Event, Finished
from swag_studio.project import Project
from swag_studio.recipe import STAGES

if TYPE_CHECKING:
    from swag_studio.ui.application import Application
    from swag_studio.ui.main_window import MainWindow

# In an order in which a project can go through them all. torch, spacy: while they are imported.
JOBS = ("import", "torch", "spacy", "prepare", "train_lm", "generate", "check", "reading",
        "filter", "release")  # fmt: skip
WAYS = ("pause", "cancel", "SIGTERM", "SIGINT")
# What else may be the matter when a signal comes.
ODD_WAYS = (
    "SIGTERM SIGTERM",
    "SIGINT SIGTERM",
    "question SIGTERM",
    "file SIGTERM",
    "new SIGINT",
    "settings SIGTERM",
)

LINGER = 0.3  # seconds that each event lasts longer from the wanted one on: else short jobs end
LIMIT = 600.0  # seconds within which a job must begin
LEFT_WITHIN = 120.0  # seconds, on a machine that does much else; alone it takes 4 at most
# What Qt's offscreen platform says on stderr.
NO_MATTER = ("This plugin does not support",)


@dataclass(frozen=True)
class Plan:
    """One closing: `moment` seconds after the job told its event number `event`, or its last."""

    job: str
    way: str
    event: int
    moment: float
    file: str = ""  # for an import


def drawn(job: str, way: str, rng: random.Random, file: Path | None = None) -> Plan:
    """A plan with a moment at which the job is likely to be at work."""
    event = rng.randrange({"import": 3, "release": 3, "check": 5}.get(job, 12))
    longest = {"torch": 1.5, "spacy": 1.0, "reading": 0.5}.get(job, LINGER)
    return Plan(job, way, event, round(rng.uniform(0, longest), 3), str(file or ""))


@dataclass(frozen=True)
class Left:
    """How it went."""

    plan: Plan
    at_work: bool  # when the way out was taken
    seconds: float  # from there to the end of the process

    def __str__(self) -> str:
        idle = "" if self.at_work else " (over)"
        return f"{self.plan.job}{idle} by {self.plan.way}: {self.seconds:.1f} s"


def leave(root: Path, plan: Plan) -> Left:
    """Runs the window as planned. It ends with 0, without a crash, and the project is whole."""
    profile = root.parent / f"profile of {root.stem}"
    process = subprocess.Popen(
        [sys.executable, __file__, json.dumps(asdict(plan)), "--basedir", profile, root],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = process.stdout.readline()  # "" when it ended before
        began = time.monotonic()
        for word in plan.way.split():
            if word.startswith("SIG") and said:
                process.send_signal(getattr(signal, word))
        _, err = process.communicate(timeout=LEFT_WITHIN)
    finally:
        process.kill()
        process.communicate()
    seconds = time.monotonic() - began
    told = [line for line in err.splitlines() if not line.startswith(NO_MATTER)]
    assert said and process.returncode == 0 and told == [], (plan, process.returncode, told)
    assert (profile / "logs" / "crash.log").read_bytes() == b"", plan
    assert (profile / "logs" / "swag-studio.log").read_bytes() == b"", plan
    with Project.open(root) as project:
        assert project.check() == [], plan
    return Left(plan, json.loads(said)["at_work"], seconds)


# --- in the process that is left ---------------------------------------------------------------


class Hand:
    """Begins the job of a plan in a window, and leaves it. Its looks are a timer's."""

    def __init__(self, window: MainWindow, plan: Plan) -> None:
        from PySide6.QtCore import QTimer

        self.window, self.plan = window, plan
        self.begun = threading.Event()  # the job told the wanted event
        self.going = threading.Event()  # the way out is taken
        self.later = QTimer.singleShot
        self.beat = QTimer()
        self.beat.setInterval(5)
        self.beat.timeout.connect(self.look)
        self.beat.start()
        self.started = False
        _watch(self.begun, self.going, plan)

    def look(self) -> None:
        """Waits for the pages, then for the job."""
        if not self.started:
            if len(self.window.pages) == len(self.window.step_list):
                self.started = True
                self.start()
        elif self.begun.is_set() or self.plan.job in sys.modules:
            self.beat.stop()
            self.later(round(1000 * self.plan.moment), self.go)
        elif self.plan.job == "import":
            panel = self.window.page(0).panel  # type: ignore[attr-defined]
            if panel.bring_in.isVisible():
                panel.bring_in.click()

    def start(self) -> None:
        """What a person does to have the job done."""
        workspace = self.window.workspace
        if self.plan.job == "import":
            self.window.page(0).add_files([Path(self.plan.file)])  # type: ignore[attr-defined]
        elif self.plan.job == "check":
            workspace.check()
        elif self.plan.job == "reading":
            workspace.reader.ask("soak", self.read, lambda _: None)
        else:
            self.window.run_everything()

    def read(self) -> None:
        """A page that reads for longer than anyone waits."""
        project, end = self.window.workspace.project, time.monotonic() + 10 * self.plan.moment
        self.begun.set()
        while time.monotonic() < end:
            list(project.store.contexts(1))
            project.states()

    def go(self) -> None:
        """Takes the way out, or says that a signal may come."""
        workspace = self.window.workspace
        at_work = workspace.bridge.engine.busy or workspace.reader.busy
        self.going.set()
        said = json.dumps({"at_work": at_work})
        first = self.plan.way.split()[0]
        if first in ("pause", "cancel"):
            print(said)
            self.window.close()
            if box := self.window.closing.box:  # none, when the job was over
                words = {"pause": "Pause and quit", "cancel": "Cancel the job"}[first]
                next(b for b in box.buttons() if b.text() == words).click()
            return
        self.later(100, lambda: print(said))  # in the event loop of the dialog, where there is one
        if first == "question":
            self.window.close()
        elif first == "file":
            self.window.page(0).choose()  # type: ignore[attr-defined]
        elif first == "new":
            self.window.new_requested.emit()
        elif first == "settings":
            self.window.settings_requested.emit()


def _watch(begun: threading.Event, going: threading.Event, plan: Plan) -> None:
    """Has the engine's work tell when its wanted event came, wait there for the way out to be
    taken, however late a busy machine has that happen, and linger from there on.
    """
    job = plan.job

    def reached() -> None:
        begun.set()
        going.wait(LIMIT)

    def watched(work: Callable[..., Iterator[Event]], *, whole: bool) -> Callable[..., Any]:
        def events(*args: Any) -> Iterator[Event]:
            told = 0
            for event in work(*args):
                yield event
                if whole or getattr(event, "stage", "") == job:
                    told += 1
                    if told > plan.event or isinstance(event, Finished):
                        reached()
                if begun.is_set():
                    time.sleep(LINGER)
            reached()

        return events

    jobs = app.EngineJobs
    if job in STAGES:
        jobs.run = watched(jobs.run, whole=False)  # type: ignore[method-assign]
    elif job == "check":
        jobs.check = watched(jobs.check, whole=True)  # type: ignore[method-assign]
    elif job == "import":
        reads, writes = jobs.import_file, watched(jobs.import_file, whole=True)
        jobs.import_file = (  # type: ignore[method-assign]
            lambda *args: (reads if args[-1] else writes)(*args)
        )


def main() -> int:
    """The program, with a hand in its window."""
    plan = Plan(**json.loads(sys.argv.pop(1)))
    app._without_pandas()
    from swag_studio.ui.application import Application

    start, hands = Application.start, []

    def started(self: Application, paths: list[Path], demo: Path | None = None) -> None:
        start(self, paths, demo)
        hands.append(Hand(self.windows[0], plan))

    Application.start = started  # type: ignore[method-assign]
    threading.Thread(target=_give_up, daemon=True).start()
    return app.main(sys.argv[1:])


def _give_up() -> None:
    time.sleep(LIMIT)
    os._exit(3)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.exit(main())
