"""The job panel at the bottom: what runs, how far, how long still, pause and cancel, messages.

It lives in the main window, outside the pages, and so survives every change of page.
"""

from __future__ import annotations

import time

import psutil
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.events import Cancelled, Failed, Finished, Message, Progress
from swag_studio.ui.bridge import Bridge
from swag_studio.ui.eta import Eta, range_in_words

STAGE_NAMES = {
    "ingest": "Importing",
    "prepare": "Preparing contexts",
    "train_lm": "Training language models",
    "generate": "Sampling candidates",
    "filter": "Adversarial filtering",
    "release": "Writing the release",
}
_MARKS = {"info": "", "warning": "⚠ ", "error": "✗ "}


class JobPanel(QFrame):
    """Shows the engine's job and steers it."""

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bridge, self._eta, self._last = bridge, Eta(), None
        self.setProperty("card", "true")
        self._build()
        bridge.progress.connect(self.show_progress)
        bridge.messages.connect(self.show_messages)
        bridge.ended.connect(self.show_end)
        bridge.idle_changed.connect(self._show_idle)
        self._process = psutil.Process()
        self._process.cpu_percent()
        self._meter_timer = QTimer(self)
        self._meter_timer.setInterval(2000)
        self._meter_timer.timeout.connect(self._show_meters)
        self._meter_timer.start()
        self._show_meters()
        self._show_idle(True)

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        self.stage = QLabel("")
        self.stage.setMinimumWidth(190)
        self.stage.setStyleSheet("font-weight: 600")
        self.bar = QProgressBar()
        self.bar.setAccessibleName("Progress of the job")
        self.bar.setTextVisible(False)
        self.numbers = QLabel("")
        self.eta = QLabel("")
        self.eta.setProperty("role", "muted")
        self.pause_button = QPushButton("Pause")
        self.pause_button.clicked.connect(self.toggle_pause)
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setToolTip("Stop after the present step; what is done is kept")
        self.cancel_button.clicked.connect(self.cancel)
        self.meters = QLabel("")
        self.meters.setProperty("role", "muted")
        self.more = QToolButton()
        self.more.setText("Messages")
        self.more.setCheckable(True)
        self.more.toggled.connect(self._show_list)
        self.list = QListWidget()
        self.list.setAccessibleName("Messages of the run")
        self.list.setWordWrap(True)
        self.list.setMaximumHeight(170)
        self.list.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.list.hide()
        self.latest = QLabel("")
        self.latest.setTextFormat(Qt.TextFormat.PlainText)
        self.latest.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.latest.setWordWrap(True)
        row = QHBoxLayout()
        for widget in (
            self.stage,
            self.bar,
            self.numbers,
            self.eta,
            self.pause_button,
            self.cancel_button,
        ):
            row.addWidget(widget, 1 if widget is self.bar else 0)
        below = QHBoxLayout()
        below.addWidget(self.latest, 1)
        below.addWidget(self.meters)
        below.addWidget(self.more)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(6)
        layout.addLayout(row)
        layout.addLayout(below)
        layout.addWidget(self.list)

    # --- what the engine tells -----------------------------------------------------------

    def show_progress(self, event: Progress) -> None:
        """A stage got on."""
        now = time.monotonic()
        if self._last is None or self._last.stage != event.stage:
            self._eta = Eta()
        self._last = event
        self._eta.put(now, event.done)
        self.stage.setText(STAGE_NAMES.get(event.stage, event.stage))
        self.bar.setRange(0, 1000 if event.total else 0)
        if event.total:
            self.bar.setValue(round(1000 * event.done / event.total))
            self.numbers.setText(f"{event.done:,} of {event.total:,} {event.unit}")
        else:
            self.numbers.setText(f"{event.done:,} {event.unit}" if event.done else "")
        self.eta.setText(range_in_words(self._eta.remaining(event.total)))
        if event.note:
            self.bar.setToolTip(event.note)

    def show_messages(self, messages: list[Message]) -> None:
        """Sentences of the run; the newest stands in the panel, all in the list."""
        for message in messages:
            self._add(message.text, message.level, message.detail)

    def show_end(self, end: Finished | Failed | Cancelled) -> None:
        """A stage or job ended."""
        name = STAGE_NAMES.get(end.stage, end.stage or "The job")
        if isinstance(end, Failed):
            self._add(f"{name}: {end.error}", "error", end.detail)
            self.more.setChecked(True)
        elif isinstance(end, Cancelled):
            self._add(f"{name}: cancelled. What was done is kept.", "info", "")
        else:
            self._add(f"{name}: done.", "info", "")

    def _add(self, text: str, level: str, detail: str) -> None:
        line = f"{time.strftime('%H:%M:%S')}  {_MARKS[level]}{text}"
        item = QListWidgetItem(line)
        item.setData(Qt.ItemDataRole.UserRole, f"{text}\n{detail}".strip())
        if detail:
            item.setToolTip("Select and copy for the details")
        self.list.addItem(item)
        while self.list.count() > 1000:
            self.list.takeItem(0)
        self.list.scrollToBottom()
        self.latest.setText(f"{_MARKS[level]}{text}")

    def copy_messages(self) -> None:
        """Puts the selected messages, or all, on the clipboard, with their details."""
        items = self.list.selectedItems() or [self.list.item(i) for i in range(self.list.count())]
        QGuiApplication.clipboard().setText(
            "\n".join(item.data(Qt.ItemDataRole.UserRole) for item in items)
        )

    # --- steering ------------------------------------------------------------------------

    def toggle_pause(self) -> None:
        """Pauses the job, or goes on."""
        engine = self.bridge.engine
        if engine.paused:
            engine.resume()
        else:
            engine.pause()
            self._eta.paused()
            self.eta.setText("paused")
        self.pause_button.setText("Resume" if engine.paused else "Pause")

    def cancel(self) -> None:
        """Cancels the job at hand and those queued."""
        self.bridge.engine.cancel()
        self.cancel_button.setEnabled(False)
        self.eta.setText("stopping after this step …")

    def _show_idle(self, idle: bool) -> None:
        self.pause_button.setEnabled(not idle)
        self.cancel_button.setEnabled(not idle)
        self.pause_button.setText("Pause")
        if idle:
            self._last = None
            self.stage.setText("No job running")
            self.bar.setRange(0, 1)
            self.bar.setValue(0)
            self.numbers.setText("")
            self.eta.setText("")
        else:
            self.stage.setText("Starting …")
            self.bar.setRange(0, 0)

    def _show_list(self, on: bool) -> None:
        self.list.setVisible(on)

    def _show_meters(self) -> None:
        cpu = self._process.cpu_percent() / 100.0
        memory = self._process.memory_info().rss / 2**30
        self.meters.setText(
            f"CPU {cpu:.1f} of {psutil.cpu_count()} cores   memory {memory:.1f} GiB"
        )
