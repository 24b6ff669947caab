"""The releases that are written, on tabs: their first questions, their files, two compared.

It knows their folders and the reading thread. What a next release would hold is the page's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QTabWidget

from swag_studio.ui import release_readings as readings
from swag_studio.ui.release_lists import ComparePanel, QuestionsPanel, ReleasesPanel
from swag_studio.ui.release_readings import Written
from swag_studio.ui.workspace import Workspace
from swag_studio.views import Comparison, Rehearsal, ShownQuestion

NEW, QUESTIONS, RELEASES, COMPARE = range(4)  # the tabs; the first one is the page's


class Shelf(QObject):
    """Adds its tabs after the first. What a tab needs is read when it is seen: it takes seconds."""

    listed = Signal()  # `written` was read anew
    refused = Signal(str)  # why something was not read, where no panel can say it

    def __init__(self, workspace: Workspace, tabs: QTabWidget) -> None:
        super().__init__(tabs)
        self.workspace, self.tabs = workspace, tabs
        self.written: list[Written] = []
        self.choose = ""  # the release to choose once it is listed
        self.stale = True  # the list is no longer true
        self._rehearsal: Rehearsal | None = None
        self.questions, self.releases = QuestionsPanel(), ReleasesPanel()
        self.compare = ComparePanel()
        tabs.addTab(self.questions, "First questions")
        tabs.addTab(self.releases, "Releases")
        tabs.addTab(self.compare, "Compare")
        tabs.currentChanged.connect(lambda _: self._read_tab())
        self.questions.wanted.connect(self._read_questions)
        self.releases.chosen.connect(self._read_files)
        self.releases.compare.connect(self._compare_with)
        self.compare.wanted.connect(self._read_comparison)

    def look(self) -> None:
        """Has the list read if it is no longer true."""
        if self.stale:
            self.stale = False
            project = self.workspace.project
            self._ask("written", lambda: readings.read_written(project), self._show, self._missed)

    def show_checked(self, rehearsal: Rehearsal | None) -> None:
        """What was checked, and is not written: its first questions can be seen as well."""
        self._rehearsal = rehearsal
        self.questions.offer(self.written, checked=rehearsal is not None)
        self._read_questions(self.questions.of.currentData())

    # --- reading -----------------------------------------------------------------------------

    def _ask(
        self,
        what: str,
        read: Callable[[], Any],
        show: Callable[[Any], None],
        failed: Callable[[str], None],
    ) -> None:
        self.workspace.reader.ask(f"release.{what}", read, show, failed)

    def _show(self, written: list[Written]) -> None:
        self.written = written
        there = any(w.version == self.choose for w in written if not w.draft)
        self.releases.show_written(written, self.choose if there else "")
        if there:  # else this was read before it was written
            self.choose = ""
        self.show_checked(self._rehearsal)
        self.compare.offer(written)
        self._read_tab()
        self.tabs.setTabText(RELEASES, f"Releases ({len(written):,})" if written else "Releases")
        self.listed.emit()

    def _missed(self, text: str) -> None:
        self.stale = True  # it is tried again at the next look
        self.refused.emit(text)

    def _read_tab(self) -> None:
        self._read_files(self.releases.release)
        self._read_questions(self.questions.of.currentData())
        if self.tabs.currentIndex() == COMPARE:
            self.compare.ask()

    def _read_files(self, release: Written | None) -> None:
        if release is not None and self.tabs.currentIndex() == RELEASES:
            self._ask(
                "files",
                lambda: readings.read_files(release),
                lambda files: self.releases.show_files(release, files),
                self.refused.emit,
            )

    def _read_questions(self, release: Written | None) -> None:
        if self.tabs.currentIndex() != QUESTIONS:
            return
        if release is not None:
            jobs = self.workspace.jobs

            def show(questions: list[ShownQuestion]) -> None:
                if self.questions.of.currentData() == release:
                    self.questions.show_questions(questions)

            def refuse(text: str) -> None:
                if self.questions.of.currentData() == release:
                    self.questions.say(f"⚠ {text}", "bad")

            self._ask("questions", lambda: jobs.release_questions(release.folder), show, refuse)
        elif self._rehearsal is not None:
            self.questions.show_questions(self._rehearsal.first)

    def _read_comparison(self, first: Written, second: Written) -> None:
        jobs = self.workspace.jobs

        def show(comparison: Comparison) -> None:
            if self.compare.pair == (first, second):
                self.compare.show_comparison(comparison)

        def refuse(text: str) -> None:
            if self.compare.pair == (first, second):
                self.compare.say(f"⚠ {text}", "bad")

        self._ask(
            "comparison", lambda: jobs.compare_releases(first.folder, second.folder), show, refuse
        )

    def _compare_with(self, release: Written) -> None:
        self.tabs.setCurrentIndex(COMPARE)
        older = self.written[self.written.index(release) + 1 :]
        self.compare.choose(older[0] if older else None, release)
