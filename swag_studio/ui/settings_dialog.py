"""What a person prefers: the look, the size of text, the cost of an hour. It acts at once."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from swag_studio.settings import Settings
from swag_studio.ui.page import not_by_enter
from swag_studio.ui.theme import ems

THEMES = {"system": "As the desktop", "light": "Light", "dark": "Dark"}
PAUSE = 200  # ms without a change: what is held down or turned would style all anew at each step


class SettingsDialog(QDialog):
    """Emits `changed` with the whole settings once someone pauses in changing them, or leaves."""

    changed = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Settings")
        self._settings = settings
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._edited)
        self._build()
        self._show(settings)
        self.theme.currentIndexChanged.connect(self._wait)
        self.text_percent.valueChanged.connect(self._wait)
        self.cost.valueChanged.connect(self._wait)
        self.slider.valueChanged.connect(self.text_percent.setValue)
        self.text_percent.valueChanged.connect(self.slider.setValue)

    def _build(self) -> None:
        self.theme = QComboBox()
        for name, words in THEMES.items():
            self.theme.addItem(words, name)
        self.text_percent = QSpinBox()
        self.text_percent.setRange(80, 200)
        self.text_percent.setSingleStep(10)
        self.text_percent.setSuffix(" %")
        self.text_percent.setKeyboardTracking(False)  # not at each digit
        self.text_percent.setAccessibleName("Size of text")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(80, 200)
        self.slider.setSingleStep(10)
        self.slider.setPageStep(20)
        self.slider.setTracking(False)
        self.slider.setAccessibleName("Size of text")
        self.cost = QDoubleSpinBox()
        self.cost.setRange(0, 1e6)
        self.cost.setDecimals(2)
        self.cost.setKeyboardTracking(False)
        self.cost.setSpecialValueText("not known")
        note = QLabel(
            "What an hour of this machine costs, in your currency. The account of a project's "
            "computing is multiplied by it; no result depends on it."
        )
        note.setWordWrap(True)
        note.setProperty("role", "muted")
        size = QHBoxLayout()
        size.addWidget(self.text_percent)
        size.addWidget(self.slider, 1)
        form = QFormLayout()
        form.addRow("&Colours", self.theme)
        label = QLabel("&Size of text")
        label.setBuddy(self.text_percent)
        form.addRow(label, size)
        form.addRow("Cost per &hour", self.cost)
        form.addRow(note)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.RestoreDefaults | QDialogButtonBox.StandardButton.Close
        )
        buttons.rejected.connect(self.reject)
        self.defaults = buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults)
        self.defaults.clicked.connect(self._restore)
        not_by_enter(buttons)
        layout = QVBoxLayout(self)
        layout.addLayout(form)
        layout.addWidget(buttons)
        self.setMinimumWidth(ems(self, 50))

    def _show(self, settings: Settings) -> None:
        self.theme.setCurrentIndex(self.theme.findData(settings.theme))
        self.text_percent.setValue(settings.text_percent)
        self.slider.setValue(settings.text_percent)
        self.cost.setValue(settings.cost_per_hour)

    def hideEvent(self, event: QHideEvent) -> None:
        for number in (self.text_percent, self.cost):
            number.interpretText()  # what is half typed
        self._edited()
        super().hideEvent(event)

    def _wait(self) -> None:
        self._pause.start()  # anew

    def _edited(self) -> None:
        self._pause.stop()
        settings = replace(
            self._settings,
            theme=str(self.theme.currentData()),
            text_percent=self.text_percent.value(),
            cost_per_hour=self.cost.value(),
        )
        if settings != self._settings:
            self._settings = settings
            self.changed.emit(settings)

    def _restore(self) -> None:
        self._show(Settings())
