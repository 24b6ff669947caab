"""Candidates: the pool that was sampled, what its numbers give away, and the recipe of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QScrollArea, QTabWidget, QWidget

from swag_studio.events import Progress
from swag_studio.project import StageState
from swag_studio.recipe import Recipe
from swag_studio.records import Artifact
from swag_studio.ui.forms import RecipeForm
from swag_studio.ui.giveaways import GiveawaysPanel
from swag_studio.ui.page import (
    STATE_ROLES,
    STATE_WORDS,
    Page,
    Stack,
    card,
    prose,
    scrolled,
    set_role,
    splitter,
)
from swag_studio.ui.pool_panel import ContextIndex, ContextList, EndingsPanel
from swag_studio.ui.words import count
from swag_studio.ui.workspace import Workspace
from swag_studio.views import ContextRow, Distribution, PoolEnding, PoolReader

SAMPLED_CONTEXTS = 200  # of which the distributions are drawn

NOTHING_YET = (
    "Here every context's candidates will stand: the found ending first, then what the language "
    "models wrote in its place, each with the numbers that a classifier sees. Beside them, what "
    "these numbers give away before anything is filtered."
)


@dataclass(frozen=True)
class _Opened:
    """A pool that was read: its contexts are in memory, its endings are not."""

    reader: PoolReader
    index: ContextIndex


class Worded(Stack):
    """A widget, or in its place words that say why there is nothing to show."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        words = prose()
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        page = card(words, margins=40)
        super().__init__(page, content, parent=parent)
        self.words, self._page, self._content = words, page, content
        self.setContentsMargins(0, 8, 0, 0)

    def say(self, text: str, role: str = "muted") -> None:
        """Shows words."""
        self.words.setText(text)
        set_role(self.words, role)
        self.show_only(self._page)

    def show_content(self) -> None:
        """Shows the widget."""
        self.show_only(self._content)


