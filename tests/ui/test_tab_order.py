"""Tab goes to every control of every window, in the order in which one reads, and it is seen."""

from __future__ import annotations

import gc
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeJobs
from numpy.typing import NDArray
from PySide6.QtCore import QMargins, QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QGraphicsView,
    QKeySequenceEdit,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QTabBar,
    QTabWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot
from sights import dialogs, everything, packet_window, settle, sights

from swag_studio.project import Project
from swag_studio.ui.annotate_keys import KeyMap
from swag_studio.ui.application import Application
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.theme import ems

TAB = Qt.FocusPolicy.TabFocus
MOST = 200  # presses of Tab until a window must have come round
WHOLE = (
    QAbstractSpinBox,
    QComboBox,
    QGraphicsView,
    QKeySequenceEdit,
)  # what is inside is no control of its own


@pytest.fixture
def window(application: Application, jobs: FakeJobs, tmp_path: Path) -> MainWindow:
    return everything(application, jobs, tmp_path)


# --- the order, by brute force -----------------------------------------------------------------


def controls(top: QWidget) -> set[QWidget]:
    """What Tab has to go to. The arrows go from one radio button of a group to the next."""

    def counts(w: QWidget) -> bool:
        inside = isinstance(w.parentWidget(), WHOLE) or isinstance(w, QTabWidget)  # its bar counts
        alone = isinstance(w, QRadioButton) and not w.isChecked()
        return bool(w.focusPolicy() & TAB) and w.isEnabled() and not inside and not alone

    every = top.findChildren(QWidget)
    return {w for w in every if w.isVisible() and top.isAncestorOf(w) and counts(w)}


def walk(top: QWidget, key: Qt.Key = Qt.Key.Key_Tab) -> list[QWidget]:
    """What has the focus in turn, from the first control until Tab comes to one again."""
    seen: list[QWidget] = []
    for _ in range(MOST):
        here = top.focusWidget()
        if here in seen[:-1]:
            break
        if seen[-1:] != [here]:  # links of a text are gone through one by one
            seen.append(here)
        QTest.keyClick(here, key)
    at = min(range(len(seen)), key=lambda i: seen_at(seen[i], top))
    return seen[at:] + seen[:at]


def seen_at(widget: QWidget, top: QWidget) -> tuple[bool, int, int]:
    """Where it stands, by rows; last what is scrolled out of sight."""
    place = widget.mapTo(top, QPoint(0, 0))
    return widget.visibleRegion().isEmpty(), place.y(), place.x()


def path(widget: QWidget, top: QWidget) -> list[QWidget]:
    way = [widget]
    while way[0] is not top:
        way.insert(0, way[0].parentWidget())
    return way


def misread(order: list[QWidget], top: QWidget) -> list[str]:
    """Pairs whose blocks, where they part, stand the other way round; blocks that are torn."""
    ways = {w: path(w, top) for w in order}
    found = []
    for earlier, later in combinations(order, 2):
        steps = zip(ways[earlier], ways[later], strict=False)
        a, b = next(((a, b) for a, b in steps if a is not b), (earlier, later))
        one, other = a.geometry(), b.geometry()
        above = other.bottom() < one.top()
        before = other.right() < one.left() and other.top() <= one.bottom()
        if later in ways[earlier] or (earlier not in ways[later] and (above or before)):
            found.append(f"{name(later)} stands before {name(earlier)}")
    for block in {b for way in ways.values() for b in way}:
        places = [i for i, w in enumerate(order) if block in ways[w]]
        if places[-1] - places[0] >= len(places):
            found.append(f"{name(block)} is torn")
    return found


def name(w: QWidget) -> str:
    text = getattr(w, "text", str)
    return f"{type(w).__name__} {w.accessibleName() or (text() if callable(text) else '')}".strip()


def problems(top: QWidget) -> list[str]:
    top.activateWindow()
    wanted = controls(top)
    next(iter(wanted)).setFocus()
    order = walk(top)
    missed = [f"{name(w)} is not reached" for w in wanted - set(order)]
    return missed + misread(order, top)


def test_tab_goes_through_every_page_as_one_reads(window: MainWindow, qtbot: QtBot) -> None:
    found = {sight: problems(window) for sight in sights(window, qtbot)}
    assert {sight: told for sight, told in found.items() if told} == {}
    assert len(found) > 20
    gc.collect()
    assert [page.title for page in window.pages if page.width() == 0] == []  # they are all alive


