"""The bar of steps on top of the window, left to right as the data flows."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from swag_studio.ui.page import STATE_MARKS, STATE_WORDS


class StepBar(QFrame):
    """One button per step, with its state as a mark and in words."""

    chosen = Signal(int)

    def __init__(self, titles: list[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._titles = titles
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 0)
        layout.setSpacing(0)
        for i, title in enumerate(titles):
            if i:
                arrow = QLabel("›")
                arrow.setProperty("role", "muted")
                layout.addWidget(arrow)
            button = QToolButton()
            button.setCheckable(True)
            button.setAutoRaise(True)
            button.setText(title)
            button.setAccessibleName(title)
            button.setToolTip(f"{title} (Ctrl+{i + 1})")
            self._group.addButton(button, i)
            layout.addWidget(button)
        layout.addStretch(1)
        self._group.idClicked.connect(self.chosen)

    def show_page(self, index: int) -> None:
        """Marks the page that is shown."""
        self._group.button(index).setChecked(True)

    def show_state(self, index: int, state: str) -> None:
        """Marks a step "done", "stale", "unfinished", "missing" or "running"; "" for none."""
        title, button = self._titles[index], self._group.button(index)
        mark = STATE_MARKS.get(state, "")
        button.setText(f"{title} {mark}".rstrip())
        words = STATE_WORDS.get(state, state)
        button.setAccessibleDescription(words)
        button.setToolTip(f"{title} (Ctrl+{index + 1})" + (f": {words}" if words else ""))
