"""Reading many rows at once gives each row what reading it alone gives."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_lm import banned, drive, log_p, model, reader

from swag_studio.engine.lm import LanguageModel
from swag_studio.engine.reading import PIECE, Reader, Walk

ROWS = st.lists(st.lists(st.integers(1, 39), min_size=1, max_size=5), min_size=1, max_size=6)


def walk_over(read: Reader, rows: list[list[int]], **options: bool) -> Walk:
    width = max(map(len, rows))
    given_rows = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    limits = torch.tensor([len(row) for row in rows])
    node = torch.zeros(len(rows), dtype=torch.long)
    return Walk(read, read.start(), node, given_rows, limits, **options)


@pytest.mark.parametrize("name", ["forward", "backward"])
@pytest.mark.parametrize(("layers", "chunk"), [(1, 2), (2, 2), (2, 512)])
@settings(max_examples=8, deadline=None)
@given(rows=ROWS)
def test_log_p_is_that_of_each_row_alone(
    name: str, layers: int, chunk: int, rows: list[list[int]]
) -> None:
    made = model(3, layers=layers)
    read = reader(made, name, 7, 30, 31)
    read.chunk = chunk
    walk = walk_over(read, [*rows, rows[0]])  # equal rows share all nodes
    drive(walk.run())
    for row, got in zip([*rows, rows[0]], walk.log_p, strict=True):
        expected = log_p(made, name, [], row)
        assert got[: len(row)].tolist() == pytest.approx(expected, abs=1e-5)
        assert not got[len(row) :].any()


def test_rows_go_on_from_the_state_where_others_ended() -> None:
    made = model(5)
    read = reader(made, "forward")
    first = [[8, 9, 10], [11], [8, 9]]
    walk = walk_over(read, first, keep_ends=True)
    drive(walk.run())
    assert walk.ends is not None
    nodes, rows = [2, 0, 2], [[20, 21], [22, 4], [23, 4]]
    then = Walk(read, walk.ends, torch.tensor(nodes), torch.tensor(rows), torch.tensor([2, 2, 2]))
    drive(then.run())
    for node, row, got in zip(nodes, rows, then.log_p, strict=True):
        expected = log_p(made, "forward", first[node], row)
        assert got.tolist() == pytest.approx(expected, abs=1e-5)


def test_equal_beginnings_are_read_once() -> None:
    read = reader(model(1), "forward")
    walk = walk_over(read, [[8, 9, 10], [8, 9, 11], [8, 12], [13]])
    before = read.work.predicted, read.work.read
    drive(walk.run())
    # distributions after "", 8 | after 8 9, 8; reads: 8, (13 ends unread), 9 (12 ends unread)
    assert read.work.predicted - before[0] == 1 + 1 + 1
    assert read.work.read - before[1] == 1 + 1


def test_columns_lead_with_what_may_be_drawn() -> None:
    made = model(2)
    read = Reader(made, "forward", banned(40, 7, 30))
    assert read.drawable == PIECE  # 34 words, filled up
    drawable = read.token_of[read.column_of[read.column_of < PIECE]]
    assert sorted(drawable.tolist()) == [i for i in range(4, 40) if i not in (7, 30)]
    assert torch.equal(read.token_of[read.column_of], torch.arange(40))
    p = torch.softmax(read.output_bias, 0)
    used = torch.zeros(len(p), dtype=torch.bool).index_fill_(0, read.column_of, True)
    assert not p[~used].any()


def test_an_impossible_token_has_a_finite_score() -> None:
    made = model(4)
    made.forward_lm.output_bias[9] = -1e4
    walk = walk_over(reader(made, "forward"), [[9, 4]])
    drive(walk.run())
    assert -88 < walk.log_p[0, 0] < -87


def test_bfloat16_scores_are_those_of_float32_to_its_precision() -> None:
    # Logits here are below 16 in size, where bfloat16 steps are at most 2^-4; of two differing.
    made, rows = model(6), [[8, 9, 10, 11, 12], [20, 4], [21, 22, 23]]
    half = LanguageModel(made.config).to(torch.bfloat16).requires_grad_(False)
    half.load_state_dict(made.state_dict())
    got = []
    for each in (made, half):
        walk = walk_over(reader(each, "forward"), rows)
        drive(walk.run())
        got.append(walk.log_p)
    assert got[1].dtype == torch.float32
    assert not torch.equal(*got)
    assert (got[0] - got[1]).abs().max() < 0.125
