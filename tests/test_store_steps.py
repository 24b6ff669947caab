"""Steps of many contexts: as a slow reading has them, also broken off, undone and redone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_store_review import VERSION, fill

from swag_studio import store_steps
from swag_studio.curating import Change, Curator, EditError, redoing, undoing
from swag_studio.project import Project
from swag_studio.recipe import preset
from swag_studio.records import Ending, ending_id
from swag_studio.reviewing import Batch, Curated, Made, ReviewFilter, stacks
from swag_studio.store import Store

SLICE = 3
CHANGES = [
    Change("exclude"),
    Change("include"),
    *(
        Change(kind, flag)
        for kind in ("flag", "unflag")
        for flag in ("typo", "check", "d'accord é")
    ),
]
States = dict[str, Curated]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(store_steps, "SLICE_OF_STEP", SLICE)
    with Project.create(tmp_path / "p.swag", preset("demo")) as project:
        fill(project.store)
        list(project.store.build_review(VERSION, 1, {}))
        yield project.store


@pytest.fixture
def ids(store: Store) -> list[str]:
    return sorted(store.review_context_ids(store.review_ids(VERSION)))


def states(store: Store, ids: list[str]) -> States:
    return store.curated_of(VERSION, ids)


def pull(making: Iterator[Made], slices: int) -> Batch | None:
    """Has so many slices made and leaves the rest; what was written."""
    made = list(itertools.islice(making, slices))
    making.close()  # type: ignore[attr-defined]
    return made[-1].step if made else None


# --- against an oracle -------------------------------------------------------------------------


class Oracle:
    """The same, context by context: states, and what can be undone and redone."""

    def __init__(self, states: States) -> None:
        self.states = states
        self.done: list[dict[str, tuple[Curated, Curated]]] = []
        self.undone: list[dict[str, tuple[Curated, Curated]]] = []

    def change(self, ids: list[str], change: Change, slices: int) -> None:
        changes = {}
        for id in sorted(set(ids))[: slices * SLICE]:
            before = self.states[id]
            if (after := change.of(before)) != before:
                changes[id] = before, after
        self.apply(changes)

    def apply(self, changes: dict[str, tuple[Curated, Curated]]) -> None:
        if changes:
            self.states |= {id: after for id, (_, after) in changes.items()}
            self.done.append(changes)
            self.undone.clear()

    def reverse(self, back: bool, slices: int) -> None:
        source, target = (self.done, self.undone) if back else (self.undone, self.done)
        if not source:
            return
        step = source[-1]
        some = sorted(step)[: slices * SLICE]
        wanted = {id: step[id][0 if back else 1] for id in some}
        whole = len(some) == len(step)
        if whole or any(self.states[id] != state for id, state in wanted.items()):
            if whole:
                source.pop()
            if not any(step is other for other in target):
                target.append(step)
        self.states |= wanted


@st.composite
def doings(draw: st.DrawFn) -> list[tuple[object, ...]]:
    slices = st.integers(0, 9)
    places = st.lists(st.integers(0, 22), max_size=23)
    return draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("change"), places, st.sampled_from(CHANGES), slices),
                st.tuples(st.sampled_from(["undo", "redo"]), slices),
                st.tuples(st.just("edit"), st.integers(0, 22), st.sampled_from("abc")),
            ),
            max_size=8,
        )
    )


@given(doings=doings())
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_steps_broken_off_anywhere_are_as_an_oracle_has_them(
    store: Store, ids: list[str], doings: list[tuple[object, ...]]
) -> None:
    with store.write() as connection:  # of the example before this one
        for table in ("edits", "edit_batches", "curated"):
            connection.execute(f"DELETE FROM {table}")
    list(store.build_review(VERSION, 1, {}))
    ann, oracle = Curator(store, VERSION, "Ann"), Oracle(states(store, ids))
    for what, *how in doings:
        if what == "change":
            places, change, slices = how
            some = [ids[place] for place in places]
            pull(ann.changing(some, change), slices)
            oracle.change(some, change, slices)
        elif what == "edit":
            place, text = how
            id = ids[place]
            new = Ending(ending_id(id, text), id, text, "edited", -1)
            store.put_endings([new])
            before = oracle.states[id]
            after = replace(before, endings=(new.id, *before.endings[1:]), comment=f"é “{text}”")
            if after != before:
                store.apply_edits(VERSION, "Ann", "Edit", {id: (before, after)})
                oracle.apply({id: (before, after)})
        else:
            making = store.undoing("Ann") if what == "undo" else store.redoing("Ann")
            pull(making, how[0])
            oracle.reverse(what == "undo", how[0])
        assert states(store, ids) == oracle.states
        assert [len(stack) for stack in store.undo_stacks()] == [
            len(oracle.done),
            len(oracle.undone),
        ]
    rows = {r.context_id: r for r in store.review_rows(store.review_ids(VERSION))}
    assigned = {
        id: tuple(e.id for slot, e, _ in endings if slot) for id, endings in store.assigned(VERSION)
    }
    for id, state in oracle.states.items():
        shown = rows[id].flags, rows[id].excluded, rows[id].edited
        assert shown == (",".join(state.flags), state.excluded, state.endings != assigned[id])
    with store.write() as connection:  # the text is one and the same, whoever wrote it
        for id, text in connection.execute("SELECT context_id, state FROM curated"):
            assert text == oracle.states[id].to_json()
    assert not store._in_making


def test_all_goes_back_to_the_beginning_and_forth_again(store: Store, ids: list[str]) -> None:
    ann = Curator(store, VERSION, "Ann")
    passed = [states(store, ids)]
    for change in CHANGES:
        if ann.bulk(ids[2:], change):
            passed.append(states(store, ids))
    assert len(passed) > 6
    for before in passed[-2::-1]:
        assert store.undo("Ann") and states(store, ids) == before
    assert store.human_work() == {}
    for after in passed[1:]:
        assert store.redo("Ann") and states(store, ids) == after


# --- broken off --------------------------------------------------------------------------------


def test_a_step_that_is_broken_off_says_so_and_is_undone_whole(
    store: Store, ids: list[str]
) -> None:
    ann, before = Curator(store, VERSION, "Ann"), states(store, ids)
    step = pull(ann.changing(ids, Change("exclude")), 2)
    assert step is not None and (step.name, step.remaining) == ("Exclude 6 contexts", 17)
    assert store.batches() == [step]
    assert len(store.review_ids(VERSION, ReviewFilter(excluded=True))) == 2 * SLICE
    rest = ann.bulk(ids, Change("exclude"))  # the same again does the rest
    assert rest is not None and (rest.name, rest.remaining) == ("Exclude 17 contexts", 0)
    store.undo("Ann")
    store.undo("Ann")
    assert states(store, ids) == before and store.undo("Ann") is None


def test_an_undoing_that_is_broken_off_goes_on_or_back(store: Store, ids: list[str]) -> None:
    ann, before = Curator(store, VERSION, "Ann"), states(store, ids)
    step = ann.bulk(ids, Change("flag", "typo"))
    after = states(store, ids)
    for turn in (store.undo, store.redo):
        pull(undoing(store, "Ann"), 3)
        assert store.undo_stacks() == ([step], [step])
        assert before != states(store, ids) != after
        turn("Ann")
        assert states(store, ids) == (before if turn == store.undo else after)
        assert store.undo_stacks() == (([], [step]) if turn == store.undo else ([step], []))
        store.redo("Ann")
        assert states(store, ids) == after


def test_nothing_is_added_to_a_step_after_another_one(store: Store, ids: list[str]) -> None:
    ann, before = Curator(store, VERSION, "Ann"), states(store, ids)
    making = ann.changing(ids, Change("exclude"))
    next(making)
    ann.comment(ids[20], "see video")
    with pytest.raises(EditError, match="changed elsewhere"):
        next(making)
    assert [b.name for b in store.batches()] == ["Exclude 3 contexts", "Comment on a context"]
    store.undo("Ann")
    store.undo("Ann")
    assert states(store, ids) == before


@pytest.mark.parametrize("turn", ["undo", "redo"])
def test_a_step_that_comes_before_an_undoing_begins_is_not_taken_for_the_undone_one(
    store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch, turn: str
) -> None:
    """Once the log is read, someone else, in another thread, comments on a context."""
    ann, bob = Curator(store, VERSION, "Ann"), Curator(Store(store.path), VERSION, "Bob")
    ann.exclude(ids[0])
    if turn == "redo":
        store.undo("Ann")
    read = store.batches

    def read_and_overtaken() -> list[Batch]:
        log = read()
        bob.comment(ids[1], "see video")
        return log

    before = states(store, ids[:1])
    monkeypatch.setattr(store, "batches", read_and_overtaken)
    with pytest.raises(EditError, match="nothing was taken back"):
        list((undoing if turn == "undo" else redoing)(store, "Ann"))
    monkeypatch.undo()
    assert states(store, ids[:1]) == before
    done, undone = store.undo_stacks()
    assert [b.who for b in done] == (["Ann", "Bob"] if turn == "undo" else ["Bob"])
    assert undone == []  # a new step forgets what could be redone
    assert store.undo("Ann") == done[-1] and states(store, [ids[1]])[ids[1]].comment == ""
    bob.store.close()


def test_only_the_step_that_was_named_is_taken_back(store: Store, ids: list[str]) -> None:
    ann = Curator(store, VERSION, "Ann")
    meant, other = ann.exclude(ids[0]), ann.comment(ids[1], "see video")
    assert meant is not None and other is not None
    with pytest.raises(EditError, match="nothing was taken back"):
        list(undoing(store, "Ann", meant.id))
    assert store.undo_stacks() == ([meant, other], [])
    list(undoing(store, "Ann", other.id))
    list(undoing(store, "Ann", meant.id))
    with pytest.raises(EditError, match="nothing was taken back"):
        list(redoing(store, "Ann", other.id))
    list(redoing(store, "Ann", meant.id))
    assert store.undo_stacks() == ([meant], [other])


def test_a_log_with_a_step_between_another_and_its_undoing_tells_them_apart() -> None:
    """As an older program could write it."""
    one, two = Batch(1, "", "Ann", "One"), Batch(2, "", "Bob", "Two")
    back = Batch(3, "", "Ann", "One", undoes=1)
    assert stacks([one, two, back]) == ([two], [one])


def test_others_write_between_two_slices(store: Store, ids: list[str]) -> None:
    other, slices = Store(store.path), 0
    for _ in Curator(store, VERSION, "Ann").changing(ids, Change("exclude")):
        other.db.execute("PRAGMA busy_timeout = 0")  # it would fail at once
        other.set_people_setting("slices", slices)
        slices += 1
    assert slices == -(-len(ids) // SLICE)
    other.close()


def test_a_step_in_the_making_is_not_caught_up_with(store: Store, ids: list[str]) -> None:
    making = Curator(store, VERSION, "Ann").changing(ids, Change("exclude"))
    next(making)
    assert store.edited_since(VERSION, 0) == (ids[:SLICE], 0)
    list(making)
    assert store.edited_since(VERSION, 0) == (ids, 1)
    assert store.edited_since(VERSION, 1) == ([], 1)


def test_states_as_older_versions_wrote_them_are_the_same(store: Store, ids: list[str]) -> None:
    """With spaces: known as what they are, and put back to the letter."""
    ann = Curator(store, VERSION, "Ann")
    ann.comment(ids[0], "é, “x”: y")
    spaced = '", "'.join(states(store, ids)[ids[0]].endings)
    text = (
        f'{{"comment": "é, “x”: y", "endings": ["{spaced}"], "excluded": false, "flags": [], '
        '"ranks": []}'
    )
    with store.write() as connection:
        connection.execute("UPDATE curated SET state = ?", [text])
        connection.execute("UPDATE edits SET after = ?", [text])
    before = states(store, ids)
    ann.bulk(ids, Change("flag", "typo"))
    ann.comment(ids[1], "see")
    store.undo("Ann")
    store.undo("Ann")
    assert states(store, ids) == before
    kept = store.db.execute("SELECT state FROM curated WHERE context_id = ?", [ids[0]])
    assert kept.fetchone() == (text,)
    ann.comment(ids[0], "")
    assert store.human_work() == {}
