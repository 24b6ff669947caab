"""Release: what a release would hold now, its checks, its writing, and those that are written.

Counting and reading go to the reading thread, checking and writing to the engine as jobs. A
release is written only as it was checked: any change of the work asks for another check.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QLabel,
    QSizePolicy,
    QTabWidget,
    QWidget,
)

from swag_studio.recipe import Recipe
from swag_studio.releases import ReleaseOptions, next_version
from swag_studio.ui import release_readings as readings
from swag_studio.ui.page import Page, card, prose, set_role
from swag_studio.ui.release_jobs import Errand, Kind, ReleaseJobs
from swag_studio.ui.release_lists import ComparePanel, QuestionsPanel, ReleasesPanel
from swag_studio.ui.release_options import NextRelease
from swag_studio.ui.release_readings import Written
from swag_studio.ui.words import count
from swag_studio.ui.workspace import Workspace
from swag_studio.views import Comparison, Outlook, Rehearsal, ShownQuestion

# What a release follows from, by table; a change makes a check out of date.
WORK = frozenset(
    {"annotators", "tasks", "judgements", "adjudications", "people", "curated", "endings"}
    | {"filter", "assignments", "recipe", "artifacts"}
)
WRITTEN = frozenset({"releases", "artifacts"})
NOT_FILTERED = (
    "A release is made of the contexts of a finished filter run, by what people said of their "
    "endings: CSV files as SWAG has them and other formats, with a card, and with where each word "
    "came from. Run the filter first."
)
NEW, QUESTIONS, RELEASES, COMPARE = range(4)
_CARD = "release_card"  # the kept setting: what the card says


class ReleasePage(Page):
    """Tabs: the next release, first questions, those that are written, two compared."""

    title = "Release"
    stage = "release"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.jobs = ReleaseJobs(workspace, self)
        self.outlook: Outlook | None = None
        self.rehearsal: Rehearsal | None = None
        self.written: list[Written] = []
        self._checked: tuple[bool, bool] | None = None  # what the rehearsal was asked for
        self._written_as = ""  # the version under which the rehearsed state was written
        self._run = 0  # the filter run that is counted
        self._stale = {"outlook", "written"}
        self._choose = ""  # the release to choose once it is read
        self._next = "Filtering"  # what the primary button does
        self.next = NextRelease(workspace.project.recipe)
        self.counts, self.checks, self.form = self.next.counts, self.next.checks, self.next.form
        self.questions, self.releases = QuestionsPanel(), ReleasesPanel()
        self.compare = ComparePanel()
        self.form.set_formats(workspace.jobs.release_formats())
        self._show_kept()
        self._build()
        self._connect()

    # --- building ----------------------------------------------------------------------------

    def _build(self) -> None:
        self.message = prose()
        self.message.hide()
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Next release, questions, releases and comparison")
        self.tabs.setDocumentMode(True)
        self.tabs.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.tabs.setMinimumHeight(520)
        for panel, name in (
            (self.next, "Next release"),
            (self.questions, "First questions"),
            (self.releases, "Releases"),
            (self.compare, "Compare"),
        ):
            self.tabs.addTab(panel, name)
        self.empty = QLabel(NOT_FILTERED)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self.empty, "muted")
        self.empty_card = card(self.empty, margins=40)
        self.body.addWidget(self.message)
        self.body.addWidget(self.empty_card)
        self.body.addWidget(self.tabs, 1)
        self.body.addStretch(0)

    def _connect(self) -> None:
        self.jobs.ended.connect(self._ended)
        self.next.check.clicked.connect(lambda: self.start("rehearse"))
        self.next.write.clicked.connect(lambda: self.start("publish"))
        self.next.draft.button.clicked.connect(lambda: self.workspace.run_until(self.stage))
        self.next.draft.recipe.changed.connect(self._recipe_changed)
        self.tabs.currentChanged.connect(lambda _: self._read_tab())
        self.form.changed.connect(self._asked_otherwise)
        self.checks.context_wanted.connect(self.context_wanted)
        self.questions.wanted.connect(self._read_questions)
        self.releases.chosen.connect(self._read_files)
        self.releases.compare.connect(self._compare_with)
        self.compare.wanted.connect(self._read_comparison)

    # --- hooks -------------------------------------------------------------------------------

    @classmethod
    def prepare(cls, workspace: Workspace) -> None:
        workspace.jobs.release_formats()

    def refresh(self, tables: frozenset[str]) -> None:
        if tables and not tables & (WORK | WRITTEN):
            return
        project = self.workspace.project
        if project.recipe != self.next.draft.recipe.recipe:
            self.next.draft.recipe.set_recipe(project.recipe)
        run = project.current("filter")
        version = run.version if run is not None else 0
        if tables & WORK or version != self._run:
            self._out_of_date()
        self._run = version
        if not tables or tables & WRITTEN:
            self._stale.add("written")
        self.empty_card.setVisible(not version and not self.written)
        self.tabs.setVisible(bool(version or self.written))
        self._show_state()
        self._read()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._read()

    def act(self) -> None:
        """What is to be done next, as the primary button says it."""
        if self._next in ("rehearse", "publish"):
            self.tabs.setCurrentIndex(NEW)
            self.start("publish" if self._next == "publish" else "rehearse")
        else:
            self.go_to.emit(self._next)

    # --- reading -----------------------------------------------------------------------------

    def _read(self) -> None:
        """Has read what is seen and no longer true."""
        if not self.isVisible():
            return
        project, jobs = self.workspace.project, self.workspace.jobs
        if "written" in self._stale:
            self._stale.discard("written")
            self._ask("written", lambda: readings.read_written(project), self._show_written)
        if self._run and "outlook" in self._stale:
            self._stale.discard("outlook")
            asked = self.form.options
            self._ask("outlook", lambda: jobs.outlook(project, asked), self._show_outlook)

    def _ask(self, what: str, read: Callable[[], Any], show: Callable[[Any], None]) -> None:
        self.workspace.reader.ask(f"release.{what}", read, show, partial(self._refused, what))

    def _refused(self, what: str, text: str) -> None:
        says: dict[str, Callable[[str, str], None]] = {
            "outlook": self.counts.say,
            "questions": self.questions.say,
            "comparison": self.compare.say,
        }
        says.get(what, self._say)(f"⚠ {text}", "bad")
        if what in ("outlook", "written"):
            self._stale.add(what)  # it is tried again at the next look

    def _read_tab(self) -> None:
        """What the shown tab needs, and no other: a large release takes seconds to read."""
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
            )

    def _read_questions(self, release: Written | None) -> None:
        if self.tabs.currentIndex() != QUESTIONS:
            return
        if release is not None:
            jobs = self.workspace.jobs

            def show(questions: list[ShownQuestion]) -> None:
                if self.questions.of.currentData() == release:
                    self.questions.show_questions(questions)

            self._ask("questions", lambda: jobs.release_questions(release.folder), show)
        elif self.rehearsal is not None:
            self.questions.show_questions(self.rehearsal.first)

    def _read_comparison(self, first: Written, second: Written) -> None:
        jobs = self.workspace.jobs

        def show(comparison: Comparison) -> None:
            if self.compare.pair == (first, second):
                self.compare.show_comparison(comparison)

        self._ask("comparison", lambda: jobs.compare_releases(first.folder, second.folder), show)

    def _compare_with(self, release: Written) -> None:
        self.tabs.setCurrentIndex(COMPARE)
        older = self.written[self.written.index(release) + 1 :]
        self.compare.choose(older[0] if older else None, release)

    # --- showing -----------------------------------------------------------------------------

    def _show_outlook(self, outlook: Outlook) -> None:
        self.outlook = outlook
        self.counts.show_outlook(outlook)
        self._show_state()

    def _show_written(self, written: list[Written]) -> None:
        self.written = written
        self.form.propose(
            next_version(self.workspace.project.root), {w.version for w in written if not w.draft}
        )
        self.releases.show_written(written, self._choose)
        self._choose = ""
        self._offer_questions()
        self.compare.offer(written)
        self._read_tab()
        self.tabs.setTabText(RELEASES, f"Releases ({len(written):,})" if written else "Releases")
        self.empty_card.setVisible(not self._run and not written)
        self.tabs.setVisible(bool(self._run or written))
        self._show_state()

    def _offer_questions(self) -> None:
        self.questions.offer(self.written, checked=self.rehearsal is not None)
        self._read_questions(self.questions.of.currentData())

    def _show_state(self) -> None:
        """Heading, buttons, and what is lacking before a release can be written."""
        state = self.state()
        running = "running" if self.running else state.state if state else "missing"
        self.next.draft.show_state(running)
        ready = bool(self._run) and self.jobs.errand is None
        self.next.show_state(ready, self._lacking)
        verified = [w for w in self.written if not w.draft]
        told = (
            f"{count(len(verified), 'release')}, newest {verified[0].version}" if verified else ""
        )
        told = told or ("draft only" if self.written else "none yet")
        role = "good" if verified else "muted"
        busy = self._at_work
        if not self._run:
            self._next = "Filtering"
            self.tell(told, role, "Run the filter with this recipe first.", "Filtering ›")
        elif busy:
            self.tell("running", "good", f"{busy} You may go on working.")
        elif self.outlook is None:
            self.tell(told, role, "Counting what people decided …")
        else:
            hint, self._next, action = self._next_step(self.outlook)
            self.tell(told, role, f"{readings.standing(self.outlook)} {hint}", action)

    @property
    def _at_work(self) -> str:
        """What is being done, in a sentence; "" while nothing is."""
        if self.jobs.errand is not None:
            what = {"rehearse": "The checks run.", "publish": "The release is being written."}
            return what[self.jobs.errand.kind]
        return "The draft is being written." if self.running else ""

    def _next_step(self, outlook: Outlook) -> tuple[str, str, str]:
        """(what to do next, its name, the button)."""
        if not outlook.questions:
            if self._simulated_wait():
                return "Simulated annotators judged: count them to try a release.", "", ""
            return (
                "Have endings judged, or make a draft of unchecked ones.",
                "Annotate",
                "Annotate ›",
            )
        if self._is_checked and self._written_as:
            return f"Release {self._written_as} holds this. Next: what it gives away.", "Audit", (
                "Audit ›"
            )  # fmt: skip
        if self._is_checked:
            version = self.form.options.version
            lacking = self._lacking
            return (lacking, "", "") if lacking else (
                "It is checked. Next: write it.", "publish", f"Write release {version}",
            )  # fmt: skip
        return "Next: check it.", "rehearse", "Check"

    def _simulated_wait(self) -> bool:
        store = self.workspace.project.store
        there = any(a.kind == "simulated" and a.active for a in store.annotators())
        return there and store.judgement_count() > 0 and not self.form.simulated.isChecked()

    @property
    def _is_checked(self) -> bool:
        """Whether the checks were made of what would be written."""
        return self.rehearsal is not None and self._checked == _chosen(self.form.options)

    @property
    def _lacking(self) -> str:
        if not self._is_checked:
            return "Check it before it is written."
        assert self.rehearsal is not None
        if not self.rehearsal.outlook.questions:
            return "There is no question to release."
        return self.form.missing

    def _say(self, text: str, role: str = "good") -> None:
        self.message.setText(text)
        set_role(self.message, role)
        self.message.setVisible(bool(text))

    # --- doing -------------------------------------------------------------------------------

    def start(self, kind: Kind) -> None:
        """Checks, or writes the release: a job that can be paused and cancelled."""
        options = self.form.options
        if self.jobs.start(kind, options):
            self._say("")
            if kind == "publish":
                self._keep(options)
            self._show_state()

    def _ended(self, errand: Errand) -> None:
        if errand.error:
            self._say(f"⚠ {errand.error}", "bad")
        elif errand.summary is None:
            what = "checks" if errand.kind == "rehearse" else "release"
            self._say(f"The {what} did not come to an end. Nothing was written.", "warn")
        elif errand.kind == "rehearse" and errand.overtaken:
            self.checks.say("↻ Something changed during the checks. Check again.", "warn")
        elif errand.kind == "rehearse":
            self._checked_now(errand.summary["rehearsal"], errand.options)
        else:
            self._written_now(errand)
        self._show_state()

    def _checked_now(self, rehearsal: Rehearsal, options: ReleaseOptions) -> None:
        self.rehearsal, self._checked = rehearsal, _chosen(options)
        self._written_as = ""
        self.checks.show_rehearsal(rehearsal)
        self.form.show_errors(rehearsal.problems)
        if self._is_checked:
            self._show_outlook(rehearsal.outlook)
        self._offer_questions()

    def _written_now(self, errand: Errand) -> None:
        assert errand.summary is not None
        version = errand.options.version
        self._choose = self._written_as = version
        self._say(f"✓ Release {version} is written: {errand.summary.get('folder', '')}")
        self.tabs.setCurrentIndex(RELEASES)
        self._stale.add("written")
        self._read()

    def _asked_otherwise(self, questions: bool) -> None:
        """The form was edited; `questions`: others may come of it."""
        if questions:
            self._out_of_date("These are checks of other questions. Check again.")
            self._read()
        self._show_state()

    def _out_of_date(self, why: str = "Something changed since the checks. Check again.") -> None:
        self._stale.add("outlook")
        if self.jobs.errand is not None:
            self.jobs.errand.overtaken = True
        if self.rehearsal is not None:
            self.rehearsal = self._checked = None
            self._written_as = ""
            self.checks.say(f"↻ {why}", "warn")
            self.form.show_errors(())
            self._offer_questions()

    def _recipe_changed(self, recipe: Recipe) -> None:
        self.workspace.project.set_recipe(recipe)
        self.workspace.bridge.changed.emit(frozenset({"recipe"}))

    # --- what the card says, kept from release to release ---------------------------------------

    def _keep(self, options: ReleaseOptions) -> None:
        kept = {name: getattr(options, name) for name in ("title", "licence", "language")}
        self.workspace.project.store.set_people_setting(_CARD, kept)

    def _show_kept(self) -> None:
        for name, text in self.workspace.project.store.people_setting(_CARD, {}).items():
            if name in ("title", "licence", "language"):
                getattr(self.form, name).setText(text)


def _chosen(options: ReleaseOptions) -> tuple[bool, bool]:
    """What of the options decides which questions there are."""
    return options.unverified, options.include_simulated
