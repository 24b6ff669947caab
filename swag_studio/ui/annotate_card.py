"""The endings of the item being judged, with their labels and ranks, and what they follow.

It shows texts in the order it is given and answers in that order; it has never heard of which
ending is the found one. What a key does is the bench's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QFontMetrics, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.judging import LABELS, SHOWN, Label
from swag_studio.ui.annotate_context import ContextView, Text
from swag_studio.ui.annotate_keys import KeyMap
from swag_studio.ui.desk import Answer, Item
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.theme import ems

LARGER = 7.0  # points that the texts are larger than the window's
SLIGHTLY = 2.0  # the same where the window is low
CHOSEN = "✓"
HERE = "▸"
_GAP = 6
_RIGHT = 6  # between endings and scroll bar
_BETWEEN = 12  # between labels and ranks
_PADDING = 20  # of a button, left and right together
_BESIDE = 34  # letters that a text has at least beside its buttons; else they stand below it
_WORDS = {
    "likely": "Likely",
    "unlikely": "Unlikely",
    "gibberish": "Gibberish",
    "best": "Best",
    "second": "Second",
}
_RANKS = {"best": "best", "second": "second best"}
_STYLE = """
EndingRow { border: 2px solid transparent; border-bottom: 1px solid palette(mid); }
EndingRow[here="true"] { border: 2px dashed palette(highlight); border-radius: 6px; }
EndingRow[here="true"]:focus { border-style: solid; }
QToolButton { padding: 3px 6px; border: 1px solid palette(mid); border-radius: 4px;
              background: palette(button); color: palette(button-text); }
QToolButton:checked { background: palette(highlight); color: palette(highlighted-text);
                      border-color: palette(highlight); font-weight: 600; }
"""


class Card(QWidget):
    """The endings. `context`, what they follow, is a widget of its own: it never scrolls away.

    `changed` comes with every change that a person makes.
    """

    changed = Signal()
    told = Signal(str)  # what cannot be, or what else a change did
    moved = Signal(object)  # the row that has the focus now
    seen = Signal()  # the mouse is over another row: someone is there

    def __init__(self, keymap: KeyMap, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setStyleSheet(_STYLE)
        self._answer = Answer.empty(SHOWN)
        self._here, self._count = 0, SHOWN
        self._larger = LARGER
        self.context = ContextView()
        self.rows = [EndingRow(i) for i in range(SHOWN)]
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, _RIGHT, 0)
        layout.setSpacing(2)
        for row in self.rows:
            row.focused.connect(self._focused)
            row.entered.connect(self.seen)
            row.labelled.connect(self._clicked_label)
            row.ranked.connect(self._clicked_rank)
            layout.addWidget(row)
        layout.addStretch(1)
        self.show_keys(keymap)
        self._enlarge()

    # --- showing -------------------------------------------------------------------------

    @property
    def answer(self) -> Answer:
        """What is given so far; comment and time are the bench's."""
        return self._answer

    @property
    def here(self) -> int:
        """The ending that keys act on."""
        return self._here

    def show_item(self, item: Item, answer: Answer) -> None:
        """Shows an item with an answer, and goes to its first ending without a label."""
        self.context.show_texts(item.sent1, item.opening)
        self._count = len(item.endings)
        for i, row in enumerate(self.rows):
            row.show_text(item.endings[i] if i < self._count else "")
            row.setVisible(i < self._count)
        self._answer = answer
        self._show_answer()
        self.go(next((i for i, label in enumerate(answer.labels) if label is None), 0))

    def show_keys(self, keymap: KeyMap) -> None:
        """Has the buttons name their keys."""
        for row in self.rows:
            row.show_keys(keymap)

    def _show_answer(self) -> None:
        a = self._answer
        for i, row in enumerate(self.rows[: self._count]):
            row.show_choice(a.labels[i], a.best == i, a.second == i)

    # --- acting --------------------------------------------------------------------------

    def go(self, place: int) -> None:
        """Makes an ending the one that keys act on."""
        self._here = place
        for i, row in enumerate(self.rows):
            row.mark(i == place)
        self.rows[place].setFocus()
        self.moved.emit(self.rows[place])

    def step(self, by: int) -> None:
        """To an ending below or above; after the last comes the first."""
        self.go((self._here + by) % self._count)

    def label(self, label: Label) -> None:
        """Labels the ending, and goes on to the next one without a label if it had none."""
        first = self._answer.labels[self._here] is None
        self._set(*self._answer.labelled(self._here, label))
        order = [(self._here + i) % self._count for i in range(1, self._count)]
        missing = [i for i in order if self._answer.labels[i] is None]
        if first and missing:
            self.go(missing[0])

    def rank(self, rank: Literal["best", "second"]) -> None:
        """Makes the ending best or second best, or takes that away again."""
        self._set(*self._answer.ranked(self._here, rank))

    def _set(self, answer: Answer, told: str) -> None:
        changed = answer != self._answer
        self._answer = answer
        self._show_answer()  # also what was refused: a click has checked the button
        if changed:
            self.changed.emit()
        self.told.emit(told)

    def _focused(self, place: int) -> None:
        if place != self._here:
            self.go(place)

    def _clicked_label(self, place: int, label: Label) -> None:
        self.go(place)
        self.label(label)

    def _clicked_rank(self, place: int, rank: Literal["best", "second"]) -> None:
        self.go(place)
        self.rank(rank)

    # --- room ----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "rows"):
            self._enlarge()

    def _arrange(self) -> None:
        first = self.rows[0]
        beside = self.width() >= first.wide + ems(first.text, _BESIDE)
        for row in self.rows:
            row.set_beside(beside)

    @property
    def tallest(self) -> int:
        """The height in pixels of the highest ending, at the present width."""
        width = self.contentsRect().width() - _RIGHT
        return max(row.heightForWidth(width) for row in self.rows[: self._count])

    def set_larger(self, points: float) -> None:
        """By how many points the texts are larger than the window's."""
        if points != self._larger:
            self._larger = points
            self._enlarge()

    def _enlarge(self) -> None:
        font = self.font()
        font.setPointSizeF(font.pointSizeF() + self._larger)
        self.context.set_fonts(font)
        for row in self.rows:
            row.text.setFont(font)
            row.fit()
        self._arrange()


