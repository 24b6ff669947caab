"""What of a run's beginning stood in the run before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swag_studio.engine.history import Inheritance
from swag_studio.engine.said import Said


class Texts:
    """Two contexts, whose rows are called by number."""

    ids = ("c0", "c1")

    def of(self, place: int) -> Callable[[int], str]:
        return lambda row: f"Row {row} of {place}."


def inheritance(said: dict[str, Said]) -> Inheritance:
    nothing: Any = None
    texts: Any = Texts()
    return Inheritance(nothing, nothing, said, lambda: texts)


def test_what_people_let_stand_was_kept_and_the_rest_was_drawn() -> None:
    """A text that may not come in again, though nobody spoke against it, made room for another."""
    start = ("row 3 of 1.", "", "row 5 of 1.", "row 7 of 1.")
    began = inheritance({"c1": Said(("row 4 of 1.",), start)})
    assert began.kept(1, [3, 8, 5, 9]) == {3, 5}


def test_a_context_that_nobody_spoke_of_was_kept_whole() -> None:
    began = inheritance({"c1": Said(("row 4 of 1.",), ("", "row 5 of 1."))})
    assert began.kept(0, [1, 2]) == {1, 2}
    moved_nothing = inheritance({"c0": Said(("row 9 of 0.",))})  # excluded, and not assigned
    assert moved_nothing.kept(0, [1, 2]) == {1, 2}
