"""TACoS: cooking videos as JSON like ActivityNet's, with times that count frames (METHOD 6).

    {"s13-d21.avi": {"fps": 29.4, "num_frames": 4374, "timestamps": [[first, last], ...],
                     "sentences": [...]}, ...}

Some 20 people described each video, in up to 15 sentences each, and the file has one description
after the other without saying where the next begins. The times tell: a sentence goes on from the
one before it where it begins and ends no earlier, and not both at the same frames. What goes back
in time is another description, or a step back within one; of sentences with equal times, which
some wrote last step first, nobody knows which comes next. A stretch that goes on is a document, and
the video the group of all its documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from swag_studio.engine.sources.activitynet import ActivityNet, counts_frames, has_videos
from swag_studio.engine.sources.base import head
from swag_studio.engine.sources.documents import Row


class Tacos(ActivityNet):
    """A file of TACoS, read a video at a time."""

    @staticmethod
    def sniff(path: Path) -> bool:
        text = head(path)
        return has_videos(text) and counts_frames(text)

    @staticmethod
    def video_of(document: str) -> str:
        return "tacos_" + document.removesuffix(".avi")

    def units_per_second(self, value: dict[str, Any], place: str) -> float:
        fps = value.get("fps")
        if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0.01 <= fps < 1e6:
            raise self.refusal(place, "has no fps, a number of frames per second")
        return float(fps)

    def documents(self, rows: Sequence[Row]) -> Iterator[list[Row]]:
        """The stretches that go on in time, in the file's order, each named by its number."""
        stretches: list[list[Row]] = []
        for row in rows:
            if not stretches or not _goes_on(stretches[-1][-1], row):
                stretches.append([])
            stretches[-1].append(replace(row, document=f"{row.document}/{len(stretches)}"))
        yield from stretches


def _goes_on(before: Row, row: Row) -> bool:
    """Whether a sentence tells what comes after the one before it in the file."""
    (start, end), (next_start, next_end) = _times(before), _times(row)
    return start <= next_start and end <= next_end and (start, end) != (next_start, next_end)


def _times(row: Row) -> tuple[float, float]:
    assert row.start is not None and row.end is not None
    return row.start, row.end
