"""The recipe as a form, made from the recipe's own fields: labels, ranges, units and help.

What may stand in a field is decided by the recipe alone; the form shows its answer in place. It
shows what a change makes out of date, and the way back to the value of the preset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.errors import RecipeError
from swag_studio.project import StageState
from swag_studio.recipe import PRESETS, STAGE_SECTIONS, STAGES, Recipe, preset
from swag_studio.ui.page import STATE_MARKS, set_role
from swag_studio.ui.words import SETTINGS, STAGE_TITLES

States = Callable[[Recipe], Sequence[StageState]]
_LONGEST = 16  # letters of a preset's value on its button


class RecipeForm(QWidget):
    """One section of a recipe. `changed` carries a whole, valid recipe.

    `states` says where the stages stand with a recipe (Project.states), so that a change can tell
    what it makes out of date.
    """

    changed = Signal(object)

    def __init__(
        self,
        section: str,
        recipe: Recipe,
        parent: QWidget | None = None,
        *,
        states: States | None = None,
    ) -> None:
        super().__init__(parent)
        self.section, self._recipe, self._states = section, recipe, states
        self.fields: dict[str, Field] = {}
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        for f in fields(getattr(recipe, section)):
            field = self.fields[f.name] = Field(f.name, self._value(f.name), f.metadata)
            field.edited.connect(lambda value, name=f.name: self._edited(name, value))
            layout.addWidget(field)
        layout.addStretch(1)
        self.set_recipe(recipe)

    @property
    def recipe(self) -> Recipe:
        """The recipe with the last valid values."""
        return self._recipe

    def set_recipe(self, recipe: Recipe) -> None:
        """Shows another recipe's values, beside those of the preset that is nearest to it."""
        self._recipe = recipe
        name = nearest_preset(recipe)
        values = getattr(preset(name), self.section)
        for key, field in self.fields.items():
            field.set_preset(getattr(values, key), name)
            field.show_value(self._value(key))

    def show_field(self, name: str) -> None:
        """Takes the focus, and the eye, to a field: also where the page itself scrolls."""
        field = self.fields[name]
        above = self.parentWidget()
        while above is not None:
            if isinstance(above, QScrollArea):
                above.ensureWidgetVisible(field)
            above = above.parentWidget()
        field.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _value(self, name: str) -> Any:
        return getattr(getattr(self._recipe, self.section), name)

    def _edited(self, name: str, value: Any) -> None:
        field = self.fields[name]
        try:
            recipe = self._recipe.with_values({f"{self.section}.{name}": value})
        except RecipeError as refusal:
            field.refuse(f"{in_words(str(refusal))} It stays {text_of(self._value(name))}.")
            return
        before, self._recipe = self._recipe, recipe
        field.show_value(self._value(name))
        if recipe != before:
            for other in self.fields.values():
                other.tell("")
            field.tell(*self._consequences(before, recipe))
            self.changed.emit(recipe)

    def _consequences(self, before: Recipe, recipe: Recipe) -> tuple[str, str]:
        if self._states is None:
            return depends_on(self.section), "muted"
        return consequences(self.section, self._states(before), self._states(recipe))


class Field(QWidget):
    """One setting: editor, unit, help with its range, the way back to the preset's value.

    `edited` carries a value as it was typed or chosen; the field does not know what is allowed.
    """

    edited = Signal(object)

    def __init__(self, name: str, value: Any, metadata: Any) -> None:
        super().__init__()
        self._label, self._preset, self._value = readable(name), value, value
        self.editor = self._editor(value, metadata["choices"])
        self.editor.setAccessibleName(self._label)
        self._help = metadata["help"] + span(metadata)
        self.editor.setToolTip(self._help)
        self.reset = QToolButton()
        self.reset.clicked.connect(self._go_back)
        line = QHBoxLayout()
        line.addWidget(self.editor, 1)
        if metadata["unit"]:
            line.addWidget(QLabel(metadata["unit"]))
        line.addWidget(self.reset)
        help_text = _words("muted")
        help_text.setText(self._help)
        self.error, self.note = _words("bad"), _words("muted")
        label = QLabel(self._label)
        label.setBuddy(self.editor)
        set_role(label, "strong")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(label)
        column.addLayout(line)
        for words in (help_text, self.error, self.note):
            column.addWidget(words)
        self.refuse("")
        self.tell("")

    def _editor(self, value: Any, choices: tuple[str, ...]) -> QWidget:
        if isinstance(value, bool):
            box = QCheckBox()
            box.toggled.connect(self.edited.emit)
            return box
        if choices:
            combo = _Choice()
            combo.addItems(list(choices))
            combo.currentTextChanged.connect(self.edited.emit)
            return combo
        line = QLineEdit()
        line.editingFinished.connect(lambda: self.edited.emit(line.text()))
        line.textEdited.connect(lambda _: self._show_way_back())
        line.setMinimumWidth(90)
        return line

    # --- showing -----------------------------------------------------------------------------

    def set_preset(self, value: Any, name: str) -> None:
        """The value to go back to, and whose it is."""
        self._preset = value
        words = text_of(value)
        short = words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
        self.reset.setText(f"↺ {short}")
        self.reset.setToolTip(f"Back to {words}, the value of the preset “{name}”")
        self.reset.setAccessibleName(f"{self._label}: back to {words}, the preset's value")

    def show_value(self, value: Any) -> None:
        """Shows a valid value; what was said of another one is gone."""
        self._value = value
        blocked = self.editor.blockSignals(True)
        if isinstance(self.editor, QCheckBox):
            self.editor.setChecked(value)
        elif isinstance(self.editor, QComboBox):
            self.editor.setCurrentText(value)
        elif isinstance(self.editor, QLineEdit):
            self.editor.setText(typed(value))
        self.editor.blockSignals(blocked)
        self.refuse("")
        self.tell("")

    def refuse(self, text: str) -> None:
        """Says under the field why its value cannot be; nothing, where it can."""
        self.error.setText(text and f"⚠ {text}")
        self.error.setVisible(bool(text))
        self.editor.setAccessibleDescription(text or self._help)
        self._show_way_back()

    def tell(self, text: str, role: str = "muted") -> None:
        """Says under the field what its new value leads to."""
        self.note.setText(text)
        set_role(self.note, role)
        self.note.setVisible(bool(text))

    def _show_way_back(self) -> None:
        pending = isinstance(self.editor, QLineEdit) and self.editor.text() != typed(self._value)
        self.reset.setVisible(self._value != self._preset or pending)

    def _go_back(self) -> None:
        self.editor.setFocus()  # its button goes
        self.edited.emit(self._preset)


