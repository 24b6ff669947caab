"""How a series of a chart looks: pens, marks and swatches of a theme."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QIcon,
    QPaintEngine,
    QPainter,
    QPen,
    QPixmap,
    QPolygonF,
    QTransform,
)
from PySide6.QtWidgets import QWidget

from swag_studio.ui.curves import Curve, Floats
from swag_studio.ui.theme import DASHES, MARKS, Theme

SWATCH = 30, 12  # pixels
Dash = bool | Qt.PenStyle  # dashed, solid, or a style by its name


def paled(colour: str, ground: str, strength: float) -> QColor:
    """The colour at this strength over a ground, opaque: to blend each pixel costs a frame."""
    a, b = QColor(colour), QColor(ground)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*(round(below + strength * (above - below)) for above, below in pairs))


class Line(pg.GraphicsObject):  # type: ignore[misc]
    """A line of some pixels' width that costs no more than a few of one pixel; NaN is a gap.

    Qt outlines a wide line and fills the outline, which takes seconds where thousands of steep
    pieces overlap. Thin lines drawn beside each other look the same. And pyqtgraph's own line asks
    for its bounds so often that a busy thread beside it delays every frame.
    """

    def __init__(self) -> None:
        super().__init__()
        self.x = self.y = np.empty(0)
        self.pen = QPen()
        self._bounds = QRectF()
        self._pieces: list[QPolygonF] | None = None  # the data between its gaps

    def set_data(self, x: Floats, y: Floats) -> None:
        """The points, x ascending."""
        self.prepareGeometryChange()
        self.x, self.y, self._pieces, self._bounds = x, y, None, QRectF()
        seen = y[np.isfinite(y)]
        if len(seen):
            low, high = float(seen.min()), float(seen.max())
            self._bounds = QRectF(x[0], low, x[-1] - x[0], high - low)
        self.update()

    def set_pen(self, pen: QPen) -> None:
        self.pen = pen
        self.update()

    def boundingRect(self) -> QRectF:
        """Without the pen's width: the plot is always painted whole."""
        return self._bounds

    def paint(self, painter: QPainter, option: Any, widget: QWidget | None = None) -> None:
        if self._pieces is None:
            self._pieces = list(_pieces(self.x, self.y))
        pen, place = QPen(self.pen), painter.transform()
        density = painter.device().devicePixelRatioF()
        width = round(pen.widthF() * density)
        if painter.paintEngine().type() == QPaintEngine.Type.SVG:
            width = 1  # of lines; their pen stays as wide as it is
        elif width > 1:
            pen.setWidth(1)
            if pen.style() != Qt.PenStyle.SolidLine:  # a dash's length is in widths of its line
                pen.setDashPattern([width * part for part in pen.dashPattern()])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(pen)
        for across, down in {(i, 0) for i in range(width)} | {(0, i) for i in range(width)}:
            shift = QTransform.fromTranslate(across / density, down / density)
            painter.setTransform(place * shift)
            for piece in self._pieces:
                painter.drawPolyline(piece) if piece.size() > 1 else painter.drawPoints(piece)
        painter.setTransform(place)


def _pieces(x: Floats, y: Floats) -> Iterator[QPolygonF]:
    """The line's polygons between values that are not finite."""
    gaps = np.flatnonzero(~np.isfinite(y))
    for first, last in zip([0, *(gaps + 1)], [*gaps, len(y)], strict=True):
        if last > first:
            yield pg.functions.arrayToQPolygonF(x[first:last], y[first:last])


@dataclass(eq=False)
class Series:
    """One series: its points, how it looks, and the lines that show it."""

    key: str
    label: str
    look: int
    curve: Curve
    strong: Line
    thin: Line | None  # the raw values, where the strong line is smoothed
    dashed: Dash | None = None  # None: as the look has it
    faint: bool = False
    visible: bool = True
    dirty: bool = True

    @property
    def lines(self) -> list[Line]:
        return [self.strong] if self.thin is None else [self.thin, self.strong]

    @property
    def mark(self) -> str:
        """pyqtgraph's name of the symbol at the newest value."""
        return MARKS[self.look % len(MARKS)]

    def dash(self) -> Qt.PenStyle:
        if self.dashed is None:
            return DASHES[self.look % len(DASHES)]
        if isinstance(self.dashed, Qt.PenStyle):
            return self.dashed
        return Qt.PenStyle.DashLine if self.dashed else Qt.PenStyle.SolidLine

    def colour(self, theme: Theme, strength: float = 1.0) -> QColor:
        """The look's, paled towards the background."""
        strength *= 0.55 if self.faint else 1.0
        return paled(theme.series[self.look % len(theme.series)], theme.surface, strength)

    def pen(self, theme: Theme) -> QPen:
        """The strong line's."""
        pen: QPen = pg.mkPen(self.colour(theme), width=1 if self.faint else 2, style=self.dash())
        return pen

    def dress(self, theme: Theme) -> None:
        """Gives the lines the colours of a theme."""
        self.strong.set_pen(self.pen(theme))
        if self.thin is not None:
            self.thin.set_pen(pg.mkPen(self.colour(theme, 0.45), width=1))

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
