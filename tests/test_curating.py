"""Curators' changes: what is checked, what is one step, what is offered; nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_store_review import CONTEXTS, VERSION, K, fill

from swag_studio import curating
from swag_studio.curating import Change, Curator, EditError, offers, order
from swag_studio.judging import Annotator, Judgement, Task, task_id
from swag_studio.project import Project
from swag_studio.recipe import preset
from swag_studio.records import folded
from swag_studio.reviewing import Curated, ReviewFilter
from swag_studio.store import Store
from swag_studio.views import PoolEnding

SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
CHANGES = [Change("exclude"), Change("include"), Change("flag", "typo"), Change("unflag", "typo")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Project.create(tmp_path / "p.swag", preset("demo")) as project:
        fill(project.store)
        list(project.store.build_review(VERSION, 1, {}))
        yield project.store


@pytest.fixture
def ann(store: Store) -> Curator:
    return Curator(store, VERSION, "Ann")


def contexts(store: Store) -> list[str]:
    return store.review_context_ids(store.review_ids(VERSION))


def texts(store: Store, context: str) -> list[str]:
    state = store.curated(VERSION, context)
    endings = store.endings_by_id(state.endings)
    return [endings[id].text for id in state.endings]


# --- editing -----------------------------------------------------------------------------------


def test_an_edit_is_a_new_ending_with_its_parent(store: Store, ann: Curator) -> None:
    context = contexts(store)[3]
    before = store.curated(VERSION, context)
    batch = ann.edit_text(context, 1, "falls over.")
    after = store.curated(VERSION, context)
    assert batch is not None and (batch.name, batch.who) == ("Edit an ending", "Ann")
    new = store.endings_by_id(after.endings)[after.endings[1]]
    assert (new.text, new.kind) == ("falls over.", "edited")
    assert store.parents()[new.id][:2] == (before.endings[1], "Ann")
    assert [a == b for a, b in zip(before.endings, after.endings, strict=True)] == [
        True, False, True, True,
    ]  # fmt: skip
    store.undo("Ann")
    assert store.curated(VERSION, context) == before


def test_an_edit_of_case_alone_is_not_lost(store: Store, ann: Curator) -> None:
    context = contexts(store)[0]
    first = texts(store, context)[0]
    ann.edit_text(context, 0, first.upper())
    assert texts(store, context)[0] == first.upper() != first
    ann.edit_text(context, 0, first)  # typed back: the ending that stood there
    assert store.curated(VERSION, context).endings == tuple(
        e.id for slot, e, _ in store.assigned_to(VERSION, context) if slot
    )


@given(text=st.text(alphabet=" aW\n.rong1dé", max_size=8), place=st.integers(0, K - 1))
@settings(max_examples=40, suppress_health_check=SHARED, deadline=None)
def test_no_edit_gives_two_equal_options(store: Store, text: str, place: int) -> None:
    ann, context = Curator(store, VERSION, "Ann"), contexts(store)[5]
    steps, before = len(store.batches()), texts(store, context)
    try:
        ann.edit_text(context, place, text)
    except EditError:
        assert texts(store, context) == before and len(store.batches()) == steps
    else:
        assert texts(store, context)[place] == text == text.strip() != ""
    found = next(e for slot, e, _ in store.assigned_to(VERSION, context) if slot == 0)
    assert len({folded(t) for t in [found.text, *texts(store, context)]}) == K + 1


def test_the_right_ending_is_refused_in_words(store: Store, ann: Curator) -> None:
    context = contexts(store)[2]
    found = next(e.text for slot, e, _ in store.assigned_to(VERSION, context) if slot == 0)
    for change in (ann.edit_text, ann.replace):
        with pytest.raises(EditError, match="right ending"):
            change(context, 0, found.upper())
    assert store.batches() == []


def test_an_earlier_version_comes_back(store: Store, ann: Curator) -> None:
    context = contexts(store)[4]
    first = store.curated(VERSION, context)
    ann.edit_text(context, 2, "one.")
    ann.edit_text(context, 2, "two.")
    assert ann.restore(context, 2, first.endings[2]) is not None
    assert store.curated(VERSION, context) == first
    assert [b.name for b in store.batches()][-1] == "Restore an ending"
    with pytest.raises(EditError, match="not one of this"):
        ann.restore(context, 2, store.curated(VERSION, contexts(store)[5]).endings[0])
    with pytest.raises(EditError, match="Another ending"):
        ann.restore(context, 2, first.endings[1])


def test_a_change_that_met_another_writes_nothing(
    store: Store, ann: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = contexts(store)[1]
    old = ann.state(context)
    ann.exclude(context)
    monkeypatch.setattr(store, "curated", lambda *_: old)  # read before that
    with pytest.raises(EditError, match="meanwhile"):
        ann.comment(context, "see video")
    assert [b.name for b in store.batches()] == ["Exclude a context"]


def test_ranks_are_orders_and_nothing_else(store: Store, ann: Curator) -> None:
    context = contexts(store)[0]
    assert order(ann.state(context)) == (0, 1, 2, 3)
    assert ann.rank(context, (0, 1, 2, 3)) is None  # as it stands
    assert ann.rank(context, (2, 0, 1, 3)) is not None
    assert order(ann.state(context)) == (2, 0, 1, 3)
    with pytest.raises(ValueError, match="no order"):
        ann.rank(context, (0, 0, 1, 2))


def test_notes_are_steps_with_names(store: Store, ann: Curator) -> None:
    context = contexts(store)[0]
    ann.flag(context, "typo", True)
    ann.flag(context, "check", True)
    assert ann.flag(context, "typo", True) is None
    ann.comment(context, "  see video  ")
    ann.exclude(context)
    state = ann.state(context)
    assert (state.flags, state.comment, state.excluded) == (("check", "typo"), "see video", True)
    assert [b.name for b in store.batches()] == [
        "Flag a context as “typo”",
        "Flag a context as “check”",
        "Comment on a context",
        "Exclude a context",
    ]


# --- many at once --------------------------------------------------------------------------------


@given(
    narrow=st.builds(
        ReviewFilter,
        text=st.sampled_from(["", "runs", "走", "zzz"]),
        split=st.sampled_from(["", "val"]),
        excluded=st.sampled_from([None, True, False]),
    ),
    change=st.sampled_from(CHANGES),
)
@settings(max_examples=30, suppress_health_check=SHARED, deadline=None)
def test_bulk_changes_what_the_filter_shows_and_nothing_else(
    store: Store, narrow: ReviewFilter, change: Change
) -> None:
    ann, all_ids = Curator(store, VERSION, "Ann"), contexts(store)
    shown = set(store.review_context_ids(store.review_ids(VERSION, narrow)))
    before = {id: store.curated(VERSION, id) for id in all_ids}
    told = ann.preview(shown, change)
    batch = ann.bulk(shown, change)
    after = {id: store.curated(VERSION, id) for id in all_ids}
    for id in all_ids:
        assert after[id] == (change.of(before[id]) if id in shown else before[id])
    changed = sum(before[id] != after[id] for id in all_ids)
    assert told == (len(shown), len(shown) - changed)
    assert (batch is None) == (changed == 0)
    if batch is not None:
        assert batch.name == change.named(changed)
        store.undo("Ann")
        assert {id: store.curated(VERSION, id) for id in all_ids} == before


def test_many_states_are_read_as_each_is(
    store: Store, ann: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = contexts(store)
    ann.edit_text(ids[1], 0, "sings.")
    ann.exclude(ids[3])
    assigned = dict(store.assigned(VERSION))
    expected = {id: Curated(tuple(e.id for slot, e, _ in assigned[id] if slot)) for id in ids[:9]}
    expected |= store.all_curated(VERSION)
    monkeypatch.setattr("swag_studio.store_review.SLICE", 2)
    assert len(expected) == 9 and store.curated_of(VERSION, [*ids[:9], ids[4]]) == expected


def test_human_work_is_counted_where_it_stands(store: Store, ann: Curator) -> None:
    ids = contexts(store)
    assert len(ids) == CONTEXTS and store.human_work() == {}
    ann.bulk(ids[:3], Change("exclude"))
    ann.comment(ids[7], "see")
    assert store.human_work() == {VERSION: (4, 0)}
    store.undo("Ann")  # a change that was undone is none
    endings = tuple(e.id for _, e, _ in store.assigned_to(VERSION, ids[0])[:3])
    task = Task(task_id(ids[0], 0, endings), ids[0], VERSION, 0, endings)
    store.put_tasks([task])
    store.put_annotator(Annotator("a1", "Bo"))
    answer = Judgement(task.id, "a1", ("likely", "unlikely", "unlikely"), 0, 1)
    kept = store.submit(answer)
    assert store.human_work() == {VERSION: (3, 1)}
    assert store.answers_to(VERSION, ids[0]) == [(task, kept)]


def test_a_name_is_asked_for_once(store: Store) -> None:
    assert curating.who(store) == ""
    with pytest.raises(EditError, match="name is needed"):
        curating.set_who(store, "  ")
    curating.set_who(store, " Ann  Lee ")
    assert curating.who(store) == "Ann Lee"


# --- offers --------------------------------------------------------------------------------------


def pool_ending(row: int, text: str, *features: float, barred: str = "") -> PoolEnding:
    return PoolEnding(row, text, row == 0, features, barred)


def test_offers_leave_out_what_may_not_stand_there() -> None:
    endings = [
        pool_ending(0, "leaves.", 1.0),
        pool_ending(1, "Leaves.", 1.0),  # the found one again
        pool_ending(2, "is here already.", 1.0),
        pool_ending(3, "cut off at the", 1.0, barred="cut_off"),
        pool_ending(4, "short.", 1.0, barred="short"),
        pool_ending(5, "stays here.", 2.0),
        pool_ending(6, "STAYS here.", 1.5),
        pool_ending(7, "sits on it.", 1.2),
    ]
    offered = offers(endings, ["Is here already."])
    assert [e.text for e, _ in offered] == ["sits on it.", "stays here."]
    assert [e.text for e, _ in offers(endings, [], shortest=3)] == [
        "is here already.",
        "sits on it.",
    ]
    assert offers([], []) == []


def test_offers_come_in_the_order_of_a_plain_reading() -> None:
    rng = random.Random(3)
    rows = [[rng.gauss(0, 3), rng.gauss(5, 0.1), 7.0] for _ in range(20)]
    endings = [pool_ending(i, f"ending {i}.", *row) for i, row in enumerate(rows)]
    candidates = np.array(rows[1:])
    spread = candidates.std(axis=0)[:2]  # the third is the same for all
    away = (((candidates[:, :2] - rows[0][:2]) / spread) ** 2).sum(axis=1) ** 0.5
    offered = offers(endings, [])
    assert [e.row for e, _ in offered] == (1 + np.argsort(away)).tolist()
    assert [d for _, d in offered] == pytest.approx(np.sort(away).tolist())


def test_a_change_of_a_place_is_of_the_ending_that_was_seen_there(
    store: Store, ann: Curator
) -> None:
    """Someone looked at a context, and before they were done another ending came to its place."""
    context = contexts(store)[3]
    seen = store.curated(VERSION, context).endings
    ann.edit_text(context, 1, "falls over.")
    late, steps = Curator(store, VERSION, "Bob", seen), len(store.batches())
    before = store.curated(VERSION, context)
    for change in (
        lambda: late.edit_text(context, 1, "falls down."),
        lambda: late.replace(context, 1, "falls down."),
        lambda: late.restore(context, 1, seen[1]),
        lambda: late.rank(context, (3, 2, 1, 0)),
    ):
        with pytest.raises(EditError, match="changed elsewhere"):
            change()
    assert store.curated(VERSION, context) == before and len(store.batches()) == steps
    assert late.edit_text(context, 0, "falls down.")  # that one is as it was
    assert late.comment(context, "see video") and late.exclude(context)
