"""Asks before a filter run that takes up what people said, and says what it would change."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from swag_studio.ui.page import grow, set_role
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import ems
from swag_studio.ui.workspace import Workspace
from swag_studio.views import FeedbackPreview

TITLE = "Filter again with what people said"
PURPOSE = (
    "Endings that people called gibberish, replaced or rewrote are never assigned again. Only "
    "contexts that had one move; the others keep their distractors. It becomes a run of its own, "
    "beside the one that people judged."
)
USES = {
    "bar": "keeps out candidates that it calls gibberish",
    "member": "joins the ensemble",
    "both": "does both",
    "off": "is not trained",
}
COLUMNS = (
    Column("What changes", lambda row: row[0], stretch=True),
    Column("Count", lambda row: row[1]),
)


class AgainDialog(QDialog):
    """`wanted`: what the classifier of gibberish is to do, and iterations (0: the recipe's)."""

    wanted = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(TITLE)
        self.setMinimumWidth(ems(self, 80))
        purpose = QLabel(PURPOSE)
        purpose.setWordWrap(True)
        self.said = QLabel("Counting what people said …")
        self.said.setWordWrap(True)
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.table = Table("What filtering again changes", COLUMNS, "Counting …", most=7)
        self.use = QComboBox()
        for name, words in USES.items():
            self.use.addItem(words, name)
        self.iterations = QSpinBox()
        self.iterations.setRange(0, 10_000)
        self.iterations.setSpecialValueText("as in the recipe")
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow("A classifier of their labels", self.use)
        form.addRow("Iterations", self.iterations)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.go = self.buttons.addButton("Filter again", QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(self.go, "primary")
        self.go.setEnabled(False)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(purpose)
        layout.addWidget(self.table)
        layout.addWidget(self.said)
        layout.addLayout(form)
        layout.addWidget(self.buttons)

    def show_counts(self, counts: FeedbackPreview) -> None:
        """What it would change."""
        rows = [
            ("endings that can no longer be assigned", counts.excluded),
            ("contexts that move", counts.affected),
            ("of these judged, to be judged again", counts.judged),
            ("contexts that stay as they are", counts.untouched),
            ("texts written by people, which stay in the run before", counts.edited),
            ("endings called gibberish", counts.gibberish),
            ("endings called likely or unlikely", counts.sensible),
        ]
        self.table.set_rows(rows)
        said = [counts.classifier] if counts.classifier else []
        if counts.simulated:
            said.append("Answers of simulated annotators are counted.")
        if not counts.excluded:
            said.append("Nobody has refused an ending of this run yet.")
        self.said.setText(" ".join(said))
        self.said.setVisible(bool(said))
        self.use.setEnabled(not counts.classifier)
        self.use.setCurrentIndex(self.use.findData("off" if counts.classifier else "bar"))
        self.go.setEnabled(bool(counts.excluded))

    def refuse(self, text: str) -> None:
        """Why it cannot be done."""
        self.said.setText(text)
        set_role(self.said, "warn")
        for part in (self.table, self.use, self.iterations):
            part.setEnabled(False)
        self.table.hide()
        grow(self)

    def _accept(self) -> None:
        self.wanted.emit(self.use.currentData(), self.iterations.value())
        self.accept()


def ask(workspace: Workspace, parent: QWidget) -> AgainDialog:
    """Opens the dialog; the run is queued when it is accepted."""
    dialog = AgainDialog(parent)
    project, jobs = workspace.project, workspace.jobs
    closed: list[int] = []
    dialog.finished.connect(closed.append)

    def unless_closed(show: object, value: object) -> None:
        if not closed:
            show(value)  # type: ignore[operator]

    workspace.reader.ask(
        "feedback",
        lambda: jobs.feedback_preview(project),
        partial(unless_closed, dialog.show_counts),
        partial(unless_closed, dialog.refuse),
    )
    dialog.wanted.connect(
        lambda use, iterations: workspace.bridge.submit(
            lambda: jobs.filter_again(project, use, iterations), TITLE
        )
    )
    dialog.open()
    return dialog
