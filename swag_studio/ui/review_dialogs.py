"""The small windows of the Review page: a name, an ending's text, a candidate, a bulk change.

None blocks the page, and none writes: each tells what was decided, and shows why it was refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.curating import Change
from swag_studio.numerals import plain
from swag_studio.reviewing import text_problem
from swag_studio.ui.features import TOKENS, Feature, feature
from swag_studio.ui.page import resize_on_screen, set_role
from swag_studio.ui.reading_order import order_tabs
from swag_studio.ui.steps import StepBar
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import ems
from swag_studio.ui.words import count
from swag_studio.views import PoolEnding

DRAFT = 2000  # ms between two times that a half-written text is kept
Offer = tuple[PoolEnding, float]


def label(text: str = "", role: str = "") -> QLabel:
    """Text that wraps and can be copied."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    made.setWordWrap(True)
    set_role(made, role)
    return made


class _Dialog(QDialog):
    """A title, what subclasses add, a line for what is wrong, and two buttons."""

    def __init__(self, title: str, yes: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.content = QVBoxLayout()
        self.trouble = label(role="bad")
        self.yes = QPushButton(yes)
        self.yes.setDefault(True)
        set_role(self.yes, "primary")
        buttons = QDialogButtonBox()
        self.no = buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self.yes, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.decide)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addLayout(self.content, 1)
        layout.addWidget(self.trouble)
        layout.addWidget(buttons)
        self.resize(ems(self, 70), self.sizeHint().height())

    def focusNextPrevChild(self, forward: bool) -> bool:
        order_tabs(self)  # the buttons are made first and stand last
        return super().focusNextPrevChild(forward)

    def refuse(self, text: str) -> None:
        """Says why it cannot be; what was entered stays."""
        self.trouble.setText(text)

    def decide(self) -> None:
        """The button was pressed."""


class NameDialog(_Dialog):
    """Asks for a name."""

    named = Signal(str)

    def __init__(self, title: str, note: str, begin: str, parent: QWidget | None = None) -> None:
        super().__init__(title, "OK", parent)
        self.name = QLineEdit(begin)
        self.name.setAccessibleName(title)
        self.name.selectAll()
        self.name.textChanged.connect(lambda text: self.yes.setEnabled(bool(text.strip())))
        self.content.addWidget(label(note))
        self.content.addWidget(self.name)
        self.name.setFocus()

    def decide(self) -> None:
        name = " ".join(self.name.text().split())
        if name:
            self.named.emit(name)
            self.accept()


