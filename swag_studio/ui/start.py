"""The window that one sees first: a new project, an existing one, a recent one, or the demo."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, QStandardPaths, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from swag_studio.packets import SUFFIX as PACKET
from swag_studio.project import SUFFIX
from swag_studio.recipe import PRESETS
from swag_studio.settings import Settings
from swag_studio.ui.page import card, set_role
from swag_studio.ui.theme import ems
from swag_studio.ui.window import Window

PRESET_WORDS = {
    "demo": "demo: a few minutes, to see how it works",
    "small": "small: up to 1,000 contexts on a laptop, within the hour",
    "paper": "paper: the published sizes, for a machine with a GPU",
}


class StartWindow(Window):
    """Asks for a project; the application opens it. A project that is gone stays listed as such."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("SWAG Studio")
        title = QLabel("SWAG Studio")
        title.setProperty("role", "title")
        claim = QLabel(
            "Turn captions of videos into multiple-choice questions whose wrong answers a "
            "classifier cannot tell from the right one."
        )
        claim.setWordWrap(True)
        claim.setProperty("role", "muted")
        self.problem = QLabel("")
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setWordWrap(True)
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_role(self.problem, "bad")
        self.problem.hide()
        self.waiting = QLabel("")
        self.waiting.setTextFormat(Qt.TextFormat.PlainText)
        self.waiting.setWordWrap(True)
        set_role(self.waiting, "muted")
        self.waiting.hide()
        self.remedy = QPushButton("")
        self.remedy.hide()
        self._act: Callable[[], object] = lambda: None
        self.remedy.clicked.connect(lambda: self._act())
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(28, 24, 28, 24)
        layout.setSpacing(14)
        layout.addWidget(title)
        layout.addWidget(claim)
        layout.addWidget(self.problem)
        layout.addWidget(self.waiting)
        layout.addWidget(self.remedy, 0, Qt.AlignmentFlag.AlignLeft)
        row = QHBoxLayout()
        row.setSpacing(16)
        self._left = self._actions()
        row.addWidget(self._left)
        row.addWidget(self._recent(settings), 1)
        layout.addLayout(row, 1)
        area = QScrollArea()  # for large text on a small screen
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setProperty("page", "true")
        area.setWidget(centre)
        self.setCentralWidget(area)
        self._make_menus()
        self._fit()

    def _make_menus(self) -> None:
        file, edit, help_menu = self.add_menus("&File", "&Edit", "&Help")
        self.add_opening(file)
        self.add_leaving(file)
        self.add_settings(edit)
        self.add_help(help_menu)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_left"):
            self._fit()

    def _fit(self) -> None:
        """As large as the text asks for, where the screen has room for it; never smaller again."""
        self._left.setFixedWidth(ems(self, 32))
        wanted = QSize(ems(self, 110), ems(self, 72)).boundedTo(self.screen().availableSize() * 0.9)
        self.resize(self.size().expandedTo(wanted))

    def _actions(self) -> QWidget:
        self.demo_button = QPushButton("See the demo")
        self.demo_button.setProperty("role", "primary")
        self.demo_button.clicked.connect(self.demo_requested)
        about = QLabel("From captions to questions in about four minutes.")
        about.setWordWrap(True)
        about.setProperty("role", "muted")
        self.new_button = QPushButton("New project …")
        self.new_button.clicked.connect(self.new_requested)
        self.open_button = QPushButton("Open project …")
        self.open_button.clicked.connect(self.open_requested)
        self.packet_button = QPushButton("Open work packet …")
        self.packet_button.clicked.connect(self.packet_requested)
        buttons = (self.new_button, self.open_button, self.packet_button)
        frame = card(self.demo_button, about, *buttons, margins=16)
        layout = frame.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.addStretch(1)
        return frame

    def _recent(self, settings: Settings) -> QWidget:
        heading = QLabel("Recent projects")
        self.recent = QListWidget()
        self.recent.setAccessibleName("Recent projects")
        self.recent.itemActivated.connect(self._chosen)
        for text in settings.recent:
            path = Path(text)
            # Unlike Path.is_dir it is False where asking fails: a drive that is not there.
            there = os.path.isdir(text)  # noqa: PTH112
            item = QListWidgetItem(
                f"{path.stem}\n{path.parent}" + ("" if there else "  (not found)")
            )
            item.setData(Qt.ItemDataRole.UserRole, text)
            if not there:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.recent.addItem(item)
        if not settings.recent:
            item = QListWidgetItem("Projects that you open are listed here.")
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.recent.addItem(item)
        return card(heading, self.recent, margins=16)

    def _chosen(self, item: QListWidgetItem) -> None:
        self.recent_requested.emit(Path(item.data(Qt.ItemDataRole.UserRole)))

    def show_problem(self, text: str) -> None:
        """Why a project did not open; the start window stays usable."""
        self.problem.setText(text)
        self.problem.show()
        self.waiting.hide()
        self.remedy.hide()

    def wait(self, text: str) -> None:
        """What is being done about the problem, till another one shows or something is offered."""
        self.waiting.setText(text)
        self.waiting.show()
        self.remedy.hide()

    def say(self, text: str, level: str, detail: str = "") -> None:
        """Where problems are told; one that has a remedy stays."""
        if self.remedy.isHidden():
            self.show_problem(text)

    def offer(self, text: str, act: Callable[[], object]) -> None:
        """A button below the problem that does something about it."""
        self.waiting.hide()
        self._act = act
        self.remedy.setText(text)
        self.remedy.show()


