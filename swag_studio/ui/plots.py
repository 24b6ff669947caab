"""The plot of a chart: draws growing series, follows them, zooms, and links with others.

It is pyqtgraph's, with two differences. It draws what the pixels can show, not all points
(curves.py), and it chooses its range itself, so that neither costs more as the points grow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyqtgraph as pg
import shiboken6
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QShowEvent

from swag_studio.ui.axes import ValueAxis
from swag_studio.ui.chart_looks import Line, Series, newest
from swag_studio.ui.curves import Curve, Floats, thinned
from swag_studio.ui.theme import Theme

Range = tuple[float, float]
EVERYTHING: Range = (-math.inf, math.inf)
FEW = 4  # points of a plain series that are marked one by one


class Canvas(pg.PlotWidget):  # type: ignore[misc]
    """A plot that takes the room it is given, without pyqtgraph's menus."""

    def __init__(self, **options: Any) -> None:
        super().__init__(enableMenu=False, **options)

    def sizeHint(self) -> QSize:
        """Qt's own is that of the scene, which is as large as the plot was: it never shrank."""
        return QSize(320, 180)


class Plot(Canvas):
    """Lines of series, reference lines and marks. `refresh` draws what changed.

    `pointed` tells the step that is read out (None: none), `following` whether new values are
    followed; both are shared by plots that are linked.
    """

    pointed = Signal(object)
    following_changed = Signal(bool)

    def __init__(self, theme: Theme, *, percent: bool = False, log: bool = False) -> None:
        self._axis = ValueAxis("left", percent=percent, log=log)
        super().__init__(axisItems={"left": self._axis, "bottom": ValueAxis("bottom")})
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.series: dict[str, Series] = {}
        self.following = True
        self.at: float | None = None  # the step that is read out
        self._levels: list[tuple[pg.InfiniteLine, float]] = []
        self._marks: dict[str, pg.InfiniteLine] = {}
        self._linked: list[Plot] = [self]
        self._limits: tuple[float | None, float | None] = (None, None)
        self._cursor = pg.InfiniteLine(angle=90)
        self._cursor.hide()
        self._ends = pg.ScatterPlotItem(
            useCache=False
        )  # the cache is a bitmap, also in a saved SVG
        self.theme = theme
        self._build()
        self.set_theme(theme)

    def _build(self) -> None:
        self.setMinimumHeight(120)
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        item = self.getPlotItem()
        item.hideButtons()
        item.showGrid(x=False, y=True, alpha=0.25)
        self._axis.setZValue(-1000)  # the grid under the lines
        for extra in (self._cursor, self._ends):
            self.addItem(extra, ignoreBounds=True)
        self.box = item.getViewBox()
        self.box.disableAutoRange()
        self.box.sigRangeChangedManually.connect(self.stop_following)
        self.box.sigXRangeChanged.connect(self._x_changed)
        self.box.sigResized.connect(self._redraw)
        self.scene().sigMouseMoved.connect(self._hover)
        self.scene().sigPrepareForPaint.connect(self._draw_dirty)

    # --- what is drawn -------------------------------------------------------------------

    def add(self, key: str, label: str, look: int, smooth: float) -> Series:
        """A new series without points; `smooth` 0 draws the values alone."""
        thin = self._line() if smooth > 0.0 else None
        series = Series(key, label, look, Curve(smooth), self._line(), thin)
        if thin is not None:
            thin.setZValue(-1)  # under all that is smoothed
        series.dress(self.theme)
        self.series[key] = series
        return series

    def _line(self) -> Line:
        line = Line()
        self.addItem(line, ignoreBounds=True)
        return line

    def remove(self, key: str) -> None:
        for line in self.series.pop(key).lines:
            self.removeItem(line)
        self._draw_ends()

    def restyle(self, series: Series) -> None:
        """Draws a series whose look, or whose being seen, was changed."""
        series.dress(self.theme)
        for line in series.lines:
            line.setVisible(series.visible)
        series.dirty = True
        if self.isVisible():
            self._follow()
            self._draw_dirty()
            self._draw_ends()

    def visible(self) -> list[Series]:
        return [s for s in self.series.values() if s.visible]

    def set_levels(self, levels: list[tuple[float, str]]) -> None:
        """The horizontal lines: (value, label)."""
        for line, _ in self._levels:
            self.removeItem(line)
        self._levels = []
        for value, label in levels:
            options = {"position": 0.06, "anchors": [(0, 1), (0, 1)]}
            line = pg.InfiniteLine(self._place(value), 0, label=label, labelOpts=options)
            self._levels.append((line, value))
            self._dress_line(line)
            self.addItem(line, ignoreBounds=True)
        self._follow()

    def set_mark(self, key: str, step: float, label: str) -> None:
        """A vertical line; the same key moves it."""
        mark = self._marks.get(key)
        if mark is None:
            options = {"position": 0.95, "anchors": [(0, 0), (0, 0)]}
            mark = pg.InfiniteLine(step, 90, label=label, labelOpts=options)
            self._marks[key] = mark
            self._dress_line(mark)
            self.addItem(mark, ignoreBounds=True)
        mark.setValue(step)
        mark.label.setFormat(label)

    def clear_marks(self) -> None:
        for mark in self._marks.values():
            self.removeItem(mark)
        self._marks.clear()

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.setBackground(theme.surface)
        for name in ("bottom", "left"):
            self.getPlotItem().getAxis(name).dress(theme, self.font())
        self.show_focus(self.hasFocus())
        self._cursor.setPen(pg.mkPen(theme.muted))
        for line in (*(line for line, _ in self._levels), *self._marks.values()):
            self._dress_line(line)
        for series in self.series.values():
            series.dress(theme)
        self._draw_ends()

    def _dress_line(self, line: pg.InfiniteLine) -> None:
        """Levels are strong and dashed, marks muted and dotted."""
        level = line.angle == 0
        colour = self.theme.text if level else self.theme.muted
        style = Qt.PenStyle.DashLine if level else Qt.PenStyle.DotLine
        line.setPen(pg.mkPen(colour, width=1, style=style))
        line.label.setColor(colour)
        line.label.setFont(self.font())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.set_theme(self.theme)

    def show_focus(self, on: bool) -> None:
        self.box.setBorder(pg.mkPen(self.theme.accent, width=2) if on else None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.show_focus(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.show_focus(False)

    # --- drawing -------------------------------------------------------------------------

    def refresh(self) -> None:
        """Draws what changed; of a plot that is not seen, when it is."""
        if self.isVisible() and any(s.dirty for s in self.visible()):
            self._follow()  # which draws, if there are new steps
            self._draw_dirty()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _draw_dirty(self) -> None:
        dirty = [s for s in self.visible() if s.dirty]
        if dirty and not self.isVisible():  # a picture is taken of what nobody sees
            self._follow()
        for series in dirty:
            self._draw(series)
            series.dirty = False
        if dirty:
            self._draw_ends()

    def _redraw(self) -> None:
        for series in self.series.values():
            series.dirty = True
        self.refresh()

    def _draw(self, series: Series) -> None:
        low, high = self.box.viewRange()[0]
        columns = max(64, int(self.box.width() * self.devicePixelRatioF()))
        curve, strong = series.curve, series.curve.y
        if series.thin is not None:
            x, y = thinned(curve.x, curve.y, low, high, columns)
            series.thin.set_data(x, self._places(y))
            strong = curve.mean
        x, y = thinned(curve.x, strong, low, high, columns // 2)  # it is two pixels wide
        series.strong.set_data(x, self._places(y))

    def _draw_ends(self) -> None:
        """A mark at each newest value, and at every value of a series that has a few only.

        It tells the lines apart, and shows lone points.
        """
        spots = []
        for series in self.visible():
            curve = series.curve
            y = self._places((curve.y if series.thin is None else curve.mean)[-1000:])
            few = series.thin is None and len(y) <= FEW
            at = newest(y)
            for i in np.flatnonzero(np.isfinite(y)) if few else [] if at is None else [at]:
                spots.append(series.spot(self.theme, curve.x[-len(y) :][i], y[i]))
        self._ends.setData(spots)

    def _places(self, y: Floats) -> Floats:
        """Values as places on the y-axis; NaN for one that has none."""
        if not self._axis.log:
            return y
        return np.log10(y, where=y > 0, out=np.full(len(y), np.nan))

    def _place(self, value: float) -> float:
        return float(self._places(np.array([value]))[0])

    # --- range ---------------------------------------------------------------------------

    def peers(self) -> Iterator[Plot]:
        """The linked plots that are still there, this one included."""
        return (p for p in self._linked if shiboken6.isValid(p))

    def link(self, other: Plot) -> None:
        linked = [*self._linked, *(p for p in other._linked if p not in self._linked)]
        for plot in linked:
            plot._linked = linked
        self._follow()

    def set_y_limits(self, low: float | None, high: float | None) -> None:
        self._limits = (low, high)
        self._follow()

    def set_log(self, on: bool) -> None:
        if on == self._axis.log:
            return
        self._axis.set_log(on)
        for line, value in self._levels:
            line.setValue(self._place(value))
        self._redraw()
        self._follow()

    def _follow(self) -> None:
        """While it follows: shows all its values, over all steps of the linked plots."""
        if not self.following:
            return
        # New steps have linked plots drawn too, whose own `refresh` then finds nothing to do.
        unfitted = [p for p in self.peers() if p is self or any(s.dirty for s in p.visible())]
        curves = [s.curve for p in self.peers() for s in p.visible() if s.curve.n]
        if curves:
            first, last = min(c.x[0] for c in curves), max(c.x[-1] for c in curves)
            self.setXRange(*_roomy(first, last, 1.0), padding=0.02)
        for plot in unfitted:
            plot._fit_y(EVERYTHING)

    def _fit_y(self, steps: Range) -> None:
        low, high = self._extent(steps)
        if low <= high:
            room = 0.05 if self._axis.log else abs(low) * 0.1 or 1.0
            padding = 0.06 if None in self._limits else 0.02
            self.setYRange(*_roomy(low, high, room), padding=padding)

    def _extent(self, steps: Range) -> Range:
        """The least and greatest place on the y-axis that is to be seen; inf, -inf for none."""
        wanted = [v for v in (*self._limits, *(v for _, v in self._levels)) if v is not None]
        parts = [np.array(wanted, dtype=float)]
        for series in self.visible():
            x = series.curve.x
            first, last = np.searchsorted(x, steps[0]), np.searchsorted(x, steps[1], "right")
            parts.append(series.curve.y[first:last])
        places = self._places(np.concatenate(parts))
        places = places[np.isfinite(places)]
        return (float(places.min()), float(places.max())) if len(places) else (math.inf, -math.inf)

    def _x_changed(self, _: object, steps: Range) -> None:
        for plot in self.peers():
            if plot is not self:
                plot.setXRange(*steps, padding=0)  # tells nothing where it is there already
        for series in self.visible():
            self._draw(series)
            series.dirty = False
        self._draw_ends()

    def stop_following(self) -> None:
        for plot in self.peers():
            if plot.following:
                plot.following = False
                plot.following_changed.emit(False)

    def follow(self) -> None:
        """Shows everything and goes on with new values; so do the linked plots."""
        for plot in self.peers():
            was, plot.following = plot.following, True
            plot._follow()
            plot._draw_dirty()
            if not was:
                plot.following_changed.emit(True)

    def zoom(self, factor: float) -> None:
        """Shows `factor` times the steps, around the read-out or the middle, and their values."""
        low, high = self.box.viewRange()[0]
        middle = self.at if self.at is not None and low < self.at < high else (low + high) / 2
        steps = (middle - (middle - low) * factor, middle + (high - middle) * factor)
        self.stop_following()
        self.setXRange(*steps, padding=0)
        for plot in self.peers():
            plot._fit_y(steps)

    # --- reading out ---------------------------------------------------------------------

    def step_near(self, x: float, beside: int = 0) -> float | None:
        """The linked plots' step nearest to `x`; for `beside` 1 or -1 next after or before it."""
        curves = [s.curve for p in self.peers() for s in p.visible()]
        steps = [step for c in curves if (step := c.near(x, beside)) is not None]
        return min(steps, key=lambda step: abs(step - x), default=None)

    def point(self, step: float | None) -> None:
        """Moves the read-out of the linked plots to a step, or hides it."""
        for plot in self.peers():
            plot.at = step
            plot._cursor.setVisible(step is not None)
            if step is not None:
                plot._cursor.setValue(step)
            plot.pointed.emit(step)

    def _hover(self, position: QPointF) -> None:
        if self.sceneBoundingRect().contains(position):
            self.point(self.step_near(self.box.mapSceneToView(position).x()))
        else:
            self.point(None)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.hasFocus():
            self.point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, high = event.key(), self.box.viewRange()[0][1]
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            side = 1 if key == Qt.Key.Key_Right else -1
            step = self.step_near(high) if self.at is None else self.step_near(self.at, side)
            self._walk(self.at if step is None else step)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            curves = [s.curve.x for p in self.peers() for s in p.visible() if s.curve.n]
            ends = [x[0] for x in curves] if key == Qt.Key.Key_Home else [x[-1] for x in curves]
            edge = min if key == Qt.Key.Key_Home else max
            self._walk(edge(ends, default=None))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self.zoom(2.0 if key == Qt.Key.Key_Minus else 0.5)
        elif key == Qt.Key.Key_F:
            self.follow()
        elif key == Qt.Key.Key_Escape and self.at is not None:
            self.point(None)
        else:
            event.ignore()  # it is the window's

    def _walk(self, step: float | None) -> None:
        """Moves the read-out, and the range with it where it would leave the plot."""
        low, high = self.box.viewRange()[0]
        if step is not None and not low <= step <= high:
            move = step - (low + high) / 2
            self.stop_following()
            self.setXRange(low + move, high + move, padding=0)
        self.point(step)


def _roomy(low: float, high: float, room: float) -> Range:
    """The range itself, or some room around a single value, which is then seen in the middle."""
    return (low, high) if high > low else (low - room, high + room)
