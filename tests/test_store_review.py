"""The curators' table, curated states, and the log with undo and redo, against slow readings."""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swag_studio import store_review
from swag_studio.project import Project
from swag_studio.recipe import preset
from swag_studio.records import Context, Ending, context_id, ending_id
from swag_studio.reviewing import (
    SORTABLE,
    Curated,
    ReviewFilter,
    match_query,
    searchable,
    text_problem,
)
from swag_studio.store import Store

CONTEXTS, K, VERSION = 23, 4, 3
SHARED = [
    HealthCheck.function_scoped_fixture,
    HealthCheck.too_slow,
]  # examples leave nothing that the next one reads
TEXTS = ("runs away.", "走って行く。", "eats a café tart.", "opens the door slowly.")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A filter version of 23 contexts with 4 distractors each, and its table."""
    with Project.create(tmp_path / "p.swag", preset("demo")) as project:
        fill(project.store)
        newest = {c.id: i % 7 for i, c in enumerate(project.store.contexts(1)) if i % 3}
        list(project.store.build_review(VERSION, 1, newest))
        yield project.store


def fill(store: Store) -> None:
    rng = random.Random(5)
    contexts = []
    for i in range(CONTEXTS):
        sent1, found = f"Person {i % 9} walks in.", f"{TEXTS[i % 4]} {i}"
        contexts.append(
            Context(
                context_id(f"g{i}", 1, sent1, "She", found), f"g{i}", f"v{i % 5}", f"s{i % 2}",
                f"d{i}", 1, sent1, "She", found, i % 2, ("train", "val", "test")[i % 3],
            )
        )  # fmt: skip
    store.add_contexts(1, contexts)
    for c in contexts:
        texts = [c.found, *(f"wrong {n} of {c.document}." for n in range(K))]
        endings = [Ending(ending_id(c.id, t), c.id, t, "generated", n) for n, t in enumerate(texts)]
        store.put_endings(endings)
        store.put_assignments(
            VERSION, [(c.id, n, e.id, n, rng.gauss(0, 1)) for n, e in enumerate(endings)]
        )


def test_the_table_has_every_context_with_its_margin(store: Store) -> None:
    assert store.review_ready(VERSION)
    rows = {r.context_id: r for r in store.review_rows(store.review_ids(VERSION))}
    assigned = dict(store.assigned(VERSION))
    assert rows.keys() == assigned.keys()
    for context, endings in assigned.items():
        scores = {slot: score for slot, _, score in endings}
        expected = scores[0] - max(scores[slot] for slot in range(1, K + 1))
        assert rows[context].margin == pytest.approx(expected)
        assert rows[context].found_score == pytest.approx(scores[0])


@pytest.mark.parametrize("column", SORTABLE)
@pytest.mark.parametrize("descending", [False, True])
def test_every_column_sorts(store: Store, column: str, descending: bool) -> None:
    rows = store.review_rows(store.review_ids(VERSION, sort=column, descending=descending))
    expected = sorted(rows, key=lambda r: (getattr(r, column), r.id), reverse=descending)
    assert rows == expected and len(rows) == CONTEXTS


FILTERS = st.builds(
    ReviewFilter,
    text=st.sampled_from(["", "runs", "café", "cafe", "走", "行く", "person 3", "wron d7", "zzz"]),
    source=st.sampled_from(["", "s0"]),
    split=st.sampled_from(["", "train", "val"]),
    fold=st.sampled_from([None, 1]),
    newest_from=st.sampled_from([None, 0, 4]),
    newest_to=st.sampled_from([None, 5]),
    flag=st.sampled_from(["", "typo"]),
    excluded=st.sampled_from([None, True, False]),
)


@given(narrow=FILTERS)
@settings(max_examples=25, suppress_health_check=SHARED, deadline=None)
def test_filters_let_through_what_a_slow_reading_does(store: Store, narrow: ReviewFilter) -> None:
    ids = store.review_ids(VERSION)
    marked = store.review_context_ids(ids)[:5]
    changes = {}
    for context in marked:
        before = store.curated(VERSION, context)
        after = Curated(before.endings, flags=("check", "typo"), excluded=True)
        if before != after:
            changes[context] = (before, after)
    if changes:
        store.apply_edits(VERSION, "me", "Mark", changes)
    endings = dict(store.assigned(VERSION))

    def shown(row: object) -> bool:
        words = "\n".join([row.sent1, row.sent2, *(e.text for _, e, _ in endings[row.context_id])])
        have = searchable(words).replace("é", "e").replace(".", " ").replace("。", " ").split()
        wanted = searchable(narrow.text).replace("é", "e").split()
        return (
            all(any(h.startswith(w) for h in have) for w in wanted)
            and narrow.source in ("", row.source)
            and narrow.split in ("", row.split)
            and narrow.fold in (None, row.fold)
            and (narrow.newest_from is None or row.newest >= narrow.newest_from)
            and (narrow.newest_to is None or row.newest <= narrow.newest_to)
            and (not narrow.flag or narrow.flag in row.flags.split(","))
            and (narrow.excluded is None or row.excluded == narrow.excluded)
        )

    expected = [r.id for r in store.review_rows(ids) if shown(r)]
    assert store.review_ids(VERSION, narrow).tolist() == expected


def test_a_filter_survives_being_saved() -> None:
    narrow = ReviewFilter(text="走る", fold=0, excluded=False)
    assert ReviewFilter.from_dict(narrow.to_dict()) == narrow
    assert ReviewFilter.from_dict({"fold": 0, "of a newer version": 1}) == ReviewFilter(fold=0)


def test_what_is_typed_is_never_syntax() -> None:
    assert match_query('a "b* OR NEAR(') == '"a"* "b"* "or"* "near"*'
    assert match_query(" -- ") == ""


# --- the log -----------------------------------------------------------------------------------


@given(steps=st.lists(st.sampled_from(["edit", "undo", "redo"]), max_size=24))
@settings(max_examples=25, suppress_health_check=SHARED, deadline=None)
def test_undo_and_redo_go_where_an_editor_would(store: Store, steps: list[str]) -> None:
    """Against two stacks of states; the log itself only grows."""
    context = store.review_context_ids(store.review_ids(VERSION))[7]
    while store.undo("me"):  # of the example before this one
        pass
    first = store.curated(VERSION, context)
    state = Curated(first.endings, comment="begun")  # a new step: nothing is left to redo
    store.apply_edits(VERSION, "me", "Begin", {context: (first, state)})
    past = [first]
    future: list[Curated] = []
    for number, step in enumerate(steps):
        length = len(store.batches())
        if step == "edit":
            after = Curated(state.endings, comment=f"step {number}")
            store.apply_edits(VERSION, "me", f"Comment {number}", {context: (state, after)})
            past, future, state = [*past, state], [], after
        elif step == "undo":
            assert (store.undo("me") is None) == (not past)
            if past:
                future, state = [*future, state], past.pop()
        else:
            redone = store.redo("me")
            if future:
                past, state = [*past, state], future.pop()
                assert redone is not None
        assert store.curated(VERSION, context) == state
        assert len(store.batches()) >= length
    done, _ = store.undo_stacks()
    assert len(done) == len(past)


def test_the_log_of_a_context_a_step_or_a_version_is_part_of_the_whole(store: Store) -> None:
    ids = store.review_context_ids(store.review_ids(VERSION))
    for number, (version, first, count) in enumerate(
        [(VERSION, 4, 2), (1, 3, 1), (VERSION, 3, 3), (1, 3, 2), (VERSION, 5, 1)]
    ):
        changes = {}
        for context in ids[first : first + count]:
            before = store.curated(version, context)
            changes[context] = (before, Curated(before.endings, comment=f"{number} {context}"))
        store.apply_edits(version, f"curator {number}", f"Step {number}", changes)
    steps, whole = store.batches(), store.edits()
    versions = {step.id: version for step, version in zip(steps, (3, 1, 3, 1, 3), strict=True)}
    assert [(edit.batch, edit.context_id) for edit in whole] == [
        (steps[step], id) for step, places in enumerate([(4, 5), (3,), (3, 4, 5), (3, 4), (5,)])
        for id in sorted(ids[place] for place in places)
    ]  # fmt: skip
    for context, batch, version in itertools.product(
        ["", ids[3], ids[5], "other"], [0, 3, 9], [0, VERSION, 1]
    ):
        assert store.edits(context_id=context, batch=batch, version=version) == [
            edit
            for edit in whole
            if context in ("", edit.context_id)
            and batch in (0, edit.batch.id)
            and version in (0, versions[edit.batch.id])
        ]


def test_an_edit_of_a_state_that_is_gone_changes_nothing(store: Store) -> None:
    first, second = store.review_context_ids(store.review_ids(VERSION))[:2]
    a, b = store.curated(VERSION, first), store.curated(VERSION, second)
    store.apply_edits(VERSION, "x", "Flag", {second: (b, Curated(b.endings, flags=("typo",)))})
    stale = {first: (a, Curated(a.endings, excluded=True)), second: (b, Curated(b.endings))}
    with pytest.raises(ValueError, match="meanwhile"):
        store.apply_edits(VERSION, "y", "Exclude 2 contexts", stale)
    assert not store.curated(VERSION, first).excluded
    assert [b.name for b in store.batches()] == ["Flag"]


def test_states_outlive_a_table_that_is_made_anew(store: Store) -> None:
    context = store.review_context_ids(store.review_ids(VERSION))[4]
    before = store.curated(VERSION, context)
    new = Ending(ending_id(context, "flies off."), context, "flies off.", "edited", -1)
    store.put_endings([new])
    after = Curated((new.id, *before.endings[1:]), flags=("typo",))
    store.apply_edits(VERSION, "me", "Edit ending", {context: (before, after)})
    list(store.build_review(VERSION, 1, {}))
    (row,) = store.review_rows(store.review_ids(VERSION, ReviewFilter(text="flies off")))
    assert (row.context_id, row.flags, row.edited) == (context, "typo", True)
    store.undo("me")
    assert len(store.review_ids(VERSION, ReviewFilter(text="flies off"))) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("   ", "empty"),
        (" runs.", "space"),
        ("runs  off.", "space"),
        ("runs\noff.", "control"),
        ("runs\u2028off.", "control"),
        ("WALKS out.", "right ending"),
        ("walks\u00a0out.", "right ending"),
        ("sits.", "Another ending"),
        ("stands up.", ""),
        ("座る。", ""),
    ],
)
def test_what_may_become_a_wrong_ending(text: str, words: str) -> None:
    trouble = text_problem(text, "walks out.", ["Sits."])
    assert words in trouble and bool(trouble) == bool(words)


# --- a table that is made while people work ------------------------------------------------------


def shown_marks(store: Store) -> dict[str, tuple[str, bool, bool]]:
    rows = store.review_rows(store.review_ids(VERSION))
    return {r.context_id: (r.flags, r.excluded, r.edited) for r in rows}


def true_marks(store: Store) -> dict[str, tuple[str, bool, bool]]:
    found = {c: tuple(e.id for s, e, _ in rows if s) for c, rows in store.assigned(VERSION)}
    states = store.curated_of(VERSION, found)
    return {c: (",".join(s.flags), s.excluded, s.endings != found[c]) for c, s in states.items()}


def test_a_table_that_is_made_again_misses_no_change_made_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each transaction of the making, another thread's curator changes three contexts."""
    monkeypatch.setattr(store_review, "_LISTED", 5)
    ids, other = sorted(c for c, _ in store.assigned(VERSION)), Store(store.path)
    write, turn = store.write, itertools.count()

    @contextmanager
    def overtaken() -> Iterator[sqlite3.Connection]:
        for at in (next(turn) * 3 % CONTEXTS, 1, CONTEXTS - 2):  # these two again and again
            before = other.curated(VERSION, ids[at])
            flags = () if before.flags else ("typo",)
            after = Curated(before.endings[::-1], flags=flags, excluded=not before.excluded)
            other.apply_edits(VERSION, "Bob", "Mark", {ids[at]: (before, after)})
        with write() as connection:
            yield connection

    monkeypatch.setattr(store, "write", overtaken)
    assert list(store.build_review(VERSION, 1, {}))[-1] == CONTEXTS
    monkeypatch.setattr(store, "write", write)
    marks = shown_marks(store)
    assert marks == true_marks(store) and sum(flags != "" for flags, _, _ in marks.values()) > 3
    other.close()


def test_a_table_that_is_whole_has_what_people_noted_wherever_its_making_was_left(
    store: Store,
) -> None:
    ids = store.review_context_ids(store.review_ids(VERSION))
    before = store.curated(VERSION, ids[0])
    after = Curated(before.endings, excluded=True)
    store.apply_edits(VERSION, "Ann", "Exclude", {ids[0]: (before, after)})
    making = store.build_review(VERSION, 1, {})
    while next(making) < CONTEXTS:
        pass
    making.close()  # type: ignore[attr-defined]
    assert store.review_ready(VERSION) and shown_marks(store) == true_marks(store)
