"""Read-only tables over rows that are in memory: columns, sorting, copying, and words for none.

A table knows how its columns get and show a value, not what a row is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QTableView, QWidget

from swag_studio.numerals import plain
from swag_studio.ui.theme import ems

Index = QModelIndex | QPersistentModelIndex
Display = Qt.ItemDataRole.DisplayRole
_WIDEST = 44  # letters of a column that does not stretch
_NARROWEST = 16  # letters of one that does
_SHORT = 8  # letters of one in a table that does not scroll sideways
_HEAD_PADDING = 14  # pixels beside a head's text, without the sort's arrow
_MEASURED = 64  # rows that a column's width is taken from: a thousand take half a second


def shown(value: Any) -> str:
    """A value as a table shows it: thousands separators, four digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return plain(value, ",.4g")
    return str(value)


@dataclass(frozen=True)
class Column:
    """A column: its title, how a row's value is got (and sorted by), and how it is shown."""

    title: str
    value: Callable[[Any], Any]
    show: Callable[[Any], str] = shown
    help: str = ""
    stretch: bool = False  # takes the width that is left
    optional: bool = False  # not shown while no row has a value


class TableModel(QAbstractTableModel):
    """Rows of any kind under the columns. Sorting keeps equal rows in their order."""

    def __init__(self, columns: Sequence[Column], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.columns = list(columns)
        self._rows: list[Any] = []
        self._given: list[Any] = []
        self._order: tuple[int, Qt.SortOrder] | None = None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def row(self, index: int) -> Any:
        """The row in place `index` of the present order."""
        return self._rows[index]

    @property
    def rows(self) -> list[Any]:
        """The rows in the present order."""
        return list(self._rows)

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Shows other columns, and no rows."""
        self.beginResetModel()
        self.columns, self._given, self._rows, self._order = list(columns), [], [], None
        self.endResetModel()

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Shows other rows, in the order chosen last."""
        self.beginResetModel()
        self._given = list(rows)
        self._rows = self._sorted()
        self.endResetModel()

    def data(self, index: Index, role: int = Display) -> Any:
        if not index.isValid():
            return None
        column = self.columns[index.column()]
        value = column.value(self._rows[index.row()])
        if role == Display:
            return column.show(value)
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.show(value) or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Display) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Display:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole and self._rows:
            value = self.columns[section].value
            told = (i for i, row in enumerate(self._rows) if value(row) is not None)
            return self.data(self.index(next(told, 0), section), role)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.columns[section].help or None
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self._order = (column, order) if column >= 0 else None
        self._rows = self._sorted()
        self.layoutChanged.emit()

    def _sorted(self) -> list[Any]:
        """The rows by the chosen column; missing values last, whichever way."""
        if self._order is None:
            return list(self._given)
        column, order = self._order
        get = self.columns[column].value
        there = [row for row in self._given if get(row) is not None]
        gone = [row for row in self._given if get(row) is None]
        reverse = order == Qt.SortOrder.DescendingOrder
        return sorted(there, key=lambda row: _key(get(row)), reverse=reverse) + gone


