"""What the machine does to us is told in words: what, where, and what to do."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sqlite3
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio import errors
from swag_studio.errors import StageError, gone, in_words, misfortune, quoted

AGAIN = "run again: it goes on where it stopped."
CPU = (
    "[enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: can't allocate memory: you tried "
    "to allocate 8589934592 bytes. Error code 12 (Cannot allocate memory)"
)


def of_file(number: int, path: object = "/data/p.swag/pool") -> OSError:
    return OSError(number, os.strerror(number), path)


@pytest.mark.skipif(os.name == "nt", reason="the words of its own shell")
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_a_path_in_a_command_that_is_told_is_one_word(path: str) -> None:
    assert shlex.split(f"swag-studio run {quoted(path)}") == ["swag-studio", "run", path]
    assert quoted("/data/mine.swag") == "/data/mine.swag"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "The memory is full."),
        (RuntimeError(CPU), "The memory is full."),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "The accelerator’s memory"),
        (RuntimeError("MPS backend out of memory"), "The accelerator’s memory is full."),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "The memory is full."),
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full. Make room"),
        (of_file(errno.ENOSPC), "The disk is full. /data/p.swag/pool could not be written."),
        (of_file(errno.EFBIG), "A file grew larger than its drive or your account allows."),
        (of_file(errno.EIO), "The drive does not answer."),
        (sqlite3.OperationalError("database or disk is full"), "The disk is full."),
        (sqlite3.OperationalError("disk I/O error"), "The drive with the project's database"),
        (sqlite3.OperationalError("unable to open database file"), "The project's database can"),
        (sqlite3.OperationalError("database is locked"), "Another program holds"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "The project's data"),
        (PermissionError(errno.EACCES, "Permission denied", "/data/a.csv"), "/data/a.csv may not"),
        (of_file(errno.EROFS), "/data/p.swag/pool may not be used (read-only file system)."),
        (of_file(errno.ENOENT, b"/data/a.csv"), "/data/a.csv is gone:"),
    ],
)
def test_a_misfortune_says_what_and_how_to_go_on(error: Exception, said: str) -> None:
    text = misfortune(error)
    assert text.startswith(said) and AGAIN in text
    assert in_words(error, "a fault") == text


def test_a_damaged_database_says_where_good_copies_are() -> None:
    error = sqlite3.DatabaseError("database disk image is malformed")
    assert misfortune(error).startswith("The project's database is damaged.")
    assert "backups folder" in misfortune(error)


@pytest.mark.parametrize(
    "error",
    [
        KeyError("a word of the data"),
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        ValueError("out of memory"),
        sqlite3.IntegrityError("UNIQUE constraint failed"),
        sqlite3.OperationalError("no such table: endings"),
        FileNotFoundError(errno.ENOENT, "No such file or directory"),  # which, nobody knows
        of_file(errno.ENOENT, str(Path(sys.prefix) / "lib" / "style.qss")),
        of_file(errno.ENOENT, 3),
        of_file(errno.EBADF),
        OSError("said by hand"),
    ],
)
def test_our_own_faults_stay_faults(error: Exception) -> None:
    assert misfortune(error) == ""
    assert in_words(error, "a fault of ours") == "a fault of ours"


def test_an_error_of_the_user_speaks_for_itself() -> None:
    assert in_words(StageError("no contexts left."), "a fault") == "no contexts left."


def test_a_lost_project_is_named_not_the_file_in_it(tmp_path: Path) -> None:
    root = tmp_path / "p.swag"
    file = root / "pool" / "v1" / "block"
    assert gone(file).startswith(f"{root} is gone: it was moved or removed")
    root.mkdir()
    assert gone(file).startswith(f"{file} is gone:")


def test_sqlite_tells_more_than_its_text() -> None:
    """A moved database and a read-only one have the same text."""
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorname = "SQLITE_READONLY_DBMOVED"
    assert misfortune(error).startswith("The project was moved or removed while it was open.")


def test_no_command_that_is_told_has_a_bare_path() -> None:
    """A path with a space in it would be two words."""
    told = re.compile(r"swag-studio [^\"']*\{(?!quoted\()[^}]*(?:root|path|project|folder|target)")
    package = Path(errors.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    assert [path.name for path, text in texts.items() if told.search(text)] == []
    assert told.search('f"Next: swag-studio run {project.root}"')
