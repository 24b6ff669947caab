"""What curators noted in a run is carried over to the next one: as one transaction would do it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_run import fill, make_store

from swag_studio import keeping
from swag_studio.curating import Curator
from swag_studio.keeping import PROGRAM, carry_over
from swag_studio.records import Ending, ending_id
from swag_studio.reviewing import Curated
from swag_studio.store import Store

CONTEXTS, SLICE, K = 20, 3, 4
NAME = "Carry notes over from run 1"
Rows = dict[str, list[tuple[Any, ...]]]


def noted(path: Path) -> Store:
    """Run 1, of which a curator noted something at most contexts, and run 2 that goes on from it.

    In run 2 every third context has another first distractor.
    """
    store, rng = make_store(path, 0), random.Random(4)
    ids = fill(store, CONTEXTS, k=K)
    for place, id in enumerate(ids):
        ends = [e for _, e, _ in store.assigned_to(1, id)]
        if place % 3 == 0:
            ends[1] = Ending(ending_id(id, "stops."), id, "stops.", "generated", 40)
            store.put_endings([ends[1]])
        store.put_assignments(2, [(id, slot, e.id, e.row, 0.0) for slot, e in enumerate(ends)])
    for version in (1, 2):
        list(store.build_review(version, 1, {}))
    ann = Curator(store, 1, "Ann")
    for id in ids:
        what = rng.sample(("flag", "exclude", "comment", "rank", "edit", "nothing"), 2)
        if "flag" in what:
            ann.flag(id, "typo", True)
        if "exclude" in what:
            ann.exclude(id, True)
        if "comment" in what:
            ann.comment(id, "é “see”: video")
        if "rank" in what:
            ann.rank(id, (2, 0, 1, 3))
        if "edit" in what:
            ann.edit_text(id, 1, "does something that a person wrote.")
    return store


def at_once(store: Store) -> None:
    """The oracle: all of it in one transaction."""
    changes = {}
    for context, state in store.all_curated(1).items():
        fresh = store.curated(2, context)
        ranks = state.ranks if state.endings == fresh.endings else ()
        after = replace(state, endings=fresh.endings, ranks=ranks)
        if after != fresh:
            changes[context] = fresh, after
    assert 3 * SLICE < len(changes) < CONTEXTS
    store.apply_edits(2, PROGRAM, NAME, changes)


def rows(store: Store) -> Rows:
    """All that carrying over writes, but for the moment and the numbers of rows."""
    tables = {
        "edit_batches": "id, who, name, undoes, remaining",
        "edits": "*",
        "curated": "*",
        "review_rows": "*",
    }
    return {
        table: sorted(store.db.execute(f"SELECT {columns} FROM {table}").fetchall())
        for table, columns in tables.items()
    }


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    store = noted(tmp_path_factory.mktemp("oracle"))
    at_once(store)
    found = rows(store)
    store.close()
    return found


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(keeping, "SLICE_OF_STEP", SLICE)
    store = noted(tmp_path)
    yield store
    store.close()


def test_notes_are_carried_over_once_and_as_one_step(store: Store, expected: Rows) -> None:
    before = store.curated_of(2, store.contexts_changed(1))
    seen = list(carry_over(store, 1, 2))
    changed = len(store.contexts_changed(1))
    assert seen == [*range(SLICE, changed, SLICE), changed]
    assert rows(store) == expected
    list(carry_over(store, 1, 2))
    assert rows(store) == expected
    store.undo("Ann")
    assert store.curated_of(2, list(before)) == before
    list(carry_over(store, 1, 2))  # what was taken back stays so
    assert store.curated_of(2, list(before)) == before


KILLED = """
import os, sys
from pathlib import Path
from swag_studio import keeping, store_steps
from swag_studio.store import Store
left, real = int(sys.argv[2]), store_steps._write
def write(*arguments):
    global left
    real(*arguments)
    left -= 1
    if left < 0:
        os.kill(os.getpid(), 9)
store_steps._write = write
keeping.SLICE_OF_STEP = int(sys.argv[3])
list(keeping.carry_over(Store(Path(sys.argv[1])), 1, 2))
"""


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL")
@pytest.mark.parametrize("slices", [0, 1, 4])
def test_what_was_killed_goes_on_to_the_same_end(store: Store, expected: Rows, slices: int) -> None:
    """Killed within the transaction of the next slice."""
    noted_in_1 = rows(store)
    command = [sys.executable, "-c", KILLED, str(store.path), str(slices), str(SLICE)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    last = store.batches()[-1]
    assert (last.name == NAME) == (slices > 0)
    if slices:
        assert 0 < last.remaining == len(store.contexts_changed(1)) - slices * SLICE
    else:
        assert rows(store) == noted_in_1
    list(store.build_review(2, 1, {}))  # as the run does when it goes on
    list(carry_over(store, 1, 2))
    found = rows(store)
    assert [r[1:] for r in found.pop("review_rows")] == [r[1:] for r in expected["review_rows"]]
    assert found == {table: expected[table] for table in found}
    assert store.problems() == []


@given(
    closed=st.lists(st.integers(0, 4), max_size=3),
    between=st.sets(st.integers(0, 6), max_size=3),
)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_broken_off_and_overtaken_the_states_are_the_same(
    store: Store, expected: Rows, closed: list[int], between: set[int]
) -> None:
    """Where a curator's step comes in, of any run, the rest is another step."""
    with store.write() as connection:  # of the example before this one
        connection.execute("DELETE FROM curated WHERE version = 2")
        connection.execute("DELETE FROM edits WHERE version = 2")
        connection.execute("DELETE FROM edit_batches WHERE name = ?", [NAME])
        connection.execute("DELETE FROM curated WHERE version = 9")
    none, note, slices = Curated(("e",)), Curated(("e",), comment="see video"), 0
    for most in [*closed, CONTEXTS]:
        carrying = carry_over(store, 1, 2)
        for _, _ in zip(range(most), carrying, strict=False):
            if slices in between:
                store.apply_edits(9, "Ann", "Comment", {f"c{len(store.batches())}": (none, note)})
            slices += 1
        carrying.close()
    found = {id: state for version, id, state in rows(store)["curated"] if version == 2}
    assert found == {id: state for version, id, state in expected["curated"] if version == 2}
    mine = [step for step in store.batches() if step.name == NAME]
    assert len(mine) <= 1 + len(between)
    assert sum(len(store.edits(batch=step.id)) for step in mine) == len(found)
    assert not store._in_making
