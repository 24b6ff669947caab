"""What a chosen file holds, before it is imported: format, counts, reasons, first captions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from swag_studio.ui.import_queue import ImportQueue, WaitingFile
from swag_studio.ui.page import prose, splitter
from swag_studio.ui.rows_dialog import RowsDialog
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import FORMATS, PUBLISHED, count, reason

FIRST = 200  # captions that a reason's row opens

REASON_COLUMNS = (
    Column("Set aside because", lambda row: row[1], stretch=True),
    Column("Count", lambda row: row[2]),
)
PLACE_COLUMNS = (
    Column("Document", lambda row: row["document"] or None, optional=True),
    Column("Caption", lambda row: row["position"] + 1, help="Counted from 1 within the document"),
    Column("Place in the file", lambda row: row["place"], stretch=True),
    Column("Detail", lambda row: row["detail"], stretch=True, optional=True),
)
CAPTION_COLUMNS = (
    Column("Document", lambda row: row["document"]),
    Column(
        "Start",
        lambda row: row.get("start"),
        lambda s: "" if s is None else f"{s:.1f} s",
        optional=True,
    ),
    Column("Caption", lambda row: row["text"].strip(), stretch=True),
)
OWN_COLUMNS = (
    Column("Id", lambda row: row["document"]),
    Column("Context", lambda row: f"{row['sent1']} {row['sent2']}", stretch=True),
    Column("Found ending", lambda row: row["found"], stretch=True),
)


class OneClick(QPushButton):
    """Takes a double click for one: its second click would be for the file that comes next."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()


