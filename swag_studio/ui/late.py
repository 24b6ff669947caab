"""A part of a page that is made when it is first seen: a window is there sooner without it.

It knows nothing of what it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

W = TypeVar("W", bound=QWidget)
SHOWN = (QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
HIDDEN = (QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)  # else it widens its neighbours


class Late(QWidget, Generic[W]):
    """The place of a widget that `make` makes when the place is first shown, or asked for it."""

    def __init__(self, make: Callable[[], W], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._content: W | None = None
        self._told: Callable[[W], None] | None = None
        self.setSizePolicy(*HIDDEN)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)

    @property
    def made(self) -> bool:
        """Whether the widget is there."""
        return self._content is not None

    def content(self) -> W:
        """The widget, made if it is not there yet."""
        if self._content is None:
            content = self._content = self._make()
            if self._told is not None:
                self._told(content)
                self._told = None
            layout = self.layout()
            assert layout is not None
            layout.addWidget(content)
            content.show()  # at once: Qt would do it after this place was painted without it
        return self._content

    def tell(self, do: Callable[[W], None]) -> None:
        """Does something with the widget: now, or once it is made, if nothing newer was told."""
        if self._content is not None:
            do(self._content)
        else:
            self._told = do

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.content()
        self.setSizePolicy(*SHOWN)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.setSizePolicy(*HIDDEN)
