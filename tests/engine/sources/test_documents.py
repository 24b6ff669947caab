"""Rows become captions in order of time, and left-out rows leave a gap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.sources.documents import Row, RowSource, captions
from swag_studio.errors import SourceError
from swag_studio.records import Caption, LeftOut

times = st.none() | st.integers(0, 5).map(float)
row_lists = st.lists(st.tuples(times, times, st.sampled_from(["A man waves.", " "])), max_size=7)


def rows_of(values: list[tuple[float | None, float | None, str]]) -> list[Row]:
    return [
        Row("d", "g", "v", text.replace("man", f"man {i}"), start, end, f"line {i}")
        for i, (start, end, text) in enumerate(values)
    ]


def test_order_is_by_start_then_as_in_the_file() -> None:
    """The whole-video caption [0, 9] was written before the one that begins with it."""
    rows = rows_of([(2, 3, "man c"), (0, 9, "man a"), (0, 1, "man b")])
    assert [(c.position, c.start, c.end) for c in captions(rows) if isinstance(c, Caption)] == [
        (0, 0, 9),
        (1, 0, 1),
        (2, 2, 3),
    ]


@pytest.mark.parametrize("first", [(None, None, "man a"), (9, 8, "man a")])
def test_a_caption_without_times_leaves_the_files_order(
    first: tuple[float | None, float | None, str],
) -> None:
    rows = rows_of([first, (2, 3, "man b"), (0, 1, "man c")])
    assert [c.start for c in captions(rows) if isinstance(c, Caption)] == [None, 2, 0]


def test_what_is_left_out_is_reported_and_keeps_its_position() -> None:
    rows = rows_of([(4, 3, "man a"), (5, 6, ""), (7, 8, "man b")])
    assert list(captions(rows)) == [
        LeftOut("d", 0, "end_before_start", "line 0"),
        Caption("d", "g", "v", 0, "man 0 a", None, None),
        LeftOut("d", 1, "empty_sentence", "line 1"),
        Caption("d", "g", "v", 2, "man 2 b", 7, 8),
    ]


@given(row_lists)
def test_every_row_is_one_position(values: list[tuple[float | None, float | None, str]]) -> None:
    rows = rows_of(values)
    out = list(captions(rows))
    positions = [i.position for i in out if not (isinstance(i, LeftOut) and "start" in i.reason)]
    assert positions == list(range(len(rows)))
    kept = [c for c in out if isinstance(c, Caption)]
    assert sorted(c.text for c in kept) == sorted(r.text for r in rows if r.text.strip())
    starts = [c.start for c in kept]
    backward = any(s is not None and e is not None and e < s for s, e, _ in values)
    if None not in [start for start, _, _ in values] and not backward:
        assert starts == sorted(starts)  # type: ignore[type-var]
    else:
        assert [c.text for c in kept] == [r.text for r in rows if r.text.strip()]


class Fake(RowSource):
    """Gives rows of the documents named by a text's letters; capitals have another group."""

    def __init__(self, letters: str) -> None:
        super().__init__(Path("fake"))
        self.letters = letters

    @staticmethod
    def sniff(path: Path) -> bool:
        return False

    def rows(self) -> Iterator[Row | LeftOut]:
        for i, letter in enumerate(self.letters):
            if letter == "-":
                yield LeftOut("", 0, "clip_without_movie", f"line {i}")
            else:
                yield Row(letter.lower(), letter, "v", f"man {i}", None, None, f"line {i}")


@given(st.text("abc-", max_size=30))
def test_scattered_documents_come_together(letters: str) -> None:
    items = [item for item in Fake(letters).read() if item is not None]
    assert sum(isinstance(item, LeftOut) for item in items) == letters.count("-")
    read = [item for item in items if isinstance(item, Caption)]
    for letter in set(letters) - {"-"}:
        lines = [i for i, other in enumerate(letters) if other == letter]
        places = [i for i, c in enumerate(read) if c.document == letter]
        assert [read[i].text for i in places] == [f"man {i}" for i in lines]
        assert [read[i].position for i in places] == list(range(len(lines)))
        assert places == list(range(places[0], places[0] + len(places)))
    # A document comes as soon as its last row was read.
    lasts = {c.document: letters.rindex(c.document) for c in read}
    assert list(lasts.values()) == sorted(lasts.values())


def test_a_document_has_one_group() -> None:
    with pytest.raises(SourceError, match="line 2: its document has another group"):
        list(Fake("abA").read())
