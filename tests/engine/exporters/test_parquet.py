"""Parquet without and with pyarrow, an extra; others read it in `make check-interop`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from made_questions import any_questions, clean_set

from swag_studio.engine.exporters.everything import record
from swag_studio.engine.exporters.parquet import Parquet
from swag_studio.records import SPLITS, Question


def test_without_pyarrow_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError) as caught:
        list(Parquet().export(clean_set(3), tmp_path))
    assert caught.value.name == "pyarrow"
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=20)
@given(any_questions())
def test_every_row_survives(questions: list[Question]) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    with TemporaryDirectory() as name:
        folder = Path(name)
        assert list(Parquet().export(questions, folder)) == list(range(1, len(questions) + 1))
        for split in SPLITS:
            wanted = [q for q in questions if q.split == split]
            found = pq.read_table(folder / f"{split}.parquet").to_pylist()
            assert found == [record(q, i) for i, q in enumerate(wanted)]


def test_row_groups_do_not_change_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("swag_studio.engine.exporters.parquet._ROWS_AT_ONCE", 2)
    questions = clean_set(21)
    list(Parquet().export(questions, tmp_path))
    first = [(tmp_path / name).read_bytes() for name in Parquet.files]
    assert pq.ParquetFile(tmp_path / "train.parquet").num_row_groups >= 4
    table = pq.read_table(tmp_path / "train.parquet")
    assert table["index"].to_pylist() == list(range(7))
    list(Parquet().export(questions, tmp_path))
    assert [(tmp_path / name).read_bytes() for name in Parquet.files] == first
