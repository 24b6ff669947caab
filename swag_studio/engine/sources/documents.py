"""From the rows of a file to captions: documents kept together, in order of time.

It knows rows, not the formats that they come from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from swag_studio.engine.sources.base import Items, Source, unusable
from swag_studio.records import Caption, LeftOut

_ROWS_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Row:
    """A caption as read, before its place in the document is known."""

    document: str
    group: str
    video_id: str
    text: str
    start: float | None
    end: float | None
    place: str


def captions(rows: Sequence[Row]) -> Iterator[Caption | LeftOut]:
    """The captions of one whole document, by position.

    Order: by start, then as in the file. Not by end: of the ActivityNet captions that begin
    together, the one that tells the whole video comes first and ends last. Where a caption has no
    start, the file's order stands for the document.

    A row that is left out keeps its position, so that its neighbours do not become a pair. Times
    that run backwards are left out, and the caption stays: in ActivityNet the two captions
    concerned stand where they belong.
    """
    backward = [
        row.start is not None and row.end is not None and row.end < row.start for row in rows
    ]
    starts = [None if back else row.start for row, back in zip(rows, backward, strict=True)]
    order = list(range(len(rows)))
    if None not in starts:
        order.sort(key=lambda i: starts[i] or 0.0)
    for position, i in enumerate(order):
        row = rows[i]
        if reason := unusable(row.text):
            yield LeftOut(row.document, position, reason, row.place)
            continue
        if backward[i]:
            yield LeftOut(row.document, position, "end_before_start", row.place)
        start, end = (None, None) if backward[i] else (row.start, row.end)
        yield Caption(row.document, row.group, row.video_id, position, row.text, start, end)


class RowSource(Source):
    """A format of one row per caption, the rows of a document anywhere in the file.

    Read twice: the first pass counts each document's rows, so that the second can let a document
    go as soon as it is whole. A file that is sorted by document holds one at a time.
    """

    passes: ClassVar[int] = 2

    @abstractmethod
    def rows(self) -> Iterator[Row | LeftOut]:
        """The file from its start."""

    def read(self) -> Items:
        counts: Counter[str] = Counter()
        for number, row in enumerate(self.rows()):
            if isinstance(row, Row):
                counts[row.document] += 1
            if number % _ROWS_AT_ONCE == 0:
                yield None
        waiting: dict[str, list[Row]] = {}
        for number, row in enumerate(self.rows()):
            if isinstance(row, LeftOut):
                yield row
                continue
            rows = waiting.setdefault(row.document, [])
            rows.append(row)
            if row.group != rows[0].group:
                raise self.refusal(row.place, "its document has another group in an earlier row")
            if len(rows) == counts[row.document]:
                yield from captions(waiting.pop(row.document))
            elif number % _ROWS_AT_ONCE == 0:
                yield None
        yield from self.notes()
