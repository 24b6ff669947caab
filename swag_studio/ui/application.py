"""What is open: the start window, one window per project, the person's settings, and the end.

The engine and its work come from app.py; this file knows only their shape.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFileOpenEvent, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from swag_studio import recipe as recipes
from swag_studio import settings as profile
from swag_studio.errors import UserError, damaged
from swag_studio.packets import SUFFIX as PACKET
from swag_studio.project import SUFFIX, Project
from swag_studio.settings import Settings
from swag_studio.ui import help as sheets
from swag_studio.ui import theme
from swag_studio.ui.bridge import Bridge, EngineLike
from swag_studio.ui.closing import dismiss_dialogs
from swag_studio.ui.crash_dialog import CrashDialog
from swag_studio.ui.faults import Faults
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.packet_window import PacketWindows
from swag_studio.ui.restoring import Restoring
from swag_studio.ui.settings_dialog import SettingsDialog
from swag_studio.ui.start import NewProjectDialog, StartWindow, ask_packet, ask_project, documents
from swag_studio.ui.window import Window
from swag_studio.ui.workspace import Jobs, Workspace

SIGNAL_BEAT = 200  # ms in which Python gets to see a signal while Qt waits
# ms that steps and reads at work get to end once nothing is open any more. One that takes longer,
# such as the engine's import of torch, is broken off with the process: it is made anew, as after a
# kill, and no project is the worse for it.
LEAVE_WITHIN = 3_000


@dataclass(frozen=True)
class Parts:
    """What app.py hands in."""

    make_engine: Callable[[], EngineLike]
    jobs: Jobs
    logs: Path
    basedir: Path | None = None


class Application(QObject):
    """Opens and closes windows. One exists per process."""

    over = Signal()  # nothing is open any more, and nothing is worth waiting for

    def __init__(self, app: QApplication, parts: Parts) -> None:
        super().__init__()
        self.app, self.parts = app, parts
        self.settings = profile.load(parts.basedir)
        self.windows: list[MainWindow] = []
        self.packets = PacketWindows(self)
        self.packets.closed.connect(self._end_if_over)
        self.packets.made.connect(self._serve)
        self.start_window: StartWindow | None = None
        self.crash: CrashDialog | None = None
        self._settings_dialog: SettingsDialog | None = None
        self.restoring = Restoring(self)
        self.quitting = self._asked_to_quit = self._shut = False
        self._base_points = app.font().pointSizeF()
        self.faults = Faults(parts.logs, self._tell_fault)
        self.faults.install()
        self._beat = QTimer(self)
        self._beat.setInterval(SIGNAL_BEAT)
        self._beat.timeout.connect(self._look)
        self._deadline = QTimer(self)
        self._deadline.setSingleShot(True)
        self._deadline.setInterval(LEAVE_WITHIN)
        self._deadline.timeout.connect(self._end_late)
        app.setApplicationName("swag-studio")
        app.setApplicationDisplayName("SWAG Studio")
        app.setDesktopFileName("swag-studio")  # packaging/linux/swag-studio.desktop
        app.setWindowIcon(theme.window_icon())
        app.styleHints().colorSchemeChanged.connect(self._scheme_changed)
        if sys.platform == "darwin":  # elsewhere it would see every event for nothing
            app.installEventFilter(self)
        self.apply_look()

    # --- look ----------------------------------------------------------------------------

    def apply_look(self) -> None:
        """Colours and text size of the settings, in every window, at once."""
        chosen = theme.choose(self.settings.theme, self.app)
        theme.apply(self.app, chosen, self.settings.text_percent, self._base_points)
        for window in self.windows:
            window.show_theme(chosen)

    def _scheme_changed(self) -> None:
        background = self.app.palette().color(QPalette.ColorRole.Window).name()
        wanted = theme.choose(self.settings.theme, self.app)
        if self.settings.theme == "system" and background != wanted.window:
            self.apply_look()

    def change_settings(self, **values: object) -> None:
        """Saves settings, and shows what they change. Another window's are not lost."""
        before = self.settings
        stored = profile.load(self.parts.basedir)
        self.settings = dataclasses.replace(stored, **values)  # type: ignore[arg-type]
        try:
            profile.save(self.settings, self.parts.basedir)
        except OSError as error:
            self._tell(f"The settings could not be saved ({error.strerror}).", "warning")
        for window in self.windows:
            window.show_settings(self.settings)
        look = ("theme", "text_percent")
        if any(getattr(before, name) != getattr(self.settings, name) for name in look):
            self.apply_look()

    # --- start ---------------------------------------------------------------------------

    def start(self, paths: list[Path], demo: Path | None = None) -> None:
        """Opens what was asked for, else the start window. `demo` is a folder for the demo."""
        self._beat.start()
        if demo is not None:
            self.open_demo(demo)
        for path in paths:
            self.open(path)
        if not self._open and not self.windows:
            self.show_start()

    def _tell_crash(self, window: QWidget) -> None:
        """Shows the log of the last crash above the window that opened last, until it is closed."""
        if self.crash is None and self.faults.crashed is not None:
            self.crash = CrashDialog(self.faults.crashed)
            self.crash.folder_requested.connect(self.open_logs)
        if self.crash is not None and isValid(self.crash):
            self.crash.show_above(window)

    def show_start(self, problem: str = "") -> StartWindow:
        """The start window, with the reason why something did not open."""
        if self.start_window is None:
            window = self.start_window = StartWindow(self.settings)
            window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self._serve(window)
            window.destroyed.connect(lambda: self._start_gone(window))
        if problem:
            self.start_window.show_problem(problem)
        self.start_window.show()
        _raise(self.start_window)
        self._tell_crash(self.start_window)
        return self.start_window

    def _start_gone(self, window: StartWindow) -> None:
        if self.start_window is window:  # else another one shows by now
            self.start_window = None
        self._end_if_over()

    def _close_start(self) -> None:
        if self.start_window is not None:
            dismiss_dialogs(self.start_window)
            self.start_window.close()
            self.start_window = None

    # --- projects ------------------------------------------------------------------------

    def open(self, path: Path) -> MainWindow | None:
        """Opens a project, or brings its window to the front; says in the start window why not."""
        if path.suffix == PACKET:
            self._open_packet(path)
            return None
        root = path.parent if path.suffix == ".swagproj" else path
        for window in self.windows:
            if window.workspace.project.root.absolute() == root.absolute():
                if window.closing.leaving:
                    self.show_start(f"{root} is still being closed. Open it again in a moment.")
                    return None
                _raise(window)
                return window
        return self._opened(root, lambda: Project.open(root))

    def _open_packet(self, path: Path) -> None:
        """Opens a work packet in a window of its own, which is all that an annotator sees."""
        try:
            window = self.packets.open(path)
        except UserError as error:
            self.show_start(str(error))
        else:
            self._tell_crash(window)
            self._close_start()

    def new(self, path: Path, preset: str) -> MainWindow | None:
        """Makes a project with one of the recipes and opens it."""
        return self._opened(path, lambda: Project.create(path, recipes.preset(preset)))

    def open_demo(self, folder: Path | None = None) -> MainWindow | None:
        """Makes the demo project, or goes on with it: captions in, then every stage."""
        folder = folder or self.parts.basedir or documents()
        root = (folder / "demo").with_suffix(SUFFIX)
        exists = root.is_dir() and any(root.glob("*.swagproj"))
        window = self.open(root) if exists else self.new(root, "demo")
        if window is not None and window.workspace.bridge.idle:
            workspace, jobs = window.workspace, self.parts.jobs
            project = workspace.project
            if not project.store.sources():
                captions = jobs.demo_captions()
                workspace.bridge.submit(
                    lambda: jobs.import_file(captions, project, None, False), "Import the captions"
                )
            workspace.run_until("release")
            window.following = True
        return window

    def _opened(self, root: Path, opener: Callable[[], Project]) -> MainWindow | None:
        project = None
        try:
            project = opener()
            window = self._show(project)
        except UserError as error:
            problem = str(error)
            lost = damaged(error)
        except Exception as error:  # whatever is wrong with a project, the program is not
            self.faults.note(error)
            lost = damaged(error)
            problem = (
                f"{root} cannot be opened ({type(error).__name__}). The log folder has the "
                f"details: {self.parts.logs}. The project has its own backups folder."
            )
        else:
            self._close_start()
            return window
        if project is not None:
            project.close()
        if lost:
            self.restoring.offer(root, problem)
        else:
            self.show_start(problem)
        return None

    def _show(self, project: Project) -> MainWindow:
        project.states()  # the recipe and the tables can be read, before there is a window
        bridge = Bridge(self.parts.make_engine())
        look = theme.choose(self.settings.theme, self.app)
        workspace = Workspace(project, bridge, self.parts.jobs, look, self.settings)
        window = MainWindow(workspace)
        window.closed.connect(lambda: self._closed(window))
        window.closing.stopping.connect(self._end_if_over)
        window.backups_requested.connect(lambda: self.restoring.show(window))
        self._serve(window)
        self.windows.append(window)
        window.show()
        self._tell_crash(window)
        self.change_settings(recent=self.settings.with_recent(project.root).recent)
        return window

    # --- what windows ask for ------------------------------------------------------------

    def _serve(self, window: Window) -> None:
        window.new_requested.connect(lambda: self._ask_new(window))
        window.open_requested.connect(lambda: self._open_chosen(ask_project(window)))
        window.packet_requested.connect(lambda: self._open_chosen(ask_packet(window)))
        window.recent_requested.connect(self.open)
        window.demo_requested.connect(lambda: self.open_demo())
        window.settings_requested.connect(lambda: self.show_settings(window))
        window.keys_requested.connect(lambda: sheets.keys(window).show())
        window.about_requested.connect(lambda: sheets.about(window).open())
        window.logs_requested.connect(self.open_logs)
        window.quit_requested.connect(self.close_all)

    def _ask_new(self, window: QWidget) -> None:
        dialog = NewProjectDialog(window)
        dialog.chosen.connect(self.new)
        dialog.open()

    def _open_chosen(self, path: Path | None) -> None:
        if path is not None:
            self.open(path)

    def show_settings(self, parent: QWidget) -> SettingsDialog:
        """The settings, which act while they are changed: in one place at a time."""
        dialog = self._settings_dialog
        if dialog is None or not (isValid(dialog) and dialog.isVisible()):
            dialog = self._settings_dialog = SettingsDialog(self.settings, parent)
            dialog.changed.connect(self._set)
        dialog.show()
        _raise(dialog)
        return dialog

    def _set(self, chosen: Settings) -> None:
        self.change_settings(
            theme=chosen.theme,
            text_percent=chosen.text_percent,
            cost_per_hour=chosen.cost_per_hour,
        )

    def open_logs(self) -> None:
        """Shows the log folder in the desktop's file manager."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.parts.logs)))

    # --- the end -------------------------------------------------------------------------

    def watch_signals(self) -> None:
        """SIGTERM and SIGINT end the program as "Pause and quit" does."""

        def heard(number: int, frame: FrameType | None) -> None:
            self._asked_to_quit = True

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, heard)

    def _look(self) -> None:
        if self._asked_to_quit and not self.quitting:
            self.quit()

    def close_all(self) -> None:
        """Closes every window; one with a running job asks first."""
        self._close_start()
        self.packets.leave(asking=True)
        for window in list(self.windows):
            window.close()

    def quit(self) -> None:
        """Pauses every job and closes every window, without asking."""
        self.quitting = True
        self._close_start()
        self.packets.leave(asking=False)
        for window in list(self.windows):
            window.leave()
        self._end_if_over()

    def quit_when_done(self) -> None:
        """Ends the program once the jobs of its windows are over; at once where there is none."""
        for window in self.windows:
            window.workspace.bridge.idle_changed.connect(lambda _: self._quit_if_idle())
        QTimer.singleShot(0, self._quit_if_idle)

    def _quit_if_idle(self) -> None:
        if all(window.workspace.bridge.idle for window in self.windows) and not self.quitting:
            self.quit()

    def _closed(self, window: MainWindow) -> None:
        self.windows.remove(window)
        if not self.quitting or not self.windows:
            self.change_settings(geometry=window.geometry_text())
        self._end_if_over()

    def _end_if_over(self) -> None:
        """The end, once nothing is open; windows that are only still stopping get a time limit."""
        if self._open or self._shut:
            return
        if not self.windows:
            self.over.emit()
        elif not self._deadline.isActive():
            self._deadline.start()

    def _end_late(self) -> None:
        if not self._open and self.windows:
            self.change_settings(geometry=self.windows[-1].geometry_text())
            self.over.emit()

    @property
    def _open(self) -> bool:
        """Whether there is a window that a person can use."""
        if self.start_window is not None or self.packets.windows:
            return True
        return not all(w.closing.leaving for w in self.windows)

    def shut_down(self) -> None:
        """Gives back what the program holds, once no event comes any more."""
        self._shut = True
        self._beat.stop()
        self._deadline.stop()
        self.restoring.close()
        self.faults.remove()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent):  # macOS opens documents by an event
            self.open(Path(event.file()))
            return True
        return super().eventFilter(watched, event)

    # --- telling -------------------------------------------------------------------------

    def _tell(self, text: str, level: str, detail: str = "") -> None:
        windows: list[Window] = [*self.packets.windows, *self.windows]
        for window in (windows or [w for w in (self.start_window,) if w is not None])[-1:]:
            window.say(text, level, detail)

    def _tell_fault(self, text: str, detail: str) -> None:
        self._tell(text, "error", detail)


def _raise(window: QWidget) -> None:
    window.raise_()
    window.activateWindow()
