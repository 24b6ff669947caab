"""One context and its distractors after an iteration: what is new, and what it displaced."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from swag_studio.ui.page import prose, set_role
from swag_studio.ui.watch_history import Held
from swag_studio.ui.words import inherited, since
from swag_studio.views import ContextRow

CHANGED = "⇄"
FOUND = "✓"


class SlotsView(QWidget):
    """The distractors by place. `head`, which stands above and does not scroll with them, has the
    sentence, the opening and the found ending."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sentence, self.opening = prose(), prose("strong")
        self.found_mark, self.found = prose("good"), prose("good")
        self.found_mark.setText(f"{FOUND} found")
        self.found_mark.setWordWrap(False)
        self.rows: list[_Row] = []
        self._context: ContextRow | None = None
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(2)
        self.head = QWidget()
        head = QVBoxLayout(self.head)
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(2)
        head.addWidget(self.sentence)
        head.addWidget(self.opening)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.found_mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.found, 1)
        head.addLayout(row)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 8, 0)
        layout.addLayout(self._grid)
        layout.addStretch(1)

    def show_context(self, context: ContextRow) -> bool:
        """The sentence, the opening and the found ending; whether they are another context's."""
        before, self._context = self._context, context
        self.sentence.setText(context.sent1)
        self.opening.setText(f"{context.sent2} …")
        self.found.setText(context.found)
        for label in (self.found_mark, self.found):
            label.setVisible(bool(context.found))
        return context != before

    def show_held(self, held: Sequence[Held], iterations: int) -> QWidget | None:
        """The distractors after so many iterations; those of the last one are marked.

        Returns the lowest part of the first marked one, None when none is.
        """
        self._grid.setColumnMinimumWidth(0, self.found_mark.sizeHint().width())  # texts align
        new = [d for d in held if d.since == iterations - 1 and iterations]
        while len(self.rows) < len(held):
            self.rows.append(_Row(self._grid, 3 * len(self.rows)))
        for row, distractor in zip(self.rows, held, strict=False):
            row.show(distractor, distractor in new)
        for row in self.rows[len(held) :]:
            row.hide()
        return self.rows[new[0].place - 1].displaced if new else None


class _Row:
    """The labels of one distractor: mark and place, text, since when, and what it displaced."""

    def __init__(self, grid: QGridLayout, at: int) -> None:
        self.mark, self.text, self.since = prose("muted"), prose(), prose("muted")
        self.displaced = prose("struck")
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
        spoken = f"Distractor {held.place}" + (", replaced in this iteration" if changed else "")
        self.mark.setAccessibleName(spoken)
        set_role(self.mark, "accent" if changed else "muted")
        self.text.setText(held.text)
        set_role(self.text, "accent" if changed else "")
        came = inherited(held.origin) if held.origin else since(held.since)
        self.since.setText(came if held.since < 0 else f"since {came}")
        set_role(self.since, "accent" if changed else "muted")
        self.displaced.setText(held.displaced)
        for label in (self.mark, self.text, self.since):
            label.show()
        self.displaced.setVisible(bool(held.displaced))

    def hide(self) -> None:
        for label in (self.mark, self.text, self.since, self.displaced):
            label.hide()
