"""A project's window: the step bar, the pages, the job panel, menus and keys.

It wires pages to the bridge and to each other by name; what a page shows is the page's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, Qt, QUrl, Signal
from PySide6.QtGui import QAction, QCloseEvent, QDesktopServices, QKeySequence
from PySide6.QtWidgets import (
    QMainWindow,
    QMessageBox,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio import __version__
from swag_studio.events import Cancelled, Failed, Finished, Metric, Progress
from swag_studio.ui.job_panel import JobPanel
from swag_studio.ui.page import Page
from swag_studio.ui.step_bar import StepBar
from swag_studio.ui.workspace import Workspace

CLOSE_WITHIN = 10.0  # seconds that the engine gets to end its present step


class MainWindow(QMainWindow):
    """The window of one open project."""

    closed = Signal()
    open_requested = Signal()
    new_requested = Signal()
    demo_requested = Signal()
    settings_requested = Signal()
    keys_requested = Signal()

    def __init__(self, workspace: Workspace, pages: Sequence[type[Page]]) -> None:
        super().__init__()
        self.workspace = workspace
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"{workspace.project.root.stem} – SWAG Studio")
        self.setWindowFilePath(str(workspace.project.root))
        self.pages: list[Page] = [page(workspace) for page in pages]
        self.steps = StepBar([page.title for page in self.pages])
        self.stack = QStackedWidget()
        self.job_panel = JobPanel(workspace.bridge)
        self._build()
        self._build_menus()
        self._connect()
        self.resize(1240, 820)
        self.restore_layout()
        self.refresh(frozenset())
        self.show_page(self._first_open_step())

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        for page in self.pages:
            page.go_to.connect(self.show_titled)
            self.stack.addWidget(page)
        self.stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.steps.chosen.connect(self.show_page)
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 8)
        layout.setSpacing(4)
        layout.addWidget(self.steps)
        layout.addWidget(self.stack, 1)
        holder = QVBoxLayout()
        holder.setContentsMargins(12, 0, 12, 0)
        holder.addWidget(self.job_panel)
        layout.addLayout(holder)
        self.setCentralWidget(centre)

    def _build_menus(self) -> None:
        keys = QKeySequence.StandardKey
        bar = self.menuBar()
        file = bar.addMenu("&File")
        self._action(file.addAction, "&New project …", self.new_requested.emit, keys.New)
        self._action(file.addAction, "&Open project …", self.open_requested.emit, keys.Open)
        self._action(file.addAction, "Open &demo", self.demo_requested.emit)
        file.addSeparator()
        self._action(file.addAction, "&Close", self.close, keys.Close)
        edit = bar.addMenu("&Edit")
        self._action(edit.addAction, "Copy &messages of the run", self.job_panel.copy_messages)
        edit.addSeparator()
        preferences = self._action(
            edit.addAction, "&Settings …", self.settings_requested.emit, keys.Preferences
        )
        preferences.setMenuRole(QAction.MenuRole.PreferencesRole)
        view = bar.addMenu("&View")
        for i, page in enumerate(self.pages):
            self._action(
                view.addAction,
                page.title,
                lambda i=i: self.show_page(i),
                QKeySequence(f"Ctrl+{i + 1}"),
            )
        view.addSeparator()
        self._action(view.addAction, "&Reset window layout", self.reset_layout)
        run = bar.addMenu("&Run")
        self._action(
            run.addAction,
            "Run &everything",
            lambda: self.workspace.run_until("release"),
            QKeySequence("Ctrl+R"),
        )
        self._action(
            run.addAction, "&Pause or resume", self.job_panel.toggle_pause, QKeySequence("Ctrl+P")
        )
        self._action(run.addAction, "&Cancel", self.job_panel.cancel)
        tools = bar.addMenu("&Tools")
        self._action(tools.addAction, "&Check project", self.check_project)
        self._action(
            tools.addAction,
            "Open project &folder",
            lambda: open_folder(self.workspace.project.root),
        )
        help_menu = bar.addMenu("&Help")
        self._action(help_menu.addAction, "&Keys", self.keys_requested.emit, keys.HelpContents)
        self._action(
            help_menu.addAction,
            "Open &log folder",
            lambda: open_folder(self.workspace.project.root / "logs"),
        )
        about = self._action(help_menu.addAction, "&About SWAG Studio", self.about)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def _action(
        self,
        add: Callable[[str], QAction],
        text: str,
        slot: Callable[[], object],
        key: QKeySequence | QKeySequence.StandardKey | None = None,
    ) -> QAction:
        action = add(text)
        action.triggered.connect(lambda *_: slot())
        if key is not None:
            action.setShortcut(QKeySequence(key))
        return action

    def _connect(self) -> None:
        bridge = self.workspace.bridge
        bridge.progress.connect(self._progress)
        bridge.metrics.connect(self._metrics)
        bridge.changed.connect(self.refresh)
        bridge.ended.connect(self._ended)
        bridge.idle_changed.connect(lambda _: self.refresh(frozenset()))

    # --- pages ---------------------------------------------------------------------------

    def show_page(self, index: int) -> None:
        """Shows a page by its place in the bar."""
        self.stack.setCurrentIndex(index)
        self.steps.show_page(index)

    def show_titled(self, title: str) -> None:
        """Shows a page by its title."""
        for i, page in enumerate(self.pages):
            if page.title == title:
                self.show_page(i)

    def _first_open_step(self) -> int:
        """The first page whose stage is not done, so that one opens where work waits."""
        states = {s.stage: s.state for s in self.workspace.project.states()}
        for i, page in enumerate(self.pages):
            if page.stage and states.get(page.stage) != "done":
                return i
        return 0

    def refresh(self, tables: frozenset[str]) -> None:
        """Has the pages read anew what changed."""
        self._show_states()
        for page in self.pages:
            page.refresh(tables)

    def _show_states(self, running: str = "") -> None:
        states = {s.stage: s.state for s in self.workspace.project.states()}
        for i, page in enumerate(self.pages):
            state = (
                "running" if page.stage and page.stage == running else states.get(page.stage, "")
            )
            self.steps.show_state(i, state)

    # --- events --------------------------------------------------------------------------

    def _progress(self, event: Progress) -> None:
        for i, page in enumerate(self.pages):
            if page.stage == event.stage:
                self.steps.show_state(i, "running")
            page.show_progress(event)

    def _metrics(self, metrics: list[Metric]) -> None:
        for page in self.pages:
            page.show_metrics(metrics)

    def _ended(self, end: Finished | Failed | Cancelled) -> None:
        self.refresh(frozenset())

    # --- tools ---------------------------------------------------------------------------

    def check_project(self) -> None:
        """Verifies the database and every block of the pools, and tells what was found."""
        problems = self.workspace.project.check()
        box = QMessageBox(self)
        box.setWindowTitle("Check project")
        if problems:
            box.setIcon(QMessageBox.Icon.Warning)
            box.setText(f"{len(problems)} problems were found.")
            box.setDetailedText("\n".join(problems))
        else:
            box.setIcon(QMessageBox.Icon.Information)
            box.setText("The project is whole: the database and every block were read and agree.")
        box.open()

    def about(self) -> None:
        """Says what this is."""
        box = QMessageBox(self)
        box.setWindowTitle("About SWAG Studio")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(
            f"SWAG Studio {__version__}\n\nBuild adversarial multiple-choice datasets from video "
            "captions, after Zellers, Bisk, Schwartz and Choi: SWAG (EMNLP 2018)."
        )
        box.open()

    # --- layout and closing --------------------------------------------------------------

    def restore_layout(self) -> None:
        """The size and place that the window had last."""
        if geometry := self.workspace.settings.geometry:
            self.restoreGeometry(QByteArray.fromHex(geometry.encode()))

    def reset_layout(self) -> None:
        """The size that the window has at first."""
        self.showNormal()
        self.resize(1240, 820)

    def geometry_text(self) -> str:
        """The window's size and place, for the settings."""
        return bytes(self.saveGeometry().toHex().data()).decode()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Asks when a job runs: keep running, pause and quit, or cancel."""
        engine = self.workspace.bridge.engine
        if engine.busy and not self._may_close():
            event.ignore()
            return
        self.shut_down()
        event.accept()
        self.closed.emit()

    def _may_close(self) -> bool:
        box = QMessageBox(self)
        box.setWindowTitle("A job is running")
        box.setText("A job is running. What is done so far is kept; the rest can be run later.")
        keep = box.addButton("Keep running", QMessageBox.ButtonRole.RejectRole)
        box.addButton("Pause and quit", QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        box.exec()
        return box.clickedButton() is not keep

    def shut_down(self) -> None:
        """Ends the engine's job at its next event and closes the project. Safe to call twice."""
        self.workspace.bridge.stop()
        self.workspace.bridge.engine.close(CLOSE_WITHIN)
        self.workspace.project.close()


def open_folder(folder: Path) -> None:
    """Shows a folder in the desktop's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
