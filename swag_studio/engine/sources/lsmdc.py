"""LSMDC16: movie descriptions, one clip a line, six fields between tabs (METHOD, section 6).

    clip  start_aligned  end_aligned  start_extracted  end_extracted  sentence

Times are HH.MM.SS.mmm. Quotes are literal. A clip's name is its movie and its times; names are
not unique, so a caption is known by its line. Document and group are the movie: chains of one
movie are never divided between folds or splits.

The aligned times were corrected by hand, so they are taken; the extracted ones where the aligned
ones are missing. SOMEONE, which stands for every name, becomes "someone".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from swag_studio.engine.sources.base import first_line, identifier
from swag_studio.engine.sources.documents import Row, RowSource
from swag_studio.records import LeftOut

_TIME = re.compile(r"(\d{1,2})\.([0-5]\d)\.([0-5]\d)\.(\d{3})", re.ASCII)
_CLIP = re.compile(rf"(.+)_{_TIME.pattern}-{_TIME.pattern}", re.ASCII)
_MISSING = frozenset({"", "-", "-1", "na", "nan", "none"})
_SOMEONE = re.compile(r"\bSOMEONE\b")
_FIELDS = 6


class Lsmdc(RowSource):
    """A file of LSMDC16 annotations."""

    @staticmethod
    def sniff(path: Path) -> bool:
        fields = first_line(path).split("\t")
        return len(fields) == _FIELDS and bool(_CLIP.fullmatch(fields[0].strip()))

    def rows(self) -> Iterator[Row | LeftOut]:
        for number, line in self.lines():
            fields = line.rstrip("\r\n").split("\t")
            if fields == [""]:
                continue
            if len(fields) != _FIELDS:
                raise self.refusal(f"line {number}", f"{len(fields)} fields instead of {_FIELDS}")
            yield self._row(number, fields)

    def _row(self, number: int, fields: list[str]) -> Row | LeftOut:
        place = f"line {number}"
        clip = _CLIP.fullmatch(fields[0].strip())
        if clip is None:
            return LeftOut("", 0, "clip_without_movie", place)
        try:
            movie = identifier(clip[1])
            times = [_seconds(field) for field in fields[1:5]]
        except ValueError as error:
            raise self.refusal(place, str(error)) from None
        start, end = times[:2] if None not in times[:2] else times[2:]
        text = _SOMEONE.sub("someone", fields[5])
        return Row(movie, movie, f"lsmdc{movie}-{number}", text, start, end, place)


def _seconds(field: str) -> float | None:
    """HH.MM.SS.mmm in seconds, None where it is missing."""
    field = field.strip()
    if field.casefold() in _MISSING:
        return None
    time = _TIME.fullmatch(field)
    if time is None:
        raise ValueError("a time is not of the form HH.MM.SS.mmm")
    hours, minutes, seconds, milliseconds = map(int, time.groups())
    return (((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds) / 1000
