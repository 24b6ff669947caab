"""What pages and dialogs are made of: heights that follow the text, room that is shared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import Page, Stack, grow, prose, splitter
from swag_studio.ui.tables import shared
from swag_studio.ui.workspace import Workspace

LINES = 12


class Parted(Page):
    """Buttons that wrap above a part that keeps its height."""

    title = "Parted"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        buttons = FlowLayout()
        for i in range(12):
            buttons.addWidget(QPushButton(f"Button number {i}"))
        self.part = splitter(Qt.Orientation.Horizontal)
        self.part.addWidget(prose("", "A long sentence that wraps. " * 40))
        self.part.addWidget(QWidget())
        self.keep_height(self.part, LINES)
        self.body.addLayout(buttons)
        self.body.addWidget(self.part, 1)


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> Iterator[Parted]:
    page = Parted(workspace)
    qtbot.addWidget(page)
    page.show()
    yield page


def line(widget: QWidget) -> int:
    return widget.fontMetrics().lineSpacing()


def test_a_part_keeps_its_lines_whatever_their_size(page: Parted) -> None:
    before = page.part.minimumHeight()
    assert before == LINES * line(page)
    font = page.font()
    font.setPointSizeF(2 * font.pointSizeF())
    page.setFont(font)
    assert page.part.minimumHeight() == LINES * line(page) > 1.5 * before
    page.keep_height(page.part, 3)
    assert page.part.minimumHeight() == 3 * line(page)


@pytest.mark.parametrize("width", [400, 700, 1400])
def test_a_page_that_has_its_least_height_cuts_nothing_off(page: Parted, width: int) -> None:
    least = page.heightForWidth(width)
    page.resize(width, least)
    assert page.height() == least  # nothing asks for more
    assert page.part.height() >= LINES * line(page)
    assert page.part.geometry().bottom() < page.height()
    buttons = page.findChildren(QPushButton)
    lowest = max(b.geometry().bottom() for b in buttons if b is not page.action)
    assert lowest < page.part.geometry().top()


def test_a_narrow_page_is_higher_for_its_rows_alone(page: Parted) -> None:
    """What wraps in a part that has its lines scrolls there: it asks for no more."""
    rows = (page.heightForWidth(width) for width in (400, 1400))
    narrow, wide = rows
    button = page.findChildren(QPushButton)[-1].sizeHint().height()
    assert 0 < narrow - wide < 12 * (button + 4)


def test_of_a_stack_only_what_is_shown_takes_room(qtbot: QtBot) -> None:
    low, high = QLabel("low"), QWidget()
    high.setMinimumHeight(900)
    stack = Stack(low, high)
    qtbot.addWidget(stack)
    stack.show()
    assert stack.shown is low and stack.minimumSizeHint().height() < 100
    stack.show_only(high)
    assert high.isVisible() and not low.isVisible()
    assert stack.minimumSizeHint().height() == 900


def told(qtbot: QtBot, words: int) -> tuple[QDialog, QLabel]:
    dialog = QDialog()
    label = prose("", "short")
    column = QVBoxLayout(dialog)
    column.addWidget(label)
    column.addWidget(QPushButton("Close"))
    qtbot.addWidget(dialog)
    dialog.resize(300, 120)
    dialog.show()
    label.setText("word " * words)
    return dialog, label


def test_a_dialog_grows_with_its_text_and_only_grows(qtbot: QtBot) -> None:
    dialog, label = told(qtbot, 200)
    grow(dialog)
    assert dialog.width() == 300 and dialog.height() > 120
    assert label.height() >= label.heightForWidth(label.width())
    high = dialog.height()
    label.setText("short again")
    grow(dialog)
    assert dialog.height() == high  # what is read does not jump


def test_a_dialog_grows_no_larger_than_the_screen(qtbot: QtBot) -> None:
    dialog, label = told(qtbot, 20_000)
    label.setMinimumHeight(1)
    grow(dialog)
    assert dialog.height() <= dialog.screen().availableSize().height()


def test_width_is_shared_by_need_and_then_evenly() -> None:
    assert shared(100, [20, 90]) == [20, 80]
    assert shared(100, [80, 90]) == [50, 50]
    assert shared(100, [20, 30]) == [45, 55]
    assert shared(100, []) == []


@example(-50, [0])
@given(st.integers(-50, 2000), st.lists(st.integers(0, 800), min_size=1, max_size=6))
def test_width_is_shared_so_that_nobody_keeps_what_another_lacks(
    width: int, wanted: list[int]
) -> None:
    shares = shared(width, wanted)
    assert sum(shares) == max(width, 0)
    both = list(zip(shares, wanted, strict=True))
    if sum(wanted) > max(width, 0):
        level = max(share for share, need in both if share < need)
        assert all(min(need, level - 1) <= share <= need for share, need in both)
    else:
        spare = [share - need for share, need in both]
        assert max(spare) - min(spare) <= 1
