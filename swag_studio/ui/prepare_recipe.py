"""The recipe's part on the Sources page: what decides Prepare, and what decides every step.

It shows a recipe's fields and tells of changes; it keeps no recipe and runs nothing.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.ui.forms import RecipeForm
from swag_studio.ui.page import prose, scrolled, splitter

EVERYTHING_ANEW = (
    "Every step depends on these settings: a change of one of them makes everything anew, so set "
    "them before the first run. What was made is kept, and the old value brings it back."
)


class PrepareRecipePanel(QWidget):
    """The sections "prepare" and "run" side by side. `changed` carries a whole, valid recipe."""

    changed = Signal(object)

    def __init__(self, project: Project, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.forms = {
            section: RecipeForm(section, project.recipe, states=project.states)
            for section in ("prepare", "run")
        }
        for form in self.forms.values():
            form.changed.connect(self.changed)
            for field in form.fields.values():
                field.editor.setAcceptDrops(False)  # a file is the page's, wherever it falls
        self.consequence = prose(text=EVERYTHING_ANEW)
        everywhere = QWidget()
        column = QVBoxLayout(everywhere)
        column.addWidget(self.consequence)
        column.addSpacing(8)
        column.addWidget(self.forms["run"], 1)
        if (rows := self.forms["run"].layout()) is not None:
            rows.setContentsMargins(0, 0, 0, 0)  # in line with the words above
        groups = splitter(Qt.Orientation.Horizontal)
        groups.addWidget(scrolled(self.forms["prepare"], "How contexts are prepared"))
        groups.addWidget(scrolled(everywhere, "For all steps"))
        groups.setSizes([3000, 2000])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addWidget(groups)

    def set_recipe(self, recipe: Recipe) -> None:
        """Shows another recipe's values. What a change was said to lead to stays with it."""
        for form in self.forms.values():
            if form.recipe != recipe:
                form.set_recipe(recipe)

    def show_setting(self, key: str) -> None:
        """Takes the focus, and the eye, to a setting: "prepare.folds"."""
        section, _, name = key.partition(".")
        self.forms[section].show_field(name)
