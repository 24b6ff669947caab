"""Cleaning of a caption: the least edits that work, each with a name that is counted.

It knows text only: no tokens, no vocabulary. Meaning is never touched; a caption in which no word
is left is refused with a reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

STOPS = ".!?。"  # the marks that end a sentence, after NFKC


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned caption, the names of the edits that changed it, and why it is unusable ("")."""

    text: str
    edits: tuple[str, ...]
    reason: str = ""


def clean(text: str) -> Cleaned:
    """`text` as one line of plain characters with a final stop. `clean(clean(t))` changes nothing.

    Reasons: "empty" (nothing but space), "no_words" (no letter or digit).
    """
    edits = []
    for name, edit in _EDITS:
        edited = edit(text)
        if edited != text:
            edits.append(name)
        text = edited
    if not any(c.isalnum() for c in text):
        return Cleaned(text, tuple(edits), "no_words" if text.strip(STOPS) else "empty")
    return Cleaned(text, tuple(edits))


_SINGLE = str.maketrans(dict.fromkeys("‘’‚‛´`′ʼ", "'"))
_DOUBLE = str.maketrans(dict.fromkeys("“”„‟″«»", '"'))
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e"
                      r"\u2060-\u2064\ufeff\ufffd]")  # fmt: skip


def _control(text: str) -> str:
    """Control characters, soft hyphens, zero-width and direction marks are removed."""
    return _CONTROL.sub("", text)


def _quotes(text: str) -> str:
    """All quotes as ' and "; a quotation in single marks gets double ones."""
    text = text.translate(_SINGLE).translate(_DOUBLE)
    text = re.sub(r"''+", '"', text)
    return re.sub(r"(?<![\w'])'(?=[^\s'])([^'\"]*[^\s'\"])'(?![\w'])", r'"\1"', text)


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("\u2044", "/")


def _dashes(text: str) -> str:
    """One kind of dash; doubled and long ones stand between spaces."""
    text = re.sub(r"\s*(?:--+|[—―])\s*", " - ", text)
    return re.sub(r"[‐‑‒–−]", "-", text)


def _spaces(text: str) -> str:
    return " ".join(text.split())


def _start(text: str) -> str:
    """Marks that cannot begin a sentence are removed from its start."""
    return re.sub(r"^[\s.,;:!?/\\*•·\-]+(?=\D|\d)", "", text)


def _stops(text: str) -> str:
    """A run of stops becomes one: ? before ! before . ; dots within the sentence become three."""

    def one(match: re.Match[str]) -> str:
        run, at_end = match.group(), match.end() == len(text)
        mark = next(m for m in "?!。." if m in run)
        return "..." if mark == "." and not at_end else mark

    return re.sub(r"[.!?。](?:\s*[.!?。])+", one, text)


def _stop_outside(text: str) -> str:
    """A final stop within quotes or brackets moves behind them."""
    return re.sub(r"\s*([.!?。])\s*([\"')\]}]+)[\s.]*$", r"\2\1", text)


def _lone_quotes(text: str) -> str:
    """The last of an odd number of double quotes, and single ones that belong to no word."""
    text = re.sub(r"(?<![\w.])'|'(?=[.!?]?$)(?<![sS]')", "", text)
    if text.count('"') % 2:
        before, _, after = text.rpartition('"')
        text = before + after
    return text


_PRONOUN = r"(?i:\b(he|she|it|there|that|here|who|what|they|we|you|i))"
_HAS = r"(?i:\s+(?:been|got|had|gone|become)\b)"


def _contractions(text: str) -> str:
    """He's, they're, I'm: the verb is written out, so that no ending begins within a word."""
    text = re.sub(rf"{_PRONOUN}'[sS](?={_HAS})", r"\1 has", text)
    text = re.sub(rf"{_PRONOUN}'[sS]\b", r"\1 is", text)
    text = re.sub(rf"{_PRONOUN}'(?:re|RE)\b", r"\1 are", text)
    return re.sub(r"\b([iI])'[mM]\b", r"\1 am", text)


def _final_stop(text: str) -> str:
    """A caption ends with a stop; a comma, colon or dash at its end makes place for it."""
    text = re.sub(r"[\s,;:\-/\\]+(?=[.!?。]?$)", "", text)
    return text if text.endswith(tuple(STOPS)) else text + "."


_EDITS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("control_characters_removed", _control),
    ("quotes_made_plain", _quotes),
    ("characters_normalised", _nfkc),
    ("dashes_made_plain", _dashes),
    ("spaces_trimmed", _spaces),
    ("start_trimmed", _start),
    ("repeated_stops_joined", _stops),
    ("stop_moved_outside_quotes", _stop_outside),
    ("lone_quotes_removed", _lone_quotes),
    ("contractions_written_out", _contractions),
    ("final_stop_set", _final_stop),
    ("spaces_closed", _spaces),
)
