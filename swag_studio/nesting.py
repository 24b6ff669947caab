"""How deep a text nests, known before it is decoded.

A decoder calls itself at each level. One that runs into the interpreter's limit fails at a depth
that depends on who called it, and whatever is finalized down there fails with it. This knows
brackets, strings and comments, and nothing of what they mean. Of a text with a mistake in it, it
says what holds until the mistake, where a decoder stops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_JSON = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{\]}]', re.DOTALL)
_TOML = re.compile(
    r"'''.*?(?:'''|\Z)"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"""|\Z)'
    r"|'[^'\n]*'?"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    r"|\#[^\n]*|[\[{\]}]",
    re.DOTALL,
)


def json_nests_deeper(text: str, most: int, start: int = 0) -> bool:
    """Whether the JSON value at `start` has more than `most` lists and objects in each other.

    What follows the value is not looked at. Time linear in the value's length.
    """
    if not start and text.count("[") + text.count("{") <= most:
        return False  # the usual case of a short text, at a tenth of the time
    for depth in _depths(_JSON, text, start):
        if depth > most:
            return True
        if depth <= 0:
            break
    return False


def toml_nests_deeper(text: str, most: int) -> bool:
    """Whether a TOML text has more than `most` arrays and inline tables in each other."""
    return any(depth > most for depth in _depths(_TOML, text, 0))


def _depths(token: re.Pattern[str], text: str, start: int) -> Iterator[int]:
    """How many brackets are open after each bracket, string or comment."""
    depth = 0
    for found in token.finditer(text, start):
        mark = found[0]
        depth += (mark in "[{") - (mark in "]}")
        yield depth
