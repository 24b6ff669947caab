"""Releases of three projects, in every format, for programs of others to load.

awkward   texts that are easily lost, judged by answers made here
demo      the program's own captions: `demo --headless`, simulated annotators, a release
real      ActivityNet captions with a recipe below `small`, then the same; needs the captions

SWAG_STUDIO_PROJECT=DIR.swag has a copy of a finished project stand in for `real`, and
SWAG_STUDIO_DEMO for `demo`. What loads them are extras (`make check-interop` installs them), and
nothing is fetched from a network.
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

import pytest

# Before any of them is imported.
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
sys.path.append(str(Path(__file__).resolve().parent.parent / "engine"))

from judged_project import BEST, K, context, filtered, judge
from made_questions import AWKWARD

from swag_studio import recipe as recipes
from swag_studio.engine.publish import Publication, publish
from swag_studio.lineage import filter_run
from swag_studio.project import Project
from swag_studio.records import Question
from swag_studio.releases import ReleaseOptions, next_version

# An ending without a character is left out: an empty cell is an empty cell in any format.
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

    name: str
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


@pytest.fixture(scope="session", params=["awkward", "demo", "real"])
def released(request: pytest.FixtureRequest) -> Released:
    """Each of the three, made when it is first asked for."""
    made: Released = request.getfixturevalue(request.param)
    return made


@pytest.fixture(scope="session")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Released:
    """Each text begins a context, is a found ending and a wrong one, over all splits.

    The checks would keep two of them out, and are overridden.
    """
    count, root = len(TEXTS), tmp_path_factory.mktemp("awkward") / "awkward.swag"
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
    return _read("awkward", root, options)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Released:
    folder = tmp_path_factory.mktemp("demo")
    if not _copied("SWAG_STUDIO_DEMO", folder / "demo.swag"):
        _command("demo", folder, "--headless")
    return _judged_and_released("demo", folder / "demo.swag")


@pytest.fixture(scope="session")
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Released:
    folder = tmp_path_factory.mktemp("real")
    root, recipe = folder / "real.swag", folder / "reduced.toml"
    if not _copied("SWAG_STUDIO_PROJECT", root):
        captions = request.getfixturevalue("real_data") / "activitynet_captions/val_1.json"
        recipe.write_text(recipes.preset("small").with_values(REDUCED).to_toml(), "utf-8")
        _command("new", root, "--recipe", recipe)
        _command("import", root, captions)
        _command("run", root)
    return _judged_and_released("real", root)


def _copied(variable: str, root: Path) -> bool:
    """Whether the variable names a project; it is copied then, and only the copy written to."""
    given = os.environ.get(variable)
    if given:
        shutil.copytree(given, root)
    return bool(given)


def _judged_and_released(name: str, root: Path) -> Released:
    """A release of the newest run; simulated annotators judge it where nobody has."""
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
    return _read(name, root, options)


def _command(*words: object) -> dict[str, Any]:
    """What `swag-studio WORDS --json` sums up in its last line."""
    command = [sys.executable, "-m", "swag_studio", *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


def _read(name: str, root: Path, options: ReleaseOptions) -> Released:
    """The release that is there, with the questions chosen once more."""
    with Project.open(root, readonly=True) as project:
        publication = Publication(project, options, root.parent)
        for _ in publication.choose():
            pass
        return Released(name, root, options, list(publication.spool))
