"""The contexts of a pool, to search and to walk through, and the endings of the chosen one.

Both show rows that were read elsewhere. They know neither where a pool lies nor when it is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.numerals import plain
from swag_studio.ui.background import Background
from swag_studio.ui.features import Feature, feature
from swag_studio.ui.page import prose, set_role
from swag_studio.ui.tables import Column, Display, Index, Table, TableModel, shown
from swag_studio.ui.words import count
from swag_studio.views import ContextRow, PoolEnding

FOUND, CANDIDATE = "★ found", "candidate"
NEVER = {  # why an ending is never assigned: code -> words
    "cut_off": "… cut off",
    "repeat": "= repeated",
    "short": "– too short",
    "opening": "– odd opening",
    "doubled": "– word twice",
    "unpaired": "– unpaired mark",
}
_KINDS = (
    "Never assigned: what was cut off, repeats another ending, is shorter than found endings may "
    "be, opens with a word with which no found ending does (it goes on with the noun phrase), or "
    "has a word twice in a row, a quote or bracket without its partner, as no found ending has"
)
_WALKING = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}

CONTEXT_COLUMNS = (
    Column("First sentence", lambda row: row.sent1, stretch=True),
    Column("Second sentence begins", lambda row: row.sent2),
    Column(
        "Candidates",
        lambda row: row.candidates,
        lambda n: f"{n:,}" if n else "left out",
        help="A context with too few different candidates is left out",
    ),
)


def kind(ending: PoolEnding) -> str:
    """What an ending is, by a word and a mark."""
    if ending.found:
        return FOUND
    return NEVER[ending.barred] if ending.barred else CANDIDATE


class ContextIndex:
    """Contexts that can be searched and sorted. Made, and asked, in the reading thread."""

    def __init__(self, rows: Sequence[ContextRow]) -> None:
        self.rows = list(rows)
        self._texts = [f"{row.sent1} {row.sent2}".casefold() for row in rows]

    def arranged(
        self, text: str, order: tuple[int, Qt.SortOrder] | None = None
    ) -> list[ContextRow]:
        """The contexts that hold every word of `text`, by a column of theirs or by place."""
        places: Sequence[int] = range(len(self.rows))
        for word in text.casefold().split():
            places = [i for i in places if word in self._texts[i]]
        found = [self.rows[i] for i in places]
        if order is not None:
            value, down = CONTEXT_COLUMNS[order[0]].value, Qt.SortOrder.DescendingOrder
            found.sort(key=value, reverse=order[1] == down)
        return found


class _ContextModel(TableModel):
    """Rows that come in their order: to sort 100,000 of them is the reading thread's work."""

    order_chosen = Signal()

    @property
    def order(self) -> tuple[int, Qt.SortOrder] | None:
        """(column, direction) that was chosen last."""
        return self._order

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._order = (column, order) if column >= 0 else None
        self.order_chosen.emit()

    def _sorted(self) -> list[Any]:
        return self._given


class ContextList(QWidget):
    """All contexts under a search field. Up and Down walk them, from the field as well."""

    chosen = Signal(object)  # ContextRow, or None

    def __init__(self, reader: Background, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reader, self._index = reader, ContextIndex([])
        self._listed = self._index  # whose rows are in the table
        self._current: ContextRow | None = None
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search the contexts for words")
        self.search.setAccessibleName("Search the contexts for words")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._arrange)
        self.search.installEventFilter(self)
        self.counts = QLabel("")
        set_role(self.counts, "muted")
        self.model = _ContextModel(CONTEXT_COLUMNS)
        self.table = Table("Contexts", CONTEXT_COLUMNS, "No context holds these words.",
                           model=self.model)  # fmt: skip
        self.model.setParent(self.table)
        self.model.order_chosen.connect(self._arrange)
        self.table.chosen.connect(self._row_chosen)
        top = QHBoxLayout()
        top.addWidget(self.search, 1)
        top.addWidget(self.counts)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(top)
        layout.addWidget(self.table, 1)

    @property
    def current(self) -> ContextRow | None:
        """The chosen context."""
        return self._current

    def show_contexts(self, index: ContextIndex) -> None:
        """Shows other contexts, under the same search."""
        self._index = index
        self._arrange()

    def _arrange(self) -> None:
        index, text, order = self._index, self.search.text(), self.model.order
        self._reader.ask(
            "candidates.contexts",
            lambda: index.arranged(text, order),
            partial(self._show, index),
        )

    def _show(self, index: ContextIndex, rows: list[ContextRow]) -> None:
        if index is not self._index:  # of a pool that is no longer shown
            return
        self._listed = index
        total = count(len(index.rows), "context")
        self.counts.setText(total if len(rows) == len(index.rows) else f"{len(rows):,} of {total}")
        before = self._current.id if self._current else ""
        blocked = self.table.blockSignals(True)
        self.table.set_rows(rows)
        if rows:
            place = next((i for i, row in enumerate(rows) if row.id == before), 0)
            self.table.selectRow(place)
            self.table.scrollTo(self.model.index(place, 0))
        self.table.blockSignals(blocked)
        self._row_chosen(rows[place] if rows else None)

    def _row_chosen(self, row: ContextRow | None) -> None:
        if row is not self._current:
            self._current = row
            if self._listed is self._index:  # else it is read where the other pool has it
                self.chosen.emit(row)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() in _WALKING:
                return QApplication.sendEvent(self.table, event)
        return super().eventFilter(watched, event)


