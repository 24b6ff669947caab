"""One context and its distractors after an iteration: what is new, and what it displaced."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from swag_studio.ui.page import set_role
from swag_studio.ui.watch_history import Held
from swag_studio.views import ContextRow

CHANGED = "⇄"
FOUND = "✓"


class SlotsView(QWidget):
    """Sentence, opening and found ending on top, then the distractors by place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sentence, self.opening = _text(), _text("strong")
        self.found_mark, self.found = _text("good"), _text("good")
        self.found_mark.setText(f"{FOUND} found")
        self.found_mark.setWordWrap(False)
        self.rows: list[_Row] = []
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(2)
        self._grid.addWidget(self.found_mark, 0, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(self.found, 0, 1, 1, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.sentence)
        layout.addWidget(self.opening)
        layout.addLayout(self._grid)
        layout.addStretch(1)

    def show_context(self, context: ContextRow) -> None:
        """The sentence, the opening and the found ending."""
        self.sentence.setText(context.sent1)
        self.opening.setText(f"{context.sent2} …")
        self.found.setText(context.found)
        for label in (self.found_mark, self.found):
            label.setVisible(bool(context.found))

    def show_held(self, held: Sequence[Held], iterations: int) -> None:
        """The distractors after so many iterations; those of the last one are marked."""
        while len(self.rows) < len(held):
            self.rows.append(_Row(self._grid, 1 + 3 * len(self.rows)))
        for row, distractor in zip(self.rows, held, strict=False):
            row.show(distractor, distractor.since == iterations - 1 and iterations > 0)
        for row in self.rows[len(held) :]:
            row.hide()


class _Row:
    """The labels of one distractor: mark and place, text, since when, and what it displaced."""

    def __init__(self, grid: QGridLayout, at: int) -> None:
        self.mark, self.text, self.since = _text("muted"), _text(), _text("muted")
        self.displaced = _text("struck")
        self.displaced.setAccessibleName("Displaced ending")
        for label in (self.mark, self.since):
            label.setWordWrap(False)
        top = Qt.AlignmentFlag.AlignTop
        grid.setRowMinimumHeight(at, 6)  # a gap between distractors, none within one
        grid.addWidget(self.mark, at + 1, 0, top)
        grid.addWidget(self.text, at + 1, 1)
        grid.addWidget(self.since, at + 1, 2, top)
        grid.addWidget(self.displaced, at + 2, 1)

    def show(self, held: Held, changed: bool) -> None:
        self.mark.setText(f"{CHANGED} {held.place}" if changed else f"{held.place}")
        set_role(self.mark, "accent" if changed else "muted")
        self.text.setText(held.text)
        set_role(self.text, "accent" if changed else "")
        told = f"since iteration {held.since + 1:,}" if held.since >= 0 else "first draw"
        self.since.setText(f"new in iteration {held.since + 1:,}" if changed else told)
        set_role(self.since, "accent" if changed else "muted")
        self.displaced.setText(held.displaced)
        for label in (self.mark, self.text, self.since):
            label.show()
        self.displaced.setVisible(bool(held.displaced))

    def hide(self) -> None:
        for label in (self.mark, self.text, self.since, self.displaced):
            label.hide()


def _text(role: str = "") -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setWordWrap(True)
    if role:
        label.setProperty("role", role)
    return label
