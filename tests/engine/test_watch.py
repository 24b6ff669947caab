"""What people see of a run's swaps, against the run's own log."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from planted import TINY, Planted, plant

from swag_studio import recipe as recipes
from swag_studio.engine.adversarial_filter import run
from swag_studio.engine.assignment import AssignmentLog
from swag_studio.engine.text import TextMaker
from swag_studio.engine.watch import AssignmentWatch
from swag_studio.errors import ProjectError
from swag_studio.project import Project
from swag_studio.recipe import Recipe

BARE = {
    **TINY,
    "filter.members": "mlp",
    "filter.mlp_iterations": 4,
    "filter.ensemble_iterations": 0,
    "filter.epochs": 1,
    "filter.control_arm": False,
    "filter.probe": False,
    "filter.strength_folds": 0,
    "filter.found_openings": False,  # so few found endings open with few words
    "filter.found_slips": False,
}
SHORT, CONTEXTS = 2, 16


def bare(**values: Any) -> Recipe:
    given = {key.replace("__", "."): value for key, value in values.items()}
    return recipes.preset("demo").with_values({**BARE, **given})


def planted(project: Project, recipe: Recipe, own: bool = False) -> Planted:
    return plant(project, recipe, contexts=CONTEXTS, own=own, short=0 if own else SHORT)


def text(made: Planted, place: int, row: int) -> str:
    rows = made.pool.context(place)
    return TextMaker(made.corpus.vocabulary).ending(rows.tokens[row][: rows.lengths[row]])


def log_of(project: Project) -> AssignmentLog:
    return AssignmentLog(project.root / "filter" / "v1")


def test_every_slot_after_every_iteration_is_the_logs(project: Project) -> None:
    made = planted(project, bare())
    list(run(bare(), project))
    watch, log = AssignmentWatch(project, 1), log_of(project)
    assignment = log.initial()
    assert assignment is not None and watch.iterations() == 4
    swaps = list(log.swaps())
    assert sum(len(s.place) for s in swaps) > 0
    since = np.full(assignment.rows.shape, -1)
    displaced = np.full(assignment.rows.shape, -1)
    for iterations in range(5):
        if iterations:
            s = swaps[iterations - 1]
            assignment.apply(s)
            since[s.place, s.slot], displaced[s.place, s.slot] = iterations - 1, s.old
        for i, place in enumerate(assignment.contexts.tolist()):
            slots = watch.slots(place, iterations)
            assert [x.slot for x in slots] == [0, 1, 2, 3]
            assert [x.row for x in slots] == assignment.rows[i].tolist()
            assert [x.since for x in slots] == since[i].tolist()
            assert [x.text for x in slots] == [text(made, place, x.row) for x in slots]
            assert [x.displaced for x in slots] == [
                text(made, place, row) if row >= 0 else "" for row in displaced[i].tolist()
            ]


def test_changes_are_the_logs_history_as_text(project: Project) -> None:
    made = planted(project, bare())
    list(run(bare(), project))
    watch, log = AssignmentWatch(project, 1), log_of(project)
    changed = 0
    for place in range(CONTEXTS):
        expected = [
            (iteration, slot, text(made, place, out), text(made, place, into))
            for iteration, slot, out, into in log.history(place)
        ]
        assert watch.changes(place) == expected
        changed += len(expected)
    assert changed > 0


def test_contexts_are_those_that_have_distractors(project: Project) -> None:
    made = planted(project, bare())
    list(run(bare(), project))
    watch = AssignmentWatch(project, 1)
    rows = watch.contexts()
    assert [r.place for r in rows] == list(range(SHORT, CONTEXTS))
    assert [r.id for r in rows] == list(made.corpus.context_ids[SHORT:])
    assert {r.candidates for r in rows} == {30}
    assert [r.sent1 for r in rows] == [c.sent1 for c in made.contexts[SHORT:]]
    for place in (0, CONTEXTS, CONTEXTS + 5):
        assert watch.slots(place, 4) == [] and watch.changes(place) == []


def test_own_candidates_are_shown_as_they_were_given(project: Project) -> None:
    recipe = bare(
        generate__score_own=False,
        filter__members="bow",
        filter__mlp_iterations=0,
        filter__ensemble_iterations=1,
    )
    made = planted(project, recipe, own=True)
    list(run(recipe, project))
    watch = AssignmentWatch(project, 1)
    for place, context in enumerate(made.contexts):
        given = project.store.own_context("source", context.document)
        assert given is not None
        shown = watch.slots(place, 1)
        assert [s.text for s in shown] == [given.endings[s.row - 1] for s in shown]


def test_a_run_at_work_is_followed_without_reading_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(project, bare())
    work = run(bare(), project)
    while log_of(project).committed() < 1:
        next(work)
    watch = AssignmentWatch(project, 1)
    assert watch.iterations() == 1
    read: list[int] = []
    real = AssignmentLog._read
    monkeypatch.setattr(
        AssignmentLog,
        "_read",
        lambda log, i: read.append(i) or real(log, i),  # type: ignore[func-returns-value]
    )
    list(work)
    read.clear()
    assert watch.iterations() == 4
    assert read == [1, 2, 3]
    read.clear()
    whole = AssignmentWatch(project, 1)
    for place in range(CONTEXTS):
        assert watch.changes(place) == whole.changes(place)
        assert watch.slots(place, 4) == whole.slots(place, 4)
    assert read == [0, 1, 2, 3]  # by the second watch, once


def test_what_cannot_be_watched_is_said(project: Project) -> None:
    made = planted(project, bare())
    with pytest.raises(ProjectError, match="no version 1 of the filter"):
        AssignmentWatch(project, 1)
    artifact = project.begin("filter", bare())
    with pytest.raises(ProjectError, match="No distractors are drawn yet"):
        AssignmentWatch(project, artifact.version)
    list(run(bare(), project))
    block = made.pool.path(0)
    whole = block.read_bytes()
    watch = AssignmentWatch(project, 1)
    block.write_bytes(whole[: len(whole) // 8] + b"\xff" * (len(whole) - len(whole) // 8))
    with pytest.raises(ProjectError, match="damaged"):
        watch.slots(SHORT, 0)
    shutil.rmtree(project.root / "pool")
    with pytest.raises(ProjectError, match="pool"):
        AssignmentWatch(project, 1)


def test_an_older_run_is_watched_with_the_pool_it_chose_from(project: Project) -> None:
    planted(project, bare())
    list(run(bare(), project))
    before = [AssignmentWatch(project, 1).slots(place, 4) for place in range(CONTEXTS)]
    other = bare(generate__temperature=0.5)
    project.finish(project.begin("generate", other), {})  # with no block to read
    project.set_recipe(other)
    assert [AssignmentWatch(project, 1).slots(place, 4) for place in range(CONTEXTS)] == before


def test_watching_loads_neither_torch_nor_spacy() -> None:
    """The window watches while its engine is at rest."""
    code = (
        "import sys, swag_studio.engine.watch; "
        "print([m for m in ('torch', 'spacy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"
