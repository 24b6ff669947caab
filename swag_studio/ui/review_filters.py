"""What narrows the curators' table: search as one types, choices, and filters kept under a name.

It makes a ReviewFilter and tells when it became another one; it reads nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from swag_studio.reviewing import FLAGS, ReviewFilter
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import set_role
from swag_studio.ui.review_dialogs import NameDialog
from swag_studio.ui.theme import ems
from swag_studio.ui.words import count, since, verdict

TYPING = 200  # ms after the last key before it is searched

Options = Mapping[str, Sequence[tuple[Any, str]]]  # field -> (value, words)

# field -> (what an accessible name says, the first item of the list)
_CHOICES = {
    "status": ("Judging", "Judging: any"),
    "verdict": ("Verdict", "Verdict: any"),
    "source": ("Source", "Source: any"),
    "split": ("Split", "Split: any"),
    "fold": ("Fold", "Fold: any"),
    "annotator": ("Annotator", "Annotator: any"),
    "flag": ("Flag", "Flag: any"),
    "edited": ("Edited", "Edited or not"),
    "excluded": ("Excluded", "Excluded or not"),
}
_FIXED: Options = {
    "flag": [(flag, f"Flag: {flag}") for flag in FLAGS],
    "edited": [(True, "Edited"), (False, "Not edited")],
    "excluded": [(True, "Excluded"), (False, "Not excluded")],
}


def options_of(
    values: Mapping[str, Sequence[tuple[Any, int]]],
    files: Mapping[str, str],
    annotators: Sequence[tuple[str, str]],
) -> Options:
    """What the lists offer, from (value, contexts) of each column, with counts."""
    words = {
        "status": lambda v: str(v),
        "verdict": lambda v: verdict(v),
        "source": lambda v: files.get(v, v),
        "split": lambda v: str(v),
        "fold": lambda v: f"Fold {v}",
    }
    columns = {
        field: [(value, f"{words[field](value)} ({n:,})") for value, n in sorted(values[field])]
        for field in words
    }
    return {**columns, **_FIXED, "annotator": list(annotators)}


class Choice(QComboBox):
    """One of a few values, or any."""

    def __init__(self, name: str, any_words: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._any = any_words
        self.setMaxVisibleItems(20)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.offer([])

    @property
    def value(self) -> Any:
        """The chosen value; None for any."""
        return self.currentData()

    def offer(self, options: Sequence[tuple[Any, str]]) -> None:
        """Other values to choose from; the chosen one stays, also where it is none of them."""
        kept, words = self.value, self.currentText()
        silent = self.blockSignals(True)
        self.clear()
        self.addItem(self._any, None)
        for value, text in options:
            self.addItem(text if len(text) <= 32 else f"{text[:31]}…", value)
        self.choose(kept, words)
        self.blockSignals(silent)

    def choose(self, value: Any, words: str = "") -> None:
        """Chooses a value; one that is not offered is added."""
        at = next((i for i in range(self.count()) if self.itemData(i) == value), -1)
        if at < 0:
            self.addItem(words or str(value), value)
            at = self.count() - 1
        self.setCurrentIndex(at)


class Iteration(QSpinBox):
    """An iteration, counted from 1 on the screen; the first draw before them; any below."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setRange(-2, 9999)
        self.setSpecialValueText("any")
        self.setValue(-2)
        self.setAccessibleName(name)
        self.setKeyboardTracking(False)

    def textFromValue(self, value: int) -> str:
        return "draw" if value < 0 else f"{value + 1}"

    def valueFromText(self, text: str) -> int:
        words = text.strip()
        return int(words) - 1 if words.isdigit() else -1 if words == "draw" else -2

    def validate(self, text: str, at: int) -> Any:
        fits = text.strip().isdigit() or text in ("any", "draw")
        return (QValidator.State.Acceptable if fits else QValidator.State.Intermediate), text, at

    @property
    def bound(self) -> int | None:
        """The iteration from 0, -1 for the first draw; None for any."""
        return None if self.value() == -2 else self.value()


