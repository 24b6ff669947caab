"""Before a release is written: what would be in it, and what the checks found.

Panels show and tell by signals; they read nothing and start nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from swag_studio.ui import release_readings as readings
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import prose, set_role
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import count
from swag_studio.views import Outlook, Rehearsal

SPLIT_COLUMNS = (
    Column("Split", lambda row: row[0], stretch=True),
    Column("Questions", lambda row: row[1]["all"]),
    Column("Found right", lambda row: row[1]["gold"], help="The right ending is the found one"),
    Column(
        "Generated right",
        lambda row: row[1]["gen"],
        help="People put a generated ending above the found one; for training only",
    ),
    Column("Not judged", lambda row: row[1]["unverified"] or None, optional=True),
    Column("Videos", lambda row: row[1]["groups"], help="Or movies: a split never shares one"),
)
LEFT_OUT_COLUMNS = (
    Column("Contexts without a question", lambda row: row[0], stretch=True),
    Column("Contexts", lambda row: row[1]),
    Column("Where", lambda row: row[2], help="The page on which that can be changed"),
)
MARKS = {"error": "✗ error", "warning": "⚠ warning"}
PROBLEM_COLUMNS = (
    Column("Level", lambda p: MARKS.get(p["level"], p["level"])),
    Column("Found", lambda p: p["count"]),
    Column("What", lambda p: p["sentence"], stretch=True),
)


class Card(QFrame):
    """A bordered surface with a heading."""

    def __init__(self, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(10, 10, 10, 10)
        self.heading = prose("heading", heading)
        self.column.addWidget(self.heading)


class OutlookPanel(Card):
    """What a release would hold now, by split and kind, and which contexts give no question."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("In a release now", parent)
        self.told, self.by, self.banner = prose(), prose("muted"), prose("warn")
        self.splits = Table("Questions by split", SPLIT_COLUMNS, most=4)
        self.left_out = Table("Contexts without a question", LEFT_OUT_COLUMNS, most=6)
        for widget in (self.told, self.banner, self.splits, self.left_out, self.by):
            self.column.addWidget(widget)
        self.say("Counting what people decided …")

    def say(self, text: str, role: str = "muted") -> None:
        """Words, and no tables."""
        self.told.setText(text)
        set_role(self.told, role)
        for widget in (self.splits, self.left_out, self.by, self.banner):
            widget.hide()

    def show_outlook(self, outlook: Outlook) -> None:
        """The counts. What needs no mention is not shown."""
        counts, people = outlook.counts, outlook.people
        self.told.setText(
            f"{count(outlook.questions, 'question')} from {count(counts['contexts'], 'context')}, "
            f"{counts['with_fourth']:,} of them with a fourth wrong ending in the full files. "
            f"Apart from them: {count(counts['surprising'], 'surprising pair')}, "
            f"{count(counts['preferences'], 'preference')}."
            if outlook.questions
            else "No question yet."
        )
        set_role(self.told, "" if outlook.questions else "muted")
        self.splits.set_rows(readings.splits_of(outlook))
        self.splits.setVisible(bool(outlook.questions))
        left = counts["left_out"]
        rows = [(text, left[why], where) for why, (text, where) in readings.LEFT_OUT.items()
                if why in left]  # fmt: skip
        self.left_out.set_rows(rows)
        self.left_out.setVisible(bool(rows))
        self.by.setText(readings.verified_by(people))
        self.by.show()
        banner = _banner(people)
        self.banner.setText(banner)
        self.banner.setVisible(bool(banner))


def _banner(people: Mapping[str, Any]) -> str:
    """What must be known before such a release is passed on."""
    parts = []
    if people["simulated_judgements"]:
        how = "in part" if people["judgements"] else "only"
        parts.append(f"◇ Simulated: verified {how} by simulated annotators. It is no benchmark.")
    if "simulation" in people.get("feedback_by", ""):
        parts.append("◇ Simulated: the filter went on with what simulated annotators said.")
    if unverified := people["unverified_questions"]:
        verb = "was" if unverified == 1 else "were"
        parts.append(f"⚠ Unverified: {count(unverified, 'question')} {verb} judged by nobody.")
    return "\n".join(parts)


class CheckPanel(Card):
    """What the checks found. `context_wanted` asks for a context to be shown."""

    context_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Checks", parent)
        self.told = prose("muted")
        self.problems = Table("Faults", PROBLEM_COLUMNS, most=6)
        self.problems.chosen.connect(lambda _: self._show_places())
        self.where = prose("muted", "First places, to open in Review:")
        self.places: list[QPushButton] = []
        self._flow = FlowLayout(spacing=6)
        for widget in (self.told, self.problems, self.where):
            self.column.addWidget(widget)
        self.column.addLayout(self._flow)
        self.column.addStretch(1)
        self.say(
            "Not checked yet. The checks look for repeated options, the right ending among the "
            "wrong ones, empty endings, videos or contexts in two splits, answers that another "
            "split tells, places of the right ending that are no chance, and stray characters."
        )

    def say(self, text: str, role: str = "muted") -> None:
        """Words, and no table."""
        self.told.setText(text)
        set_role(self.told, role)
        self.problems.hide()
        self._put_places(())

    def show_rehearsal(self, rehearsal: Rehearsal) -> None:
        """The faults, errors first; the first one's places at once."""
        problems = rehearsal.problems
        errors = sum(p["level"] == "error" for p in problems)
        questions = count(rehearsal.outlook.questions, "question")
        normal = (
            f" In {rehearsal.continued:,} the found ending goes on as the context of another "
            "question of the same split, which is normal."
            if rehearsal.continued
            else ""
        )
        if not problems:
            self.say(f"✓ {questions} checked, no fault found.{normal}", "good")
            return
        warnings = len(problems) - errors
        found = [count(errors, "kind of error", "kinds of error")] if errors else []
        found += [count(warnings, "kind of warning", "kinds of warning")] if warnings else []
        blocks = " Errors block the release unless they are overridden." if errors else ""
        self.say(f"{'✗' if errors else '⚠'} {questions} checked: {' and '.join(found)}."
                 f"{blocks}{normal}", "bad" if errors else "warn")  # fmt: skip
        self.problems.set_rows(problems)
        self.problems.show()
        self._show_places()

    def _show_places(self) -> None:
        rows = self.problems.rows_model.rows
        problem = self.problems.current() or (rows[0] if rows else None)
        self._put_places(problem["places"] if problem and not self.problems.isHidden() else ())

    def _put_places(self, places: Sequence[str]) -> None:
        """A button for each place with a context: "train 70, CONTEXT"; others are words."""
        for button in self.places:
            self._flow.removeWidget(button)
            button.hide()  # until the event loop deletes it
            button.deleteLater()
        self.places = []
        for place in places:
            row, _, context = place.partition(", ")
            button = QPushButton(f"{row} ›" if context else place)
            button.setEnabled(bool(context))
            button.setAccessibleName(f"Open the context of {row} in Review" if context else place)
            button.clicked.connect(partial(self._want, context))
            self._flow.addWidget(button)
            button.show()
            self.places.append(button)
        self.where.setVisible(bool(places))

    def _want(self, context: str, _: bool = False) -> None:
        self.context_wanted.emit(context)
