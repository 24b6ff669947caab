"""The list of endings: every text is seen whole, however large the list is."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from swag_studio.records import Ending
from swag_studio.ui.review_detail import EndingsTable
from swag_studio.ui.review_reading import Shown

ENDING = 2  # the column
MARGIN = 3  # px that Qt leaves at least on each side of a cell's text


def come_to_rest(table: EndingsTable) -> None:
    """Has layouts follow one another until nothing moves any more."""

    def shape() -> list[int]:
        columns = [table.columnWidth(i) for i in range(table.columnCount())]
        return columns + [table.rowHeight(i) for i in range(table.rowCount())]

    seen: list[int] = []
    while table._fitting.isActive() or seen != (seen := shape()):
        QApplication.processEvents()


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_as_high_as_their_texts_when_a_scroll_bar_comes_and_goes(
    qtbot: QtBot, seed: int
) -> None:
    rng = random.Random(seed)
    table = EndingsTable()
    qtbot.addWidget(table)
    table.show()
    for _ in range(12):
        table.resize(rng.randint(300, 700), rng.randint(80, 500))
        texts = [" ".join(["throws the ball"] * rng.randint(1, 5)) for _ in range(9)]
        endings = [Ending(f"e{i}", "c", text, "generated", i) for i, text in enumerate(texts)]
        for came in ("", "iteration 25"):  # it is read after the endings
            table.show_endings([(Shown(i, e, 0.5), came) for i, e in enumerate(endings)])
        come_to_rest(table)
        room = QRect(0, 0, table.columnWidth(ENDING) - 2 * MARGIN, 1 << 20)
        wrap = int(Qt.TextFlag.TextWordWrap)
        for i, text in enumerate(texts):
            needed = table.fontMetrics().boundingRect(room, wrap, text).height()
            assert needed <= table.rowHeight(i) <= needed + table.fontMetrics().height()
