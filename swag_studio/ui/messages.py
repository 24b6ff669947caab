"""The messages of a run as a list, with the detail of the chosen one, to read and to copy."""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

MARKS = {"info": "", "warning": "⚠ ", "error": "✗ "}
MOST = 1000
_LINES = 8  # of text that the list is high
_BESIDE, _ABOVE = 24, 10  # px of a row that are not text: padding and focus frame

Index = QModelIndex | QPersistentModelIndex
_DETAIL = Qt.ItemDataRole.UserRole
_TIMES = Qt.ItemDataRole.UserRole + 1


class _Lines(QStyledItemDelegate):
    """Rows as high as their text within the style sheet's padding, which Qt leaves out of it."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        view, hint = self.parent(), super().sizeHint(option, index)
        assert isinstance(view, QListWidget)
        room = QRect(0, 0, view.viewport().width() - _BESIDE, 1 << 20)
        metrics, wrap = view.fontMetrics(), int(Qt.TextFlag.TextWordWrap)
        text = metrics.boundingRect(room, wrap, str(index.data()))
        return QSize(hint.width(), max(hint.height(), text.height() + _ABOVE))


class _List(QListWidget):
    """By itself a list copies what it shows, without the details."""

    copy_asked = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
        else:
            super().keyPressEvent(event)


class MessageList(QWidget):
    """Oldest first. A message with a detail says so, and shows it when it is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = _List()
        self.list.copy_asked.connect(self.copy)
        self.list.setAccessibleName("Messages of the run")
        self.list.setItemDelegate(_Lines(self.list))
        self.list.setWordWrap(True)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)  # wraps anew beside a detail
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.list.itemSelectionChanged.connect(self._show_detail)
        self.detail = QPlainTextEdit()
        self.detail.setReadOnly(True)
        self.detail.setAccessibleName("Detail of the message")
        self.detail.hide()
        copy = QPushButton("Copy")
        copy.setToolTip("Copy the chosen messages, or all, with their details")
        copy.clicked.connect(self.copy)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.list, 3)
        row.addWidget(self.detail, 2)
        side = QVBoxLayout()
        side.addWidget(copy)
        side.addStretch(1)
        row.addLayout(side)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "detail"):
            self._fit()

    def _fit(self) -> None:
        """As high as its lines of text are, with details as large as the text around."""
        self.setFixedHeight(_LINES * self.fontMetrics().lineSpacing() + 12)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPointSizeF(self.font().pointSizeF())
        self.detail.setFont(fixed)

    def add(self, text: str, level: str = "info", detail: str = "") -> None:
        """Adds a message at the end; the oldest ones go when there are too many.

        One that says what the last one said is counted there: whatever fails at each beat must
        not push the other messages out.
        """
        last = self.list.item(self.list.count() - 1)
        if last is not None and last.data(_DETAIL) == (text, detail):
            times = last.data(_TIMES) + 1
        else:
            last, times = QListWidgetItem(), 1
            self.list.addItem(last)
        often = f"  ({times} times)" if times > 1 else ""
        more = "  (choose it for the details)" if detail else ""
        last.setText(f"{time.strftime('%H:%M:%S')}  {MARKS[level]}{text}{often}{more}")
        last.setData(_DETAIL, (text, detail))
        last.setData(_TIMES, times)
        while self.list.count() > MOST:
            self.list.takeItem(0)
        self.list.scrollToBottom()

    def text(self) -> str:
        """The chosen messages, or all, with their details."""
        items = self.list.selectedItems() or [self.list.item(i) for i in range(self.list.count())]
        rows = sorted(items, key=self.list.row)
        return "\n".join("\n".join(part for part in i.data(_DETAIL) if part) for i in rows)

    def copy(self) -> None:
        """Puts `text` on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _show_detail(self) -> None:
        chosen = self.list.selectedItems()
        detail = chosen[0].data(_DETAIL)[1] if len(chosen) == 1 else ""
        self.detail.setPlainText(detail)
        self.detail.setVisible(bool(detail))
