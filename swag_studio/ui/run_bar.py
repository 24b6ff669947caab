"""Which filter run a page speaks of: the recipe's where there is one, or as a person chooses.

It knows runs and recipes; what is read of a run is the page's.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from swag_studio.errors import RecipeError
from swag_studio.lineage import filter_run, filter_runs
from swag_studio.project import Project
from swag_studio.recipe import Recipe, from_toml
from swag_studio.records import Artifact
from swag_studio.ui.page import prose, set_role


class RunPicker(QComboBox):
    """The finished runs, newest first. `picked` tells the version that a person chose."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Filter run")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.activated.connect(self._pick)

    def show_runs(self, runs: Sequence[Artifact], shown: int) -> None:
        """These runs, oldest first, and the version of the one that is shown."""
        versions = [run.version for run in reversed(runs)]
        if versions != [self.itemData(i) for i in range(self.count())]:  # else it may be open
            self.clear()
            for version in versions:
                newest = ", the newest" if version == versions[0] and len(versions) > 1 else ""
                self.addItem(f"Filter run {version}{newest}", version)
        self.setCurrentIndex(self.findData(shown))

    def _pick(self, _: int) -> None:
        self.picked.emit(self.currentData())


class RunBar(QWidget):
    """The picker, and a line that says what the run was made with.

    It is hidden where there is one run alone, and that is the recipe's. A person's choice holds,
    but for that of the recipe's run: whoever takes it goes with the recipe.
    """

    picked = Signal()  # another run; `look` returns it

    def __init__(self, project: Project, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._chosen = self._shown = 0
        self.picker, self.told = RunPicker(), prose()
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.picker)
        line.addWidget(self.told, 1)
        self.picker.picked.connect(self._pick)
        self.hide()

    def look(self) -> Artifact | None:
        """The run that the page speaks of as the project is now; None before one is done."""
        project = self._project
        runs, current = filter_runs(project), project.current("filter")
        run = filter_run(project, self._chosen)
        self._shown = run.version if run is not None else 0
        if current is not None and self._chosen == current.version:
            self._chosen = 0
        self.setVisible(run is not None and (len(runs) > 1 or run != current))
        if run is not None:
            self.picker.show_runs(runs, run.version)
            made_with = _made_with(run, current, project.recipe)
            self.told.setText(f"Of run {run.version}, made with {made_with}.")
            set_role(self.told, "muted" if run == current else "warn")
        return run

    def _pick(self, version: int) -> None:
        if version != self._shown:
            self._chosen = version
            self.picked.emit()


def _made_with(run: Artifact, current: Artifact | None, recipe: Recipe) -> str:
    """What a run was made with, beside the recipe and the run that belongs to it."""
    if run == current:
        return "the present recipe"
    if _same(run, recipe):
        return "other captions or an earlier version of the program"
    later = current is not None and run.version > current.version
    return "another recipe" if later else "an earlier recipe"


def _same(run: Artifact, recipe: Recipe) -> bool:
    """Whether a run has this recipe, as far as a filter run has any use for it."""
    try:
        changes = from_toml(run.recipe).changes(recipe)
    except RecipeError:  # of a program that knew other fields
        return False
    return all(key.startswith("release.") for key in changes)
