"""What a verification takes in contexts, hours, days and pay, with all that it rests on.

Before any work it is the plan's own arithmetic; once there is some, a forecast of what is left
with its range. It shows numbers and asks by a signal for other assumptions to be kept.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from swag_studio.plan import Assumptions, Forecast, Live, Measured, forecast, live_forecast
from swag_studio.ui.page import bare, card, scrolled, set_role, splitter
from swag_studio.ui.people_readings import Overview
from swag_studio.ui.policy_dialog import SettingsForm
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import count


class Amount(NamedTuple):
    """A quantity: over the whole work, and what is left of it with its range."""

    name: str
    whole: float
    left: float | None = None
    low: float | None = None
    high: float | None = None


class Basis(NamedTuple):
    """What a forecast rests on: as assumed, and as measured over n."""

    name: str
    assumed: str
    measured: str
    n: int


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    if math.isinf(value):
        return "without end"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


AMOUNT_COLUMNS = (
    Column("What it takes", lambda a: a.name, stretch=True),
    Column("Planned", lambda a: a.whole, _figure),
    Column("Left", lambda a: a.left, _figure, optional=True, help="By what was measured so far"),
    Column("At least", lambda a: a.low, _figure, optional=True, help="If all turns out well"),
    Column("At most", lambda a: a.high, _figure, optional=True, help="If all turns out badly"),
)
BASIS_COLUMNS = (
    Column("What it rests on", lambda b: b.name, stretch=True),
    Column("Assumed", lambda b: b.assumed),
    Column("Measured", lambda b: b.measured),
    Column("Of", lambda b: b.n),
)


class PlanPanel(QWidget):
    """The result beside the assumptions."""

    plan_changed = Signal(object)  # Assumptions

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._overview: Overview | None = None
        self.form = SettingsForm(Assumptions(), "plan")
        self.form.changed.connect(self._edited)
        self.told, self.enough = QLabel(""), QLabel("")
        for label, role in ((self.told, "heading"), (self.enough, "")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setWordWrap(True)
            set_role(label, role)
        self.amounts = Table("What it takes", AMOUNT_COLUMNS, most=6)
        self.basis = Table("Assumed and measured", BASIS_COLUMNS, most=6)
        self.note = QLabel("")
        self.note.setWordWrap(True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.note, "muted")
        measured = QLabel("Assumed and measured")
        set_role(measured, "strong")
        result = QWidget()
        layout = QVBoxLayout(result)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for widget in (self.enough, self.amounts, measured, self.basis, self.note):
            layout.addWidget(widget)
        layout.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setAccessibleName("The plan in numbers")
        bare(area, result)
        parts = splitter(Qt.Orientation.Horizontal)
        parts.addWidget(card(self.told, area))
        parts.addWidget(scrolled(self.form, "What it rests on"))
        parts.setSizes([1500, 1000])
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 8, 0, 0)
        outer.addWidget(parts)
        self._show()

    def show_plan(self, plan: Assumptions) -> None:
        """The kept plan, before it is known what was measured."""
        self._overview = None
        self._take(plan)

    def show_overview(self, overview: Overview) -> None:
        """The kept plan, and what was measured by now."""
        self._overview = overview
        self._take(overview.plan)

    def _take(self, plan: Assumptions) -> None:
        if plan != self.form.values:
            self.form.show_values(plan)
        self._show()

    def _edited(self, plan: Assumptions) -> None:
        self._show()
        self.plan_changed.emit(plan)

    def _show(self) -> None:
        plan: Assumptions = self.form.values
        whole = forecast(plan)
        measured = self._overview.measured if self._overview else Measured()
        live = live_forecast(plan, measured) if measured.first_decided else None
        self.told.setText(told(plan, whole, live))
        self.amounts.set_rows(amounts(whole, live))
        self.basis.set_rows(basis(plan, measured))
        if self._overview is not None:
            left = live.expected.contexts if live else whole.contexts
            begun = measured.begun if live else 0
            self._tell_enough(self._overview.contexts, begun + left)
        else:
            self.enough.setText("How many contexts there are is known once a filter run is done.")
            set_role(self.enough, "muted")
        self.note.setText(
            "The range takes the ends of the measured figures' 95% intervals that make least and "
            "most work, all at once. What is not measured yet stays as assumed in it."
            if live
            else "The shares are the paper's until this project has its own: contexts that give a "
            "question in their first round, and in a further one. Every figure can be edited."
        )

    def _tell_enough(self, contexts: int, needed: float) -> None:
        have = f"This project has {count(contexts, 'context')}"
        if math.isinf(needed):
            self.enough.setText("⚠ By these figures no context gives a question.")
            set_role(self.enough, "bad")
            return
        wanted = math.ceil(needed)
        if wanted <= contexts:
            self.enough.setText(f"✓ {have}; {wanted:,} are needed.")
            set_role(self.enough, "good")
            return
        self.enough.setText(
            f"⚠ {have}; {wanted:,} are needed. Prepare and filter more captions, or ask for fewer "
            "questions."
        )
        set_role(self.enough, "warn")


def told(plan: Assumptions, whole: Forecast, live: Live | None) -> str:
    """The plan in a sentence."""
    f = live.expected if live else whole
    if math.isinf(f.hours):
        return f"{count(plan.questions, 'question')} cannot be had by these figures."
    hours, days = _number(f.hours, "hour"), _number(f.days, "day")
    who = f"{count(plan.annotators, 'annotator')} at {plan.hours_per_day:g} hours a day"
    wanted = count(plan.questions, "question")
    begin = f"{wanted} take" if live is None else f"{wanted} still take"
    return f"{begin} {hours} of people's time and {f.cost:,.0f} in pay: {days} for {who}."


def amounts(whole: Forecast, live: Live | None) -> list[Amount]:
    """The lines of the table, in the order in which they follow from each other."""
    rows = (
        ("Contexts", "contexts"),
        ("Judgements", "judgements"),
        ("People-hours", "hours"),
        ("Days of work", "days"),
        ("Pay", "cost"),
    )
    forecasts = (whole, live.expected, live.low, live.high) if live else (whole,)
    return [Amount(name, *(getattr(f, key) for f in forecasts)) for name, key in rows]


def basis(plan: Assumptions, measured: Measured) -> list[Basis]:
    """The shares and the time that were assumed, beside those that were measured."""
    m = measured
    shares = (
        ("First rounds with a question", plan.first_yield, m.first_questions, m.first_decided),
        ("Further rounds with one", plan.further_yield, m.further_questions,
         m.further_decided),
        ("Extra questions per context", plan.extra_yield, m.extra, m.first_decided),
    )  # fmt: skip
    rows = [
        Basis(name, f"{assumed:.1%}", f"{hits / n:.1%}" if n else "–", n)
        for name, assumed, hits, n in shares
    ]
    n = len(m.seconds)
    mean = f"{math.fsum(m.seconds) / n:.0f} s" if n else "–"
    return [*rows, Basis("Time for one judgement", f"{plan.seconds:g} s", mean, n)]


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}s" if value >= 10 else f"{value:.1f} {unit}s"
