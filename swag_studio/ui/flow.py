"""A layout that puts widgets beside each other and goes on in the next row where they end."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Left to right, then top to bottom; its height depends on its width. Rows are centred.

    `spacing` is between widgets, and between rows where `between_rows` says nothing else.
    """

    def __init__(
        self, parent: QWidget | None = None, spacing: int = 4, between_rows: int | None = None
    ) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._between_rows = spacing if between_rows is None else between_rows
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """Places the items in `rect`, or only tells the height that they take."""
        margins = self.contentsMargins()
        inner = rect.marginsRemoved(margins)
        y = inner.y()
        for row in self._rows(inner.width()):
            x, height = inner.x(), max(item.sizeHint().height() for item in row)
            for item in row:
                size = item.sizeHint()
                if move:
                    item.setGeometry(QRect(QPoint(x, y + (height - size.height()) // 2), size))
                x += size.width() + self.spacing()
            y += height + self._between_rows
        last = self._between_rows if y > inner.y() else 0
        return y - last - rect.y() + margins.bottom()

    def _rows(self, width: int) -> list[list[QLayoutItem]]:
        """The items that are shown, as many in a row as fit."""
        rows: list[list[QLayoutItem]] = []
        left = 0
        for item in self._items:
            if item.isEmpty():
                continue
            needed = item.sizeHint().width()
            if not rows or needed > left:
                rows.append([])
                left = width
            rows[-1].append(item)
            left -= needed + self.spacing()
        return rows
