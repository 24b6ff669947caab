"""ActivityNet Captions: one JSON object, video -> timestamps and sentences (METHOD, section 6).

    {"v_ID": {"duration": 82.73, "timestamps": [[start, end], ...], "sentences": [...]}, ...}

The key is the document. The group, which folds and splits keep together, is the video: the same
one in val_1 and val_2, and with the name that SWAG gives it, anetv_ID.

TACoS has the same JSON with frames for times (tacos.py), and is known by its num_frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from swag_studio.engine.sources.base import Item, Items, Source, head, identifier, seconds, shown
from swag_studio.engine.sources.documents import Row, captions
from swag_studio.engine.sources.json_text import members
from swag_studio.records import LeftOut

_OPENING = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
_FRAMES = re.compile(r'"num_frames"\s*:')


class ActivityNet(Source):
    """A file of ActivityNet Captions, read a video at a time."""

    @staticmethod
    def sniff(path: Path) -> bool:
        text = head(path)
        return has_videos(text) and not counts_frames(text)

    @staticmethod
    def video_of(document: str) -> str:
        """What SWAG calls the video."""
        return "anetv_" + document.removeprefix("v_")

    def units_per_second(self, value: dict[str, Any], place: str) -> float:
        """By what the times of a video are divided."""
        if "num_frames" in value and "duration" not in value:
            raise self.refusal(place, "its times are frames, not seconds", "Import it as TACoS.")
        return 1.0

    def documents(self, rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
        """The rows of a video, those of one description at a time."""
        yield rows

    def read(self) -> Items:
        seen: set[str] = set()
        for key, value in members(self):
            place = f"video {shown(key)}"
            try:
                document = identifier(key)
            except ValueError as error:
                raise self.refusal(place, f"its name is {error}") from None
            if document in seen:
                raise self.refusal(place, "stands in the file twice", "Remove one of them.")
            seen.add(document)
            yield from self._video(document, value, place)
        yield from self.notes()

    def _video(self, document: str, value: Any, place: str) -> Iterator[Item]:
        sentences, timestamps = self._lists(value, place)
        if len(sentences) != len(timestamps):
            detail = f"{len(sentences)} sentences, {len(timestamps)} timestamps"
            yield LeftOut(document, 0, "counts_differ", place, detail)
            return
        if not sentences:
            yield LeftOut(document, 0, "no_sentences", place)
        video, rate = self.video_of(document), self.units_per_second(value, place)
        rows = [
            Row(document, video, video, text, *self._times(pair, rate, where), where)
            for i, (text, pair) in enumerate(zip(sentences, timestamps, strict=True), 1)
            if (where := f"{place}, sentence {i}")
        ]
        for part in self.documents(rows):
            yield from captions(part)

    def _lists(self, value: Any, place: str) -> tuple[list[str], list[Any]]:
        if not isinstance(value, dict):
            raise self.refusal(place, "not an object with timestamps and sentences")
        for name in ("timestamps", "sentences"):
            if not isinstance(value.get(name), list):
                raise self.refusal(place, f"has no list of {name}")
        for i, sentence in enumerate(value["sentences"], 1):
            if not isinstance(sentence, str):
                raise self.refusal(f"{place}, sentence {i}", "not text")
        return value["sentences"], value["timestamps"]

    def _times(self, pair: Any, rate: float, place: str) -> tuple[float, float]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise self.refusal(place, "its timestamp is not a pair of start and end")
        try:
            return seconds(pair[0]) / rate, seconds(pair[1]) / rate
        except ValueError as error:
            raise self.refusal(place, f"a time is {error}") from None


def has_videos(text: str) -> bool:
    """Whether a file that starts like this is an object of videos with sentences."""
    return bool(_OPENING.match(text)) and ('"sentences"' in text or '"timestamps"' in text)


def counts_frames(text: str) -> bool:
    """Whether a file that starts like this says how many frames its videos have."""
    return bool(_FRAMES.search(text))
