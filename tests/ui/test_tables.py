from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from swag_studio.ui.tables import Column, Table, TableModel

COLUMNS = (
    Column("Name", lambda row: row[0], stretch=True),
    Column("Count", lambda row: row[1]),
    Column("Note", lambda row: row[2], optional=True),
)
ROWS = [("b", 1_234_567, None), ("A", None, None), ("c", 3, None)]


def texts(table: Table) -> list[list[str]]:
    model = table.rows_model
    return [
        [model.data(model.index(r, c)) for c in range(model.columnCount())]
        for r in range(model.rowCount())
    ]


def head(table: Table, qtbot: QtBot, column: int) -> None:
    """Clicks on a column's head."""
    header = table.horizontalHeader()
    at = QPoint(header.sectionViewportPosition(column) + 5, header.height() // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_numbers_have_separators_and_stand_right(qtbot: QtBot) -> None:
    table = Table("t", COLUMNS)
    qtbot.addWidget(table)
    table.set_rows(ROWS)
    assert texts(table) == [["b", "1,234,567", ""], ["A", "", ""], ["c", "3", ""]]
    model, role = table.rows_model, Qt.ItemDataRole.TextAlignmentRole
    assert model.data(model.index(0, 1), role) & Qt.AlignmentFlag.AlignRight
    assert model.data(model.index(0, 0), role) & Qt.AlignmentFlag.AlignLeft
    table.set_rows([ROWS[1], *ROWS])  # the first has no number: the head goes by the others
    assert model.headerData(1, Qt.Orientation.Horizontal, role) & Qt.AlignmentFlag.AlignRight


def test_a_click_on_the_head_sorts_by_value_with_missing_ones_last(qtbot: QtBot) -> None:
    table = Table("t", COLUMNS)
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show()
    table.set_rows(ROWS)
    head(table, qtbot, 1)
    assert [row[0] for row in texts(table)] == ["c", "b", "A"]
    head(table, qtbot, 1)
    assert [row[0] for row in texts(table)] == ["b", "c", "A"]
    head(table, qtbot, 1)  # the third click gives the rows' own order back
    assert [row[0] for row in texts(table)] == ["b", "A", "c"]


def test_keys_sort_as_clicks_on_heads_do(qtbot: QtBot) -> None:
    """Through the columns as they stand, but for the hidden one, and back to the rows' order."""
    table = Table("t", COLUMNS)
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show()
    table.set_rows(ROWS)

    def pressed(key: Qt.Key) -> str:
        qtbot.keyClick(table, key, Qt.KeyboardModifier.AltModifier)
        return "".join(row[0] for row in texts(table))

    right, left, up, down = Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down
    assert pressed(down) == "bAc"  # by nothing yet
    assert pressed(up) == "bAc"
    assert [pressed(right) for _ in range(4)] == ["Abc", "cbA", "bAc", "Abc"]
    assert pressed(down) == "cbA"
    assert pressed(right) == "bcA"  # still downwards, what is missing last
    assert pressed(up) == "cbA"
    assert [pressed(left) for _ in range(3)] == ["Abc", "bAc", "cbA"]
    table.horizontalHeader().moveSection(1, 0)  # Count stands before Name
    assert pressed(right) == "Abc"
    table.setSortingEnabled(False)
    assert pressed(right) == "Abc"
    qtbot.keyClick(table, right)  # without Alt the arrows go through the rows
    assert table.currentIndex().isValid()


@settings(max_examples=40)
@given(st.lists(st.tuples(st.text(max_size=3), st.none() | st.integers(-5, 5))))
def test_sorting_keeps_every_row_and_the_order_of_equal_ones(rows: list[tuple[str, int]]) -> None:
    model = TableModel(COLUMNS[:2])
    model.set_rows(rows)
    model.sort(1)
    there = sorted((r for r in rows if r[1] is not None), key=lambda r: r[1])
    assert model.rows == there + [r for r in rows if r[1] is None]


def test_a_column_without_values_is_hidden(qtbot: QtBot) -> None:
    table = Table("t", COLUMNS)
    qtbot.addWidget(table)
    table.set_rows(ROWS)
    assert table.isColumnHidden(2)
    table.set_rows([("b", 1, "said")])
    assert not table.isColumnHidden(2)


LONG = (
    Column("Said", lambda row: row[0], stretch=True),
    Column("Said of it", lambda row: row[1], stretch=True),
    Column("A long head of a number", lambda row: row[2]),
    Column("Share", lambda row: row[3], lambda share: f"{share:.0%}"),
)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(*2 * [st.text("mw -", max_size=60)], st.integers(0, 10**9), st.floats(0, 1)),
        max_size=4,
    ),
    st.integers(200, 1200),
)
def test_a_table_that_fits_never_scrolls_sideways(
    qapp: QApplication, rows: list[tuple[str, str, int, float]], width: int
) -> None:
    table = Table("t", LONG, most=7, fits=True)
    table.set_rows(rows)
    table.resize(width, 300)
    table.show()
    qapp.processEvents()
    assert table.horizontalScrollBar().maximum() == 0
    header = table.horizontalHeader()
    assert header.length() <= table.viewport().width()
    table.close()
    table.deleteLater()


def test_numbers_are_whole_where_texts_are_elided_and_tooltips_have_them(qtbot: QtBot) -> None:
    table = Table("t", LONG, fits=True)
    qtbot.addWidget(table)
    table.set_rows([("What was said at length.", "And what of it.", 1_234_567, 0.5)])
    head = table.horizontalHeader().sectionSizeHint
    needed = [max(head(c), table.sizeHintForColumn(c)) for c in range(4)]
    table.resize(sum(needed) - needed[0] // 2, 200)
    table.show()
    for column in (2, 3):
        assert table.columnWidth(column) >= table.sizeHintForColumn(column)
    assert table.columnWidth(0) < table.sizeHintForColumn(0)
    index = table.rows_model.index(0, 0)
    assert index.data(Qt.ItemDataRole.ToolTipRole) == "What was said at length."
    table.resize(2 * sum(needed), 200)  # with room again, all is as it was
    assert table.columnWidth(0) > table.sizeHintForColumn(0)
    assert table.columnWidth(2) >= table.horizontalHeader().sectionSizeHint(2)


def test_enter_and_double_click_open_a_row(qtbot: QtBot) -> None:
    table = Table("t", COLUMNS)
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show()
    table.set_rows(ROWS)
    opened: list[object] = []
    table.opened.connect(opened.append)
    table.selectRow(1)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    place = table.visualRect(table.rows_model.index(2, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened == [ROWS[1], ROWS[2]]


def test_copy_takes_the_chosen_rows_or_all(qtbot: QtBot) -> None:
    table = Table("t", COLUMNS[:2])
    qtbot.addWidget(table)
    table.set_rows(ROWS)
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Name\tCount\nb\t1,234,567\nA\t\nc\t3"
    table.selectRow(2)
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Name\tCount\nc\t3"


def test_an_empty_table_says_what_it_would_hold(qtbot: QtBot) -> None:
    table = Table("t", COLUMNS, "Nothing here yet.")
    qtbot.addWidget(table)
    table.resize(300, 120)
    table.show()
    with_words = table.grab().toImage()
    table.empty = ""
    assert table.grab().toImage() != with_words
