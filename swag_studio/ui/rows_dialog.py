"""A window beside the work with a table of rows, such as the captions that a reason concerns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPushButton, QVBoxLayout, QWidget

from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import ems


class RowsDialog(QDialog):
    """Shows rows, can copy them, and blocks nothing. It is gone when it is closed."""

    def __init__(
        self,
        title: str,
        note: str,
        columns: Sequence[Column],
        rows: Sequence[Any],
        parent: QWidget | None = None,
        empty: str = "Nothing to show.",
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.note = QLabel(note)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.table = Table(title, columns, empty)
        self.table.set_rows(rows)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = QPushButton("Copy")
        copy.setToolTip("Copy the chosen rows, or all, as a table")
        copy.clicked.connect(self.table.copy)
        buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.note)
        layout.addWidget(self.table, 1)
        layout.addWidget(buttons)
        self.resize(ems(self, 110), 30 * self.fontMetrics().lineSpacing())
