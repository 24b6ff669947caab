"""A project's window: the step bar, the pages, the job panel, menus and keys.

It wires pages to the bridge and to each other by name; what a page shows is the page's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from swag_studio.events import Metric, Progress
from swag_studio.recipe import STAGE_SECTIONS, STAGES
from swag_studio.settings import Settings
from swag_studio.ui import menus, qt_classes
from swag_studio.ui.closing import Closing, paused
from swag_studio.ui.job_panel import JobPanel
from swag_studio.ui.keeping import Keeper
from swag_studio.ui.page import Page
from swag_studio.ui.pages import PAGES, Step
from swag_studio.ui.step_bar import StepBar
from swag_studio.ui.theme import Theme
from swag_studio.ui.undo import Undo
from swag_studio.ui.window import Window
from swag_studio.ui.words import STAGE_TITLES
from swag_studio.ui.workspace import Workspace

if TYPE_CHECKING:
    from swag_studio.ui.people_readings import KeepingUp

SIZE = (1240, 820)
KEPT_UP_FROM = frozenset({"judgements", "adjudications", "curated"})
BETWEEN_REFRESHES = 20  # ms
BETWEEN_PAGES = 150  # ms in which the window answers while its other pages are made
CLASSES_AT_ONCE = 0.01  # s in which the window does not answer while Qt's classes are made
FIRST_PAGE_AFTER = 20  # ms: the window is painted before anything slow begins


class MainWindow(Window):
    """The window of one open project. It shows at once; its pages are made after that, one by one.

    `closed` comes when the engine is over and the project is closed.
    """

    closed = Signal()
    backups_requested = Signal()

    def __init__(self, workspace: Workspace, steps: Sequence[Step] = PAGES) -> None:
        super().__init__()
        self.workspace, self.step_list = workspace, list(steps)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"{workspace.project.root.stem} – SWAG Studio")
        self._pages: dict[int, Page] = {}
        self.undo: Undo
        self.following = False  # shows the page of the step at work, until someone chooses one
        self.step_bar = StepBar([step.title for step in self.step_list])
        self.stack = QStackedWidget()
        self.job_panel = JobPanel(workspace.bridge, workspace.jobs.accelerator)
        self.closing = Closing(workspace, self)
        self.keeper = Keeper(workspace.project.root, self)
        self._keeping_up: KeepingUp | None = None  # made and pulled in the reading thread
        self._behind = False
        self._builder = QTimer(self)
        self._builder.timeout.connect(self._build_next)
        # Hidden pages that have not read yet; the tables that changed, and whether all may have.
        self._due: dict[int, tuple[frozenset[str], bool]] = {}
        self._in_turn = QTimer(self)
        self._in_turn.setInterval(BETWEEN_REFRESHES)
        self._in_turn.timeout.connect(self._refresh_next)
        self._build()
        menus.build(self)
        self._connect()
        self.resize(*SIZE)
        self.restore_layout()
        self._show_states()
        self._first = self._first_open_step()
        self.step_bar.show_page(self._first)
        if until := paused(workspace.project):
            upto = "" if until == STAGES[-1] else f" up to {STAGE_TITLES[until]}"
            self.job_panel.offer(f"The run{upto} was paused when the window was closed.")

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        for step in self.step_list:
            area = QScrollArea()
            area.setWidgetResizable(True)
            area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            area.setAccessibleName(step.title)
            area.setProperty("page", "true")
            self.stack.addWidget(area)
        self.step_bar.chosen.connect(self.choose_page)
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 8)
        layout.setSpacing(4)
        layout.addWidget(self.step_bar)
        layout.addWidget(self.stack, 1)
        holder = QVBoxLayout()
        holder.setContentsMargins(12, 0, 12, 0)
        holder.addWidget(self.job_panel)
        layout.addLayout(holder)
        self.setCentralWidget(centre)

    def _connect(self) -> None:
        bridge = self.workspace.bridge
        bridge.setParent(self)
        bridge.progress.connect(self._progress)
        bridge.metrics.connect(self._metrics)
        bridge.changed.connect(self.refresh)
        bridge.changed.connect(self._keep_up)
        bridge.ended.connect(lambda _: self.refresh(frozenset()))
        bridge.idle_changed.connect(lambda _: self.refresh(frozenset()))
        self.job_panel.went_on.connect(self._go_on)
        self.closing.stopping.connect(self._stopping)
        self.closing.done.connect(self.close)
        self.keeper.told.connect(self.job_panel.say)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and not self._pages:
            self._builder.start(FIRST_PAGE_AFTER)
        return super().event(event)

    def _build_next(self) -> None:
        """Makes one page per turn of the event loop, the one that is shown first.

        Its code is read in the background before: half a second for what draws charts.
        """
        self._builder.stop()  # a page that cannot be made is told of once, not at each turn
        if not qt_classes.make_some(CLASSES_AT_ONCE):
            self._builder.start(0)
            return
        rest = [i for i in range(len(self.step_list)) if i not in self._pages]
        if rest:
            step = self.step_list[rest[0] if self._pages else self._first]
            self.workspace.reader.ask(
                "page", lambda: step.fetch(self.workspace), lambda _: self._build_one()
            )

    def _build_one(self) -> None:
        rest = [i for i in range(len(self.step_list)) if i not in self._pages]
        if not self._pages:
            self.show_page(self._first)
        elif rest:
            self.page(rest[0])
        if len(self._pages) < len(self.step_list):
            self._builder.start(BETWEEN_PAGES)
        else:
            self._keep_up(frozenset())  # with what a kill may have left undone

    # --- pages ---------------------------------------------------------------------------

    @property
    def pages(self) -> list[Page]:
        """The pages that are made, in their order."""
        return [self._pages[i] for i in sorted(self._pages)]

    def page(self, index: int) -> Page:
        """A page by its place in the bar. It is made if it is not there yet."""
        if index not in self._pages:
            area = self.stack.widget(index)
            assert isinstance(area, QScrollArea)
            # Made in its place: each move makes Qt style all that it has anew.
            page = self.step_list[index].load()(self.workspace, area.viewport())
            page.go_to.connect(self._go_to)
            page.context_wanted.connect(self._show_context)
            page.setting_wanted.connect(self._show_setting)
            self._pages[index] = page
            area.setWidget(page)
            page.refresh(frozenset())
        return self._pages[index]

    def make_pages(self) -> None:
        """Makes every page that is not there yet."""
        for i in range(len(self.step_list)):
            self.page(i)

    def show_page(self, index: int) -> None:
        """Shows a page by its place in the bar."""
        self._first = index
        self.page(index)
        self._refresh_due(index)
        self.stack.setCurrentIndex(index)
        self.step_bar.show_page(index)

    def choose_page(self, index: int) -> None:
        """Shows a page because someone asked for it."""
        self.following = False
        self.show_page(index)

    def show_titled(self, title: str) -> None:
        """Shows a page by its title."""
        for i, step in enumerate(self.step_list):
            if step.title == title:
                self.show_page(i)

    def _first_open_step(self) -> int:
        """The first page whose stage is not done, so that one opens where work waits."""
        states = {s.stage: s.state for s in self.workspace.project.states()}
        for i, step in enumerate(self.step_list):
            if step.stage and states.get(step.stage) != "done":
                return i
        return 0

    def _go_to(self, title: str) -> None:
        self.following = False
        self.show_titled(title)

    def _show_context(self, context_id: str, run: int) -> None:
        self._go_to("Review")
        page = self._pages[self.stack.currentIndex()]
        if hasattr(page, "show_context"):
            page.show_context(context_id, run)

    def _show_setting(self, key: str) -> None:
        """On the page of the step that it decides; what decides all steps is on the first."""
        section = key.partition(".")[0]
        decided = (section in STAGE_SECTIONS.get(step.stage, ()) for step in self.step_list)
        index = next((i for i, here in enumerate(decided) if here), 0)
        self.choose_page(index)
        self.page(index).show_setting(key)

    def refresh(self, tables: frozenset[str]) -> None:
        """Has the pages read anew what changed: the one that is seen at once, the others in turn.

        All at once would stop the window for half a second.
        """
        shown = self.stack.currentIndex()
        with self.workspace.one_look():
            self._show_states()
            if shown in self._pages:
                self._due.pop(shown, None)
                self._pages[shown].refresh(tables)
        for i in self._pages:
            if i != shown:
                named, everything = self._due.pop(i, (frozenset(), False))
                self._due[i] = named | tables, everything or not tables
        if self._due:
            self._in_turn.start()

    def _refresh_next(self) -> None:
        if self._due:
            self._refresh_due(next(iter(self._due)))
        if not self._due:
            self._in_turn.stop()

    def _refresh_due(self, index: int) -> None:
        """Has a page read what it has not read yet."""
        if index in self._due:
            named, everything = self._due.pop(index)
            with self.workspace.one_look():
                if named:  # also where everything may have changed: these did
                    self._pages[index].refresh(named)
                if everything:
                    self._pages[index].refresh(frozenset())

    def _keep_up(self, tables: frozenset[str]) -> None:
        """Has what follows from people's answers and edits caught up with, in the background."""
        if not tables or tables & KEPT_UP_FROM:
            self._behind = True
            self._go_on_keeping_up()

    def _go_on_keeping_up(self) -> None:
        self.workspace.reader.ask("keep up", self._kept_up, self._tell_kept_up)

    def _kept_up(self) -> frozenset[str] | None:
        if self._keeping_up is None:
            from swag_studio.ui.people_readings import KeepingUp  # costs a third of a second

            self._keeping_up = KeepingUp(self.workspace.project)
        behind = self._behind
        if behind:  # else it may become so in this very moment, and is pulled again
            self._behind = False
        return self._keeping_up.pull(behind)

    def _tell_kept_up(self, tables: frozenset[str] | None) -> None:
        if tables is None:
            self._go_on_keeping_up()
        elif tables:
            self.workspace.bridge.changed.emit(tables)

    def _show_states(self) -> None:
        states: dict[str, str] = {s.stage: s.state for s in self.workspace.states()}
        if running := self.workspace.bridge.stage:
            states[running] = "running"
        for i, step in enumerate(self.step_list):
            self.step_bar.show_state(i, states.get(step.stage, ""))

    def show_theme(self, theme: Theme) -> None:
        """The look changed."""
        self.workspace.theme = theme
        for page in self.pages:
            page.show_theme(theme)

    def show_settings(self, settings: Settings) -> None:
        """The person's settings changed."""
        self.workspace.settings = settings

    # --- events --------------------------------------------------------------------------

    def _progress(self, event: Progress) -> None:
        for i, step in enumerate(self.step_list):
            if step.stage and step.stage == event.stage:
                self.step_bar.show_state(i, "running")
                if self.following and self.stack.currentIndex() != i:
                    self.following = False  # for the case that the page cannot be made
                    self.show_page(i)
                    self.following = True
        for page in self.pages:
            page.show_progress(event)

    def _metrics(self, metrics: list[Metric]) -> None:
        for page in self.pages:
            page.show_metrics(metrics)

    # --- work ----------------------------------------------------------------------------

    def say(self, text: str, level: str, detail: str = "") -> None:
        """Among the messages of the run."""
        self.job_panel.say(text, level, detail)

    def run_everything(self) -> None:
        """Runs all stages that are not done."""
        self._run("release")

    def run_step(self) -> None:
        """Runs up to the stage of the page that is shown."""
        self._run(self.step_list[self.stack.currentIndex()].stage)

    def _run(self, stage: str) -> None:
        if not self.workspace.project.store.sources():
            self.show_page(0)
            self.job_panel.say("There are no captions yet. Bring some in first.", "warning")
        elif stage:
            self.workspace.run_until(stage)

    def _go_on(self) -> None:
        if until := paused(self.workspace.project):
            self._run(until)

    def open_project_folder(self) -> None:
        """Shows the project's folder in the desktop's file manager."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.workspace.project.root)))

    # --- layout and closing --------------------------------------------------------------

    def restore_layout(self) -> None:
        """The size and place that the window had last."""
        if geometry := self.workspace.settings.geometry:
            self.restoreGeometry(QByteArray.fromHex(geometry.encode()))

    def reset_layout(self) -> None:
        """The size that the window has at first."""
        self.showNormal()
        self.resize(*SIZE)

    def geometry_text(self) -> str:
        """The window's size and place, for the settings."""
        return bytes(self.saveGeometry().toHex().data()).decode()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Asks when a job runs: keep running, pause and quit, or cancel."""
        if not self.closing.may_go():
            event.ignore()
            return
        self._builder.stop()
        self._in_turn.stop()
        self.keeper.stop()
        self.job_panel.stop()
        event.accept()
        self.closed.emit()

    def leave(self) -> None:
        """Closes as "Pause and quit" does, without asking."""
        self.closing.leave(pause=True)

    def _stopping(self) -> None:
        self._builder.stop()
        self._in_turn.stop()
        self.hide()
