"""The figures of human work in words, as tables of text: columns and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `--help` answers at once
    from swag_studio.agreement import Agreement, Frequencies, WithOthers
    from swag_studio.judging import Verdict
    from swag_studio.plan import Assumptions, Forecast, Live, Measured
    from swag_studio.rounds import Worker
    from swag_studio.verification import Standing

Table = tuple[list[str], list[list[str]]]

MEASURES = {
    "labels": "likely / unlikely / gibberish",
    "choices": "best / second / neither",
    "top_two": "best or second / neither",
}
KINDS = {
    "found": "question, found ending right",
    "reannotate": "to be judged again",
    "adjudicate": "annotators tied",
    "surprising": "surprising, no question",
    "open": "not judged by enough",
}
STATES = {"warned": "often misses the found ending", "dropped": "should be dropped"}
VERDICT_COLUMNS = [
    *("context", "verdict", "round", "place", "distractors", "types", "replace", "by"),
    *("generated", "reason"),
]


def share(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1%}"


def money(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.2f}"


# --- annotators ----------------------------------------------------------------------------------


def worker_rows(workers: Sequence[Worker]) -> Table:
    """How each stands: work, time, and the found ending among their best two."""
    columns = ["annotator", "open", "judged", "time", "found in top 2", "per hour", "note"]
    return columns, [
        [
            w.annotator.name,
            f"{w.progress.get('open', 0):,}",
            f"{w.judged:,}",
            f"{w.seconds:.0f} s" if w.judged else "",
            _standing(w.standing),
            money(w.per_hour),
            ", ".join(_notes(w)),
        ]
        for w in workers
    ]


def _standing(s: Standing) -> str:
    return f"{s.rate:.0%} ({s.low:.0%} to {s.high:.0%})" if s.n else ""


def _notes(w: Worker) -> Iterator[str]:
    if w.annotator.kind == "simulated":
        yield "simulated"
    if not w.annotator.active:
        yield "dropped"
    elif w.standing.state != "ok":
        yield STATES[w.standing.state]
    if w.entry is not None:
        yield f"entry test {'' if w.entry else 'not '}passed"
    if w.checks:
        yield f"{w.checks_passed} of {w.checks} checks passed"
    if skipped := w.progress.get("skipped", 0):
        yield f"{skipped:,} skipped"


def pay_rows(workers: Sequence[Worker]) -> Table:
    """Time and pay, for a spreadsheet."""
    columns = ["annotator", "kind", "active", "judgements", "hours", "median_seconds"]
    columns += ["earned", "bonus", "per_hour"]
    return columns, [
        [
            _plain(w.annotator.name),
            w.annotator.kind,
            "yes" if w.annotator.active else "no",
            str(w.judged),
            f"{w.hours:.3f}",
            *("" if math.isnan(v) else f"{v:.2f}" for v in (w.seconds, w.earned, w.bonus)),
            "" if math.isnan(w.per_hour) else f"{w.per_hour:.2f}",
        ]
        for w in workers
    ]


def _plain(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@") else name


# --- agreement -----------------------------------------------------------------------------------


def agreement_rows(measured: Mapping[Any, Agreement]) -> Table:
    """Alpha and percent beside the paper's."""
    from swag_studio.agreement import PAPER_ALPHA, PAPER_PERCENT

    columns = ["of", "alpha", "paper", "same answers", "paper", "endings", "pairs"]
    return columns, [
        [
            MEASURES[m],
            a.alpha.text(),
            f"{PAPER_ALPHA[m]:.2f}" if m in PAPER_ALPHA else "",
            a.percent.text(),
            f"{PAPER_PERCENT[m]:.2f}" if m in PAPER_PERCENT else "",
            f"{a.units:,}",
            f"{a.pairs:,}",
        ]
        for m, a in measured.items()
    ]


def source_rows(measured: Mapping[Any, Mapping[str, Agreement]]) -> Table:
    """Alpha of each source."""
    return ["source", "of", "alpha", "same answers", "endings"], [
        [source, MEASURES[m], a.alpha.text(), a.percent.text(), f"{a.units:,}"]
        for m, by_source in measured.items()
        for source, a in by_source.items()
    ]


def others_rows(rows: Sequence[WithOthers], names: Mapping[str, str]) -> Table:
    """How each agrees with whoever judged the same."""
    return ["annotator", "as the others", "endings", "tasks"], [
        [names[w.annotator], share(w.share), f"{w.n:,}", f"{w.judged:,}"] for w in rows
    ]


def table2_rows(here: Frequencies) -> Table:
    """This project's Table 2 beside the paper's."""
    from swag_studio.agreement import PAPER

    columns = ["endings", "of", "likely", "unlikely", "gibberish", "best", "second", "ratings"]
    rows = []
    for kind in ("found", "generated"):
        for name, table in (("this project", here), ("paper", PAPER)):
            s = getattr(table, kind)
            shares = [share(v) for v in (s.likely, s.unlikely, s.gibberish, s.best, s.second)]
            rows.append([kind, name, *shares, f"{s.n:,}" if s.n else ""])
    return columns, rows


# --- plan ----------------------------------------------------------------------------------------


def forecast_rows(whole: Forecast, live: Live, *, begun: bool) -> Table:
    """The forecast from nothing, and what is left with its range once work has begun."""
    columns = ["", "contexts", "judgements", "hours", "days", "cost"]
    rows = [["all of it, as assumed", *_forecast(whole)]]
    if begun:
        rows.append(["left, as measured", *_forecast(live.expected)])
        rows.append(["  at best", *_forecast(live.low)])
        rows.append(["  at worst", *_forecast(live.high)])
    return columns, rows


def _forecast(f: Forecast) -> list[str]:
    if math.isinf(f.contexts):
        return ["never"] * 5
    return [
        f"{math.ceil(f.contexts):,}",
        f"{math.ceil(f.judgements):,}",
        f"{f.hours:,.1f}",
        f"{f.days:,.1f}",
        f"{f.cost:,.2f}",
    ]


def rests_on(plan: Assumptions, measured: Measured) -> str:
    """What a forecast rests on, in a sentence."""
    how = "measured" if measured.first_decided else "assumed"
    return (
        f"It rests on {plan.first_yield:.1%} of contexts becoming a question in their first round "
        f"({how}), {plan.seconds:.0f} s a judgement, {plan.annotators} annotators of "
        f"{plan.hours_per_day:g} hours a day, and {plan.pay:,.2f} an hour."
    )


# --- verdicts ------------------------------------------------------------------------------------


def verdict_counts(counts: Mapping[tuple[str, int], int]) -> Table:
    """Contexts by verdict and round; rounds are told from 1."""
    order = list(KINDS)
    rows = sorted(counts.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    return ["verdict", "round", "contexts"], [
        [KINDS[kind], str(round + 1), f"{n:,}"] for (kind, round), n in rows
    ]


def verdict_row(v: Verdict) -> list[str]:
    """A verdict for a spreadsheet; ids are joined by spaces, rounds and places count from 0."""
    return [
        v.context_id,
        v.kind,
        str(v.round),
        str(v.place) if v.kind == "found" else "",
        " ".join(d.ending_id for d in v.distractors),
        " ".join(d.type for d in v.distractors),
        " ".join(v.replace),
        " ".join(v.by),
        v.generated,
        v.reason,
    ]
