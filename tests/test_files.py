"""A file appears whole or not at all."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.files import read_json, write_bytes, write_json, write_text


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file"
    write_bytes(path, b"one")
    write_bytes(path, b"two\0")
    assert path.read_bytes() == b"two\0"
    assert names(path.parent) == ["file"]


def test_line_ends_stay(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "ñ\r\n\n")
    assert (tmp_path / "file").read_bytes() == "ñ\r\n\n".encode()


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    write_bytes(path, b"old")
    monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (Path, "replace")}[call], fail)
    with pytest.raises(OSError):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@settings(max_examples=40)
@given(values)
def test_json_comes_back(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "value.json"
    write_json(path, value)
    assert read_json(path) == value


def test_equal_values_give_equal_bytes(tmp_path: Path) -> None:
    write_json(tmp_path / "a", {"b": 1, "a": "ñ"})
    write_json(tmp_path / "b", {"a": "ñ", "b": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert json.loads((tmp_path / "a").read_text("utf-8")) == {"a": "ñ", "b": 1}


def test_what_nests_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for text in ("[" * 100_000, '{"a":' * 100_000, "[" * 65 + "]" * 65):
        path.write_text(text)
        with pytest.raises(ValueError, match="nested too deeply"):
            read_json(path)
    path.write_text("[" * 64 + "]" * 64)
    assert read_json(path)


def test_a_project_that_was_moved_away_is_not_begun_anew(tmp_path: Path) -> None:
    lost = tmp_path / "p.swag"
    for path in (lost / "recipe.toml", lost / "pool" / "v1" / "block"):
        with pytest.raises(FileNotFoundError) as error:
            write_bytes(path, b"one")
        assert error.value.filename == str(lost)
    assert names(tmp_path) == []
    lost.mkdir()
    write_bytes(lost / "pool" / "v1" / "block", b"one")
    assert names(lost) == ["pool"]


def test_a_failed_write_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")  # as of a file that is open already

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError) as error:
        write_bytes(tmp_path / "file", b"new")
    assert error.value.filename == str(tmp_path / "file")


def test_two_threads_write_one_file_one_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sync = tmp_path / "file", os.fsync

    def overtaken(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", sync)
        other = threading.Thread(target=lambda: write_bytes(path, b"other"))
        other.start()
        other.join()
        assert path.read_bytes() == b"other"
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", overtaken)
    write_bytes(path, b"this one")
    assert path.read_bytes() == b"this one" and names(tmp_path) == ["file"]
