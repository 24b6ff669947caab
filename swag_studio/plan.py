"""What a verification will take: people-hours, days and cost, assumed or from its own work.

The model: a context is judged in a first round, and while no question comes of it in up to
`further_rounds` more. It gives a found question with chance y0 in the first round and y1 in each
further one, and g extra questions. Pure arithmetic; each formula stands where it is computed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swag_studio.allocation import OverlapPlan
from swag_studio.intervals import exact_interval
from swag_studio.judging import Verdict
from swag_studio.sections import setting

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What a forecast rests on; the defaults are the paper's."""

    questions: int = setting(1000, "Questions wanted.", low=1, high=10_000_000, unit="questions")
    count_extra: bool = setting(
        False, "Count extra training questions, whose right ending is generated, as wanted ones."
    )
    first_yield: float = setting(
        0.737, "Contexts that become a question in their first round.", low=0.01, high=1.0
    )
    further_yield: float = setting(
        # 87,939 of 92,221 contexts became found questions: 1 - .263 (1 - y)^2 = .954.
        0.58, "Contexts that become a question in a further round.", low=0.0, high=1.0
    )  # fmt: skip
    extra_yield: float = setting(
        # 25,618 of 92,221 contexts; found second best in 20.2% of first judgements.
        0.278, "Extra training questions per context.", low=0.0, high=1.0
    )  # fmt: skip
    further_rounds: int = setting(2, "Rounds after the first.", low=0, high=10, unit="rounds")
    first: int = setting(0, "Contexts, from the first, that several judge.", low=0, high=10_000_000)
    by: int = setting(2, "Annotators of each of those.", low=1, high=50)
    rest: int = setting(1, "Annotators of each other context.", low=1, high=50)
    seconds: float = setting(
        # 20 cents a question at $8.57 an hour.
        84.0, "Time for one judgement.", low=1.0, high=3600.0, unit="s"
    )  # fmt: skip
    pay: float = setting(8.57, "Pay per hour.", low=0.0, high=1e6)
    annotators: int = setting(3, "Annotators at work.", low=1, high=1000)
    hours_per_day: float = setting(3.0, "Hours that each judges on a day.", low=0.1, high=24.0)

    @property
    def overlap(self) -> OverlapPlan:
        return OverlapPlan(self.first, self.by, self.rest)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is still to be done. All are expectations, so fractions are meant."""

    contexts: float  # to be judged for the first time
    judgements: float
    hours: float  # of people, all together
    days: float  # of work, at the annotators' hours per day
    cost: float  # in the currency of the pay


def question_yield(y0: float, y1: float, rounds: int) -> float:
    """The share of contexts that become a found question: 1 - (1 - y0) (1 - y1)^rounds."""
    return 1 - (1 - y0) * (1 - y1) ** rounds


def further_rounds(y1: float, rounds: int) -> float:
    """Rounds that a failed context still takes, `rounds` at most: sum of (1 - y1)^i, i < rounds."""
    return math.fsum((1 - y1) ** i for i in range(rounds))


def forecast(plan: Assumptions) -> Forecast:
    """What the whole verification takes, before any of it is done. As `remaining`, from nothing."""
    return remaining(plan, Measured())


# --- from a project's own work -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measured:
    """What was counted so far. A round is decided once it gave a question or did not."""

    first_decided: int = 0
    first_questions: int = 0
    further_decided: int = 0
    further_questions: int = 0
    extra: int = 0
    begun: int = 0  # contexts with a verdict of any kind, "open" too
    open: int = 0  # those whose first round is not decided
    waiting: tuple[int, ...] = ()  # rounds left of each context that failed and goes on
    seconds: tuple[float, ...] = field(default=(), repr=False)  # of each judgement

    @property
    def questions(self) -> int:
        """Found questions so far."""
        return self.first_questions + self.further_questions


def measure(verdicts: Iterable[Verdict], seconds: Sequence[float], further_rounds: int) -> Measured:
    """Counts from the verdicts of all contexts that were begun, and each judgement's seconds.

    Verdicts that are open or to be adjudicated leave their own round undecided; that they have
    come to round r says that r rounds gave no question.
    """
    first_decided = first_questions = further_decided = further_questions = 0
    extra = begun = open_ = 0
    waiting = []
    for verdict in verdicts:
        begun += 1
        undecided = verdict.kind in ("open", "adjudicate")
        decided = verdict.round + (not undecided)  # rounds that are decided
        question = verdict.kind == "found"
        extra += bool(verdict.generated)
        if decided == 0:
            open_ += 1
            continue
        first_decided += 1
        first_questions += question and verdict.round == 0
        further_decided += decided - 1
        further_questions += question and verdict.round > 0
        if undecided or verdict.kind == "reannotate":
            waiting.append(max(0, further_rounds - decided + 1))
    return Measured(
        first_decided=first_decided,
        first_questions=first_questions,
        further_decided=further_decided,
        further_questions=further_questions,
        extra=extra,
        begun=begun,
        open=open_,
        waiting=tuple(waiting),
        seconds=tuple(s for s in seconds if s > 0),
    )


def updated(plan: Assumptions, measured: Measured) -> Assumptions:
    """The plan with shares and times that were measured; what was not, stays as assumed."""
    m = measured
    values: dict[str, Any] = {}
    if m.first_decided:
        values["first_yield"] = m.first_questions / m.first_decided
        values["extra_yield"] = m.extra / m.first_decided
    if m.further_decided:
        values["further_yield"] = m.further_questions / m.further_decided
    if m.seconds:
        values["seconds"] = math.fsum(m.seconds) / len(m.seconds)
    return dataclasses.replace(plan, **values)


def remaining(plan: Assumptions, measured: Measured) -> Forecast:
    """What is left after what was counted, at the plan's own shares and times.

    q = question_yield(y0, y1, R), E = further_rounds(y1, R), k = plan.rest, for R further rounds:

    missing    = questions - those found (and extra ones, if they count) - those expected of what
                 has begun: q per open context, and 1 - (1 - y1)^r per waiting one with r left
    contexts   = missing / (q + g), g only if extra ones count; 0 if nothing is missing
    judgements = (contexts + open) k (1 + (1 - y0) E) + waiting ones' further_rounds(y1, r) k
                 + (by - rest) for each new context that the overlap plan still has several judge
    hours      = judgements * seconds / 3600
    days       = hours / (annotators * hours per day)
    cost       = hours * pay

    A context that waits for an adjudication or for one judgement of several counts as a whole
    round: a little too much. Infinite where no context gives a question.
    """
    y0, y1, rounds = plan.first_yield, plan.further_yield, plan.further_rounds
    q, extra = question_yield(y0, y1, rounds), plan.extra_yield if plan.count_extra else 0.0
    have = measured.questions + (measured.extra if plan.count_extra else 0)
    expected = measured.open * (q + extra)
    expected += math.fsum(1 - (1 - y1) ** left for left in measured.waiting)
    missing = max(0.0, plan.questions - have - expected)
    each = q + extra
    contexts = missing / each if each else (math.inf if missing else 0.0)
    per_context = 1 + (1 - y0) * further_rounds(y1, rounds)
    judgements = (contexts + measured.open) * per_context * plan.rest
    judgements += plan.rest * math.fsum(further_rounds(y1, left) for left in measured.waiting)
    judgements += min(contexts, max(0, plan.first - measured.begun)) * (plan.by - plan.rest)
    hours = judgements * plan.seconds / 3600
    return Forecast(
        contexts=contexts,
        judgements=judgements,
        hours=hours,
        days=hours / (plan.annotators * plan.hours_per_day),
        cost=hours * plan.pay,
    )


@dataclass(frozen=True, slots=True)
class Live:
    """A forecast from measured work: the expected one, and one for either end of the figures."""

    low: Forecast
    expected: Forecast
    high: Forecast
    plan: Assumptions  # with the measured figures


def live_forecast(plan: Assumptions, measured: Measured) -> Live:
    """What is left, at the measured figures and at the ends of their 95% intervals.

    Shares have Clopper and Pearson's interval; extra questions as well, one at most to a context;
    the mean time has mean +- 1.96 standard errors, from two judgements on. `low` takes the ends
    that make least work, all at once, `high` the others, so by Bonferroni the range holds in at
    least 80 of 100 cases, in fact in more. What was not measured stays as assumed in all three:
    the range knows nothing of it.
    """
    now, m = updated(plan, measured), measured
    best: dict[str, Any] = {}
    worst: dict[str, Any] = {}
    for name, hits, n in (
        ("first_yield", m.first_questions, m.first_decided),
        ("further_yield", m.further_questions, m.further_decided),
        ("extra_yield", m.extra, m.first_decided),
    ):
        if n:
            worst[name], best[name] = exact_interval(hits, n, CONFIDENCE)
    if len(m.seconds) > 1:
        error = 1.96 * float(np.std(m.seconds, ddof=1)) / math.sqrt(len(m.seconds))
        best["seconds"], worst["seconds"] = max(0.0, now.seconds - error), now.seconds + error
    return Live(
        low=remaining(dataclasses.replace(now, **best), m),
        expected=remaining(now, m),
        high=remaining(dataclasses.replace(now, **worst), m),
        plan=now,
    )
