"""Agreement: who judges and how far they agree, what is tied, and what is left to do.

The page from which verification is led. What it shows is read in the background while it is seen;
what it does is done by people_actions.py.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QTabWidget, QWidget

from swag_studio import curating
from swag_studio.errors import UserError
from swag_studio.judging import Adjudication
from swag_studio.rounds import HumanWork
from swag_studio.ui import people_readings as readings
from swag_studio.ui.adjudication_panel import AdjudicationPanel
from swag_studio.ui.agreement_panel import AgreementPanel
from swag_studio.ui.candidates_page import Worded
from swag_studio.ui.late import Late
from swag_studio.ui.page import Page, set_role
from swag_studio.ui.people_actions import PeopleActions
from swag_studio.ui.people_panel import PeoplePanel
from swag_studio.ui.people_readings import Figures, Overview, Parts, Tie
from swag_studio.ui.plan_panel import PlanPanel
from swag_studio.ui.run_bar import RunBar
from swag_studio.ui.words import count, does
from swag_studio.ui.workspace import Workspace

TABLES = frozenset(
    {"annotators", "tasks", "allocations", "judgements", "skips", "adjudications", "people"}
    | {"filter", "assignments", "curated", "endings", "recipe", "sources"}
)
NOT_FILTERED = (
    "People judge the endings that the filter chooses, so there is nothing to give out before a "
    "filter run is done. Then annotators are added here, work is given out, and what they are tied "
    "on is settled. What a verification takes can be planned already, on the tab Plan."
)
PEOPLE, AGREEMENT, ADJUDICATE, PLAN = range(4)


class AgreementPage(Page):
    """Tabs: people, agreement, what is tied, the plan."""

    title = "Agreement"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.work: HumanWork | None = None
        self.overview: Overview | None = None
        self.figures: Figures | None = None
        self._stale = {"overview", "figures", "ties"}
        self._who: readings.Who | None = None  # as chosen, else by the project's setting
        self._settling: set[str] = set()  # tasks whose settling is being kept
        self._next = "filter"  # what the primary button does
        self.deeds = PeopleActions(workspace, self)
        self.deeds.told.connect(self._say)
        self.people = PeoplePanel()
        self.agreement_tab = Late(self._make_agreement)
        self.adjudication_tab = Late(self._make_adjudication)
        self.plan_tab = Late(self._make_plan)
        self.run_bar = RunBar(workspace.project)
        self.message = QLabel("")
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message.setWordWrap(True)
        self.message.hide()
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("People, agreement, adjudication and plan")
        self.tabs.setDocumentMode(True)
        self.tabs.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.tabs.setMinimumHeight(360)
        self.worded: list[Worded] = []
        for panel, name in (
            (self.people, "People"),
            (self.agreement_tab, "Agreement"),
            (self.adjudication_tab, "Adjudicate"),
        ):
            worded = Worded(panel)
            worded.setContentsMargins(0, 0, 0, 0)
            self.worded.append(worded)
            self.tabs.addTab(worded, name)
        self.tabs.addTab(self.plan_tab, "Plan")
        self.body.addWidget(self.message)
        self.body.addWidget(self.run_bar)
        self.body.addWidget(self.tabs, 1)
        self._connect()
        self._without_run()

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(lambda _: self._read())
        self.deeds.busy_changed.connect(self.people.set_busy)
        self.deeds.busy_changed.connect(self.action.setDisabled)
        self.run_bar.picked.connect(lambda: self.refresh(frozenset({"filter"})))
        self.people.asked.connect(self._asked)
        self.people.count_simulated.connect(self.deeds.count_simulated)

    def _make_agreement(self) -> AgreementPanel:
        panel = AgreementPanel(self.workspace.theme)
        panel.who_chosen.connect(self._choose_who)
        panel.measure_chosen.connect(lambda _: self._read_parts())
        return panel

    def _make_adjudication(self) -> AdjudicationPanel:
        panel = AdjudicationPanel()
        panel.settled.connect(self._settle)
        return panel

    def _make_plan(self) -> PlanPanel:
        panel = PlanPanel()
        panel.plan_changed.connect(self._keep_plan)
        return panel

    @property
    def agreement(self) -> AgreementPanel:
        """How far they agree."""
        return self.agreement_tab.content()

    @property
    def adjudication(self) -> AdjudicationPanel:
        """What is tied."""
        return self.adjudication_tab.content()

    @property
    def plan(self) -> PlanPanel:
        """What is left to do."""
        return self.plan_tab.content()

    # --- hooks -------------------------------------------------------------------------------

    def refresh(self, tables: frozenset[str]) -> None:
        if tables and not tables & TABLES:
            return
        self._stale |= {"overview", "figures", "ties"}
        run = self.run_bar.look()
        if run is None:
            self.work = self.overview = self.deeds.work = None
            self._without_run()
        elif self.work is None or self.work.version != run.version:
            self.work = readings.human_work(self.workspace.project, run)
            self._overviews = readings.OverviewReader(self.work)
            self.overview = self.figures = self.deeds.overview = None
            self._show_plan(self.work)
            self._words("Reading how the verification stands …")
            self.tell("", "muted", "")
        self.deeds.work = self.work
        self._read()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._read()

    def act(self) -> None:
        """What is to be done next, as the primary button says it."""
        if self._next in ("Filtering", "Release", "Annotate"):
            self.go_to.emit(self._next)
        elif self._next == "settle":
            self.tabs.setCurrentIndex(ADJUDICATE)
        else:
            self._asked(self._next)

    # --- reading -----------------------------------------------------------------------------

    def _read(self) -> None:
        """Has read what is seen and no longer true."""
        if self.work is None or not self.isVisible():
            return
        work, overviews = self.work, self._overviews
        self._ask("overview", overviews.read, self._show_overview)
        if self.tabs.currentIndex() == AGREEMENT:
            who = self.who
            self._ask("figures", lambda: readings.read_figures(work, who), self._show_figures)
        if self.tabs.currentIndex() == ADJUDICATE:
            self._ask("ties", lambda: readings.read_ties(work), self._show_ties)

    def _ask(self, what: str, read: Callable[[], Any], show: Callable[[Any], None]) -> None:
        if what not in self._stale:
            return
        self._stale.discard(what)
        work = self.work

        def unless_other(tell: Callable[[Any], None], result: Any) -> None:
            if work is self.work:  # else another run is verified by now
                tell(result)

        self.workspace.reader.ask(
            f"agreement.{what}",
            read,
            partial(unless_other, show),
            partial(unless_other, partial(self._refused, what)),
        )

    def _refused(self, what: str, text: str) -> None:
        panels = {"overview": self.worded, "figures": self.worded[1:2], "ties": self.worded[2:]}
        for panel in panels[what]:
            panel.say(text, "bad")
        self._stale.add(what)  # it is tried again at the next look

    @property
    def who(self) -> readings.Who:
        """Whose agreement is shown: people's, unless chosen otherwise or only others judged."""
        overview = self.overview
        alone = overview is not None and overview.simulated and not overview.people
        return self._who or ("simulated" if alone else "people")

    # --- showing -----------------------------------------------------------------------------

    def _without_run(self) -> None:
        self._words(NOT_FILTERED)
        self._next = "Filtering"
        self.tell("not yet", "muted", "Run the filter first.", "Filtering ›")

    def _words(self, text: str) -> None:
        for worded in self.worded:
            worded.say(text)

    def _say(self, text: str, role: str) -> None:
        self.message.setText(text)
        set_role(self.message, role)
        self.message.setVisible(bool(text))

    def _show_plan(self, work: HumanWork) -> None:
        """The plan as it is kept, at once: a change of one assumption keeps them all."""
        with suppress(UserError):  # the overview says why it cannot be read
            plan = work.plan
            self.plan_tab.tell(lambda panel: panel.show_plan(plan))

    def _show_overview(self, overview: Overview) -> None:
        assert self.work is not None
        before = self.who
        overview = replace(overview, plan=self.work.plan)  # which may be edited since it was read
        self.overview = self.deeds.overview = overview
        self.people.show_overview(overview)
        self.plan_tab.tell(lambda plan: plan.show_overview(overview))
        self.worded[PEOPLE].show_content()
        ties = overview.kinds.get("adjudicate", 0)
        self.tabs.setTabText(ADJUDICATE, f"Adjudicate ({ties:,})" if ties else "Adjudicate")
        status = f"{overview.judged:,} of {count(overview.contexts, 'context')} judged"
        hint, self._next, action = next_step(overview)
        if overview.simulated:
            hint = f"◇ Simulated annotators' answers count in this. {hint}"
        role = "good" if overview.judged == overview.contexts else "muted"
        self.tell(status, role, hint, action)
        if self.who != before:
            self._stale.add("figures")  # they were asked for of others
            self._read()

    def _show_figures(self, figures: Figures) -> None:
        if figures.who != self.who:
            return  # those of others are being read
        self.figures = figures
        self.agreement.set_who(figures.who)
        self.agreement.show_figures(figures)
        self.worded[AGREEMENT].show_content()
        self._read_parts()

    def _read_parts(self) -> None:
        figures = self.figures
        if figures is None or not len(figures.ratings):
            return
        measure = self.agreement.measure.currentData()

        def show(parts: Parts) -> None:
            if figures is self.figures:
                self.agreement.show_parts(parts, figures.names)

        def refuse(text: str) -> None:
            if figures is self.figures:
                self._refused("figures", text)

        self.workspace.reader.ask(
            "agreement.parts", lambda: readings.read_parts(figures, measure), show, refuse
        )

    def _show_ties(self, ties: list[Tie]) -> None:
        assert self.work is not None
        self.adjudication.seed = self.work.seed
        if not self.adjudication.by.text():
            self.adjudication.by.setText(curating.who(self.work.store) or curating.login())
        overview = self.overview
        names = {w.annotator.id: w.annotator.name for w in overview.workers} if overview else {}
        total = overview.kinds.get("adjudicate", 0) if overview else len(ties)
        left = [tie for tie in ties if tie.case.task.id not in self._settling]
        self.adjudication.show_ties(left, total - (len(ties) - len(left)), names)
        self.worded[ADJUDICATE].show_content()

    # --- doing -------------------------------------------------------------------------------

    def _asked(self, name: str) -> None:
        self._say("", "")
        self.deeds.do(name, self.people.chosen)

    def _settle(self, record: Adjudication) -> None:
        """Keeps it. A look that began before that is kept still finds the tie."""
        self._settling.add(record.task_id)
        self.deeds.settle(record, partial(self._settling.discard, record.task_id))

    def _keep_plan(self, plan: Any) -> None:
        if self.work is not None:
            self.deeds.keep_plan(plan)

    def _choose_who(self, who: readings.Who) -> None:
        self._who = who
        self._stale.add("figures")
        self._read()


def next_step(overview: Overview) -> tuple[str, str, str]:
    """(what to do next, its name, the button) for whoever leads the work."""
    kinds = overview.kinds
    ties, again = kinds.get("adjudicate", 0), kinds.get("reannotate", 0)
    left = overview.contexts - overview.begun
    if not overview.people and not overview.begun:
        return (
            "Add whoever will judge, or try it with simulated annotators.",
            "add",
            "Add annotator …",
        )
    words = []
    if ties:
        words.append(f"{does(ties, 'tie', 'waits', 'wait')} to be settled.")
    if again:
        words.append(f"{does(again, 'context', 'needs', 'need')} another round.")
    if overview.open:
        waiting = does(overview.open, "task", "waits", "wait")
        words.append(f"{waiting} for people, on the page Annotate.")
    elif left:
        words.append(f"{does(left, 'context', 'has', 'have')} not been given out.")
    hint = " ".join(words) or "Everything is judged. Next: the release."
    if ties:
        return hint, "settle", "Settle ties ›"
    if again:
        return hint, "round", "Open the next round"
    if overview.open:
        return hint, "Annotate", "Annotate ›"
    if left:
        return hint, "give", "Give work out …"
    return hint, "Release", "Release ›"
