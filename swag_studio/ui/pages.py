"""The steps of the work, left to right, and the page of each: one line here, one file beside it."""

from __future__ import annotations

import importlib
from contextlib import suppress
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from swag_studio.ui.page import STATE_ROLES, STATE_WORDS, Page, card
from swag_studio.ui.workspace import Workspace


@dataclass(frozen=True)
class Step:
    """A step: its title, the stage whose state it shows, and its page as "module:Class".

    Without a page a placeholder says what will be there.
    """

    title: str
    stage: str = ""
    page: str = ""
    promise: str = ""

    def load(self) -> type[Page]:
        """The page's class. Its module is imported when it is first asked for."""
        if not self.page:
            return type("Placeholder", (PlaceholderPage,), {"title": self.title, "step": self})
        module, _, name = self.page.partition(":")
        loaded: type[Page] = getattr(importlib.import_module(module), name)
        return loaded

    def fetch(self, workspace: Workspace) -> None:
        """Does what can be done in another thread before the page is made.

        What goes wrong with it is told when the page is made.
        """
        with suppress(Exception):
            self.load().prepare(workspace)


_UI = "swag_studio.ui"

PAGES = (
    Step("Sources", "prepare", f"{_UI}.sources_page:SourcesPage"),
    Step("Language models", "train_lm", f"{_UI}.lm_page:LanguageModelsPage"),
    Step("Candidates", "generate", f"{_UI}.candidates_page:CandidatesPage"),
    Step("Filtering", "filter", f"{_UI}.filtering_page:FilteringPage"),
    Step("Review", "", f"{_UI}.review_page:ReviewPage"),
    Step("Annotate", page=f"{_UI}.annotate_page:AnnotatePage"),
    Step("Agreement", page=f"{_UI}.agreement_page:AgreementPage"),
    Step("Release", "release", f"{_UI}.release_page:ReleasePage"),
    Step("Audit", promise="Baselines that show what the questions give away."),
)


class PlaceholderPage(Page):
    """A step whose page is not there yet. Its stage can be run all the same."""

    step = Step("")

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        self.stage = self.step.stage
        super().__init__(workspace, parent)
        words = QLabel(f"Not in this version yet. {self.step.promise}")
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words.setWordWrap(True)
        words.setProperty("role", "muted")
        self.body.addWidget(card(words, margins=24), 0)
        self.body.addStretch(1)

    def refresh(self, tables: frozenset[str]) -> None:
        state = self.state()
        if state is None or not self.workspace.project.store.sources():
            self.tell("", "muted", "")
        elif self.running:
            self.tell("running", "good", "This step is at work; you may go on working.")
        else:
            action = {"missing": "Run", "stale": "Run again", "unfinished": "Go on"}
            word, role = STATE_WORDS[state.state], STATE_ROLES[state.state]
            self.tell(word, role, "", action.get(state.state, ""))