def _key(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


def sorted_by_key(view: QTableView, event: QKeyEvent) -> bool:
    """Does what a click on a head does: Alt and an arrow to the side sorts by the next column, up
    or down in which order. Beside the last column is none: the rows as they came.
    """
    bare = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if bare != Qt.KeyboardModifier.AltModifier or not view.isSortingEnabled():
        return False
    header, key = view.horizontalHeader(), event.key()
    at, order = header.sortIndicatorSection(), header.sortIndicatorOrder()
    if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
        columns = map(header.logicalIndex, range(header.count()))  # as they stand
        stops = [-1, *(i for i in columns if not header.isSectionHidden(i))]
        step = 1 if key == Qt.Key.Key_Right else -1
        at = stops[(stops.index(at) + step) % len(stops)] if at in stops else -1
    elif key == Qt.Key.Key_Up:
        order = Qt.SortOrder.AscendingOrder
    elif key == Qt.Key.Key_Down:
        order = Qt.SortOrder.DescendingOrder
    else:
        return False
    header.setSortIndicator(at, order)
    if at >= 0:
        row = max(0, view.currentIndex().row())
        view.scrollTo(view.model().index(row, at))  # its head comes into sight
    return True


def paint_words(view: QTableView, words: str) -> None:
    """Says in a table without rows why it has none."""
    painter = QPainter(view.viewport())
    painter.setPen(view.palette().placeholderText().color())
    area = view.viewport().rect().adjusted(12, 4, -12, -4)
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    painter.drawText(area, int(flags), words)
    painter.end()


class Table(QTableView):
    """A view of a TableModel. Enter or a double click opens a row; Ctrl+C copies the chosen ones;
    Alt with an arrow sorts.

    `empty` is what stands in a table without rows. `most` rows are shown before it scrolls; 0 lets
    the layout decide. One that `fits` never scrolls sideways: what has no room is elided, texts
    before numbers, and told by tooltips. `model` is given where rows look or sort in a way of their
    own.
    """

    opened = Signal(object)  # a row
    chosen = Signal(object)  # a row, or None

    def __init__(
        self,
        name: str,
        columns: Sequence[Column],
        empty: str = "",
        most: int = 0,
        parent: QWidget | None = None,
        model: TableModel | None = None,
        fits: bool = False,
    ) -> None:
        super().__init__(parent)
        self.rows_model = model or TableModel(columns, self)
        self.empty, self._most, self._fits = empty, most, fits
        self._wanted: dict[int, int] = {}  # width of each column
        self._bare: dict[int, int] = {}  # the same without room in the head for the sort's arrow
        self.setModel(self.rows_model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setProperty("line", "single")  # room beside cells: Qt would not wrap texts by it
        self.setTabKeyNavigation(False)  # Tab leaves the table, as it leaves any other control
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        if fits:
            header.setMinimumSectionSize(ems(self, 3))  # Qt's own has room for the sort's arrow
        header.setResizeContentsPrecision(_MEASURED)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self.doubleClicked.connect(lambda index: self.opened.emit(self.rows_model.row(index.row())))
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit(self.current()))
        if most:
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._fit()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Shows other columns, unsorted, and no rows."""
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.rows_model.set_columns(columns)
        self.set_rows([])

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Shows these rows."""
        self.rows_model.set_rows(rows)
        self._fit()
        self.chosen.emit(None)

    def current(self) -> Any:
        """The first of the chosen rows, or None."""
        chosen = self.selectionModel().selectedRows()
        return self.rows_model.row(min(i.row() for i in chosen)) if chosen else None

    def copy(self) -> None:
        """Puts the chosen rows, or all, on the clipboard, with tabs between the columns."""
        model = self.rows_model
        chosen = sorted(i.row() for i in self.selectionModel().selectedRows())
        lines = ["\t".join(column.title for column in model.columns)]
        for row in [model.row(i) for i in chosen] or model.rows:
            lines.append("\t".join(c.show(c.value(row)) for c in model.columns))
        QGuiApplication.clipboard().setText("\n".join(lines))

    # --- Qt ----------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current() is not None:
            self.opened.emit(self.current())
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif not sorted_by_key(self, event):
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.empty and not self.rows_model.rowCount():
            paint_words(self, self.empty)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stretch()
        self._fit_height()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._restyled:
            self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._restyled = True  # as each widget does that it is put into: nobody looks yet
            if self.isVisible():
                self._fit()

    def _fit(self) -> None:
        """Columns as wide as their values, rows as high as the text."""
        if not hasattr(self, "_most"):  # Qt tells of the font before __init__ has run
            return
        self._restyled = False
        height = self.fontMetrics().height() + 8
        self.verticalHeader().setDefaultSectionSize(height)
        header, widest = self.horizontalHeader(), ems(self, _WIDEST)
        rows = self.rows_model.rows
        for i, column in enumerate(self.rows_model.columns):
            if column.optional:
                self.setColumnHidden(i, all(column.value(row) in (None, "") for row in rows))
            if self.isColumnHidden(i):
                continue
            values = self.sizeHintForColumn(i) + 12
            head = header.fontMetrics().horizontalAdvance(column.title) + _HEAD_PADDING
            self._wanted[i] = self._bare[i] = max(values, head)
            if not column.stretch:
                self._bare[i] = min(widest, self._bare[i])
                self._wanted[i] = min(widest, max(values, header.sectionSizeHint(i)))
                self.setColumnWidth(i, self._wanted[i])
        self._stretch()
        self._fit_height()

    def _fit_height(self) -> None:
        """As high as its rows, `most` of them, and a scroll bar where one is needed."""
        if self._most:
            header, height = self.horizontalHeader(), self.verticalHeader().defaultSectionSize()
            count = max(2, min(self._most, self.rows_model.rowCount()))
            wide = header.length() > self.viewport().width()
            bar = self.horizontalScrollBar().sizeHint().height() if wide else 0
            self.setFixedHeight(header.sizeHint().height() + count * height + bar + 4)

    def _stretch(self) -> None:
        """Shares what width is left among the columns that stretch; none gets unreadably narrow.

        Evenly, but what one does not need goes to those that need more.
        """
        columns = list(enumerate(self.rows_model.columns))
        wide = [i for i, c in columns if c.stretch and not self.isColumnHidden(i)]
        if self._fits:
            self._squeeze([i for i, _ in columns if not self.isColumnHidden(i)])
        taken = sum(self.columnWidth(i) for i, c in columns if not c.stretch)  # 0 where hidden
        self.horizontalHeader().setStretchLastSection(not wide)
        shares = shared(self.viewport().width() - taken, [self._wanted.get(i, 0) for i in wide])
        least = 0 if self._fits else ems(self, _NARROWEST)
        for i, width in zip(wide, shares, strict=True):
            self.setColumnWidth(i, max(least, width))

    def _squeeze(self, columns: Sequence[int]) -> None:
        """Has the columns that do not stretch leave room for those that do.

        They give up the room for the sort's arrow first; their values not before texts are short.
        """
        texts = [self._wanted[i] for i in columns if self.rows_model.columns[i].stretch]
        fixed = [i for i in columns if not self.rows_model.columns[i].stretch]
        room, widths = self.viewport().width(), [self._wanted[i] for i in fixed]
        if sum(widths) + sum(texts) > room:
            widths = [self._bare[i] for i in fixed]
            room -= sum(min(text, ems(self, _SHORT)) for text in texts)
            widths = widths if sum(widths) <= room else shared(room, widths)
        for i, width in zip(fixed, widths, strict=True):
            self.setColumnWidth(i, width)


def shared(width: int, wanted: Sequence[int]) -> list[int]:
    """A width for each of some columns: even shares, but nobody keeps what another lacks.

    Of 100, those who want 20 and 90 get 20 and 80; what nobody wants is spread evenly.
    """
    shares, left = [0] * len(wanted), max(0, width)
    for rank, i in enumerate(sorted(range(len(wanted)), key=lambda i: wanted[i])):
        shares[i] = min(wanted[i], left // (len(wanted) - rank))
        left -= shares[i]
    spare, rest = divmod(left, len(wanted) or 1)
    return [share + spare + (i < rest) for i, share in enumerate(shares)]
