"""Charts driven as a person does, and what they draw, save and cost."""

from __future__ import annotations

import csv
import ctypes
import gc
import io
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
import pyqtgraph
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from swag_studio.series import smoothed
from swag_studio.ui.charts import Chart
from swag_studio.ui.theme import DARK, LIGHT

MakeChart = Callable[..., Chart]


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[MakeChart]:
    """Shows a chart of its own size, which is told of every move of the pointer."""
    rate = pyqtgraph.getConfigOption("mouseRateLimit")  # a second: of quicker ones some are dropped
    pyqtgraph.setConfigOption("mouseRateLimit", 0)

    def make(title: str = "Accuracy", **options: object) -> Chart:
        chart = Chart(title, LIGHT, **options)  # type: ignore[arg-type]
        qtbot.addWidget(chart)
        chart.resize(600, 360)
        with qtbot.waitExposed(chart):
            chart.show()
        return chart

    yield make
    pyqtgraph.setConfigOption("mouseRateLimit", rate)


def x_range(chart: Chart) -> tuple[float, float]:
    low, high = chart.plot.box.viewRange()[0]
    return low, high


def y_range(chart: Chart) -> tuple[float, float]:
    low, high = chart.plot.box.viewRange()[1]
    return low, high


def drawn(chart: Chart, key: str) -> tuple[np.ndarray, np.ndarray]:
    """The strong line of a series, as the plot has it."""
    line = chart.plot.series[key].strong
    return line.x, line.y


def fill(chart: Chart, key: str, values: list[float], label: str = "") -> None:
    chart.add_series(key, label or key)
    chart.put_many(key, list(range(len(values))), values)
    chart.refresh()


