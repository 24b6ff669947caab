"""The rows that pass from table to table, as frozen records.

Ids are derived from content (group, sentence index, text), never from row numbers, so that
human work stays with the text that it was done on, whatever is imported or rerun later.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

SPLITS = ("train", "val", "test")

State = Literal["done", "stale", "unfinished", "missing"]  # of a stage, by the present recipe
STATE_WORDS = {  # as everybody reads them, in the window and in the terminal
    "done": "done",
    "stale": "out of date",
    "unfinished": "interrupted",
    "missing": "not yet",
    "running": "running",
}


def content_id(kind: str, *parts: str) -> str:
    """A 24-character id from `kind` (one letter) and the parts' text.

    Each part's length is hashed with it, so that ("ab", "c") and ("a", "bc") differ.
    """
    digest = hashlib.blake2b(digest_size=12, person=kind.encode()[:16])
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return kind[0] + digest.hexdigest()[:23]


def folded(text: str) -> str:
    """`text` as it is compared for equality: NFKC, case folded, runs of space made one."""
    once = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if once.isascii():
        return once
    # What folding takes apart may meet an accent that follows, as the iota of "ᾇ" does.
    return unicodedata.normalize("NFKC", once).casefold()


@dataclass(frozen=True, slots=True)
class Caption:
    """One sentence of one document (a video's annotation), as it stood in its source file.

    `group` is what must never be divided between folds or splits: the video, or the movie for
    LSMDC. `position` counts from 0 in order of time within the document. `start` and `end` are
    seconds, None where the source has none.
    """

    document: str
    group: str
    video_id: str
    position: int
    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class OwnContext:
    """A context that another generator made, already split, with its candidate endings."""

    document: str
    group: str
    sent1: str
    sent2: str
    found: str
    endings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of a source that was not used, or a pair that Prepare dropped, and why.

    `reason` is one of a small set of codes that are counted ("no_gap_time", "ending_too_long");
    `place` is a line, key or position that lets a person find it; `detail` a few words.
    """

    document: str
    position: int
    reason: str
    place: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """A source file that was imported. `id` is derived from the format and the file's hash."""

    id: str
    file: str
    format: str
    sha256: str
    bytes: int
    documents: int
    captions: int
    own_contexts: int
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """c = (s, n) with its found ending, as shown text. Token ids are in the corpus arrays.

    `origin` is "captions" or "own"; `selected` is False for contexts that `max_contexts` left
    out of the sample.
    """

    id: str
    group: str
    video_id: str
    source_id: str
    document: str
    position: int
    sent1: str
    sent2: str
    found: str
    fold: int
    split: str
    origin: str = "captions"
    selected: bool = True


# "scrambled": known gibberish of a check, which is never assigned and so never in a question.
EndingKind = Literal["found", "generated", "own", "edited", "scrambled"]


@dataclass(frozen=True, slots=True)
class Ending:
    """One ending of a context as shown text. `row` is its row in the context's pool block."""

    id: str
    context_id: str
    text: str
    kind: EndingKind
    row: int


@dataclass(frozen=True, slots=True)
class Artifact:
    """What one stage made with one recipe: a version that is never rewritten once `done`.

    `key` is the hash of everything that the result depends on; `folder` is relative to the
    project ("models/v1").
    """

    stage: str
    version: int
    key: str
    folder: str
    done: bool
    recipe: str
    summary: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Distractor:
    """A question's wrong ending. `type` is "unl" or "pos" as people saw it, "" if nobody did."""

    id: str
    text: str
    type: str = ""
    kind: EndingKind = "generated"


@dataclass(frozen=True, slots=True)
class Question:
    """A context with its endings, ready to be exported. `endings[label]` is the right one.

    `gold_source` is "gold" or "gen". The fields from `id` on are those of a release that people
    verified. `distractors` are all wrong endings, the least likely first; the first three of them
    are in `endings`. `full_source` is what the full files call the question ("gold0-orig"),
    `right_type` how people saw the right ending. `simulated` says that an answer of a simulated
    annotator counted.
    """

    context_id: str
    video_id: str
    fold: int
    split: str
    sent1: str
    sent2: str
    endings: tuple[str, ...]
    label: int
    gold_source: str
    id: str = ""
    group: str = ""
    source_id: str = ""
    document: str = ""
    position: int = 0
    right_id: str = ""
    right_type: str = ""
    right_kind: EndingKind = "found"
    distractors: tuple[Distractor, ...] = ()
    full_source: str = ""
    verified: bool = False
    simulated: bool = False

    @property
    def right(self) -> str:
        """The right ending."""
        return self.endings[self.label]


def ending_id(context_id: str, text: str) -> str:
    """The id of an ending: its context and its text."""
    return content_id("ending", context_id, folded(text))


def context_id(group: str, position: int, sent1: str, sent2: str, found: str) -> str:
    """The id of a context: its group, the second sentence's position, and its text.

    The found ending makes the last third alone: a release is sorted by these ids, and the order of
    its test questions must not tell which ending was found.
    """
    asked = content_id("context", group, str(position), folded(sent1), folded(sent2))[:16]
    return asked + content_id("found", asked, folded(found))[1:9]