def ask_project(parent: QWidget) -> Path | None:
    """A project folder that a person chooses, or None."""
    chosen = QFileDialog.getExistingDirectory(parent, f"Open a project (a folder *{SUFFIX})")
    return Path(chosen) if chosen else None


def ask_packet(parent: QWidget) -> Path | None:
    """A work packet that a person chooses, to be judged without its project, or None."""
    chosen, _ = QFileDialog.getOpenFileName(
        parent, "Open a work packet", str(documents()), f"Work packets (*{PACKET})"
    )
    return Path(chosen) if chosen else None


def documents() -> Path:
    """Where a person's own files go."""
    place = QStandardPaths.StandardLocation.DocumentsLocation
    return Path(QStandardPaths.writableLocation(place) or Path.home())


class NewProjectDialog(QDialog):
    """Name, place and recipe of a new project."""

    chosen = Signal(object, str)  # Path, preset

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("New project")
        self.name = QLineEdit()
        self.name.setPlaceholderText("activities")
        self.name.textChanged.connect(self._check)
        self.place = QLineEdit(str(documents()))
        self.place.setAccessibleName("In folder")
        self.place.textChanged.connect(self._check)
        browse = QPushButton("Choose …")
        browse.clicked.connect(self._browse)
        self.recipe = QComboBox()
        for name in ("small", *(p for p in PRESETS if p != "small")):
            self.recipe.addItem(PRESET_WORDS[name], name)
        where = QHBoxLayout()
        where.addWidget(self.place, 1)
        where.addWidget(browse)
        self.note = QLabel("")
        self.note.setWordWrap(True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText("Create")
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        form = QFormLayout(self)
        form.addRow("Name", self.name)
        form.addRow("In folder", where)
        form.addRow("Recipe", self.recipe)
        form.addRow(self.note)
        form.addRow(self.buttons)
        self.setMinimumWidth(ems(self, 80))
        self._check()

    def path(self) -> Path:
        """The folder that the project gets."""
        return Path(self.place.text()).expanduser() / f"{self.name.text().strip()}{SUFFIX}"

    def preset(self) -> str:
        return str(self.recipe.currentData())

    def _accept(self) -> None:
        self.chosen.emit(self.path(), self.preset())
        self.accept()

    def _browse(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, "Where to put the project")
        if chosen:
            self.place.setText(chosen)

    def _check(self) -> None:
        named = bool(self.name.text().strip())
        problem = self._problem() if named else ""
        self.note.setText(problem or (f"Makes {self.path()}" if named else ""))
        set_role(self.note, "bad" if problem else "muted")
        create = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        create.setEnabled(named and not problem)

    def _problem(self) -> str:
        """Why the project cannot be made there, "" where nothing is known against it."""
        name, place = self.name.text().strip(), self.place.text()
        if "/" in name or "\\" in name or name.startswith("."):
            return "A name without slashes that does not begin with a dot, please."
        try:
            return f"{self.path()} exists already." if self.path().exists() else ""
        except RuntimeError:  # of ~somebody
            return f"{place} is the folder of nobody here. Choose another one."
        except OSError as error:  # such as of a name that is too long
            return f"It cannot be made in {place}: {error.strerror}."
