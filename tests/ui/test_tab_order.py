"""Tab goes to every control of every window, in the order in which one reads, and it is seen."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from fakes import DrawnWatch, FakeJobs
from judged_project import BEST, SECOND, context, filtered, work_of
from numpy.typing import NDArray
from packet_project import ANNA, give_out
from PySide6.QtCore import QMargins, QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QGraphicsView,
    QKeySequenceEdit,
    QRadioButton,
    QScrollArea,
    QTabBar,
    QTabWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot
from test_candidates_page import sample
from test_filtering_page import beside, iteration

from swag_studio import packet_exchange
from swag_studio import recipe as recipes
from swag_studio.allocation import OverlapPlan
from swag_studio.events import Metric
from swag_studio.judging import Judgement
from swag_studio.packet_answers import PacketAnswers
from swag_studio.packets import file_bytes
from swag_studio.policy import VerificationPolicy
from swag_studio.project import Project
from swag_studio.ui import again_dialog
from swag_studio.ui import help as sheets
from swag_studio.ui.annotate_keys import KeyMap, KeysDialog
from swag_studio.ui.annotate_page import AnnotatePage
from swag_studio.ui.application import Application
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.merge_dialog import MergeDialog
from swag_studio.ui.packet_window import PacketWindow
from swag_studio.ui.policy_dialog import PolicyDialog
from swag_studio.ui.restoring import BackupsDialog
from swag_studio.ui.review_dialogs import EditDialog, NameDialog, ReplaceDialog
from swag_studio.ui.start import NewProjectDialog
from swag_studio.ui.theme import ems
from swag_studio.ui.work_dialog import SimulateDialog, WorkDialog

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
    """A project in which everything was run, and two people judge; all pages are made."""
    recipe = recipes.preset("demo")
    project = filtered(tmp_path / "p.swag", recipe, [context(n) for n in range(8)])
    store = project.store
    store.put_metrics(1, [m for i in range(6) for m in iteration(i)] + beside(5))
    curve = [Metric("train_lm", "dev_ppl", i, 90.0 - i, {"fold": "0"}) for i in range(3)]
    store.put_metrics(1, curve)
    list(store.build_review(1, 1, {}))
    tasks = work_of(project).open_first_round(count=3)
    store.allocate((task.id, person) for task in tasks for person in ("a1", "a2"))
    for person, (labels, best, second) in {"a1": BEST, "a2": SECOND}.items():
        store.add_judgements([Judgement(tasks[0].id, person, tuple(labels), best, second)])
    sample(project, jobs, "dog", "cat", "ship")
    jobs.watch_reader = DrawnWatch("A man waits. / He / leaves.\n cat dog owl\n cat fox owl")
    project.close()
    window = application.open(tmp_path / "p.swag")
    assert window is not None
    window.resize(1280, 840)
    window.make_pages()
    return window


def sights(window: MainWindow, qtbot: QtBot) -> Iterator[str]:
    """Every page with each of its tabs, and the bench of who judges, when all is read."""
    for i, page in enumerate(window.pages):
        window.show_page(i)
        settle(window, qtbot)
        tabs = page.findChildren(QTabWidget)
        yield page.title
        for bar in tabs:
            for k in range(1, bar.count()):
                bar.setCurrentIndex(k)
                settle(window, qtbot)
                yield f"{page.title}, {bar.tabText(k)}"
        if isinstance(page, AnnotatePage):
            page.seat(window.workspace.project.store.annotators()[0])
            page.bench.ask_skip()  # type: ignore[union-attr]
            QApplication.processEvents()
            yield "Annotate, the bench"


def settle(window: MainWindow, qtbot: QtBot) -> None:
    for _ in range(3):  # what was read may ask again
        qtbot.waitUntil(lambda: not window.workspace.reader.busy, timeout=20_000)
        QApplication.processEvents()


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


def dialogs(window: MainWindow) -> dict[str, QDialog]:
    """One of each kind, shown by nobody yet."""
    plan = OverlapPlan(100, 2, 1)
    merge = packet_exchange.Merge("p", "Anna", (), 0, 0, (object(),), (), {})  # type: ignore[arg-type]
    rules = {
        "policy": ("Verdicts", "What follows", VerificationPolicy()),
        "more": ("More", "What else", VerificationPolicy()),
    }
    beginning = "A man waits. He"
    return {
        "new": NewProjectDialog(window),
        "backups": BackupsDialog(window.workspace.project.root, window),
        "again": again_dialog.ask(window.workspace, window),
        "sheet": sheets.keys(window),
        "keys": KeysDialog(KeyMap(), window),
        "work": WorkDialog([], 40, 4, plan, 0.1, 1, window),
        "simulate": SimulateDialog(40, 4, plan, window),
        "merge": MergeDialog("a.swagpacket", merge, window),
        "rules": PolicyDialog(rules, window),
        "name": NameDialog("Your name", "Beside each change", "Ada", window),
        "edit": EditDialog(beginning, "sits.", "leaves.", ["eats."], "", window),
        "replace": ReplaceDialog(beginning, "sits.", "leaves.", window),
    }


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


def test_tab_goes_through_the_start_window_and_a_packet(
    application: Application, project: Project, tmp_path: Path, qtbot: QtBot
) -> None:
    assert problems(application.show_start("Something is wrong.")) == []
    give_out(project)
    path = tmp_path / "Anna.swagpacket"
    path.write_bytes(file_bytes(packet_exchange.export(project.store, 7, ANNA)))
    packet = PacketWindow(PacketAnswers(path))
    qtbot.addWidget(packet)
    packet.show()
    qtbot.waitExposed(packet)
    packet.bench.ask_skip()
    QApplication.processEvents()
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
        top.activateWindow()
        top.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)  # as a press of Tab does
        for widget in sorted(controls(top), key=name):
            kind = type(widget).__name__, str(widget.property("role") or "")
            if kind not in rings and widget.height() > ems(widget, 1):
                rings[kind] = ring(widget, top)

    for _ in sights(window, qtbot):
        look(window)
    settings = application.show_settings(window)
    look(settings)
    assert {kind: share for kind, share in rings.items() if share < RING} == {}
    assert len(rings) > 20
