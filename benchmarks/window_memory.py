"""The memory of a window on a project of 100,000 contexts, all pages made, no job run.

    python benchmarks/window_memory.py [--contexts 100000]

The project has a finished filter run with nine distractors a context, and the curators' table. The
window shows the Review page, scrolls, sorts and searches it. Wanted: under 500 MB.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from review_table import fill

from swag_studio import app as wiring
from swag_studio.project import Project
from swag_studio.recipe import preset
from swag_studio.records import Artifact
from swag_studio.ui.application import Application


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--contexts", type=int, default=100_000)
    parser.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.project is None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "big.swag"
            make(path, wish.contexts)
            os.system(f"{sys.executable} {__file__} --project {path}")  # a process without that
        return
    app = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as profile:
        application = Application(app, wiring.parts(Path(profile)))
        window = application.open(wish.project)
        assert window is not None
        window.make_pages()
        window.show_titled("Review")
        for _ in range(40):
            QTest.qWait(250)
        memory = psutil.Process().memory_full_info()
        print(f"resident {memory.rss / 2**20:.0f} MB, of its own {memory.uss / 2**20:.0f} MB")
        sys.stdout.flush()
        os._exit(0)


def make(path: Path, contexts: int) -> None:
    with Project.create(path, preset("small")) as project:
        recipe = project.recipe
        fill(project, contexts)
        for stage in ("prepare", "filter"):
            key = project.key(stage, recipe)
            done = Artifact(stage, 1, key, f"{stage}/v1", True, recipe.to_toml(), {})
            project.store.put_artifact(done)
        for _ in project.store.build_review(1, 1, {}):
            pass


if __name__ == "__main__":
    main()
