"""What a curator notes of a context: flags, exclusion, a comment.

It shows a curated state and asks by signals for what is to be changed; it writes nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.reviewing import FLAGS, Curated
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import set_role
from swag_studio.ui.review_dialogs import DRAFT


class _Comment(QPlainTextEdit):
    """A text of a few lines; by itself Qt would have it ten lines high."""

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 3 * self.fontMetrics().lineSpacing() + 12)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self.sizeHint().height())


class NotesPanel(QWidget):
    """Flags, exclusion and comment. A comment is kept when the focus leaves it."""

    flagged = Signal(str, bool)
    excluded = Signal(bool)
    commented = Signal(str)
    draft = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.flags = {flag: QCheckBox(f"&{i}  {flag}") for i, flag in enumerate(FLAGS, 1)}
        flow = FlowLayout(spacing=8)
        for flag, box in self.flags.items():
            box.setToolTip(f"Key {box.text()[1]} in the tables")
            box.clicked.connect(lambda on, flag=flag: self.flagged.emit(flag, on))
            flow.addWidget(box)
        self.exclude = QCheckBox("&x  exclude: not released, not judged")
        self.exclude.setToolTip("Key X in the tables")
        self.exclude.clicked.connect(lambda on: self.excluded.emit(on))
        flow.addWidget(self.exclude)
        self.comment = _Comment()
        self.comment.setAccessibleName("Comment")
        self.comment.setPlaceholderText("A comment on this context")
        self.comment.setTabChangesFocus(True)
        self.comment.textChanged.connect(self._tell_saved)
        self.comment.installEventFilter(self)
        self.save = QPushButton("Save comment")
        self.save.clicked.connect(self.keep)
        self.saved = QLabel("")
        self._written, self._kept = "", ""
        self._beat = QTimer(self)
        self._beat.setSingleShot(True)
        self._beat.setInterval(DRAFT)
        self._beat.timeout.connect(self._keep_draft)
        below = QHBoxLayout()
        below.addWidget(self.saved, 1)
        below.addWidget(self.save)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 8, 4, 4)
        layout.addLayout(flow)
        layout.addWidget(self.comment, 1)
        layout.addLayout(below)

    def show_state(self, state: Curated, draft: str = "", *, same: bool = False) -> None:
        """What is noted; of the `same` context as before, what is being typed stays."""
        for flag, box in self.flags.items():
            box.setChecked(flag in state.flags)
        self.exclude.setChecked(state.excluded)
        typing = same and self.unsaved
        self._written = state.comment
        if not typing:
            self._kept = draft
            with QSignalBlocker(self.comment):
                self.comment.setPlainText(draft or state.comment)
        self._tell_saved()

    @property
    def unsaved(self) -> bool:
        """Whether a comment was typed and not kept."""
        return self.comment.toPlainText().strip() != self._written

    def keep(self) -> None:
        """Has what is typed kept as the comment."""
        self._beat.stop()
        if self.unsaved:
            self.commented.emit(self.comment.toPlainText())
            self._tell_saved()

    def _keep_draft(self) -> None:
        text = self.comment.toPlainText()
        if self.unsaved and text != self._kept:
            self._kept = text
            self.draft.emit(text)

    def _tell_saved(self) -> None:
        unsaved = self.unsaved
        self.save.setEnabled(unsaved)
        self.saved.setText("not saved yet" if unsaved else "saved" if self._written else "")
        set_role(self.saved, "warn" if unsaved else "good")
        if unsaved and not self._beat.isActive():
            self._beat.start()
        elif not unsaved:
            self._beat.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.comment and event.type() == QEvent.Type.FocusOut:
            self.keep()
        return super().eventFilter(watched, event)
