"""Axes of steps, of plain numbers, of percentages and of logarithms (pyqtgraph).

A log axis is a true one: it holds log10 of a value, and its ticks stand at round values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QWidget

from swag_studio.ui.chart_looks import paled
from swag_studio.ui.theme import Theme


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis of plain numbers, of shares as percentages, or of logarithms."""

    picture: Any  # pyqtgraph's own; here what the ticks are drawn from, None when they changed

    def __init__(self, side: str, *, percent: bool = False, log: bool = False) -> None:
        super().__init__(side)
        self.percent, self.log = percent, log
        self.enableAutoSIPrefix(False)
        if percent:
            self.setScale(100.0)

    def dress(self, theme: Theme, font: QFont) -> None:
        """The colours of a theme, and text of a size; the label has room below the ticks."""
        self.theme = theme
        self.setPen(pg.mkPen(theme.border))
        self.setTextPen(pg.mkPen(theme.text))
        self.setStyle(tickFont=font)
        if self.labelText:
            self.setLabel(self.labelText, color=theme.text)
            self.label.setFont(font)
        if self.orientation == "bottom":
            self.setHeight(QFontMetrics(font).height() * (2 if self.labelText else 1) + 14)

    def paint(self, painter: QPainter, option: Any, widget: QWidget | None = None) -> None:
        """Without pyqtgraph's detour by a recorded picture, which following curves never reuse."""
        painter.save()
        painter.setFont(self.style["tickFont"])
        if self.picture is None:
            self.picture = self._opaque(self.generateDrawSpecs(painter))
        if self.picture is not None:
            self.drawPicture(painter, *self.picture)
        painter.restore()

    def _opaque(self, specs: Any) -> Any:
        """Ticks and grid in opaque colours, which paint twenty times as fast."""
        if specs is None:
            return None
        line, ticks, texts = specs
        pens = [pen.color() for pen, _, _ in ticks]
        solid = [paled(c.name(), self.theme.surface, c.alphaF()) for c in pens]
        return line, [(pg.mkPen(c), *t[1:]) for c, t in zip(solid, ticks, strict=True)], texts

    def set_log(self, on: bool) -> None:
        self.log = on
        self.picture = None
        self.update()

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """(distance, offset) by level. Along the bottom are steps: nothing is between two."""
        levels: list[tuple[float, float]] = super().tickSpacing(low, high, size)
        if self.orientation == "bottom":
            return [level for level in levels if level[0] >= 1.0] or [(1.0, 0.0)]
        return levels

    def tickValues(self, low: float, high: float, size: float) -> Any:
        return (
            [(0.0, log_ticks(low, high, size))] if self.log else super().tickValues(low, high, size)
        )

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.log:
            return [f"{10.0**v * scale:.6g}{'%' * self.percent}" for v in values]
        texts: list[str] = super().tickStrings(values, scale, spacing)
        return [f"{text}%" for text in texts] if self.percent else texts


def log_ticks(low: float, high: float, size: float) -> list[float]:
    """log10 of round values from 10^low to 10^high, 40 pixels or more apart on average.

    Over a decade or more they are 1, 2 and 5 of each power of ten, or powers of ten; in less they
    are evenly spaced values, which then stand closer together towards the top.
    """
    most = max(2, int(size / 40))
    if not (math.isfinite(low) and math.isfinite(high)) or high - low > 600:
        return []
    if high - low < 1.0:
        return [math.log10(v) for v in _even(10.0**low, 10.0**high, most) if v > 0]
    powers = range(math.floor(low), math.ceil(high) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [p + math.log10(s) for p in powers for s in steps]
        ticks = [t for t in ticks if low <= t <= high]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]


def _even(low: float, high: float, most: int) -> list[float]:
    """At most `most` + 1 multiples of 1, 2 or 5 times a power of ten."""
    least = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    step = next(s * unit for s in (1, 2, 5, 10) if s * unit >= least * (1 - 1e-9))
    return [float(v) for v in np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step]
