"""Sample watch: how the distractors of chosen contexts change from iteration to iteration.

A part of the Filtering page. It asks for assignments in the reading thread, and only while someone
looks; it knows nothing of how they were chosen.
"""

from __future__ import annotations

import random

from PySide6.QtCore import QItemSelectionModel, QSize, Qt
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.events import Metric
from swag_studio.ui.iteration_bar import IterationBar
from swag_studio.ui.page import bare, card, set_role, splitter
from swag_studio.ui.slots_view import CHANGED, SlotsView
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import ems
from swag_studio.ui.watch_history import AT_FIRST, Change, History, Reading, read
from swag_studio.ui.words import count
from swag_studio.ui.workspace import Workspace
from swag_studio.views import ContextRow

NO_RUN = (
    "The filter has not run yet.\n\nHere you will watch single contexts: their distractors after "
    "each iteration, what was replaced, and by what. Run the filter to fill it."
)
NOTHING_DRAWN = (
    "This run has no distractors yet. They appear here as soon as it has drawn the first ones."
)
READING = "Reading what the run replaced …"


class WatchPanel(QWidget):
    """Shows one version of the filter. What is watched stays so until the window closes."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self._version: int | None = None
        self._reading: Reading | None = None
        self._stale = True  # something may be new since it was read
        self._watched: list[str] | None = None  # ids in the order of choice; None: not chosen yet
        self._wanted = ""  # the id to select once it can be
        self._shown: History | None = None  # whose changes the table holds
        self._random = random.Random(0)
        self._build()
        workspace.bridge.metrics.connect(self._metrics)
        self._tell(NO_RUN)

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        self.words = QLabel("")
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.again = QPushButton("Try again")
        self.again.clicked.connect(self._ask)
        empty = QWidget()
        column = QVBoxLayout(empty)
        column.addStretch(1)
        column.addWidget(self.words)
        column.addWidget(self.again, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        self.parts = splitter(Qt.Orientation.Horizontal)
        self.parts.addWidget(self._build_choice())
        self.parts.addWidget(self._build_view())
        self.parts.setStretchFactor(0, 2)
        self.parts.setStretchFactor(1, 3)
        self.stack = QStackedWidget()
        self.stack.addWidget(empty)
        self.stack.addWidget(self.parts)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addWidget(self.stack)

    def _build_choice(self) -> QWidget:
        self.watched = Table(
            "Watched contexts",
            [
                Column("Now", self._now, help="Replaced in the shown iteration"),
                Column("Watched context", _words_of, stretch=True),
                Column("All", self._all, help="Replaced in all iterations so far"),
            ],
            "Choose a context below, or add a random one.",
            most=6,
        )
        self.watched.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.watched.setSortingEnabled(False)
        self.watched.chosen.connect(self._show)
        add = QPushButton("Add random")
        add.setToolTip("Watch one more context, drawn with a seed: the same ones every time")
        add.clicked.connect(self.add_random)
        self.remove = QPushButton("Remove")
        self.remove.setToolTip("Watch the chosen context no longer (Delete)")
        self.remove.clicked.connect(self._remove)
        delete = QShortcut(QKeySequence.StandardKey.Delete, self.watched, self._remove)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a context by its words")
        self.search.setAccessibleName("Find a context by its words")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._search)
        self.found = QLabel("")
        self.found.setProperty("role", "muted")
        self.found.setWordWrap(True)
        self.hits = Table(
            "All contexts of the run",
            [Column("Context of the run", _words_of, stretch=True)],
            "No context holds these words.",
        )
        self.hits.setMinimumHeight(5 * self.fontMetrics().lineSpacing())
        self.hits.setToolTip("Enter or a double click watches a context")
        self.hits.opened.connect(lambda row: self.show_context(row.id))
        self.watch = QPushButton("Watch")
        self.watch.setToolTip("Watch the chosen context too")
        self.watch.setEnabled(False)
        self.watch.clicked.connect(lambda: self.show_context(self.hits.current().id))
        self.hits.chosen.connect(lambda row: self.watch.setEnabled(row is not None))
        self.search.returnPressed.connect(self._watch_hit)
        self.found.setMinimumWidth(1)
        choose, below = _row(add, self.remove), _row(self.found, self.watch)
        return card(self.watched, choose, self.search, self.hits, below)

    def _build_view(self) -> QWidget:
        self.bar = IterationBar()
        self.bar.moved.connect(self._show_iteration)
        self.told = QLabel("")
        self.told.setTextFormat(Qt.TextFormat.PlainText)
        self.told.setWordWrap(True)
        self.slots_view = SlotsView()
        area = self.area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # keys scroll it
        area.setAccessibleName("The context and its distractors")
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        bare(area, self.slots_view)
        area.setMinimumHeight(6 * self.fontMetrics().lineSpacing())
        self.changes = Table(
            "Every replacement in this context",
            [
                Column("Iteration", lambda change: change[0] + 1),
                Column("Place", lambda change: change[1]),
                Column("Out", lambda change: change[2], stretch=True),
                Column("In", lambda change: change[3], stretch=True),
            ],
            "Nothing has been replaced in this context yet.",
        )
        self.changes.setToolTip("Enter or a double click shows that iteration")
        self.changes.setMinimumHeight(4 * self.fontMetrics().lineSpacing())
        self.changes.opened.connect(self._go_to)
        both = splitter(Qt.Orientation.Vertical)
        both.addWidget(card(self.bar, self.told, self.slots_view.head, area))
        both.addWidget(self.changes)
        both.setStretchFactor(0, 3)
        both.setStretchFactor(1, 1)
        return both

    def sizeHint(self) -> QSize:
        return QSize(ems(self, 120), 30 * self.fontMetrics().lineSpacing())

    # --- asked by the page ---------------------------------------------------------------

    def refresh(self, tables: frozenset[str]) -> None:
        """Rows of these tables changed; empty when everything may have."""
        if not tables or tables & {"assignments", "endings", "artifacts"}:
            self._ask()

    def show_version(self, version: int | None) -> None:
        """Shows a version of the filter; None when there is none."""
        if version == self._version:
            return
        self._version, self._reading = version, None
        self._random = random.Random(version)
        self.bar.latest.setChecked(True)
        self._tell(NO_RUN if version is None else READING)
        self._ask()

    def show_context(self, context_id: str) -> None:
        """Watches a context and shows it, now or as soon as the run is read."""
        self._wanted = context_id
        if self._watched is not None and context_id not in self._watched:
            self._watched.append(context_id)
        self._ask()

    def add_random(self) -> None:
        """Watches one more context; the same ones in the same order for the same version."""
        if self._reading is not None:
            rows = self._reading.contexts.rows
            rest = [row.id for row in rows if row.id not in (self._watched or ())]
            if rest:
                self.show_context(self._random.choice(rest))

    # --- reading -------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._ask()

    def _metrics(self, metrics: list[Metric]) -> None:
        if any(metric.stage == "filter" for metric in metrics):
            self._ask()

    def _ask(self) -> None:
        """Has what is new read, if someone looks; else as soon as someone does."""
        self._stale = not self.isVisible()
        if self._version is None or self._stale:
            return
        version, known, ids = self._version, self._reading, self._watched
        wanted = None if ids is None else tuple(ids)
        jobs, project = self.workspace.jobs, self.workspace.project
        self.workspace.reader.ask(
            "sample watch",
            lambda: read(jobs, project, version, wanted, known),
            self._read,
            lambda words: self._failed(version, words),
        )

    def _failed(self, version: int, words: str) -> None:
        if version == self._version:
            self._reading = None
            self._tell(words, again=True)

    def _read(self, reading: Reading) -> None:
        if reading.version != self._version:
            return
        rows = reading.contexts.rows
        searched = self._reading is not None and self._reading.contexts is reading.contexts
        self._reading = reading
        if not rows:
            self._tell(NOTHING_DRAWN)
            return
        if self._watched is None:
            self._watched = [row.id for row in rows[:AT_FIRST]]
            if self._wanted:
                self.show_context(self._wanted)
        if not searched:
            self._search(self.search.text())
        self.stack.setCurrentWidget(self.parts)
        self.bar.blockSignals(True)  # what is watched is not yet of this reading
        self.bar.set_last(reading.iterations)
        self.bar.blockSignals(False)
        self._fill()

    def _tell(self, words: str, *, again: bool = False) -> None:
        """Words in place of the contexts."""
        self.words.setText(words)
        set_role(self.words, "warn" if again else "muted")
        self.again.setVisible(again)
        self.stack.setCurrentIndex(0)

    # --- showing -------------------------------------------------------------------------

    def _fill(self) -> None:
        """The watched contexts that the run has, with the same one chosen as before."""
        assert self._reading is not None
        histories, by_id = self._reading.histories, self._reading.contexts.by_id
        rows = [by_id[id] for id in self._watched or () if id in histories]
        shown = self.watched.current()
        if self._wanted in histories:
            wanted, self._wanted = self._wanted, ""
        else:
            if self._wanted and self._wanted not in by_id:
                self._wanted = ""
                self.found.setText("That context has no distractors in this run.")
            wanted = shown.id if shown is not None else ""
        self.watched.blockSignals(True)  # the table tells of no choice while it is filled
        self.watched.set_rows(rows)
        ids = [row.id for row in rows]
        if ids:
            index = self.watched.rows_model.index(ids.index(wanted) if wanted in ids else 0, 0)
            select = QItemSelectionModel.SelectionFlag
            self.watched.selectionModel().setCurrentIndex(
                index, select.ClearAndSelect | select.Rows
            )
        self.watched.blockSignals(False)
        self._show(self.watched.current())

    def _show(self, context: ContextRow | None) -> None:
        """One context with its history; nothing while none is watched."""
        self.remove.setEnabled(context is not None)
        for part in (self.slots_view, self.slots_view.head):
            part.setVisible(context is not None)
        if context is None or self._reading is None:
            self._shown = None
            self.changes.set_rows([])
            self.told.setText("")
            return
        if self.slots_view.show_context(context):
            self.area.verticalScrollBar().setValue(0)
        history = self._reading.histories[context.id]
        if history is not self._shown:  # else what is chosen there stays so
            self._shown = history
            self.changes.set_rows(history.changes[::-1])
        self._show_iteration(self.bar.value)

    def _show_iteration(self, iterations: int) -> None:
        context = self.watched.current()
        self.watched.viewport().update()  # the column Now
        if context is None or self._reading is None:
            return
        history = self._reading.histories[context.id]
        changed = self.slots_view.show_held(history.after(iterations), iterations)
        if changed is not None:
            self.area.ensureWidgetVisible(changed)
        if not iterations:
            begun = "left by an earlier run" if any(history.origins) else "first drawn"
            self.told.setText(f"As {begun}, before the first iteration.")
            set_role(self.told, "muted")
            return
        replaced = history.changed_in(iterations - 1)
        if replaced:
            said = f"{replaced} of {count(len(history.first), 'distractor')} replaced"
            self.told.setText(f"{CHANGED} Iteration {iterations:,}: {said}.")
        else:
            self.told.setText(f"Iteration {iterations:,}: nothing replaced in this context.")
        set_role(self.told, "accent" if replaced else "muted")

    def _now(self, context: ContextRow) -> str:
        history = self._reading.histories.get(context.id) if self._reading else None
        replaced = history.changed_in(self.bar.value - 1) if history and self.bar.value else 0
        return f"{CHANGED} {replaced}" if replaced else ""

    def _all(self, context: ContextRow) -> int:
        history = self._reading.histories.get(context.id) if self._reading else None
        return len(history.changes) if history else 0

    def _go_to(self, change: Change) -> None:
        self.bar.go(change[0] + 1)

    # --- choosing ------------------------------------------------------------------------

    def _search(self, text: str) -> None:
        if self._reading is None:
            return
        contexts = self._reading.contexts
        hits = contexts.holding(text)
        self.hits.set_rows(hits)
        every = count(len(contexts.rows), "context")
        self.found.setText(f"{len(hits):,} of {every}" if text.strip() else every)

    def _watch_hit(self) -> None:
        """Enter in the search field watches the first context that was found."""
        if self.search.text().strip() and self.hits.rows_model.rows:
            self.show_context(self.hits.rows_model.row(0).id)

    def _remove(self) -> None:
        context = self.watched.current()
        if context is not None and self._watched is not None:
            self._watched.remove(context.id)
            self._fill()


def _row(*widgets: QWidget) -> QWidget:
    """Widgets beside each other; what is left goes to the labels, else to the end."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        row.addWidget(widget, isinstance(widget, QLabel))
    if not any(isinstance(widget, QLabel) for widget in widgets):
        row.addStretch(1)
    return holder


def _words_of(context: ContextRow) -> str:
    return f"{context.sent1} {context.sent2} …"
