"""What a curator may change of a context, how a table of contexts is narrowed, and what is logged.

A context's curated state is a value: every change goes from one state to another, is logged with
both, and is undone by going back. It knows no SQL and no screen.
"""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from swag_studio.records import folded

FLAGS = ("check", "gibberish", "giveaway", "wrong split", "typo", "offensive")
STATUSES = ("not judged", "in work", "judged")
BEFORE = -2  # among iterations: in a run that the one at hand goes on from


@dataclass(frozen=True, slots=True)
class Curated:
    """What people made of a context: its k distractors in order of rank, and what they noted.

    `endings` are ids by slot, without the found one; `ranks` places in it, from 0, the most
    plausible wrong ending first; empty where nobody has ranked.
    """

    endings: tuple[str, ...]
    ranks: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()
    comment: str = ""
    excluded: bool = False

    def to_json(self) -> str:
        """With its keys in order and no spaces: as SQLite writes it, too."""
        fields = dataclasses.asdict(self)
        return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Curated:
        d = json.loads(text)
        return cls(
            tuple(d["endings"]),
            tuple(d["ranks"]),
            tuple(d["flags"]),
            d["comment"],
            bool(d["excluded"]),
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """One step of the log, as undo names it: "Exclude 12 contexts". `undoes` another, or 0.

    `remaining` contexts were not reached, of a step that was broken off or is being made.
    """

    id: int
    at: str
    who: str
    name: str
    undoes: int = 0
    remaining: int = 0


def stacks(log: Iterable[Batch]) -> tuple[list[Batch], list[Batch]]:
    """(steps that can be undone, steps that can be redone) by a log, the next one last in each.

    A redone step is the undoing of its undoing; a new step forgets what could be redone. What was
    broken off on its way from one to the other is in both: it can go on or back.
    """
    done: list[Batch] = []
    undone: list[Batch] = []
    steps: dict[int, Batch] = {}
    for b in log:
        steps[b.id] = b
        if not b.undoes:
            done.append(b)
            undone.clear()
            continue
        again = steps[b.undoes].undoes  # it undoes an undoing
        source, target = (undone, done) if again else (done, undone)
        # Not the last by place: in logs of before, a step may have come in before its undoing.
        moved = steps[again or b.undoes]
        if not b.remaining and moved in source:
            source.remove(moved)
        if moved not in target:
            target.append(moved)
    return done, undone


class Made(NamedTuple):
    """How far a step is: contexts looked at, of how many, and what of it is on the disk.

    `step` is None while none of them needed a change.
    """

    step: Batch | None
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Edit:
    """One context's part of a step: the states before and after."""

    batch: Batch
    context_id: str
    before: Curated
    after: Curated


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A context as the table shows it.

    `found_score` and `margin` are in logits of the cross-fitted ensemble: `margin` is the found
    ending's score less that of the distractor that comes nearest to it or passes it. `newest` is
    the iteration that brought the newest distractor in, -1 if all are from the first draw, BEFORE
    if all stand as the run that this one goes on from left them.
    """

    id: int
    context_id: str
    sent1: str
    sent2: str
    found: str
    source: str
    video_id: str
    split: str
    fold: int
    status: str
    verdict: str
    round: int
    judged: int
    found_score: float
    margin: float
    newest: int
    flags: str
    excluded: bool
    edited: bool


SORTABLE = tuple(f.name for f in dataclasses.fields(ReviewRow) if f.name not in ("id",))


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which contexts a table shows; empty fields do not narrow. `text` is searched in all texts."""

    text: str = ""
    status: str = ""
    verdict: str = ""
    source: str = ""
    split: str = ""
    fold: int | None = None
    annotator: str = ""
    newest_from: int | None = None
    newest_to: int | None = None
    flag: str = ""
    edited: bool | None = None
    excluded: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields that narrow."""
        return {k: v for k, v in dataclasses.asdict(self).items() if v not in ("", None)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ReviewFilter:
        """A saved filter; fields that this version does not know are left out."""
        names = {f.name for f in dataclasses.fields(cls)}
        return cls(**{k: v for k, v in values.items() if k in names})


# --- searching -------------------------------------------------------------------------------

# Scripts that are written without spaces: each character is a word of its own in the index.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)


def searchable(text: str) -> str:
    """`text` as the full-text index gets it."""
    return _UNSPACED.sub(r" \1 ", unicodedata.normalize("NFKC", text).casefold())


def match_query(text: str) -> str:
    """The index's query for what a person typed: all its words, each by its beginning.

    Empty where there is no word in it.
    """
    terms = []
    for word in searchable(text).replace('"', " ").split(" "):
        terms += [t for t in re.split(r"[^\w]+", word) if t]
    return " ".join(f'"{t}"' if _UNSPACED.match(t) else f'"{t}"*' for t in terms)


# --- editing ---------------------------------------------------------------------------------

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


def text_problem(text: str, found: str, others: Sequence[str]) -> str:
    """Why `text` may not become a wrong ending, as a sentence; empty when it may."""
    if not text.strip():
        return "The ending is empty. Write what happens, or replace it from the pool."
    if text != text.strip() or "  " in text:
        return "There is space at an end, or twice in a row. Remove it."
    if CONTROL.search(text):
        return "There is a control character or a line break in it. Remove it."
    if folded(text) == folded(found):
        return "This is the right ending. A wrong one must differ from it."
    if folded(text) in {folded(other) for other in others}:
        return "Another ending of this context has the same text."
    return ""
