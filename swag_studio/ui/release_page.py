"""Release: what a release would hold now, its checks, its writing, and those that are written.

Counting goes to the reading thread, checking and writing to the engine as jobs; what is written is
read by release_shelf.py. All that is counted, checked and written is of one filter run. A release
is written only as it was checked: any change of the work asks for another check.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QLabel,
    QSizePolicy,
    QTabWidget,
    QWidget,
)

from swag_studio.recipe import Recipe
from swag_studio.releases import KEPT, ON_CARD, ReleaseOptions, next_version
from swag_studio.ui import release_readings as readings
from swag_studio.ui.page import Page, card, prose, set_role
from swag_studio.ui.release_jobs import Errand, Kind, ReleaseJobs
from swag_studio.ui.release_options import NextRelease
from swag_studio.ui.release_readings import Written
from swag_studio.ui.release_shelf import NEW, RELEASES, Shelf
from swag_studio.ui.run_bar import RunBar
from swag_studio.ui.words import count
from swag_studio.ui.workspace import Workspace
from swag_studio.views import Outlook, Rehearsal

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
NO_RUN = (
    "There is no finished filter run, and so nothing to count. Once there is one, what a release "
    "would hold stands here. Releases that are written are kept, on the tab Releases."
)
OTHERWISE = "These are checks of other questions. Check again."


class ReleasePage(Page):
    """Tabs: the next release, first questions, those that are written, two compared."""

    title = "Release"
    stage = "release"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.jobs = ReleaseJobs(workspace, self)
        self.outlook: Outlook | None = None
        self.rehearsal: Rehearsal | None = None
        self._checked: tuple[bool, bool, int] | None = None  # what the rehearsal was asked for
        self._written_as = ""  # the version under which the rehearsed state was written
        self._run = 0  # the version of the filter run that is counted
        self._counted = False  # as it stands now
        self._next = "Filtering"  # what the primary button does
        self.next = NextRelease(workspace.project.recipe)
        self.counts, self.checks, self.form = self.next.counts, self.next.checks, self.next.form
        self.counts.say(NO_RUN)
        self.form.set_formats(workspace.jobs.release_formats())
        self._show_kept()
        self._build()
        self._connect()

    # --- building ----------------------------------------------------------------------------

    def _build(self) -> None:
        self.message = prose()
        self.message.hide()
        self.run_bar = RunBar(self.workspace.project)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Next release, questions, releases and comparison")
        self.tabs.setDocumentMode(True)
        self.tabs.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.tabs.setMinimumHeight(520)
        self.tabs.addTab(self.next, "Next release")
        self.shelf = Shelf(self.workspace, self.tabs)
        self.questions, self.releases = self.shelf.questions, self.shelf.releases
        self.compare = self.shelf.compare
        self.empty = QLabel(NOT_FILTERED)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self.empty, "muted")
        self.empty_card = card(self.empty, margins=40)
        self.body.addWidget(self.message)
        self.body.addWidget(self.run_bar)
        self.body.addWidget(self.empty_card)
        self.body.addWidget(self.tabs, 1)
        self.body.addStretch(0)

    def _connect(self) -> None:
        self.jobs.ended.connect(self._ended)
        self.next.check.clicked.connect(lambda: self.start("rehearse"))
        self.next.write.clicked.connect(lambda: self.start("publish"))
        self.next.draft.button.clicked.connect(lambda: self.workspace.run_until(self.stage))
        self.next.draft.recipe.changed.connect(self._recipe_changed)
        self.form.changed.connect(self._asked_otherwise)
        self.run_bar.picked.connect(self._take_run)
        self.shelf.listed.connect(self._show_written)
        self.shelf.refused.connect(lambda text: self._say(f"⚠ {text}", "bad"))
        self.checks.context_wanted.connect(
            lambda context: self.context_wanted.emit(context, self._run)
        )

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
        run = self.run_bar.look()
        version = run.version if run is not None else 0
        if tables & WORK or version != self._run:
            self._out_of_date()
        if version != self._run:
            self._run, self.outlook = version, None
            self.counts.say("Counting what people decided …" if version else NO_RUN)
        if not tables or tables & WRITTEN:
            self.shelf.stale = True
        self._show_what_there_is()
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
        self.shelf.look()
        if self._run and not self._counted:
            self._counted = True
            project, jobs, asked = self.workspace.project, self.workspace.jobs, self.options

            def show(outlook: Outlook) -> None:
                if _chosen(asked) == _chosen(self.options):  # else others are counted by now
                    self._show_outlook(outlook)

            def refuse(text: str) -> None:
                if _chosen(asked) == _chosen(self.options):
                    self.counts.say(f"⚠ {text}", "bad")
                    self._counted = False  # it is tried again at the next look

            self.workspace.reader.ask(
                "release.outlook", lambda: jobs.outlook(project, asked), show, refuse
            )

    @property
    def options(self) -> ReleaseOptions:
        """What is asked of the next release, of the run that the page speaks of."""
        return replace(self.form.options, filter_version=self._run)

    @property
    def written(self) -> list[Written]:
        """The releases that there are, as they were last read."""
        return self.shelf.written

    # --- showing -----------------------------------------------------------------------------

    def _show_outlook(self, outlook: Outlook) -> None:
        self.outlook = outlook
        self.counts.show_outlook(outlook)
        self._show_state()

    def _show_written(self) -> None:
        self.form.propose(
            next_version(self.workspace.project.root),
            {w.version for w in self.written if not w.draft},
        )
        self._show_what_there_is()
        self._show_state()

    def _show_what_there_is(self) -> None:
        """Neither a run nor a release: words alone."""
        there = bool(self._run or self.written)
        self.empty_card.setVisible(not there)
        self.tabs.setVisible(there)

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
            self.tell(told, role, "Run the filter first.", "Filtering ›")
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
            drafts = [w.name for w in self.written if w.draft]
            hint = (
                f"The {drafts[0]} has unchecked ones, see Releases. Next: have them judged."
                if drafts
                else "Have endings judged, or make a draft of unchecked ones."
            )
            return hint, "Annotate", "Annotate ›"
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
        return self.rehearsal is not None and self._checked == _chosen(self.options)

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
        options = self.options
        if self.jobs.errand is not None:
            return
        self._say("")  # first: it may be over before `start` returns
        if kind == "publish":
            self._keep(options)
        self.jobs.start(kind, options)
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
        self.shelf.show_checked(rehearsal)

    def _written_now(self, errand: Errand) -> None:
        assert errand.summary is not None
        version = errand.options.version
        self.shelf.choose = self._written_as = version
        self._say(f"✓ Release {version} is written: {errand.summary.get('folder', '')}")
        self.tabs.setCurrentIndex(RELEASES)
        self.shelf.stale = True
        self._read()

    def _asked_otherwise(self, questions: bool) -> None:
        """The form was edited; `questions`: others may come of it."""
        if questions:
            self._out_of_date(OTHERWISE)
            self._read()
        self._show_state()

    def _take_run(self) -> None:
        """Another run was picked: the page speaks of that one from now on."""
        self._out_of_date(OTHERWISE)
        self.refresh(frozenset({"filter"}))

    def _out_of_date(self, why: str = "Something changed since the checks. Check again.") -> None:
        self._counted = False
        if self.jobs.errand is not None:
            self.jobs.errand.overtaken = True
        if self.rehearsal is not None:
            self.rehearsal = self._checked = None
            self._written_as = ""
            self.checks.say(f"↻ {why}", "warn")
            self.form.show_errors(())
            self.shelf.show_checked(None)

    def _recipe_changed(self, recipe: Recipe) -> None:
        self.workspace.project.set_recipe(recipe)
        self.workspace.bridge.changed.emit(frozenset({"recipe"}))

    # --- what the card says, kept from release to release ---------------------------------------

    def _keep(self, options: ReleaseOptions) -> None:
        kept = {name: getattr(options, name) for name in ON_CARD}
        self.workspace.project.store.set_people_setting(KEPT, kept)

    def _show_kept(self) -> None:
        for name, text in self.workspace.project.store.people_setting(KEPT, {}).items():
            if name in ON_CARD:
                getattr(self.form, name).setText(text)


def _chosen(options: ReleaseOptions) -> tuple[bool, bool, int]:
    """What of the options decides which questions there are."""
    return options.unverified, options.include_simulated, options.filter_version
