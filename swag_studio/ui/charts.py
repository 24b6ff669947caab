"""Line charts of series that grow while they are watched (pyqtgraph).

A chart knows keys, labels and numbers, not stages or members. It draws each series raw (thin) and
smoothed (strong), follows the newest values until someone zooms, shows the values under the
pointer, and saves itself as PNG, SVG or CSV.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from pyqtgraph.exporters import ImageExporter, SVGExporter
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
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

from swag_studio.files import write_text
from swag_studio.series import smoothed
from swag_studio.ui.theme import DASHES, Theme


@dataclass
class _Series:
    """One series: its points and how it looks. Points grow by doubling."""

    key: str
    label: str
    look: int
    smooth: bool
    x: np.ndarray = field(default_factory=lambda: np.empty(64))
    y: np.ndarray = field(default_factory=lambda: np.empty(64))
    n: int = 0
    visible: bool = True
    dirty: bool = True
    raw_item: pg.PlotDataItem | None = None
    smooth_item: pg.PlotDataItem | None = None

    def put(self, step: float, value: float) -> None:
        """Adds a point; a step that is there already keeps one value, the newest."""
        if self.n and step <= self.x[self.n - 1]:
            at = int(np.searchsorted(self.x[: self.n], step))
            if self.x[at] == step:
                self.y[at] = value
            else:
                self.x = np.insert(self.x, at, step)
                self.y = np.insert(self.y, at, value)
                self.n += 1
        else:
            if self.n == len(self.x):
                self.x = np.concatenate([self.x, np.empty_like(self.x)])
                self.y = np.concatenate([self.y, np.empty_like(self.y)])
            self.x[self.n], self.y[self.n] = step, value
            self.n += 1
        self.dirty = True

    @property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        return self.x[: self.n], self.y[: self.n]


class Chart(QWidget):
    """A titled chart with its legend, read-out and buttons.

    `percent` formats values as percentages. Changes are drawn by `refresh`, which the owner calls
    once per batch of events, so that a flood of points costs one redraw.
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
        smooth: float = 0.8,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.theme, self.percent, self.smooth, self.title = theme, percent, smooth, title
        self._series: dict[str, _Series] = {}
        self._lines: list[pg.InfiniteLine] = []
        self._marks: dict[str, pg.InfiniteLine] = {}
        self._buttons: dict[str, QToolButton] = {}
        self._following = True
        self.plot = pg.PlotWidget(background=theme.surface)
        self.plot.setAccessibleName(title)
        self.plot.viewport().setAccessibleName(title)
        self._style_axes(x_label, y_label)
        self._build(title)
        box = self.plot.getViewBox()
        box.sigRangeChangedManually.connect(self._zoomed)
        self._cursor = pg.InfiniteLine(angle=90, pen=pg.mkPen(theme.muted, width=1))
        self._cursor.hide()
        self.plot.addItem(self._cursor, ignoreBounds=True)
        self.plot.scene().sigMouseMoved.connect(self._hover)

    # --- building ------------------------------------------------------------------------

    def _style_axes(self, x_label: str, y_label: str) -> None:
        item = self.plot.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.showGrid(x=False, y=True, alpha=0.25)
        for name, label in (("bottom", x_label), ("left", y_label)):
            axis = item.getAxis(name)
            axis.setPen(pg.mkPen(self.theme.border))
            axis.setTextPen(pg.mkPen(self.theme.text))
            axis.enableAutoSIPrefix(False)
            if label:
                axis.setLabel(label, color=self.theme.text)
        if self.percent:
            item.getAxis("left").setScale(100.0)

    def _build(self, title: str) -> None:
        heading = QLabel(title)
        heading.setStyleSheet("font-weight: 600")
        self.readout = QLabel("")
        self.readout.setProperty("role", "muted")
        self.readout.setTextFormat(Qt.TextFormat.PlainText)
        self.follow_button = QPushButton("Follow")
        self.follow_button.setToolTip("Show all values again and go on as new ones come")
        self.follow_button.clicked.connect(self.follow)
        self.follow_button.hide()
        save = QToolButton()
        save.setText("Save")
        save.setToolTip("Save this chart as a picture or its values as a table")
        save.setAccessibleName(f"Save chart {title}")
        save.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(save)
        for kind in ("PNG", "SVG", "CSV"):
            menu.addAction(f"As {kind} …", lambda kind=kind: self._ask_and_save(kind))
        save.setMenu(menu)
        top = QHBoxLayout()
        top.addWidget(heading)
        top.addStretch(1)
        top.addWidget(self.follow_button)
        top.addWidget(save)
        self._legend = QHBoxLayout()
        self._legend.setSpacing(2)
        self._legend.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addLayout(self._legend)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self.readout)

    # --- data ----------------------------------------------------------------------------

    def add_series(
        self,
        key: str,
        label: str,
        *,
        look: int | None = None,
        smooth: bool = True,
        visible: bool = True,
    ) -> None:
        """Declares a series; one that is there already stays as it is."""
        if key in self._series:
            return
        look = len(self._series) if look is None else look
        series = _Series(key, label, look, smooth)
        self._series[key] = series
        strong = pg.mkPen(self.colour(look), width=2, style=self.dash(look))
        if smooth:
            faint = QColor(self.colour(look))
            faint.setAlpha(110)
            series.raw_item = self._line(pg.mkPen(faint, width=1))
            series.smooth_item = self._line(strong)
        else:
            series.raw_item = self._line(strong)
        self._add_button(series)
        if not visible:
            self._buttons[key].setChecked(False)

    def _line(self, pen: QPen) -> pg.PlotDataItem:
        item = pg.PlotDataItem(pen=pen, connect="finite")
        item.setDownsampling(auto=True, method="peak")
        item.setClipToView(True)
        self.plot.addItem(item)
        return item

    def put(self, key: str, step: float, value: float) -> None:
        """Adds a point to a declared series. NaN leaves a gap."""
        self._series[key].put(step, value)

    def clear(self) -> None:
        """Removes all series, reference lines and marks."""
        for series in self._series.values():
            for item in (series.raw_item, series.smooth_item):
                if item is not None:
                    self.plot.removeItem(item)
            button = self._buttons.pop(series.key)
            self._legend.removeWidget(button)
            button.deleteLater()
        self._series.clear()
        self.set_reference_lines([])
        for mark in self._marks.values():
            self.plot.removeItem(mark)
        self._marks.clear()

    def set_reference_lines(self, lines: list[tuple[float, str]]) -> None:
        """Horizontal lines such as chance: (value, label)."""
        for line in self._lines:
            self.plot.removeItem(line)
        self._lines = []
        for value, label in lines:
            line = pg.InfiniteLine(
                pos=value,
                angle=0,
                label=label,
                pen=pg.mkPen(self.theme.text, width=1, style=Qt.PenStyle.DashLine),
                labelOpts={"position": 0.06, "color": self.theme.text, "anchors": [(0, 1), (0, 1)]},
            )
            self.plot.addItem(line)
            self._lines.append(line)

    def set_mark(self, key: str, step: float, label: str) -> None:
        """A vertical mark, such as the start of a phase. The same key moves it."""
        if key in self._marks:
            self._marks[key].setValue(step)
            return
        mark = pg.InfiniteLine(
            pos=step,
            angle=90,
            label=label,
            pen=pg.mkPen(self.theme.muted, width=1, style=Qt.PenStyle.DotLine),
            labelOpts={"position": 0.95, "color": self.theme.muted, "anchors": [(0, 0), (0, 0)]},
        )
        self._marks[key] = mark
        self.plot.addItem(mark, ignoreBounds=True)

    def refresh(self) -> None:
        """Draws what changed since the last call."""
        for series in self._series.values():
            if not series.dirty or not series.visible:
                continue
            x, y = series.points
            assert series.raw_item is not None
            series.raw_item.setData(x, y)
            if series.smooth_item is not None:
                series.smooth_item.setData(x, smoothed(y, self.smooth))
            series.dirty = False
        if self._following:
            self.plot.getViewBox().enableAutoRange()

    # --- looks ---------------------------------------------------------------------------

    def colour(self, look: int) -> str:
        return self.theme.series[look % len(self.theme.series)]

    def dash(self, look: int) -> Qt.PenStyle:
        return DASHES[look % len(DASHES)]

    def _add_button(self, series: _Series) -> None:
        button = QToolButton()
        button.setCheckable(True)
        button.setChecked(True)
        button.setText(series.label)
        button.setIcon(self._swatch(series.look))
        button.setIconSize(QSize(26, 12))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setAutoRaise(True)
        button.setToolTip(f"Show or hide {series.label}")
        button.toggled.connect(lambda on, key=series.key: self.set_visible(key, on))
        self._buttons[series.key] = button
        self._legend.insertWidget(self._legend.count() - 1, button)

    def _swatch(self, look: int) -> QIcon:
        pixmap = QPixmap(52, 24)
        pixmap.setDevicePixelRatio(2.0)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setPen(QPen(QColor(self.colour(look)), 2.5, self.dash(look)))
        painter.drawLine(1, 6, 25, 6)
        painter.end()
        return QIcon(pixmap)

    def set_visible(self, key: str, on: bool) -> None:
        """Shows or hides a series; its points are kept."""
        series = self._series[key]
        series.visible = on
        for item in (series.raw_item, series.smooth_item):
            if item is not None:
                item.setVisible(on)
        self._buttons[key].setChecked(on)
        self.refresh()

    # --- pointer -------------------------------------------------------------------------

    def _zoomed(self) -> None:
        if self._following:
            self._following = False
            self.follow_button.show()
            self.follow_changed.emit(False)

    def follow(self) -> None:
        """Shows everything and goes on with new values."""
        self._following = True
        self.follow_button.hide()
        self.plot.getViewBox().enableAutoRange()
        self.refresh()
        self.follow_changed.emit(True)

    @property
    def following(self) -> bool:
        return self._following

    def _hover(self, position: QPointF) -> None:
        if not self.plot.sceneBoundingRect().contains(position):
            self._cursor.hide()
            self.readout.setText("")
            return
        x = self.plot.getViewBox().mapSceneToView(position).x()
        self.readout.setText(self.values_at(x))

    def values_at(self, x: float) -> str:
        """The visible series' values at the step nearest to `x`, as one line."""
        parts: list[str] = []
        step = math.nan
        for series in self._series.values():
            xs, ys = series.points
            if not series.visible or len(xs) == 0:
                continue
            at = int(np.abs(xs - x).argmin())
            step = xs[at] if math.isnan(step) else step
            parts.append(f"{series.label} {self.format(float(ys[at]))}")
        if not parts:
            return ""
        self._cursor.setValue(step)
        self._cursor.show()
        return f"{step:g}:  " + "   ".join(parts)

    def format(self, value: float) -> str:
        if math.isnan(value):
            return "–"
        return f"{value:.1%}" if self.percent else f"{value:.4g}"

    # --- saving --------------------------------------------------------------------------

    def to_csv(self) -> str:
        """All series, long form: series,step,value,smoothed."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["series", "step", "value", "smoothed"])
        for series in self._series.values():
            x, y = series.points
            for step, value, mean in zip(x, y, smoothed(y, self.smooth), strict=True):
                writer.writerow([series.label, f"{step:g}", repr(float(value)), repr(float(mean))])
        return out.getvalue()

    def save(self, path: Path) -> None:
        """Writes PNG, SVG or CSV, by the ending of the name."""
        kind = path.suffix.lower()
        if kind == ".csv":
            write_text(path, self.to_csv())
        elif kind == ".svg":
            SVGExporter(self.plot.getPlotItem()).export(str(path))
        else:
            exporter = ImageExporter(self.plot.getPlotItem())
            exporter.parameters()["width"] = max(1600, self.plot.width() * 2)
            exporter.export(str(path))

    def _ask_and_save(self, kind: str) -> None:
        name = f"{self.title}.{kind.lower()}"
        chosen, _ = QFileDialog.getSaveFileName(
            self, "Save chart", name, f"{kind} (*.{kind.lower()})"
        )
        if chosen:
            self.save(Path(chosen).with_suffix(f".{kind.lower()}"))
