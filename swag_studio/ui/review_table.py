"""The curators' table: ids in an order, and the rows of those ids that are on the screen.

Of 113,000 contexts it holds the ids and some hundred rows. Sorting and reading are asked for by
signals; it knows neither the store nor what narrows it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QItemSelectionModel, QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QGuiApplication, QKeyEvent, QKeySequence, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from swag_studio.numerals import signed
from swag_studio.reviewing import ReviewRow
from swag_studio.ui.tables import Display, Index, paint_words, sorted_by_key
from swag_studio.ui.theme import ems
from swag_studio.ui.words import since, verdict

KEPT = 600  # rows in memory
AROUND = 40  # rows that are read before and after those on the screen
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class ReviewColumn:
    """A column: the field that it sorts by, its head, how a row shows it, its width in letters."""

    field: str
    title: str
    show: Callable[[ReviewRow], str]
    width: float
    help: str = ""
    number: bool = False


def _yes(value: bool, words: str) -> str:
    return words if value else ""


COLUMNS = (
    ReviewColumn("sent1", "First sentence", lambda r: r.sent1, 34),
    ReviewColumn("sent2", "Second begins", lambda r: f"{r.sent2} …", 12),
    ReviewColumn("found", "Found ending", lambda r: r.found, 26),
    ReviewColumn(
        "verdict", "Verdict", lambda r: verdict(r.verdict), 13, "What people's answers say"
    ),
    ReviewColumn(
        "margin",
        "Margin",
        lambda r: signed(r.margin),
        8,
        "The ensemble's score of the found ending, less that of the strongest wrong one, in "
        "logits: below 0 the ensemble is fooled",
        True,
    ),
    ReviewColumn("flags", "Flags", lambda r: r.flags.replace(",", ", "), 13),
    ReviewColumn("excluded", "Excluded", lambda r: _yes(r.excluded, "✗ excluded"), 11),
    ReviewColumn("edited", "Edited", lambda r: _yes(r.edited, "✎ edited"), 10),
    ReviewColumn("split", "Split", lambda r: r.split, 7),
    ReviewColumn("fold", "Fold", lambda r: f"{r.fold}", 6, "", True),
    ReviewColumn("status", "Judging", lambda r: r.status, 11),
    ReviewColumn("judged", "Answers", lambda r: f"{r.judged:,}", 9, "Answers of annotators", True),
    ReviewColumn("round", "Round", lambda r: f"{r.round + 1}", 7, "Round of judging", True),
    ReviewColumn(
        "newest", "Changed", lambda r: since(r.newest), 13, "When its newest distractor came in"
    ),
    ReviewColumn(
        "found_score",
        "Score",
        lambda r: signed(r.found_score),
        8,
        "The cross-fitted ensemble's score of the found ending, in logits",
        True,
    ),
    ReviewColumn("video_id", "Video", lambda r: r.video_id, 16),
    ReviewColumn("source", "Source", lambda r: r.source, 18),
)
_SOURCE = len(COLUMNS) - 1


class ReviewModel(QAbstractTableModel):
    """Ids in order; a row that is not in memory is shown as dots, and `missing` is told."""

    missing = Signal()
    order_chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ids: Ids = np.zeros(0, np.int64)
        self.sources: Mapping[str, str] = {}  # id -> file name
        self.sort_field, self.descending = "context_id", False
        self._rows: OrderedDict[int, ReviewRow] = OrderedDict()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.ids)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def row(self, place: int) -> ReviewRow | None:
        """The row at a place, if it is in memory."""
        return self._rows.get(int(self.ids[place])) if 0 <= place < len(self.ids) else None

    def place_of(self, id: int) -> int | None:
        """Where a row stands in the present order."""
        places = np.flatnonzero(self.ids == id)
        return int(places[0]) if len(places) else None

    def show_ids(self, ids: Ids, rows: Iterable[ReviewRow]) -> None:
        """Other ids, with those rows of them that are read already; what was read before goes."""
        self.beginResetModel()
        self.ids = ids
        self._rows.clear()
        self._keep(rows)
        self.endResetModel()

    def put_again(self, rows: Iterable[ReviewRow]) -> None:
        """Rows of the same ids, read anew; those that are not among them will be as well."""
        self._rows.clear()
        self._keep(rows)
        if len(self.ids):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.ids) - 1, len(COLUMNS) - 1))

    def put_rows(self, rows: Iterable[ReviewRow], first: int, last: int) -> None:
        """Rows that were missing, of the places from `first` to before `last`."""
        self._keep(rows)
        if first < min(last, len(self.ids)):
            bottom = min(last, len(self.ids)) - 1
            self.dataChanged.emit(self.index(first, 0), self.index(bottom, len(COLUMNS) - 1))

    def lacking(self, first: int, last: int) -> list[int]:
        """The ids of those places whose rows are not in memory."""
        ids: list[int] = self.ids[max(0, first) : last].tolist()
        return [id for id in ids if id not in self._rows]

    def _keep(self, rows: Iterable[ReviewRow]) -> None:
        for row in rows:
            self._rows[row.id] = row
            self._rows.move_to_end(row.id)
        while len(self._rows) > KEPT:
            self._rows.popitem(last=False)

    # --- Qt ------------------------------------------------------------------------------

    def data(self, index: Index, role: int = Display) -> Any:
        if not index.isValid():
            return None
        column = COLUMNS[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role not in (Display, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.FontRole):
            return None
        row = self.row(index.row())
        if row is None:
            if role == Display:
                self.missing.emit()
                return "…" if index.column() == 0 else None
            return None
        if role == Qt.ItemDataRole.FontRole:
            font = QFont()
            font.setStrikeOut(row.excluded and index.column() < 3)
            return font if row.excluded else None
        text = column.show(row)
        shown = self.sources.get(text, text) if index.column() == _SOURCE else text
        return shown if role == Display else shown or None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Display) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Display:
            return COLUMNS[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(COLUMNS[section])
        return COLUMNS[section].help or None if role == Qt.ItemDataRole.ToolTipRole else None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        field = COLUMNS[column].field if column >= 0 else "context_id"
        descending = column >= 0 and order == Qt.SortOrder.DescendingOrder
        if (field, descending) != (self.sort_field, self.descending):
            self.sort_field, self.descending = field, descending
            self.order_chosen.emit()


def _alignment(column: ReviewColumn) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class ReviewTable(QTableView):
    """A view of a ReviewModel. Ctrl+A chooses all that is shown; Ctrl+C copies what is chosen."""

    wanted = Signal(int, int)  # places from, to: they are on the screen and not in memory
    walked = Signal(int)  # the place that is looked at; -1: none
    chosen = Signal(int)  # how many rows are

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty = ""
        self.rows_model = ReviewModel(self)
        self.setModel(self.rows_model)
        self.setAccessibleName("Contexts")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        # A head asks of every row whether its column is chosen: 20 s for 113,000 chosen rows.
        header.setSelectionModel(QItemSelectionModel(self.rows_model, self))
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._want)
        self.rows_model.missing.connect(self._soon.start)
        self.selectionModel().currentRowChanged.connect(lambda new, _: self.walked.emit(new.row()))
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit(self._count()))
        self._fit()

    def visible(self) -> tuple[int, int]:
        """The places on the screen, and some around them: from, to."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        total = self.rows_model.rowCount()
        bottom = total if last < 0 else last + 1
        return max(0, max(0, first) - AROUND), min(total, min(bottom, first + 200) + AROUND)

    def _want(self) -> None:
        self.wanted.emit(*self.visible())

    def show_ids(self, ids: Ids, rows: Iterable[ReviewRow], looked_at: int, place: int) -> None:
        """Other ids. The row `looked_at` stays so where it is among them, else that at `place`."""
        model, across = self.rows_model, self.horizontalScrollBar().value()
        if np.array_equal(ids, model.ids) and self.currentIndex().isValid():
            model.put_again(rows)  # what is chosen, and where it scrolled to, stays so
            if model.place_of(looked_at) == self.currentIndex().row():
                self.walked.emit(self.currentIndex().row())
                return
        silent = self.selectionModel().blockSignals(True)
        model.show_ids(ids, rows)
        self.selectionModel().blockSignals(silent)
        kept = model.place_of(looked_at)
        at = kept if kept is not None else min(max(0, place), len(ids) - 1)
        if at >= 0:
            self.go(at)
            self.horizontalScrollBar().setValue(across)
        else:
            self.walked.emit(-1)
        self.chosen.emit(self._count())
        self.viewport().update()

    def go(self, place: int) -> None:
        """Looks at a place."""
        index = self.rows_model.index(place, 0)
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)

    def chosen_ids(self) -> Ids:
        """The ids of the chosen rows, in the order that is shown."""
        ids = self.rows_model.ids
        chosen = np.zeros(len(ids), np.bool_)
        selection = self.selectionModel().selection()
        for part in (selection.at(i) for i in range(selection.count())):
            chosen[part.top() : part.bottom() + 1] = True
        return ids[chosen]

    def _count(self) -> int:
        return len(self.chosen_ids())

    def copy(self) -> None:
        """Puts those chosen rows that are in memory on the clipboard."""
        model = self.rows_model
        lines = ["\t".join(column.title for column in COLUMNS)]
        for id in self.chosen_ids()[:KEPT].tolist():
            place = model.place_of(id)
            if place is not None and model.row(place) is not None:
                cells = (model.data(model.index(place, i)) or "" for i in range(len(COLUMNS)))
                lines.append("\t".join(cells))
        QGuiApplication.clipboard().setText("\n".join(lines))

    # --- Qt ------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif sorted_by_key(self, event):
            pass
        elif event.text().strip() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # a letter would search the first column, through rows not in memory
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.empty and not self.rows_model.rowCount():
            paint_words(self, self.empty)

    def changeEvent(self, event: Any) -> None:
        super().changeEvent(event)
        if event.type() in (event.Type.FontChange, event.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        if not hasattr(self, "_soon"):  # Qt tells of the font before __init__ has run
            return
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        self.setMinimumHeight(5 * (self.fontMetrics().height() + 8))
        for i, column in enumerate(COLUMNS):
            least = self.horizontalHeader().sectionSizeHint(i) + 8
            self.setColumnWidth(i, max(least, ems(self, column.width)))
