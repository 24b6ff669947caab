"""What a filter run works with: whose tags are kept when one begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import TINY, plant

from swag_studio import recipe as recipes
from swag_studio.engine import adversarial_filter
from swag_studio.engine.filter_setup import resumable_pools
from swag_studio.project import Project
from swag_studio.recipe import STAGE_FORMAT, STAGES, Recipe

DEMO = recipes.preset("demo")


def begun(project: Project, recipe: Recipe, done: bool) -> str:
    """The key of a pool with a filter run on it, as if by their engine modules."""
    for stage in STAGES[:3]:
        if not (artifact := project.begin(stage, recipe)).done:
            project.finish(artifact, {})
    run = project.begin("filter", recipe)
    if done:
        project.finish(run, {})
    return project.require("generate", recipe).key


def test_only_interrupted_runs_go_on_with_their_pools(project: Project, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("man 1 2\n")
    warm = DEMO.with_values({"generate.temperature": 0.5})
    given = warm.with_values({"filter.embeddings_file": str(vectors)})
    hot = DEMO.with_values({"generate.temperature": 2.0})
    assert resumable_pools(project) == set()
    begun(project, DEMO, done=True)
    assert resumable_pools(project) == set()
    expected = {begun(project, given, done=False), begun(project, hot, done=False)}
    vectors.unlink()  # what it held is in the run's key
    assert resumable_pools(project) == expected
    assert begun(project, hot, done=True) in expected
    assert resumable_pools(project) == {begun(project, warm, done=True)}


def test_a_run_of_an_older_program_does_not_go_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = begun(project, DEMO, done=False)
    assert resumable_pools(project) == {pool}
    monkeypatch.setitem(STAGE_FORMAT, "filter", STAGE_FORMAT["filter"] + 1)
    assert resumable_pools(project) == set()


@pytest.mark.parametrize("done", [True, False])
def test_a_run_removes_the_tags_of_pools_that_are_done_with(project: Project, done: bool) -> None:
    recipe = DEMO.with_values(
        {
            **TINY,
            "filter.members": "mlp",
            "filter.ensemble_iterations": 0,
            "filter.control_arm": False,
            "filter.probe": False,
            "filter.strength_folds": 0,
        }
    )
    planted = plant(project, recipe)
    other = begun(project, recipe.with_values({"generate.temperature": 0.5}), done)
    present = project.require("generate", recipe).key
    assert planted.pool.sealed and present != other
    for name in (present[:12], other[:12], "0123456789ab"):
        (project.root / "filter" / f"tags-{name}-tagger").mkdir()
    list(adversarial_filter.run(recipe, project))
    left = {path.name for path in (project.root / "filter").glob("tags-*")}
    kept = [present] if done else [present, other]
    assert left == {f"tags-{key[:12]}-tagger" for key in kept}
