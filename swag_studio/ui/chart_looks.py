"""How a series of a chart looks: pens, marks and swatches of a theme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap

from swag_studio.ui.curves import Curve
from swag_studio.ui.theme import DASHES, MARKS, Theme

SWATCH = 30, 12  # pixels


@dataclass(eq=False)
class Series:
    """One series: its points, how it looks, and the lines that show it."""

    key: str
    label: str
    look: int
    curve: Curve
    strong: pg.PlotCurveItem
    thin: pg.PlotCurveItem | None  # the raw values, where the strong line is smoothed
    dashed: bool | None = None  # None: as the look has it
    faint: bool = False
    visible: bool = True
    dirty: bool = True

    @property
    def lines(self) -> list[pg.PlotCurveItem]:
        return [self.strong] if self.thin is None else [self.thin, self.strong]

    @property
    def mark(self) -> str:
        """pyqtgraph's name of the symbol at the newest value."""
        return MARKS[self.look % len(MARKS)]

    def dash(self) -> Qt.PenStyle:
        if self.dashed is None:
            return DASHES[self.look % len(DASHES)]
        return Qt.PenStyle.DashLine if self.dashed else Qt.PenStyle.SolidLine

    def colour(self, theme: Theme, alpha: int = 255) -> QColor:
        colour = QColor(theme.series[self.look % len(theme.series)])
        colour.setAlpha(alpha * 5 // 9 if self.faint else alpha)
        return colour

    def pen(self, theme: Theme) -> QPen:
        """The strong line's."""
        return pg.mkPen(self.colour(theme), width=1 if self.faint else 2, style=self.dash())

    def dress(self, theme: Theme) -> None:
        """Gives the lines the colours of a theme."""
        self.strong.setPen(self.pen(theme))
        if self.thin is not None:
            self.thin.setPen(pg.mkPen(self.colour(theme, 110), width=1))

    def spot(self, theme: Theme, x: float, y: float) -> dict[str, Any]:
        """The mark at a place, for a scatter plot."""
        colour = self.colour(theme)
        pen = pg.mkPen(colour)
        return {"pos": (x, y), "symbol": self.mark, "size": 8, "pen": pen, "brush": colour}

    def swatch(self, theme: Theme) -> QIcon:
        """Line and mark, for a legend; drawn at twice the pixels for dense screens."""
        width, height = SWATCH
        pixmap = QPixmap(2 * width, 2 * height)
        pixmap.setDevicePixelRatio(2.0)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint_swatch(painter, theme)
        painter.end()
        return QIcon(pixmap)

    def paint_swatch(self, painter: QPainter, theme: Theme) -> None:
        """The same by any painter, from its origin."""
        width, height = SWATCH
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.pen(theme))
        painter.drawLine(QPointF(1, height / 2), QPointF(width - 1, height / 2))
        painter.translate(width - 5, height / 2)
        painter.scale(7, 7)  # pyqtgraph's symbols are of size 1
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour(theme))
        painter.drawPath(pg.graphicsItems.ScatterPlotItem.Symbols[self.mark])
        painter.restore()


def newest(y: np.ndarray) -> int | None:
    """The index of the last finite value; looked for among the last thousand."""
    at = np.flatnonzero(np.isfinite(y[-1000:]))
    return max(len(y) - 1000, 0) + int(at[-1]) if len(at) else None
