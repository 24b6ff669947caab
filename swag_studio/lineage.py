"""Which artifacts another one was made from, told by their keys."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

from swag_studio.project import Project
from swag_studio.recipe import STAGE_FORMAT, STAGES, from_toml
from swag_studio.records import Artifact


def ancestor(project: Project, artifact: Artifact, stage: str) -> Artifact | None:
    """The done artifact of an earlier stage that `artifact` was made from; None if it is gone.

    It need not belong to the current recipe, sources or formats: what people did on a run is
    still read, judged and released after an update that would make the run anew.
    """
    between = STAGES[STAGES.index(stage) + 1 : STAGES.index(artifact.stage) + 1]
    for candidate in project.store.artifacts(stage):
        if candidate.done and artifact.key in _later_keys(artifact, candidate.key, between):
            return candidate
    return None


def _later_keys(artifact: Artifact, key: str, stages: Sequence[str]) -> set[str]:
    """The keys that the last of `stages` can have after `key`, in every format they ever had.

    The fields of the artifact's recipe are those that the program knew that made it.
    """
    recipe, known = from_toml(artifact.recipe), tomllib.loads(artifact.recipe)
    keys = {key}
    for stage in stages:
        formats = range(1, STAGE_FORMAT[stage] + 1)
        keys = {recipe.stage_key(stage, [k], f, known) for k in keys for f in formats}
    return keys
