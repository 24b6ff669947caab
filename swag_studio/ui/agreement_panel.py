"""How far annotators agree: alpha and percent, the paper's Table 2, pairs, sources and time.

It shows figures that were computed elsewhere; whose answers they are about is asked by a signal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.agreement import (
    PAPER_ALPHA,
    PAPER_PERCENT,
    Agreement,
    Estimate,
    PairMatrix,
    WithOthers,
)
from swag_studio.ratings import MEASURES, PAPER, Measure, Shares
from swag_studio.ui.charts import Chart
from swag_studio.ui.page import card, set_role
from swag_studio.ui.people_readings import Figures, Parts
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import Theme
from swag_studio.ui.words import count

WHO = {"people": "people", "simulated": "simulated annotators", "both": "both together"}
MEASURE_WORDS: dict[Measure, str] = {
    "labels": "likely / unlikely / gibberish",
    "choices": "best / second best / neither",
    "top_two": "among the best two or not",
}
BANNERS = {
    "simulated": "◇ Simulated annotators only: they answer by the paper's frequencies, so these "
    "figures say nothing about people.",
    "both": "◇ Simulated annotators are counted beside people: these figures must not be reported "
    "as agreement of people.",
}
SHORT: dict[Measure, str] = {
    "labels": "Labels",
    "choices": "Best and second",
    "top_two": "Best two or not",
}
NO_ANSWERS = (
    "Agreement appears once two annotators have judged the same context. Let the first contexts be "
    "judged by several: Give work out, on the tab People."
)


class Line(NamedTuple):
    """A measure with its agreement here."""

    measure: Measure
    found: Agreement


def _percent(estimate: Estimate) -> str:
    """ "64% (61% to 66%)", or why there is none."""
    if estimate.value is None or math.isnan(estimate.low):
        return estimate.text() if estimate.value is None else f"{estimate.value:.0%}"
    return f"{estimate.value:.0%} ({estimate.low:.0%} to {estimate.high:.0%})"


def _paper(figures: dict[Measure, float], measure: Measure, form: str) -> str:
    return format(figures[measure], form) if measure in figures else "–"


AGREEMENT_COLUMNS = (
    Column("What is compared", lambda line: SHORT[line.measure], stretch=True),
    Column(
        "Alpha",
        lambda line: line.found.alpha.text(),
        help="Krippendorff's, nominal, with its 95% bootstrap interval over contexts: 1 is full "
        "agreement, 0 is chance",
    ),
    Column("Paper", lambda line: _paper(PAPER_ALPHA, line.measure, ".2f"), help="Alpha, section 4"),
    Column(
        "Equal answers",
        lambda line: _percent(line.found.percent),
        help="Share of pairs of answers that are the same",
    ),
    Column("Paper", lambda line: _paper(PAPER_PERCENT, line.measure, ".0%"), help="Equal answers"),
    Column("Endings", lambda line: line.found.units, help="That two or more annotators judged"),
    Column("Annotators", lambda line: line.found.raters),
)


class Row(NamedTuple):
    """A line of Table 2."""

    endings: str
    whose: str
    shares: Shares


def _share_column(title: str, name: str) -> Column:
    def get(row: Row) -> float | None:
        value: float = getattr(row.shares, name)
        return None if math.isnan(value) else value

    return Column(title, get, lambda v: "–" if v is None else f"{v:.1%}")


TABLE_COLUMNS = (
    Column("Endings", lambda row: row.endings),
    Column("In", lambda row: row.whose, stretch=True),
    _share_column("Likely", "likely"),
    _share_column("Unlikely", "unlikely"),
    _share_column("Gibberish", "gibberish"),
    _share_column("Best", "best"),
    _share_column("Second", "second"),
    Column("Answers", lambda row: row.shares.n or None, lambda n: f"{n:,}" if n else ""),
)


class Named(NamedTuple):
    """Somebody or something with a share of equal answers over n."""

    name: str
    share: float | None
    n: int
    alpha: str = ""
    judged: int | None = None


def _share_of(row: Named) -> float | None:
    return row.share


def _as_share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


_COMPARED = Column("Endings", lambda r: r.n, help="That are compared")
ANNOTATOR_COLUMNS = (
    Column("Annotator", lambda r: r.name, stretch=True),
    Column("Judged", lambda r: r.judged),
    Column("Agrees", _share_of, _as_share),
    _COMPARED,
)
SOURCE_COLUMNS = (
    Column("Source", lambda r: r.name, stretch=True),
    Column("Alpha", lambda r: r.alpha),
    Column("Equal", _share_of, _as_share),
    _COMPARED,
)


class AgreementPanel(QWidget):
    """Headline figures above Table 2, and one measure in its parts."""

    who_chosen = Signal(str)  # people, simulated, both
    measure_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.who, self.measure = QComboBox(), QComboBox()
        for key, words in WHO.items():
            self.who.addItem(words, key)
        for name in MEASURES:
            self.measure.addItem(MEASURE_WORDS[name], name)
        self.who.setAccessibleName("Whose answers")
        self.measure.setAccessibleName("What is compared")
        self.who.activated.connect(lambda _: self.who_chosen.emit(self.who.currentData()))
        self.measure.activated.connect(
            lambda _: self.measure_chosen.emit(self.measure.currentData())
        )
        self.banner, self.note = QLabel(""), QLabel("")
        for label, role in ((self.banner, "warn"), (self.note, "muted")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            set_role(label, role)
        self.headline = Table("Agreement", AGREEMENT_COLUMNS, most=3)
        self.table = Table("Table 2", TABLE_COLUMNS, most=4)
        self.pairs = Table("Pairs of annotators", (), "No pair judged the same.", most=8)
        self.annotators = Table("Each annotator", ANNOTATOR_COLUMNS, "Nobody yet.", most=8)
        self.sources = Table("Each source", SOURCE_COLUMNS, "None yet.", most=8)
        self.chart = Chart("Agreement over time", theme, x_label="tenth of the work", smooth=0.0)
        self.chart.setMinimumHeight(240)
        self.words = QLabel(NO_ANSWERS)
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self.words, "muted")
        self._build()
        self.show_banner("people")

    def _build(self) -> None:
        choice = QHBoxLayout()
        label = QLabel("Answers of")
        label.setBuddy(self.who)
        choice.addWidget(label)
        choice.addWidget(self.who)
        choice.addWidget(self.banner, 1)
        content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(10)
        grid.addWidget(self._card("How far annotators agree", self.headline, self.note), 0, 0, 1, 2)
        grid.addWidget(self._card("Found and generated endings as they are judged", self.table),
                       1, 0, 1, 2)  # fmt: skip
        compared = QHBoxLayout()
        words = QLabel("In its parts:")
        words.setBuddy(self.measure)
        set_role(words, "heading")
        compared.addWidget(words)
        compared.addWidget(self.measure)
        compared.addStretch(1)
        grid.addLayout(compared, 2, 0, 1, 2)
        grid.addWidget(self._card("Each pair of annotators", self.pairs), 3, 0)
        grid.addWidget(self._card("Each annotator with all others", self.annotators), 3, 1)
        grid.addWidget(self._card("Each source", self.sources), 4, 0)
        grid.addWidget(card(self.chart, margins=2), 4, 1)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(5, 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(content)
        area.setAccessibleName("Agreement")
        self.stack = QStackedWidget()
        self.stack.addWidget(card(self.words, margins=40))
        self.stack.addWidget(area)
        self.stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._area = area
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addLayout(choice)
        layout.addWidget(self.stack, 1)

    def _card(self, heading: str, *widgets: QWidget) -> QWidget:
        title = QLabel(heading)
        title.setWordWrap(True)
        set_role(title, "strong")
        framed = card(title, *widgets)
        layout = framed.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.addStretch(1)
        return framed

    # --- showing -----------------------------------------------------------------------------

    def set_who(self, who: str) -> None:
        """Whose answers are to be shown."""
        self.who.setCurrentIndex(self.who.findData(who))

    def show_banner(self, who: str) -> None:
        self.banner.setText(BANNERS.get(who, ""))

    def say(self, text: str = NO_ANSWERS, role: str = "muted") -> None:
        """Words in the place of figures."""
        self.words.setText(text)
        set_role(self.words, role)
        self.stack.setCurrentIndex(0)

    def show_figures(self, figures: Figures) -> None:
        """The headline and Table 2. Without any answers there are words."""
        self.show_banner(figures.who)
        if not len(figures.ratings):
            self.say()
            return
        self.headline.set_rows([Line(m, figures.agreement[m]) for m in MEASURES])
        here = figures.table
        self.table.set_rows(
            [
                Row("found", "this project", here.found),
                Row("found", "the paper", PAPER.found),
                Row("generated", "this project", here.generated),
                Row("generated", "the paper", PAPER.generated),
            ]
        )
        judged = len(set(figures.ratings.context.tolist()))
        people = len(figures.ratings.annotators)
        self.note.setText(
            f"{count(len(figures.ratings), 'judgement')} of {count(judged, 'context')} by "
            f"{count(people, 'annotator')}. What was settled by an adjudicator does not enter, and "
            "what somebody did not judge is missing, not a disagreement."
        )
        self.stack.setCurrentWidget(self._area)

    def show_parts(self, parts: Parts, names: Mapping[str, str]) -> None:
        """One measure by pair, annotator, source and time."""
        self.pairs.set_columns(pair_columns(parts.pairs, names))
        self.pairs.set_rows(range(len(parts.pairs.annotators)))
        self.annotators.set_rows([_annotator(row, names) for row in parts.annotators])
        self.sources.set_rows(
            [
                Named(name or "unknown", found.percent.value, found.units, found.alpha.text())
                for name, found in parts.sources.items()
            ]
        )
        self.chart.clear()
        self.chart.add_series("equal", "equal answers", smooth=False)
        self.chart.add_series("alpha", "alpha", smooth=False)
        for number, period in enumerate(parts.periods, 1):
            for key, estimate in (
                ("equal", period.agreement.percent),
                ("alpha", period.agreement.alpha),
            ):
                if estimate.value is not None:
                    self.chart.put(key, number, estimate.value)
        self.chart.refresh()


def _annotator(row: WithOthers, names: Mapping[str, str]) -> Named:
    share = None if math.isnan(row.share) else row.share
    return Named(names.get(row.annotator, row.annotator), share, row.n, judged=row.judged)


def pair_columns(pairs: PairMatrix, names: Mapping[str, str]) -> Sequence[Column]:
    """A column per annotator; a row is a place in the matrix."""
    called = [names.get(a, a) for a in pairs.annotators]

    def column(name: str, other: int) -> Column:
        def value(one: int) -> str:
            n = int(pairs.n[one, other])
            return f"{pairs.share[one, other]:.0%} of {n:,}" if n else "–"

        return Column(name, value)

    return [
        Column("Annotator", lambda one: called[one]),
        *(column(name, other) for other, name in enumerate(called)),
    ]
