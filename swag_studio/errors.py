"""The errors that a user can cause. They carry one clear sentence and no traceback is shown.

Everything else that is raised is our bug and keeps its traceback.
"""

from __future__ import annotations

import errno


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


class StageError(UserError):
    """A stage that cannot go on with what the project holds (no contexts left, say)."""


def misfortune(error: BaseException) -> str:
    """What to do about a full disk or full memory, which is no fault of the program; else ""."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or "database or disk is full" in str(error):
        return "The disk is full. Make room and run again: it goes on where it stopped."
    if isinstance(error, MemoryError):
        return "The memory is full. Close other programs and run again: it goes on there."
    return ""
