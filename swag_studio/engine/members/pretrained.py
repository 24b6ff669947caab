"""Word vectors from a GloVe or Numberbatch text file, for the words of the project's vocabulary.

One word and its numbers on each line, separated by spaces; a first line "count dimensions" is
skipped. Read as a stream, plain or .gz; the numbers of other words are not parsed.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import SPECIALS, Vocabulary
from swag_studio.errors import RecipeError

_HEADER = re.compile(rb"\d+ \d+")
_ENGLISH = b"/c/en/"  # before each English word in the multilingual Numberbatch
_MAX_WIDTH = 4096


def load_embeddings(path: Path, vocabulary: Vocabulary) -> NDArray[np.float32]:
    """(V, d) vectors; zero for special tokens and for words that the file does not have.

    The first line of a word counts. Raises RecipeError with the line for a file that is not of
    this form.
    """
    wanted = {t.encode(): i for i, t in enumerate(vocabulary.tokens) if t not in SPECIALS}
    vectors: NDArray[np.float32] | None = None
    seen: set[int] = set()
    width = 0
    try:
        for number, line in _lines(path):
            fields = line.count(b" ")  # the word may hold spaces, so the numbers count from the end
            if vectors is None:
                width = fields
                if not 0 < width <= _MAX_WIDTH:
                    raise _bad(path, number, "no word with numbers after it")
                vectors = np.zeros((len(vocabulary), width), np.float32)
            if fields < width:
                raise _bad(path, number, f"{fields} numbers where the first word has {width}")
            word, *numbers = line.rsplit(b" ", width)
            index = wanted.get(word.removeprefix(_ENGLISH))
            if index is not None and index not in seen:
                seen.add(index)
                vectors[index] = _vector(path, number, numbers)
    except (OSError, EOFError, gzip.BadGzipFile) as error:
        reason = getattr(error, "strerror", None) or "not a whole file"
        raise RecipeError(f"filter.embeddings_file: {path} cannot be read ({reason}).") from None
    if vectors is None or not seen:
        raise RecipeError(
            f"filter.embeddings_file: {path} has none of the project's words. "
            "Choose a GloVe or Numberbatch text file of the captions' language."
        )
    return vectors


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line without its end), the count line left out."""
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip()
            if line and not (number == 1 and _HEADER.fullmatch(line)):
                yield number, line


def _vector(path: Path, number: int, numbers: list[bytes]) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):  # a number too large for float32 is refused below
            vector = np.array([float(n) for n in numbers], np.float64).astype(np.float32)
    except ValueError:
        raise _bad(path, number, "something that is not a number") from None
    if not np.isfinite(vector).all():
        raise _bad(path, number, "a number that is not finite")
    return vector


def _bad(path: Path, number: int, what: str) -> RecipeError:
    return RecipeError(
        f"filter.embeddings_file: {path}, line {number}: {what}. "
        "Choose a GloVe or Numberbatch text file."
    )
