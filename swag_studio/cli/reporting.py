"""What a command tells, to a person or to a program. The commands know only `Reporter`."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from swag_studio.events import Event


class Reporter(Protocol):
    """Where a command's events, sentences, tables and its summary go."""

    def watching(self) -> AbstractContextManager[object]:
        """Holds while events come in."""
        ...

    def event(self, event: Event) -> None:
        """One fact of a stage."""
        ...

    def say(self, text: str, level: str = "info") -> None:
        """A sentence that only a person needs."""
        ...

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table that only a person needs; the summary holds the same facts."""
        ...

    def summary(self, command: str, values: Mapping[str, Any]) -> None:
        """The command's outcome, last."""
        ...

    def error(self, text: str, kind: str = "user") -> None:
        """The one clear sentence of an error that ends the command."""
        ...


class JsonReporter:
    """One JSON object a line on stdout for each event; the last one is the summary or the error.

    NaN and infinity, which JSON does not have, become null.
    """

    def watching(self) -> AbstractContextManager[object]:
        return nullcontext()

    def event(self, event: Event) -> None:
        values = {f.name: getattr(event, f.name) for f in dataclasses.fields(event)}
        self._line(type(event).__name__.lower(), values)

    def say(self, text: str, level: str = "info") -> None:
        pass

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        pass

    def summary(self, command: str, values: Mapping[str, Any]) -> None:
        self._line("summary", {"command": command, **values})

    def error(self, text: str, kind: str = "user") -> None:
        self._line("error", {"kind": kind, "text": text})

    @staticmethod
    def _line(kind: str, values: Mapping[str, Any]) -> None:
        data = _plain({"type": kind, **values})
        print(json.dumps(data, ensure_ascii=False, allow_nan=False), flush=True)


def _plain(value: Any) -> Any:
    """`value` as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
