"""An artifact's ancestors are found by their keys, whatever was changed or updated since."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from swag_studio import recipe as recipes
from swag_studio.errors import ProjectError
from swag_studio.lineage import Lineage, ancestor
from swag_studio.project import Project
from swag_studio.recipe import STAGE_FORMAT, STAGES


def made(project: Project, recipe: recipes.Recipe) -> None:
    """All stages of a recipe but the draft, with nothing in them."""
    for stage in STAGES[:4]:
        project.finish(project.begin(stage, recipe), {})


def test_each_run_has_its_own_ancestors(tmp_path: Path) -> None:
    first = recipes.preset("demo")
    second = first.with_values({"prepare.max_gap": 3.0})
    with Project.create(tmp_path / "p.swag", first) as project:
        for recipe in (first, second):
            made(project, recipe)
        runs = project.store.artifacts("filter")
        for run in runs:
            for stage in STAGES[:4]:
                found = ancestor(project, run, stage)
                assert found is not None and found.version == run.version
    assert len(runs) == 2


def test_a_run_of_an_older_program_keeps_its_ancestors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipes.preset("demo")
    with Project.create(tmp_path / "p.swag", recipe) as project:
        made(project, recipe)
        (run,) = project.store.artifacts("filter")
        for stage in ("generate", "filter"):
            monkeypatch.setitem(STAGE_FORMAT, stage, STAGE_FORMAT[stage] + 1)
        assert project.current("filter") is None
        found = [ancestor(project, run, stage) for stage in STAGES[:4]]
        assert [a.stage if a else None for a in found] == list(STAGES[:4])


def test_a_field_that_the_older_program_did_not_know_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, keyed = recipes.preset("demo"), recipes._keyed

    def as_then(section: object, known: object) -> dict[str, object]:
        return {k: v for k, v in keyed(section, known).items() if k != "found_openings"}

    with Project.create(tmp_path / "p.swag", recipe) as project:
        with monkeypatch.context() as then:
            then.setitem(STAGE_FORMAT, "filter", 1)
            then.setattr(recipes, "_keyed", as_then)
            made(project, recipe)
        (run,) = project.store.artifacts("filter")
        lines = run.recipe.splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith("found_openings"))
        found = ancestor(project, dataclasses.replace(run, recipe=text), "generate")
        assert found is not None and project.current("filter") is None


def test_what_was_removed_or_never_finished_is_no_ancestor(tmp_path: Path) -> None:
    recipe = recipes.preset("demo")
    with Project.create(tmp_path / "p.swag", recipe) as project:
        for stage in ("prepare", "train_lm", "filter"):
            project.finish(project.begin(stage, recipe), {})
        project.begin("generate", recipe)
        (run,) = project.store.artifacts("filter")
        assert ancestor(project, run, "generate") is None
        assert ancestor(project, run, "prepare") is not None
        with pytest.raises(ProjectError, match=r"What run 1 .* was made from is gone"):
            Lineage.of(project)