class _OneLine(QPlainTextEdit):
    """A text that wraps and has no line breaks by hand: Enter is the dialog's."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()
        else:
            super().keyPressEvent(event)


class EditDialog(_Dialog):
    """Another text for an ending, checked as it is typed. What is half written is kept by `draft`.

    `decided` has the text; the page closes the dialog once it is written.
    """

    decided = Signal(str)
    draft = Signal(str)  # empty: nothing is to be kept any more

    def __init__(
        self,
        beginning: str,
        text: str,
        found: str,
        others: Sequence[str],
        draft: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Edit an ending", "Save", parent)
        self._before, self._found, self._others = text, found, list(others)
        self.text = _OneLine(draft or text)
        self.text.setAccessibleName("Text of the ending")
        self.text.setTabChangesFocus(True)
        self.text.setMinimumHeight(4 * self.fontMetrics().lineSpacing())
        self.text.moveCursor(QTextCursor.MoveOperation.End)
        self.restored = label("This is what you had typed before it was saved.", "warn")
        self.restored.setVisible(bool(draft) and draft != text)
        self.content.addWidget(label(beginning, "strong"))
        self.content.addWidget(label(f"✓ found: {found}", "good"))
        self.content.addWidget(label(f"Until now: {text}", "muted"))
        self.content.addWidget(self.restored)
        self.content.addWidget(self.text, 1)
        self._kept = draft
        self._beat = QTimer(self)
        self._beat.setInterval(DRAFT)
        self._beat.timeout.connect(self.keep_draft)
        self._beat.start()
        self.finished.connect(self._beat.stop)
        self.rejected.connect(lambda: self.draft.emit(""))
        self.text.textChanged.connect(self._check)
        self._check()
        self.resize(ems(self, 90), 16 * self.fontMetrics().lineSpacing())
        self.text.setFocus()

    def _check(self) -> None:
        text = self.text.toPlainText()
        self.trouble.setText(text_problem(text, self._found, self._others))
        self.yes.setEnabled(text != self._before and not self.trouble.text())

    def keep_draft(self) -> None:
        """Has what is typed kept, if it became something else."""
        text = self.text.toPlainText()
        if text != self._kept and (text != self._before or self._kept):
            self._kept = text
            self.draft.emit(text)

    def decide(self) -> None:
        if self.yes.isEnabled():
            self.decided.emit(self.text.toPlainText())


class ReplaceDialog(_Dialog):
    """Candidates of the pool, the most fitting first."""

    decided = Signal(str)

    def __init__(
        self, beginning: str, text: str, found: str, parent: QWidget | None = None
    ) -> None:
        super().__init__("Replace an ending from the pool", "Replace", parent)
        self.note = label("Reading the candidates …", "muted")
        self.table = Table("Candidates", [], "There is no other candidate that may stand here.")
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.setMinimumHeight(10 * self.fontMetrics().lineSpacing())
        self.table.opened.connect(lambda _: self.decide())
        self.table.chosen.connect(self._show_chosen)
        self.chosen = label(role="strong")
        self.content.addWidget(label(beginning, "strong"))
        self.content.addWidget(label(f"✓ found: {found}", "good"))
        self.content.addWidget(label(f"Replaces: {text}", "muted"))
        self.content.addWidget(self.note)
        self.content.addWidget(self.table, 1)
        self.content.addWidget(self.chosen)
        self.yes.setEnabled(False)
        resize_on_screen(self, ems(self, 150), 30 * self.fontMetrics().lineSpacing())

    def show_offers(self, names: Sequence[str], offers: Sequence[Offer]) -> None:
        """What may stand there, in order."""
        columns = [
            Column("Candidate", lambda o: o[0].text, stretch=True),
            Column("Distance", lambda o: o[1], plain, "From the found ending"),
        ]
        for i, name in enumerate(names):
            if not (known := feature(name)).shared:
                columns.append(_number(i, known))
        self.note.setText(
            f"{count(len(offers), 'candidate')}. The one most like the found ending in the numbers "
            "of the language models comes first: the ensemble has not scored what it did not "
            "assign. Equal texts, and what was cut off or is too short, are left out."
        )
        self.table.set_columns(columns)
        self.table.set_rows(list(offers))
        if offers:
            self.table.selectRow(0)
            self.table.setFocus()

    def _show_chosen(self, offer: Offer | None) -> None:
        self.yes.setEnabled(offer is not None)
        self.chosen.setText(offer[0].text if offer else "")

    def fail(self, text: str) -> None:
        """The candidates could not be read."""
        self.note.setText(text)
        set_role(self.note, "bad")

    def decide(self) -> None:
        if (chosen := self.table.current()) is not None:
            self.decided.emit(chosen[0].text)


def _number(i: int, known: Feature) -> Column:
    def get(offer: Offer) -> float:
        return offer[0].features[i]

    form = ",.0f" if known.unit == TOKENS else ",.2f"
    return Column(known.title, get, lambda v: plain(v, form), f"{known.name}. {known.definition}")


class BulkDialog(_Dialog):
    """What a change of many contexts would do, before it does it, and then how far it is."""

    decided = Signal()
    stopped = Signal()  # what is not done yet is to be left

    def __init__(self, change: Change, contexts: int, parent: QWidget | None = None) -> None:
        super().__init__(change.named(contexts), "…", parent)
        self.change = change
        self.note = label("Counting …")
        self.progress = StepBar()
        self.progress.hide()
        self.content.addWidget(self.note)
        self.content.addWidget(self.progress)
        self.yes.setEnabled(False)
        self.yes.setText(change.named(contexts))

    def show_preview(self, contexts: int, left: int) -> None:
        """How many contexts there are, and how many of them stay as they are."""
        changed = contexts - left
        of_which = f", of which {left:,} {'is' if left == 1 else 'are'} {self.change.done}"
        told = f"{count(contexts, 'context')}{of_which if left else ''}."
        undo = " One step: Edit > Undo takes it back." if changed else " Nothing would change."
        self.note.setText(told + undo)
        self.yes.setText(self.change.named(changed))
        self.yes.setEnabled(bool(changed))

    def decide(self) -> None:
        self.yes.setEnabled(False)  # once
        self.progress.show()
        self.no.setText("Stop")
        self.decided.emit()

    def refuse(self, text: str) -> None:
        super().refuse(text)
        self.progress.hide()
        self.no.setText("Cancel")

    def reject(self) -> None:
        """Cancel, Esc and the window's own button: while it is being done they stop it."""
        if self.progress.isHidden():
            super().reject()
        else:
            self.stopped.emit()
