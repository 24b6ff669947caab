"""Which artifacts another one was made from, told by their keys."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swag_studio.errors import ProjectError, quoted
from swag_studio.outside import recorded
from swag_studio.project import Project
from swag_studio.recipe import STAGE_FORMAT, STAGES, Recipe, from_toml
from swag_studio.records import Artifact


@dataclass(frozen=True)
class Lineage:
    """A filter run with the artifacts that it was made from, by stage."""

    made: Mapping[str, Artifact]

    @classmethod
    def of(cls, project: Project, filter_version: int = 0) -> Lineage:
        """The lineage of a filter run; 0: the one that belongs to the project's recipe.

        Raises ProjectError when there is no such run, or something that it was made from is gone.
        """
        runs = {run.version: run for run in filter_runs(project)}
        run = runs.get(filter_version) if filter_version else project.current("filter")
        if run is None:
            which = f"finished run {filter_version}" if filter_version else "run with this recipe"
            others = f", or name one with --run: {', '.join(map(str, runs))}" if runs else ""
            raise ProjectError(
                f"There is no {which} of the filter. Run it first: swag-studio run "
                f"{quoted(project.root)}{others}"
            )
        made = {stage: ancestor(project, run, stage) for stage in STAGES[:3]}
        kept = {stage: artifact for stage, artifact in made.items() if artifact is not None}
        if len(kept) < len(made):
            raise ProjectError(
                f"What run {run.version} of the filter was made from is gone. Run the filter again."
            )
        return cls({**kept, "filter": run})

    def __getitem__(self, stage: str) -> Artifact:
        return self.made[stage]

    @property
    def recipe(self) -> Recipe:
        """The recipe of the run."""
        return from_toml(self.made["filter"].recipe)


def filter_runs(project: Project) -> list[Artifact]:
    """The finished runs of the filter, oldest first."""
    return [run for run in project.store.artifacts("filter") if run.done]


def filter_run(project: Project, wanted: int = 0) -> Artifact | None:
    """The finished run of the version `wanted`; without it the recipe's, or else the newest.

    None before one is finished.
    """
    runs = filter_runs(project)
    chosen = next((run for run in runs if run.version == wanted), None)
    return chosen or project.current("filter") or (runs[-1] if runs else None)


def ancestor(project: Project, artifact: Artifact, stage: str) -> Artifact | None:
    """The done artifact of an earlier stage that `artifact` was made from; None if it is gone.

    It need not belong to the current recipe, sources or formats: what people did on a run is
    still read, judged and released after an update that would make the run anew.
    """
    between = STAGES[STAGES.index(stage) + 1 : STAGES.index(artifact.stage) + 1]
    for candidate in project.store.artifacts(stage):
        if candidate.done and artifact.key in _later_keys(project, artifact, candidate, between):
            return candidate
    return None


def _later_keys(
    project: Project, artifact: Artifact, first: Artifact, stages: Sequence[str]
) -> set[str]:
    """The keys that the last of `stages` can have after `first`, in every format they ever had.

    The fields of the artifact's recipe are those that the program knew that made it. What was in
    files outside the project stands in the summaries of what was made with them.
    """
    recipe, known = from_toml(artifact.recipe), tomllib.loads(artifact.recipe)
    keys = {first.key}
    for stage in stages:
        formats = range(1, STAGE_FORMAT[stage] + 1)
        made = project.store.artifacts(stage)
        contents = {(), *(tuple(sorted(recorded(a).items())) for a in made)}
        keys = {
            recipe.stage_key(stage, [key], format, known, dict(outside))
            for key in keys
            for format in formats
            for outside in contents
        }
    return keys
