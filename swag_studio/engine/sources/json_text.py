"""JSON as a caption file may hold it: no key twice, and one large object a member at a time.

It knows JSON, not captions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from swag_studio.engine.sources.base import MAX_LINE, Source, shown
from swag_studio.errors import SourceError
from swag_studio.nesting import json_nests_deeper

MAX_NESTING = 64  # of lists and objects in each other; captions have four

_SPACE = re.compile(r"[ \t\n\r]*")
_AFTER = tuple(" \t\n\r,}")  # what can follow a member's value
_CUT = "It is not JSON, or cut off. Fetch or export it again."


class _RepeatedKey(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKey(next(key for key in keys if keys.count(key) > 1))
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def object_of(source: Source, number: int, line: str) -> dict[str, Any]:
    """The JSON object on one line. Raises SourceError."""
    place = f"line {number}"
    if json_nests_deeper(line, MAX_NESTING):
        raise source.refusal(place, "nested too deeply")
    try:
        value = _DECODER.decode(line)
    except _RepeatedKey as error:
        raise source.refusal(place, f"the key {shown(str(error))} stands there twice") from None
    except ValueError as error:  # JSONDecodeError, or a number of too many digits
        raise source.refusal(place, _what(error), _CUT) from None
    if not isinstance(value, dict):
        raise source.refusal(place, "not a JSON object")
    return value


def members(source: Source) -> Iterator[tuple[str, Any]]:
    """The members of the one object that the file is, one at a time. Raises SourceError."""
    text = _Text(source)
    if text.peek() != "{":
        raise text.refusal("not a JSON object")
    text.at += 1
    if text.peek() == "}":
        text.at += 1
    else:
        while True:
            yield text.member()
            mark = text.peek()
            if mark not in (",", "}"):
                raise text.refusal("a comma or the object's end is missing", _CUT)
            text.at += 1
            if mark == "}":
                break
    if text.peek():
        raise text.refusal("more follows after the object's end")


class _Text:
    """The unread text of a file, and the place in it."""

    def __init__(self, source: Source) -> None:
        self.source, self.chunks = source, source.chunks()
        self.text, self.at, self.line = "", 0, 1  # line: of the first character of `text`

    def more(self) -> bool:
        """Doubles what is unread, so that a value that is tried again costs linear time."""
        parts, unread = [self.text[self.at :]], len(self.text) - self.at
        while sum(map(len, parts)) <= 2 * unread:
            if not (chunk := next(self.chunks, "")):
                break
            parts.append(chunk)
        if len(parts) == 1:
            return False
        self.line += self.text.count("\n", 0, self.at)
        self.text, self.at = "".join(parts), 0
        return True

    def peek(self) -> str:
        """The next character that is not space, "" at the file's end."""
        while True:
            space = _SPACE.match(self.text, self.at)
            self.at = space.end() if space else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def member(self) -> tuple[str, Any]:
        """A key and its value."""
        if self.peek() != '"':
            raise self.refusal("a key is missing", _CUT)
        key = self.value()
        if self.peek() != ":":
            raise self.refusal("a colon is missing", _CUT)
        self.at += 1
        self.peek()
        return key, self.value()

    def value(self) -> Any:
        while True:
            if json_nests_deeper(self.text, MAX_NESTING, self.at):
                raise self.refusal("nested too deeply")
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except _RepeatedKey as error:
                raise self.refusal(f"the key {shown(str(error))} stands there twice") from None
            except ValueError as error:
                if len(self.text) - self.at <= MAX_LINE and self.more():
                    continue
                at = getattr(error, "pos", self.at)
                raise self.refusal(_what(error), _CUT, at) from None
            ended = isinstance(value, dict | list | str) or self.text[end : end + 1] in _AFTER
            # A number may go on in the next piece.
            if ended or len(self.text) - self.at > MAX_LINE or not self.more():
                self.at = end
                return value

    def refusal(self, reason: str, remedy: str = "", at: int | None = None) -> SourceError:
        line = self.line + self.text.count("\n", 0, self.at if at is None else at)
        return self.source.refusal(f"line {line}", reason, remedy)


def _what(error: ValueError) -> str:
    """The decoder's words, which quote nothing of the text."""
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON ({error.msg})"
    return "a number of too many digits"
