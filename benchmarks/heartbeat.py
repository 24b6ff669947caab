"""How late the window's event loop is while the engine works beside it.

    python benchmarks/heartbeat.py [--seconds 60] [--stage STAGE] [--threads N]

A real window on a real project, with the engine's real thread, set up as app.py does it. A timer
of 10 ms notes how late each beat is, while one stage works: prepare parses, train_lm trains,
generate samples, filter filters; `idle` does none of it. The window shows the stage's page, and a
second window draws five curves, raw and smoothed, with new values ten times a second. Wanted: 99%
of the beats within 100 ms, all within 250 ms.

Each stage is a process of its own and is broken off after `--seconds`; its recipe is large enough
to last so long. What the stages before it make is small, and made once for all. The time before a
stage's first event, when the engine's thread imports torch or spaCy, is told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in __main__.py, before torch is there

import numpy as np

from swag_studio import app
from swag_studio import recipe as recipes
from swag_studio.project import Project
from swag_studio.recipe import Recipe

if TYPE_CHECKING:
    from swag_studio.ui.charts import Chart

SWITCH = 0.0005  # s, as in app.py
BEAT = 10  # ms
TYPICAL, MOST = 100.0, 250.0  # ms
CURVES, POINTS, REDRAW = 5, 2_000, 100  # the last in ms
LEAVE_WITHIN = 20.0  # s
CAPTIONS_PER_SECOND = 3_000  # more than are parsed in one, so that parsing lasts

STAGES = ("idle", "prepare", "train_lm", "generate", "filter")
BEFORE = {"train_lm": "prepare", "generate": "train_lm", "filter": "generate"}
PAGES = {
    "idle": "Filtering",
    "prepare": "Sources",
    "train_lm": "Language models",
    "generate": "Candidates",
    "filter": "Filtering",
}
# The quickest models that the stages after them can still work with.
QUICK = {
    "prepare.max_contexts": 300,
    "lm.epochs": 1,
    "generate.candidates": 64,
    "generate.floor": 16,
    "filter.found_openings": False,  # such a model opens endings with anything
    "filter.found_slips": False,
}
LASTING: dict[str, dict[str, object]] = {
    "prepare": {"prepare.max_contexts": 0},
    "train_lm": {"lm.epochs": 1000, "lm.patience": 100},
    "generate": {"generate.candidates": 4000},
    # A few iterations of the MLP alone, then the ensemble: both within the time.
    "filter": {"filter.mlp_iterations": 10, "filter.ensemble_iterations": 10_000},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--stage", choices=STAGES)
    parser.add_argument("--threads", type=int, default=2, help="the recipe's run.threads")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)  # the inner process
    asked = parser.parse_args()
    if asked.folder:
        watch(asked.stage, asked.folder, asked.seconds)
        return
    stages = [asked.stage] if asked.stage else list(STAGES)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for stage in stages:
            make(stage, folder, asked.seconds, asked.threads)
            inner = [sys.executable, __file__, "--stage", stage, "--folder", name]
            subprocess.run([*inner, "--seconds", str(asked.seconds)], check=True)


# --- projects ------------------------------------------------------------------------------------


def root_of(stage: str, folder: Path) -> Path:
    """Parsing needs more captions than the other stages could get through."""
    return folder / ("parsing.swag" if stage == "prepare" else "work.swag")


def make(stage: str, folder: Path, seconds: float, threads: int) -> None:
    """The stage's project, with its recipe, and with the stages before it done."""
    root = root_of(stage, folder)
    recipe = recipe_of(stage, threads)
    if root.is_dir():
        with Project.open(root) as project:
            project.set_recipe(recipe)
    else:
        Project.create(root, recipe).close()
        captions = app.EngineJobs().demo_captions()
        if stage == "prepare":
            captions = enlarged(captions, folder, seconds)
        command("import", root, captions)
    if stage in BEFORE:
        command("run", root, "--until", BEFORE[stage])


def recipe_of(stage: str, threads: int) -> Recipe:
    values = {**QUICK, "run.threads": threads, **LASTING.get(stage, {})}
    return recipes.preset("small").with_values(values)


