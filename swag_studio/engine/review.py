"""Fills the curators' table of a filter run: its contexts, and since when each one stands so.

It knows the run's files and the store, not models. The stage does it at its end; for a run of
before there was such a table, the window has it done.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from swag_studio.engine.assignment import AssignmentLog
from swag_studio.errors import ProjectError
from swag_studio.lineage import ancestor
from swag_studio.project import Project
from swag_studio.records import Artifact


def fill_version(project: Project, version: int) -> Iterator[int]:
    """As `fill`, of a version. Raises ProjectError when it or its contexts are gone."""
    run = next((a for a in project.store.artifacts("filter") if a.version == version), None)
    prepared = ancestor(project, run, "prepare") if run is not None else None
    if run is None or prepared is None:
        raise ProjectError(
            f"Version {version} of the filter, or the contexts that it was made for, are gone. "
            "Run the filter again."
        )
    yield from fill(project, run, prepared.version)


def fill(project: Project, run: Artifact, prepare_version: int) -> Generator[int, None, None]:
    """Fills the table of `run`; yields the number of contexts that are in it."""
    newest = _newest(project, run, prepare_version)
    yield from project.store.build_review(run.version, prepare_version, newest)


def _newest(project: Project, run: Artifact, prepare_version: int) -> dict[str, int]:
    """Context id -> the iteration that brought its newest distractor in."""
    log = AssignmentLog(project.folder(run))
    initial = log.initial()
    if initial is None:  # the run's files were removed: the table goes without
        return {}
    ids = [c.id for c in project.store.contexts(prepare_version, selected_only=True)]
    pairs = zip(initial.contexts.tolist(), log.newest(len(initial)).tolist(), strict=True)
    return {ids[place]: iteration for place, iteration in pairs}