class FilterBar(QWidget):
    """Tells `changed` with a ReviewFilter, and `saved_changed` with the kept ones by name."""

    changed = Signal(object)
    saved_changed = Signal(dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._saved: dict[str, dict[str, Any]] = {}
        self._told = ReviewFilter()
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(TYPING)
        self._typed.timeout.connect(self._tell)
        self._build()

    def _build(self) -> None:
        self.text = QLineEdit()
        self.text.setPlaceholderText("Search all texts: words, or how they begin")
        self.text.setAccessibleName("Search all texts")
        self.text.setClearButtonEnabled(True)
        self.text.setMinimumWidth(ems(self, 24))
        self.text.textChanged.connect(self._typed.start)
        self.text.returnPressed.connect(self._tell)
        self.counts = QLabel("")
        set_role(self.counts, "strong")
        self.counts.setAccessibleName("Contexts shown")
        self.choices = {field: Choice(*words) for field, words in _CHOICES.items()}
        self.newest_from = Iteration("Changed from iteration")
        self.newest_to = Iteration("Changed up to iteration")
        self.saved = QComboBox()
        self.saved.setAccessibleName("Saved filters")
        self.saved.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.saved.activated.connect(self._use_saved)
        self.save = QPushButton("Save filter …")
        self.save.setToolTip("Keep this filter in the project, under a name")
        self.save.clicked.connect(self.ask_name)
        self.forget = QPushButton("Delete")
        self.forget.setToolTip("Delete the chosen saved filter")
        self.forget.clicked.connect(self._forget)
        self.clear = QPushButton("Show all")
        self.clear.clicked.connect(lambda: self.show_filter(ReviewFilter()))
        top = QHBoxLayout()
        top.addWidget(self.text, 1)
        top.addWidget(self.counts)
        flow = FlowLayout(spacing=6)
        for choice in self.choices.values():
            choice.currentIndexChanged.connect(self._tell)
            flow.addWidget(choice)
        for spin in (self.newest_from, self.newest_to):
            spin.valueChanged.connect(self._tell)
        flow.addWidget(_beside("Changed from", self.newest_from, "to", self.newest_to))
        for widget in (self.clear, self.saved, self.save, self.forget):
            flow.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(top)
        layout.addLayout(flow)
        self.show_saved({})

    # --- asked by the page ---------------------------------------------------------------

    def offer(self, options: Options) -> None:
        """What the lists may be set to."""
        for field, choice in self.choices.items():
            choice.offer(options.get(field, []))

    def show_count(self, shown: int, total: int) -> None:
        """How many contexts the filter lets through."""
        all_words = count(total, "context")
        self.counts.setText(all_words if shown == total else f"{shown:,} of {all_words}")

    @property
    def filter(self) -> ReviewFilter:
        """As it stands, also while someone types."""
        values = {field: choice.value for field, choice in self.choices.items()}
        named = {field: value for field, value in values.items() if value is not None}
        return ReviewFilter(
            text=self.text.text().strip(),
            newest_from=self.newest_from.bound,
            newest_to=self.newest_to.bound,
            **named,
        )

    def show_filter(self, narrow: ReviewFilter) -> None:
        """Sets every part, and tells once."""
        parts: list[QWidget] = [self.text, *self.choices.values(), self.newest_from, self.newest_to]
        for part in parts:
            part.blockSignals(True)
        self.text.setText(narrow.text)
        for field, choice in self.choices.items():
            value = getattr(narrow, field)
            choice.choose(None if value == "" else value)
        for spin, bound in (
            (self.newest_from, narrow.newest_from),
            (self.newest_to, narrow.newest_to),
        ):
            spin.setValue(-2 if bound is None else bound)
        for part in parts:
            part.blockSignals(False)
        self._tell()

    def show_saved(self, saved: Mapping[str, dict[str, Any]], chosen: str = "") -> None:
        """The kept filters, by name."""
        self._saved = dict(sorted(saved.items()))
        self.saved.clear()
        self.saved.addItem("Saved filters" if saved else "No saved filters yet", "")
        for name in self._saved:
            self.saved.addItem(name, name)
        self.saved.setCurrentIndex(max(0, self.saved.findData(chosen)))
        self.saved.setEnabled(bool(saved))
        self.forget.setEnabled(bool(saved))

    # --- within --------------------------------------------------------------------------

    def _tell(self) -> None:
        self._typed.stop()
        narrow = self.filter
        if narrow != self._told:
            self._told = narrow
            self.clear.setEnabled(narrow != ReviewFilter())
            self.changed.emit(narrow)

    def ask_name(self) -> NameDialog:
        """Asks what the present filter is to be called."""
        dialog = NameDialog(
            "Save filter",
            "A name for this filter. One that has the name already is replaced.",
            words_of(self.filter, self.choices),
            self,
        )
        dialog.named.connect(self._keep)
        dialog.open()
        return dialog

    def _keep(self, name: str) -> None:
        kept = {**self._saved, name: self.filter.to_dict()}
        self.show_saved(kept, name)
        self.saved_changed.emit(kept)

    def _use_saved(self, _: int) -> None:
        if name := self.saved.currentData():
            self.show_filter(ReviewFilter.from_dict(self._saved[name]))

    def _forget(self) -> None:
        if name := self.saved.currentData():
            rest = {n: values for n, values in self._saved.items() if n != name}
            self.show_saved(rest)
            self.saved_changed.emit(rest)


def words_of(narrow: ReviewFilter, choices: Mapping[str, Choice]) -> str:
    """A filter in words, as a name to begin with."""
    parts = [f"“{narrow.text}”"] if narrow.text else []
    for field in dataclasses.fields(narrow):
        if field.name in choices and choices[field.name].value is not None:
            parts.append(choices[field.name].currentText().rsplit(" (", 1)[0])
    if narrow.newest_from is not None:
        parts.append(f"from {since(narrow.newest_from)}")
    if narrow.newest_to is not None:
        parts.append(f"up to {since(narrow.newest_to)}")
    return ", ".join(parts) or "All contexts"


def _beside(*parts: QWidget | str) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    for part in parts:
        row.addWidget(QLabel(part) if isinstance(part, str) else part)
    row.setAlignment(Qt.AlignmentFlag.AlignLeft)
    return holder
