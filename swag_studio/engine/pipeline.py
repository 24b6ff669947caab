"""All stages in order, as one generator of events. It knows their names, not their work.

Stop pulling to pause, close the generator to cancel: each stage asks the project what remains
when it is run again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from swag_studio.engine import accounting
from swag_studio.engine.registry import Registry
from swag_studio.errors import StageError, quoted
from swag_studio.events import Event, Message, Metric, Progress
from swag_studio.project import Project
from swag_studio.recipe import STAGES, Recipe
from swag_studio.records import Artifact

_E = "swag_studio.engine"

RUNNERS = Registry(
    "stage",
    {
        "prepare": f"{_E}.prepare:run",
        "train_lm": f"{_E}.train_lm:run",
        "generate": f"{_E}.generate:run",
        "filter": f"{_E}.adversarial_filter:run",
        "release": f"{_E}.release:run",
    },
)

# A stage that yields nothing but metrics still has them kept this often.
_METRICS_AT_ONCE = 500


def run(recipe: Recipe, project: Project, until: str = "release") -> Iterator[Event]:
    """Runs every stage up to `until` that is not done with `recipe`; goes on where one stopped.

    A stage's metrics are in the store before they are passed on. Errors pass through: UserError
    where the user can help it, anything else is a bug.
    """
    if until not in STAGES:
        raise StageError(f"unknown stage {until}. The stages are {', '.join(STAGES)}.")
    if not project.store.sources():
        raise StageError(
            f"{project.root} holds no captions yet. "
            f"Bring some in with: swag-studio import {quoted(project.root)} FILE"
        )
    _use_threads(recipe.run.threads)
    for stage in STAGES[: STAGES.index(until) + 1]:
        for name in project.outside.reading(recipe, stage):
            yield Progress(stage, 0, 0, "bytes", f"reading {name}")
        artifact = project.begin(stage, recipe)
        if artifact.done:
            yield Message(stage, f"{stage} is done already ({artifact.folder}).")
        else:
            yield from _run_stage(recipe, project, artifact)


def _run_stage(recipe: Recipe, project: Project, artifact: Artifact) -> Iterator[Event]:
    clock = accounting.WorkClock(project, artifact)
    with clock:
        events: Generator[Event, None, None] = RUNNERS[artifact.stage](recipe, project)
    metrics: list[Metric] = []
    try:
        while True:
            with clock:
                event = next(events, None)
            if isinstance(event, Metric):
                metrics.append(event)
                if len(metrics) < _METRICS_AT_ONCE:
                    continue
            if metrics:
                project.store.put_metrics(artifact.version, metrics)
                yield from metrics
                metrics = []
            if event is None:
                break
            if not isinstance(event, Metric):
                yield event
    finally:
        events.close()
        clock.save()
    if project.current(artifact.stage, recipe) is None:
        raise RuntimeError(f"the stage {artifact.stage} ended without finishing {artifact.folder}")


def _use_threads(count: int) -> None:
    """Sums depend on how they are cut up, so the count is part of the recipe."""
    import torch  # here, so that importing the pipeline stays light

    torch.set_num_threads(count)
