"""The errors that a user can cause. They carry one clear sentence and no traceback is shown.

What the machine does to us (a full disk, a drive that was taken out) is told in words too, with the
traceback beside it. Everything else that is raised is our bug and keeps its traceback.
"""

from __future__ import annotations

import errno
import os
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path


class UserError(Exception):
    """What went wrong, where, and what to do about it, in one sentence or two.

    The text goes to the terminal or the window as it is, so it names files and fields, never the
    contents of the data.
    """


class RecipeError(UserError):
    """A recipe key or value that cannot be used."""


class SourceError(UserError):
    """A caption file that is refused as a whole; `place` says where in the file."""

    def __init__(self, file: str, place: str, reason: str, remedy: str = "") -> None:
        self.file, self.place, self.reason, self.remedy = file, place, reason, remedy
        where = f"{file}, {place}" if place else file
        super().__init__(f"{where}: {reason}." + (f" {remedy}" if remedy else ""))


class ProjectError(UserError):
    """A project folder that cannot be opened, is locked, or is damaged."""


class DatabaseError(ProjectError):
    """A project's database that is missing or damaged, so that a backup may take its place."""


class PacketError(UserError):
    """A work packet, or what came back of it, that is refused as a whole."""


class StageError(UserError):
    """A stage that cannot go on with what the project holds (no contexts left, say)."""


# --- what the machine does to us -------------------------------------------------------------

_AGAIN = "and run again: it goes on where it stopped."
_FULL = f"Make room {_AGAIN}"
_MEMORY = f"Close other programs {_AGAIN} If it stays full, choose a smaller recipe."
ALLOCATORS = ("out of memory", "can't allocate memory", "cublas_status_alloc_failed")
_PROJECT = ".swag"  # project.SUFFIX, which stands floors above

# (SQLite's name of the error, a piece of its text, what it means). The first that fits is told.
_DATABASE = (
    ("SQLITE_FULL", "disk is full", f"The disk is full. {_FULL}"),
    (
        "SQLITE_READONLY_DBMOVED",
        "",
        f"The project was moved or removed while it was open. Put it back, open it anew {_AGAIN}",
    ),
    (
        "SQLITE_READONLY",
        "readonly database",
        "The project's database may not be written to. See to the permissions of the project's "
        f"folder {_AGAIN}",
    ),
    (
        "SQLITE_CANTOPEN",
        "unable to open database",
        "The project's database cannot be opened. See whether the project's folder is still there "
        f"and may be written to, {_AGAIN}",
    ),
    (
        "SQLITE_IOERR",
        "disk I/O error",
        f"The drive with the project's database does not answer. See to the drive {_AGAIN}",
    ),
    (
        "SQLITE_BUSY",
        "is locked",
        f"Another program holds the project's database. Close it there {_AGAIN}",
    ),
    (
        "SQLITE_CORRUPT",
        "malformed",
        "The project's database is damaged. Put back a good copy from its backups folder: Tools > "
        "Backups, or in a terminal swag-studio backups PROJECT --restore newest",
    ),
)
_GARBLED = "Could not decode to UTF-8"  # what Python says of it, with the text of the data


def _errnos(names: str) -> frozenset[int]:
    """The numbers of those errors that this system has."""
    return frozenset(getattr(errno, name) for name in names.split() if hasattr(errno, name))


_NO_ROOM = _errnos("ENOSPC EDQUOT")
_TOO_LARGE = _errnos("EFBIG")
_DENIED = _errnos("EACCES EPERM EROFS")
_GONE = _errnos("ENOENT ENOTDIR ESTALE ENODEV ENXIO")
_SILENT = _errnos("EIO ETIMEDOUT ENOTCONN EHOSTDOWN ENOLINK")


def quoted(path: Path | str) -> str:
    """A path as a word of a command that is told, so that it can be pasted into a terminal."""
    return subprocess.list2cmdline([str(path)]) if os.name == "nt" else shlex.quote(str(path))


def in_words(error: BaseException, fault: str) -> str:
    """What a person is told of any error: its own sentence, a misfortune's, else `fault`."""
    return str(error) if isinstance(error, UserError) else misfortune(error) or fault


def damaged(error: BaseException) -> bool:
    """Whether it says that a project's database is missing, is none, or does not hold together."""
    if isinstance(error, sqlite3.DatabaseError):
        name = getattr(error, "sqlite_errorname", "") or ""
        return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")) or str(
            error
        ).startswith(_GARBLED)
    return isinstance(error, DatabaseError)


def misfortune(error: BaseException) -> str:
    """What happened and what to do about it where the machine is at fault; "" where we are.

    A full disk or memory, a folder that went away or may not be written to, a drive that is dead.
    """
    if isinstance(error, MemoryError):
        return f"The memory is full. {_MEMORY}"
    if isinstance(error, OSError):
        return _of_files(error)
    text = str(error)
    if isinstance(error, sqlite3.DatabaseError):
        name = getattr(error, "sqlite_errorname", "") or ""
        if text.startswith(_GARBLED):
            name = "SQLITE_CORRUPT"
        for wanted, piece, told in _DATABASE:
            if name.startswith(wanted) or (piece and piece in text):
                return told
    if isinstance(error, RuntimeError) and any(sign in text.lower() for sign in ALLOCATORS):
        device = text.startswith(("CUDA", "HIP", "MPS", "XPU"))  # else the machine's own
        return f"The {'accelerator’s ' if device else ''}memory is full. {_MEMORY}"
    return ""


def _of_files(error: OSError) -> str:
    """A misfortune with a file. Of a file that nobody names it can be told only what is sure."""
    number = error.errno
    path = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else None
    where = f"{path} could not be written. " if path else ""
    if number in _NO_ROOM:
        return f"The disk is full. {where}{_FULL}"
    if number == errno.ENOMEM:
        return f"The memory is full. {_MEMORY}"
    if number in _TOO_LARGE:
        return (
            f"A file grew larger than its drive or your account allows. {where}"
            f"Move the project to another drive {_AGAIN}"
        )
    if number in _SILENT:
        return f"The drive does not answer. {where}See to the drive {_AGAIN}"
    if path is None or _ours(path):
        return ""
    if number in _DENIED:
        reason = (error.strerror or "permission denied").lower()
        return (
            f"{path} may not be used ({reason}). See to its permissions, or move it to where you "
            f"may write, {_AGAIN}"
        )
    return gone(path) if number in _GONE else ""


def lost_project(path: Path) -> Path | None:
    """The project folder that a path is in, where that folder is no longer there."""
    projects = (p for p in (path, *path.parents) if p.suffix == _PROJECT)
    return next((p for p in projects if not p.exists()), None)


def gone(path: Path) -> str:
    """That a file is no longer there, or the whole project that it was in."""
    return (
        f"{lost_project(path) or path} is gone: it was moved or removed, or its drive was taken "
        f"out. Put it back {_AGAIN}"
    )


def _ours(path: Path) -> bool:
    """Whether a path is in the program's own installation, which no project ever is."""
    homes = (Path(__file__).parent, Path(sys.prefix), Path(sys.base_prefix))
    return any(path.is_relative_to(home) for home in homes)
