"""Files outside a project that its results depend on, known by what is in them.

A recipe names them (plain text to train on, word vectors). Where they lie changes no result, what
is in them does; so a stage's key has a digest of their contents in place of their name. To read a
large file takes seconds, so that is done when a stage begins, and remembered with the files' sizes
and times: where a project stands is told from those alone. A file that changed since counts as
unknown until a stage begins; one that is gone counts as what it was, since what was made with it
is still good.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from swag_studio.errors import RecipeError
from swag_studio.files import read_object, write_json
from swag_studio.recipe import STAGE_SECTIONS, STAGES, Recipe
from swag_studio.records import Artifact

UNKNOWN = "unknown"  # no digest is like it, and so no artifact has a key with it
_SUMMARY = "outside"  # where an artifact's summary has what `digests` gave
_PIECE = 1 << 24  # bytes


def named(recipe: Recipe, stage: str) -> dict[str, Path]:
    """The files and folders outside the project that a stage reads, by recipe key."""
    parts = {name: getattr(recipe, name) for name in STAGE_SECTIONS[stage]}
    return {
        f"{name}.{f.name}": _place(value)
        for name, part in parts.items()
        for f in fields(part)
        if f.metadata["outside"] and (value := getattr(part, f.name))
    }


def texts(folder: Path) -> tuple[Path, ...]:
    """The plain text in a folder: its files *.txt, by name."""
    return tuple(sorted((p for p in folder.glob("*.txt") if p.is_file()), key=lambda p: p.name))


def recorded(artifact: Artifact) -> Mapping[str, str]:
    """What was in the outside files that an artifact was begun with, as `Outside.digests`."""
    found: Any = artifact.summary.get(_SUMMARY, {})
    return dict(found)


def summary_of(digests: Mapping[str, str]) -> dict[str, object]:
    """What is to stand in an artifact's summary for `recorded` to find."""
    return {_SUMMARY: dict(digests)} if digests else {}


class Outside:
    """What a project remembers of such files, in one small file of its own."""

    def __init__(self, memory: Path) -> None:
        self._memory = memory

    def digests(self, recipe: Recipe, stage: str) -> dict[str, str]:
        """Recipe key -> digest of the contents, as far as they are known without reading."""
        paths = named(recipe, stage)
        memory = self._remembered() if paths else {}
        return {key: _digest_in(memory, path) for key, path in paths.items()}

    def reading(self, recipe: Recipe, stage: str) -> Iterator[str]:
        """Reads what is not known yet of the files of all stages up to `stage`.

        Yields a file's name after each piece. Raises RecipeError for one that is not there and
        was never read, or cannot be read.
        """
        for name in STAGES[: STAGES.index(stage) + 1]:
            for key, path in named(recipe, name).items():
                if _digest_in(self._remembered(), path) != UNKNOWN:
                    continue
                _check_there(key, path)
                stamp = _stamp(path)
                try:
                    digest = yield from _reading(path)
                except OSError as error:
                    raise RecipeError(f"{key}: {path} cannot be read ({error.strerror}).") from None
                entry = {"files": stamp, "digest": digest}
                write_json(self._memory, self._remembered() | {str(path): entry})

    def check(self, recipe: Recipe, stage: str) -> None:
        """Raises RecipeError where a file that the stage is to read is gone, or still grows."""
        for key, path in named(recipe, stage).items():
            _check_there(key, path)
            if _digest_in(self._remembered(), path) == UNKNOWN:
                raise RecipeError(f"{key}: {path} changed while it was read. Run again.")

    def _remembered(self) -> dict[str, Any]:
        return read_object(self._memory)


def _place(name: str) -> Path:
    try:
        return Path(name).expanduser().absolute()
    except (RuntimeError, ValueError):  # a user that there is not; no name at all
        return Path(name).absolute()


def _check_there(key: str, path: Path) -> None:
    if _stamp(path) is None or not (path.is_file() or path.is_dir()):
        raise RecipeError(
            f"{key}: {path} is not there. Put it back, name another one, or leave it empty."
        )


def _digest_in(memory: Mapping[str, Any], path: Path) -> str:
    """What is remembered of a path, unless it has changed since."""
    entry = memory.get(str(path))
    if isinstance(entry, dict) and _stamp(path) in (None, entry.get("files")):
        return str(entry.get("digest", UNKNOWN))
    return UNKNOWN


def _files(path: Path) -> Sequence[Path]:
    return texts(path) if path.is_dir() else (path,)


def _stamp(path: Path) -> list[list[Any]] | None:
    """[name, bytes, time of the last change] of each file; None where it is gone."""
    try:
        stats = [(file.name, file.stat()) for file in _files(path)]
    except (OSError, ValueError):
        return None
    return [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats]


def _reading(path: Path) -> Generator[str, None, str]:
    """The digest of a file, or of the names and contents of a folder's texts."""
    digest = hashlib.blake2b(digest_size=16)
    for file in _files(path):
        if file != path:
            digest.update(os.fsencode(file.name) + b"\0%d\0" % file.stat().st_size)
        with open(file, "rb") as opened:
            while piece := opened.read(_PIECE):
                digest.update(piece)
                yield file.name
    return digest.hexdigest()
