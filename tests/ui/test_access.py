"""What holds for every window: names for those who hear it, room for large text, no leaks."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from fakes import FakeJobs
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QPixmap
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QKeySequenceEdit,
    QLabel,
    QListView,
    QWidget,
)
from pytestqt.qtbot import QtBot
from sights import dialogs, everything, packet_window, settle, sights

from swag_studio import recipe as recipes
from swag_studio.project import Project
from swag_studio.ui import help as sheets
from swag_studio.ui import messages
from swag_studio.ui.application import Application
from swag_studio.ui.charts import Chart
from swag_studio.ui.filter_curves_panel import BROKEN, LOOKS, VERDICTS
from swag_studio.ui.late import Late
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.page import STATE_MARKS, STATE_WORDS
from swag_studio.ui.theme import DARK, LIGHT, Theme

NEXT_TO = Qt.FindChildOption.FindDirectChildrenOnly


@pytest.fixture
def window(application: Application, tmp_path: Path, qtbot: QtBot) -> MainWindow:
    Project.create(tmp_path / "p.swag", recipes.preset("demo")).close()
    window = application.open(tmp_path / "p.swag")
    assert window is not None
    window.make_pages()
    for late in window.findChildren(Late):
        late.content()
    settle(window, qtbot)
    return window


def nameless(top: QWidget) -> list[str]:
    """Controls that take the focus and have no name to be read out."""
    return [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for widget in top.findChildren(QWidget)
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and not (widget.isHidden() or inside(widget) or heard(widget))
    ]


def inside(widget: QWidget) -> bool:
    """Whether it is a part of a control, or a text that is read for itself."""
    parts = isinstance(widget.parent(), QAbstractSpinBox | QComboBox | QKeySequenceEdit)
    own = widget.objectName().startswith("qt_") or type(widget) is QListView  # a combo's
    return parts or own or isinstance(widget, QLabel)


def heard(widget: QWidget) -> str:
    """What a screen reader is told, which is not the label that stands beside another widget."""
    if isinstance(widget, QComboBox):  # its name is its value, and it is told its label as well
        labels = widget.parentWidget().findChildren(QLabel, options=NEXT_TO)
        return widget.accessibleName() or next(
            (w.text() for w in labels if w.buddy() is widget), ""
        )
    return str(QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name))


def test_every_control_of_a_project_has_a_name(
    application: Application, jobs: FakeJobs, tmp_path: Path, qtbot: QtBot
) -> None:
    window = everything(application, jobs, tmp_path)
    found = {sight: nameless(window) for sight in sights(window, qtbot)}
    assert len(found) > 20
    for title, dialog in {"settings": application.show_settings(window), **dialogs(window)}.items():
        dialog.show()
        found[title] = nameless(dialog)
        dialog.close()
    settle(window, qtbot)
    assert {sight: told for sight, told in found.items() if told} == {}


def test_every_control_of_an_empty_project_has_a_name(window: MainWindow) -> None:
    assert nameless(window) == []


def test_every_control_outside_of_a_project_has_a_name(
    application: Application, project: Project, tmp_path: Path, qtbot: QtBot
) -> None:
    start = application.show_start("Something is wrong.")
    start.offer("Mend it", lambda: None)
    packet = packet_window(project, tmp_path, qtbot)
    assert nameless(start) == [] and nameless(packet) == []
    packet.leave()


def test_the_largest_text_fits_a_small_screen(
    application: Application, window: MainWindow, qtbot: QtBot
) -> None:
    application.change_settings(text_percent=200)
    window.resize(1024, 700)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (1024, 700)
    for i, page in enumerate(window.pages):
        window.show_page(i)
        settle(window, qtbot)
        assert page.minimumSizeHint().width() <= window.stack.width(), page.title


def test_dialogs_come_and_go(application: Application, window: MainWindow) -> None:
    def all_widgets() -> set[QWidget]:
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        return set(QApplication.allWidgets())

    makers = [
        lambda: application.show_settings(window),
        lambda: sheets.keys(window),
        lambda: sheets.about(window),
    ]
    for maker in makers:  # what Qt makes once and keeps
        maker().close()
    before = all_widgets()
    for i in range(12):
        dialog = makers[i % len(makers)]()
        dialog.show()
        dialog.close()
        gc.collect()
    assert all_widgets() <= before  # what earlier tests left may go meanwhile


# --- not by colour alone -----------------------------------------------------------------------


def grey(theme: Theme) -> Theme:
    """A look in which all that colours tell is lost."""
    one = theme.text
    return replace(theme, series=(one,) * len(theme.series), good=one, warn=one, bad=one)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_are_told_apart_without_their_colours(qapp: QApplication, theme: Theme) -> None:
    """Members by dash and mark; the same member of other runs by the dash."""
    chart = Chart("", grey(theme))
    for look in range(len(LOOKS) + 1):
        chart.add_series(f"{look}", "", look=look)
    for i, dash in enumerate(BROKEN):
        chart.add_series(f"run {i}", "", look=0)
        chart.set_series_style(f"run {i}", faint=True, dash=dash)
    swatches = [pixels(s.swatch(chart.theme).pixmap(60, 24)) for s in chart.plot.series.values()]
    assert all(a != b for a, b in combinations(swatches, 2))
    ends = [(s.mark, s.dash()) for s in chart.plot.series.values()]
    assert len(set(ends)) == len(ends)
    chart.deleteLater()


def pixels(pixmap: QPixmap) -> bytes:
    image = pixmap.toImage()  # its bits are gone when it is
    return bytes(image.constBits())


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        (list(STATE_MARKS.values()), list(STATE_WORDS.values())),
        ([mark for mark, _, _ in VERDICTS.values()], [word for _, word, _ in VERDICTS.values()]),
        (list(messages.MARKS.values()), list(messages.MARKS)),
    ],
)
def test_states_have_marks_and_words(marks: Sequence[str], words: Sequence[str]) -> None:
    assert len(set(marks)) == len(set(words)) == len(marks)
