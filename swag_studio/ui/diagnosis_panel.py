"""What a filter run's classifiers go by, and what to try: verdicts, evidence, contexts, advice.

It shows a diagnosis and evidence that others made, and looks contexts up in the store.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.advice import Advice
from swag_studio.diagnosis import Diagnosis
from swag_studio.evidence import FEATURES, MEMBERS, Clue, Evidence
from swag_studio.numerals import plain, signed
from swag_studio.project import Project
from swag_studio.recipe import STAGE_SECTIONS, Recipe
from swag_studio.records import Context
from swag_studio.standings import Finding
from swag_studio.ui.bars import BarDelegate
from swag_studio.ui.filter_curves_panel import VERDICTS
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.forms import in_words, readable
from swag_studio.ui.page import card, scrolled, set_role, splitter
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import count
from swag_studio.ui.workspace import Workspace

KINDS = {
    "words": "words",
    "ngrams": "runs of words",
    "tags": "word classes",
    "features": "figures of the language models",
}
_KEY = re.compile(rf"\b({'|'.join(s for part in STAGE_SECTIONS.values() for s in part)})\.(\w+)")


class MemberRow(NamedTuple):
    """A member in one phase, with its evidence where there is any."""

    member: str
    phase: str
    finding: Finding | None
    evidence: Evidence | None

    @property
    def name(self) -> str:
        alone = " alone" if self.phase == "mlp" else ""
        return MEMBERS.get(self.member, self.member) + alone


def _verdict(row: MemberRow) -> str:
    if row.finding is None:
        return ""
    return f"{VERDICTS[row.finding.verdict.state][0]} {row.finding.words}"


def _goes_by(row: MemberRow) -> str:
    clues = row.evidence.clues[:3] if row.evidence else ()
    return ", ".join(FEATURES.get(c.text, f"“{c.text}”") for c in clues)


MEMBER_COLUMNS = (
    Column("Member", lambda row: row.name),
    Column("How it stands", _verdict, stretch=True),
    Column("Goes by", _goes_by, stretch=True, help="Its most telling clues, strongest first"),
)
CLUE_COLUMNS = (
    Column("Clue", lambda c: c.text, stretch=True),
    Column("Speaks for", lambda c: "found" if c.weight > 0 else "generated"),
    Column(
        "Weight",
        lambda c: c.weight,
        signed,
        help="In logits per ending that shows it: above 0 it speaks for found",
    ),
    Column("In found", lambda c: c.found, lambda v: f"{v:.1%}", help="Share of the found endings"),
    Column(
        "In distractors",
        lambda c: c.assigned,
        lambda v: f"{v:.1%}",
        help="Share of the distractors that stand now",
    ),
)
FEATURE_COLUMNS = (
    Column("Figure", lambda c: FEATURES.get(c.text, c.text), stretch=True),
    Column(
        "Accuracy lost",
        lambda c: c.weight,
        lambda v: signed(v, ".1%"),
        help="What the 4-way accuracy loses when the figure is shuffled among the endings",
    ),
    Column("In found", lambda c: c.found, plain, help="Mean over found endings"),
    Column(
        "In distractors",
        lambda c: c.assigned,
        plain,
        help="Mean over the distractors that stand now",
    ),
)
CONTEXT_COLUMNS = (
    Column("First sentence", lambda c: c.sent1, stretch=True),
    Column("Second begins", lambda c: c.sent2),
    Column("Found ending", lambda c: c.found, stretch=True),
)


class DiagnosisPanel(QWidget):
    """The diagnosis of the shown run. `iteration` is whose evidence is wanted, None the latest."""

    watch_requested = Signal(str)  # context id
    recipe_requested = Signal(str)  # "filter.replace"
    iteration_chosen = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self._rows: list[MemberRow] = []
        self._advice: tuple[Advice, ...] | None = None
        self._clue: Clue | None = None
        self.summary, self.more, self.kind = QLabel(""), QLabel(""), QLabel("")
        for label in (self.summary, self.more, self.kind):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_role(self.summary, "strong")
        set_role(self.kind, "heading")
        self.choice = QComboBox()
        self.choice.setAccessibleName("Evidence of iteration")
        self.choice.activated.connect(lambda _: self.iteration_chosen.emit())
        self.members = Table(
            "How each member stands", MEMBER_COLUMNS, "No iteration has been measured yet.", 7
        )
        self.members.chosen.connect(self._show_member)
        self.clues = Table(
            "Clues", CLUE_COLUMNS, "There is no evidence of this member yet.", fits=True
        )
        self.clues.setItemDelegateForColumn(2, BarDelegate(self.clues))
        self.features = Table("Figures", FEATURE_COLUMNS, fits=True)
        self.features.setItemDelegateForColumn(1, BarDelegate(self.features))
        for table in (self.clues, self.features):
            table.chosen.connect(self._show_clue)
        self.watch = QPushButton("Watch this context")
        self.watch.setToolTip("See how its distractors changed, iteration by iteration")
        self.watch.setEnabled(False)
        self.watch.clicked.connect(self._watch)
        self.contexts = Table(
            "Contexts that show the clue", CONTEXT_COLUMNS, "Choose a clue to see where it stands."
        )
        self.contexts.opened.connect(lambda row: self.watch_requested.emit(row.id))
        self.contexts.chosen.connect(lambda row: self.watch.setEnabled(row is not None))
        self._build()
        self.show_iterations([])

    def _build(self) -> None:
        top = QHBoxLayout()
        words = QVBoxLayout()
        words.addWidget(self.summary)
        words.addWidget(self.more)
        top.addLayout(words, 1)
        label = QLabel("Evidence of iteration")
        label.setBuddy(self.choice)
        top.addWidget(label)
        top.addWidget(self.choice)
        self.tables = QStackedWidget()
        self.tables.addWidget(self.clues)
        self.tables.addWidget(self.features)
        self.contexts_heading = QLabel("")
        self.contexts_heading.setTextFormat(Qt.TextFormat.PlainText)
        self.contexts_heading.setWordWrap(True)
        set_role(self.contexts_heading, "heading")
        self.advice_box = QWidget()
        self._advice_lines = QVBoxLayout(self.advice_box)
        self._advice_lines.setContentsMargins(0, 0, 8, 0)
        right = splitter(Qt.Orientation.Vertical)
        right.addWidget(scrolled(self.advice_box, "What to try"))
        contexts = card(self.contexts_heading, self.contexts, self.watch)
        right.addWidget(contexts)
        right.setSizes([500, 500])
        self.sides = splitter(Qt.Orientation.Horizontal)
        self.sides.addWidget(card(self.kind, self.tables))
        self.sides.addWidget(right)
        self.sides.setSizes([640, 560])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addLayout(top)
        layout.addWidget(self.members)
        layout.addWidget(self.sides, 1)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "sides"):
            self._fit()

    def _fit(self) -> None:
        """Evidence and advice keep a height that one can read; else the page scrolls."""
        self.sides.setMinimumHeight(19 * self.fontMetrics().lineSpacing())

    # --- what is shown -----------------------------------------------------------------------

    @property
    def iteration(self) -> int | None:
        """The iteration whose evidence is wanted; None follows the latest."""
        chosen: int | None = self.choice.currentData()
        return chosen

    def show_iterations(self, iterations: Sequence[int]) -> None:
        """Offers the iterations that have evidence; the chosen one stays chosen."""
        offered: list[int | None] = [None, *reversed(iterations)]
        if [self.choice.itemData(i) for i in range(self.choice.count())] == offered:
            return
        chosen = self.iteration
        self.choice.clear()
        for iteration in offered:
            self.choice.addItem("latest" if iteration is None else f"{iteration}", iteration)
        self.choice.setCurrentIndex(offered.index(chosen) if chosen in offered else 0)
        self.choice.setEnabled(len(offered) > 1)

    def show_words(self, words: str) -> None:
        """Shows a sentence instead of a diagnosis."""
        self.show_diagnosis(Diagnosis((), (), None, words), ())

    def show_diagnosis(self, diagnosis: Diagnosis, evidence: Sequence[Evidence]) -> None:
        """Shows verdicts, evidence and advice; what was chosen stays chosen."""
        first, dot, rest = diagnosis.summary.partition(". ")
        self.summary.setText(first + dot.strip())
        self.more.setText(f"{rest} {exhausted_words(diagnosis.exhausted)}".strip())
        self.more.setVisible(bool(self.more.text()))
        self._show_advice(diagnosis.advice, diagnosis.calm)
        rows = member_rows(diagnosis.findings, evidence)
        if rows == self._rows:
            return
        row, clue, self._rows = self.members.current(), self._clue, rows
        self.members.set_rows(rows)
        places = [(r.member, r.phase) for r in self.members.rows_model.rows]
        chosen = (row.member, row.phase) if row is not None else None
        self.members.selectRow(places.index(chosen) if chosen in places else 0)
        for table in (self.clues, self.features):
            texts = [c.text for c in table.rows_model.rows]
            if clue is not None and clue.text in texts:
                table.selectRow(texts.index(clue.text))

    # --- evidence ----------------------------------------------------------------------------

    def _show_member(self, row: MemberRow | None) -> None:
        evidence = row.evidence if row is not None else None
        features = evidence is not None and evidence.kind == "features"
        clues = evidence.clues if evidence is not None else ()
        self.clues.set_rows(() if features else clues)
        self.features.set_rows(clues if features else ())
        self.tables.setCurrentWidget(self.features if features else self.clues)
        if row is None or evidence is None:
            self.kind.setText("Evidence" if row is None else f"What the {row.name} goes by")
            return
        self.kind.setText(
            f"What the {row.name} goes by: {KINDS.get(evidence.kind, evidence.kind)}, "
            f"iteration {evidence.iteration}, {count(evidence.tested, 'context')} tested"
        )

    def _show_clue(self, clue: Clue | None) -> None:
        self._clue = clue
        self.watch.setEnabled(False)
        if clue is None:
            self._show_contexts(clue, [], "Choose a clue to see contexts that show it.")
            return
        if not clue.contexts:
            self._show_contexts(clue, [], "No contexts were noted for this clue.")
            return
        project = self.workspace.project
        gone, unread = "These contexts are no longer in the project.", "The contexts cannot be read"
        self.workspace.reader.ask(
            "filter contexts",
            lambda: contexts_of(project, clue.contexts),
            lambda found: self._show_contexts(clue, found, gone),
            lambda words: self._show_contexts(clue, [], f"{unread}: {words}"),
        )

    def _show_contexts(self, clue: Clue | None, contexts: Sequence[Context], empty: str) -> None:
        """The contexts of a clue, under its name, unless another one was chosen meanwhile."""
        if clue is not self._clue:
            return
        of = "" if clue is None else f" with {FEATURES.get(clue.text, f'“{clue.text}”')}"
        self.contexts_heading.setText(f"Contexts{of}")
        self.contexts.empty = empty
        self.contexts.set_rows(contexts)
        if contexts:
            self.contexts.selectRow(0)

    def _watch(self) -> None:
        if (row := self.contexts.current()) is not None:
            self.watch_requested.emit(row.id)

    # --- advice ------------------------------------------------------------------------------

    def _show_advice(self, advice: tuple[Advice, ...], calm: str) -> None:
        """Advice, or why there is none."""
        if advice == self._advice and advice:
            return
        self._advice = advice
        while item := self._advice_lines.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for part in advice:
            self._advice_lines.addWidget(self._advice_card(part))
        if not advice:
            self._advice_lines.addWidget(_words(calm, "muted"))
        self._advice_lines.addStretch(1)

    def _advice_card(self, advice: Advice) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 8)
        column.setSpacing(3)
        column.addWidget(_words(in_words(advice.text), ""))
        column.addWidget(_words(advice.why, "muted"))
        buttons = FlowLayout()
        for key in recipe_keys(advice.text):
            button = QPushButton(f"“{readable(key.partition('.')[2])}” in the recipe")
            button.setToolTip("Shows this setting")
            button.clicked.connect(lambda _=False, key=key: self.recipe_requested.emit(key))
            buttons.addWidget(button)
        column.addLayout(buttons)
        return box


def _words(text: str, role: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    set_role(label, role)
    return label


# --- rules ---------------------------------------------------------------------------------------


def member_rows(findings: Sequence[Finding], evidence: Sequence[Evidence]) -> list[MemberRow]:
    """A row per finding, the newest phase first; members that have evidence only come last."""
    by_member = {e.member: e for e in evidence}
    latest = findings[-1].phase if findings else ""
    ordered = sorted(findings, key=lambda f: f.phase != latest)
    rows = [
        MemberRow(f.member, f.phase, f, by_member.get(f.member) if f.phase == latest else None)
        for f in ordered
    ]
    told = {row.member for row in rows}
    return rows + [MemberRow(e.member, "", None, e) for e in evidence if e.member not in told]


def exhausted_words(share: float | None) -> str:
    """The exhausted share as a sentence."""
    if share is None:
        return ""
    return f"Of the contexts with an easy distractor, {share:.0%} have no harder candidate left."


def recipe_keys(text: str) -> list[str]:
    """The keys of the recipe that a text names, each once."""
    known = Recipe().to_dict()
    named = [(section, name) for section, name in _KEY.findall(text) if name in known[section]]
    return [f"{section}.{name}" for section, name in dict.fromkeys(named)]


def contexts_of(project: Project, ids: Sequence[str]) -> list[Context]:
    """The contexts with these ids. An id is its context's content: any version has the same."""
    for artifact in reversed(project.store.artifacts("prepare")):
        if artifact.done and (found := project.store.contexts_by_id(artifact.version, ids)):
            return found
    return []
