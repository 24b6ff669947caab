"""Why a filter run does not converge, in words, and what to try.

How its classifiers stand, what is advised, and both in a few sentences: the window and the command
line say the same. Pure: it knows neither project nor screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swag_studio.advice import Advice, advise
from swag_studio.events import Metric
from swag_studio.evidence import Evidence
from swag_studio.recipe import Recipe
from swag_studio.standings import CHANCE, DONE, Finding, Run, head_name

ASSUMED_TESTED = 100  # contexts behind a value where nobody says: few, so that little is claimed


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is known of a run so far.

    `findings` stand in the order of the phases, the ensemble last in each. `exhausted` is the mean
    share of contexts with an easy distractor that have no harder candidate, over the last
    iterations; None where nothing was looked for. `summary` is a few sentences; there always, also
    before the first iteration. `advice` is empty when nothing asks for any, and never while a head
    is stalled in the present phase.
    """

    findings: tuple[Finding, ...]
    advice: tuple[Advice, ...]
    exhausted: float | None
    summary: str

    @property
    def calm(self) -> str:
        """Why there is no advice, in a sentence."""
        if not self.findings:
            return "Advice stands here once there are iterations to judge."
        head = self.findings[-1]
        if head.verdict.state in DONE:
            state = head.verdict.state.replace("_", " ")
            return f"The {head_name(head.member)} is {state}: nothing asks for a change."
        return "Nothing in the curves asks for a change so far."


def diagnose(
    metrics: Sequence[Metric],
    evidence: Sequence[Evidence],
    recipe: Recipe,
    tested: int = 0,
) -> Diagnosis:
    """Judges a filter run by its metrics so far, the latest evidence of its members, the recipe.

    `metrics` are those of the stage "filter", of one run, in any order; others are passed over.
    `tested` contexts are behind each value; where 0, as many as the evidence rests on, or
    `ASSUMED_TESTED`.
    """
    count = tested or max((e.tested for e in evidence), default=ASSUMED_TESTED)
    run = Run(metrics, evidence, recipe, count)
    return Diagnosis(
        findings=tuple(finding for phase in run.phases for finding in phase.findings.values()),
        advice=advise(run),
        exhausted=run.lately("exhausted_share"),
        summary=_summary(run),
    )


def contexts_tested(recipe: Recipe, summary: Mapping[str, object]) -> int:
    """The contexts behind each value of a run with this summary; 0 where it tells none yet."""
    contexts = summary.get("contexts")
    if not isinstance(contexts, int):
        return 0
    return contexts - round(contexts * recipe.filter.train_share)


def _summary(run: Run) -> str:
    if run.last is None:
        return "Nothing has been measured yet."
    head, lines = run.last.head, []
    if head.verdict.state == "too_early":
        lines.append(f"It is {head.verdict.text(CHANCE)} of this phase.")
    else:
        lines.append(f"The {head_name(head.member)} is {head.verdict.text(CHANCE)}.")
        stalled = [
            head_name(f.member)
            for f in run.last.findings.values()
            if f is not head and f.verdict.state == "stalled"
        ]
        if stalled:
            lines.append(f"Stalled by themselves: {', '.join(stalled)}.")
    if control := run.control():
        lines.append(f"On distractors that were never filtered it is {control[0]:.0%}.")
    if probe := run.probe():
        lines.append(f"The held-out probe went from {probe[0]:.0%} to {probe[1]:.0%}.")
    replaced = run.lately("replaced_per_context")
    if replaced is not None:
        lines.append(
            f"Lately {replaced:.1f} of {run.recipe.filter.distractors} distractors were replaced "
            "per context."
        )
    return " ".join(lines)