class CandidatesPage(Page):
    """The page of the stage generate."""

    title = "Candidates"
    stage = "generate"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self._opened: _Opened | None = None
        self._compared: _Opened | None = None  # the pool whose giveaways were asked for
        self._shown = 0  # the version that is shown, or being read
        self._failed = False  # something of the shown pool could not be read
        self.contexts = ContextList(workspace.reader)
        self.contexts.chosen.connect(self._context_chosen)
        self.endings = EndingsPanel()
        both = splitter(Qt.Orientation.Vertical)
        both.addWidget(card(self.contexts))
        both.addWidget(card(self.endings))
        both.setStretchFactor(0, 2)
        both.setStretchFactor(1, 3)
        self.pool = Worded(both)
        self.panel = GiveawaysPanel(workspace.theme)
        self.giveaways = Worded(self.panel)
        project = workspace.project
        self.form = RecipeForm("generate", project.recipe, states=project.states)
        self.form.changed.connect(self._recipe_changed)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Candidates, giveaways and recipe")
        self.tabs.setDocumentMode(True)
        self.keep_height(both, 22)  # what does not fit scrolls within the other tabs
        self.tabs.addTab(self.pool, "Candidates")
        self._giveaways_tab = _scrolling(self.giveaways, "Giveaways")
        self.tabs.addTab(self._giveaways_tab, "Giveaways")
        self.recipe_tab = self._make_recipe()
        self.tabs.addTab(self.recipe_tab, "Recipe")
        self.tabs.currentChanged.connect(lambda _: self._compare())
        self.body.addWidget(self.tabs)
        self._say(NOTHING_YET)

    def _make_recipe(self) -> QWidget:
        recipe = scrolled(self.form, "How candidates are sampled")
        self.figures = prose()
        self.figures.setAlignment(Qt.AlignmentFlag.AlignTop)
        tab = splitter(Qt.Orientation.Horizontal)
        tab.setContentsMargins(0, 8, 0, 0)
        tab.addWidget(recipe)
        tab.addWidget(scrolled(self.figures, "What came of it"))
        tab.setSizes([3000, 2000])
        return tab

    # --- heading -------------------------------------------------------------------------

    def refresh(self, tables: frozenset[str]) -> None:
        if not tables or "recipe" in tables:
            recipe = self.workspace.project.recipe
            if recipe != self.form.recipe:  # another page or job changed it
                self.form.set_recipe(recipe)
        state = self.state()
        if state is None:
            return
        if not self.workspace.project.store.sources():
            self.tell("no captions yet", "muted", "Bring in captions first.", "Sources ›")
        elif self.running:
            self.tell("running", "good", "Candidates are being sampled; you may go on working.")
        else:
            words, role = STATE_WORDS[state.state], STATE_ROLES[state.state]
            self.tell(words, role, *self._next(state))
        self.figures.setText(figures_of(state.artifact))
        if not tables and self._failed:
            self._shown = 0  # a job may have mended what could not be read
        if self.isVisible():
            self._read()

    def _next(self, state: StageState) -> tuple[str, str]:
        """(what is there and what to do, the button) of a stage that is not at work."""
        if state.state == "done" and state.artifact is not None:
            return f"{told(state.artifact.summary)} Next: adversarial filtering.", "Filtering ›"
        if state.state == "stale":
            return (
                "The recipe, the captions or the language models changed since. These candidates "
                "are kept; new ones are made as a new version.",
                "Sample again",
            )
        if state.state == "unfinished":
            return "Sampling was interrupted and goes on with the next block.", "Go on sampling"
        return (
            "Each context gets endings that a language model writes which never saw its video. "
            "What is missing before is run as well.",
            "Sample candidates",
        )

    def show_progress(self, progress: Progress) -> None:
        if progress.stage != self.stage:
            return
        done = f"{progress.done:,} of {count(progress.total, 'context')} have candidates. "
        told = done if progress.total else ""
        self.tell("running", "good", f"{told}You may go on working.")

    def act(self) -> None:
        """Samples, or goes to the page where the next step is."""
        state = self.state()
        if not self.workspace.project.store.sources():
            self.go_to.emit("Sources")
        elif state is not None and state.state == "done":
            self.go_to.emit("Filtering")
        else:
            super().act()

    def show_setting(self, key: str) -> None:
        self.tabs.setCurrentWidget(self.recipe_tab)
        self.form.show_field(key.partition(".")[2])

    def _recipe_changed(self, recipe: Recipe) -> None:
        self.workspace.project.set_recipe(recipe)
        self.refresh(frozenset({"recipe"}))
        self.workspace.bridge.changed.emit(frozenset({"recipe"}))

    # --- pool ----------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._read()  # no sooner: a pool's heads are thousands of files

    def _read(self) -> None:
        """Has the pool read, where another than the shown one is to be seen."""
        version = self._version()
        if version == self._shown:
            return
        self._shown, self._failed = version, False
        if not version:
            self._opened = None
            self._say(NOTHING_YET)
            return
        if self._opened is None:
            self._say("Reading the candidates …")
        jobs, project = self.workspace.jobs, self.workspace.project

        def opened() -> _Opened:
            reader = jobs.pool(project)
            return _Opened(reader, ContextIndex(reader.contexts()))

        self.workspace.reader.ask(
            "candidates.pool", opened, partial(self._show, version), partial(self._refused, version)
        )

    def _version(self) -> int:
        """The pool to show: of the recipe where there is one, else the newest; 0 for none."""
        state = self.state()
        if state is not None and state.artifact is not None and state.artifact.done:
            return state.artifact.version
        done = [a.version for a in self.workspace.project.store.artifacts(self.stage) if a.done]
        return max(done, default=0)

    def _show(self, version: int, opened: _Opened) -> None:
        if version != self._shown:  # another one is to be seen by now
            return
        self._opened = opened
        self.endings.set_features(opened.reader.feature_names)
        self.contexts.show_contexts(opened.index)
        self.pool.show_content()
        self._compare()

    def _compare(self) -> None:
        """Has the giveaways of the pool read once they are looked at, and once only."""
        looked_at = self.tabs.currentIndex() == self.tabs.indexOf(self._giveaways_tab)
        if self._opened is None or self._compared is self._opened or not looked_at:
            return
        self._compared = opened = self._opened
        self.giveaways.say("Comparing found and generated endings …")
        self.workspace.reader.ask(
            "candidates.giveaways",
            lambda: opened.reader.distributions(SAMPLED_CONTEXTS),
            partial(self._show_giveaways, opened),
            partial(self._giveaways_refused, opened),
        )

    def _giveaways_refused(self, opened: _Opened, text: str) -> None:
        if opened is self._opened:
            self._failed = True
            self.giveaways.say(text, "bad")

    def _show_giveaways(self, opened: _Opened, rows: list[Distribution]) -> None:
        if opened is self._opened:  # else it is of a pool that is no longer shown
            self.panel.show_rows(rows)
            self.giveaways.show_content()

    def _refused(self, version: int, text: str) -> None:
        """The pool could not be read."""
        if version == self._shown:
            self._opened, self._failed = None, True
            self._say(text, "bad")

    def _context_chosen(self, row: ContextRow | None) -> None:
        if self._opened is None:
            return
        if row is None:
            self.endings.show_words("No context is chosen.")
            return
        if self.endings.empty:
            self.endings.show_words("Reading the endings …")
        opened = self._opened
        self.workspace.reader.ask(
            "candidates.endings",
            lambda: opened.reader.endings(row.place),
            partial(self._show_endings, opened, row),
            partial(self._endings_refused, opened, row),
        )

    def _show_endings(self, opened: _Opened, row: ContextRow, endings: list[PoolEnding]) -> None:
        # Else another pool is shown, or another context was chosen, meanwhile.
        if opened is self._opened and row is self.contexts.current:
            self.endings.show_endings(row, endings)

    def _endings_refused(self, opened: _Opened, row: ContextRow, text: str) -> None:
        if opened is self._opened:
            self._failed = True
            if row is self.contexts.current:
                self.endings.show_words(text, "bad")

    def _say(self, text: str, role: str = "muted") -> None:
        self.pool.say(text, role)
        self.giveaways.say(text, role)


