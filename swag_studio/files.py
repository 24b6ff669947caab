"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

from swag_studio.errors import lost_project


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it, but never anew a project that was moved away."""
    if lost := lost_project(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(lost))
    folder.mkdir(parents=True, exist_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Writes to a temporary file beside `path`, syncs it and renames it into place.

    An OSError names `path`, also where the system does not say which file it is about.
    """
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None
        raise


def write_text(path: Path, text: str) -> None:
    """As `write_bytes`, in UTF-8 with the line ends as they are."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """As `write_text`; sorted keys, so that equal values give equal bytes."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """The value of a JSON file in UTF-8."""
    return json.loads(path.read_text(encoding="utf-8"))
