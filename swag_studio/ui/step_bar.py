"""The bar of steps on top of the window, left to right as the data flows."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import STATE_MARKS, STATE_WORDS


class StepBar(QFrame):
    """One button per step, with its state as a mark and in words. It wraps when text is large."""

    chosen = Signal(int)

    def __init__(self, titles: list[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._titles = titles
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        layout = FlowLayout(self, spacing=0)
        layout.setContentsMargins(12, 6, 12, 0)
        for i, title in enumerate(titles):
            layout.addWidget(self._step(i, title))
        self._group.idClicked.connect(self.chosen)

    def _step(self, index: int, title: str) -> QWidget:
        """A button, with the arrow from the step before it, so that a row never ends in one."""
        button = QToolButton()
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setProperty("step", "true")
        button.setText(title)
        button.setAccessibleName(title)
        button.setToolTip(f"{title} (Ctrl+{index + 1})")
        self._group.addButton(button, index)
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(6 if index else 0, 0, 0, 0)
        row.setSpacing(6)
        if index:
            arrow = QLabel("›")
            arrow.setProperty("role", "muted")
            row.addWidget(arrow)
        row.addWidget(button)
        row.setAlignment(Qt.AlignmentFlag.AlignLeft)
        return box

    def button(self, index: int) -> QToolButton:
        """The button of a step."""
        button = self._group.button(index)
        assert isinstance(button, QToolButton)
        return button

    def show_page(self, index: int) -> None:
        """Marks the page that is shown."""
        self.button(index).setChecked(True)

    def show_state(self, index: int, state: str) -> None:
        """Marks a step "done", "stale", "unfinished", "missing" or "running"; "" for none."""
        title, button = self._titles[index], self.button(index)
        mark = STATE_MARKS.get(state, "")
        button.setText(f"{title} {mark}".rstrip())
        words = STATE_WORDS.get(state, state)
        button.setAccessibleDescription(words)
        button.setToolTip(f"{title} (Ctrl+{index + 1})" + (f": {words}" if words else ""))
