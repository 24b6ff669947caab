"""The sheet of keys and the words about the program."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from swag_studio import __version__
from swag_studio.ui.actions import shortcuts
from swag_studio.ui.rows_dialog import RowsDialog
from swag_studio.ui.tables import Column
from swag_studio.ui.window import Window

KEY_COLUMNS = (
    Column("Action", lambda row: row[1].removesuffix(" …"), stretch=True),
    Column("Key", lambda row: row[2]),
    Column("Menu", lambda row: row[0]),
)


def keys(window: Window) -> RowsDialog:
    """The keys of the window's menus."""
    note = (
        "Enter or a double click opens a row of a table; Ctrl+C copies the chosen rows; Alt with "
        "an arrow to the side sorts by the next column, with one up or down in that order."
    )
    return RowsDialog("Keys", note, KEY_COLUMNS, shortcuts(window.menus), window)


def about(parent: QWidget) -> QMessageBox:
    """What this is."""
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("About SWAG Studio")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(f"SWAG Studio {__version__}")
    box.setInformativeText(
        "Builds adversarial multiple-choice datasets from video captions, after Zellers, Bisk, "
        "Schwartz and Choi: SWAG (EMNLP 2018).\n\n"
        "Everything stays on this computer. MIT licence."
    )
    return box