def enlarged(captions: Path, folder: Path, seconds: float) -> Path:
    """The captions as often as parsing takes longer than `seconds`; each copy a video of its own.

    A number in each sentence keeps the copies from being dropped as repetitions.
    """
    videos = json.loads(captions.read_text(encoding="utf-8"))
    count = sum(len(video["sentences"]) for video in videos.values())
    copies = 1 + int(seconds * CAPTIONS_PER_SECOND / count)
    many = {
        f"{name}_{i}": {
            **video,
            "sentences": [f"{s.rstrip('. ')} {i}." for s in video["sentences"]],
        }
        for i in range(copies)
        for name, video in videos.items()
    }
    path = folder / "captions.json"
    path.write_text(json.dumps(many), encoding="utf-8")
    return path


def command(*words: object) -> None:
    """One command of the program, quietly; its words only when it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "swag_studio", *map(str, words)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


# --- the window ----------------------------------------------------------------------------------


@dataclass
class Beats:
    """How late the beats of one timer came, in milliseconds."""

    late: list[float] = field(default_factory=list)
    _due: float | None = None

    def beat(self) -> None:
        now = time.perf_counter() * 1000
        if self._due is not None:
            self.late.append(max(0.0, now - self._due))
        self._due = now + BEAT

    def text(self) -> str:
        if not self.late:
            return "no beat"
        typical, almost = np.percentile(self.late, [50, 99])
        most = max(self.late)
        verdict = "held" if almost <= TYPICAL and most <= MOST else "NOT HELD"
        return (
            f"p50 {typical:5.1f}  p99 {almost:6.1f}  max {most:6.1f} ms  "
            f"of {len(self.late):,} beats: {verdict}"
        )


def watch(stage: str, folder: Path, seconds: float) -> None:
    """Opens the window, starts the stage and prints how late the beats were."""
    sys.setswitchinterval(SWITCH)
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from swag_studio.ui.application import Application

    qt = QApplication(sys.argv[:1])
    application = Application(qt, app.parts(folder))
    window = application.open(root_of(stage, folder))
    assert window is not None, "the project did not open"
    bridge = window.workspace.bridge
    chart, draw = curves()
    while len(window.pages) < len(window.step_list):
        qt.processEvents()
    window.show_titled(PAGES[stage])

    ready, work, events = Beats(), Beats(), [0]
    began: list[float] = [time.perf_counter()] if stage == "idle" else []
    told: list[object] = []

    def heard(event: object) -> None:
        events[0] += 1
        if getattr(event, "stage", "") == stage and not began:
            began.append(time.perf_counter())

    def beat() -> None:
        (work if began else ready).beat()
        if began and time.perf_counter() - began[0] >= seconds:
            qt.exit()  # quit() would ask the windows

    bridge.progress.connect(heard)
    bridge.ended.connect(lambda end: (told.append(end), qt.exit()))
    timers = []
    for interval, due in ((BEAT, beat), (REDRAW, draw)):
        timer = QTimer()
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(due)
        timer.start(interval)
        timers.append(timer)
    if stage != "idle":
        window.workspace.run_until(stage)
    qt.exec()
    for timer in timers:
        timer.stop()
    lasted = time.perf_counter() - began[0] if began else 0.0
    print(
        f"{stage:>9}  {work.text()}  ({lasted:.0f} s, {events[0]} times told of progress)",
        flush=True,
    )
    if ready.late:
        print(f"{'':>9}  until its first event: {ready.text()}", flush=True)
    if told:
        print(f"{'':>9}  it ended by itself: {told[0]}", flush=True)
    chart.close()
    window.leave()
    until = time.monotonic() + LEAVE_WITHIN
    while application.windows and time.monotonic() < until:
        qt.processEvents()
        time.sleep(0.01)
    sys.stdout.flush()
    os._exit(0)  # as app.py does when the engine's step is too long to wait for


def curves() -> tuple[Chart, Callable[[], None]]:
    """A window of five growing curves, and the function that adds a value to each."""
    from swag_studio.ui.charts import Chart  # late, as in the program
    from swag_studio.ui.theme import LIGHT

    chart = Chart("Curves", LIGHT)
    chart.resize(800, 400)
    values = np.random.default_rng(1).normal(0.5, 0.05, (CURVES, POINTS))
    for i in range(CURVES):
        chart.add_series(str(i), f"member {i}")
        chart.put_many(str(i), np.arange(POINTS), values[i])
    chart.show()
    steps = iter(range(POINTS, sys.maxsize))

    def draw() -> None:
        step = next(steps)
        for i in range(CURVES):
            chart.put(str(i), step, values[i, step % POINTS])
        chart.refresh()

    return chart, draw


if __name__ == "__main__":
    main()
