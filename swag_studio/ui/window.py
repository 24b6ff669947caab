"""What all windows have: what they ask the application for, the menus for it, the order of Tab.

A window knows neither the application nor the other windows.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from swag_studio.ui.actions import Keys, add
from swag_studio.ui.reading_order import order_tabs


class Window(QMainWindow):
    """A window of the program. The application does what its signals ask for."""

    new_requested = Signal()
    open_requested = Signal()
    packet_requested = Signal()
    recent_requested = Signal(object)  # Path
    demo_requested = Signal()
    settings_requested = Signal()
    keys_requested = Signal()
    logs_requested = Signal()
    about_requested = Signal()
    quit_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.menus: list[QMenu] = []

    def focusNextPrevChild(self, forward: bool) -> bool:
        order_tabs(self)  # now, since controls come and go
        return super().focusNextPrevChild(forward)

    def say(self, text: str, level: str, detail: str = "") -> None:
        """Tells of the program itself: a fault, or settings that could not be saved."""
        raise NotImplementedError

    # --- menus ---------------------------------------------------------------------------

    def add_menus(self, *titles: str) -> list[QMenu]:
        """Empty menus in the bar."""
        # Kept, for QAction.menu() gives a menu whose end in Python ends it in Qt as well.
        self.menus = [self.menuBar().addMenu(title) for title in titles]
        return self.menus

    def add_opening(self, menu: QMenu) -> None:
        """What can be opened."""
        add(menu, "&New project …", self.new_requested.emit, Keys.New)
        add(menu, "&Open project …", self.open_requested.emit, Keys.Open)
        add(menu, "Open &work packet …", self.packet_requested.emit)
        add(menu, "Open &demo", self.demo_requested.emit)

    def add_leaving(self, menu: QMenu) -> None:
        """The window's end and the program's."""
        menu.addSeparator()
        add(menu, "&Close", self.close, "Ctrl+W", Keys.Close)
        leave = add(menu, "&Quit", self.quit_requested.emit, "Ctrl+Q", Keys.Quit)
        leave.setMenuRole(QAction.MenuRole.QuitRole)

    def add_settings(self, menu: QMenu) -> None:
        """What a person prefers."""
        settings = add(
            menu, "&Settings …", self.settings_requested.emit, "Ctrl+,", Keys.Preferences
        )
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)

    def add_help(self, menu: QMenu) -> None:
        """The window's keys, what went wrong, and what this is."""
        add(menu, "&Keys", self.keys_requested.emit, "F1", Keys.HelpContents)
        add(menu, "Open &log folder", self.logs_requested.emit)
        about = add(menu, "&About SWAG Studio", self.about_requested.emit)
        about.setMenuRole(QAction.MenuRole.AboutRole)
