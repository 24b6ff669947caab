"""One context: its endings by rank, and beside them notes, numbers, history, judgements, the log.

It shows a Detail and asks by signals for what a curator wants changed; it writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from operator import itemgetter

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QDropEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QScrollArea,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.numerals import plain, signed
from swag_studio.records import folded
from swag_studio.reviewing import Curated
from swag_studio.ui.features import feature
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import bare, set_role, splitter
from swag_studio.ui.review_dialogs import label
from swag_studio.ui.review_notes import NotesPanel
from swag_studio.ui.review_reading import Beside, Detail, Line, Shown
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import VERDICTS, inherited, since
from swag_studio.views import Slot

NO_CONTEXT = "No context is chosen. Choose one in the table to see its endings."
_ENDING, _SCORE = 2, 3
_APART = 6  # px between two endings


class EndingsTable(QTableWidget):
    """The distractors by rank, to be dragged or moved by keys. Rows are as high as their text."""

    ranked = Signal(list)  # places, the most plausible wrong ending first

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, 5, parent)
        self.setHorizontalHeaderLabels(["Rank", "No.", "Wrong ending", "Score", "Came in"])
        self.setAccessibleName("Wrong endings by rank")
        self.setToolTip("Drag a row, or press Alt+Up and Alt+Down, to rank the endings")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDragDropOverwriteMode(False)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_ENDING, QHeaderView.ResizeMode.Stretch)
        self._fitting = QTimer(self)  # a scroll bar that comes or goes is laid out after this
        self._fitting.setSingleShot(True)
        self._fitting.timeout.connect(self._fit_rows)
        header.sectionResized.connect(lambda *_: self._fitting.start())
        self._places: list[int] = []
        self._rows: list[tuple[Shown, str]] = []

    def show_endings(self, rows: Sequence[tuple[Shown, str]]) -> None:
        """(ending, when it came in), by rank; the chosen ending stays so."""
        kept, self._rows = self.place, list(rows)
        self._places = [shown.place for shown, _ in rows]
        self.setRowCount(len(rows))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
        for i, (shown, came) in enumerate(rows):
            score = "–" if shown.score is None else signed(shown.score)
            number = f"{shown.place + 1}"
            for column, text in enumerate((f"{i + 1}", number, shown.ending.text, score, came)):
                item = QTableWidgetItem(text)
                item.setTextAlignment(
                    right if column in (0, 1, _SCORE) else Qt.AlignmentFlag.AlignTop
                )
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsDropEnabled)
                if column == _ENDING and shown.parent:
                    item.setToolTip(f"Edited from: {shown.parent}")
                self.setItem(i, column, item)
        self._fit_rows()
        if rows:
            self.selectRow(self._places.index(kept) if kept in self._places else 0)

    def _fit_rows(self) -> None:
        """As high as the ending's cell: by itself Qt would have the other columns wrap too."""
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        option.rect = QRect(0, 0, self.columnWidth(_ENDING), 1 << 20)  # type: ignore[attr-defined]
        for i in range(self.rowCount()):
            index = self.model().index(i, _ENDING)
            self.setRowHeight(i, self.itemDelegate().sizeHint(option, index).height() + _APART)

    @property
    def place(self) -> int | None:
        """The place of the chosen ending."""
        row = self.currentRow()
        return self._places[row] if 0 <= row < len(self._places) else None

    def move(self, by: int) -> None:  # type: ignore[override]
        """Moves the chosen ending up (-1) or down (1)."""
        self._move_to(self.currentRow(), self.currentRow() + by)

    def _move_to(self, row: int, to: int) -> None:
        if 0 <= row < len(self._places) and 0 <= to < len(self._places) and row != to:
            rows = [*self._rows]
            rows.insert(to, rows.pop(row))
            self.show_endings(rows)  # at once: the next key moves on from here
            self.ranked.emit(self._places)

    def dropEvent(self, event: QDropEvent) -> None:
        """A row was let go over another: it takes that place. Qt itself moves nothing."""
        over = self.rowAt(event.position().toPoint().y())
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        self._move_to(self.currentRow(), over if over >= 0 else len(self._places) - 1)


