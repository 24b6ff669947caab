"""The forecast against walking through the rounds, the paper's figures and a simulated project."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.judging import Verdict
from swag_studio.plan import (
    Assumptions,
    Measured,
    forecast,
    live_forecast,
    measure,
    question_yield,
    remaining,
)

shares = st.floats(0.05, 1.0)


def walked(y0: float, y1: float, rounds: int) -> tuple[float, float]:
    """(chance of a question, expected rounds) of one context, round by round."""
    question, expected, still = 0.0, 0.0, 1.0
    for number in range(1 + rounds):
        expected += still
        gives = y1 if number else y0
        question += still * gives
        still *= 1 - gives
    return question, expected


@given(shares, shares, st.integers(0, 5), st.integers(1, 5), st.integers(1, 10_000))
def test_the_formulas_are_the_rounds_walked_through(
    y0: float, y1: float, rounds: int, rest: int, wanted: int
) -> None:
    plan = Assumptions(
        questions=wanted, first_yield=y0, further_yield=y1, further_rounds=rounds, rest=rest,
        seconds=60, pay=12, annotators=2, hours_per_day=2.5,
    )  # fmt: skip
    question, expected = walked(y0, y1, rounds)
    found = forecast(plan)
    assert question_yield(y0, y1, rounds) == pytest.approx(question)
    assert found.contexts == pytest.approx(wanted / question)
    assert found.judgements == pytest.approx(wanted / question * expected * rest)
    assert found.hours == pytest.approx(found.judgements / 60)
    assert found.days == pytest.approx(found.hours / 5)
    assert found.cost == pytest.approx(found.hours * 12)


def test_the_papers_figures_come_out() -> None:
    """92,221 contexts gave 87,939 found questions and 25,618 extra ones, 113,557 in all."""
    found = forecast(Assumptions(questions=87_939))
    assert found.contexts == pytest.approx(92_221, rel=0.005)
    both = forecast(Assumptions(questions=113_557, count_extra=True))
    assert both.contexts == pytest.approx(92_221, rel=0.005)


def test_an_overlap_adds_its_judgements_in_the_first_round() -> None:
    plan = Assumptions(questions=1000)
    more = dataclasses.replace(plan, first=100, by=4)
    assert forecast(more).judgements == pytest.approx(forecast(plan).judgements + 300)
    all_of_them = dataclasses.replace(plan, first=10**6, by=2)
    added = forecast(all_of_them).judgements - forecast(plan).judgements
    assert added == pytest.approx(forecast(plan).contexts)


def verdict(kind: str, round: int, generated: str = "") -> Verdict:
    return Verdict("c", kind, round, "", generated=generated)  # type: ignore[arg-type]


def test_verdicts_are_counted_round_by_round() -> None:
    found = measure(
        [
            verdict("found", 0, generated="g"),
            verdict("found", 0),
            verdict("found", 2),  # two rounds without, a third with
            verdict("surprising", 2),  # three rounds without
            verdict("reannotate", 0),
            verdict("open", 1),  # one round without
            verdict("adjudicate", 0),
            verdict("open", 0),
        ],
        seconds=[10.0, 0.0, 20.0],
        further_rounds=2,
    )
    assert (found.first_decided, found.first_questions) == (6, 2)
    assert (found.further_decided, found.further_questions) == (4, 1)
    assert (found.questions, found.extra, found.begun, found.open) == (3, 1, 8, 2)
    assert found.waiting == (2, 2)
    assert found.seconds == (10.0, 20.0)


def worked(plan: Assumptions, contexts: int, seed: int) -> Measured:
    """A project in which each of `contexts` was judged to its end, at the plan's true figures."""
    rng = random.Random(seed)
    verdicts = []
    for _ in range(contexts):
        for number in range(1 + plan.further_rounds):
            if rng.random() < (plan.further_yield if number else plan.first_yield):
                extra = "g" if number == 0 and rng.random() < plan.extra_yield else ""
                verdicts.append(verdict("found", number, extra))
                break
        else:
            verdicts.append(verdict("surprising", plan.further_rounds))
    times = [rng.lognormvariate(math.log(plan.seconds), 0.4) for _ in range(contexts)]
    return measure(verdicts, times, plan.further_rounds)


def test_the_range_holds_the_truth_as_often_as_it_says() -> None:
    truth = Assumptions(questions=5000, first_yield=0.6, further_yield=0.4, seconds=40)
    mean = truth.seconds * math.exp(0.4**2 / 2)
    wrong = dataclasses.replace(truth, first_yield=0.9, further_yield=0.9, seconds=200)
    held = 0
    for seed in range(100):
        measured = worked(truth, 150, seed)
        live = live_forecast(wrong, measured)
        left = remaining(dataclasses.replace(truth, seconds=mean), measured)
        held += live.low.hours <= left.hours <= live.high.hours
        assert live.low.hours < live.expected.hours < live.high.hours
    assert held >= 80


def test_more_work_narrows_the_range() -> None:
    truth = Assumptions(questions=100_000)
    widths = []
    for contexts in (50, 500, 5000):
        live = live_forecast(truth, worked(truth, contexts, 1))
        widths.append((live.high.hours - live.low.hours) / live.expected.hours)
    assert widths == sorted(widths, reverse=True)


def test_nothing_measured_leaves_the_plan_as_it_is() -> None:
    plan = Assumptions()
    live = live_forecast(plan, Measured())
    assert live.plan == plan
    assert live.low == live.expected == live.high == forecast(plan)


def test_enough_questions_leave_nothing_but_what_has_begun() -> None:
    plan = Assumptions(questions=2)
    done = measure([verdict("found", 0)] * 3, [], 2)
    assert remaining(plan, done).judgements == 0
    begun = measure([verdict("found", 0)] * 3 + [verdict("reannotate", 0)], [], 2)
    assert remaining(plan, begun).contexts == 0
    assert remaining(plan, begun).judgements == pytest.approx(1 + (1 - plan.further_yield))


def test_waiting_contexts_count_for_what_they_will_give() -> None:
    plan = Assumptions(questions=100, further_yield=0.5)
    waiting = measure([verdict("reannotate", 0)] * 8 + [verdict("reannotate", 1)] * 2, [], 2)
    expected = 8 * 0.75 + 2 * 0.5
    q = question_yield(plan.first_yield, 0.5, 2)
    assert remaining(plan, waiting).contexts == pytest.approx((100 - expected) / q)


def test_no_yield_is_never_done() -> None:
    plan = Assumptions(further_rounds=0)
    live = live_forecast(plan, measure([verdict("surprising", 0)] * 20, [], 0))
    assert math.isinf(live.expected.hours) and math.isinf(live.high.days)
    assert math.isfinite(live.low.hours)
