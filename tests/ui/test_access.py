"""What holds for every window: names for those who hear it, room for large text, no leaks."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QListView, QWidget

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


@pytest.fixture
def window(application: Application, tmp_path: Path) -> MainWindow:
    Project.create(tmp_path / "p.swag", recipes.preset("demo")).close()
    window = application.open(tmp_path / "p.swag")
    assert window is not None
    window.make_pages()
    for late in window.findChildren(Late):
        late.content()
    return window


def nameless(top: QWidget) -> list[str]:
    """Controls that take the focus and have no name to be read out."""
    buddies = {label.buddy() for label in top.findChildren(QLabel)}
    found = []
    for widget in top.findChildren(QWidget):
        takes_focus = widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        inside = widget.objectName().startswith("qt_") or type(widget) is QListView  # a combo's
        words = widget.text() if isinstance(widget, QAbstractButton | QLabel) else ""
        hidden = widget.isHidden() or isinstance(widget, QLabel)
        named = widget.accessibleName() or words or widget in buddies
        if takes_focus and not inside and not hidden and not named:
            found.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
    return found


def test_every_control_has_a_name(application: Application, window: MainWindow) -> None:
    settings = application.show_settings(window)
    assert nameless(window) == [] and nameless(settings) == []
    start = application.show_start()
    start.new_requested.emit()
    assert nameless(start) == []
    settings.close()


def test_the_largest_text_fits_a_small_screen(application: Application, window: MainWindow) -> None:
    application.change_settings(text_percent=200)
    window.resize(1024, 700)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (1024, 700)
    for i, page in enumerate(window.pages):
        window.show_page(i)
        QApplication.processEvents()
        assert page.minimumSizeHint().width() <= window.stack.width(), page.title


def test_dialogs_come_and_go(application: Application, window: MainWindow) -> None:
    def all_widgets() -> int:
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        return len(QApplication.allWidgets())

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
    assert all_widgets() == before


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
    return bytes(pixmap.toImage().constBits())


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