def _scrolling(content: QWidget, name: str) -> QScrollArea:
    """A widget that scrolls by itself where large text leaves it no room."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(content)
    area.setAccessibleName(name)
    return area


def told(summary: Mapping[str, Any]) -> str:
    """The counts of a pool in a sentence."""
    contexts, left_out = summary.get("contexts", 0), summary.get("left_out", 0)
    each, cut = summary.get("candidates_per_context", 0), summary.get("cut_off_share", 0)
    out = f"; {left_out:,} left out with too few" if left_out else ""
    return (
        f"{count(contexts, 'context')} with {each:,.0f} candidates on average{out}; "
        f"{cut:.1%} of the candidates were cut off."
    )


def figures_of(pool: Artifact | None) -> str:
    """What was drawn for a pool, and what to change where that was too little."""
    if pool is None or not pool.done:
        return "What was drawn, repeated and cut off stands here once the candidates are sampled."
    s: Mapping[str, Any] = pool.summary
    names = ("contexts", "left_out", "candidates", "cut_off", "drawn", "repeated")
    n = {name: int(s.get(name, 0)) for name in names}
    more = " A higher temperature, or more draws, brings more of them in." if n["left_out"] else ""
    lines = (
        f"Version {pool.version}: {count(n['candidates'], 'candidate')} for "
        f"{count(n['contexts'], 'context')}, {s.get('candidates_per_context', 0):,.1f} each.",
        f"Left out: {count(n['left_out'], 'context')} with too few different candidates.{more}",
        f"Drawn: {n['drawn']:,}, of which {s.get('repeated_share', 0):.1%} repeated an earlier "
        "one or the found ending. A higher temperature repeats less.",
        f"Cut off: {n['cut_off']:,}, or {s.get('cut_off_share', 0):.1%}. They are never assigned.",
    )
    return "\n\n".join(lines)
