"""LSMDC16 lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.sources.lsmdc import Lsmdc
from swag_studio.errors import SourceError
from swag_studio.records import Caption, LeftOut

Written = Callable[[str | bytes], Path]

CLIP = "1052_Some_movie_00.01.00.000-00.01.02.500"
TIMES = "00.01.00.100\t01.01.02.250\t00.01.00.000\t00.01.02.500"


def read(path: Path) -> list[Caption | LeftOut]:
    return [item for item in Lsmdc(path).read() if isinstance(item, Caption | LeftOut)]


def test_a_line(written: Written) -> None:
    """01.01.02.250 is 3600 + 60 + 2.25 s. Quotes are literal, SOMEONE alone is replaced."""
    path = written(f'{CLIP}\t{TIMES}\t"SOMEONE" nods to SOMEONE\'s SOMEONES.\n')
    assert Lsmdc.sniff(path)
    text = '"someone" nods to someone\'s SOMEONES.'
    movie = "1052_Some_movie"
    assert read(path) == [Caption(movie, movie, f"lsmdc{movie}-1", 0, text, 60.1, 3662.25)]


def test_movies_in_order_of_time_known_by_their_lines(written: Written) -> None:
    lines = [
        "b_00.00.01.000-00.00.02.000\t00.00.09.000\t00.00.10.000\t\t\tThird.",
        "a_00.00.01.000-00.00.02.000\t00.00.01.000\t00.00.02.000\t\t\tOther.",
        "b_00.00.01.000-00.00.02.000\t00.00.01.000\t00.00.02.000\t\t\tFirst.",
        "",
        "b_00.00.01.000-00.00.02.000\t00.00.01.000\t00.00.02.000\t\t\tSecond.",
    ]
    items = read(written("\r\n".join(lines) + "\r\n"))
    assert [(c.video_id, c.position, c.text) for c in items if isinstance(c, Caption)] == [
        ("lsmdca-2", 0, "Other."),
        ("lsmdcb-3", 0, "First."),
        ("lsmdcb-5", 1, "Second."),
        ("lsmdcb-1", 2, "Third."),
    ]


@pytest.mark.parametrize(
    ("fields", "times"),
    [
        ("00.00.01.000\t00.00.02.000\t00.00.03.000\t00.00.04.000", (1, 2)),
        ("\t\t00.00.03.000\t00.00.04.000", (3, 4)),
        ("00.00.01.000\t-1\t00.00.03.000\t00.00.04.000", (3, 4)),
        ("\t\t\t", (None, None)),
    ],
)
def test_extracted_times_where_aligned_ones_are_missing(
    written: Written, fields: str, times: tuple[float | None, float | None]
) -> None:
    (caption,) = read(written(f"{CLIP}\t{fields}\tA man waves.\n"))
    assert isinstance(caption, Caption)
    assert (caption.start, caption.end) == times


def test_a_clip_without_movie_is_left_out(written: Written) -> None:
    assert read(written(f"clip7\t{TIMES}\tA man waves.\n")) == [
        LeftOut("", 0, "clip_without_movie", "line 1")
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"{CLIP}\t{TIMES}", "5 fields instead of 6"),
        (f"{CLIP}\t{TIMES}\tA man\twaves.", "7 fields instead of 6"),
        (f"{CLIP}\t{TIMES.replace('.100', '')}\tA man waves.", "HH.MM.SS.mmm"),
        (f"{CLIP}\t{TIMES.replace('01.00.100', '60.00.100')}\tA man waves.", "HH.MM.SS.mmm"),
    ],
)
def test_refusals(written: Written, line: str, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(written(f"{CLIP}\t{TIMES}\tA man waves.\n{line}\n"))
    assert caught.value.place == "line 2"
    assert reason in caught.value.reason


@given(st.integers(0, 99 * 3_600_000 + 3_599_999))
def test_times_to_the_millisecond(written: Written, ms: int) -> None:
    time = f"{ms // 3_600_000:02}.{ms // 60_000 % 60:02}.{ms // 1000 % 60:02}.{ms % 1000:03}"
    (caption,) = read(written(f"{CLIP}\t{time}\t{time}\t\t\tA man waves.\n"))
    assert isinstance(caption, Caption)
    assert caption.start == caption.end == ms / 1000
