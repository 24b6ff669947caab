"""Chooses an iteration of a run: a slider, a number, a step by itself, and the latest one.

It knows how many iterations there are, not what happened in them.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSlider, QSpinBox, QWidget

BEAT = 700  # ms between two steps while it plays


class IterationBar(QWidget):
    """`value` counts iterations that are over: 0 is how things stood before the first."""

    moved = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Shown iteration")
        self.slider.setToolTip("Arrow keys step; Home and End go to the first draw and to the last")
        self.number = QSpinBox()
        self.number.setAccessibleName("Number of the shown iteration")
        self.number.setKeyboardTracking(False)
        self.last = QLabel("of 0")
        self.play = QPushButton("Play")
        self.play.setCheckable(True)
        self.play.setToolTip("Steps through the iterations, from the first draw when at the end")
        self.latest = QPushButton("Latest")
        self.latest.setCheckable(True)
        self.latest.setChecked(True)
        self.latest.setToolTip("Shows the last iteration, and follows a run that is at work")
        self._timer = QTimer(self)
        self._timer.setInterval(BEAT)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(QLabel("After iteration"))
        row.addWidget(self.number)
        row.addWidget(self.last)
        row.addWidget(self.slider, 1)
        row.addWidget(self.play)
        row.addWidget(self.latest)
        self.slider.valueChanged.connect(self.go)
        self.number.valueChanged.connect(self.go)
        self.play.toggled.connect(self._play)
        self.latest.toggled.connect(self._follow)
        self._timer.timeout.connect(self._step)
        self._value = 0
        self.set_last(0)

    @property
    def value(self) -> int:
        """How many iterations are over."""
        return self._value

    def set_last(self, last: int) -> None:
        """How many there are. Where the latest is followed it is shown."""
        follows = self.latest.isChecked()
        self.last.setText(f"of {last:,}")
        for control in (self.slider, self.number):
            control.blockSignals(True)  # a smaller end is no choice of anyone
            control.setRange(0, last)
            control.blockSignals(False)
        self.slider.setPageStep(max(1, last // 10))
        self.setEnabled(last > 0)
        self._show(last if follows else min(self._value, last))

    def go(self, value: int) -> None:
        """Shows an iteration, and no longer follows the latest unless it is that one."""
        if value != self.slider.maximum():
            self.latest.setChecked(False)
        self._show(value)

    def _show(self, value: int) -> None:
        moved, self._value = value != self._value, value
        self.slider.setValue(value)
        self.number.setValue(value)
        if moved:
            self.moved.emit(value)

    def _follow(self, follows: bool) -> None:
        if follows:
            self.play.setChecked(False)
            self._show(self.slider.maximum())

    def _play(self, plays: bool) -> None:
        self.play.setText("Stop" if plays else "Play")
        if not plays:
            self._timer.stop()
            return
        self.latest.setChecked(False)
        if self._value == self.slider.maximum():
            self._show(0)
        self._timer.start()

    def _step(self) -> None:
        if self._value < self.slider.maximum():
            self._show(self._value + 1)
        if self._value == self.slider.maximum():
            self.play.setChecked(False)

    def hideEvent(self, event: QHideEvent) -> None:
        self.play.setChecked(False)  # nobody looks
        super().hideEvent(event)