def test_a_legend_is_read_between_its_heading_and_its_plot(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.show_titled("Filtering")
    settle(window, qtbot)
    window.activateWindow()
    window.step_bar.button(3).setFocus()
    order = [name(w) for w in walk(window)]
    first = order.index("QToolButton Save chart Accuracy of the classifiers")
    legend = ["ensemble", "MLP", "bag of words", "CNN", "POS biLSTM"]
    assert order[first + 1 : first + 6] == [f"QToolButton {word}" for word in legend]
    assert "Plot Accuracy of the classifiers" in order[first + 6 :]
    back = [name(w) for w in walk(window, Qt.Key.Key_Backtab)]
    assert back[:1] + back[:0:-1] == order


def test_tab_goes_through_every_dialog_as_one_reads(
    application: Application, window: MainWindow, qtbot: QtBot
) -> None:
    found = {}
    for title, dialog in {"settings": application.show_settings(window), **dialogs(window)}.items():
        dialog.show()
        QApplication.processEvents()
        found[title] = problems(dialog)
        dialog.close()
    settle(window, qtbot)
    assert {title: told for title, told in found.items() if told} == {}


def test_escape_leaves_every_dialog_wherever_the_focus_is(
    application: Application, window: MainWindow, qtbot: QtBot
) -> None:
    """But one that says how far a change is: what it began is to be stopped, or done."""
    settle(window, qtbot)
    shown = dialogs(window)
    shown.pop("step").close()
    for title, dialog in shown.items():
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        dialog.show()
        for stop in controls(dialog):
            dialog.show()
            stop.setFocus()
            QTest.keyClick(stop, Qt.Key.Key_Escape)
            assert dialog.isHidden(), f"{title}, {name(stop)}"
    assert shown["keys"].keymap.keys == KeyMap().keys  # type: ignore[attr-defined]


def show(dialog: QWidget) -> None:
    dialog.show()
    dialog.activateWindow()
    QApplication.processEvents()


def test_a_dialog_begins_where_something_is_to_be_written(window: MainWindow, qtbot: QtBot) -> None:
    settle(window, qtbot)
    for title, field in {"new": QLineEdit, "name": QLineEdit, "edit": QPlainTextEdit}.items():
        dialog = dialogs(window)[title]
        show(dialog)
        assert isinstance(dialog.focusWidget(), field), title
        dialog.close()
    keys = dialogs(window)["keys"]
    show(keys)  # a key that is pressed too soon is nobody's
    assert isinstance(keys.focusWidget(), QPushButton)
    keys.close()


def test_tab_goes_through_the_start_window_and_a_packet(
    application: Application, project: Project, tmp_path: Path, qtbot: QtBot
) -> None:
    assert problems(application.show_start("Something is wrong.")) == []
    packet = packet_window(project, tmp_path, qtbot)
    assert problems(packet) == []
    packet.leave()


# --- the focus is seen -------------------------------------------------------------------------

RING = 0.4  # of a line of one pixel around the control changes with the focus, by 3:1 at least


def brightness(top: QWidget, area: QRect) -> NDArray[np.float64]:
    """(height, width) the relative luminance of WCAG 2."""
    image = top.grab(area).toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    pixels = rows[:, : 3 * image.width()].reshape(image.height(), -1, 3) / 255.0
    linear = np.where(pixels <= 0.04045, pixels / 12.92, ((pixels + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def ring(widget: QWidget, top: QWidget) -> float:
    """The pixels at a control that the focus changes by 3:1, as a share of its circumference."""
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    for block in path(widget, top):
        if isinstance(block, QScrollArea):
            block.ensureWidgetVisible(widget)
    QApplication.processEvents()
    area = widget.rect()
    if isinstance(widget, QTabBar):
        area = widget.tabRect(widget.currentIndex())
    area.translate(widget.mapTo(top, QPoint(0, 0)))
    wide = area.marginsAdded(QMargins(2, 2, 2, 2))
    focused = brightness(top, wide)
    widget.clearFocus()
    QApplication.processEvents()
    free = brightness(top, wide)
    contrast = (np.maximum(focused, free) + 0.05) / (np.minimum(focused, free) + 0.05)
    return float((contrast >= 3).sum() / (2 * (area.width() + area.height())))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_focus_is_seen_on_every_kind_of_control(
    application: Application, window: MainWindow, qtbot: QtBot, theme: str
) -> None:
    application.change_settings(theme=theme)
    rings: dict[tuple[str, str], float] = {}

    def look(top: QWidget) -> None:
        with qtbot.waitActive(top):  # else the focus is not seen
            top.activateWindow()
        top.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)  # as a press of Tab does
        for widget in sorted(controls(top), key=lambda w: (name(w), seen_at(w, top))):
            kind = type(widget).__name__, str(widget.property("role") or "")
            if kind not in rings and widget.height() > ems(widget, 1):
                rings[kind] = ring(widget, top)

    for _ in sights(window, qtbot):
        look(window)
    settings = application.show_settings(window)
    look(settings)
    assert {kind: share for kind, share in rings.items() if share < RING} == {}
    assert len(rings) > 20
