"""The pool: what is written comes back, by block or context, and every damage is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load

from swag_studio.errors import ProjectError
from swag_studio.pool import Pool, PoolLayout, Rows, encode_block

FEATURES = ("f0", "f1", "f2")
T = 4
FIELDS = ("tokens", "lengths", "complete", "origin", "features")


def rows_of(count: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    return Rows(
        tokens=rng.integers(0, 65_536, (count, T), np.uint16),
        lengths=rng.integers(0, 256, count, np.uint8),
        complete=rng.integers(0, 2, count, np.uint8),
        origin=rng.integers(0, 65_536, count, np.uint16),
        features=rng.standard_normal((count, len(FEATURES)), np.float32),
    )


def equal(one: Rows, other: Rows) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in FIELDS
    )


def part(rows: Rows, first: int, last: int) -> Rows:
    return Rows(*(getattr(rows, name)[first:last] for name in FIELDS))


def offsets_of(counts: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def filled(folder: Path, counts: list[int], per_block: int = 2) -> tuple[Pool, list[Rows]]:
    """A pool of contexts with these many rows each, and the rows per block."""
    pool = Pool.create(folder, PoolLayout(len(counts), per_block, T, FEATURES))
    blocks = []
    for block in range(pool.layout.blocks):
        own = [counts[c] for c in pool.layout.contexts_of(block)]
        blocks.append(rows_of(sum(own), seed=block))
        pool.write(block, offsets_of(own), blocks[-1])
    return pool, blocks


@settings(max_examples=20)
@given(st.lists(st.integers(0, 4), max_size=7), st.integers(1, 4))
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], per_block: int
) -> None:
    pool, blocks = filled(tmp_path_factory.mktemp("pool"), counts, per_block)
    pool.finish()
    pool = Pool.open(pool.folder)
    assert pool.layout == PoolLayout(len(counts), per_block, T, FEATURES)
    assert pool.counts().tolist() == counts
    assert pool.missing() == pool.problems() == []
    for block, rows in enumerate(blocks):
        contexts = pool.layout.contexts_of(block)
        offsets, read = pool.block(block)
        assert offsets.tolist() == offsets_of([counts[c] for c in contexts]).tolist()
        assert equal(read, rows)
        for c in contexts:
            assert pool.layout.block_of(c) == (block, c - contexts.start)
            first, last = offsets[c - contexts.start : c - contexts.start + 2]
            own = part(rows, first, last)
            assert len(pool.context(c)) == counts[c]
            assert equal(pool.context(c), own)
            chosen = list(range(counts[c]))[::-2]
            expected = Rows(*(getattr(own, name)[chosen] for name in FIELDS))
            assert equal(pool.gather(c, chosen), expected)


def test_contexts_of_all_blocks_are_all_contexts() -> None:
    layout = PoolLayout(7, 3, T, FEATURES)
    assert [list(layout.contexts_of(b)) for b in range(layout.blocks)] == [
        [0, 1, 2],
        [3, 4, 5],
        [6],
    ]
    assert PoolLayout(0, 3, T, FEATURES).blocks == 0


def test_a_block_is_a_safetensors_file(tmp_path: Path) -> None:
    """As others read it."""
    pool, (rows,) = filled(tmp_path, [2, 1])
    arrays = load(pool.path(0).read_bytes())
    assert arrays["offsets"].tolist() == [0, 2, 3]
    assert all(np.array_equal(arrays[name], getattr(rows, name)) for name in FIELDS)


def test_equal_rows_give_equal_bytes(tmp_path: Path) -> None:
    one, _ = filled(tmp_path / "one", [2, 1, 3])
    other, _ = filled(tmp_path / "other", [2, 1, 3])
    assert one.finish() == other.finish()
    for file in sorted(one.folder.iterdir()):
        assert file.read_bytes() == (other.folder / file.name).read_bytes()


def test_resuming(tmp_path: Path) -> None:
    pool, blocks = filled(tmp_path, [1, 2, 3, 0, 1])
    pool.path(1).unlink()
    resumed = Pool.create(tmp_path, pool.layout)
    assert resumed.missing() == [1]
    with pytest.raises(ProjectError, match="missing or damaged"):
        resumed.finish()
    resumed.write(1, offsets_of([3, 0]), blocks[1])
    assert resumed.finish()
    with pytest.raises(ProjectError, match="another layout"):
        Pool.create(tmp_path, PoolLayout(5, 3, T, FEATURES))


def test_a_block_that_is_written_again_is_read_again(tmp_path: Path) -> None:
    pool, _ = filled(tmp_path, [1, 2])
    assert pool.counts().tolist() == [1, 2]
    pool.write(0, offsets_of([0, 3]), rows_of(3, seed=9))
    assert pool.counts().tolist() == [0, 3]
    assert equal(pool.context(1), rows_of(3, seed=9))


def test_what_does_not_fit_is_not_written(tmp_path: Path) -> None:
    pool, _ = filled(tmp_path, [1, 2])
    for offsets, rows in [
        (offsets_of([1, 1, 1]), rows_of(3)),
        (offsets_of([1, 1]), rows_of(3)),
        (offsets_of([1, 2]) + 1, rows_of(4)),
    ]:
        with pytest.raises(AssertionError):
            pool.write(0, offsets, rows)
    assert pool.problems() == []


# --- damage --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A pool of one block of 5 rows, and the block's bytes."""
    pool, _ = filled(tmp_path_factory.mktemp("sealed"), [2, 3])
    pool.finish()
    return pool.folder, pool.path(0).read_bytes()


