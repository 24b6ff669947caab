"""Contexts that another generator made, with its candidate endings: JSON Lines, any language.

    {"id": ..., "sent1": ..., "sent2": ..., "found": ..., "endings": [...], "group": ...}

`sent2` is the opening of the second sentence, `found` the ending that was found, `endings` the
candidates; `group`, where there is one, is what folds and splits keep together. Texts are kept as
they are but for outer whitespace. A candidate that equals the found ending or an earlier one
(`records.folded`) is left out; candidates are numbered without it from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from swag_studio.engine.sources.base import (
    MAX_TEXT,
    REASONS,
    Item,
    Items,
    Source,
    bad_character,
    first_line,
    identifier,
)
from swag_studio.engine.sources.json_text import object_of
from swag_studio.records import LeftOut, OwnContext, folded

MAX_ENDINGS = 65_000  # as recipe.GenerateRecipe.candidates
_KEYS = ("sent1", "sent2", "found", "endings")


class OwnCandidates(Source):
    """A file of another generator's contexts and endings."""

    @staticmethod
    def sniff(path: Path) -> bool:
        line = first_line(path)  # may be cut off, so not parsed
        found = set(re.findall(r'"([^"\\]*)"\s*:', line))
        return line.lstrip().startswith("{") and len(found & set(_KEYS)) >= 2

    def read(self) -> Items:
        seen: set[str] = set()
        for number, line in self.lines():
            if not line.strip():
                continue
            context = self._context(number, object_of(self, number, line))
            if context.document in seen:
                raise self.refusal(f"line {number}", "its id stands in an earlier line")
            seen.add(context.document)
            yield from _without_equals(context, f"line {number}")
        yield from self.notes()

    def _context(self, number: int, value: dict[str, Any]) -> OwnContext:
        place = f"line {number}"
        for key in ("id", *_KEYS):
            if key not in value:
                raise self.refusal(place, f"no {key}")
        try:
            document = identifier(value["id"])
            group = document if value.get("group") is None else identifier(value["group"])
        except ValueError as error:
            raise self.refusal(place, f"its id or group is {error}") from None
        endings = value["endings"]
        if not isinstance(endings, list) or not 1 <= len(endings) <= MAX_ENDINGS:
            raise self.refusal(place, f"endings is not a list of 1 to {MAX_ENDINGS:,} texts")
        sent1, sent2, found = (self._text(value[key], f"{place}, {key}") for key in _KEYS[:3])
        texts = tuple(self._text(e, f"{place}, ending {i}") for i, e in enumerate(endings, 1))
        return OwnContext(document, group, sent1, sent2, found, texts)

    def _text(self, value: Any, place: str) -> str:
        if not isinstance(value, str):
            raise self.refusal(place, "not text")
        text = value.strip()
        if not text:
            raise self.refusal(place, "empty")
        if len(text) > MAX_TEXT:
            raise self.refusal(place, f"longer than {MAX_TEXT:,} characters")
        if reason := bad_character(text):
            raise self.refusal(place, REASONS[reason])
        return text


def _without_equals(context: OwnContext, place: str) -> Iterator[Item]:
    """The context with its different endings, after those that it loses."""
    document, found = context.document, folded(context.found)
    kept: dict[str, str] = {}
    for i, ending in enumerate(context.endings):
        key = folded(ending)
        if key == found or key in kept:
            reason = "equals_found" if key == found else "duplicate_ending"
            yield LeftOut(document, i, reason, f"{place}, ending {i + 1}")
        else:
            kept[key] = ending
    if not kept:
        yield LeftOut(document, 0, "no_endings", place)
        return
    yield replace(context, endings=tuple(kept.values()))
