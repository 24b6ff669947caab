"""Filtering: curves of the runs, what stalls them, single contexts to watch, and the recipe.

The page keeps the runs and knows which is at work; its tabs show what they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QLabel, QTabWidget, QWidget

from swag_studio import evidence as clues
from swag_studio.diagnosis import Diagnosis, contexts_tested, diagnose
from swag_studio.events import Metric, Progress
from swag_studio.evidence import MEMBERS, Evidence
from swag_studio.recipe import Recipe
from swag_studio.ui.diagnosis_panel import DiagnosisPanel
from swag_studio.ui.filter_curves_panel import CurvesPanel
from swag_studio.ui.forms import RecipeForm
from swag_studio.ui.late import Late
from swag_studio.ui.page import STATE_ROLES, STATE_WORDS, Page, Stack, card, scrolled, set_role
from swag_studio.ui.runs_panel import WAYS, FilterRun, read_runs
from swag_studio.ui.theme import ems
from swag_studio.ui.watch_panel import WatchPanel
from swag_studio.ui.words import count
from swag_studio.ui.workspace import Workspace

MINE = frozenset({"endings", "assignments"})  # what the last step of a run writes
MEASURES = {
    "control": "measuring the classifiers on random distractors",
    "probe": "trying the held-out probe",
    "strength": "measuring the adversary's strength",
    "scoring": "scoring the endings",
}


class Found(NamedTuple):
    """What the reading thread found of a run."""

    version: int
    iterations: list[int]
    evidence: list[Evidence]
    diagnosis: Diagnosis


class FilteringPage(Page):
    """The page of the stage filter."""

    title = "Filtering"
    stage = "filter"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.runs: dict[int, FilterRun] = {}
        self._live: int | None = None  # the version at work, once it is known
        self._sought: Metric | None = None  # a point of the run at work, until it is known
        self._ends = 0  # how many jobs have ended: the run at work is another one after each
        self._own: int | None = None  # the version that the recipe has
        self._chosen: int | None = None  # the version that someone wants to see
        self._progress: Progress | None = None
        self._recipe = workspace.project.recipe
        self._asked: tuple[object, ...] = ()  # what the last diagnosis was asked for
        self._evidence_changes = 0
        self.curves = CurvesPanel(workspace.theme)
        self.curves.runs.toggled.connect(lambda *_: self._draw())
        self.diagnosis_tab = Late(self._make_diagnosis)
        self.watch_tab = Late(lambda: WatchPanel(workspace))
        self.recipe_tab = Late(self._make_recipe)
        self._build()
        self._draw()
        workspace.bridge.ended.connect(self._ended)  # at once, also where the page is not seen

    def _build(self) -> None:
        self.empty_title, self.empty_words = QLabel("No filter run yet"), QLabel("")
        set_role(self.empty_title, "title")
        for label in (self.empty_title, self.empty_words):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
        empty = card(self.empty_title, self.empty_words, margins=40)
        layout = empty.layout()
        assert layout is not None
        layout.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty = empty
        self.first = Stack(empty, self.curves)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Views of the filter runs")
        for title, tab in (
            ("Curves", self.first),
            ("Diagnosis", self.diagnosis_tab),
            ("Sample watch", self.watch_tab),
            ("Recipe", self.recipe_tab),
        ):
            self.tabs.addTab(tab, title)
        self.choice = QComboBox()
        self.choice.setAccessibleName("Shown run")
        self.choice.setToolTip("The run that all tabs show")
        self.choice.activated.connect(self._run_chosen)
        self.tabs.setCornerWidget(self.choice)
        self.tabs.currentChanged.connect(lambda _: self._diagnose())
        self.curves.diagnosis_wanted.connect(lambda: self.tabs.setCurrentWidget(self.diagnosis_tab))
        self.body.addWidget(self.tabs, 1)

    def _make_diagnosis(self) -> DiagnosisPanel:
        panel = DiagnosisPanel(self.workspace)
        panel.iteration_chosen.connect(self._diagnose)
        panel.watch_requested.connect(self.watch_context)
        panel.recipe_requested.connect(self.setting_wanted)
        return panel

    def _make_recipe(self) -> QWidget:
        states = self.workspace.project.states
        self._form = form = RecipeForm("filter", self._recipe, states=states)
        form.setMaximumWidth(ems(self, 100))
        form.changed.connect(self._recipe_changed)
        return scrolled(form, "Recipe")

    @property
    def diagnosis(self) -> DiagnosisPanel:
        """What keeps the shown run above chance."""
        return self.diagnosis_tab.content()

    @property
    def watch(self) -> WatchPanel:
        """Single contexts of the shown run."""
        return self.watch_tab.content()

    @property
    def form(self) -> RecipeForm:
        """The recipe's section."""
        self.recipe_tab.content()
        return self._form

    # --- hooks -------------------------------------------------------------------------------

    def refresh(self, tables: frozenset[str]) -> None:
        if not self.running:
            self._live = self._progress = None
        self._recipe = self.workspace.project.recipe
        if self.recipe_tab.made and self._recipe != self.form.recipe:
            self.form.set_recipe(self._recipe)
        state = self.state()
        self._own = state.artifact.version if state is not None and state.artifact else None
        if "evidence" in tables:
            self._evidence_changes += 1
            self._diagnose()
        if not tables or tables & MINE:
            self._load()
        self._tell()
        if self.watch_tab.made:
            self.watch.refresh(tables)

    def show_progress(self, progress: Progress) -> None:
        if progress.stage == self.stage:
            begins = self._progress is None
            self._progress = progress
            if begins:
                self._chosen = None
                self._load()
            self._tell()

    def show_metrics(self, metrics: list[Metric]) -> None:
        mine = [m for m in metrics if m.stage == self.stage]
        if not mine:
            return
        if self._live is None or self._live not in self.runs:
            self._load(mine[-1])  # the store had them before we were told
            return
        run = self.runs[self._live]
        run.points.put(mine)
        if run is self.curves.run:
            self.curves.put(mine)
        elif self._live in self.curves.runs.overlaid:
            self._draw()
        self._list_runs()
        self._diagnose()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._diagnose()

    def act(self) -> None:
        state = self.state()
        if not self.workspace.project.store.sources():
            self.go_to.emit("Sources")
        elif state is not None and state.state == "done":
            self.go_to.emit("Release")
        else:
            super().act()

    # --- runs --------------------------------------------------------------------------------

    @property
    def shown(self) -> FilterRun | None:
        """The chosen run, else the one at work, else the recipe's, else the newest."""
        for version in (self._chosen, self._live, self._own, max(self.runs, default=None)):
            if version in self.runs:
                return self.runs[version]
        return None

    def _load(self, sought: Metric | None = None) -> None:
        """Reads what is not known yet of the runs; `sought` tells which of them is at work."""
        sought = self._sought = sought or self._sought  # what is asked next may not know it
        project = self.workspace.project
        known = {v for v, run in self.runs.items() if run.artifact.done}
        self.workspace.reader.ask(
            "filter runs",
            lambda: read_runs(project, known, sought),
            partial(self._loaded, self._ends),
            lambda words: self.tell("cannot be read", "bad", words),
        )

    def _ended(self, _: object) -> None:
        self._ends += 1
        self._live = self._sought = self._progress = None

    def _loaded(self, ends: int, found: tuple[list[FilterRun], int | None]) -> None:
        runs, live = found
        for run in runs:
            if run.version in self.runs:  # what came live in the meantime stays
                run.points.put(self.runs[run.version].points.metrics())
            self.runs[run.version] = run
        if live is not None and ends == self._ends:
            self._live, self._sought = live, None
        if runs or self.curves.run is not self.shown:
            self._draw()
        self._tell()
        self._diagnose()

    def _draw(self) -> None:
        shown = self.shown
        if shown is None or self.curves.run is None or shown.version != self.curves.run.version:
            self._asked = ()  # its diagnosis goes with the curves of the one before
        self._list_runs()
        ticked = [v for v in self.curves.runs.overlaid if shown is None or v != shown.version]
        self.curves.show_runs(shown, [self.runs[v] for v in ticked if v in self.runs])
        self.first.show_only(self.curves if shown is not None else self.empty)
        for tab in (self.diagnosis_tab, self.watch_tab):
            self.tabs.setTabEnabled(self.tabs.indexOf(tab), shown is not None)
        version = shown.version if shown is not None else None
        self.watch_tab.tell(lambda watch: watch.show_version(version))

    def _list_runs(self) -> None:
        shown, runs = self.shown, [self.runs[v] for v in sorted(self.runs)]
        if shown is not None:
            self.curves.runs.show_runs(runs, shown.version, self._live if self.running else None)
        self.curves.runs.setVisible(len(runs) > 1)
        self.choice.setVisible(len(runs) > 1)
        versions = [run.version for run in reversed(runs)]
        if [self.choice.itemData(i) for i in range(self.choice.count())] != versions:
            self.choice.clear()
            for version in versions:
                self.choice.addItem(f"Run {version}", version)
        self.choice.setCurrentIndex(versions.index(shown.version) if shown is not None else -1)

    def _run_chosen(self, _: int) -> None:
        self._chosen = self.choice.currentData()
        self._draw()
        self._diagnose()

    # --- diagnosis ---------------------------------------------------------------------------

    def _diagnose(self) -> None:
        """Has the shown run judged: once an iteration, and only for those who look."""
        run, tab = self.shown, self.tabs.currentWidget()
        if run is None or not self.isVisible() or tab not in (self.first, self.diagnosis_tab):
            return
        wanted = self.diagnosis.iteration if self.diagnosis_tab.made else None
        stand = (run.version, run.artifact.done, run.points.iterations)
        asked = (*stand, self._evidence_changes, wanted)
        if asked == self._asked:
            return
        self._asked = asked
        if run.recipe is None:
            self._say("This run's recipe is of another version of the program.")
            return
        project, artifact = self.workspace.project, run.artifact
        recipe, metrics = run.recipe, run.points.metrics()
        tested = contexts_tested(recipe, artifact.summary)

        def read() -> Found:
            folder = project.folder(artifact)
            iterations = clues.iterations(folder)
            latest = clues.read(folder, iterations[-1]) if iterations else []
            shown = latest if wanted is None else clues.read(folder, wanted)
            judged = diagnose(metrics, latest, recipe, tested)
            return Found(run.version, iterations, shown, judged)

        def failed(words: str) -> None:
            if asked == self._asked:
                self._asked = ()  # it is tried again when someone looks
                self._say(words)

        self.workspace.reader.ask("filter diagnosis", read, self._diagnosed, failed)

    def _say(self, words: str) -> None:
        self.diagnosis_tab.tell(lambda panel: panel.show_words(words))

    def _diagnosed(self, found: Found) -> None:
        if (run := self.shown) is None or found.version != run.version:
            return

        def show(panel: DiagnosisPanel) -> None:
            panel.show_iterations(found.iterations)
            panel.show_diagnosis(found.diagnosis, found.evidence)

        self.diagnosis_tab.tell(show)
        self.curves.show_diagnosis(found.diagnosis)

    def watch_context(self, context_id: str) -> None:
        """Shows how a context's distractors changed."""
        self.tabs.setCurrentWidget(self.watch_tab)
        self.watch.show_context(context_id)

    # --- recipe ------------------------------------------------------------------------------

    def show_setting(self, key: str) -> None:
        self.tabs.setCurrentWidget(self.recipe_tab)
        self.form.show_field(key.partition(".")[2])

    def _recipe_changed(self, recipe: Recipe) -> None:
        self.workspace.project.set_recipe(recipe)
        self.refresh(frozenset({"recipe"}))
        self.workspace.bridge.changed.emit(frozenset({"recipe"}))

    # --- heading -----------------------------------------------------------------------------

    def _tell(self) -> None:
        recipe = self._recipe
        self.empty_words.setText(plan_words(recipe))
        if self.running:
            run = self.runs.get(self._live) if self._live is not None else None
            at_work = run.recipe if run is not None and run.recipe is not None else recipe
            words = progress_words(self._progress, at_work)
            self.tell("running", "good", f"{words}; you may go on working.")
            return
        state = self.state()
        if state is None:
            return
        if not self.workspace.project.store.sources():
            self.tell("no captions yet", "muted", "Bring in captions first.", "Sources ›")
            return
        words, action = {
            "done": ("{result} Next: look at what the classifiers still go by, have people judge "
                     "the endings, then release.", "Release ›"),
            "stale": ("The recipe, or what it builds on, changed since this run. It is kept to "
                      "compare with; a new run is a version of its own.", "Filter again"),
            "unfinished": ("The run was interrupted after {iterations} and goes on from there.",
                           "Go on filtering"),
            "missing": ("Classifiers learn to tell generated endings from found ones, and what "
                        "they see through is replaced. What is missing before it is made first.",
                        "Run the filter"),
        }[state.state]  # fmt: skip
        run = self.runs.get(state.artifact.version) if state.artifact else None
        done = count(run.points.iterations if run else 0, "iteration")
        hint = words.format(result=result_words(run), iterations=done).strip()
        self.tell(STATE_WORDS[state.state], STATE_ROLES[state.state], hint, action)


