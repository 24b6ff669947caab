"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any, TextIO

from swag_studio.errors import lost_project
from swag_studio.nesting import json_nests_deeper

MOST_NESTING = 64  # of lists and objects in each other; what is written here has six


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
    # Of this thread alone: another one may be writing the same file.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
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
    """The value of a JSON file in UTF-8. Raises OSError and ValueError."""
    return from_json(path.read_text(encoding="utf-8"))


def from_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, also for one that nests without end."""
    if json_nests_deeper(text, MOST_NESTING):
        raise ValueError("nested too deeply")
    return json.loads(text)


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where there is none, or the file is damaged."""
    try:
        value = read_json(path)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


# --- of folders that are made beside their place and then renamed ------------------------------


def writing(path: Path) -> TextIO:
    """A file for `write_text` in pieces. It does not appear whole, so it is for such a folder."""
    return open(path, "w", encoding="utf-8", newline="\n")


def sync(path: Path) -> None:
    """What was written of a file or folder is on the disk; folders where the system can."""
    if path.is_file():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
    elif hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(path, os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
