"""A chart as a picture with its title and legend, or as a table of its values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from swag_studio.files import write_bytes, write_text
from swag_studio.ui.chart_looks import SWATCH, Series
from swag_studio.ui.plots import Plot

MARGIN = 12  # pixels
GAP = 6
DENSITY = 2  # pixels of a PNG per pixel of the screen


def to_csv(every: Iterable[Series]) -> str:
    """All points, long form: series,step,value,smoothed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["series", "step", "value", "smoothed"])
    for series in every:
        curve = series.curve
        for step, value, mean in zip(curve.x, curve.y, curve.mean, strict=True):
            writer.writerow([series.label, f"{step:g}", repr(float(value)), repr(float(mean))])
    return out.getvalue()


def save(plot: Plot, title: str, path: Path) -> None:
    """Writes PNG, SVG or CSV, by the ending of the name, whole or not at all."""
    kind = path.suffix.lower()
    if kind == ".csv":
        write_text(path, to_csv(plot.series.values()))
    else:
        picture = Picture(plot, title)
        write_bytes(path, picture.svg() if kind == ".svg" else picture.png())


class Picture:
    """What is on the screen of a plot, under its title and legend, in pixels of the screen."""

    def __init__(self, plot: Plot, title: str) -> None:
        self.plot, self.title = plot, title
        self.font = QFont(plot.font())
        self.font.setPixelSize(QFontInfo(plot.font()).pixelSize())
        self.bold = QFont(self.font)
        self.bold.setBold(True)
        self.line = QFontMetricsF(self.bold).height() + GAP
        self.legend, rows = self._legend(plot.viewport().width())
        self.top = MARGIN + self.line * (1 + rows) + GAP
        width, height = plot.viewport().width(), plot.viewport().height()
        self.size = QSize(width + 2 * MARGIN, round(self.top) + height + MARGIN)

    def _legend(self, width: float) -> tuple[list[tuple[Series, QPointF]], int]:
        """Where each entry begins, and the number of rows."""
        places, x, row = [], 0.0, 0
        metrics = QFontMetricsF(self.font)
        for series in self.plot.visible():
            wide = SWATCH[0] + GAP + metrics.horizontalAdvance(series.label) + 3 * GAP
            if x > 0 and x + wide > width:
                x, row = 0.0, row + 1
            places.append((series, QPointF(MARGIN + x, MARGIN + self.line * (row + 1))))
            x += wide
        return places, row + bool(places)

    def png(self) -> bytes:
        image = QImage(self.size * DENSITY, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(DENSITY)
        painter = QPainter(image)
        self._paint(painter)
        painter.end()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
        return bytes(buffer.data().data())

    def svg(self) -> bytes:
        buffer = QBuffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setResolution(self.plot.logicalDpiX())  # pyqtgraph's axes scale by it
        generator.setSize(self.size)
        generator.setViewBox(QRectF(0, 0, self.size.width(), self.size.height()))
        generator.setTitle(self.title)
        painter = QPainter(generator)
        self._paint(painter)
        painter.end()
        return bytes(buffer.data().data())

    def _paint(self, painter: QPainter) -> None:
        theme, baseline = self.plot.theme, QFontMetricsF(self.bold).ascent()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRectF(0, 0, self.size.width(), self.size.height()), QColor(theme.surface))
        painter.setPen(QColor(theme.text))
        painter.setFont(self.bold)
        painter.drawText(QPointF(MARGIN, MARGIN + baseline), self.title)
        painter.setFont(self.font)
        for series, place in self.legend:
            painter.save()
            painter.translate(place)
            painter.drawText(QPointF(SWATCH[0] + GAP, baseline), series.label)
            painter.translate(0, (self.line - GAP - SWATCH[1]) / 2)
            series.paint_swatch(painter, theme)
            painter.restore()
        source = QRectF(self.plot.viewport().rect())
        target = QRectF(QPointF(MARGIN, self.top), source.size())
        self.plot.show_focus(False)
        self.plot.scene().render(painter, target, source)
        self.plot.show_focus(self.plot.hasFocus())
