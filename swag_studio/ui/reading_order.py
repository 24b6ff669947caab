"""Tab goes through a window as one reads: row after row, each from left to right.

Qt goes by when a control was made, so that the legend of a chart would come after all else. It
knows where controls stand, and not what they are for.

Nothing asks for a `focusProxy`: with PySide 6.9 the next garbage collection then deletes the pages.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDialogButtonBox,
    QGraphicsView,
    QKeySequenceEdit,
    QWidget,
)

# What is inside one of these is no stop of its own.
_WHOLE = (QAbstractSpinBox, QComboBox, QGraphicsView, QKeySequenceEdit)


class _Block(NamedTuple):
    place: QRect
    stops: list[QWidget]


def order_tabs(window: QWidget) -> None:
    """Has Tab go through a window's controls in reading order, as they stand now."""
    for earlier, later in pairwise(_stops(window)):
        QWidget.setTabOrder(earlier, later)


def _stops(widget: QWidget) -> list[QWidget]:
    """The controls in a widget that Tab can go to, itself first, in reading order.

    Those of a child are never torn apart: a card is read to its end before the card beside it.
    """
    own = [widget] if _is_stop(widget) else []
    if isinstance(widget, _WHOLE):
        return own
    children = [c for c in widget.children() if isinstance(c, QWidget) and not c.isWindow()]
    blocks = [_Block(c.geometry(), _stops(c)) for c in children if c.isVisible()]
    in_order = _read([block for block in blocks if block.stops])
    return own + [stop for block in in_order for stop in block.stops]


def _is_stop(widget: QWidget) -> bool:
    if isinstance(widget, QDialogButtonBox):  # it hands the focus on to its first button
        return True
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isEnabled()


def _read(blocks: list[_Block]) -> list[_Block]:
    """Cuts blocks into rows where that is possible, else into columns, and each part likewise."""
    for edges in (_upper_and_lower, _left_and_right):
        parts = _cut(blocks, edges)
        if len(parts) > 1:
            return [block for part in parts for block in _read(part)]
    return sorted(blocks, key=lambda block: (block.place.y(), block.place.x()))  # they overlap


def _cut(blocks: list[_Block], edges: Callable[[QRect], tuple[int, int]]) -> list[list[_Block]]:
    """The parts between which a straight line crosses no block."""
    parts: list[list[_Block]] = []
    end = 0
    for block in sorted(blocks, key=lambda block: edges(block.place)):
        begin, its_end = edges(block.place)
        if not parts or begin >= end:
            parts.append([])
        parts[-1].append(block)
        end = max(end, its_end)
    return parts


def _upper_and_lower(place: QRect) -> tuple[int, int]:
    return place.y(), place.y() + place.height()


def _left_and_right(place: QRect) -> tuple[int, int]:
    return place.x(), place.x() + place.width()
