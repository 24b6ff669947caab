"""What annotators have earned, what that comes to in an hour, and who is due a bonus."""

from __future__ import annotations

from dataclasses import dataclass

from swag_studio.sections import setting


@dataclass(frozen=True, slots=True)
class Pay:
    """How work is paid; the rates are the paper's, the bonus is ours. Money of any currency."""

    basis: str = setting(
        "judgement", "What is paid for: each judgement, or active time.",
        choices=("judgement", "hour"),
    )  # fmt: skip
    per_judgement: float = setting(0.20, "Pay for one judgement.", low=0.0, high=1e6)
    per_hour: float = setting(8.57, "Pay for one hour of active time.", low=0.0, high=1e6)
    bonus: float = setting(0.05, "Bonus for each judgement of a good worker.", low=0.0, high=1e6)
    bonus_from: float = setting(
        0.75, "Share of found endings among the best two from which a bonus is due.",
        low=0.0, high=1.0,
    )  # fmt: skip
    bonus_minimum: int = setting(
        50, "First-round judgements from which a bonus is due.", low=1, high=1_000_000
    )


@dataclass(frozen=True, slots=True)
class Account:
    """Money earned, the bonus beside it, and what both come to in an hour; NaN without time."""

    earned: float
    bonus: float
    per_hour: float


def account(judged: int, seconds: float, rate: float, rated: int, pay: Pay) -> Account:
    """The account of an annotator with `judged` answers in `seconds` of active time.

    `rate` is the share of found endings among the best two of `rated` first-round judgements.
    """
    hours = seconds / 3600
    earned = judged * pay.per_judgement if pay.basis == "judgement" else hours * pay.per_hour
    good = rated >= pay.bonus_minimum and rate >= pay.bonus_from
    bonus = judged * pay.bonus if good else 0.0
    return Account(earned, bonus, (earned + bonus) / hours if hours else float("nan"))