# --- words ---------------------------------------------------------------------------------------


def progress_words(progress: Progress | None, recipe: Recipe) -> str:
    """Where a run stands: "iteration 12 of 50, all members"."""
    if progress is None or not progress.total:
        return "Loading what the filter works with"
    measure = next((w for n, w in MEASURES.items() if progress.note.startswith(n)), "")
    if measure or progress.done >= progress.total:
        words = measure or "writing down the endings"
        return f"{words[0].upper()}{words[1:]}, {progress.done} of {progress.total} iterations done"
    # A phase that converged early counts as many as it had, so count from the end.
    joined = progress.done >= progress.total - recipe.filter.ensemble_iterations
    who = "all members" if joined else "the MLP alone"
    return f"Iteration {progress.done + 1} of {progress.total}, {who}"


def result_words(run: FilterRun | None) -> str:
    """How well the head that counts tells the found ending, with and without the filter."""
    head = run.points.head if run is not None else ""
    last = run.points.latest(WAYS[0], head) if run is not None else None
    if run is None or last is None:
        return ""
    control = run.points.values(WAYS[0], head, "control")
    beside = f", {control[-1][1]:.0%} of unfiltered ones" if control else ""
    return (
        f"The {MEMBERS.get(head, head)} solves {last:.0%} of 4-way questions{beside}; chance 25%."
    )


def plan_words(recipe: Recipe) -> str:
    """What a run with the recipe will be, for a page that has none yet."""
    f = recipe.filter
    phases: Sequence[str] = [
        words
        for words, iterations in (
            (f"{count(f.mlp_iterations, 'iteration')} with the MLP alone", f.mlp_iterations),
            (f"{count(f.ensemble_iterations, 'iteration')} with all members",
             f.ensemble_iterations),
        )
        if iterations
    ]  # fmt: skip
    return (
        f"The recipe asks for {', then '.join(phases)}. Each replaces up to {f.replace} of the "
        f"{f.distractors} distractors of a context.\n\n"
        "Here the accuracy of every classifier will be drawn while it falls towards chance. "
        "Diagnosis will say what keeps it above, and Sample watch how the distractors of single "
        "contexts change."
    )
