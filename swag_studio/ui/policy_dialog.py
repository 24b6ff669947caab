"""Forms of settings that stand in a dataclass, and the dialog for the rules of human work.

What may stand in a field is decided by the dataclass alone; the form shows its answer in place.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.errors import RecipeError
from swag_studio.recipe import checked_section
from swag_studio.ui.forms import Field, readable, text_of
from swag_studio.ui.page import not_by_enter, resize_on_screen, scrolled, set_role
from swag_studio.ui.theme import ems

LABELS = {
    "judgements": "Judgements needed",
    "top_places": "Places that count as chosen",
    "distractors_needed": "Wrong endings needed",
    "distractors_most": "Wrong endings at most",
    "extra_questions": "Extra training questions",
    "extra_rounds": "Rounds that give extra questions",
    "label_rule": "Labels of several annotators",
    "rank_rule": "Ranks of several annotators",
    "likely_tie": "Ties of likely and unlikely",
    "worker_threshold": "Found among the best two, at least",
    "worker_minimum": "Contexts before anyone is warned",
    "interval": "Confidence of the interval",
    "questions": "Questions wanted",
    "count_extra": "Count extra training questions",
    "first_yield": "First rounds with a question",
    "further_yield": "Further rounds with one",
    "extra_yield": "Extra questions per context",
    "first": "First contexts, judged by several",
    "by": "Annotators of each of those",
    "rest": "Annotators of each other context",
    "seconds": "Time for one judgement",
    "pay": "Pay per hour",
}


class SettingsForm(QWidget):
    """All `setting` fields of a frozen dataclass. `changed` carries a whole, valid one.

    `section` is what the dataclass calls itself before its keys in what RecipeError says.
    """

    changed = Signal(object)

    def __init__(self, values: Any, section: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.section, self._values = section, values
        self.fields: dict[str, Field] = {}
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        for f in dataclasses.fields(values):
            label = LABELS.get(f.name, readable(f.name))
            field = self.fields[f.name] = Field(label, getattr(values, f.name), f.metadata)
            field.edited.connect(lambda value, f=f: self._edited(f, value))
            layout.addWidget(field)
        layout.addStretch(1)
        self.show_values(values)

    @property
    def values(self) -> Any:
        """The dataclass with the last valid values."""
        return self._values

    def show_values(self, values: Any) -> None:
        """Shows others of the same kind, beside the defaults."""
        self._values = values
        for f in dataclasses.fields(values):
            self.fields[f.name].set_preset(f.default, "default")
            self.fields[f.name].show_value(getattr(values, f.name))

    def _edited(self, f: dataclasses.Field[Any], value: Any) -> None:
        field, before = self.fields[f.name], getattr(self._values, f.name)
        given = dataclasses.asdict(self._values) | {f.name: _typed(value, f)}
        try:
            values = checked_section(type(self._values), self.section or "settings", given)
        except RecipeError as refusal:
            field.refuse(f"{_with_labels(str(refusal))} It stays {text_of(before)}.")
            return
        changed, self._values = values != self._values, values
        field.show_value(getattr(values, f.name))
        if changed:
            self.changed.emit(values)


def _typed(value: Any, f: dataclasses.Field[Any]) -> Any:
    """What was typed as a number where the field wants one; else it is left for the check."""
    make = {"int": int, "float": float}.get(str(f.type))
    if make is None or not isinstance(value, str):
        return value
    try:
        return make(value.replace(",", "").strip())
    except ValueError:
        return value


def _with_labels(refusal: str) -> str:
    """A refusal with labels in the place of keys: "plan.pay must" -> "“Pay per hour” must"."""
    return re.sub(
        r"\b[a-z]+\.([a-z_]+)", lambda key: f"“{LABELS.get(key[1], readable(key[1]))}”", refusal
    )


class PolicyDialog(QDialog):
    """Several settings of human work, a tab each. Emits `saved` with those that were changed."""

    saved = Signal(dict)  # name -> dataclass

    def __init__(
        self,
        settings: Mapping[str, tuple[str, str, Any]],
        parent: QWidget | None = None,
    ) -> None:
        """`settings` is name -> (tab, what it decides in a sentence, values)."""
        super().__init__(parent)
        self.setWindowTitle("Rules of verification")
        self._before = {name: values for name, (_, _, values) in settings.items()}
        self.forms: dict[str, SettingsForm] = {}
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Rules")
        self.tabs.setDocumentMode(True)
        for name, (tab, words, values) in settings.items():
            form = self.forms[name] = SettingsForm(values, name)
            form.changed.connect(lambda _: self._tell())
            self.tabs.addTab(scrolled(form, words), tab)
        self.note = QLabel("")
        self.note.setWordWrap(True)
        set_role(self.note, "muted")
        layout = QVBoxLayout(self)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.note)
        layout.addWidget(self._buttons())
        resize_on_screen(self, ems(self, 80), 32 * self.fontMetrics().lineSpacing())
        self._tell()

    def _buttons(self) -> QDialogButtonBox:
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.RestoreDefaults | kinds.Cancel | kinds.Save)
        self.save = buttons.button(kinds.Save)
        buttons.button(kinds.RestoreDefaults).clicked.connect(self._restore)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        not_by_enter(buttons)
        return buttons

    @property
    def changes(self) -> dict[str, Any]:
        """The settings that are not as they were."""
        values = {name: form.values for name, form in self.forms.items()}
        return {name: v for name, v in values.items() if v != self._before[name]}

    def accept(self) -> None:
        changes = self.changes
        super().accept()
        if changes:
            self.saved.emit(changes)

    def _restore(self) -> None:
        """The tab that is seen, back to its defaults."""
        name = list(self.forms)[self.tabs.currentIndex()]
        self.forms[name].show_values(type(self._before[name])())
        self._tell()

    def _tell(self) -> None:
        self.save.setEnabled(bool(self.changes))
        self.note.setText(
            "All verdicts are found anew by these rules; answers stay as they were given."
            if "policy" in self.changes
            else "Nothing of what people answered changes with these rules."
        )
