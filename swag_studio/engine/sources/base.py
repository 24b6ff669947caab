"""What every caption format shares: strict text from a file, refusals, and the reasons.

A source knows one format. It knows nothing of the project, and holds one document at a time where
the file lets it, so that a file may be larger than memory.
"""

from __future__ import annotations

import codecs
import hashlib
import stat
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, ClassVar

from swag_studio.errors import SourceError
from swag_studio.records import Caption, LeftOut, OwnContext

Item = Caption | OwnContext | LeftOut
Items = Generator[Item | None, None, None]

CHUNK = 1 << 20  # bytes read at once
HEAD = 1 << 16  # characters by which a format is recognised
MAX_LINE = 1 << 24  # characters of a line or of one JSON value
MAX_TEXT = 10_000  # characters of a caption; Prepare takes 100 tokens at most
MAX_ID = 1_000  # characters

# Why something of a file was not used. The codes are counted, the sentences are shown.
REASONS = {
    "byte_order_mark": "a byte order mark at the start of the file was skipped",
    "clip_without_movie": "the clip's name does not end in its times, so its movie is unknown",
    "column_not_used": "a column or key has no meaning here and was not used",
    "control_character": "the text holds a control character",
    "counts_differ": "the video has not as many sentences as timestamps",
    "duplicate_ending": "the ending equals an earlier one of its context",
    "empty_sentence": "the sentence is empty",
    "end_before_start": "the end is before the start: the caption is kept without its times",
    "equals_found": "the ending equals the found ending",
    "lone_surrogate": "the text holds half of a character",
    "no_endings": "no ending of the context is left",
    "no_final_newline": "the last line has no line end: it may be cut off",
    "no_sentences": "the video has no sentences",
    "sentence_too_long": f"the sentence is longer than {MAX_TEXT:,} characters",
}


class Source(ABC):
    """A file of one format.

    `bytes_read` grows to `passes` times the file's size while it is read; `digests` collects the
    SHA-256 of each pass, so that a file that changes meanwhile is noticed.
    """

    passes: ClassVar[int] = 1

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes_read = 0
        self.digests: set[str] = set()
        self._byte_order_mark = False
        self._cut_line = 0

    @staticmethod
    @abstractmethod
    def sniff(path: Path) -> bool:
        """Whether the start of the file looks like this format. Raises SourceError: no text."""

    @abstractmethod
    def read(self) -> Items:
        """What the file holds, one document after another, captions by position.

        None stands for a stretch of work without an item: the caller may stop there. Raises
        SourceError when the file is not of this format; what was read before is then not to be
        used either.
        """

    def notes(self) -> Iterator[LeftOut]:
        """What is to be said of the file as a whole, once it is read."""
        if self._byte_order_mark:
            yield LeftOut("", 0, "byte_order_mark", "line 1")
        if self._cut_line:
            yield LeftOut("", 0, "no_final_newline", f"line {self._cut_line}")

    def refusal(self, place: str, reason: str, remedy: str = "") -> SourceError:
        """The error that refuses this file."""
        return SourceError(str(self.path), place, reason, remedy)

    def chunks(self) -> Iterator[str]:
        """The file's text in pieces, without a byte order mark."""
        digest = hashlib.sha256()

        def watch(data: bytes) -> None:
            digest.update(data)
            self.bytes_read += len(data)

        first = True
        for text in decoded(self.path, watch):
            if first and text.startswith("\ufeff"):
                self._byte_order_mark, text = True, text[1:]
            first = False
            yield text
        self.digests.add(digest.hexdigest())

    def lines(self) -> Iterator[tuple[int, str]]:
        """(number from 1, line with its line end). Only a line feed ends a line."""
        number, rest = 0, ""
        for text in self.chunks():
            *whole, rest = (rest + text).split("\n")
            for line in whole:
                number += 1
                yield number, line + "\n"
            if len(rest) > MAX_LINE:
                raise self.refusal(f"line {number + 1}", f"longer than {MAX_LINE:,} characters")
        if rest:
            self._cut_line = number + 1
            yield number + 1, rest


def open_file(path: Path) -> BinaryIO:
    """The file, open for reading. Raises SourceError where there is no file with contents."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise SourceError(str(path), "", "a folder, not a file", "Name the files in it.")
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(str(path), "", "not a regular file", "Save it as a file first.")
        if status.st_size == 0:
            raise SourceError(str(path), "", "empty", "Fetch or export it again.")
        return open(path, "rb")
    except FileNotFoundError:
        raise SourceError(str(path), "", "there is no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise SourceError(str(path), "", f"cannot be read ({reason})") from None


def decoded(
    path: Path, watch: Callable[[bytes], None] = lambda data: None
) -> Generator[str, None, None]:
    """The file's text in pieces as strict UTF-8. `watch` is shown the bytes of each piece."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, offset = 1, 0
    with open_file(path) as file:
        while True:
            try:
                data = file.read(CHUNK)
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                good = error.object[: error.start]
                # `error.object` begins with what the decoder held back of the piece before.
                at = offset + len(data) - len(error.object) + error.start
                place = f"line {line + good.count(10)}, byte {at}"
                raise SourceError(
                    str(path), place, "not text in UTF-8", "Save it in the encoding UTF-8."
                ) from None
            except OSError as error:
                raise SourceError(str(path), "", f"cannot be read ({error.strerror})") from None
            if (nul := text.find("\0")) >= 0:
                number = line + text.count("\n", 0, nul)
                remedy = "It is damaged, or not a text file."
                raise SourceError(str(path), f"line {number}", "holds a NUL byte", remedy)
            watch(data)
            line, offset = line + text.count("\n"), offset + len(data)
            if text:
                yield text
            if not data:
                return


def head(path: Path) -> str:
    """The first characters of the file, without a byte order mark."""
    with closing(decoded(path)) as pieces:
        return next(pieces, "").removeprefix("\ufeff")[:HEAD]


def first_line(path: Path) -> str:
    """The first line that is not blank, without its line end; cut off when it is very long."""
    return next((line for line in head(path).split("\n") if line.strip()), "").rstrip("\r")


# --- values ----------------------------------------------------------------------------------


def unusable(text: str) -> str:
    """The reason why a caption's text cannot be used, or ""."""
    if not text.strip():
        return "empty_sentence"
    if len(text) > MAX_TEXT:
        return "sentence_too_long"
    return bad_character(text)


def bad_character(text: str) -> str:
    """The reason to leave out text that no file or table could hold, or ""."""
    if text.isascii() and text.isprintable():
        return ""
    for character in text:
        category = unicodedata.category(character)
        if category == "Cs":
            return "lone_surrogate"
        if category == "Cc" and not character.isspace():
            return "control_character"
    return ""


def identifier(value: object) -> str:
    """A document, group or context id as text. Raises ValueError with what is wrong with it."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError("neither text nor a whole number")
    value = value.strip()
    if not value:
        raise ValueError("empty")
    if len(value) > MAX_ID:
        raise ValueError(f"longer than {MAX_ID:,} characters")
    if not value.isprintable() and not all(c.isprintable() or c in "\t\u00a0\u3000" for c in value):
        raise ValueError("not one line of plain text")
    return value


def seconds(value: object) -> float:
    """A number of seconds from 0. Raises ValueError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")
    if not 0 <= value < 1e9:  # False for NaN
        raise ValueError("not a number of seconds from 0")
    return float(value)


def shown(name: str) -> str:
    """A name as a message shows it: one short line, whatever stands in the file."""
    clean = "".join(c if c.isprintable() else "?" for c in name[:60])
    return clean + ("..." if len(name) > 60 else "")
