"""The corpus arrays: ragged sequences, and what is saved comes back."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.corpus import PAD, SPECIALS, Corpus, Ragged, Vocabulary
from swag_studio.errors import ProjectError

_SEQUENCES = st.lists(st.lists(st.integers(0, 65_535), max_size=6), max_size=6)


@given(_SEQUENCES)
def test_ragged_holds_the_sequences(sequences: list[list[int]]) -> None:
    ragged = Ragged.of(sequences)
    assert [ragged[i].tolist() for i in range(len(ragged))] == sequences
    assert ragged.lengths.tolist() == [len(s) for s in sequences]
    assert ragged.values.dtype == np.uint16


@given(_SEQUENCES, st.integers(0, 8), st.data())
def test_padded_is_the_sequence_then_pad(
    sequences: list[list[int]], width: int, data: st.DataObject
) -> None:
    index = data.draw(st.lists(st.integers(0, len(sequences) - 1))) if sequences else []
    padded = Ragged.of(sequences).padded(index, width)
    expected = [(sequences[i] + [PAD] * width)[:width] for i in index]
    assert padded.shape == (len(index), width)
    assert padded.tolist() == expected


def _corpus() -> Corpus:
    return Corpus(
        vocabulary=Vocabulary((*SPECIALS, "a", "é", "彼", "."), {"a": "A"}),
        context_ids=("c1", "c2"),
        groups=("g1", "g2"),
        folds=np.array([0, 1], np.uint8),
        splits=np.array([2, 0], np.uint8),
        own=np.array([False, True]),
        s=Ragged.of([[4, 7], [5, 7]]),
        n=Ragged.of([[4], [6, 6]]),
        v=Ragged.of([[5, 7], [7]]),
        captions=Ragged.of([[4, 7], [4, 5, 7], [5, 7]]),
        caption_chains=np.array([0, 0, 1], np.int32),
        caption_folds=np.array([0, 0, 1], np.uint8),
        caption_groups=np.array([0, 0, 1], np.int32),
        group_names=("g1", "g2"),
        masked=np.zeros((2, 8), np.bool_),
    )


def test_saved_and_loaded(tmp_path: Path) -> None:
    saved = _corpus()
    saved.save(tmp_path)
    loaded = Corpus.load(tmp_path)
    for f in fields(Corpus):
        before, after = getattr(saved, f.name), getattr(loaded, f.name)
        pairs = (
            [(before.values, after.values), (before.offsets, after.offsets)]
            if isinstance(before, Ragged)
            else [(before, after)]
        )
        for a, b in pairs:
            assert getattr(a, "dtype", type(a)) == getattr(b, "dtype", type(b)), f.name
            assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, f.name


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        _corpus().save(tmp_path / name)
    for file in ("corpus.safetensors", "vocabulary.json", "ids.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.parametrize("file", ["corpus.safetensors", "vocabulary.json", "ids.json"])
@pytest.mark.parametrize("damage", ["gone", "empty", "cut"])
def test_damage_is_told(tmp_path: Path, file: str, damage: str) -> None:
    _corpus().save(tmp_path)
    path = tmp_path / file
    if damage == "gone":
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(b"" if damage == "empty" else data[: len(data) // 2])
    with pytest.raises(ProjectError, match="damaged"):
        Corpus.load(tmp_path)