class DetailPanel(QWidget):
    """A context in full."""

    edit_asked = Signal(int)  # place
    replace_asked = Signal(int)
    restore_asked = Signal(int, str)  # place, id of the ending

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.detail: Detail | None = None
        self.beside = Beside()
        self.sentence, self.opening, self.found = label(), label(role="strong"), label(role="good")
        self.verdict = label(role="muted")
        self.endings = EndingsTable()
        self.endings.setMinimumHeight(7 * self.fontMetrics().lineSpacing())
        self.notes = NotesPanel()
        self.numbers = Table("Numbers of the endings", [], "The candidates are not there.")
        self.history = Table("History of the endings", _HISTORY, "The run's files are not there.")
        self.judged = Table("Judgements", _JUDGED, "Nobody has judged this context yet.")
        self.log = Table("Changes of this context", _LOG, "Nobody has changed this context yet.")
        self._build()
        self.show_words(NO_CONTEXT)

    def _build(self) -> None:
        self.up, self.down = QPushButton("▲ Up"), QPushButton("▼ Down")
        self.edit, self.replace = QPushButton("Edit …"), QPushButton("Replace …")
        self.restore = QPushButton("Restore")
        buttons = FlowLayout(spacing=6)
        for button, key, slot in (
            (self.up, "Alt+Up", partial(self.endings.move, -1)),
            (self.down, "Alt+Down", partial(self.endings.move, 1)),
            (self.edit, "F2", self._ask_edit),
            (self.replace, "R", self._ask_replace),
        ):
            button.setToolTip(f"{key} in the list above")
            button.clicked.connect(lambda _=False, slot=slot: slot())
            self._key(key, slot)
            buttons.addWidget(button)
        self._key("Return", self._ask_edit)
        self.endings.doubleClicked.connect(lambda _: self._ask_edit())
        self.restore.setToolTip("Puts back the ending that stood there before the chosen change")
        self.restore.clicked.connect(self._ask_restore)
        self.log.opened.connect(lambda _: self._ask_restore())
        self.log.chosen.connect(lambda line: self.restore.setEnabled(_restorable(line)))
        self.restore.setEnabled(False)
        log = QWidget()
        column = QVBoxLayout(log)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.log, 1)
        column.addWidget(self.restore, 0, Qt.AlignmentFlag.AlignRight)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("About the chosen context")
        self.tabs.setUsesScrollButtons(True)
        for widget, title in (
            (_scrolling(self.notes), "Notes"),
            (self.numbers, "Numbers"),
            (self.history, "History"),
            (self.judged, "Judgements"),
            (log, "Log"),
        ):
            self.tabs.addTab(widget, title)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for text in (self.sentence, self.opening, self.found, self.verdict):
            layout.addWidget(text)
        above = QWidget()
        ranking = QVBoxLayout(above)
        ranking.setContentsMargins(0, 0, 0, 4)
        ranking.setSpacing(4)
        ranking.addWidget(self.endings, 1)
        ranking.addLayout(buttons)
        parts = splitter(Qt.Orientation.Vertical)
        parts.addWidget(above)
        parts.addWidget(self.tabs)
        parts.setStretchFactor(0, 3)
        parts.setStretchFactor(1, 2)
        parts.setSizes([300, 200])
        layout.addWidget(parts, 1)

    def _key(self, key: str, slot) -> None:  # type: ignore[no-untyped-def]
        """A key of the list of endings alone: none acts while a text has the focus."""
        shortcut = QShortcut(QKeySequence(key), self.endings, slot)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)

    # --- asked by the page ---------------------------------------------------------------

    def show_words(self, text: str) -> None:
        """No context, and why."""
        self.notes.keep()
        self.detail, self.beside = None, Beside()
        self._enable(False)
        self.sentence.setText(text)
        set_role(self.sentence, "muted")
        for widget in (self.opening, self.found, self.verdict):
            widget.setText("")
        self.endings.show_endings([])
        for table in (self.numbers, self.history, self.judged, self.log):
            table.set_rows([])
        self.notes.show_state(Curated(()))

    def show_detail(self, detail: Detail, draft: str = "") -> None:
        """A context; `draft` is a comment that was typed and not kept."""
        same = self.detail is not None and self.detail.row.context_id == detail.row.context_id
        self.detail = detail
        if not same:
            self.beside = Beside()
        row = detail.row
        self._enable(True)
        set_role(self.sentence, "")
        self.sentence.setText(row.sent1)
        self.opening.setText(f"{row.sent2} …")
        self.found.setText(f"✓ found: {row.found}  ({signed(row.found_score)})")
        says = VERDICTS.get(row.verdict, (row.verdict, ""))[1]
        self.verdict.setText(f"Verdict: {says}  ·  Margin {signed(row.margin)}")
        self.notes.show_state(detail.state, draft, same=same)
        self.judged.set_rows(detail.judged)
        self.log.set_rows(detail.log)
        self._title(3, "Judgements", len(detail.judged))
        self._title(4, "Log", len(detail.log))
        self._show_endings()

    def show_beside(self, beside: Beside) -> None:
        """What the pool and the run's files say of the context that is shown."""
        self.beside = beside
        self._show_endings()

    # --- within --------------------------------------------------------------------------

    def _show_endings(self) -> None:
        detail, beside = self.detail, self.beside
        if detail is None:
            return
        self.endings.show_endings([(e, self._came(e)) for e in detail.ranked])
        columns = [
            Column("Ending", lambda e: e.name),
            Column("Score", lambda e: e.score, _number, "Logits of the cross-fitted ensemble"),
        ]
        for i, name in enumerate(beside.names):
            if not (known := feature(name)).shared:
                help = f"{known.name}. {known.definition}"
                columns.append(Column(known.title, partial(_feature, beside, i), _number, help))
        columns.append(Column("Text", lambda e: e.ending.text, stretch=True))
        self.numbers.set_columns(columns)
        self.numbers.set_rows([detail.found, *detail.endings])
        self.numbers.setToolTip(beside.trouble or "– where the pool does not have the text")
        self.history.empty = beside.trouble or "The run's files are not there."
        self.history.set_rows(
            [(e, slot) for e in detail.endings if (slot := beside.slots.get(e.place))]
        )

    def _came(self, shown: Shown) -> str:
        if shown.ending.kind == "edited":
            return "✎ edited"
        if shown.score is None:
            return "⇄ replaced"
        slot = self.beside.slots.get(shown.place)
        return _came_in(slot) if slot else ""

    def _title(self, tab: int, title: str, rows: int) -> None:
        self.tabs.setTabText(tab, f"{title} ({rows})" if rows else title)

    def _enable(self, on: bool) -> None:
        for widget in (self.up, self.down, self.edit, self.replace, self.notes, self.endings):
            widget.setEnabled(on)

    def _ask_edit(self) -> None:
        if self.endings.place is not None:
            self.edit_asked.emit(self.endings.place)

    def _ask_replace(self) -> None:
        if self.endings.place is not None:
            self.replace_asked.emit(self.endings.place)

    def _ask_restore(self) -> None:
        line = self.log.current()
        if _restorable(line):
            self.restore_asked.emit(line.place, line.ending)


