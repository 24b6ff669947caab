"""The curves of filter runs: accuracy per member, what the iterations did, the numbers in words.

It draws the runs that it is given and knows neither project nor engine.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio import series
from swag_studio.diagnosis import Diagnosis
from swag_studio.events import Metric
from swag_studio.evidence import MEMBERS
from swag_studio.files import write_text
from swag_studio.ui.charts import Chart
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.forms import in_words
from swag_studio.ui.page import card, scrolled, set_role, splitter
from swag_studio.ui.runs_panel import (
    ENSEMBLE,
    PROBE,
    WAYS,
    FilterRun,
    RunPoints,
    RunsPanel,
    series_of,
)
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import DASHES, Theme, ems

# Every member has its look in all charts and runs; others follow after these.
LOOKS = {ENSEMBLE: 0, "mlp": 1, "bow": 2, "cnn": 3, "pos": 4, PROBE: 5}
CONTROL = "control"
_WORDS_WIDTH = 78  # letters that the numbers, and what follows from them, are wide
_MOST_WORDS = 0.54  # of the panel's width, at most
BROKEN = DASHES[1:]  # of the other runs, one after the other: a member's colour is in all of them

SMALL = (
    ("replaced_per_context", "Replaced per context", False),
    ("exhausted_share", "Contexts exhausted", True),
    ("seconds", "Seconds per iteration", False),
)

# A mark beside the word: neither rests on colour.
VERDICTS: dict[series.State, tuple[str, str, str]] = {
    "too_early": ("…", "too early to tell", "muted"),
    "falling": ("↓", "falling", "good"),
    "rising": ("↑", "rising", "warn"),
    "at_chance": ("✓", "at chance", "good"),
    "near_chance": ("≈", "near chance", "good"),
    "stalled": ("■", "stalled", "bad"),
}


class Standing(NamedTuple):
    """A member's line in the table. Shares; None where there is nothing."""

    member: str
    first: float | None
    now: float | None
    control: float | None
    verdict: str


def percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


STANDING_COLUMNS = (
    Column("Member", lambda s: MEMBERS.get(s.member, s.member), stretch=True),
    Column("Verdict", lambda s: s.verdict, help="On the 4-way accuracy", stretch=True),
    Column(
        "First → now",
        lambda s: " → ".join(percent(v) for v in (s.first, s.now) if v is not None),
        help="Its accuracy in the first iteration that it had, and the last smoothed one",
    ),
    Column(
        "Control",
        lambda s: s.control,
        percent,
        help="The same classifier on random distractors, unfiltered, when last measured",
        optional=True,
    ),
)


