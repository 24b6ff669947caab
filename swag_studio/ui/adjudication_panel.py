"""What annotators are tied on, one context after another, to be settled by one who looks.

The endings stand in an order of their own and are not marked as found or generated, so that the
one who settles judges the texts. Annotators' names are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.judging import LABELS, Adjudication, Judgement, Label, problem, shown_order
from swag_studio.ui.page import bare, card, set_role, splitter
from swag_studio.ui.people_readings import Tie
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import ems
from swag_studio.ui.words import count

NOTHING_TIED = (
    "Nothing waits to be settled. Where annotators are tied, and it depends on it whether a "
    "context becomes a question, the context comes here with everyone's answers side by side."
)
QUEUE_COLUMNS = (
    Column("Context", lambda tie: tie.context.sent1 if tie.context else "", stretch=True),
)


class AdjudicationPanel(QWidget):
    """The queue beside the context that is settled. `settled` carries the record."""

    settled = Signal(object)  # Adjudication

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.seed, self._total = 0, 0
        self._names: Mapping[str, str] = {}
        self._ties: list[Tie] = []
        self._tie: Tie | None = None
        self.queue = Table("Contexts to settle", QUEUE_COLUMNS)
        self.queue.chosen.connect(self._chosen)
        self.counts = QLabel("")
        set_role(self.counts, "strong")
        self.words = QLabel(NOTHING_TIED)
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self.words, "muted")
        parts = splitter(Qt.Orientation.Horizontal)
        parts.addWidget(card(self.counts, self.queue))
        parts.addWidget(self._case())
        parts.setStretchFactor(0, 1)
        parts.setStretchFactor(1, 3)
        parts.setSizes([260, 940])
        self.stack = QStackedWidget()
        self.stack.addWidget(card(self.words, margins=40))
        self.stack.addWidget(parts)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addWidget(self.stack)

    def _case(self) -> QWidget:
        self.context, self.why, self.trouble = QLabel(""), QLabel(""), QLabel("")
        for label, role in ((self.context, "heading"), (self.why, "warn"), (self.trouble, "muted")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            set_role(label, role)
        self.context.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.form = AnswerGrid()
        self.form.changed.connect(self._tell)
        self.comment, self.by = QLineEdit(), QLineEdit()
        self.comment.setPlaceholderText("why it is settled so; may be empty")
        self.comment.setAccessibleName("Comment")
        self.by.setMaximumWidth(ems(self, 24))
        self.by.setAccessibleName("Settled by")
        self.by.textChanged.connect(self._tell)
        self.settle = QPushButton("Settle and go on")
        set_role(self.settle, "primary")
        self.settle.clicked.connect(self._settle)
        record, end = QHBoxLayout(), QHBoxLayout()
        for text, editor, stretch in (("Comment", self.comment, 1), ("Settled by", self.by, 0)):
            label = QLabel(text)
            label.setBuddy(editor)
            record.addWidget(label)
            record.addWidget(editor, stretch)
        end.addWidget(self.trouble, 1)
        end.addWidget(self.settle, 0, Qt.AlignmentFlag.AlignTop)
        inner = QWidget()
        layout = QVBoxLayout(inner)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(10)
        for widget in (self.context, self.why, self.form):
            layout.addWidget(widget)
        layout.addLayout(record)
        layout.addLayout(end)
        layout.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setAccessibleName("Answers side by side")
        bare(area, inner)
        return card(area, margins=6)

    # --- showing -----------------------------------------------------------------------------

    def show_ties(self, ties: Sequence[Tie], total: int, names: Mapping[str, str]) -> None:
        """Shows the queue. The context at hand stays as it is while it is among them."""
        self._names = names
        at_hand = self._tie.case.task.id if self._tie else ""
        self._ties, self._total = list(ties), max(total, len(ties))
        if at_hand and any(t.case.task.id == at_hand for t in ties):
            same = next(t for t in ties if t.case.task.id == at_hand)
            changed = same != self._tie
            self._show_queue(at_hand, anew=changed)
        else:
            self._show_queue("", anew=True)

    def say(self, text: str, role: str = "muted") -> None:
        """Words in the place of the queue."""
        self.words.setText(text)
        set_role(self.words, role)
        self.stack.setCurrentIndex(0)

    def _show_queue(self, at_hand: str, *, anew: bool) -> None:
        self.queue.blockSignals(True)
        self.queue.set_rows(self._ties)
        rows = self.queue.rows_model.rows
        place = next((i for i, t in enumerate(rows) if t.case.task.id == at_hand), 0)
        if rows:
            self.queue.selectRow(place)
        self.queue.blockSignals(False)
        first = f", the first {len(self._ties):,} are here" if len(rows) < self._total else ""
        waits = "waits" if self._total == 1 else "wait"
        self.counts.setText(f"{count(self._total, 'context')} {waits}{first}")
        if not rows:
            self._tie = None
            self.say(NOTHING_TIED)
            return
        self.stack.setCurrentIndex(1)
        if anew:
            self._show(rows[place])

    def _chosen(self, tie: Tie | None) -> None:
        if tie is not None and tie is not self._tie:
            self._show(tie)

    def _show(self, tie: Tie) -> None:
        self._tie = tie
        context = tie.context
        self.context.setText(f"{context.sent1} {context.sent2} …" if context else "")
        self.why.setText(
            f"⇄ Round {tie.case.task.round + 1}: {tie.case.verdict.reason} Which ending was found "
            "is not shown, so that the texts decide."
        )
        self.form.show_tie(tie, self._order(tie), self._names)
        self.comment.clear()
        self._tell()

    def _order(self, tie: Tie) -> tuple[int, ...]:
        return shown_order(self.seed, tie.case.task.id, "adjudicator", len(tie.endings))

    # --- settling ----------------------------------------------------------------------------

    def _tell(self) -> None:
        trouble = problem(*self.form.answer) if self._tie else ""
        if not trouble and not self.by.text().strip():
            trouble = "Say who settles it: the name stands beside the record."
        self.trouble.setText(
            trouble or "Ready. What you settle is a record of its own; it never enters agreement."
        )
        self.settle.setEnabled(self._tie is not None and not trouble)

    def _settle(self) -> None:
        tie = self._tie
        if tie is None or problem(*self.form.answer):
            return
        labels, best, second = self.form.answer
        given = tuple(label for label in labels if label is not None)
        assert best is not None and second is not None
        record = Adjudication(
            task_id=tie.case.task.id,
            by=self.by.text().strip(),
            labels=given,
            best=best,
            second=second,
            comment=self.comment.text().strip(),
        )
        place = self._ties.index(tie)
        self._ties.remove(tie)
        self._total -= 1
        after = self._ties[place] if place < len(self._ties) else None
        self._show_queue(after.case.task.id if after else "", anew=True)
        self.settled.emit(record)


class AnswerGrid(QWidget):
    """Endings as rows; what each annotator said, and label, best and second to choose.

    What all annotators said alike is chosen beforehand.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._order: tuple[int, ...] = ()
        self.labels: list[QComboBox] = []  # in the order shown, as the others
        self.best: list[QRadioButton] = []
        self.second: list[QRadioButton] = []
        self._content: QWidget | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)

    @property
    def answer(self) -> tuple[tuple[Label | None, ...], int | None, int | None]:
        """(labels, best, second) in the task's order, as far as they are chosen."""
        labels: list[Label | None] = [None] * len(self._order)
        for box, place in zip(self.labels, self._order, strict=True):
            labels[place] = box.currentData()
        return tuple(labels), self._ranked(self.best), self._ranked(self.second)

    def _ranked(self, buttons: Sequence[QRadioButton]) -> int | None:
        chosen = (p for b, p in zip(buttons, self._order, strict=True) if b.isChecked())
        return next(chosen, None)

    def show_tie(self, tie: Tie, order: tuple[int, ...], names: Mapping[str, str]) -> None:
        """Another context; nothing is chosen but what is undisputed."""
        if self._content is not None:
            self._content.hide()
            self._content.deleteLater()
        self._order = order
        self.labels, self.best, self.second = [], [], []
        content = self._content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(4, 4, 4, 4)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(8)
        answers = tie.case.judgements
        heads: list[QWidget] = [_strong("Ending")]
        heads += [self._taker(names.get(j.annotator_id, j.annotator_id), j) for j in answers]
        heads += [_strong(text) for text in ("Settled as", "Best", "Second")]
        for column, head in enumerate(heads):
            grid.addWidget(head, 0, column, Qt.AlignmentFlag.AlignLeft)
        groups = QButtonGroup(content), QButtonGroup(content)
        for row, place in enumerate(order, 1):
            text = QLabel(tie.endings[place])
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setWordWrap(True)
            text.setMinimumWidth(ems(self, 20))
            grid.addWidget(text, row, 0)
            for column, answer in enumerate(answers, 1):
                said = QLabel(said_of(answer, place))
                said.setTextFormat(Qt.TextFormat.PlainText)
                grid.addWidget(said, row, column)
            self._add_choices(grid, row, len(answers) + 1, answers, place, groups)
        grid.setColumnStretch(0, 1)
        grid.setRowStretch(len(order) + 1, 1)
        self._layout.addWidget(content)

    def _taker(self, name: str, answer: Judgement) -> QPushButton:
        """An annotator's name, to choose as they did."""
        button = QPushButton(name)
        button.setToolTip(f"Choose as {name} did; you can change it then")
        button.clicked.connect(lambda: self.take(answer))
        return button

    def take(self, answer: Judgement) -> None:
        """Chooses as an annotator did."""
        for shown, place in enumerate(self._order):
            self.labels[shown].setCurrentIndex(self.labels[shown].findData(answer.labels[place]))
            self.best[shown].setChecked(place == answer.best)
            self.second[shown].setChecked(place == answer.second)

    def _add_choices(
        self,
        grid: QGridLayout,
        row: int,
        column: int,
        answers: Sequence[Judgement],
        place: int,
        groups: tuple[QButtonGroup, QButtonGroup],
    ) -> None:
        box = QComboBox()
        box.setAccessibleName(f"Label of ending {row}")
        box.addItem("choose", None)
        for label in LABELS:
            box.addItem(label, label)
        agreed = {j.labels[place] for j in answers}
        if len(agreed) == 1:
            box.setCurrentIndex(box.findData(agreed.pop()))
        box.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.labels.append(box)
        grid.addWidget(box, row, column)
        ranks = (("best", self.best), ("second", self.second))
        for offset, ((name, buttons), group) in enumerate(zip(ranks, groups, strict=True), 1):
            button = QRadioButton()
            button.setAccessibleName(f"Ending {row} is {name}")
            group.addButton(button)
            button.setChecked(bool(answers) and {getattr(j, name) for j in answers} == {place})
            button.toggled.connect(lambda _: self.changed.emit())
            buttons.append(button)
            grid.addWidget(button, row, column + offset, Qt.AlignmentFlag.AlignCenter)


def _strong(text: str) -> QLabel:
    label = QLabel(text)
    set_role(label, "strong")
    return label


def said_of(answer: Judgement, place: int) -> str:
    """The label and, below it, the rank where there is one."""
    rank = {answer.best: "\nbest", answer.second: "\nsecond"}.get(place, "")
    return f"{answer.labels[place]}{rank}"