def colours(image: QImage) -> set[str]:
    """Those of every pixel."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)  # its bits are gone when it is
    pixels = np.frombuffer(plain.constBits(), "<u4").copy()
    return {f"#{value & 0xFFFFFF:06x}" for value in np.unique(pixels)}


def click(qtbot: QtBot, chart: Chart, label: str) -> None:
    button = next(b for b in chart.findChildren(QToolButton) if b.text() == label)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


# --- what is drawn -------------------------------------------------------------------------------


def test_a_series_is_drawn_raw_and_smoothed(make: MakeChart) -> None:
    chart = make()
    values = [0.1, 0.9, 0.2, 0.8]
    fill(chart, "a", values)
    series = chart.plot.series["a"]
    assert series.thin is not None
    assert series.thin.y.tolist() == values
    assert drawn(chart, "a")[1] == pytest.approx(smoothed(values, 0.8))


def test_points_that_come_are_drawn_at_the_next_refresh(make: MakeChart) -> None:
    chart = make(smooth=0.0)
    fill(chart, "a", [1.0, 2.0])
    chart.put("a", 7, 5.0)
    assert drawn(chart, "a")[0].tolist() == [0, 1]
    chart.refresh()
    assert drawn(chart, "a")[0].tolist() == [0, 1, 7]
    assert x_range(chart)[1] >= 7 and y_range(chart)[1] >= 5


def test_a_constant_series_is_a_level_line_in_the_middle(make: MakeChart) -> None:
    chart = make()
    fill(chart, "a", [0.3] * 50)
    assert (drawn(chart, "a")[1] == 0.3).all()
    low, high = y_range(chart)
    assert (low + high) / 2 == pytest.approx(0.3) and high - low > 0.01


def test_a_lone_point_shows(make: MakeChart) -> None:
    chart = make()
    chart.add_series("a", "a")
    chart.refresh()
    before = colours(chart.plot.grab().toImage())
    chart.put("a", 3, 0.5)
    chart.refresh()
    assert LIGHT.series[0] in colours(chart.plot.grab().toImage()) - before


def test_zooming_in_shows_the_true_points(make: MakeChart) -> None:
    chart = make(smooth=0.0)
    values = np.random.default_rng(1).normal(size=50_000)
    fill(chart, "a", values.tolist())
    assert len(drawn(chart, "a")[0]) < 3000
    chart.plot.setXRange(20_000, 20_050, padding=0)
    x, y = drawn(chart, "a")
    assert x.tolist() == list(range(19_999, 20_052))
    assert y.tolist() == values[19_999:20_052].tolist()


def test_logarithms_are_shown_for_values_above_zero(make: MakeChart) -> None:
    chart = make(log=True, smooth=0.0)
    fill(chart, "a", [1000.0, 100.0, 0.0, 10.0])
    chart.set_reference_lines([(10.0, "ten")])
    places = drawn(chart, "a")[1]
    assert places == pytest.approx([3.0, 2.0, math.nan, 1.0], nan_ok=True)
    assert 0.5 < y_range(chart)[0] < 1.0 and 3.0 < y_range(chart)[1] < 3.5
    chart.set_log_y(False)
    assert drawn(chart, "a")[1].tolist() == [1000.0, 100.0, 0.0, 10.0]
    assert y_range(chart)[1] > 1000


def test_limits_are_shown_at_least(make: MakeChart) -> None:
    chart = make()
    chart.set_y_limits(0.0, 1.0)
    fill(chart, "a", [0.4, 0.5])
    assert y_range(chart)[0] <= 0 and 1 <= y_range(chart)[1] < 1.1
    chart.put("a", 2, 3.0)
    chart.refresh()
    assert y_range(chart)[1] >= 3


def test_a_chart_that_nobody_sees_draws_when_it_is_shown(make: MakeChart) -> None:
    chart = make(smooth=0.0)
    chart.hide()
    fill(chart, "a", [1.0, 2.0])
    assert drawn(chart, "a")[0].tolist() == []
    chart.show()
    assert drawn(chart, "a")[0].tolist() == [0, 1]


def test_removed_series_leave_nothing(make: MakeChart, qapp: QApplication) -> None:
    chart = make()
    empty = colours(chart.plot.grab().toImage())
    fill(chart, "a", [0.1, 0.2])
    fill(chart, "b", [0.9, 0.8])
    chart.remove_series("a")
    chart.remove_series("a")  # it is gone, and that is well
    assert chart.values_at(0) == "iteration 0\nb: 0.9"
    chart.set_reference_lines([(0.5, "half")])
    chart.set_mark("m", 1, "here")
    chart.clear()
    qapp.processEvents()
    assert chart.values_at(0) == "" and "series,step" in chart.to_csv()
    left = colours(chart.plot.grab().toImage()) - empty
    assert left.isdisjoint(LIGHT.series)
    fill(chart, "a", [0.1, 0.2])  # the key is free again
    assert drawn(chart, "a")[0].tolist() == [0, 1]


def test_an_overlaid_run_is_dashed_and_faint(make: MakeChart) -> None:
    chart = make()
    fill(chart, "a", [0.1, 0.2])
    fill(chart, "old", [0.3, 0.2])
    chart.set_series_style("old", look=0, dash=True, faint=True)
    now, old = (chart.plot.series[key].strong.pen for key in ("a", "old"))
    assert now.style() == Qt.PenStyle.SolidLine and old.style() == Qt.PenStyle.DashLine
    assert old.widthF() < now.widthF()
    assert now.color().name() == LIGHT.series[0]
    assert now.color().lightness() < old.color().lightness() < QColor(LIGHT.surface).lightness()
    chart.set_series_style("old", dash=False, faint=False)
    assert chart.plot.series["old"].strong.pen == now


def test_the_legend_hides_and_shows(make: MakeChart, qtbot: QtBot) -> None:
    chart = make()
    fill(chart, "a", [0.1, 0.2], "first")
    fill(chart, "b", [5.0, 6.0], "second")
    click(qtbot, chart, "second")
    assert "second" not in chart.values_at(0)
    assert LIGHT.series[1] not in colours(chart.plot.grab().toImage())
    assert y_range(chart)[1] < 1  # it follows what is seen
    click(qtbot, chart, "second")
    assert y_range(chart)[1] > 6


def test_a_theme_reaches_everything_that_is_drawn(make: MakeChart) -> None:
    chart = make()
    fill(chart, "a", [0.1, 0.2, 0.3])
    fill(chart, "b", [0.3, 0.2, 0.1])
    chart.set_reference_lines([(0.25, "chance")])
    chart.set_mark("m", 1, "phase")
    chart.plot.point(1)
    light = colours(chart.grab().toImage())
    chart.set_theme(DARK)
    chart.set_mark("later", 2, "phase")
    dark = colours(chart.grab().toImage())
    assert {LIGHT.surface, LIGHT.text, LIGHT.series[0], LIGHT.series[1]} <= light
    assert {DARK.surface, DARK.text, DARK.muted, DARK.series[0], DARK.series[1]} <= dark
    plot = colours(chart.plot.grab().toImage())
    assert plot.isdisjoint({LIGHT.surface, LIGHT.text, LIGHT.muted, *LIGHT.series})


# --- following, zooming, linking -----------------------------------------------------------------


def scroll(chart: Chart) -> None:
    """The wheel over the middle of the plot."""
    view = chart.plot.viewport()
    middle = QPointF(view.rect().center())
    none = Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        middle, QPointF(view.mapToGlobal(middle.toPoint())), QPoint(), QPoint(0, 120),
        Qt.MouseButton.NoButton, none, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view, event)


def test_a_zoomed_chart_stays_until_it_follows_again(make: MakeChart, qtbot: QtBot) -> None:
    chart = make()
    told: list[bool] = []
    chart.follow_changed.connect(told.append)
    fill(chart, "a", [0.1, 0.2, 0.3])
    scroll(chart)
    assert not chart.following and chart.follow_button.isVisible()
    seen = x_range(chart)
    chart.put("a", 100, 0.5)
    chart.refresh()
    assert x_range(chart) == seen
    qtbot.mouseClick(chart.follow_button, Qt.MouseButton.LeftButton)
    assert chart.following and not chart.follow_button.isVisible()
    assert x_range(chart)[1] >= 100
    assert told == [False, True]


def test_linked_charts_show_one_range_and_follow_together(make: MakeChart) -> None:
    one, two, three = make("one"), make("two"), make("three")
    one.link_x(two)
    two.link_x(three)
    fill(one, "a", [1.0] * 50)
    fill(two, "a", [2.0] * 10)
    fill(three, "a", [3.0] * 100)
    assert x_range(one) == x_range(two) == x_range(three)
    assert x_range(one)[1] >= 99
    scroll(two)
    assert x_range(one) == x_range(two) == x_range(three)
    assert not one.following and not three.following
    three.follow()
    assert one.following and x_range(one) == x_range(two) and x_range(one)[1] >= 99


def test_a_linked_chart_fits_new_values_that_came_before_another_was_painted(
    make: MakeChart,
) -> None:
    """As a run tells them: a step of every chart, then all are painted."""
    one, two = make("one"), make("two")
    one.link_x(two)
    for chart in (one, two):
        fill(chart, "a", [1.0, 2.0])
    for step, value in ((2, 50.0), (3, -50.0)):
        for chart in (one, two):
            chart.put("a", step, value)
        for chart in (one, two):
            chart.refresh()
        for chart in (one, two):
            low, high = y_range(chart)
            assert low < value < high and low < 1.0 < high


def test_a_linked_chart_that_is_gone_is_not_missed(make: MakeChart, qapp: QApplication) -> None:
    one, two = make("one"), make("two")
    one.link_x(two)
    two.close()
    two.deleteLater()
    qapp.sendPostedEvents(two, 52)  # DeferredDelete
    fill(one, "a", [1.0, 2.0])
    one.plot.point(1)
    scroll(one)
    assert not one.following


# --- reading out ---------------------------------------------------------------------------------


def move(widget: QWidget, place: QPoint) -> None:
    """The pointer over a widget. By QTest it would go to any window that lies over it."""
    none = Qt.MouseButton.NoButton
    at, over = QPointF(place), QPointF(widget.mapToGlobal(place))
    plain = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(widget, QMouseEvent(QEvent.Type.MouseMove, at, over, none, none, plain))


def test_the_pointer_reads_out_all_linked_charts(make: MakeChart) -> None:
    one, two = make("one", percent=True), make("two", x_label="step")
    one.link_x(two)
    fill(one, "a", [0.25, 0.5, 0.75], "mlp")
    fill(two, "b", [7.0, 8.0, 9.0], "bow")
    place = one.plot.mapFromScene(one.plot.box.mapViewToScene(QPointF(1.1, 0.5)))
    move(one.plot.viewport(), place)
    assert one.readout.text() == "iteration 1\nmlp: 50.0%"
    assert two.readout.text() == "step 1\nbow: 8"
    assert one.readout.isVisible() and two.readout.isVisible()
    assert one.plot.rect().contains(one.readout.geometry())


def test_a_chart_whose_series_are_all_hidden_reads_out_nothing(make: MakeChart) -> None:
    one, two = make("one"), make("two")
    one.link_x(two)
    fill(one, "a", [7.0, 8.0])
    fill(two, "b", [1.0, 2.0])
    two.set_visible("b", False)
    place = one.plot.mapFromScene(one.plot.box.mapViewToScene(QPointF(0.9, 7.5)))
    move(one.plot.viewport(), place)
    assert one.readout.text() == "iteration 1\na: 8" and not two.readout.isVisible()
    two.set_visible("b", True)
    move(one.plot.viewport(), place)
    assert two.readout.text() == "iteration 1\nb: 2" and two.readout.isVisible()


def test_a_series_without_a_value_at_the_step_says_so(make: MakeChart) -> None:
    chart = make(percent=True)
    fill(chart, "a", [0.1] * 10, "mlp")
    chart.add_series("b", "bow")
    chart.put("b", 20, 0.5)
    assert chart.values_at(9) == "iteration 9\nmlp: 10.0%\nbow: –"
    assert chart.values_at(19) == "iteration 20\nmlp: –\nbow: 50.0%"


def test_keys_move_the_readout_zoom_and_follow(make: MakeChart, qtbot: QtBot) -> None:
    chart = make()
    fill(chart, "a", [float(i) for i in range(100)])
    chart.plot.setFocus()
    key = Qt.Key

    def press(*keys: Qt.Key) -> float | None:
        for one in keys:
            qtbot.keyClick(chart.plot, one)
        return chart.plot.at

    assert press(key.Key_Right) == 99
    assert press(key.Key_Left, key.Key_Left) == 97
    assert press(key.Key_Home) == 0
    assert press(key.Key_Left) == 0
    assert press(key.Key_Right) == 1
    assert chart.plot.accessibleDescription() == "iteration 1, a: 1"
    whole = x_range(chart)
    press(key.Key_Plus)
    low, high = x_range(chart)
    assert high - low == pytest.approx((whole[1] - whole[0]) / 2) and low < 1 < high
    assert not chart.following
    assert press(key.Key_End) == 99
    assert x_range(chart)[0] < 99 < x_range(chart)[1]  # what is read is seen
    press(key.Key_Minus, key.Key_Minus)
    assert x_range(chart)[1] - x_range(chart)[0] > whole[1] - whole[0]
    press(key.Key_F)
    assert chart.following and x_range(chart) == pytest.approx(whole)
    assert press(key.Key_Escape) is None
    assert not chart.readout.isVisible()


def test_keys_of_the_window_pass_through(make: MakeChart, qtbot: QtBot) -> None:
    chart = make()
    assert chart.plot.focusPolicy() == Qt.FocusPolicy.StrongFocus
    passed: list[int] = []
    chart.keyPressEvent = lambda event: passed.append(event.key())  # type: ignore[method-assign]
    qtbot.keyClick(chart.plot, Qt.Key.Key_F5)
    qtbot.keyClick(chart.plot, Qt.Key.Key_F)
    assert passed == [Qt.Key.Key_F5]


# --- saving --------------------------------------------------------------------------------------


def full(make: MakeChart) -> Chart:
    chart = make("Held-out accuracy", percent=True, y_label="accuracy")
    fill(chart, "a", [0.5, 0.4, 0.3], "bag & words")
    fill(chart, "b", [0.6, math.nan, 0.2], "MLP <raw>")
    fill(chart, "c", [0.9, 0.9, 0.9], "hidden")
    chart.set_visible("c", False)
    chart.set_reference_lines([(0.25, "chance 25%")])
    chart.set_mark("m", 1, "all members")
    return chart


def test_an_svg_holds_title_legend_axes_and_lines(make: MakeChart, tmp_path: Path) -> None:
    path = tmp_path / "chart.svg"
    full(make).save(path)
    root = ElementTree.parse(path).getroot()
    texts = {"".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("text")}
    assert {"Held-out accuracy", "bag & words", "MLP <raw>"} <= texts
    assert {"chance 25%", "all members", "accuracy", "iteration"} <= texts
    assert "40%" in texts and "hidden" not in texts
    lines = [e for e in root.iter() if e.tag.endswith("polyline")]
    assert max(len(e.attrib["points"].split()) for e in lines) >= 3
    assert not [e for e in root.iter() if e.tag.endswith("image")]  # all of it scales


def test_a_png_holds_title_legend_and_lines(make: MakeChart, tmp_path: Path) -> None:
    chart, path = full(make), tmp_path / "chart.png"
    chart.save(path)
    image = QImage(str(path))
    view = chart.plot.viewport()
    assert image.width() >= 2 * view.width() and image.height() > 2 * view.height()
    head = image.copy(0, 0, image.width(), image.height() - 2 * view.height())
    assert {LIGHT.text, LIGHT.series[0], LIGHT.series[1]} <= colours(head)
    assert LIGHT.series[2] not in colours(image)


def test_a_csv_holds_every_value(make: MakeChart, tmp_path: Path) -> None:
    path = tmp_path / "chart.csv"
    full(make).save(path)
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert [r["series"] for r in rows] == ["bag & words"] * 3 + ["MLP <raw>"] * 3 + ["hidden"] * 3
    assert [float(r["value"]) for r in rows[:3]] == [0.5, 0.4, 0.3]
    assert [float(r["smoothed"]) for r in rows[:3]] == smoothed([0.5, 0.4, 0.3], 0.8).tolist()
    assert rows[4]["value"] == "nan"


# --- cost ----------------------------------------------------------------------------------------


class Heap(ctypes.Structure):
    """What mallinfo2 of glibc tells, by its own names."""

    _fields_: ClassVar = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def held() -> int:
    """Bytes that C and C++ hold, counted one by one; 0 where the C library does not count."""
    try:
        look = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return 0
    look.restype = Heap
    heap = look()
    return int(heap.uordblks + heap.hblkhd)


def test_500_frames_leave_no_references_and_no_memory(make: MakeChart) -> None:
    """Some releases of PySide6 lose, or gain, a handful of references to None per painted frame.

    500 frames of them would be thousands; what stays within 50 is caches that fill. They also
    take some hundreds of blocks of Python, and the points themselves some 0.2 MB of C. What is
    held is counted: the memory of a process goes by what its allocators keep, too.
    """
    chart = make()
    chart.resize(300, 200)
    for key in ("a", "b"):
        chart.add_series(key, key)
        chart.put_many(key, list(range(-2000, 0)), [0.5] * 2000)
    step = 0

    def frames(count: int) -> None:
        nonlocal step
        for _ in range(count):
            for key in ("a", "b"):
                chart.put(key, step, math.sin(step))
            chart.refresh()
            chart.plot.viewport().repaint()
            step += 1
        gc.collect()

    frames(60)
    references, blocks, memory = sys.getrefcount(None), sys.getallocatedblocks(), held()
    frames(500)
    assert abs(sys.getrefcount(None) - references) < 50
    assert sys.getallocatedblocks() - blocks < 2000
    assert held() - memory < 2**20
