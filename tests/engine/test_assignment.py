"""Who may be assigned, the initial draw, and the record of what was replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.assignment import Assignment, AssignmentLog, draw_initial
from swag_studio.engine.corpus import UNK
from swag_studio.engine.remap import Swaps
from swag_studio.engine.usable import Usable
from swag_studio.errors import ProjectError
from swag_studio.pool import Pool, PoolLayout, Rows

Row = tuple[int, int, bool, int, int]  # two tokens, complete, length, origin
ROWS = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, 3), st.booleans(), st.integers(1, 4), st.integers(0, 1)
    ),
    max_size=12,
)


def fault(row: Row, before: list[Row], openings: set[int]) -> str:
    """The first rule that a row breaks: 3 tokens at least, and it opens with some words."""
    a, b, complete, length, own = row
    if not complete:
        return "cut_off"
    if any(earlier[:2] == (a, b) for earlier in before) and not (own and UNK in (a, b)):
        return "repeat"
    if own:
        return ""
    if length < 3:
        return "short"
    return "" if a in openings else "opening"


@settings(deadline=None, max_examples=100)
@given(ROWS, st.sets(st.integers(0, 3)))
def test_usable_rows(rows: list[Row], openings: set[int]) -> None:
    """Against the rule read out."""
    given_rows = Rows(
        tokens=np.array([r[:2] for r in rows], np.uint16).reshape(len(rows), 2),
        lengths=np.array([r[3] for r in rows], np.uint8),
        complete=np.array([r[2] for r in rows], np.uint8),
        origin=np.array([r[4] for r in rows], np.uint16),
        features=np.zeros((len(rows), 0), np.float32),
    )
    reasons = [fault(row, rows[:i], openings) for i, row in enumerate(rows)]
    expected = [i > 0 and not why for i, why in enumerate(reasons)]
    may_open = np.isin(np.arange(4), sorted(openings))
    may_be = Usable(3, may_open)
    assert may_be(given_rows).tolist() == expected
    assert may_be.barred(given_rows) == reasons
    if openings == {0, 1, 2, 3}:
        assert Usable(3)(given_rows).tolist() == expected


def make_pool(folder: Path, counts: list[int], cut_off: int = 0) -> Pool:
    """A pool whose context c has counts[c] rows, the last `cut_off` of them not complete."""
    pool = Pool.create(folder, PoolLayout(len(counts), 3, 2, ("one",)))
    for block in range(pool.layout.blocks):
        mine = [counts[c] for c in pool.layout.contexts_of(block)]
        total = sum(mine)
        complete = np.concatenate([np.arange(n) < n - cut_off for n in mine]).astype(np.uint8)
        rows = Rows(
            np.stack([np.arange(total), np.arange(total)], axis=1).astype(np.uint16),
            np.full(total, 2, np.uint8),
            complete,
            np.zeros(total, np.uint16),
            np.zeros((total, 1), np.float32),
        )
        pool.write(block, np.cumsum([0, *mine], dtype=np.int64), rows)
    return pool


def drawn(pool: Pool, k: int, seed: int = 1, ids: list[str] | None = None) -> Assignment:
    ids = ids or [f"c{i}" for i in range(pool.layout.contexts)]
    work = draw_initial(pool, ids, k, Usable(1), seed)
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value


def test_initial_draw_leaves_out_contexts_without_enough_candidates(tmp_path: Path) -> None:
    # Of n rows the found one and the 2 cut off can't be assigned: n - 3 remain for k = 4.
    pool = make_pool(tmp_path, [10, 0, 6, 7, 20], cut_off=2)
    assignment = drawn(pool, 4)
    assert assignment.contexts.tolist() == [0, 3, 4]
    assert sorted(assignment.rows[1].tolist()) == [1, 2, 3, 4]
    for place, count in enumerate([10, 7, 20]):
        mine = set(assignment.rows[place].tolist())
        assert len(mine) == 4
        assert set(assignment.candidates(place).tolist()) == set(range(1, count - 2)) - mine


def test_the_draw_depends_on_the_context_and_the_seed_alone(tmp_path: Path) -> None:
    one = drawn(make_pool(tmp_path / "a", [30, 40]), 4, ids=["x", "y"])
    other = drawn(make_pool(tmp_path / "b", [9, 9, 9, 40]), 4, ids=["p", "q", "r", "y"])
    assert one.rows[1].tolist() == other.rows[3].tolist()
    again = drawn(make_pool(tmp_path / "a", [30, 40]), 4, seed=2, ids=["x", "y"])
    assert again.rows.tolist() != one.rows.tolist()


def test_the_draw_is_uniform(tmp_path: Path) -> None:
    """600 contexts, 3 of 8: each row 225 times on average; 0.1% point of chi square with 7
    degrees of freedom is 24.32, and a draw without replacement varies less than that assumes."""
    counts = np.bincount(drawn(make_pool(tmp_path, [9] * 600), 3).rows.ravel(), minlength=9)
    assert counts[0] == 0
    assert ((counts[1:] - 225) ** 2 / 225).sum() < 24.32


def swaps_of(changes: list[tuple[int, int, int, int]]) -> Swaps:
    """(place, slot, old, new) as Swaps; scores as a real remap has them."""
    table = np.array(changes, np.int64).reshape(len(changes), 4)
    size = np.ones(len(table), np.float32)
    return Swaps(
        table[:, 0],
        table[:, 1].astype(np.uint8),
        table[:, 2].astype(np.uint16),
        table[:, 3].astype(np.uint16),
        -size,
        size,
        0 * size,
        with_easy=5,
        exhausted=1,
        scanned=17,
    )


@pytest.fixture
def log(tmp_path: Path) -> AssignmentLog:
    """Three contexts, at 0, 2 and 4 of a pool, with rows 1, 2, 3 assigned to each."""
    log = AssignmentLog(tmp_path / "log")
    bits = np.array([0b11111110] * 3, np.uint8)
    rows = np.tile(np.array([1, 2, 3], np.uint16), (3, 1))
    log.begin(Assignment(np.array([0, 2, 4]), rows, bits, np.arange(4)))
    return log


def test_history_tells_when_each_came_and_what_it_displaced(log: AssignmentLog) -> None:
    log.commit(0, swaps_of([(0, 1, 2, 5), (2, 0, 1, 6)]), {"phase": "mlp"})
    log.commit(1, swaps_of([]), {"phase": "mlp"})
    log.commit(2, swaps_of([(0, 1, 5, 2), (0, 2, 3, 7)]), {"phase": "ensemble"})
    current = log.current()
    assert current is not None
    assert current.rows.tolist() == [[1, 2, 7], [1, 2, 3], [6, 2, 3]]
    assert current.candidates(0).tolist() == [3, 4, 5, 6]
    assert log.history(0) == [(0, 1, 2, 5), (2, 1, 5, 2), (2, 2, 3, 7)]
    assert log.history(4) == [(0, 0, 1, 6)]
    assert log.history(2) == log.history(1) == log.history(99) == []
    assert [i["phase"] for i in log.infos()] == ["mlp", "mlp", "ensemble"]
    assert log.infos()[0]["scanned"] == 17
    initial = log.initial()
    assert initial is not None and initial.rows.tolist() == [[1, 2, 3]] * 3


def test_an_unbroken_series_counts(log: AssignmentLog) -> None:
    assert log.committed() == 0
    for iteration in range(4):
        log.commit(iteration, swaps_of([]), {})
    log.path(2).unlink()
    assert log.committed() == 2 and len(log.infos()) == 2


def test_equal_iterations_have_equal_bytes(log: AssignmentLog) -> None:
    info: dict[str, Any] = {"b": 1, "a": [["accuracy", 0.1, {"member": "mlp"}]]}
    log.commit(0, swaps_of([(0, 1, 2, 5)]), info)
    once = log.path(0).read_bytes()
    log.commit(0, swaps_of([(0, 1, 2, 5)]), dict(reversed(info.items())))
    assert log.path(0).read_bytes() == once


@pytest.mark.parametrize("size", [0, 7, 100, -1])
def test_a_damaged_iteration_is_named(log: AssignmentLog, size: int) -> None:
    log.commit(0, swaps_of([(0, 1, 2, 5)]), {})
    log.path(0).write_bytes(log.path(0).read_bytes()[:size])
    with pytest.raises(ProjectError, match=r"iteration-0000.safetensors is damaged"):
        log.current()


def test_swaps_of_another_assignment_are_refused(log: AssignmentLog) -> None:
    log.commit(0, swaps_of([(0, 1, 3, 5)]), {})
    with pytest.raises(ProjectError, match="damaged"):
        log.current()


def test_nothing_is_there_before_begin(tmp_path: Path) -> None:
    log = AssignmentLog(tmp_path)
    assert log.initial() is None and log.current() is None and log.history(0) == []
