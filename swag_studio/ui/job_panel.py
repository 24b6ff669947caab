"""The job panel at the bottom: what runs, how far, how long still, pause and cancel, messages.

It lives in the main window, outside the pages, and so survives every change of page.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.events import Cancelled, Failed, Finished, Message, Progress
from swag_studio.ui.bridge import Bridge, Task
from swag_studio.ui.eta import Eta, range_in_words
from swag_studio.ui.messages import MARKS, MessageList
from swag_studio.ui.words import STAGE_NAMES

METER_BEAT = 2000  # ms
_PAUSED = "Paused after the present step"
# Stages whose end needs no word: their page shows it, or what they found is the last message.
_SILENT = ("preview", "check")


class JobPanel(QFrame):
    """Shows the engine's job and steers it."""

    went_on = Signal()  # the offer to go on was taken

    def __init__(
        self,
        bridge: Bridge,
        accelerator: Callable[[], str] = lambda: "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.bridge, self._accelerator = bridge, accelerator
        self._eta = Eta()
        self._last: Progress | None = None
        self._stopping: list[Task] = []  # those that were cancelled last
        self.setProperty("card", "true")
        self._build()
        bridge.progress.connect(self.show_progress)
        bridge.messages.connect(self.show_messages)
        bridge.ended.connect(self.show_end)
        bridge.idle_changed.connect(self._show_idle)
        bridge.queue_changed.connect(self._show_queue)
        self._process = psutil.Process()
        self._process.cpu_percent()
        self._meter_timer = QTimer(self)
        self._meter_timer.setInterval(METER_BEAT)
        self._meter_timer.timeout.connect(self._show_meters)
        self._meter_timer.start()
        self._show_meters()
        self._show_idle(True)

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        self.row = QWidget()
        self.stage = QLabel("")
        self.stage.setProperty("role", "strong")
        self.bar = QProgressBar()
        self.bar.setAccessibleName("Progress of the job")
        self.bar.setTextVisible(False)
        self.bar.setMinimumWidth(80)
        self.numbers = _muted()
        self.queued = _muted()
        self.queued.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.queued.hide()
        self.go_on_button = QPushButton("Go on")
        self.go_on_button.setProperty("role", "primary")
        self.go_on_button.clicked.connect(self._go_on)
        self.go_on_button.hide()
        self.pause_button = QPushButton("Pause")
        self.pause_button.clicked.connect(self.toggle_pause)
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setToolTip("Stop after the present step; what is done is kept")
        self.cancel_button.clicked.connect(self.cancel)
        self.meters = _muted()
        self.meters.setWordWrap(False)
        self.more = QToolButton()
        self.more.setText("Messages")
        self.more.setCheckable(True)
        self.list = MessageList()
        self.list.hide()
        self.more.toggled.connect(self.list.setVisible)
        self.latest = QLabel("")
        self.latest.setTextFormat(Qt.TextFormat.PlainText)
        self.latest.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.latest.setWordWrap(True)
        self.latest.setMinimumWidth(1)
        self._lay_out()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self.row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.stage)
        row.addWidget(self.bar, 1)
        for button in (self.go_on_button, self.pause_button, self.cancel_button):
            button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            row.addWidget(button)
        facts = QHBoxLayout()
        facts.addWidget(self.numbers, 1)
        facts.addWidget(self.queued, 1)
        below = QHBoxLayout()
        below.addWidget(self.latest, 1)
        below.addWidget(self.meters)
        below.addWidget(self.more)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(4)
        layout.addWidget(self.row)
        layout.addLayout(facts)
        layout.addLayout(below)
        layout.addWidget(self.list)

    # --- what the engine tells -----------------------------------------------------------

    def show_progress(self, event: Progress) -> None:
        """A stage got on."""
        now = time.monotonic()
        self._show_stopping()
        last, self._last = self._last, event
        if last is None or (last.stage, last.unit, last.total) != (
            event.stage,
            event.unit,
            event.total,
        ):
            self._eta = Eta()  # another stretch of work, with its own pace
        self._eta.put(now, event.done)
        self.stage.setText(STAGE_NAMES.get(event.stage, event.stage))
        self.bar.setRange(0, 1000 if event.total else 0)
        done = f"{event.done:,} {event.unit}" if event.done else ""
        if event.total:
            self.bar.setValue(round(1000 * event.done / event.total))
            done = f"{event.done:,} of {event.total:,} {event.unit}"
        left = range_in_words(self._eta.remaining(event.total))
        if self.bridge.engine.paused:  # told late: the step at hand was still ended
            self._show_facts(_PAUSED, done.strip(), event.note)
        else:
            self._show_facts(done.strip(), event.note, left)

    def _show_facts(self, *facts: str) -> None:
        self.numbers.setText("   ·   ".join(fact for fact in facts if fact))
        self.numbers.setVisible(any(facts))

    def show_messages(self, messages: list[Message]) -> None:
        """Sentences of the run; the newest stands in the panel, all in the list."""
        for message in messages:
            self.say(message.text, message.level, message.detail)

    def show_end(self, end: Finished | Failed | Cancelled) -> None:
        """A stage or job ended."""
        self._show_stopping()
        name = STAGE_NAMES.get(end.stage, end.stage or "The job")
        if isinstance(end, Failed):
            self.say(f"{name}: {end.error}", "error", end.detail)
            self.more.setChecked(True)
        elif isinstance(end, Cancelled):
            self.say(f"{name}: cancelled. What was done is kept.")
        elif end.stage not in _SILENT:
            self.say(f"{name}: done.")

    def say(self, text: str, level: str = "info", detail: str = "") -> None:
        """Adds a message; its detail is folded away."""
        self.list.add(text, level, detail)
        self.latest.setText(f"{MARKS[level]}{text}")

    # --- steering ------------------------------------------------------------------------

    def offer(self, text: str) -> None:
        """Offers to go on with what was paused when the window was closed."""
        self.say(text)
        self.stage.setText("Paused")
        self.go_on_button.show()
        self.row.show()

    def _go_on(self) -> None:
        self.go_on_button.hide()
        self.went_on.emit()

    def toggle_pause(self) -> None:
        """Pauses the job, or goes on. Without a job there is nothing to pause."""
        engine = self.bridge.engine
        if self.bridge.idle:
            return
        if engine.paused:
            engine.resume()
        else:
            engine.pause()
            self._eta.paused()
            self._show_facts(_PAUSED)
        self.pause_button.setText("Resume" if engine.paused else "Pause")

    def cancel(self) -> None:
        """Cancels the job at hand and those queued."""
        if self.bridge.idle:
            return
        self._stopping = self.bridge.tasks()
        self.bridge.cancel()
        self._show_stopping()
        self._show_facts("Stopping after the present step …")

    def _show_stopping(self) -> None:
        """What was submitted since can be cancelled once those before it are over."""
        over = all(task.state == "over" for task in self._stopping)
        self.cancel_button.setEnabled(over and not self.bridge.idle)

    def stop(self) -> None:
        """Ends the meters' beat."""
        self._meter_timer.stop()

    def _show_idle(self, idle: bool) -> None:
        for button in (self.pause_button, self.cancel_button):
            button.setEnabled(not idle)
            button.setVisible(not idle)
        self.bar.setVisible(not idle)
        self.row.setVisible(not idle)
        if idle and self.bridge.engine.paused:  # the step at hand failed: the next job must begin
            self.bridge.engine.resume()
        self.pause_button.setText("Pause")
        self._show_facts()
        if idle:
            self._last, self._stopping = None, []
            self.stage.setText("")
            if not self.list.text():
                self.latest.setText("No job has run since the project was opened.")
        else:
            self.go_on_button.hide()
            self.stage.setText("Starting …")
            self.bar.setRange(0, 0)

    def _show_queue(self, waiting: list[Task]) -> None:
        names = [task.name for task in waiting if task.name]
        text = f"Then: {', '.join(names[:3])}" if names else ""
        self.queued.setText(text + (f" and {len(names) - 3} more" if len(names) > 3 else ""))
        self.queued.setVisible(bool(text))

    def _show_meters(self) -> None:
        # Over a very short time the clocks' steps can make more of it than there is.
        cpu = min(self._process.cpu_percent() / 100.0, float(psutil.cpu_count() or 1))
        memory = self._process.memory_info().rss / 2**30
        parts = [f"CPU {cpu:.1f} of {psutil.cpu_count()}", f"memory {memory:.1f} GiB"]
        if gpu := self._accelerator():
            parts.append(gpu)
        self.meters.setText("   ".join(parts))


def _muted() -> QLabel:
    label = QLabel("")
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", "muted")
    label.setWordWrap(True)
    return label
