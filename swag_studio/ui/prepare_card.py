"""What Prepare made of the captions: contexts to look at, and the pairs dropped, by reason."""

from __future__ import annotations

from itertools import islice
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from swag_studio.project import StageState
from swag_studio.records import SPLITS, LeftOut
from swag_studio.store import Store
from swag_studio.ui.page import set_role
from swag_studio.ui.rows_dialog import RowsDialog
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import PUBLISHED_CONTEXTS, count, reason
from swag_studio.ui.workspace import Workspace

FIRST = 200  # pairs that a reason's row opens, and contexts that are shown

REASON_COLUMNS = (
    Column("Pairs dropped because", lambda row: reason(row[0]), stretch=True),
    Column("Pairs", lambda row: row[1]),
    Column("Share", lambda row: row[1] / row[2], lambda share: f"{share:.1%}"),
)
PAIR_COLUMNS = (
    Column("Document", lambda row: row[0].document),
    Column("Caption", lambda row: row[0].position + 1, help="Counted from 1 in the document"),
    Column("First caption", lambda row: row[1], stretch=True),
    Column("Second caption", lambda row: row[2], stretch=True),
)


CONTEXT_COLUMNS = (
    Column("First sentence", lambda c: c.sent1, stretch=True),
    Column("Second sentence begins", lambda c: c.sent2),
    Column("Found ending", lambda c: c.found, stretch=True),
    Column("Split", lambda c: c.split),
    Column("Document", lambda c: c.document),
)


class PrepareCard(QFrame):
    """The result of the newest Prepare, also when it is out of date."""

    opened = Signal(object)  # the dialog with the pairs of a reason

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workspace, self._version = workspace, 0
        self.setProperty("card", "true")
        heading = QLabel("Prepared")
        set_role(heading, "heading")
        self.counts, self.published = QLabel(""), QLabel(PUBLISHED_CONTEXTS)
        for label in (self.counts, self.published):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.counts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_role(self.published, "muted")
        self.reasons = Table(
            "Pairs dropped, by reason", REASON_COLUMNS, "Every pair of captions became a context."
        )
        self.reasons.setToolTip("Double-click a row, or press Enter, to see the pairs")
        self.reasons.opened.connect(self.open_reason)
        layout = QVBoxLayout(self)
        for widget in (heading, self.counts, self.published, self.reasons):
            layout.addWidget(widget, 1 if widget is self.reasons else 0)

    def show_state(self, state: StageState | None) -> None:
        """Shows the result that the state tells of; hides where there is none."""
        artifact = state.artifact if state is not None else None
        self.setVisible(artifact is not None and artifact.done)
        if artifact is None or not artifact.done:
            return
        summary: Any = artifact.summary
        self._version = artifact.version
        self.counts.setText(_counts(summary))
        pairs = max(1, int(summary.get("pairs", 0)))
        dropped = summary.get("dropped", {})
        rows = sorted(dropped.items(), key=lambda item: -item[1])
        self.reasons.set_rows([(code, n, pairs) for code, n in rows])

    def open_reason(self, row: tuple[str, int, int]) -> None:
        """Shows the pairs that were dropped for a reason."""
        code, total, _ = row
        store = self.workspace.project.store
        found = list(islice(store.dropped_pairs(self._version, code), FIRST))
        pairs = [_texts(store, left_out) for left_out in found]
        first = f" The first {len(pairs):,} of {total:,}." if len(pairs) < total else ""
        dialog = RowsDialog("Dropped pairs", f"{reason(code)}.{first}", PAIR_COLUMNS, pairs, self)
        dialog.show()
        self.opened.emit(dialog)


class ExamplesCard(QFrame):
    """The first contexts of the newest Prepare, as people and models will see them."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workspace, self._version = workspace, 0
        self.setProperty("card", "true")
        self.heading = QLabel("")
        set_role(self.heading, "heading")
        self.table = Table("First contexts", CONTEXT_COLUMNS)
        layout = QVBoxLayout(self)
        layout.addWidget(self.heading)
        layout.addWidget(self.table, 1)

    def show_state(self, state: StageState | None) -> None:
        """Shows the contexts of the result that the state tells of; hides where there is none."""
        artifact = state.artifact if state is not None else None
        self.setVisible(artifact is not None and artifact.done)
        if artifact is None or not artifact.done or artifact.version == self._version:
            return
        self._version = artifact.version
        store = self.workspace.project.store
        rows = list(islice(store.contexts(artifact.version, selected_only=True), FIRST))
        self.heading.setText("Contexts" if len(rows) < FIRST else f"The first {FIRST} contexts")
        self.table.set_rows(rows)


def _counts(summary: Any) -> str:
    contexts, selected = int(summary.get("contexts", 0)), int(summary.get("selected", 0))
    kept = f"{count(contexts, 'context')} kept of {count(int(summary.get('pairs', 0)), 'pair')}"
    going = "" if selected == contexts else f"; the recipe takes a sample of {selected:,}"
    splits = summary.get("splits", {})
    parts = ", ".join(f"{splits[name]:,} {name}" for name in SPLITS if name in splits)
    return f"{kept}{going}." + (f" Splits: {parts}." if parts else "")


def _texts(store: Store, row: LeftOut) -> tuple[LeftOut, str, str]:
    """(the dropped pair, its first sentence, its second). `place` is the id of its source."""
    first = store.caption(row.place, row.document, row.position - 1)
    second = store.caption(row.place, row.document, row.position)
    if second is not None:
        return row, first.text.strip() if first else "", second.text.strip()
    own = store.own_context(row.place, row.document)
    return (row, own.sent1, f"{own.sent2} {own.found}") if own else (row, "", "")
