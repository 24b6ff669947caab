"""Language models: their recipe, and their perplexity per fold and direction while they train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget

from swag_studio.events import Metric
from swag_studio.recipe import Recipe
from swag_studio.ui.charts import Chart
from swag_studio.ui.forms import RecipeForm
from swag_studio.ui.page import STATE_ROLES, STATE_WORDS, Page, card, scrolled
from swag_studio.ui.workspace import Workspace


class LanguageModelsPage(Page):
    """The page of the stage train_lm."""

    title = "Language models"
    stage = "train_lm"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.chart = Chart(
            "Perplexity on the inner development set",
            workspace.theme,
            x_label="epoch",
            y_label="perplexity",
            smooth=0.0,
        )
        self.figures = QLabel("")
        self.figures.setTextFormat(Qt.TextFormat.PlainText)
        self.figures.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figures.setWordWrap(True)
        self.form = RecipeForm("lm", workspace.project.recipe)
        self.form.changed.connect(self._recipe_changed)
        split = QSplitter(Qt.Orientation.Horizontal)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(card(self.chart, margins=2), 1)
        column.addWidget(card(self.figures))
        split.addWidget(right)
        split.addWidget(scrolled(self.form, "Recipe"))
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([700, 440])
        self.body.addWidget(split)

    def refresh(self, tables: frozenset[str]) -> None:
        state = self.state()
        if state is None:
            return
        words = {
            "done": ("The models of every fold are trained. Next: sample candidates.", ""),
            "stale": (
                "The recipe or the sources changed since these models were trained. "
                "They are kept; new ones are made as a new version.",
                "Train again",
            ),
            "unfinished": (
                "Training was interrupted and goes on from its last checkpoint.",
                "Go on training",
            ),
            "missing": (
                "One model per fold learns from the captions of the other folds, and so "
                "never sees the endings that it will be compared with.",
                "Train language models",
            ),
        }[state.state]
        self.tell(STATE_WORDS[state.state], STATE_ROLES[state.state], *words)
        if not tables:
            self._reload()

    def show_metrics(self, metrics: list[Metric]) -> None:
        mine = [m for m in metrics if m.stage == self.stage and m.name == "perplexity"]
        if mine:
            self._put(mine)

    def _reload(self) -> None:
        """Draws what the store holds of the version in question."""
        state = self.state()
        self.chart.clear()
        if state is None or state.artifact is None:
            self.figures.setText("Curves appear here, one per fold and direction, epoch by epoch.")
            return
        store = self.workspace.project.store
        self._put(store.metrics(self.stage, state.artifact.version, "perplexity"))
        self.figures.setText(figures_of(state.artifact.summary))

    def _put(self, metrics: list[Metric]) -> None:
        for m in metrics:
            tags = m.tags
            if tags.get("set", "dev") != "dev":
                continue
            fold, direction = tags.get("fold", "0"), tags.get("direction", "")
            key = f"{fold} {direction}"
            look = 2 * int(fold) + (direction == "backward")
            self.chart.add_series(key, f"fold {fold} {direction}", look=look, smooth=False)
            self.chart.put(key, m.step, m.value)
        self.chart.refresh()

    def _recipe_changed(self, recipe: Recipe) -> None:
        self.workspace.project.set_recipe(recipe)
        self.refresh(frozenset({"recipe"}))
        self.workspace.bridge.changed.emit(frozenset({"recipe"}))


def figures_of(summary: Mapping[str, Any]) -> str:
    """The final figures of the models, a line per fold; a sentence while there are none."""
    folds = summary.get("folds")
    if not folds:
        return "The figures of each fold stand here when its training is over."
    return "\n".join(
        f"Fold {f['fold']}: on captions that it never saw, perplexity "
        f"{f['held_out_perplexity']['forward']:.1f} forward and "
        f"{f['held_out_perplexity']['backward']:.1f} backward; best after epoch "
        f"{f['best_epoch']} of {f['epochs']}, {f['tokens']:,} tokens."
        for f in folds
    )
