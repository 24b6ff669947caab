"""Two distributions over one another as steps, each with an area of one (pyqtgraph).

It knows numbers and labels, not what they measure. The first is drawn solid, the second dashed,
so that they are told apart without their colours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from swag_studio.ui.plots import Canvas
from swag_studio.ui.theme import DASHES, Theme

BINS = 40

Numbers = NDArray[np.float64]


def bin_edges(values: NDArray[Any], *, whole: bool) -> Numbers:
    """(bins + 1,) equal steps that hold all values; around whole numbers where they are `whole`."""
    if not len(values):
        return np.array([0.0, 1.0])
    low, high = float(values.min()), float(values.max())
    if whole:
        step = math.ceil((high - low + 1) / BINS)
        count = math.ceil((high - low + 1) / step)
        return low - 0.5 + step * np.arange(count + 1, dtype=np.float64)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, BINS + 1)


def shares(values: NDArray[Any], edges: Numbers, weights: Numbers | None = None) -> Numbers:
    """(bins,) the share of the values in each bin; they add up to 1, or to 0 without values."""
    counts, _ = np.histogram(np.asarray(values, np.float64), edges, weights=weights)
    total = counts.sum()
    return np.asarray(counts / total if total else counts, np.float64)


class _PowerAxis(pg.AxisItem):  # type: ignore[misc]
    """Says e to the power of what stands on the axis below."""

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [f"{math.exp(v):,.2g}" if v < 4 else f"{math.exp(v):,.0f}" for v in values]


class Histogram(QWidget):
    """The shares of two sets of numbers, with a legend. `show_values` draws, `clear` empties."""

    def __init__(
        self, name: str, labels: tuple[str, str], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.theme = theme
        self.plot = Canvas(axisItems={"top": _PowerAxis("top")})
        self.plot.setAccessibleName(name)
        self.plot.viewport().setAccessibleName(name)
        self.plot.setMinimumHeight(160)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # no key does anything in it
        ignored = QSizePolicy.Policy.Ignored  # pyqtgraph's wish of 480 pixels
        self.plot.setSizePolicy(QSizePolicy.Policy.Expanding, ignored)
        item = self.plot.getPlotItem()
        item.hideButtons()
        item.setMouseEnabled(False, False)
        item.getViewBox().setLimits(yMin=0.0)
        item.getAxis("left").setScale(100.0)
        for side in ("left", "bottom", "top"):
            item.getAxis(side).enableAutoSIPrefix(False)
        self.curves = (self._curve(), self._curve())
        self.swatches = (QLabel(), QLabel())
        legend = QHBoxLayout()
        legend.setSpacing(6)
        for swatch, label in zip(self.swatches, labels, strict=True):
            legend.addWidget(swatch)
            legend.addWidget(QLabel(label))
            legend.addSpacing(10)
        legend.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(legend)
        layout.addWidget(self.plot, 1)
        self.set_theme(theme)
        self.clear()

    def _curve(self) -> pg.PlotDataItem:
        curve = pg.PlotDataItem(stepMode="center")
        self.plot.addItem(curve)
        return curve

    def show_values(
        self,
        first: NDArray[Any],
        second: NDArray[Any],
        weights: Numbers,
        *,
        label: str,
        whole: bool = False,
        power: str = "",
    ) -> None:
        """Draws both over common bins. `weights` are the second's.

        `label` names the axis. With `power` a second axis above, so named, says e to the power
        of the values.
        """
        edges = bin_edges(np.concatenate([first, second]), whole=whole)
        self.curves[0].setData(edges, shares(first, edges))
        self.curves[1].setData(edges, shares(second, edges, weights))
        self._label("bottom", label)
        self._label("left", "% of endings")
        self._label("top", power)
        self.plot.getPlotItem().showAxis("top", bool(power))
        self.plot.getViewBox().enableAutoRange()

    def clear(self) -> None:
        """Draws nothing."""
        for curve in self.curves:
            curve.setData([0.0, 1.0], [0.0])
        self.plot.getPlotItem().showAxis("top", False)

    def set_theme(self, theme: Theme) -> None:
        """Draws all in another look."""
        self.theme = theme
        self.plot.setBackground(theme.surface)
        for side in ("left", "bottom", "top"):
            axis = self.plot.getPlotItem().getAxis(side)
            axis.setPen(pg.mkPen(theme.border))
            axis.setTextPen(pg.mkPen(theme.text))
            self._label(side, axis.labelText)
        for i, curve in enumerate(self.curves):
            curve.setPen(pg.mkPen(theme.series[i], width=2, style=DASHES[i]))
            self.swatches[i].setPixmap(_swatch(theme.series[i], DASHES[i]))
        faint = QColor(theme.series[0])
        faint.setAlpha(50)
        self.curves[0].setFillLevel(0.0)
        self.curves[0].setFillBrush(faint)

    def _label(self, side: str, text: str) -> None:
        axis = self.plot.getPlotItem().getAxis(side)
        if text:
            axis.setLabel(text, color=self.theme.text)


def _swatch(colour: str, dash: Qt.PenStyle) -> QPixmap:
    """A piece of a curve, for the legend."""
    pixmap = QPixmap(60, 24)
    pixmap.setDevicePixelRatio(2.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setPen(QPen(QColor(colour), 2.0, dash))
    painter.drawLine(1, 6, 29, 6)
    painter.end()
    return pixmap
