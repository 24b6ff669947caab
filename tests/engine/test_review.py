"""The curators' table that a filter run leaves, against what people see of the run's swaps."""

from __future__ import annotations

import shutil

import pytest
from test_watch import bare, planted

from swag_studio.engine.adversarial_filter import run
from swag_studio.engine.review import fill_version
from swag_studio.engine.watch import AssignmentWatch
from swag_studio.errors import ProjectError
from swag_studio.project import Project


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
