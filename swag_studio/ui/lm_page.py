"""Language models: their recipe, their perplexity while they train, and what they write by now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStackedWidget, QWidget

from swag_studio.events import Metric, Progress
from swag_studio.project import StageState
from swag_studio.recipe import Recipe
from swag_studio.records import Artifact
from swag_studio.ui.charts import Chart
from swag_studio.ui.forms import RecipeForm
from swag_studio.ui.page import STATE_ROLES, STATE_WORDS, Page, card, scrolled, set_role, splitter
from swag_studio.ui.samples_panel import PERPLEXITY, SamplesPanel
from swag_studio.ui.workspace import Workspace


class LanguageModelsPage(Page):
    """The page of the stage train_lm: curves, samples below them, and the recipe beside both."""

    title = "Language models"
    stage = "train_lm"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self._drawn = 0  # the version whose curves are drawn
        self.chart = Chart(
            "Perplexity on the inner development set",
            workspace.theme,
            x_label="after epoch",
            y_label="perplexity",
            smooth=0.0,
        )
        words = QLabel(
            "The curves of every fold, forward and backward, appear here epoch by epoch."
        )
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words.setWordWrap(True)
        set_role(words, "muted")
        self.curves = QStackedWidget()
        self.curves.addWidget(words)
        self.curves.addWidget(self.chart)
        for widget in (self.hint, self.curves):
            widget.setToolTip(PERPLEXITY)
        self.samples = SamplesPanel()
        project = workspace.project
        self.form = RecipeForm("lm", project.recipe, states=project.states)
        self.form.changed.connect(self._recipe_changed)
        left, parts = splitter(Qt.Orientation.Vertical), splitter(Qt.Orientation.Horizontal)
        left.addWidget(card(self.curves, margins=2))
        left.addWidget(self.samples)
        left.setSizes([340, 360])
        parts.addWidget(left)
        parts.addWidget(scrolled(self.form, "Recipe"))
        parts.setStretchFactor(0, 3)
        parts.setStretchFactor(1, 2)
        parts.setSizes([780, 420])
        self.parts = parts
        self.body.addWidget(parts)

    # --- hooks ---------------------------------------------------------------------------

    def refresh(self, tables: frozenset[str]) -> None:
        if tables and not tables & {"recipe", "sources", "contexts", "samples"}:
            return
        recipe = self.workspace.project.recipe
        if recipe != self.form.recipe:  # another page's form changed it
            self.form.set_recipe(recipe)
        self._tell_state()
        artifact = self._artifact()
        self._show_samples(artifact)
        if not tables:
            self._draw(artifact)

    def show_metrics(self, metrics: list[Metric]) -> None:
        mine = [m for m in metrics if m.stage == self.stage and m.name == "perplexity"]
        if mine:
            self._put(mine)

    def show_progress(self, progress: Progress) -> None:
        if progress.stage != self.stage:
            return
        at_work = self._artifact()
        another = at_work is not None and at_work.version != self._drawn
        if another or self.action.isVisibleTo(self):
            self.refresh(frozenset())  # it has just begun

    # --- showing -------------------------------------------------------------------------

    def _tell_state(self) -> None:
        state = self.state()
        if state is None:
            return
        if self.running:
            hint = "The models are being trained, fold by fold; you may go on working."
            self.tell("running", "good", hint)
            return
        if self._lacks_captions(state):
            self.tell("no captions yet", "muted", "Bring in captions first.", "Sources ›")
            return
        summary = state.artifact.summary if state.artifact is not None else {}
        words = {
            "done": (f"{figures_of(summary)} Next: sample candidates.", "Candidates ›"),
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

    def act(self) -> None:
        """Trains, or goes to the page where the next step is."""
        state = self.state()
        if state is not None and state.state == "done":
            self.go_to.emit("Candidates")
        elif state is not None and self._lacks_captions(state):
            self.go_to.emit("Sources")
        else:
            super().act()

    def _lacks_captions(self, state: StageState) -> bool:
        return state.state == "missing" and not self.workspace.project.store.sources()

    def show_setting(self, key: str) -> None:
        self.form.show_field(key.partition(".")[2])

    def _artifact(self) -> Artifact | None:
        """The version to show: the one at work, whatever the recipe has become since."""
        if self.running:
            versions = self.workspace.project.store.artifacts(self.stage)
            return next((a for a in reversed(versions) if not a.done), None)
        state = self.state()
        return state.artifact if state is not None else None

    def _draw(self, artifact: Artifact | None) -> None:
        """Draws what the store holds of the version in question."""
        self.chart.clear()
        self.curves.setCurrentIndex(0)
        self._drawn = artifact.version if artifact is not None else 0
        if artifact is not None:
            store = self.workspace.project.store
            self._put(store.metrics(self.stage, artifact.version, "perplexity"))

    def _show_samples(self, artifact: Artifact | None) -> None:
        self.keep_height(self.parts, 18 if artifact is None else 28)
        if artifact is None:
            self.samples.show_models(None, {})
        else:
            self.samples.show_models(self.workspace.project.folder(artifact), artifact.summary)

    def _put(self, metrics: list[Metric]) -> None:
        for m in metrics:
            tags = m.tags
            if tags.get("set", "dev") != "dev":
                continue
            fold, direction = tags.get("fold", "0"), tags.get("direction", "")
            key = f"{fold} {direction}"
            look = 2 * int(fold) + (direction == "backward")
            self.chart.add_series(key, f"fold {fold} {direction}", look=look, smooth=False)
            self.chart.put(key, m.step + 1, m.value)  # epochs are counted from 1 here
            self.curves.setCurrentWidget(self.chart)
        self.chart.refresh()

    def _recipe_changed(self, recipe: Recipe) -> None:
        self.workspace.project.set_recipe(recipe)
        self.refresh(frozenset({"recipe"}))
        self.workspace.bridge.changed.emit(frozenset({"recipe"}))


def figures_of(summary: Mapping[str, Any]) -> str:
    """How good the finished models are, in a sentence."""
    values = [f["held_out_perplexity"]["forward"] for f in summary.get("folds", ())]
    if not values:
        return "The models of every fold are trained."
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    how_good = low if low == high else f"{low} to {high}"
    return f"Every fold's model is trained: perplexity {how_good} on captions that it never saw."