@given(st.data())
@settings(max_examples=150)
def test_any_changed_byte_is_found(sealed: tuple[Path, bytes], data: st.DataObject) -> None:
    """But for a space in the header's padding; and reading never gives other rows unseen."""
    folder, whole = sealed
    pool = Pool.open(folder)
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[place]))
    changed = whole[:place] + bytes([byte]) + whole[place + 1 :]
    pool.path(0).write_bytes(changed)
    if whole[place] != ord(" "):
        assert Pool.open(folder).problems() != []
    try:
        read = Pool.open(folder).block(0)[1]
    except ProjectError:
        pass
    else:
        assert len(read) == 5


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_block_is_found(tmp_path: Path, share: float) -> None:
    pool, _ = filled(tmp_path, [2, 3, 1])
    pool.finish()
    whole = pool.path(1).read_bytes()
    pool.path(1).write_bytes(whole[: int(len(whole) * share)])
    fresh = Pool.open(tmp_path)
    assert [problem.split(":")[0] for problem in fresh.problems()] == [pool.path(1).name]
    with pytest.raises(ProjectError, match="missing or damaged"):
        fresh.context(2)
    assert len(fresh.context(1)) == 3


def test_a_block_that_shrinks_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    pool, _ = filled(tmp_path, [2, 3])
    assert len(pool.context(0)) == 2
    pool.path(0).write_bytes(pool.path(0).read_bytes()[:-8])
    with pytest.raises(ProjectError, match="changed while it was read"):
        pool.context(1)


def test_a_missing_block_is_a_problem_of_a_sealed_pool_only(tmp_path: Path) -> None:
    pool, _ = filled(tmp_path, [2, 3, 1])
    pool.path(1).unlink()
    assert Pool.open(tmp_path).problems() == []
    (tmp_path / "blocks.json").write_text('["", ""]')
    assert f"{pool.path(1).name}: missing" in Pool.open(tmp_path).problems()


def test_a_whole_block_of_another_pool_is_found(tmp_path: Path) -> None:
    pool, _ = filled(tmp_path / "one", [2, 3])
    pool.finish()
    other = encode_block(offsets_of([2, 3]), rows_of(5, seed=77))
    pool.path(0).write_bytes(other)
    assert Pool.open(pool.folder).problems() == [
        f"{pool.path(0).name}: not the block that was sealed"
    ]


