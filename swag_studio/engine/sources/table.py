"""Captions of any origin: CSV, TSV or JSON Lines, one caption a row.

Columns or keys: document and sentence; where there are any: start and end in seconds, group.
Their order is free and some other names are taken (`ROLES`); others are not used, which is said.
A document without a group is its own group. Rows without a start keep the file's order.

A speaker is not used yet: a name before the sentence would be learned as part of it. CSV has
quotes as RFC 4180 has them; in TSV, which has none, a quote is a character like others.
"""

from __future__ import annotations

import csv
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from swag_studio.engine.sources.base import first_line, identifier, seconds, shown
from swag_studio.engine.sources.documents import Row, RowSource
from swag_studio.engine.sources.json_text import object_of
from swag_studio.records import LeftOut

ROLES = {
    "document": ("document", "document_id", "doc", "doc_id", "video", "video_id"),
    "sentence": ("sentence", "caption", "text"),
    "start": ("start", "start_time", "begin"),
    "end": ("end", "end_time"),
    "group": ("group", "group_id"),
}
_ROLE_OF = {name: role for role, names in ROLES.items() for name in names}
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


@lru_cache(maxsize=1024)
def role_of(name: str) -> str:
    """What a column or key holds, "" for one that is not used. Case, "-" and space are alike."""
    return _ROLE_OF.get(re.sub(r"[-\s]+", "_", name.strip().lower()), "")


def has_captions(names: Sequence[str]) -> bool:
    """Whether these columns or keys can be captions."""
    return {"document", "sentence"} <= {role_of(name) for name in names}


class _Rows(RowSource):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._unused: dict[str, None] = {}

    def notes(self) -> Iterator[LeftOut]:
        for name in self._unused:
            yield LeftOut("", 0, "column_not_used", shown(name))
        yield from super().notes()

    def roles(self, names: Sequence[str], place: str) -> dict[str, str]:
        """Role -> name. Raises SourceError unless document and sentence are there, each once."""
        roles: dict[str, str] = {}
        for name in names:
            role = role_of(name)
            if role in roles:
                raise self.refusal(place, f"two names for the {role}", "Remove one of them.")
            if role:
                roles[role] = name
            elif len(self._unused) < 100:
                self._unused[name] = None
        for role in ("document", "sentence"):
            if role not in roles:
                raise self.refusal(
                    place, f"no {role}", f"It may be called {', '.join(ROLES[role])}."
                )
        return roles

    def row(self, values: Mapping[str, Any], number: int) -> Row:
        """The caption of one row, given by role."""
        place = f"line {number}"
        role = "document"
        try:
            document = identifier(values["document"])
            role = "group"
            group = document if _absent(values, "group") else identifier(values["group"])
            role = "start"
            start = None if _absent(values, "start") else seconds(values["start"])
            role = "end"
            end = None if _absent(values, "end") else seconds(values["end"])
        except ValueError as error:
            raise self.refusal(place, f"its {role} is {error}") from None
        if not isinstance(values["sentence"], str):
            raise self.refusal(place, "its sentence is not text")
        return Row(document, group, document, values["sentence"], start, end, place)


def _absent(values: Mapping[str, Any], role: str) -> bool:
    value = values.get(role)
    return value is None or (isinstance(value, str) and not value.strip())


class _Delimited(_Rows):
    """A file with a header row."""

    @staticmethod
    @abstractmethod
    def parse(lines: Iterator[str]) -> Any:
        """A csv.reader of the lines."""

    def rows(self) -> Iterator[Row | LeftOut]:
        reader = self.parse(line for _, line in self.lines())
        roles: dict[str, int] = {}
        width = 0
        try:
            while True:
                number = reader.line_num + 1
                if (fields := next(reader, None)) is None:
                    return
                if not fields:
                    continue
                if not roles:
                    found = self.roles(fields, f"line {number}, the header")
                    roles = {role: fields.index(name) for role, name in found.items()}
                    width = len(fields)
                    continue
                if len(fields) != width:
                    reason = f"{len(fields)} fields where the header has {width}"
                    raise self.refusal(f"line {number}", reason)
                yield self.row(_values(fields, roles), number)
        except csv.Error as error:  # its words quote nothing of the text
            raise self.refusal(f"line {reader.line_num}", f"not well formed ({error})") from None


def _values(fields: Sequence[str], roles: Mapping[str, int]) -> dict[str, Any]:
    values: dict[str, Any] = {role: fields[index] for role, index in roles.items()}
    for role in ("start", "end"):
        text = values.get(role, "").strip()
        if _NUMBER.fullmatch(text):
            values[role] = float(text)
    return values


class Csv(_Delimited):
    """Values between commas, with quotes where one holds a comma, a quote or a line end."""

    @staticmethod
    def sniff(path: Path) -> bool:
        return has_captions(first_line(path).replace('"', "").split(","))

    @staticmethod
    def parse(lines: Iterator[str]) -> Any:
        return csv.reader(lines, strict=True)


class Tsv(_Delimited):
    """Values between tabs. Quotes are literal."""

    @staticmethod
    def sniff(path: Path) -> bool:
        return has_captions(first_line(path).split("\t"))

    @staticmethod
    def parse(lines: Iterator[str]) -> Any:
        return csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True)


class JsonLines(_Rows):
    """One JSON object a line."""

    @staticmethod
    def sniff(path: Path) -> bool:
        keys = re.findall(r'"([^"\\]*)"\s*:', first_line(path))
        return first_line(path).lstrip().startswith("{") and has_captions(keys)

    def rows(self) -> Iterator[Row | LeftOut]:
        for number, line in self.lines():
            if not line.strip():
                continue
            values = object_of(self, number, line)
            roles = self.roles(list(values), f"line {number}")
            yield self.row({role: values[name] for role, name in roles.items()}, number)
