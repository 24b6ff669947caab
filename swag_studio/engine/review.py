"""Fills the curators' table of a filter run: its contexts, and since when each one stands so.

It knows the run's files and the store, not models. The stage does it at its end; for a run of
before there was such a table, the window has it done.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress

import numpy as np

from swag_studio.engine.assignment import AssignmentLog
from swag_studio.engine.history import Inheritance
from swag_studio.engine.pool_texts import PoolTexts
from swag_studio.errors import ProjectError, StageError
from swag_studio.judged import JudgedRun
from swag_studio.lineage import ancestor
from swag_studio.project import Project
from swag_studio.recipe import from_toml
from swag_studio.records import Artifact
from swag_studio.reviewing import BEFORE


def fill_version(project: Project, version: int) -> Iterator[int]:
    """As `fill`, of a version, and then where its contexts stand.

    Raises ProjectError when it or its contexts are gone.
    """
    run = next((a for a in project.store.artifacts("filter") if a.version == version), None)
    prepared = ancestor(project, run, "prepare") if run is not None else None
    if run is None or prepared is None:
        raise ProjectError(
            f"Version {version} of the filter, or the contexts that it was made for, are gone. "
            "Run the filter again."
        )
    done = 0
    for done in fill(project, run, prepared.version):
        yield done
    # What was caught up with before found no rows to write to.
    seed = from_toml(run.recipe).run.seed
    for _ in JudgedRun(project.store, version, prepared.version, seed).refreshing():
        yield done


def fill(project: Project, run: Artifact, prepare_version: int) -> Generator[int, None, None]:
    """Fills the table of `run`; yields the number of contexts that are in it."""
    newest = _newest(project, run, prepare_version)
    yield from project.store.build_review(run.version, prepare_version, newest)


def _newest(project: Project, run: Artifact, prepare_version: int) -> dict[str, int]:
    """Context id -> the iteration that brought its newest distractor in; see ReviewRow."""
    log = AssignmentLog(project.folder(run))
    initial = log.initial()
    if initial is None:  # the run's files were removed: the table goes without
        return {}
    ids = [c.id for c in project.store.contexts(prepare_version, selected_only=True)]
    newest = log.newest(len(initial))
    with suppress(ProjectError, StageError):  # gone: what came in before is not told apart
        if start := Inheritance.of(project, run, lambda: PoolTexts.of_run(project, run)):
            for at in np.flatnonzero(newest < 0).tolist():
                rows = initial.rows[at].tolist()
                if len(start.kept(int(initial.contexts[at]), rows)) == len(rows):
                    newest[at] = BEFORE
    pairs = zip(initial.contexts.tolist(), newest.tolist(), strict=True)
    return {ids[place]: iteration for place, iteration in pairs}
