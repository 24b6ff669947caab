"""Filter again with what people said: what it would mean, the recipe of such a run, and the run.

It chooses the run to go on from, freezes what people said (said.py) and runs the pipeline; where
the stage starts then is in restart.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from swag_studio.connections import sliced
from swag_studio.engine import pipeline
from swag_studio.engine.gibberish import too_few
from swag_studio.engine.said import NAME, Feedback, collect, freeze
from swag_studio.errors import ProjectError, StageError, quoted
from swag_studio.events import Event
from swag_studio.lineage import ancestor
from swag_studio.project import Project
from swag_studio.recipe import Recipe, from_toml
from swag_studio.records import Artifact, folded
from swag_studio.store_rounds import SLICE_OF_CONTEXTS
from swag_studio.views import FeedbackPreview

Use = Literal["off", "bar", "member", "both"]
USES: tuple[Use, ...] = get_args(Use)
"""What a classifier of gibberish does: nothing, keep candidates out, join the ensemble, both."""


def preview(project: Project, run: int = 0) -> FeedbackPreview:
    """What people said by now of a filter run (0: the recipe's), in numbers. Writes nothing."""
    artifact = parent_of(project, run)
    return _counted(project, artifact, collect(project, artifact))


def _counted(project: Project, run: Artifact, feedback: Feedback) -> FeedbackPreview:
    store, affected = project.store, feedback.affected
    excluded = edited = 0
    judged = {context for context, _, _ in feedback.labels}.intersection(affected)
    curated = store.all_curated(run.version)
    for ids in sliced(affected, SLICE_OF_CONTEXTS):
        assigned = store.assigned_of(run.version, ids)
        shown = {e for endings in assigned.values() for e in endings[1:]}
        shown |= {e for context in ids if context in curated for e in curated[context].endings}
        endings = store.endings_by_id(sorted(shown))
        for context in ids:
            gone = feedback.contexts[context].excluded
            excluded += sum(folded(endings[e].text) in gone for e in assigned[context][1:])
            if context in curated:
                edited += sum(endings[e].kind == "edited" for e in curated[context].endings)
    contexts = run.summary["contexts"]
    assert isinstance(contexts, int)
    return FeedbackPreview(
        parent=run.version,
        excluded=excluded,
        affected=len(affected),
        untouched=contexts - len(affected),
        judged=len(judged),
        edited=edited,
        gibberish=feedback.counts[0],
        sensible=feedback.counts[1],
        classifier=too_few(*feedback.counts),
        simulated=feedback.simulated,
    )


def parent_of(project: Project, run: int = 0) -> Artifact:
    """The done filter run that is to be filtered again. ProjectError if there is none.

    0 is the recipe's, or what that goes on from where it is not done.
    """
    runs = {a.version: a for a in project.store.artifacts("filter") if a.done}
    artifact = runs.get(run) if run else project.current("filter")
    if not run and artifact is None and (match := NAME.fullmatch(project.recipe.filter.feedback)):
        artifact = runs.get(int(match[1]))
    if artifact is None:
        which = f"{run}" if run else "with this recipe"
        raise ProjectError(
            f"The filter has no finished run {which} to go on from. Run it first, on the page "
            f"Filtering or by: swag-studio run {quoted(project.root)}"
        )
    return artifact


def recipe_with_feedback(
    project: Project, run: int = 0, gibberish: Use | None = None, iterations: int = 0
) -> Recipe:
    """The recipe of a run that goes on from `run` (0: the recipe's) with what people said of it.

    What they said is frozen. `gibberish` None has candidates barred where a classifier can be
    trained; `iterations` 0 leaves the recipe's. The phase of the MLP alone is left out. Raises
    StageError where nothing follows from what people said, or a classifier that is asked for
    cannot be trained.
    """
    parent = parent_of(project, run)
    base = from_toml(parent.recipe) if run else project.recipe
    if ancestor(project, parent, "generate") != project.current("generate", base):
        raise ProjectError(
            f"The candidates of run {parent.version} of the filter belong to other captions or to "
            "another recipe. Run the filter with those of now, and have people judge that."
        )
    feedback = collect(project, parent)
    if not feedback.affected:
        raise StageError(
            f"Nothing changes in run {parent.version}: most people called none of its endings "
            "gibberish, and no curator replaced or edited one."
        )
    trouble = too_few(*feedback.counts)
    if gibberish is None:
        gibberish = "off" if trouble else "bar"
    elif gibberish != "off" and trouble:
        raise StageError(trouble)
    f = base.filter
    members = tuple(name for name in f.members if name != "gibberish")
    if gibberish in ("member", "both"):
        members += ("gibberish",)
    return base.with_values(
        {
            "filter.feedback": freeze(project, feedback),
            "filter.bar_gibberish": gibberish in ("bar", "both"),
            "filter.members": members,
            "filter.mlp_iterations": 0,
            "filter.ensemble_iterations": (iterations or f.ensemble_iterations or f.mlp_iterations),
        }
    )


def filter_again(
    project: Project, run: int = 0, gibberish: Use | None = None, iterations: int = 0
) -> Iterator[Event]:
    """Makes the project's recipe that of `recipe_with_feedback`, and runs up to the filter."""
    before = project.recipe
    recipe = recipe_with_feedback(project, run, gibberish, iterations)
    if project.recipe != before:  # what people said is read for seconds
        raise StageError("The recipe was changed meanwhile, and is left so. Filter again with it.")
    project.set_recipe(recipe)
    yield from pipeline.run(recipe, project, "filter")
