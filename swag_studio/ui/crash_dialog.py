"""The log of a crash that ended the program the last time, to read, to copy and to find."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.ui.page import grow, prose, resize_on_screen
from swag_studio.ui.theme import ems

MOST = 200_000  # letters of a log that are shown


class CrashDialog(QDialog):
    """Tells of a crash above a window, and stands in no one's way. It is gone when it is closed."""

    folder_requested = Signal()

    def __init__(self, log: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("The last crash")
        told = prose(text="SWAG Studio was ended by a crash the last time. What was done is kept.")
        where = prose(
            "muted",
            f"This log says where in the program it happened: {log}. Nothing is sent anywhere. "
            "Copy it for whoever looks after the program.",
        )
        self.log = QPlainTextEdit()
        self.log.setReadOnly(True)
        self.log.setAccessibleName("Log of the crash")
        self.log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.log.setPlainText(_read(log))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy_button = QPushButton("Copy the log")
        self.copy_button.clicked.connect(self.copy)
        self.folder_button = QPushButton("Open log folder")
        self.folder_button.clicked.connect(self.folder_requested)
        for button in (self.copy_button, self.folder_button):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for part in (told, where):
            layout.addWidget(part)
        layout.addWidget(self.log, 1)
        layout.addWidget(buttons)
        resize_on_screen(self, ems(self, 100), 24 * self.fontMetrics().lineSpacing())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            QTimer.singleShot(0, self, lambda: grow(self))  # its parts get the font later

    def copy(self) -> None:
        """Puts the log on the clipboard."""
        QGuiApplication.clipboard().setText(self.log.toPlainText())

    def show_above(self, window: QWidget) -> None:
        """Shows it above a window, and takes it away from the one where it was shown before."""
        self.setParent(window, self.windowFlags())
        self.show()


def _read(log: Path) -> str:
    try:
        with log.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST)
    except OSError as error:
        return f"The log cannot be read ({error.strerror})."
