"""Verified releases in every format, each with the questions that its project has for it.

Projects that take minutes are made and judged by the program itself, in processes of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judged_project import BEST, K, context, filtered, judge
from made_questions import AWKWARD

from swag_studio import recipe as recipes
from swag_studio.engine.publish import Publication, publish
from swag_studio.lineage import filter_run
from swag_studio.project import Project
from swag_studio.records import Question
from swag_studio.releases import ReleaseOptions, next_version

# The empty text is not in it: no cell of a table can tell it from nothing.
TEXTS = tuple(text for text in AWKWARD if text)

# What makes `small` a matter of minutes, not of an hour. Every caption is still read.
REDUCED = {
    "prepare.max_contexts": 300,
    "lm.dim": 96,
    "lm.layers": 1,
    "lm.batch": 64,
    "lm.epochs": 3,
    "generate.candidates": 95,
    "filter.mlp_iterations": 2,
    "filter.ensemble_iterations": 10,
    "filter.replace": 3,
    "filter.epochs": 3,
    "filter.crossfit_folds": 2,
    "filter.strength_folds": 0,
}


@dataclass(frozen=True)
class Released:
    """A release on the disk, and the questions that its project has for it."""

    project: Path
    options: ReleaseOptions
    questions: list[Question]  # in their final form, as every exporter gets them

    @property
    def folder(self) -> Path:
        return self.project / "releases" / self.options.version

    @property
    def manifest(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text("utf-8"))
        return told

    def of(self, split: str) -> list[Question]:
        return [q for q in self.questions if q.split == split]


def of_awkward_texts(root: Path) -> Released:
    """Each text begins eight contexts, is their found ending, and a wrong one of others.

    The checks would not let two of them pass, and are overridden.
    """
    count = len(TEXTS)
    contexts = [
        context(i, found=TEXTS[i // 8], sent1=f"{TEXTS[i // 8]} person {i} sits.")
        for i in range(8 * count)
    ]
    wrong = {c.video_id: [TEXTS[(i // 8 + j) % count] for j in range(1, 1 + K)]
             for i, c in enumerate(contexts)}  # fmt: skip
    options = ReleaseOptions(
        "1.0.0",
        overrides=("empty_ending", "control_characters"),
        override_reason="They are what is tried.",
    )
    with filtered(root, recipes.preset("demo"), contexts, wrong) as project:
        judge(project, {c.video_id: [BEST] for c in contexts})
        for _ in publish(project, options):
            pass
    return _read(root, options)


def of_the_demo(root: Path) -> Released:
    """What `demo` makes, the whole way in the terminal. `root` is called demo.swag."""
    if not _copied("SWAG_STUDIO_DEMO", root):
        _command("demo", root.parent, "--headless")
    return _judged_and_released(root)


def of_captions(root: Path, captions: Path) -> Released:
    """Of a caption file, by a recipe that is `small` but for `REDUCED`."""
    recipe = root.with_suffix(".toml")
    recipe.write_text(recipes.preset("small").with_values(REDUCED).to_toml(), "utf-8")
    _command("new", root, "--recipe", recipe)
    _command("import", root, captions)
    _command("run", root)
    return _judged_and_released(root)


def of_a_given_project(root: Path) -> Released | None:
    """Of the project that SWAG_STUDIO_PROJECT names, if it does: copied to `root`."""
    return _judged_and_released(root) if _copied("SWAG_STUDIO_PROJECT", root) else None


def _copied(variable: str, root: Path) -> bool:
    """Whether the variable names a project. Only the copy is written to."""
    given = os.environ.get(variable)
    if given:
        shutil.copytree(given, root)
    return bool(given)


def _judged_and_released(root: Path) -> Released:
    """A release of the recipe's run, else the newest; where nobody has judged, it is simulated."""
    with Project.open(root, readonly=True) as project:
        made = filter_run(project)
    assert made is not None, f"{root} has no finished run of the filter"
    run = ("--run", made.version)
    if not _command("verdicts", root, *run)["verdicts"].get("found"):
        _command("simulate", root, "--annotators", 3, *run)
    simulated = _command("agreement", root, "--draws", 0, *run)["simulated"]
    options = ReleaseOptions(
        next_version(root), include_simulated=simulated, filter_version=made.version
    )
    counted = ["--include-simulated"] if simulated else []
    _command("release", root, "--version", options.version, *counted, *run)
    return _read(root, options)


def _command(*words: object) -> dict[str, Any]:
    """What `swag-studio WORDS --json` sums up in its last line."""
    command = [sys.executable, "-m", "swag_studio", *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


def _read(root: Path, options: ReleaseOptions) -> Released:
    """The release that is there, with its questions chosen once more."""
    with Project.open(root, readonly=True) as project:
        publication = Publication(project, options, root.parent)
        for _ in publication.choose():
            pass
        return Released(root, options, list(publication.spool))
