"""How long until a window is there: the start window, a small project, one of 113,000 contexts.

    python benchmarks/startup.py [REPEATS]

Each is a process of its own, timed from its creation to the first paint of its window (at most
1.5 s), and to the moment when all pages are made (at most 2 s for the large project). Neither
torch nor spaCy may be loaded by then. The CPU time beside it is what a busy machine cannot blur.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from swag_studio import recipe as recipes
from swag_studio.project import Project
from swag_studio.records import Context, SourceInfo

CONTEXTS = 113_000

CHILD = """
import json, sys, time
from swag_studio import app
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

class Watch(QObject):
    seen = None

    def eventFilter(self, watched, event):
        if self.seen is None and event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            self.seen = time.monotonic(), time.process_time()
            loaded = [m for m in ("torch", "spacy") if m in sys.modules]
            assert loaded == [], loaded
        return False

watch = Watch()
created = QApplication.exec

def run():
    instance = QApplication.instance()
    instance.installEventFilter(watch)
    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(5)
    return created()

def look():
    from swag_studio.ui.main_window import MainWindow
    windows = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
    if watch.seen and all(len(w.pages) == len(w.step_list) for w in windows):
        print(json.dumps([*watch.seen, time.monotonic(), time.process_time()]), flush=True)
        for w in windows:
            w.close()
        QApplication.quit()

QApplication.exec = staticmethod(run)
sys.exit(app.main(sys.argv[1:]))
"""


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.swag"
        Project.create(small, recipes.preset("demo")).close()
        large = Path(folder) / "large.swag"
        began = time.perf_counter()
        fill(large)
        print(f"a project of {CONTEXTS:,} contexts made in {time.perf_counter() - began:.1f} s")
        for name, arguments in (("start window", []), ("small", [small]), ("large", [large])):
            report(name, [measure([*arguments, "--basedir", folder]) for _ in range(repeats)])
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")


def measure(arguments: list[object]) -> list[float]:
    """Seconds from the process's creation: first paint, its CPU; all pages, its CPU."""
    environment = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )
    seen, seen_cpu, made, made_cpu = json.loads(done.stdout.splitlines()[-1])
    return [seen - began, seen_cpu, made - began, made_cpu]


def report(name: str, runs: list[list[float]]) -> None:
    for what, wall, cpu in (("window visible", 0, 1), ("all pages made", 2, 3)):
        walls, cpus = [r[wall] for r in runs], [r[cpu] for r in runs]
        print(
            f"{name:>13}  {what}: {statistics.median(walls):.2f} s (best {min(walls):.2f}), "
            f"CPU {statistics.median(cpus):.2f} s (best {min(cpus):.2f})"
        )


def fill(root: Path) -> None:
    """A project whose Prepare has given `CONTEXTS` contexts."""
    with Project.create(root, recipes.preset("paper")) as project:
        info = SourceInfo("s", "captions.json", "activitynet", "0", 1, CONTEXTS // 5, CONTEXTS, 0)
        project.store.stage_source(info)
        project.store.publish_source(info)
        artifact = project.begin("prepare", project.recipe)
        project.store.add_contexts(artifact.version, contexts())
        summary = {"pairs": CONTEXTS, "contexts": CONTEXTS, "selected": CONTEXTS, "dropped": {}}
        project.finish(artifact, summary)


def contexts() -> Iterator[Context]:
    for i in range(CONTEXTS):
        group, first = f"v_{i // 5}", f"Somebody opens the door number {i} and looks in."
        yield Context(
            f"c{i:023d}", group, group, "s", group, i % 5, first, "The man", "walks away slowly.",
            0, "train",
        )  # fmt: skip


if __name__ == "__main__":
    main()
