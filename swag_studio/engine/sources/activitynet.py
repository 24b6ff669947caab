"""ActivityNet Captions: one JSON object, video -> timestamps and sentences (METHOD, section 6).

    {"v_ID": {"duration": 82.73, "timestamps": [[start, end], ...], "sentences": [...]}, ...}

The key is the document. The group, which folds and splits keep together, is the video: the same
one in val_1 and val_2, and with the name that SWAG gives it, anetv_ID.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swag_studio.engine.sources.base import Item, Items, Source, head, identifier, seconds, shown
from swag_studio.engine.sources.documents import Row, captions
from swag_studio.engine.sources.json_text import members
from swag_studio.records import LeftOut

_OPENING = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')


class ActivityNet(Source):
    """A file of ActivityNet Captions, read a video at a time."""

    @staticmethod
    def sniff(path: Path) -> bool:
        text = head(path)
        return bool(_OPENING.match(text)) and ('"sentences"' in text or '"timestamps"' in text)

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
        video = "anetv_" + document.removeprefix("v_")
        rows = [
            Row(document, video, video, text, *self._times(pair, where), where)
            for i, (text, pair) in enumerate(zip(sentences, timestamps, strict=True), 1)
            if (where := f"{place}, sentence {i}")
        ]
        yield from captions(rows)

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

    def _times(self, pair: Any, place: str) -> tuple[float, float]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise self.refusal(place, "its timestamp is not a pair of start and end")
        try:
            return seconds(pair[0]), seconds(pair[1])
        except ValueError as error:
            raise self.refusal(place, f"a time is {error}") from None
