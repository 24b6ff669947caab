"""Splitters: where a second sentence is cut after its opening noun phrase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Tokens = Sequence[str]


class Splitter(Protocol):
    """A part of the registry SPLITTERS. It is made without arguments and holds no state."""

    # Sentences that `split` takes at once without holding the interpreter for over 100 ms.
    batch: int

    def split(self, sentences: Sequence[Tokens]) -> list[int | str]:
        """For each sentence, cased tokens with the final stop: where its ending begins.

        Either the number of tokens of the opening noun phrase, above 0 and below the sentence's
        length, or the code of the reason why there is no such place ("no_subject").
        """
        ...
