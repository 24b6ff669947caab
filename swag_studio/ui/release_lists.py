"""Releases that are written: their list, their files, their first questions, and two compared.

Panels show what they are given and tell by signals; they read nothing themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from swag_studio.ui import release_readings as readings
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import prose, set_role, splitter
from swag_studio.ui.release_panels import Card
from swag_studio.ui.release_readings import FileRow, Written
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import count
from swag_studio.views import Comparison, Difference, ShownQuestion

RELEASE_COLUMNS = (
    Column("Release", lambda w: w.name, stretch=True),
    Column("Written (UTC)", lambda w: w.date),
    Column("Questions", lambda w: w.questions),
    Column("Verified by", lambda w: readings.BY.get(w.by, w.by)),
    Column("Size", lambda w: w.bytes, readings.size_in_words),
)
FILE_COLUMNS = (
    Column("File", lambda f: f.name, stretch=True),
    Column("Rows", lambda f: f.rows),
    Column("Size", lambda f: f.bytes, readings.size_in_words),
    Column("SHA-256", lambda f: f.sha256 or "not in the manifest", help="As in the manifest"),
)
HOW = {"added": "+ added", "removed": "− removed", "changed": "≠ changed"}
DIFFERENCE_COLUMNS = (
    Column("Change", lambda d: HOW[d.how]),
    Column("Split", lambda d: _either(d).split),
    Column("What", lambda d: ", ".join(d.what) or "the question"),
    Column("Beginning", lambda d: _either(d).start, stretch=True),
)
NO_RELEASE = (
    "No release yet. Each one will stand here with its date, its questions, who verified it, and "
    "its files."
)


def _either(difference: Difference) -> ShownQuestion:
    """As it is in the second release, or was in the first."""
    question = difference.after or difference.before
    assert question is not None
    return question


def question_html(question: ShownQuestion, note: str = "") -> str:
    """A question with its endings; the right one has a mark and stands out."""
    kind = "found" if question.gold_source == "gold" else "generated"
    judged = "" if question.verified else ", judged by nobody"
    head = note or f"{question.split}.csv, row {question.row:,} · {question.video_id}"
    lines = [
        # A text may turn the direction of reading, and does so to the end of its paragraph.
        f"<p style='margin-bottom:0'><b>{escape(question.start)} …</b></p>"
        f"<p style='margin-top:0; margin-bottom:2px'><small>{escape(head)} · "
        f"the {kind} ending is right{judged}</small></p>"
        "<table cellpadding='2'>"
    ]
    for place, ending in enumerate(question.endings):
        right = place == question.label
        text = f"<b>{escape(ending)}</b>" if right else escape(ending)
        mark = "✓" if right else ""
        lines.append(f"<tr><td width='18'>{mark}</td><td>{place}</td><td>{text}</td></tr>")
    return "".join([*lines, "</table>"])


class Reader(QTextBrowser):
    """Text to read and copy."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setMinimumHeight(80)


class QuestionsPanel(Card):
    """The first questions of each split, of a written release or as they were checked."""

    wanted = Signal(object)  # Written, or None for what was checked

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("As a reader of the CSV files sees them", parent)
        self._checked = False  # what was checked is among what can be shown
        self.of = QComboBox()
        self.of.setAccessibleName("Questions of")
        self.of.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.of.activated.connect(lambda _: self._want())
        self.text = Reader("First questions")
        line = FlowLayout(spacing=8)
        line.addWidget(self.of)
        self.column.addLayout(line)
        self.column.addWidget(self.text, 1)
        self.offer([], checked=False)

    def offer(self, written: Sequence[Written], *, checked: bool) -> None:
        """What can be shown. The choice stays while it is there, but what was checked is news."""
        kept = None if checked and not self._checked else self.of.currentData()
        self._checked = checked
        self.of.clear()
        if checked:
            self.of.addItem("As checked now", None)
        for release in written:
            self.of.addItem(release.name, release)
        names = [self.of.itemData(i) for i in range(self.of.count())]
        keep = next((i for i, w in enumerate(names) if _same(w, kept)), 0)
        self.of.setCurrentIndex(keep)
        self.of.setVisible(bool(names))
        if not names:
            self.say(
                "Once a release was checked or written, its first questions stand here: the "
                "context, the endings in their places, and the right one marked."
            )

    def _want(self) -> None:
        self.say("Reading …")  # until then those of another one stand there
        self.wanted.emit(self.of.currentData())

    def say(self, text: str, role: str = "") -> None:
        """Words in the place of questions."""
        self.text.setPlainText(text)

    def show_questions(self, questions: Sequence[ShownQuestion]) -> None:
        """Replaces what is shown."""
        self.text.setHtml("<br>".join(map(question_html, questions)) or "It has no question.")