class ImportPanel(QFrame):
    """Shows the first of the files that wait; the others follow it."""

    opened = Signal(object)  # the dialog with the rows of a reason

    def __init__(self, queue: ImportQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.queue = queue
        self._file: WaitingFile | None = None
        self._state: object = None
        self.setProperty("card", "true")
        self._build()
        queue.changed.connect(self.show_first)
        self.show_first()

    # --- building ----------------------------------------------------------------------------

    def _build(self) -> None:
        self.name = prose("heading")
        self.name.setWordWrap(False)
        self.place = prose("muted")
        self.format = QComboBox()
        self.format.setAccessibleName("Format of the file")
        self.format.addItem("Recognise the format", "")
        for name in self.queue.workspace.jobs.source_names():
            self.format.addItem(FORMATS.get(name, name), name)
        self.format.activated.connect(self._read_as)
        label = QLabel("Format")
        label.setBuddy(self.format)
        self.counts = prose()
        self.note = prose("muted")
        self.error = prose("bad")
        self.error.setAccessibleName("Why the file is refused")
        self.reasons = Table("What would be set aside", REASON_COLUMNS, "Everything can be used.")
        self.reasons.setToolTip("Double-click a row, or press Enter, to see the places")
        self.reasons.opened.connect(self.open_reason)
        self.preview = Table("First captions of the file", CAPTION_COLUMNS)
        self.own_preview = Table("First contexts of the file", OWN_COLUMNS)
        self._build_buttons()
        tables = splitter(Qt.Orientation.Horizontal)
        for widget in (self.preview, self.own_preview, self.reasons):
            tables.addWidget(widget)
        tables.setStretchFactor(0, 3)
        tables.setStretchFactor(1, 3)
        tables.setStretchFactor(2, 2)
        self.tables = tables
        top = QHBoxLayout()
        top.addWidget(self.name)
        top.addWidget(self.place, 1)
        top.addWidget(label)
        top.addWidget(self.format)
        below = QHBoxLayout()
        below.addWidget(self.note, 1)
        for button in (self.skip, self.all, self.bring_in):
            below.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        layout = QVBoxLayout(self)
        layout.addLayout(top)
        layout.addWidget(self.counts)
        layout.addWidget(self.error)
        layout.addWidget(tables, 1)
        layout.addLayout(below)

    def _build_buttons(self) -> None:
        self.skip = OneClick("Skip")
        self.skip.setToolTip("Leave this file out")
        self.skip.clicked.connect(self._skip)
        self.all = QPushButton("Import all")
        self.all.setToolTip("Import every file that was read without an error")
        self.all.clicked.connect(self._import_all)
        self.bring_in = OneClick("Import")
        self.bring_in.setProperty("role", "primary")
        self.bring_in.clicked.connect(self._import)

    # --- showing -----------------------------------------------------------------------------

    def show_first(self) -> None:
        """Shows the file whose turn it is, or hides when none waits."""
        waiting = [f for f in self.queue.files if f.state != "importing"] or self.queue.files
        self.setVisible(bool(waiting))
        if not waiting:
            self._file = self._state = None
            return
        file = waiting[0]
        state = (file, file.state, file.waits, file.summary, file.error, len(self.queue.files))
        if state != self._state:
            self._file, self._state = file, state
            self._show(file)

    def _show(self, file: WaitingFile) -> None:
        summary = file.summary if file.state != "reading" else {}
        self.name.setText(file.path.name)
        more = len(self.queue.files) - 1
        self.place.setText(f"and {count(more, 'more file')}" if more else "")
        self.format.setCurrentIndex(
            max(0, self.format.findData(summary.get("format") or file.source))
        )
        self.format.setEnabled(file.state in ("read", "refused"))
        self.counts.setText(self._counts(file))
        self.counts.setVisible(bool(self.counts.text()))
        self.error.setText(file.error)
        self.error.setVisible(bool(file.error))
        known = bool(summary.get("already_imported"))
        self._show_tables(summary, shown=file.state in ("read", "importing") and not known)
        published = PUBLISHED.get(str(summary.get("format")), "")
        self.note.setText(published if file.state == "read" else "")
        ready = file.state == "read" and not known
        self.bring_in.setVisible(ready)
        self.all.setVisible(ready and more > 0)
        self.skip.setVisible(file.state != "importing")
        self.skip.setText("Skip" if ready or file.state == "reading" else "Dismiss")

    def _counts(self, file: WaitingFile) -> str:
        if file.waits:
            return "Waits for the job that runs now."
        if file.state == "reading":
            return "Reading the file; nothing is imported yet …"
        if file.state == "importing":
            return "Importing …"
        return counts_text(file.summary) if file.state == "read" else ""

    def _show_tables(self, summary: Mapping[str, Any], *, shown: bool) -> None:
        own = bool(summary.get("own_contexts"))
        self.tables.setVisible(shown)
        policy = QSizePolicy.Policy
        self.setSizePolicy(policy.Preferred, policy.Expanding if shown else policy.Maximum)
        self.preview.setVisible(not own)
        self.own_preview.setVisible(own)
        words = self.queue.workspace.jobs.source_reasons()
        left_out = summary.get("left_out", {})
        self.reasons.set_rows(
            sorted(
                ((code, reason(code, words), n) for code, n in left_out.items()),
                key=lambda row: -row[2],
            )
        )
        (self.own_preview if own else self.preview).set_rows(summary.get("preview", []))

    # --- acting ------------------------------------------------------------------------------

    def open_reason(self, row: tuple[str, str, int]) -> None:
        """Shows where in the file a reason applies."""
        assert self._file is not None
        code, words, total = row
        rows = self._file.summary.get("left_out_rows", {}).get(code, [])
        first = f"The first {len(rows):,} of {total:,}." if len(rows) < total else ""
        note = f"{self._file.path.name}: {words[:1].lower()}{words[1:]}. {first}".rstrip()
        dialog = RowsDialog("Set aside", note, PLACE_COLUMNS, rows, self)
        dialog.show()
        self.opened.emit(dialog)

    def _read_as(self) -> None:
        if self._file is not None:
            self.queue.read_as(self._file, str(self.format.currentData()))

    def _skip(self) -> None:
        if self._file is not None:
            self.queue.drop(self._file)

    def _import(self) -> None:
        if self._file is not None:
            self.queue.bring_in(self._file)

    def _import_all(self) -> None:
        for file in list(self.queue.files):
            self.queue.bring_in(file)


def counts_text(summary: Mapping[str, Any]) -> str:
    """The counts of a dry run as one sentence."""
    if summary.get("already_imported"):
        return "This file is in the project already. There is nothing to do."
    if summary.get("own_contexts"):
        return (
            f"{count(summary['own_contexts'], 'context')} with "
            f"{count(summary.get('own_endings', 0), 'ending')} of their own."
        )
    captions = count(summary.get("captions", 0), "caption")
    documents = count(summary.get("documents", 0), "document")
    pairs = count(summary.get("adjacent_pairs", 0), "pair")
    return f"{captions} in {documents}; {pairs} of captions that follow each other."