class _EndingModel(TableModel):
    """The found ending's row is bold, wherever it is sorted to."""

    def data(self, index: Index, role: int = Display) -> Any:
        if role == Qt.ItemDataRole.FontRole and index.isValid() and self.row(index.row()).found:
            font = QFont()
            font.setBold(True)
            return font
        return super().data(index, role)


def ending_columns(features: Sequence[Feature]) -> list[Column]:
    """What an ending is, its text, and those of its numbers that its neighbours do not share."""
    columns = [
        Column("Kind", kind, help=_KINDS),
        Column("Ending", lambda ending: ending.text, stretch=True),
    ]
    for i, f in enumerate(features):
        if not f.shared:
            columns.append(_number_column(i, f))
    return columns


def _number_column(i: int, f: Feature) -> Column:
    def show(value: float) -> str:
        return plain(value, ",.0f" if f.unit == "tokens" else ",.2f")

    return Column(f.title, lambda e: e.features[i], show, help=f"{f.name}. {f.definition}")


class EndingsPanel(QWidget):
    """A context in full, and all endings of its pool under it, the found one first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._features: list[Feature] = []
        self.context = prose("heading")
        self.context.setAccessibleName("The chosen context")
        self.numbers = prose("muted")
        model = _EndingModel([])
        self.table = Table("Endings of the context", [], model=model)
        model.setParent(self.table)
        self.table.horizontalHeader().sortIndicatorChanged.connect(lambda *_: self._tell())
        self.place = prose("muted")
        self.to_found = QPushButton("Show the found ending")
        self.to_found.clicked.connect(self.show_found)
        below = QHBoxLayout()
        below.addWidget(self.place, 1)
        below.addWidget(self.to_found)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget in (self.context, self.numbers, self.table):
            layout.addWidget(widget, 1 if widget is self.table else 0)
        layout.addLayout(below)
        self.show_words("No context is chosen.")

    def set_features(self, names: Sequence[str]) -> None:
        """The pool's features, in its order."""
        features = [feature(name) for name in names]
        if features != self._features:
            self._features = features
            self.table.set_columns(ending_columns(features))

    def show_endings(self, row: ContextRow, endings: Sequence[PoolEnding]) -> None:
        """Shows the endings of a context; none where it was left out."""
        self.context.setText(f"{row.sent1}  {row.sent2} …")
        left_out = "Left out: too few different candidates could be drawn."
        self.numbers.setText(self._shared(endings[0]) if endings else left_out)
        set_role(self.numbers, "muted")
        self.table.set_rows(endings)
        self.table.scrollToTop()
        self._tell()

    @property
    def empty(self) -> bool:
        """Whether no endings are shown."""
        return not self.table.rows_model.rowCount()

    def show_words(self, text: str, role: str = "muted") -> None:
        """Says why there are no endings to show."""
        self.context.setText("")
        self.numbers.setText(text)
        set_role(self.numbers, role)
        self.table.set_rows([])
        self._tell()

    def show_found(self) -> None:
        """Scrolls to the found ending, and chooses it."""
        place = self._found()
        if place is not None:
            self.table.selectRow(place)
            self.table.scrollTo(self.table.rows_model.index(place, 0))

    def _found(self) -> int | None:
        rows: list[PoolEnding] = self.table.rows_model.rows
        return next((i for i, ending in enumerate(rows) if ending.found), None)

    def _shared(self, ending: PoolEnding) -> str:
        pairs = zip(self._features, ending.features, strict=True)
        parts = [f"{f.name}: {shown(round(value, 2))} {f.unit}" for f, value in pairs if f.shared]
        return "  ·  ".join(parts)

    def _tell(self) -> None:
        """Says where the found ending stands."""
        model, place = self.table.rows_model, self._found()
        self.to_found.setVisible(place is not None)
        if place is None:
            self.place.setText("")
            return
        kinds = Counter(map(kind, model.rows))
        counts = (
            f"{count(model.rowCount() - 1, 'candidate')}, "
            f"{sum(kinds[words] for words in NEVER.values()):,} of them never assigned."
        )
        column = self.table.horizontalHeader().sortIndicatorSection()
        if 0 <= column < model.columnCount():
            title = model.columns[column].title
            where = f"By “{title}” the found ending is number {place + 1:,} of {model.rowCount():,}"
            self.place.setText(f"{where}; {counts}")
        else:
            self.place.setText(f"The found ending and {counts} Click a head to sort.")
