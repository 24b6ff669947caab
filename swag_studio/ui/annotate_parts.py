"""Small parts of the judging bench: what is saved, why an item is skipped, the comment."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTime, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import set_role

REASONS = ("The beginning makes no sense", "I do not know what the words mean", "It offends")
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class SavedState(QLabel):
    """Says what of the answers is on the disk, and since when. It is told only what was done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAccessibleName("What is saved")
        self._before: tuple[str, str] | None = None  # what was said before something waited

    def saved(self, what: str) -> None:
        """An answer or a skip is on the disk."""
        self._say(f"✓ {what} {_clock()}", "good")

    def draft(self) -> None:
        """What is half-given is kept."""
        self._say(f"◐ Draft kept {_clock()}", "muted")

    def waiting(self) -> None:
        """There is something that is not kept yet."""
        before = self._before or (self.text(), str(self.property("role") or ""))
        self._say("○ Not kept yet", "muted")
        self._before = before

    def as_before(self) -> None:
        """Nothing waits: what was changed was changed back."""
        if self._before is not None:
            self._say(*self._before)

    def restored(self) -> None:
        """What is on the screen is what was kept before."""
        self._say("◐ Your draft is back as it was kept", "muted")

    def failed(self, what: str, words: str) -> None:
        """A write failed; nothing of it is on the disk."""
        self._say(f"✗ {what}: {words}", "bad")

    def _say(self, text: str, role: str) -> None:
        self._before = None
        self.setText(text)
        set_role(self, role)


def _clock() -> str:
    return QTime.currentTime().toString("HH:mm:ss")


class ComposingLine(QLineEdit):
    """A line that Enter ends, but not an Enter that belongs to an input method."""

    ended = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._composing = False

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in _ENTER:
            super().keyPressEvent(event)
        elif not self._composing and not event.isAutoRepeat():
            self.ended.emit()


class SkipStrip(QFrame):
    """Asks why an item is skipped. `skipped` carries the reason, which is never empty."""

    skipped = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.line = ComposingLine()
        self.line.setMaxLength(500)
        self.line.setPlaceholderText("Why? Enter skips the item, Esc goes back to it")
        self.line.setAccessibleName("Why the item is skipped")
        self.line.ended.connect(lambda: self._give(self.line.text()))
        self.trouble = QLabel("Say in a few words why, so that the item can be mended.")
        self.line.textEdited.connect(lambda _: self.trouble.hide())
        self.trouble.setWordWrap(True)
        set_role(self.trouble, "bad")
        self.reasons = [QPushButton(words) for words in REASONS]
        ready = QWidget()
        row = FlowLayout(ready, spacing=6)
        row.setContentsMargins(0, 0, 0, 0)
        for button, words in zip(self.reasons, REASONS, strict=True):
            button.clicked.connect(lambda _=False, words=words: self._give(words))
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self.line)
        layout.addWidget(self.trouble)
        layout.addWidget(ready)
        self.hide()

    def ask(self) -> None:
        """Shows itself, ready to be written in."""
        self.line.clear()
        self.trouble.hide()
        self.show()
        self.line.setFocus()

    def _give(self, reason: str) -> None:
        if reason.strip():
            self.skipped.emit(" ".join(reason.split()))
        else:
            self.trouble.show()


class CommentBox(QPlainTextEdit):
    """A remark on the item. Tab and Esc leave it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setPlaceholderText("Comment on this item. Esc goes back to the endings.")
        self.setAccessibleName("Comment")
        self.hide()

    def show_text(self, text: str) -> None:
        """Another item's comment; it takes no room while there is none."""
        self.blockSignals(True)
        self.setPlainText(text)
        self.blockSignals(False)
        self.setVisible(bool(text))
        self.setFixedHeight(2 * self.fontMetrics().lineSpacing() + 12)

    def write(self) -> None:
        """Shows itself, ready to be written in."""
        self.show()
        self.setFocus()


class IdleCard(QFrame):
    """Said when there is nothing to judge: why, and the ways on."""

    go_to = Signal(str)
    back = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self.words, "heading")
        self._way = ""
        self.way, self.earlier = QPushButton(), QPushButton()
        self.way.hide()
        self.earlier.hide()
        self.way.clicked.connect(lambda: self.go_to.emit(self._way))
        self.earlier.clicked.connect(self.back)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.way)
        row.addWidget(self.earlier)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 24)
        layout.setSpacing(16)
        layout.addStretch(1)
        layout.addWidget(self.words)
        layout.addLayout(row)
        layout.addStretch(2)

    def show_words(self, words: str, way: str, earlier: str) -> None:
        """What to say, the title of a page that helps, and the words of the way back, or ""."""
        self._way = way
        self.words.setText(words)
        self.way.setText(f"Go to {way}")
        self.way.setVisible(bool(way))
        self.earlier.setText(earlier)
        self.earlier.setVisible(bool(earlier))
