"""What the judging bench looks like: its widgets and where they stand. It does nothing itself."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
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

from swag_studio.ui.annotate_card import LARGER, SLIGHTLY, Card
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


_GAP = 4  # between context and endings
_LOW = 32  # lines of the window's text: a bench that is lower has its texts only slightly larger


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
        self.whole = ItemView(self.card)
        self.area = self.whole.area
        self.comment, self.strip, self.saved = CommentBox(), SkipStrip(), SavedState()
        self.note = QLabel()
        self.note.setWordWrap(True)
        self.note.setAccessibleName("What is missing")
        work = QWidget()
        inner = QVBoxLayout(work)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(6)
        for widget in (framed(self.whole, margins=8), self.comment, self.strip):
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
        words.addWidget(self.note, 2)
        words.addWidget(self.saved, 1)
        self.saved.setAlignment(Qt.AlignmentFlag.AlignRight)
        foot = QVBoxLayout()
        foot.setSpacing(6)
        foot.addLayout(words)
        foot.addLayout(row)
        return foot

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._enlarge()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "card"):
            self._enlarge()

    def _enlarge(self) -> None:
        low = self.height() < _LOW * self.fontMetrics().lineSpacing()
        self.card.set_larger(SLIGHTLY if low else LARGER)


class ItemView(QWidget):
    """The context, which always stands there, above the endings, which scroll where they must.

    Of a long context so much is shown as leaves room for any one ending as a whole.
    """

    def __init__(self, card: Card, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.card = card
        self.area = _EndingsArea()
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName("The endings")
        bare(self.area, card)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_GAP)
        layout.addWidget(card.context)
        layout.addWidget(self.area, 1)
        card.installEventFilter(self)
        card.moved.connect(self.see)
        # The range comes last, after all sizes: only now can it be scrolled to where it should be.
        self.area.verticalScrollBar().rangeChanged.connect(self.see)

    def see(self) -> None:
        """Scrolls to the ending that keys act on; to its text, where it has no room as a whole."""
        bar, row = self.area.verticalScrollBar(), self.card.rows[self.card.here].geometry()
        least = row.bottom() + 1 - self.area.viewport().height()
        bar.setValue(min(max(bar.value(), least), row.top()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):  # of the endings
            self._share()
            self.see()
        return False

    def _share(self) -> None:
        frame = self.area.height() - self.area.viewport().height()
        self.card.context.fit(self.height() - self.card.tallest - frame - _GAP)


class _EndingsArea(QScrollArea):
    """Scrolls by pages alone: the arrows are the item's."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            super().keyPressEvent(event)
        else:
            event.ignore()
