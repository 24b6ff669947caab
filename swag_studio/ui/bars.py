"""Numbers of a table with bars beside them. It knows that rows have weights, not what of."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from swag_studio.ui.tables import Table
from swag_studio.ui.theme import ems


class BarDelegate(QStyledItemDelegate):
    """Draws a row's weight with a bar as long as its size, beside the largest of its table."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        table = self.parent()
        assert isinstance(table, Table)
        weights: list[float] = [row.weight for row in table.rows_model.rows]
        weight, most = weights[index.row()], max(map(abs, weights))
        room = option.rect.adjusted(6, 0, -ems(table, 9), 0)  # type: ignore[attr-defined]
        if most > 0 and room.width() > 0:
            width = max(1, round(room.width() * abs(weight) / most))
            height = table.fontMetrics().xHeight()
            bar = QRect(room.left(), room.center().y() - height // 2, width, height)
            palette = table.palette()
            brush = palette.highlight() if weight > 0 else palette.placeholderText()
            if option.state & QStyle.StateFlag.State_Selected:  # type: ignore[attr-defined]
                brush = palette.highlightedText()
            painter.fillRect(bar, brush)
