"""The errors that a user can cause. They carry one clear sentence and no traceback is shown.

Everything else that is raised is our bug and keeps its traceback.
"""

from __future__ import annotations


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
