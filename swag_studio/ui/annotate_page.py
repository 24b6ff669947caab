"""Annotate: people judge endings. Who judges is asked each time, and then shown all the time.

The judging itself is the bench's, which works on any `Desk`; this page gives it a project's.
"""

from __future__ import annotations

import secrets

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.errors import UserError
from swag_studio.judging import Annotator
from swag_studio.project import Project
from swag_studio.ui.annotate_bench import Bench
from swag_studio.ui.annotate_parts import ComposingLine
from swag_studio.ui.desk import Desk as Desk
from swag_studio.ui.page import Page, card, set_role
from swag_studio.ui.store_desk import StoreDesk
from swag_studio.ui.theme import ems
from swag_studio.ui.workspace import Workspace

NOT_FILTERED = "Run the filter first: it chooses the endings that are judged here."
_TABLES = {"annotators", "tasks", "allocations", "judgements", "people", "filter", "assignments"}
_ROWS = 12  # names that the picker shows without scrolling


class AnnotatePage(Page):
    """The picker, then the bench of who was picked. Nothing of one person stays for the next."""

    title = "Annotate"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.picker = AnnotatorPicker(workspace.project)
        self.picker.picked.connect(self.seat)
        self.bench: Bench | None = None
        self.stack = QStackedWidget()
        self.stack.addWidget(self.picker)
        # A page that wraps text is asked for its best height, not its least: it takes what is left.
        self.stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.body.addWidget(self.stack, 1)
        self._stale = self._answered = False
        self._ask()

    # --- who judges ----------------------------------------------------------------------

    def seat(self, annotator: Annotator) -> None:
        """Gives an annotator the bench, with their own work alone."""
        self.seat_at(StoreDesk(self.workspace.project, annotator))

    def seat_at(self, desk: Desk) -> None:
        """Gives whoever works at a desk the bench."""
        self.unseat()
        bench = self.bench = Bench(desk)
        bench.go_to.connect(self.go_to)
        bench.answered.connect(self._note_answer)
        switch = QPushButton("Switch annotator …")
        switch.clicked.connect(self.unseat)
        bench.top.addWidget(switch)
        self.stack.addWidget(bench)
        self.stack.setCurrentWidget(bench)
        self.tell(f"Judging as {desk.name}", "accent", "")
        self.hint.hide()

    def unseat(self) -> None:
        """Takes the bench away, once what is half-given is kept, and asks who is next."""
        if self.bench is not None:
            if not self.bench.keep_draft():
                return  # the bench says why, and nothing is lost
            self.stack.removeWidget(self.bench)
            self.bench.hide()
            self.bench.deleteLater()
            self.bench = None
        self.picker.forget()
        self._ask()

    def _ask(self) -> None:
        self.picker.reload()
        self.stack.setCurrentWidget(self.picker)
        filtered = any(a.done for a in self.workspace.project.store.artifacts("filter"))
        if filtered:
            self.tell("", "muted", "Choose who judges. Everyone sees their own answers only.")
        else:
            self.tell("not yet", "muted", NOT_FILTERED, "Filtering ›")
        self.hint.show()

    def act(self) -> None:
        """To the page that this one waits for."""
        self.go_to.emit("Filtering")

    def _note_answer(self) -> None:
        self._answered = True

    # --- hooks ---------------------------------------------------------------------------

    def refresh(self, tables: frozenset[str]) -> None:
        if tables and not tables & _TABLES:
            return
        if not self.isVisible():
            self._stale = True
        elif self.bench is not None:
            self.bench.reload()
        else:
            self._ask()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._stale = False
            self.refresh(frozenset())

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # The other pages hear of answers when they are looked at; a window that goes tells nobody.
        if self._answered and self.window().isVisible():
            self._answered = False
            self.workspace.bridge.changed.emit(frozenset({"judgements", "allocations"}))


class AnnotatorPicker(QWidget):
    """Asks who judges: one of the project's annotators, or a new one."""

    picked = Signal(object)  # Annotator

    def __init__(self, project: Project, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = project.store
        self.heading = QLabel()
        self.heading.setWordWrap(True)
        set_role(self.heading, "heading")
        self.list = QListWidget()
        self.list.setAccessibleName("Annotators")
        self.list.itemActivated.connect(self._pick)
        self.start = QPushButton("Judge")
        set_role(self.start, "primary")
        self.start.clicked.connect(self._pick_current)
        self.name = ComposingLine()
        self.name.setMaxLength(60)
        self.name.setPlaceholderText("A new annotator’s name")
        self.name.setAccessibleName("Name of a new annotator")
        self.name.ended.connect(self.add)
        self.new = QPushButton("Add and judge")
        self.new.clicked.connect(self.add)
        self.trouble = QLabel()
        self.trouble.setWordWrap(True)
        self.trouble.setTextFormat(Qt.TextFormat.PlainText)
        self.trouble.hide()
        set_role(self.trouble, "bad")
        adding, starting = QWidget(), QWidget()
        for box, widgets in ((starting, (self.start,)), (adding, (self.name, self.new))):
            row = QHBoxLayout(box)
            row.setContentsMargins(0, 0, 0, 0)
            for widget in widgets:
                row.addWidget(widget)
        frame = card(self.heading, self.list, starting, adding, self.trouble, margins=16)
        across = QHBoxLayout()
        across.addStretch(1)
        across.addWidget(frame, 2)
        across.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(across)
        outer.addStretch(1)
        frame.setMinimumWidth(ems(self, 40))

    def forget(self) -> None:
        """Nobody is chosen, and no name is written."""
        self.list.clearSelection()
        self.name.clear()
        self._tell("")

    def reload(self) -> None:
        """The annotators as they are now. What someone is about to choose or to write stays."""
        people = [a for a in self._store.annotators() if a.kind == "person" and a.active]
        chosen = {item.data(Qt.ItemDataRole.UserRole).id for item in self.list.selectedItems()}
        self.list.clear()
        for person in people:
            item = QListWidgetItem(person.name)
            item.setData(Qt.ItemDataRole.UserRole, person)
            self.list.addItem(item)
            item.setSelected(person.id in chosen)
        rows = min(len(people), _ROWS) * (self.fontMetrics().height() + 10)
        self.list.setFixedHeight(rows + 8)
        self.list.setVisible(bool(people))
        self.start.setVisible(bool(people))
        self.heading.setText("Who judges?" if people else "Who judges? Write your name to begin.")

    def add(self) -> None:
        """Adds who is written in the field, and picks them."""
        name = " ".join(self.name.text().split())
        if not name:
            self._tell("Write a name first.")
            return
        person = Annotator(secrets.token_hex(8), name)
        try:
            self._store.put_annotator(person)
        except UserError as error:
            self._tell(str(error))
        else:
            self.picked.emit(person)

    def _pick(self, item: QListWidgetItem) -> None:
        self.picked.emit(item.data(Qt.ItemDataRole.UserRole))

    def _pick_current(self) -> None:
        if chosen := self.list.selectedItems():  # the current one may merely have the focus
            self._pick(chosen[0])
        else:
            self._tell("Choose a name from the list first.")

    def _tell(self, words: str) -> None:
        self.trouble.setText(words)
        self.trouble.setVisible(bool(words))
