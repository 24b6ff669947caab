"""The base of all pages: a heading that says what is done, what is stale and what to do next."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from swag_studio.events import Metric, Progress
from swag_studio.project import StageState
from swag_studio.records import STATE_WORDS as STATE_WORDS  # beside their marks, for the pages
from swag_studio.ui.theme import Theme
from swag_studio.ui.workspace import Workspace

# A mark as well as a colour: neither carries the meaning alone.
STATE_MARKS = {"done": "✓", "stale": "↻", "unfinished": "◐", "missing": "○", "running": "▶"}
STATE_ROLES = {"done": "good", "stale": "warn", "unfinished": "warn", "missing": "muted"}


def set_role(label: QWidget, role: str) -> None:
    """Gives a label one of the style sheet's roles, and has it drawn anew where it was drawn."""
    if label.property("role") == role:
        return
    label.setProperty("role", role)
    if label.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        label.style().unpolish(label)
        label.style().polish(label)


class Page(QWidget):
    """One step of the work. Subclasses build into `body` and fill in the hooks.

    `title` is what the step bar shows; `stage` the stage of the pipeline whose state the page
    shows, empty where it has none.
    """

    title = ""
    stage = ""
    go_to = Signal(str)  # title of another page
    setting_wanted = Signal(str)  # a key of the recipe that its page is to show: "prepare.folds"
    context_wanted = Signal(str, int)  # id of a context that Review is to show, and of which run

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self._least: dict[QWidget, int] = {}  # lines of text that a part keeps
        heading = QLabel(self.title)
        heading.setProperty("role", "title")
        self.status = QLabel("")
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.hint = QLabel("")
        self.hint.setTextFormat(Qt.TextFormat.PlainText)
        self.hint.setWordWrap(True)
        self.hint.setProperty("role", "muted")
        self.action = QPushButton("")
        self.action.setProperty("role", "primary")
        self.action.clicked.connect(self.act)
        self.action.hide()
        top = QHBoxLayout()
        words = QVBoxLayout()
        words.setSpacing(2)
        line = QHBoxLayout()
        line.addWidget(heading)
        line.addSpacing(12)
        line.addWidget(self.status)
        line.addStretch(1)
        words.addLayout(line)
        words.addWidget(self.hint)
        top.addLayout(words, 1)
        top.addWidget(self.action, 0, Qt.AlignmentFlag.AlignTop)
        self.body = QVBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 8)
        layout.setSpacing(10)
        layout.addLayout(top)
        layout.addLayout(self.body, 1)

    def heightForWidth(self, width: int) -> int:
        """The least that its layout can do with: what is higher than the window scrolls."""
        layout = self.layout()
        return layout.totalMinimumHeightForWidth(width) if layout is not None else -1

    # --- hooks ---------------------------------------------------------------------------

    @classmethod
    def prepare(cls, workspace: Workspace) -> None:
        """Called in the reading thread before a page is made, for what takes long to import."""

    def refresh(self, tables: frozenset[str]) -> None:
        """Rows of these tables changed; empty when everything may have (project opened)."""

    def show_metrics(self, metrics: list[Metric]) -> None:
        """New points of series, of any stage."""

    def show_progress(self, progress: Progress) -> None:
        """The stage at work got on."""

    def show_theme(self, theme: Theme) -> None:
        """The look changed. Widgets that paint by themselves have a `set_theme` of their own."""
        for child in self.findChildren(QWidget):
            if hasattr(child, "set_theme"):
                child.set_theme(theme)

    def show_setting(self, key: str) -> None:
        """Someone wants to see, and perhaps change, a setting of this page's step."""

    def act(self) -> None:
        """The primary button was pressed."""
        if self.stage:
            self.workspace.run_until(self.stage)

    # --- for subclasses ------------------------------------------------------------------

    def keep_height(self, part: QWidget, lines: int) -> None:
        """Has a part keep the height of so many lines; where that is too much, the page scrolls."""
        self._least[part] = lines
        part.setMinimumHeight(lines * self.fontMetrics().lineSpacing())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_least"):
            for part, lines in self._least.items():
                self.keep_height(part, lines)

    def tell(self, status: str, role: str, hint: str, action: str = "") -> None:
        """Sets the heading: state in words, what to do next, and the primary button's text."""
        self.status.setText(status)
        set_role(self.status, role)
        self.hint.setText(hint)
        self.action.setText(action)
        self.action.setVisible(bool(action))

    @property
    def running(self) -> bool:
        """Whether the page's stage is at work."""
        return bool(self.stage) and self.workspace.bridge.stage == self.stage

    def state(self) -> StageState | None:
        """Where the page's stage stands with the current recipe and sources."""
        return next((s for s in self.workspace.states() if s.stage == self.stage), None)


