"""The recipe as a form, made from the recipe's own fields: labels, ranges, units and help.

What may stand in a field is decided by the recipe alone; the form shows its answer in place.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from swag_studio.errors import RecipeError
from swag_studio.recipe import Recipe


class RecipeForm(QWidget):
    """One section of a recipe. `changed` carries a whole, valid recipe."""

    changed = Signal(object)

    def __init__(self, section: str, recipe: Recipe, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.section, self._recipe = section, recipe
        self._editors: dict[str, QWidget] = {}
        self._errors: dict[str, QLabel] = {}
        layout = QFormLayout(self)
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for f in fields(getattr(recipe, section)):
            layout.addRow(readable(f.name), self._row(f.name, f.metadata))
        self.set_recipe(recipe)

    def _row(self, name: str, metadata: Any) -> QWidget:
        value = getattr(getattr(self._recipe, self.section), name)
        editor = self._editor(name, value, metadata["choices"])
        editor.setAccessibleName(readable(name))
        editor.setAccessibleDescription(metadata["help"])
        editor.setToolTip(metadata["help"])
        self._editors[name] = editor
        line = QHBoxLayout()
        line.addWidget(editor)
        if metadata["unit"]:
            line.addWidget(QLabel(metadata["unit"]))
        help_text = QLabel(metadata["help"] + span(metadata))
        help_text.setWordWrap(True)
        help_text.setProperty("role", "muted")
        error = QLabel("")
        error.setWordWrap(True)
        error.setProperty("role", "bad")
        error.hide()
        self._errors[name] = error
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 6)
        column.setSpacing(2)
        column.addLayout(line)
        column.addWidget(help_text)
        column.addWidget(error)
        return box

    def _editor(self, name: str, value: Any, choices: tuple[str, ...]) -> QWidget:
        if isinstance(value, bool):
            box = QCheckBox()
            box.toggled.connect(lambda on: self._edited(name, on))
            return box
        if choices:
            combo = QComboBox()
            combo.addItems(list(choices))
            combo.currentTextChanged.connect(lambda text: self._edited(name, text))
            return combo
        line = QLineEdit()
        line.editingFinished.connect(lambda: self._edited(name, line.text()))
        line.setMinimumWidth(120)
        return line

    @property
    def recipe(self) -> Recipe:
        """The recipe with the last valid values."""
        return self._recipe

    def set_recipe(self, recipe: Recipe) -> None:
        """Shows another recipe's values."""
        self._recipe = recipe
        for name, editor in self._editors.items():
            value = getattr(getattr(recipe, self.section), name)
            blocked = editor.blockSignals(True)
            if isinstance(editor, QCheckBox):
                editor.setChecked(value)
            elif isinstance(editor, QComboBox):
                editor.setCurrentText(value)
            elif isinstance(editor, QLineEdit):
                editor.setText(", ".join(value) if isinstance(value, tuple) else f"{value}")
            editor.blockSignals(blocked)
            self._errors[name].hide()

    def _edited(self, name: str, value: Any) -> None:
        error = self._errors[name]
        try:
            recipe = self._recipe.with_values({f"{self.section}.{name}": value})
        except RecipeError as refusal:
            error.setText(str(refusal).replace(f"{self.section}.{name}", readable(name)))
            error.show()
            return
        error.hide()
        if recipe != self._recipe:
            self._recipe = recipe
            self.changed.emit(recipe)


def readable(name: str) -> str:
    """A field's name as a label: "max_gap" -> "Max gap"."""
    words = name.replace("_", " ")
    return (words[0].upper() + words[1:]).replace("Lm", "LM").replace("Mlp", "MLP")


def span(metadata: Any) -> str:
    """The allowed range in words, where the field has one."""
    low, high = metadata["low"], metadata["high"]
    if low is None or high is None:
        return ""
    return f" From {low:,g} to {high:,g}."