def _scrolling(content: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    bare(area, content)
    return area


def _restorable(line: Line | None) -> bool:
    return line is not None and line.place >= 0


def _number(value: float | None) -> str:
    return "–" if value is None else plain(value, ",.2f")


def _feature(beside: Beside, i: int, shown: Shown) -> float | None:
    values = beside.features.get(folded(shown.ending.text))
    return values[i] if values else None


def _came_in(slot: Slot) -> str:
    return inherited(slot.origin) if slot.origin else since(slot.since)


def _when(pair: tuple[Shown, Slot]) -> tuple[float, int, str]:
    """Run and iteration, to sort by, and the words."""
    slot = pair[1]
    if slot.origin is None:
        return inf, slot.since, _came_in(slot)
    return slot.origin.run, slot.origin.since or 0, _came_in(slot)


def _moment(text: str) -> str:
    """ISO 8601 to the minute, as it is kept: UTC."""
    return text[:16].replace("T", " ")


_HISTORY = (
    Column("Ending", lambda pair: pair[0].name),
    Column("Came in", _when, itemgetter(-1), "In which iteration of the filter, and of which run"),
    Column("As the filter left it", lambda pair: pair[1].text, stretch=True),
    Column("What it displaced", lambda pair: pair[1].displaced, stretch=True),
)
_JUDGED = (
    Column("Annotator", lambda j: j.annotator),
    Column("Round", lambda j: j.round + 1),
    Column("Ending", lambda j: j.ending),
    Column("Label", lambda j: j.label),
    Column("Choice", lambda j: j.choice),
    Column("Text", lambda j: j.text, stretch=True),
)
_LOG = (
    Column("When", lambda line: line.at, _moment, "UTC"),
    Column("Who", lambda line: line.who),
    Column("What", lambda line: line.what),
    Column("Before", lambda line: line.before, stretch=True),
    Column("After", lambda line: line.after, stretch=True),
)
