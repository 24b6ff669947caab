"""Which artifacts another one was made from, told by their keys."""

from __future__ import annotations

from swag_studio.project import Project
from swag_studio.recipe import STAGES, from_toml
from swag_studio.records import Artifact


def ancestor(project: Project, artifact: Artifact, stage: str) -> Artifact | None:
    """The done artifact of an earlier stage that `artifact` was made from; None if it is gone.

    It need not belong to the current recipe or to the current sources.
    """
    recipe = from_toml(artifact.recipe)
    between = STAGES[STAGES.index(stage) + 1 : STAGES.index(artifact.stage) + 1]
    for candidate in project.store.artifacts(stage):
        key = candidate.key
        for name in between:
            key = recipe.stage_key(name, [key])
        if key == artifact.key and candidate.done:
            return candidate
    return None
