"""Who judges, how each one's work stands, and where the contexts stand that they judge.

It shows an overview that was read elsewhere and asks by signals for what is to be done.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QVBoxLayout, QWidget

from swag_studio.rounds import Worker
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import card, prose, set_role, splitter
from swag_studio.ui.people_readings import Overview
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import VERDICTS, count

KINDS = {"person": "person", "simulated": "◇ simulated"}
# A mark beside the word: neither rests on colour.
STATES = {"ok": "✓ ok", "warned": "⚠ warned", "dropped": "■ should be dropped"}
MARKS = {"found": "✓", "reannotate": "↻", "adjudicate": "⇄", "surprising": "■", "open": "…"}


def state_of(worker: Worker) -> str:
    """How a worker stands, in words."""
    if not worker.annotator.active:
        return "✗ dropped"
    if worker.entry is False:
        return "⚠ failed the test"
    if not worker.standing.n:
        return "… nothing judged"
    return STATES[worker.standing.state]


def rate_of(worker: Worker) -> str:
    """ "74% (61% to 85%)"; empty before the first judgement."""
    s = worker.standing
    return f"{s.rate:.0%} ({s.low:.0%} to {s.high:.0%})" if s.n else ""


def entry_of(worker: Worker) -> str:
    return {True: "✓ passed", False: "✗ failed", None: "–"}[worker.entry]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _money(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


WORKER_COLUMNS = (
    Column("Annotator", lambda w: w.annotator.name, stretch=True),
    Column("Kind", lambda w: KINDS[w.annotator.kind]),
    Column("State", state_of, help="By the rule on the share of found endings"),
    Column("Done", lambda w: w.progress.get("done", 0)),
    Column("Open", lambda w: w.progress.get("open", 0)),
    Column("Skipped", lambda w: w.progress.get("skipped") or None, optional=True),
    Column(
        "Found in top 2",
        rate_of,
        help="First rounds in which the found ending was best or second best, with the interval",
    ),
    Column("Test", entry_of, help="The entry test"),
    Column(
        "Checks",
        lambda w: f"{w.checks_passed} of {w.checks}" if w.checks else "–",
        help="Hidden checks passed, of those judged",
    ),
    Column(
        "Seconds",
        lambda w: _known(w.seconds),
        lambda v: "" if v is None else f"{v:.0f}",
        help="Median active time of a judgement",
    ),
    Column("Per hour", lambda w: _known(w.per_hour), _money, help="Pay and bonus in an hour"),
    Column("Bonus", lambda w: w.bonus or None, _money, optional=True),
)


CSV_COLUMNS = (
    *("annotator", "kind", "active", "done", "open", "skipped", "judged", "hours"),
    *("median_seconds", "earned", "bonus", "per_hour", "found_in_top_2"),
    *("first_round_judgements", "checks_passed", "checks", "entry_test"),
)


class Stand(NamedTuple):
    """Contexts with one kind of verdict."""

    kind: str
    contexts: int


VERDICT_COLUMNS = (
    Column("Verdict", lambda s: f"{MARKS[s.kind]} {VERDICTS[s.kind][0]}"),
    Column("Contexts", lambda s: s.contexts),
    Column("What it means", lambda s: VERDICTS[s.kind][1], stretch=True),
)

# Signal, text, help; in the order in which they are needed.
ACTIONS = (
    ("add", "Add annotator …", "Someone who judges at this machine or at another one"),
    (
        "give",
        "Give work out …",
        "Choose contexts, overlap and annotators; see it before it is kept",
    ),
    ("simulate", "Simulate …", "Simulated annotators answer, to try things out; marked as such"),
    ("drop", "Drop …", "The chosen annotator's work goes to the others"),
    ("export", "Export packet …", "The chosen annotator's open work as a file for another machine"),
    ("merge", "Merge packet …", "Bring in what was answered at another machine"),
    ("save", "Save as CSV …", "Time, pay and progress of everyone as a table"),
    ("rules", "Rules …", "What a verdict depends on, entry test and checks, pay"),
)


class PeoplePanel(QWidget):
    """Annotators above; below, what the chosen one's figures mean, and the contexts' verdicts."""

    asked = Signal(str)  # the name of an action, "round" for the next round
    count_simulated = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._busy = False
        self.buttons: dict[str, QPushButton] = {}
        bar = FlowLayout(spacing=6)
        for name, text, help_text in ACTIONS:
            button = self.buttons[name] = QPushButton(text)
            button.setToolTip(help_text)
            button.clicked.connect(lambda _=False, name=name: self.asked.emit(name))
            bar.addWidget(button)
        self.workers = Table(
            "Annotators",
            WORKER_COLUMNS,
            "No annotator yet. Add whoever will judge; on the page Annotate they say who they are.",
        )
        self.workers.chosen.connect(self._show_worker)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(bar)
        parts = splitter(Qt.Orientation.Vertical)
        parts.addWidget(card(self.workers, margins=2))
        below = splitter(Qt.Orientation.Horizontal)
        below.addWidget(self._about())
        below.addWidget(self._contexts())
        below.setSizes([1000, 1300])
        parts.addWidget(below)
        parts.setSizes([1000, 1000])
        layout.addWidget(parts, 1)
        self._show_worker(None)

    def _about(self) -> QWidget:
        self.name = QLabel("")
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.name, "heading")
        self.words = prose()
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        about = card(self.name, self.words)
        layout = about.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.setStretchFactor(self.words, 1)
        return about

    def _contexts(self) -> QWidget:
        heading = QLabel("Where the contexts stand")
        set_role(heading, "heading")
        self.verdicts = Table("Verdicts", VERDICT_COLUMNS, "No context has work yet.", most=5)
        self.round_button = QPushButton("Open the next round")
        self.round_button.setToolTip(
            "Endings that did not serve are replaced by others that the filter chose, and the "
            "contexts are given out again"
        )
        self.round_button.clicked.connect(lambda: self.asked.emit("round"))
        self.simulated = QCheckBox("Count what simulated annotators answered")
        self.simulated.setToolTip(
            "Verdicts then rest on them as well; all that comes of it is marked as simulated"
        )
        self.simulated.clicked.connect(lambda on: self.count_simulated.emit(on))
        stands = card(heading, self.verdicts, self.round_button, self.simulated)
        layout = stands.layout()
        assert isinstance(layout, QVBoxLayout)
        for widget in (self.round_button, self.simulated):
            layout.setAlignment(widget, Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(1)
        return stands

    # --- showing -----------------------------------------------------------------------------

    @property
    def chosen(self) -> Worker | None:
        """The chosen annotator, or the only one."""
        rows = self.workers.rows_model.rows
        worker: Worker | None = self.workers.current() or (rows[0] if len(rows) == 1 else None)
        return worker

    def show_overview(self, overview: Overview) -> None:
        """Shows everyone and all verdicts; whoever was chosen stays so."""
        current: Worker | None = self.workers.current()
        before = current.annotator.id if current else ""
        workers = sorted(overview.workers, key=lambda w: not w.annotator.active)
        self.workers.set_rows(workers)
        for place, worker in enumerate(self.workers.rows_model.rows):
            if worker.annotator.id == before:
                self.workers.selectRow(place)
        kinds = overview.kinds
        self.verdicts.set_rows([Stand(k, kinds[k]) for k in MARKS if kinds.get(k)])
        again = kinds.get("reannotate", 0)
        needs = "needs" if again == 1 else "need"
        self.round_button.setText(f"Open the next round: {count(again, 'context')} {needs} it")
        self.round_button.setVisible(bool(again))
        self.simulated.setChecked(overview.simulated)
        made_up = any(w.annotator.kind == "simulated" for w in workers)
        self.simulated.setVisible(made_up or overview.simulated)
        self._show_worker(self.chosen)

    def set_busy(self, busy: bool) -> None:
        """While something is being kept nothing else can be asked for."""
        self._busy = busy
        self._enable()

    def _enable(self) -> None:
        busy = self._busy
        for name, button in self.buttons.items():
            button.setEnabled(not busy and (name not in ("drop", "export") or self._at_work()))
        self.round_button.setEnabled(not busy)
        self.simulated.setEnabled(not busy)

    def _at_work(self) -> bool:
        return self.chosen is not None and self.chosen.annotator.active

    def _show_worker(self, worker: Worker | None) -> None:
        worker = worker or self.chosen
        self._enable()
        if worker is None:
            self.name.setText("Chosen annotator")
            set_role(self.words, "muted")
            self.words.setText(
                "Choose a line above to see what its figures say. Sorting by a column puts who "
                "needs help at the top."
            )
            return
        self.name.setText(f"{worker.annotator.name}, {KINDS[worker.annotator.kind]}")
        set_role(self.words, "")
        self.words.setText(about(worker))


def about(worker: Worker) -> str:
    """A worker's figures in sentences."""
    lines = []
    s = worker.standing
    if not worker.annotator.active:
        lines.append("Dropped: what was answered is kept, and does not count.")
    if s.n:
        lines.append(
            f"The found ending is among the best two in {s.rate:.0%} of "
            f"{count(s.n, 'first-round judgement')}; the true share is likely from {s.low:.0%} to "
            f"{s.high:.0%}."
        )
    else:
        lines.append("Nothing is judged in a first round yet.")
    if worker.annotator.active and s.state == "warned":
        lines.append("That is below the threshold, but may be chance: have a word before more.")
    if worker.annotator.active and s.state == "dropped":
        lines.append(
            "Even the best of that is below the threshold. Drop hands the work to the others; "
            "you decide."
        )
    if worker.checks:
        lines.append(f"Hidden checks: {worker.checks_passed} of {worker.checks} passed.")
    if worker.entry is not None:
        lines.append(f"Entry test: {'passed' if worker.entry else 'failed'}.")
    if worker.hours:
        lines.append(
            f"{worker.hours:.1f} hours of active time for {count(worker.judged, 'judgement')}, a "
            f"median of {worker.seconds:.0f} seconds each; earned {worker.earned:,.2f}"
            + (f" and a bonus of {worker.bonus:,.2f}" if worker.bonus else "")
            + f", {worker.per_hour:,.2f} an hour."
        )
    return "\n".join(lines)


def to_csv(workers: Sequence[Worker]) -> str:
    """Time, pay and progress, a line for everyone; nothing of what was judged."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for w in workers:
        a, done = w.annotator, w.progress
        figures = (w.hours, w.seconds, w.earned, w.bonus, w.per_hour, w.standing.rate)
        hours, seconds, *rest = ("" if math.isnan(v) else f"{v:.4f}" for v in figures)
        states = [done.get(state, 0) for state in ("done", "open", "skipped")]
        entry = {True: "passed", False: "failed", None: ""}[w.entry]
        row = [_plain(a.name), a.kind, "yes" if a.active else "no", *states, w.judged]
        row += [hours, seconds, *rest, w.standing.n, w.checks_passed, w.checks, entry]
        writer.writerow(row)
    return out.getvalue()


def _plain(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in "=+-@" else name