def resize_on_screen(dialog: QDialog, width: int, height: int) -> None:
    """Gives a dialog a size in pixels, as far as the screen has room for it."""
    screen = dialog.screen() or QGuiApplication.primaryScreen()
    room = screen.availableSize() * 0.95
    dialog.resize(min(width, room.width()), min(height, room.height()))


def grow(dialog: QDialog) -> None:
    """Makes a dialog as high as its texts have become, so that none is squeezed."""
    if (layout := dialog.layout()) is not None:
        needed = layout.totalMinimumHeightForWidth(dialog.width())
        resize_on_screen(dialog, dialog.width(), max(dialog.height(), needed))


class Stack(QWidget):
    """Widgets of which one is shown. The others have no say in how much room there must be."""

    def __init__(self, *widgets: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self._widgets = widgets
        for widget in widgets:
            layout.addWidget(widget)
        self.show_only(widgets[0])

    @property
    def shown(self) -> QWidget:
        """The widget that is shown."""
        return self._shown

    def show_only(self, widget: QWidget) -> None:
        """Shows this one of the widgets."""
        self._shown = widget
        for other in self._widgets:
            other.setVisible(other is widget)


class Parts(QSplitter):
    """It takes what height there is and asks for its least: what wraps text asks for its best."""

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.minimumSizeHint().height())


def splitter(orientation: Qt.Orientation) -> QSplitter:
    """Parts that a person can size against each other; none can be lost."""
    parts = Parts(orientation)
    parts.setChildrenCollapsible(False)
    parts.setHandleWidth(8)
    return parts


def prose(role: str = "", text: str = "") -> QLabel:
    """A label for sentences: it wraps, can be copied, and takes no text for mark-up."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setWordWrap(True)
    if role:
        set_role(label, role)
    return label


def card(*widgets: QWidget, margins: int = 10) -> QFrame:
    """A bordered surface with widgets below each other."""
    frame = QFrame()
    frame.setProperty("card", "true")
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(margins, margins, margins, margins)
    for widget in widgets:
        layout.addWidget(widget)
    return frame


def scrolled(widget: QWidget, heading: str) -> QWidget:
    """A widget under a heading in a scroll area that grows with it."""
    title = QLabel(heading)
    title.setWordWrap(True)
    set_role(title, "strong")
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setAccessibleName(heading)
    bare(area, widget)
    return card(title, area)


def bare(area: QScrollArea, widget: QWidget) -> None:
    """Puts a widget into an area through which the card around it is seen.

    By a property: with a style sheet of its own, all that is in it would be styled anew.
    """
    area.setProperty("bare", "true")
    area.viewport().setAutoFillBackground(False)
    area.setWidget(widget)
    widget.setAutoFillBackground(False)


def not_by_enter(buttons: QDialogButtonBox) -> None:
    """Has Enter press none of a dialog's buttons: there it ends a number or a name of a key."""
    for button in buttons.buttons():
        assert isinstance(button, QPushButton)
        button.setAutoDefault(False)