class EndingRow(QFrame):
    """One ending: its place, its text, and the buttons that label and rank it.

    The row has the focus, never its buttons, so that keys always mean the row. It takes no input
    method: a key that is composed is no answer.
    """

    focused = Signal(int)
    entered = Signal()
    labelled = Signal(int, str)
    ranked = Signal(int, str)

    def __init__(self, place: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.place = place
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, False)
        self.number = QLabel(f"{place + 1}")
        self.number.setProperty("role", "muted")
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.text = Text()
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.button = {code: self._button(code) for code in (*LABELS, "best", "second")}
        self.buttons = QWidget()
        self.groups = [_group(self.button[code] for code in LABELS)]
        self.groups.append(_group(self.button[code] for code in ("best", "second")))
        # Where it is narrow, ranks go below.
        flow = FlowLayout(self.buttons, spacing=_BETWEEN, between_rows=4)
        flow.setContentsMargins(0, 0, 0, 0)
        for group in self.groups:
            flow.addWidget(group)
        texts = QHBoxLayout()
        texts.setSpacing(_GAP)
        texts.addWidget(self.number)
        texts.addWidget(self.text, 1)
        self.box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self.box.setContentsMargins(6, 3, 6, 5)
        self.box.setSpacing(3)
        self.box.addLayout(texts, 1)
        self.box.addWidget(self.buttons)
        self._keys = dict.fromkeys(self.button, "")

    def _button(self, code: str) -> QToolButton:
        button = QToolButton()
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setAccessibleName(f"Ending {self.place + 1}: {_WORDS[code].lower()}")
        signal = self.labelled if code in LABELS else self.ranked
        button.clicked.connect(lambda: signal.emit(self.place, code))
        return button

    # --- showing -------------------------------------------------------------------------

    def show_text(self, text: str) -> None:
        """Another ending."""
        self.text.setText(text)
        self.setAccessibleName(f"Ending {self.place + 1}: {text}")

    def show_choice(self, label: Label | None, best: bool, second: bool) -> None:
        """Which buttons are chosen: by colour, by a mark, and in words for those who hear it."""
        rank = "best" if best else "second" if second else ""
        for code, button in self.button.items():
            button.setChecked(code in (label, rank))
        self._name_buttons()
        words = [label or "no label yet"] + ([_RANKS[rank]] if rank else [])
        self.setAccessibleDescription(", ".join(words))

    def show_keys(self, keymap: KeyMap) -> None:
        """The keys that the buttons name."""
        self._keys = {code: keymap.shown(code) for code in self.button}
        self._name_buttons()
        self.fit()

    def _name_buttons(self) -> None:
        for code, button in self.button.items():
            mark = f" {CHOSEN}" if button.isChecked() else ""
            button.setText(self._words(code) + mark)

    def _words(self, code: str) -> str:
        return f"{self._keys[code]} {_WORDS[code]}".replace("&", "&&")

    def fit(self) -> None:
        """Room for the marks, so that nothing moves when they come."""
        width = self.number.fontMetrics().horizontalAdvance(f"{HERE} 0") + 4
        self.number.setFixedWidth(width)
        for code, button in self.button.items():
            font = button.font()
            font.setBold(True)
            text = f"{self._words(code)} {CHOSEN}"
            button.setMinimumWidth(QFontMetrics(font).horizontalAdvance(text) + _PADDING)

    def mark(self, here: bool) -> None:
        """Shows that keys act on this ending, by its frame and by a mark."""
        self.number.setText(f"{HERE} {self.place + 1}" if here else f"{self.place + 1}")
        self.setProperty("here", "true" if here else "false")
        self.style().unpolish(self)
        self.style().polish(self)

    @property
    def wide(self) -> int:
        """The width in pixels of all buttons in one line."""
        return sum(group.sizeHint().width() for group in self.groups) + _BETWEEN

    def set_beside(self, beside: bool) -> None:
        """Puts the buttons beside the text, or below it: below the text, not below its number."""
        direction = QBoxLayout.Direction
        self.box.setDirection(direction.LeftToRight if beside else direction.TopToBottom)
        left = 0 if beside else self.number.width() + _GAP
        self.buttons.setContentsMargins(left, 0, 0, 0)
        self.buttons.setMinimumWidth(self.wide if beside else 0)

    # --- focus ---------------------------------------------------------------------------

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(self.place)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.entered.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self.setFocus()


def _group(buttons: Iterable[QToolButton]) -> QWidget:
    """Buttons that stay beside each other."""
    group = QWidget()
    line = QHBoxLayout(group)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(4)
    for button in buttons:
        line.addWidget(button)
    return group
