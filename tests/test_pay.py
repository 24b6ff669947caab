"""What annotators have earned."""

from __future__ import annotations

import math

import pytest

from swag_studio.pay import Account, Pay, account


def test_each_judgement_is_paid_or_each_hour() -> None:
    assert account(100, 7200, 0.7, 100, Pay(per_judgement=0.2)) == Account(20.0, 0.0, 10.0)
    by_hour = Pay(basis="hour", per_hour=12.0)
    assert account(100, 7200, 0.7, 100, by_hour) == Account(24.0, 0.0, 12.0)


def test_nothing_is_earned_by_nothing() -> None:
    nothing = account(0, 0.0, math.nan, 0, Pay())
    assert (nothing.earned, nothing.bonus) == (0.0, 0.0) and math.isnan(nothing.per_hour)


@pytest.mark.parametrize(
    ("rate", "rated", "due"), [(0.75, 50, True), (0.74, 50, False), (0.9, 49, False)]
)
def test_a_bonus_is_due_from_a_rate_and_a_number_of_judgements(
    rate: float, rated: int, due: bool
) -> None:
    paid = account(60, 3600, rate, rated, Pay(per_judgement=0.2, bonus=0.05))
    assert paid.bonus == pytest.approx(3.0 if due else 0.0)
    assert paid.per_hour == pytest.approx(15.0 if due else 12.0)
