"""Line charts of series that grow while they are watched: title, legend, plot and read-out.

A chart knows keys, labels and numbers, not stages or members. It draws each series raw (thin) and
smoothed (strong), follows the newest values until someone zooms, shows the values under the
pointer or under the cursor that the keys move, and saves itself as PNG, SVG or CSV.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.numerals import plain
from swag_studio.ui import chart_saving
from swag_studio.ui.chart_looks import SWATCH, Dash
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import set_role
from swag_studio.ui.plots import Plot
from swag_studio.ui.theme import Theme

_LEAST = 8  # lines of text that a plot is high at least


class Chart(QWidget):
    """A titled chart with its legend, read-out and buttons.

    `percent` formats values as percentages; `log` gives a logarithmic y-axis, on which only values
    above zero have a place. Changes are drawn by `refresh`, which the owner calls once per batch
    of events, so that a flood of points costs one redraw.

    Keys, while the plot has the focus: Left and Right move the read-out, Home and End take it to
    the ends, plus and minus zoom, F follows again, Escape hides the read-out.
    """

    follow_changed = Signal(bool)

    def __init__(
        self,
        title: str,
        theme: Theme,
        *,
        x_label: str = "iteration",
        y_label: str = "",
        percent: bool = False,
        log: bool = False,
        smooth: float = 0.8,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.percent, self.smooth, self.x_label = percent, smooth, x_label
        self._buttons: dict[str, QToolButton] = {}
        self.plot = Plot(theme, percent=percent, log=log)
        item = self.plot.getPlotItem()
        item.setLabel("bottom", x_label)
        if y_label:
            item.setLabel("left", y_label)
        self._build()
        self.set_title(title)
        self.set_theme(theme)
        self.plot.following_changed.connect(self._following_changed)
        self.plot.pointed.connect(self._show_readout)

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        self._heading = QLabel()
        self._heading.setTextFormat(Qt.TextFormat.PlainText)
        self._heading.setWordWrap(True)
        set_role(self._heading, "strong")
        self.follow_button = QPushButton("Follow")
        self.follow_button.setToolTip("Show all values again and go on as new ones come")
        self.follow_button.clicked.connect(self.follow)
        self.follow_button.hide()
        self._save = QToolButton()
        self._save.setText("Save")
        self._save.setToolTip("Save this chart as a picture or its values as a table")
        self._save.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._save)
        for kind in ("PNG", "SVG", "CSV"):
            menu.addAction(f"As {kind} …", lambda kind=kind: self._ask_and_save(kind))
        self._save.setMenu(menu)
        # Over the plot, so that nothing moves when it comes and goes.
        self.readout = QLabel("", self.plot)
        self.readout.setTextFormat(Qt.TextFormat.PlainText)
        self.readout.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.readout.hide()
        top = QHBoxLayout()
        top.addWidget(self._heading, 1)
        top.addWidget(self.follow_button)
        top.addWidget(self._save)
        self._legend = FlowLayout(spacing=2)
        layout = self._layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addLayout(self._legend)
        layout.addWidget(self.plot, 1)

    def set_title(self, title: str) -> None:
        self.title = title
        self._heading.setText(title)
        self._save.setAccessibleName(f"Save chart {title}")
        self.plot.setAccessibleName(title)
        self.plot.viewport().setAccessibleName(title)

    def set_theme(self, theme: Theme) -> None:
        """Draws everything in the colours of another look."""
        self.theme = theme
        self.plot.set_theme(theme)
        self.readout.setStyleSheet(
            f"background: {theme.raised}; color: {theme.text}; padding: 3px 6px;"
            f"border: 1px solid {theme.border}; border-radius: 3px"
        )
        for key, button in self._buttons.items():
            button.setIcon(self.plot.series[key].swatch(theme))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_room()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._keep_room()

    def _keep_room(self) -> None:
        """A legend of several rows must not grow over the plot, nor the plot be flat."""
        self.plot.setMinimumHeight(_LEAST * self.fontMetrics().lineSpacing())
        self.setMinimumHeight(self._layout.totalMinimumHeightForWidth(self.width()))

    # --- series --------------------------------------------------------------------------

    def add_series(
        self,
        key: str,
        label: str,
        *,
        look: int | None = None,
        smooth: bool = True,
        visible: bool = True,
    ) -> None:
        """Declares a series; one that is there already stays as it is.

        `look` picks colour, dash and mark together; by default the count of series so far.
        """
        if key in self._buttons:
            return
        look = len(self._buttons) if look is None else look
        series = self.plot.add(key, label, look, self.smooth if smooth else 0.0)
        button = QToolButton(self)
        button.setCheckable(True)
        button.setChecked(True)
        button.setText(label)
        button.setIcon(series.swatch(self.theme))
        button.setIconSize(QSize(*SWATCH))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setAutoRaise(True)
        button.setToolTip(f"Show or hide {label}")
        button.toggled.connect(lambda on: self.set_visible(key, on))
        self._buttons[key] = button
        self._legend.addWidget(button)
        self._keep_room()
        button.setChecked(visible)

    def put(self, key: str, step: float, value: float) -> None:
        """Adds a point to a declared series. NaN leaves a gap."""
        series = self.plot.series[key]
        series.dirty |= series.curve.put(step, value)

    def put_many(self, key: str, steps: Sequence[float], values: Sequence[float]) -> None:
        """Adds points at once: much quicker than one by one where there are thousands."""
        series = self.plot.series[key]
        series.dirty |= series.curve.extend(steps, values)

    def remove_series(self, key: str) -> None:
        """Takes a series away with its points; none of that key is fine too."""
        if key in self._buttons:
            self.plot.remove(key)
            button = self._buttons.pop(key)
            self._legend.removeWidget(button)
            button.hide()
            button.deleteLater()
            self._keep_room()

    def clear(self) -> None:
        """Removes all series, reference lines and marks."""
        for key in list(self._buttons):
            self.remove_series(key)
        self.plot.set_levels([])
        self.plot.clear_marks()
        self.plot.point(None)

    def set_visible(self, key: str, on: bool) -> None:
        """Shows or hides a series; its points are kept."""
        series = self.plot.series[key]
        if series.visible != on:
            series.visible = on
            self._buttons[key].setChecked(on)
            self.plot.restyle(series)

    def set_series_style(
        self,
        key: str,
        *,
        look: int | None = None,
        dash: Dash | None = None,
        faint: bool | None = None,
    ) -> None:
        """Changes how a series looks; what is not given stays.

        `dash` True dashes the line whatever its look has, False makes it solid, a style makes it
        that; `faint` draws it thin and pale: so other runs lie dashed and faint under the first.
        """
        series = self.plot.series[key]
        series.look = series.look if look is None else look
        series.dashed = series.dashed if dash is None else dash
        series.faint = series.faint if faint is None else faint
        self._buttons[key].setIcon(series.swatch(self.theme))
        self.plot.restyle(series)

    def refresh(self) -> None:
        """Draws what changed since the last call; of a chart that is not seen, when it is."""
        self.plot.refresh()

    # --- beside the series ---------------------------------------------------------------

    def set_reference_lines(self, lines: list[tuple[float, str]]) -> None:
        """Horizontal lines such as chance: (value, label)."""
        self.plot.set_levels(lines)

    def set_mark(self, key: str, step: float, label: str) -> None:
        """A vertical mark, such as the start of a phase. The same key moves it."""
        self.plot.set_mark(key, step, label)

    def set_y_limits(self, low: float | None, high: float | None) -> None:
        """While it follows, at least this range is shown; None leaves a side to the values."""
        self.plot.set_y_limits(low, high)

    def set_log_y(self, on: bool) -> None:
        """A logarithmic y-axis, or a linear one."""
        self.plot.set_log(on)

    def link_x(self, other: Chart) -> None:
        """Linked charts show one range of x, follow together and share the read-out."""
        self.plot.link(other.plot)

    # --- following and reading -----------------------------------------------------------

    @property
    def following(self) -> bool:
        return self.plot.following

    def follow(self) -> None:
        """Shows everything and goes on with new values."""
        self.plot.follow()

    def _following_changed(self, on: bool) -> None:
        self.follow_button.setVisible(not on)
        self.follow_changed.emit(on)

    def values_at(self, x: float) -> str:
        """The visible series' values at the step nearest to `x`, a line each if there is room."""
        step, seen = self.plot.step_near(x), self.plot.visible()
        if step is None or not seen:  # the step may be one of a linked chart
            return ""
        values = [f"{s.label}: {self.format(s.curve.at(step))}" for s in seen]
        lines = max(1, int(self.plot.box.height() / self.fontMetrics().height()) - 2)
        beside = min(3, -(-len(values) // lines))
        rows = ("   ".join(values[i : i + beside]) for i in range(0, len(values), beside))
        return "\n".join([f"{self.x_label} {step:g}".strip(), *rows])

    def format(self, value: float) -> str:
        if math.isnan(value):
            return "–"
        return plain(value, ".1%" if self.percent else ".4g")

    def _show_readout(self, step: float | None) -> None:
        """In the upper corner that is further from the cursor."""
        text = "" if step is None else self.values_at(step)
        self.readout.setText(text)
        self.readout.setVisible(bool(text))
        self.plot.setAccessibleDescription(text.replace("\n", ", "))
        if step is not None:
            self.readout.adjustSize()
            low, high = self.plot.box.viewRange()[0]
            area = self.plot.mapFromScene(self.plot.box.sceneBoundingRect()).boundingRect()
            right = area.right() - self.readout.width() - 8
            x = area.left() + 8 if step > (low + high) / 2 else right
            self.readout.move(x, area.top() + 4)

    # --- saving --------------------------------------------------------------------------

    def to_csv(self) -> str:
        """All series, long form: series,step,value,smoothed."""
        return chart_saving.to_csv(self.plot.series.values())

    def save(self, path: Path) -> None:
        """Writes PNG, SVG or CSV, by the ending of the name."""
        self.plot.point(None)
        chart_saving.save(self.plot, self.title, path)

    def _ask_and_save(self, kind: str) -> None:
        name = f"{self.title}.{kind.lower()}"
        chosen, _ = QFileDialog.getSaveFileName(
            self, "Save chart", name, f"{kind} (*.{kind.lower()})"
        )
        if chosen:
            self.save(Path(chosen).with_suffix(f".{kind.lower()}"))
