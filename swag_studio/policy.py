"""The policy of human verification: every threshold and rule that a verdict depends on.

One frozen dataclass, which a form is made from and a release writes to its manifest. The rules
that read it are in verification.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swag_studio.errors import RecipeError
from swag_studio.recipe import checked_section
from swag_studio.sections import setting


@dataclass(frozen=True, slots=True)
class VerificationPolicy:
    """The rules of human verification; the defaults are the paper's (section 4)."""

    judgements: int = setting(1, "Judgements that a context needs.", low=1, high=50)
    top_places: int = setting(
        2, "The found ending must be best (1), or best or second best (2).", low=1, high=2
    )
    distractors_needed: int = setting(3, "Usable wrong endings a question needs.", low=1, high=4)
    distractors_most: int = setting(4, "Most wrong endings of a question.", low=1, high=4)
    further_rounds: int = setting(
        2, "Rounds after the first before a context is surprising.", low=0, high=10, unit="rounds"
    )
    extra_questions: bool = setting(
        True,
        "A generated ending that is best while the found one is second makes an extra question. "
        "For training only, whatever is set here.",
    )
    extra_rounds: int = setting(
        1, "Rounds, from the first, that may give an extra question.", low=1, high=11, unit="rounds"
    )
    label_rule: str = setting(
        "most",
        "What several annotators' labels come to: the one that most gave, or the one that more "
        "than half gave.",
        choices=("most", "half"),
    )
    rank_rule: str = setting(
        "points",
        "What several annotators' ranks come to. points: best counts 2, second best 1. votes: best "
        "is what most call best, second best what most of the rest name as either.",
        choices=("points", "votes"),
    )
    likely_tie: str = setting(
        "adjudicate",
        "What a tie of likely and unlikely comes to.",
        choices=("adjudicate", "likely", "unlikely"),
    )
    worker_threshold: float = setting(
        0.55, "Share of found endings among the best two below which a worker is warned.",
        low=0.0, high=1.0,
    )  # fmt: skip
    worker_minimum: int = setting(
        10, "Judged contexts before a worker is warned or dropped.", low=1, high=10_000
    )
    interval: float = setting(
        0.95, "Confidence of the interval by which a worker is dropped.", low=0.5, high=0.9999
    )

    def __post_init__(self) -> None:
        if self.distractors_needed > self.distractors_most:
            raise RecipeError(
                "verification.distractors_needed must not be above verification.distractors_most."
            )

    def to_dict(self) -> dict[str, Any]:
        """Key -> value, as JSON takes it. `from_dict` gives the same policy."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> VerificationPolicy:
        """A policy from key -> value; absent keys keep their default. Raises RecipeError."""
        return checked_section(VerificationPolicy, "verification", values)
