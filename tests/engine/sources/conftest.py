"""Fixtures of the source tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

Written = Callable[[str | bytes], Path]


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Writes a new file with the given contents (text in UTF-8, as it is) and returns its path."""
    folder, numbers = tmp_path_factory.mktemp("captions"), itertools.count()

    def write(contents: str | bytes) -> Path:
        path = folder / f"file{next(numbers)}"
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return path

    return write