def test_a_block_of_another_shape_is_refused(tmp_path: Path) -> None:
    pool, _ = filled(tmp_path, [2, 3])
    wider = Rows(
        np.zeros((5, T + 1), np.uint16), *(getattr(rows_of(5), name) for name in FIELDS[1:])
    )
    falling = np.array([0, 9, 5], np.int64)
    for offsets, rows in [
        (offsets_of([2, 3]), wider),
        (offsets_of([5]), rows_of(5)),
        (falling, rows_of(5)),
        (offsets_of([2, 2]), rows_of(5)),
    ]:
        pool.path(0).write_bytes(encode_block(offsets, rows))
        with pytest.raises(ProjectError, match="missing or damaged"):
            Pool.open(tmp_path).context(0)


@pytest.mark.parametrize("header", [b"", b"[]", b"\xff", b"[" * 10_000, b'{"offsets": 1}'])
def test_a_damaged_header_is_refused(tmp_path: Path, header: bytes) -> None:
    pool, _ = filled(tmp_path, [2, 3])
    pool.path(0).write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ProjectError, match="missing or damaged"):
        Pool.open(tmp_path).context(0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"contexts": 2}', "null"])
def test_a_damaged_description_is_a_project_error(tmp_path: Path, text: str) -> None:
    filled(tmp_path, [2, 3])
    (tmp_path / "pool.json").write_text(text)
    with pytest.raises(ProjectError, match="not a whole candidate pool"):
        Pool.open(tmp_path)


@pytest.mark.parametrize("text", ["", "{}", "null", "[1]"])
def test_a_damaged_seal_is_found(tmp_path: Path, text: str) -> None:
    pool, _ = filled(tmp_path, [2, 3])
    pool.finish()
    (tmp_path / "blocks.json").write_text(text)
    assert len(Pool.open(tmp_path).problems()) == 1


def test_no_pool(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="not a whole candidate pool"):
        Pool.open(tmp_path)


def test_a_mended_pool_must_come_out_as_it_was(tmp_path: Path) -> None:
    layout = PoolLayout(contexts=3, contexts_per_block=1, max_tokens=4, feature_names=("a",))

    def rows(token: int) -> Rows:
        return Rows(
            tokens=np.full((2, 4), token, np.uint16),
            lengths=np.full(2, 4, np.uint8),
            complete=np.ones(2, np.uint8),
            origin=np.zeros(2, np.uint16),
            features=np.zeros((2, 1), np.float32),
        )

    offsets = np.array([0, 2], np.int64)
    pool = Pool.create(tmp_path, layout)
    for block in range(3):
        pool.write(block, offsets, rows(block))
    seal = pool.finish()
    data = bytearray(pool.path(1).read_bytes())
    data[-1] ^= 1
    pool.path(1).write_bytes(data)
    pool = Pool.open(tmp_path)
    assert [p.split(":")[0] for p in pool.problems()] == ["block-000001.safetensors"]
    pool.path(1).unlink()
    assert pool.missing() == [1]
    pool.write(1, offsets, rows(7))
    with pytest.raises(ProjectError, match="differ from the lost ones"):
        pool.finish()
    pool.write(1, offsets, rows(1))
    assert pool.finish() == seal
    assert pool.problems() == []


def test_a_pool_that_was_lost_with_its_seal_is_compared_by_its_hash(tmp_path: Path) -> None:
    pool, _ = filled(tmp_path, [2, 3, 1])
    known = pool.finish()
    (tmp_path / "blocks.json").unlink()
    assert pool.finish(known) == known
    (tmp_path / "blocks.json").unlink()
    with pytest.raises(ProjectError, match="differ from the lost ones"):
        pool.finish("0" * 32)
    assert not pool.sealed