def _same(one: Written | None, other: Written | None) -> bool:
    return (one and one.folder) == (other and other.folder)


class ReleasesPanel(QWidget):
    """The list, and below it the chosen one's files. `compare` asks for a comparison with it."""

    chosen = Signal(object)  # Written or None
    compare = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.release: Written | None = None
        above, below = Card("Releases"), Card("Files")
        self.files_heading = below.heading
        self.list = Table("Releases", RELEASE_COLUMNS, NO_RELEASE)
        self.list.chosen.connect(self._choose)
        self.list.opened.connect(lambda _: self.open_folder())
        self.files = Table("Files of the release", FILE_COLUMNS, "Choose a release above.")
        self.note, self.told = prose("muted"), prose("good")
        self.told.hide()
        self.buttons = {
            "folder": QPushButton("Open folder"),
            "card": QPushButton("Copy card"),
            "citation": QPushButton("Copy citation"),
            "compare": QPushButton("Compare …"),
        }
        self.buttons["folder"].clicked.connect(self.open_folder)
        self.buttons["card"].clicked.connect(lambda: self._copy("card"))
        self.buttons["citation"].clicked.connect(lambda: self._copy("citation"))
        self.buttons["compare"].clicked.connect(lambda: self.compare.emit(self.release))
        line = FlowLayout(spacing=6)
        for button in self.buttons.values():
            line.addWidget(button)
        above.column.addWidget(self.list, 1)
        above.column.addWidget(prose("muted", "A release is never changed or overwritten."))
        below.column.addLayout(line)
        for widget in (self.told, self.note, self.files):
            below.column.addWidget(widget)
        parts = splitter(Qt.Orientation.Vertical)
        parts.addWidget(above)
        parts.addWidget(below)
        parts.setSizes([400, 600])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addWidget(parts)
        self._choose(None)

    def show_written(self, written: Sequence[Written], choose: str = "") -> None:
        """The releases; `choose` is a version to choose, else the chosen one stays, or the newest.

        None is chosen by itself while there is none.
        """
        wanted = choose or (self.release.name if self.release else "")
        self.list.set_rows(written)
        names = [w.name for w in self.list.rows_model.rows]
        if names:
            self.list.selectRow(names.index(wanted) if wanted in names else 0)

    def show_files(self, release: Written, files: Sequence[FileRow]) -> None:
        """The files of the chosen release."""
        if self.release is not None and release.folder == self.release.folder:
            self.files.set_rows(files)

    def open_folder(self) -> None:
        """Shows the chosen release in the desktop's file manager."""
        if self.release is not None:
            open_folder(self.release.folder)

    def _choose(self, release: Written | None) -> None:
        self.release = release
        self.files_heading.setText(f"Files of {release.name}" if release else "Files")
        self.note.setText(str(release.folder) if release else "")
        self.note.setVisible(release is not None)
        self.told.hide()
        self.files.set_rows([])
        for name, button in self.buttons.items():
            button.setEnabled(release is not None and not (name == "card" and release.draft))
        self.chosen.emit(release)

    def _copy(self, what: str) -> None:
        if self.release is None:
            return
        text = {"card": readings.card_text, "citation": readings.citation}[what](self.release)
        QGuiApplication.clipboard().setText(text)
        self.told.setText(f"✓ The {what} of {self.release.name} is on the clipboard.")
        self.told.show()