class _Choice(QComboBox):
    """A choice that the wheel only changes while it has the focus: else the form scrolls."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def _words(role: str) -> QLabel:
    label = QLabel("")
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    set_role(label, role)
    return label


# --- words -------------------------------------------------------------------------------------


def readable(name: str) -> str:
    """A setting's name as a label: "max_gap" -> "Longest pause", "mlp_width" -> "MLP width"."""
    words = name.replace("_", " ")
    made = (words[0].upper() + words[1:]).replace("Lm", "LM").replace("Mlp", "MLP")
    return SETTINGS.get(name, made)


def in_words(refusal: str) -> str:
    """A sentence of the recipe's with labels in the place of its keys."""
    keys = re.compile(rf"\b(?:{'|'.join(f.name for f in fields(Recipe))})\.(\w+)")
    return keys.sub(lambda key: f"“{readable(key[1])}”", refusal)


def typed(value: Any) -> str:
    """A value as it stands in a line, and can be typed: 1e-06 -> "0.000001"."""
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, float):
        plain = f"{value:.10f}".rstrip("0").removesuffix(".")
        return plain if float(plain) == value else repr(value)
    return str(value)


def text_of(value: Any) -> str:
    """A value in a sentence."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return typed(value) or "empty"


def span(metadata: Any) -> str:
    """The allowed range in words, where the field has one."""
    low, high = metadata["low"], metadata["high"]
    if low is None or high is None:
        return ""
    return f" From {_bound(low)} to {_bound(high)}."


def _bound(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else typed(value)


# --- presets and stages ------------------------------------------------------------------------


def nearest_preset(recipe: Recipe) -> str:
    """The preset that differs from the recipe in the fewest values: where it began, most likely."""
    return min(PRESETS, key=lambda name: len(recipe.changes(preset(name))))


def _stages_of(section: str) -> tuple[str, ...]:
    """The stages that a section decides, by itself or through an earlier stage."""
    own = [i for i, stage in enumerate(STAGES) if section in STAGE_SECTIONS[stage]]
    return STAGES[min(own, default=0) :]


def _titles(stages: Sequence[str]) -> str:
    return ", ".join(STAGE_TITLES[stage] for stage in stages)


def depends_on(section: str) -> str:
    """What a change of a section's values decides, whatever has been made."""
    return f"These steps depend on it: {_titles(_stages_of(section))}."


def consequences(
    section: str, before: Sequence[StageState], after: Sequence[StageState]
) -> tuple[str, str]:
    """What a change did to what is made: a sentence and its role; none where nothing is made."""
    concerned = _stages_of(section)
    was = {s.stage: s for s in before if s.stage in concerned}
    now = [s for s in after if s.stage in concerned]
    stale = [s.stage for s in now if s.state == "stale"]
    broken = [s.stage for s in now if was[s.stage].state == "unfinished" != s.state]
    done = [s.stage for s in now if s.state == "done"]
    told = []
    if stale:
        text = f"{STATE_MARKS['stale']} Out of date with these values: {_titles(stale)}."
        told.append(f"{text} What was made is kept.")
    if broken:
        told.append(f"{STATE_MARKS['unfinished']} Starts anew: {_titles(broken)}.")
    if told:
        return " ".join(told), "warn"
    if done:
        return f"{STATE_MARKS['done']} Up to date with these values: {_titles(done)}.", "good"
    return "", "muted"
