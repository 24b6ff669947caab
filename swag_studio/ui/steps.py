"""Has a step of many contexts made a little at a time, shows how far it is, and lets it be stopped.

Between two pulls other pages are read for. What was done before a stop is a step like any other.
It knows how steps tell of themselves, and nothing of what they change.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from swag_studio.reviewing import Batch, Made
from swag_studio.ui.background import Background
from swag_studio.ui.page import set_role
from swag_studio.ui.theme import ems
from swag_studio.ui.words import count

PULL = 0.2  # seconds of work between two looks at what else is to be read
SLOW = 1.0  # seconds after which a step shows how far it is


def broken_off(step: Batch) -> str:
    """What is said beside the name of a step that did not reach all contexts; empty of others."""
    return f" (stopped, {count(step.remaining, 'context')} to go)" if step.remaining else ""


class Steps(QObject):
    """Makes one step in the reading thread. After `start` comes `finished` or `failed`, once."""

    made = Signal(object)  # Made, after each pull
    finished = Signal(object)  # what was written: Batch | None
    failed = Signal(str)

    def __init__(
        self,
        reader: Background,
        key: str,
        making: Callable[[], Iterator[Made]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._reader, self._key, self._begin = reader, key, making
        self._making: Iterator[Made] | None = None
        self._last = Made(None, 0, 0)
        self._stopped = False

    def start(self) -> None:
        """Begins, or goes on."""
        self._reader.ask(self._key, self._pull, self._pulled, self._fail)

    def stop(self) -> None:
        """Leaves what is not done yet."""
        self._stopped = True

    def _pull(self) -> bool:
        """Whether it is over; called in the reading thread."""
        if self._making is None:
            self._making = self._begin()
        until = time.monotonic() + PULL
        while not self._stopped:
            made = next(self._making, None)
            if made is None:
                return True
            self._last = made
            if time.monotonic() > until:
                return False
        return True

    def _pulled(self, over: bool) -> None:
        self.made.emit(self._last)
        if over:
            self._making = None  # closes it
            self.finished.emit(self._last.step)
            self.deleteLater()
        else:
            self.start()

    def _fail(self, text: str) -> None:
        self._making = None
        self.failed.emit(text)
        self.deleteLater()


class StepBar(QWidget):
    """How far a step is, as a bar and in words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = QProgressBar()
        self.bar.setAccessibleName("Progress of the change")
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 0)  # not known yet
        self.words = QLabel("")
        set_role(self.words, "muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.bar)
        layout.addWidget(self.words)

    def show_made(self, made: Made) -> None:
        """Contexts by now, of all."""
        if made.total:
            self.bar.setRange(0, made.total)
            self.bar.setValue(made.done)
            self.words.setText(f"{made.done:,} of {count(made.total, 'context')}")


class StepDialog(QDialog):
    """A bar and a button that stops. It closes when the step is over."""

    def __init__(self, steps: Steps, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._steps = steps
        self.name, self.progress = QLabel(""), StepBar()
        self.name.setWordWrap(True)
        buttons = QDialogButtonBox()
        self.no = buttons.addButton("Stop", QDialogButtonBox.ButtonRole.RejectRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.name)
        layout.addWidget(self.progress)
        layout.addWidget(buttons)
        self.resize(ems(self, 60), self.sizeHint().height())
        steps.made.connect(self.show_made)
        for over in (steps.finished, steps.failed):
            over.connect(self._over)

    def show_made(self, made: Made) -> None:
        """The step's name, and how far it is."""
        if made.step is not None:
            self.name.setText(f"{self.windowTitle()}: {made.step.name}")
        self.progress.show_made(made)

    def reject(self) -> None:
        self._steps.stop()

    def _over(self) -> None:
        self.accept()
        self.deleteLater()


def show_when_slow(steps: Steps, title: str, parent: QWidget | None) -> None:
    """Opens a StepDialog once the step takes long; others do not flash up."""
    begun = time.monotonic()

    def look(made: Made) -> None:
        if made.done < made.total and time.monotonic() - begun > SLOW:
            steps.made.disconnect(look)
            dialog = StepDialog(steps, title, parent)
            dialog.show_made(made)
            dialog.open()

    steps.made.connect(look)
