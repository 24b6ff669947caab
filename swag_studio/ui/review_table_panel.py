"""The curators' table with what can be done to many contexts at once, and what was done last."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from swag_studio.curating import Change
from swag_studio.reviewing import FLAGS
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import set_role
from swag_studio.ui.review_dialogs import label
from swag_studio.ui.review_table import ReviewTable
from swag_studio.ui.words import count


class TablePanel(QWidget):
    """Asks for a change of the chosen rows by `bulk_asked`."""

    bulk_asked = Signal(object)  # Change

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = ReviewTable()
        self.choose_all = QPushButton("Choose all shown")
        self.choose_all.setToolTip("Ctrl+A in the table")
        self.choose_all.clicked.connect(self.table.selectAll)
        self.exclude, self.include = QPushButton("Exclude …"), QPushButton("Include …")
        self.flag = QPushButton("Flag …")
        self.flag_menu = QMenu(self.flag)
        for flag in FLAGS:
            self._offer(f"Flag as “{flag}”", Change("flag", flag))
        self.flag_menu.addSeparator()
        for flag in FLAGS:
            self._offer(f"Take “{flag}” off", Change("unflag", flag))
        self.flag.setMenu(self.flag_menu)
        self.exclude.clicked.connect(lambda: self.bulk_asked.emit(Change("exclude")))
        self.include.clicked.connect(lambda: self.bulk_asked.emit(Change("include")))
        self.chosen = QLabel("")
        self.chosen.setMinimumHeight(self.choose_all.sizeHint().height())  # as the buttons beside
        self.told = label(role="muted")
        self.table.chosen.connect(self._show_chosen)
        below = FlowLayout(spacing=6)
        for widget in (self.choose_all, self.flag, self.exclude, self.include, self.chosen):
            below.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.table, 1)
        layout.addLayout(below)
        layout.addWidget(self.told)
        self._show_chosen(0)

    def tell(self, text: str, role: str) -> None:
        """What was done, or why not."""
        self.told.setText(text)
        set_role(self.told, role)

    def _offer(self, text: str, change: Change) -> None:
        action = self.flag_menu.addAction(text)
        action.triggered.connect(partial(self._ask, change))

    def _ask(self, change: Change, _: bool = False) -> None:
        self.bulk_asked.emit(change)

    def _show_chosen(self, rows: int) -> None:
        self.chosen.setText(f"{count(rows, 'context')} chosen" if rows else "None chosen")
        for button in (self.flag, self.exclude, self.include):
            button.setEnabled(bool(rows))