class CurvesPanel(QWidget):
    """Charts, the numbers as a table, what follows from them, and the runs to compare with."""

    diagnosis_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.way = WAYS[0]
        self.run: FilterRun | None = None
        self._overlaid: list[FilterRun] = []
        self._verdicts: dict[str, str] = {}
        self._visible: dict[tuple[Chart, str], bool] = {}  # by chart and key
        self._own_sizes = False  # whether a person has sized the parts
        self.main = Chart("Accuracy of the classifiers", theme, percent=True)
        self.small = {
            name: Chart(title, theme, x_label="", percent=percent) for name, title, percent in SMALL
        }
        for chart in self.small.values():
            chart.link_x(self.main)
        self.runs = RunsPanel()
        self.table = Table(
            "Accuracy of each member",
            STANDING_COLUMNS,
            "No iteration has been measured yet.",
            7,
            fits=True,
        )
        self._build()

    def _build(self) -> None:
        self.ways = QButtonGroup(self)
        top = FlowLayout(spacing=10)
        self.way_buttons = {way: QRadioButton() for way in WAYS}
        for way, button in self.way_buttons.items():
            self.ways.addButton(button)
            button.clicked.connect(lambda _=False, way=way: self.show_way(way))
            top.addWidget(button)
        self.way_buttons[self.way].setChecked(True)
        above = self.above = splitter(Qt.Orientation.Horizontal)
        above.addWidget(card(self.main, margins=2))
        above.addWidget(self._build_words())
        above.setStretchFactor(0, 1)
        above.splitterMoved.connect(self._moved_parts)
        self.charts = splitter(Qt.Orientation.Vertical)
        self.charts.addWidget(above)
        small = QWidget()
        line = QHBoxLayout(small)
        line.setContentsMargins(0, 0, 0, 0)
        for chart in self.small.values():
            line.addWidget(card(chart, margins=2))
        self.charts.addWidget(small)
        self.charts.setSizes([620, 380])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 8, 0, 0)
        whole.addLayout(top)
        whole.addWidget(self.charts, 1)
        self._name_ways()
        self._fit()

    def _build_words(self) -> QWidget:
        """The numbers, the runs, and all values to save."""
        self.note = QLabel("")
        self.note.setWordWrap(True)
        set_role(self.note, "muted")
        self.save_button = QPushButton("Save all values …")
        self.save_button.setToolTip("Every series of the shown and the overlaid runs, as CSV")
        self.save_button.clicked.connect(self._ask_and_save)
        words = QWidget()
        column = QVBoxLayout(words)
        column.setContentsMargins(0, 0, 0, 0)
        self.more_button = QPushButton("Diagnosis ›")
        self.more_button.setToolTip("What each member goes by, and what to try")
        self.more_button.clicked.connect(self.diagnosis_wanted)
        for widget in (self.table, self.note, self._build_advice()):
            column.addWidget(widget)
        buttons = FlowLayout(spacing=6)
        for button in (self.more_button, self.save_button):
            buttons.addWidget(button)
        column.addLayout(buttons)
        column.addWidget(self.runs)
        column.addStretch(1)
        return scrolled(words, "Where each member stands")

    def _build_advice(self) -> QWidget:
        """The diagnosis in short; hidden until there is one."""
        self.summary, self.advice, self.why = QLabel(""), QLabel(""), QLabel("")
        for label, role in ((self.summary, "strong"), (self.advice, ""), (self.why, "muted")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setWordWrap(True)
            set_role(label, role)
        self.told = QWidget()
        column = QVBoxLayout(self.told)
        column.setContentsMargins(0, 10, 0, 6)
        for label in (self.summary, self.advice, self.why):
            column.addWidget(label)
        self.told.hide()
        return self.told

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "charts"):
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _moved_parts(self) -> None:
        self._own_sizes = True

    def _fit(self) -> None:
        """The charts keep a height that one can read; the page scrolls where it is lower.

        Unless a person sized them, the numbers are as wide as their words, up to `_MOST_WORDS`.
        """
        self.charts.setMinimumHeight(27 * self.fontMetrics().lineSpacing())
        if not self._own_sizes:
            words = min(ems(self, _WORDS_WIDTH), round(_MOST_WORDS * self.width()))
            self.above.setSizes([self.width() - words, words])

    # --- what is shown -----------------------------------------------------------------------

    def show_runs(self, run: FilterRun | None, overlaid: Sequence[FilterRun]) -> None:
        """Draws a run anew, and others faint and dashed over it."""
        if run is None or self.run is None or run.version != self.run.version:
            self._verdicts = {}
            self.told.hide()
        self.run, self._overlaid = run, list(overlaid)
        self._name_ways()
        self._redraw()

    def show_way(self, way: str) -> None:
        """Switches between the accuracy among four endings and among all."""
        self.way = way
        self.way_buttons[way].setChecked(True)
        self._redraw()

    def put(self, metrics: Sequence[Metric]) -> None:
        """Draws new points of the shown run, which has them already: one redraw for all."""
        assert self.run is not None
        for m in metrics:
            if line := self._line(self.run, *series_of(m)):
                line[0].put(line[1], m.step, m.value)
        self._mark()
        self._draw()

    def show_diagnosis(self, diagnosis: Diagnosis) -> None:
        """Puts the verdicts into the table, and below it what stalls and what to try first.

        A member's newest phase counts.
        """
        self._verdicts = {f.member: short(f.verdict) for f in diagnosis.findings}
        self._tell()
        first = diagnosis.advice[0] if diagnosis.advice else None
        self.summary.setText(diagnosis.summary.partition(". ")[0].removesuffix(".") + ".")
        self.advice.setText(f"To try first: {in_words(first.text)}" if first else diagnosis.calm)
        set_role(self.advice, "" if first else "muted")
        self.why.setText(first.why if first else "")
        self.why.setVisible(first is not None)
        self.told.setVisible(bool(diagnosis.findings))

    # --- drawing -----------------------------------------------------------------------------

    def _redraw(self) -> None:
        for chart in (self.main, *self.small.values()):  # who hid a line wants it hidden
            lines = chart.plot.series.items()
            self._visible |= {(chart, key): line.visible for key, line in lines}
            chart.clear()
        if self.run is not None:
            chance = self.run.chances[self.way]
            self.main.set_reference_lines([(chance, f"chance {chance:.0%}")])
            for run in (self.run, *self._overlaid):
                self._draw_run(run)
            self._mark()
        self._draw()

    def _draw_run(self, run: FilterRun) -> None:
        points = run.points
        members = [(self.way, "main", member) for member in points.members()]
        for name, arm, member in dict.fromkeys([*members, *points.series()]):
            if line := self._line(run, name, arm, member):
                line[0].put_many(line[1], *zip(*points.values(name, member, arm), strict=True))

    def _line(self, run: FilterRun, name: str, arm: str, member: str) -> tuple[Chart, str] | None:
        """(chart, key) of the line that shows a series, declared if it is new; None if none."""
        over = run is not self.run
        place = 1 + self._overlaid.index(run) if over else 0
        label, look = MEMBERS.get(member, member), LOOKS.get(member, len(LOOKS) + 1)
        key = f"{run.version} {arm} {member}"
        if name in self.small and arm == "main":
            chart, label, look = self.small[name], f"run {run.version}", place
        elif name != self.way or (arm == CONTROL and (over or member != run.points.control)):
            return None
        else:
            chart = self.main
            if arm == CONTROL:
                label, look = f"{label}, unfiltered", len(LOOKS)
            elif over:
                label = f"{label}, run {run.version}"
        curve = arm == "main" and member != PROBE
        # Of another run only the head is drawn at first; the legend has the others.
        first = not over or chart is not self.main or member == run.points.head
        visible = self._visible.get((chart, key), first)
        chart.add_series(key, label, look=look, smooth=curve, visible=visible)
        if over:
            chart.set_series_style(key, faint=True, dash=BROKEN[(place - 1) % len(BROKEN)])
        return chart, key

    def _mark(self) -> None:
        joined = self.run.points.joined if self.run is not None else None
        if joined is not None:
            self.main.set_mark("joined", joined, "all members join")

    def _draw(self) -> None:
        for chart in (self.main, *self.small.values()):
            chart.refresh()
        self._tell()

    # --- words -------------------------------------------------------------------------------

    def _name_ways(self) -> None:
        chances = self.run.chances if self.run is not None else {WAYS[0]: 0.25, WAYS[1]: 0.1}
        for way, button in self.way_buttons.items():
            chance = chances[way]
            ways = round(1 / chance)
            button.setText(f"{ways}-way (chance {chance:.0%})")
            button.setToolTip(f"How often the found ending is told from {ways - 1} distractors")

    def _tell(self) -> None:
        points = self.run.points if self.run is not None else RunPoints()
        rows = [self._standing(points, member) for member in points.members()]
        if probe := points.values(self.way, PROBE):
            after = probe[-1][1] if len(probe) > 1 else None
            rows.append(Standing(PROBE, probe[0][1], after, None, "takes no part"))
        if rows != self.table.rows_model.rows:
            self.table.set_rows(rows)
        self.note.setText(
            "Control: the same classifier on random distractors, unfiltered. Where it stays high "
            "while the other falls, the filter did it."
            if any(row.control is not None for row in rows)
            else ""
        )

    def _standing(self, points: RunPoints, member: str) -> Standing:
        control = points.values(self.way, member, CONTROL)
        return Standing(
            member,
            points.values(self.way, member)[0][1],
            points.latest(self.way, member),
            control[-1][1] if control else None,
            self._verdicts.get(member, ""),
        )

    # --- saving ------------------------------------------------------------------------------

    def to_csv(self) -> str:
        """Every series of the runs, long form: run,series,arm,member,step,value,smoothed."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["run", "series", "arm", "member", "step", "value", "smoothed"])
        for run in [self.run, *self._overlaid] if self.run is not None else []:
            for name, arm, member in run.points.series():
                values = run.points.values(name, member, arm)
                means = series.smoothed([value for _, value in values], self.main.smooth)
                for (step, value), mean in zip(values, means, strict=True):
                    numbers = repr(float(value)), repr(float(mean))
                    writer.writerow([run.version, name, arm, member, step, *numbers])
        return out.getvalue()

    def _ask_and_save(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(
            self, "Save all values", "filter runs.csv", "CSV (*.csv)"
        )
        if chosen:
            write_text(Path(chosen).with_suffix(".csv"), self.to_csv())


def short(verdict: series.Verdict) -> str:
    """ "■ stalled since 30": the verdict for a narrow column."""
    mark, word, _ = VERDICTS[verdict.state]
    since = f" since {verdict.since}" if verdict.state == "stalled" else ""
    return f"{mark} {word}{since}"
