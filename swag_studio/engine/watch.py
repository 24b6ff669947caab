"""Reads the assignments of a filter run for people: being written."""

from __future__ import annotations

from swag_studio.project import Project
from swag_studio.views import ContextRow, Slot


class AssignmentWatch:
    """Being written."""

    def __init__(self, project: Project, version: int) -> None:
        self.version = version

    def iterations(self) -> int:
        return 0

    def contexts(self) -> list[ContextRow]:
        return []

    def slots(self, place: int, iterations: int) -> list[Slot]:
        return []

    def changes(self, place: int) -> list[tuple[int, int, str, str]]:
        return []
