"""Why a filter run does not converge, in words, and what to try.

Verdicts come from `series.verdict` on each member's curve, phase by phase; advice from a few
stated rules over them, the control arm, the probe, the exhausted share and the members' evidence.
Pure: it knows neither project nor screen; the window and the command line say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swag_studio import series
from swag_studio.events import Metric
from swag_studio.evidence import Evidence
from swag_studio.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Finding:
    """How one member's 4-way accuracy stands in one phase.

    `member` is a name of the registry or "ensemble"; `phase` "mlp" (the MLP alone) or "ensemble"
    (all members). `words` is a whole statement without the member's name: "stalled at 41% since
    iteration 12 (chance 25%); 10-way 22% (chance 10%)".
    """

    member: str
    phase: str
    verdict: series.Verdict
    words: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What to try, as a sentence, and what in the run speaks for it."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is known of a run so far.

    `findings` stand in the order of the phases, the ensemble last in each. `exhausted` is the mean
    share of easy distractors' contexts without a harder candidate over the last iterations, None
    where nothing was looked for. `summary` is one or two sentences; there always, also before the
    first iteration. `advice` is empty when nothing asks for any.
    """

    findings: tuple[Finding, ...]
    advice: tuple[Advice, ...]
    exhausted: float | None
    summary: str


def diagnose(
    metrics: Sequence[Metric],
    evidence: Sequence[Evidence],
    recipe: Recipe,
) -> Diagnosis:
    """Judges a filter run by its metrics so far, the latest evidence of its members, the recipe.

    `metrics` are those of the stage "filter", of one run, in any order; others are passed over.
    """
    return Diagnosis((), (), None, "Nothing has been measured yet.")