class ComparePanel(Card):
    """Two releases: sentences, the questions that differ, and the chosen one before and after."""

    wanted = Signal(object, object)  # Written, Written

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("What differs between two releases", parent)
        self.first, self.second = QComboBox(), QComboBox()
        line = QHBoxLayout()
        for box, name in ((self.first, "From"), (self.second, "to")):
            box.setAccessibleName(f"{name} release")
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.activated.connect(lambda _: self.ask())
            line.addWidget(QLabel(name))
            line.addWidget(box)
        line.addStretch(1)
        self.told = prose()
        self.differences = Table("Differences", DIFFERENCE_COLUMNS, "No question differs.")
        self.differences.chosen.connect(self._show)
        self.text = Reader("Before and after")
        parts = self.parts = splitter(Qt.Orientation.Vertical)
        parts.addWidget(self.differences)
        parts.addWidget(self.text)
        self.column.addLayout(line)
        self.column.addWidget(self.told)
        self.column.addWidget(parts, 1)
        self.column.addStretch(0)
        self.offer([])

    @property
    def pair(self) -> tuple[Written, Written] | None:
        """The chosen releases; None while they are the same, or there are none."""
        first, second = self.first.currentData(), self.second.currentData()
        return (first, second) if first and second and not _same(first, second) else None

    def offer(self, written: Sequence[Written]) -> None:
        """What can be compared: at first the newest with the one before it."""
        for box, place in ((self.first, 1), (self.second, 0)):
            kept = box.currentData()
            box.clear()
            for release in written:
                box.addItem(release.name, release)
            keep = (i for i, w in enumerate(written) if kept and _same(w, kept))
            box.setCurrentIndex(next(keep, min(place, len(written) - 1)))
            box.setEnabled(len(written) > 1)
        if self.pair is None and len(written) > 1:  # there was one alone
            self.first.setCurrentIndex(1)
            self.second.setCurrentIndex(0)
        if len(written) < 2:
            self.say("With two releases, what was added, removed and changed stands here.")

    def choose(self, first: Written | None, second: Written | None = None) -> None:
        """Compares these; without a second one that which is chosen."""
        for box, release in ((self.first, first), (self.second, second)):
            at = next((i for i in range(box.count()) if _same(box.itemData(i), release)), -1)
            if release is not None and at >= 0:
                box.setCurrentIndex(at)
        self.ask()

    def ask(self) -> None:
        """Asks for the comparison of the chosen ones."""
        if self.pair is not None:
            self.say("Comparing …")
            self.wanted.emit(*self.pair)
        elif self.first.count() > 1:
            self.say("Choose two different releases.")

    def say(self, text: str, role: str = "muted") -> None:
        """Words, and no table."""
        self.told.setText(text)
        set_role(self.told, role)
        self.parts.hide()

    def show_comparison(self, comparison: Comparison) -> None:
        """The sentences and the rows."""
        more = comparison.total - len(comparison.differences)
        shown = f"The first {count(len(comparison.differences), 'difference')} are shown."
        self.say("\n".join([*comparison.words, *([shown] if more else [])]), "")
        self.differences.set_rows(comparison.differences)
        self.parts.setVisible(bool(comparison.differences))
        if comparison.differences:
            self.differences.selectRow(0)

    def _show(self, difference: Difference | None) -> None:
        if difference is None:
            self.text.clear()
            return
        sides = [("Before", difference.before), ("After", difference.after)]
        self.text.setHtml(
            "<br>".join(question_html(q, f"{side} · {q.split}.csv, row {q.row:,}")
                        for side, q in sides if q)
        )  # fmt: skip


def open_folder(folder: Path) -> None:
    """Shows a folder in the desktop's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
