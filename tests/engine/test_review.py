"""The curators' table that a filter run leaves, against what people see of the run's swaps."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from judged_project import BEST, context, filtered, work_of
from test_watch import bare, planted

from swag_studio.allocation import OverlapPlan
from swag_studio.engine.adversarial_filter import run
from swag_studio.engine.review import fill_version
from swag_studio.engine.watch import AssignmentWatch
from swag_studio.errors import ProjectError
from swag_studio.judging import Judgement
from swag_studio.keeping import keep_up
from swag_studio.project import Project
from swag_studio.recipe import preset


def newest(project: Project) -> dict[str, int]:
    store = project.store
    return {r.context_id: r.newest for r in store.review_rows(store.review_ids(1))}


def test_a_run_lists_its_contexts_with_their_newest_distractor(project: Project) -> None:
    planted(project, bare())
    list(run(bare(), project))
    watch = AssignmentWatch(project, 1)
    slow = {
        row.id: max(slot.since for slot in watch.slots(row.place, watch.iterations()))
        for row in watch.contexts()
    }
    assert project.store.review_ready(1) and newest(project) == slow
    assert len(set(slow.values())) > 1  # else any constant would do
    assert [watch.place_of(row.id) for row in watch.contexts()] == [
        row.place for row in watch.contexts()
    ]
    assert watch.place_of("c-none") is None
    *_, count = fill_version(project, 1)  # made anew, as for a run of before
    assert count == len(slow) and newest(project) == slow
    shutil.rmtree(project.root / "filter" / "v1")  # the table goes without
    list(fill_version(project, 1))
    assert set(newest(project).values()) == {-1}


def test_a_run_that_is_gone_is_told(project: Project) -> None:
    with pytest.raises(ProjectError, match="Version 7 of the filter"):
        list(fill_version(project, 7))


def test_a_table_that_is_made_again_has_what_people_said(tmp_path: Path) -> None:
    contexts = [context(n) for n in range(4)]
    with filtered(tmp_path / "p.swag", preset("demo"), contexts) as project:
        store, work = project.store, work_of(project)
        list(fill_version(project, work.version))
        tasks = work.open_first_round(2)
        work.allocate(OverlapPlan(), ["a1"])
        labels, best, second = BEST
        for task in tasks:
            store.submit(Judgement(task.id, "a1", tuple(labels), best, second))
        keep_up(work)
        before = store.review_rows(store.review_ids(work.version))
        assert sum(r.verdict == "found" for r in before) == 2
        list(fill_version(project, work.version))
        keep_up(work)  # finds nothing new
        again = store.review_rows(store.review_ids(work.version))
        assert [replace(r, id=0) for r in again] == [replace(r, id=0) for r in before]
