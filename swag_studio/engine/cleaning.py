"""Cleaning of a caption: the least edits that work, each with a name that is counted.

It knows text only: no tokens, no vocabulary. A caption in which no word is left is refused with a
reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from swag_studio.engine.text import SENTENCE_STOPS, plain

STOPS = "".join(sorted(SENTENCE_STOPS))


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned caption, the names of the edits that changed it, and why it is unusable ("")."""

    text: str
    edits: tuple[str, ...]
    reason: str = ""


def clean(text: str) -> Cleaned:
    """`text` as one line of plain characters with a final stop; cleaning it again changes nothing.

    Reasons: "empty" (nothing but space and stops), "no_words" (no letter or digit).
    """
    edits: dict[str, None] = {}
    before = None
    while text != before:  # one edit can make room for another; few captions need a third round
        before = text
        for name, edit in EDITS:
            edited = edit(text)
            if edited != text:
                edits[name] = None
            text = edited
    reason = ""
    if not any(c.isalnum() for c in text):
        reason = "no_words" if text.strip(STOPS) else "empty"
    return Cleaned(text, tuple(edits), reason)


# Without the joiners U+200C and U+200D, which some scripts need.
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufffd]"
)


def _control(text: str) -> str:
    """Control characters, soft hyphens, zero-width and direction marks are removed."""
    return _CONTROL.sub("", text)


def _dashes(text: str) -> str:
    """One kind of dash; doubled and long ones stand between spaces."""
    text = re.sub(r"\s*(?:--+|[—―])\s*", " - ", text)
    return re.sub(r"[‐‑‒–−]", "-", text)


def _spaces(text: str) -> str:
    return " ".join(text.split())


def _quotes(text: str) -> str:
    """A quotation in single marks gets double ones; a mark that pairs with nothing goes.

    A single mark stays where it belongs to a word: "don't", "o'clock", "the dogs' tails".
    """
    if "'" in text:
        text = re.sub(r"''+", '"', text)
        if '"' not in text:
            text = re.sub(r"(?<![\w'])'(?=[^\s'])([^']*[^\s'])'(?![\w'])", r'"\1"', text)
        text = re.sub(r"(?<!\w)'|(?<![\Ws])'(?!\w)", "", text)
    if text.count('"') % 2:
        before, _, after = text.rpartition('"')
        text = before + after
    return text


def _start(text: str) -> str:
    """Marks that cannot begin a sentence are removed from its start."""
    return re.sub(r"^[\s.,;:!?/\\*•·\-]+", "", text)


def _stops(text: str) -> str:
    """A run of stops becomes one: ? before ! before . ; dots within the sentence become three."""

    def one(match: re.Match[str]) -> str:
        run, at_end = match.group(), match.end() == len(text)
        mark = next(m for m in "?!。." if m in run)
        return "..." if mark == "." and not at_end else mark

    return re.sub(r"[.!?。](?:\s*[.!?。])+", one, text)


def _stop_outside(text: str) -> str:
    """A final stop within quotes or brackets moves behind them, unless one is there."""
    return re.sub(
        r"\s*([.!?。])\s*([\"')\]}]+)\s*([.!?。]?)$", lambda m: m[2] + (m[3] or m[1]), text
    )


def _marks(text: str) -> str:
    """No space before a comma, a stop or the like; one after it where a word follows."""
    text = re.sub(r"\s+(?=[,.;:!?](?:\s|$))", "", text)
    return re.sub(r"(?<=[^\W\d_][,;:])(?=[^\W\d_])", " ", text)


_PRONOUN = r"\b(he|she|there|that|who|what|they|we|you)"
# "It's" is often meant for "its", so only where a verb must follow.
_AFTER_IT_IS = r"(?=\s+(?:an?|the|not|also|very|so|too|like|time|been|\w+ing|\w+ed|\w+ly)\b)"


def _contractions(text: str) -> str:
    """He's, they're, I'm: the verb is written out, so that no ending begins within a word."""
    if "'" not in text:
        return text
    for pattern, full in (
        (rf"{_PRONOUN}'s(?=\s+(?:been|got|had|gone|become)\b)", r"\1 has"),
        (rf"{_PRONOUN}'s\b", r"\1 is"),
        (rf"\b(it)'s{_AFTER_IT_IS}", r"\1 is"),
        (rf"{_PRONOUN}'re\b", r"\1 are"),
        (r"\b(i)'m\b", r"\1 am"),
    ):
        text = re.sub(pattern, full, text, flags=re.IGNORECASE)
    return text


def _final_stop(text: str) -> str:
    """A caption ends with a stop; a comma, colon or dash at its end makes place for it."""
    text = re.sub(r"[\s,;:\-/\\]+(?=[.!?。]?$)", "", text)
    return text if text.endswith(tuple(STOPS)) else text + "."


EDITS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("characters_normalised", plain),
    ("control_characters_removed", _control),
    ("dashes_made_plain", _dashes),
    ("spaces_trimmed", _spaces),
    ("quotes_made_plain", _quotes),
    ("start_trimmed", _start),
    ("repeated_stops_joined", _stops),
    ("stop_moved_outside_quotes", _stop_outside),
    ("spaces_at_marks_set", _marks),
    ("contractions_written_out", _contractions),
    ("final_stop_set", _final_stop),
)
