"""Windows are closed in the middle of every kind of job; the projects go on as if nothing was.

The short form runs with all tests; `make soak` closes fifty windows.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from closing import JOBS, ODD_WAYS, WAYS, Left, drawn, leave
from killing import Unbroken, differences, fingerprint, finish
from tiny import DOCUMENTS, captions, tiny_recipe

from swag_studio.engine import pipeline
from swag_studio.engine.ingest import run_import
from swag_studio.project import Project

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM to hear of")


class Broken:
    """A tiny project whose windows are closed in the middle of jobs, one after another."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.root, self.rng = folder / "b.swag", rng
        self.left: list[Left] = []
        folder.mkdir(exist_ok=True)
        self.file = captions(folder / "captions.json", DOCUMENTS)
        Project.create(self.root, tiny_recipe()).close()

    def leave(self, job: str, way: str) -> None:
        """Closes a window; an import that was stopped so is done after that."""
        self.left.append(leave(self.root, drawn(job, way, self.rng, self.file)))
        print(self.left[-1])
        with Project.open(self.root) as project:
            if not project.store.sources():
                assert project.store.staged_sources() == []
                list(run_import(self.file, project))

    def run(self, until: str) -> None:
        """Goes on in this process, where torch is loaded once."""
        with Project.open(self.root) as project:
            list(pipeline.run(project.recipe, project, until))

    @property
    def at_work(self) -> int:
        return sum(left.at_work for left in self.left)


def test_four_closings_of_a_tiny_project(tmp_path: Path, unbroken: Unbroken) -> None:
    broken = Broken(tmp_path, random.Random(3))
    broken.leave("import", "SIGTERM")
    broken.leave("torch", "pause")
    broken.run("train_lm")
    broken.leave("generate", "cancel")
    broken.leave("check", "SIGINT SIGTERM")
    broken.run("release")
    assert broken.at_work >= 3, "the windows were closed too late to break anything"
    assert differences(unbroken.fingerprint, fingerprint(broken.root)) == []


@pytest.mark.soak
def test_fifty_closings(tmp_path: Path, unbroken: Unbroken) -> None:
    """Every kind of job is left by every way, and once more by an odd one."""
    seed = int(os.environ.get("SWAG_STUDIO_SOAK_SEED", "1"))
    rng, at_work = random.Random(seed), 0
    for turn in range(len(WAYS) + 1):
        ways = WAYS if turn < len(WAYS) else ODD_WAYS
        broken = Broken(tmp_path / str(turn), rng)
        for i, job in enumerate(JOBS):
            broken.leave(job, ways[(i + turn) % len(ways)])
        finish(broken.root)
        at_work += broken.at_work
        assert differences(unbroken.fingerprint, fingerprint(broken.root)) == []
    assert at_work >= 40, "the windows were closed too late to break anything"
