"""What the judging bench looks like: its widgets and where they stand. It does nothing itself."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.ui.annotate_card import Card
from swag_studio.ui.annotate_keys import UNDO, KeyMap
from swag_studio.ui.annotate_parts import CommentBox, IdleCard, SavedState, SkipStrip
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.guidelines import GuidelinesPanel
from swag_studio.ui.page import bare, set_role, splitter
from swag_studio.ui.page import card as framed

BUTTONS = {
    "submit": "Submit",
    "back": "Back",
    "forward": "Forward",
    "skip": "Skip …",
    "comment": "Comment",
    UNDO: "Undo",
}


class BenchView(QWidget):
    """The item with its buttons, and the guidelines beside it."""

    def __init__(
        self, keymap: KeyMap, guidelines: GuidelinesPanel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.keymap, self.guidelines = keymap, guidelines
        self._build()

    def _build(self) -> None:
        self.heading, self.progress = QLabel(), QLabel()
        set_role(self.heading, "heading")
        set_role(self.progress, "muted")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(6)
        self.bar.setAccessibleName("Items answered")
        self.card = Card(self.keymap)
        self.area = _ItemArea()
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName("The item")
        bare(self.area, self.card)
        self.comment, self.strip, self.saved = CommentBox(), SkipStrip(), SavedState()
        self.note = QLabel()
        self.note.setWordWrap(True)
        self.note.setAccessibleName("What is missing")
        work = QWidget()
        inner = QVBoxLayout(work)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(6)
        for widget in (framed(self.area, margins=8), self.comment, self.strip):
            inner.addWidget(widget)
        inner.setStretch(0, 1)
        inner.addLayout(self._foot())
        self.stack = QStackedWidget()
        self.stack.addWidget(work)
        self.idle = IdleCard()
        self.stack.addWidget(self.idle)
        self.parts = splitter(Qt.Orientation.Horizontal)
        self.parts.addWidget(self.stack)
        self.panel = framed(self.guidelines)
        self.parts.addWidget(self.panel)
        self.parts.setStretchFactor(0, 1)
        self.parts.setSizes([900, 300])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(self._top())
        layout.addWidget(self.bar)
        layout.addWidget(self.parts, 1)

    def _top(self) -> QHBoxLayout:
        self.guide_button, self.keys_button = QPushButton(), QPushButton("Keys …")
        self.top = QHBoxLayout()
        self.top.setSpacing(12)
        self.top.addWidget(self.heading)
        self.top.addWidget(self.progress, 1)
        for button in (self.guide_button, self.keys_button):
            self.top.addWidget(button)
        return self.top

    def _foot(self) -> QVBoxLayout:
        self.buttons = {code: QPushButton() for code in BUTTONS}
        set_role(self.buttons["submit"], "primary")
        row = FlowLayout(spacing=6)
        for button in self.buttons.values():
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus at the item
            row.addWidget(button)
        words = QHBoxLayout()
        words.addWidget(self.note, 1)
        words.addWidget(self.saved, 1)
        self.saved.setAlignment(Qt.AlignmentFlag.AlignRight)
        foot = QVBoxLayout()
        foot.setSpacing(6)
        foot.addLayout(words)
        foot.addLayout(row)
        return foot


class _ItemArea(QScrollArea):
    """Scrolls by pages alone: the arrows are the item's."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            super().keyPressEvent(event)
        else:
            event.ignore()
