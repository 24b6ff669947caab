"""Giving work out: how many contexts, to whom, how often each; seen before anything is kept.

And how many simulated annotators, of what skill, are to answer. The dialogs know no store: what
a choice would mean is asked by a signal and shown when it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from swag_studio.allocation import OverlapPlan, Preview
from swag_studio.rounds import Worker
from swag_studio.ui.page import bare, grow, not_by_enter, set_role
from swag_studio.ui.people_readings import Giving, Simulation
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import ems
from swag_studio.ui.words import count

_BOXES = 6  # annotators that are seen before their list scrolls
PAUSE = 250  # ms after the last change before its meaning is asked for


class Dealt(NamedTuple):
    """What an annotator would get."""

    name: str
    new: int
    total: int


PREVIEW_COLUMNS = (
    Column("Annotator", lambda d: d.name, stretch=True),
    Column("New tasks", lambda d: d.new),
    Column("With what they have", lambda d: d.total, help="Done, open and skipped"),
)


class WorkDialog(QDialog):
    """Emits `preview_wanted` after changes and `given` when it is accepted, with a Giving each."""

    preview_wanted = Signal(object)
    given = Signal(object)

    def __init__(
        self,
        workers: Sequence[Worker],
        contexts: int,
        begun: int,
        plan: OverlapPlan,
        checks: float,
        seed: int,
        parent: QWidget | None = None,
    ) -> None:
        """`contexts` of the filter run, of which `begun` have work already."""
        super().__init__(parent)
        self.setWindowTitle("Give work out")
        people = [w for w in workers if w.annotator.active and w.annotator.kind == "person"]
        self._left, self._begun = contexts - begun, begun
        self._people = {w.annotator.id: w.annotator for w in people}
        self._shown: Giving | None = None
        self._build(people, plan, checks, seed)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(lambda: self.preview_wanted.emit(self.giving))
        self._changed()

    # --- building ----------------------------------------------------------------------------

    def _build(self, people: Sequence[Worker], plan: OverlapPlan, checks: float, seed: int) -> None:
        self.contexts = _number(0, self._left, min(100, self._left), " contexts")
        self.first = _number(0, self._left + self._begun, plan.first, " contexts")
        self.by, self.rest = _number(1, 50, plan.by), _number(1, 50, plan.rest)
        self.checks = QDoubleSpinBox()
        self.checks.setRange(0, 50)
        self.checks.setDecimals(1)
        self.checks.setSuffix(" %")
        self.checks.setValue(100 * checks)
        self.entry = QCheckBox("The entry test first, for whoever has not had it")
        self.boxes: dict[str, QCheckBox] = {}
        for worker in people:
            name, failed = worker.annotator.name, worker.entry is False
            box = QCheckBox(f"{name} (failed the entry test)" if failed else name)
            self.boxes[worker.annotator.id] = box
            box.setChecked(not failed)
            box.toggled.connect(lambda _: self._changed())
        for spin in (self.contexts, self.first, self.by, self.rest, self.checks):
            spin.setKeyboardTracking(False)
            spin.valueChanged.connect(lambda _: self._changed())
        form = QFormLayout()
        have = f"{self._begun:,} of {self._begun + self._left:,} have work already."
        _add(form, "Further contexts", self.contexts, have)
        _add_overlap(form, self.first, self.by, self.rest)
        _add(form, "Hidden checks", self.checks, "among each person’s work.")
        form.addRow("", self.entry)
        form.addRow("Annotators", self._who())
        self.preview = Table("What each would get", PREVIEW_COLUMNS, "Nobody is chosen.", most=6)
        self.note = QLabel("")
        self.note.setWordWrap(True)
        seeded = QLabel(
            f"Dealt evenly, by the project's seed {seed}: the same choice gives the same again."
        )
        seeded.setWordWrap(True)
        set_role(seeded, "muted")
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        layout.addLayout(form)
        layout.addWidget(self.preview)
        layout.addWidget(self.note)
        layout.addWidget(seeded)
        layout.addStretch(1)
        layout.addWidget(self._buttons())
        self.setMinimumWidth(ems(self, 76))

    def _who(self) -> QScrollArea:
        """A box for each annotator; many of them scroll."""
        names = QWidget()
        column = QVBoxLayout(names)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for box in self.boxes.values():
            column.addWidget(box)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        bare(area, names)
        each = names.sizeHint().height() / max(1, len(self.boxes))
        area.setFixedHeight(round(each * min(_BOXES, len(self.boxes))) + 4)
        return area

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.give = buttons.addButton("Give out", QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(self.give, "primary")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        not_by_enter(buttons)
        return buttons

    # --- choosing ----------------------------------------------------------------------------

    @property
    def giving(self) -> Giving:
        """What is chosen now."""
        return Giving(
            contexts=self.contexts.value(),
            plan=OverlapPlan(self.first.value(), self.by.value(), self.rest.value()),
            annotators=tuple(a for a, box in self.boxes.items() if box.isChecked()),
            checks=round(self.checks.value() / 100, 4),
            entry=self.entry.isChecked(),
        )

    def show_preview(self, giving: Giving, preview: Preview) -> None:
        """What `giving` means; passed over when something else is chosen by now."""
        if giving != self.giving:
            return
        self._shown = giving
        names = {a: self._people[a].name for a in preview.new if a in self._people}
        self.preview.set_rows(
            [Dealt(name, preview.new[a], preview.total[a]) for a, name in names.items()]
        )
        new, lacking = sum(preview.new.values()), sum(preview.short.values())
        if preview.short:
            self._tell(
                f"⚠ {count(len(preview.short), 'context')} would lack "
                f"{count(lacking, 'annotator')}: too few may judge them. Choose more annotators.",
                "warn",
            )
        elif new:
            self._tell(f"{count(new, 'task')} for {count(len(names), 'annotator')}.", "")
        else:
            self._tell("Nothing new to give out by this choice.", "muted")
        self.give.setEnabled(bool(new))

    def refuse(self, text: str) -> None:
        """Why there is no preview."""
        self._tell(f"⚠ {text}", "bad")

    def accept(self) -> None:
        giving = self.giving
        super().accept()
        self.given.emit(giving)

    def _changed(self) -> None:
        self.give.setEnabled(False)
        if not self.giving.annotators:
            self._timer.stop()
            self.preview.set_rows([])
            self._tell("Choose at least one annotator.", "muted")
            return
        self._tell("Dealing …", "muted")
        self._timer.start()

    def _tell(self, text: str, role: str) -> None:
        self.note.setText(text)
        set_role(self.note, role)
        if self.isVisible():
            grow(self)


class SimulateDialog(QDialog):
    """Emits `chosen` with a Simulation when it is accepted."""

    chosen = Signal(object)

    def __init__(
        self, contexts: int, begun: int, plan: OverlapPlan, parent: QWidget | None = None
    ) -> None:
        """`contexts` of the filter run, of which `begun` have work already."""
        super().__init__(parent)
        self.setWindowTitle("Simulated annotators")
        words = QLabel(
            "They answer as often as the paper's Table 2 says, whatever the texts are, until "
            "nothing is open to them. For trying things out and for planning: all that they do is "
            "marked as simulated, and does not count in verdicts unless you say so."
        )
        words.setWordWrap(True)
        wanted = begun or min(100, contexts)
        self.number = _number(1, 20, 3, " annotators")
        self.skill = _number(0, 100, 100, " %")
        self.contexts = _number(begun, contexts, wanted, " contexts")
        self.first = _number(0, contexts, plan.first or wanted, " contexts")
        self.by, self.rest = _number(1, 50, plan.by), _number(1, 50, plan.rest)
        form = QFormLayout()
        form.addRow("Number", self.number)
        _add(form, "Skill", self.skill, "of the answers; the rest is random.")
        _add(form, "In work", self.contexts, f"{begun:,} of {contexts:,} are so far.")
        _add_overlap(form, self.first, self.by, self.rest)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.run = buttons.addButton("Simulate", QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(self.run, "primary")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        layout.addWidget(words)
        layout.addLayout(form)
        layout.addStretch(1)
        layout.addWidget(buttons)
        self.setMinimumWidth(ems(self, 76))

    def accept(self) -> None:
        super().accept()
        self.chosen.emit(
            Simulation(
                annotators=self.number.value(),
                skill=self.skill.value() / 100,
                contexts=self.contexts.value(),
                plan=OverlapPlan(self.first.value(), self.by.value(), self.rest.value()),
            )
        )


def _add_overlap(form: QFormLayout, first: QSpinBox, by: QSpinBox, rest: QSpinBox) -> None:
    _add(form, "Judged by several", first, "from the first, for agreement.")
    _add(form, "Each of these by", by, "annotators.")
    _add(form, "All others by", rest, "of them.")


def _number(low: int, high: int, value: int, suffix: str = "") -> QSpinBox:
    spin = QSpinBox()
    spin.setRange(low, high)
    spin.setValue(value)
    spin.setSuffix(suffix)
    spin.setGroupSeparatorShown(True)
    return spin


def _add(form: QFormLayout, label: str, editor: QAbstractSpinBox, text: str) -> None:
    """A row whose number is read out with its label and what stands behind it.

    Qt finds the label by itself only where the editor stands alone in its row.
    """
    editor.setAccessibleName(label)
    editor.setAccessibleDescription(text)
    note = QLabel(text)
    set_role(note, "muted")
    row = QHBoxLayout()
    row.addWidget(editor)
    row.addWidget(note, 1, Qt.AlignmentFlag.AlignVCenter)
    form.addRow(label, row)
