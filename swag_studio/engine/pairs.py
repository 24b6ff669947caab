"""From captions to candidate contexts: pairs, the rules that drop them, equal ones resolved.

Every pair ends as a context or as a dropped row with one reason. It knows tokens and rules, not
how a sentence is split (splitters/), nor folds, nor files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from swag_studio.engine.text import CLITICS, SENTENCE_STOPS
from swag_studio.recipe import PrepareRecipe
from swag_studio.records import LeftOut, context_id, folded

# A longer second sentence is not worth parsing: no phrase and ending of sane length add up to it.
LONGEST_SENTENCE = 200


@dataclass(frozen=True, slots=True)
class Line:
    """A caption without its text. `row` is its row in the token table, -1 if it is unusable."""

    source: str
    document: str
    group: str
    video_id: str
    position: int
    start: float | None
    end: float | None
    row: int

    def follows(self, before: Line) -> bool:
        """Whether this is the caption after `before` in the same document."""
        return (before.source, before.document, before.position + 1) == (
            self.source,
            self.document,
            self.position,
        )

    def left_out(self, reason: str, detail: str = "") -> LeftOut:
        """The row of a dropped pair whose second caption this is."""
        return LeftOut(self.document, self.position, reason, self.source, detail)


Pair = tuple[Line, Line]


def unlinked(pair: Pair, max_gap: float) -> str:
    """The reason why two adjacent captions do not belong together, or "".

    A time that is unknown passes; overlapping captions have a negative gap, and pass.
    """
    first, second = pair
    if first.row < 0 or second.row < 0:
        return "unusable_caption"
    if first.end is not None and second.start is not None and second.start - first.end > max_gap:
        return "gap"
    return ""


def unfit(first: Sequence[str], second: Sequence[str], recipe: PrepareRecipe) -> str:
    """The reason why two sentences' tokens cannot make a context, before any parse, or ""."""
    if len(first) < recipe.min_context_tokens:
        return "context_too_short"
    if len(first) > recipe.max_context_tokens:
        return "context_too_long"
    if any(token in SENTENCE_STOPS for token in second[:-1]):
        return "several_sentences"
    if len(second) <= recipe.min_ending_tokens:
        return "ending_too_short"
    if len(second) > LONGEST_SENTENCE:
        return "ending_too_long"
    return ""


def badly_cut(second: Sequence[str], cut: int, recipe: PrepareRecipe) -> str:
    """The reason why a sentence cut after `cut` tokens cannot be used, or ""."""
    ending = second[cut:]
    if len(ending) < recipe.min_ending_tokens:
        return "ending_too_short"
    if len(ending) > recipe.max_ending_tokens:
        return "ending_too_long"
    if ending[0].lower() in CLITICS:
        return "cut_within_word"
    if second[:cut].count('"') % 2:
        return "cut_within_quotes"
    return ""


def own_unfit(s: Sequence[str], n: Sequence[str], v: Sequence[str], recipe: PrepareRecipe) -> str:
    """The reason why an own context cannot be used, or "": no filters but what arrays hold."""
    if not (s and n and v):
        return "empty_part"
    if len(n) > LONGEST_SENTENCE:
        return "phrase_too_long"
    return "ending_too_long" if len(v) > recipe.max_ending_tokens else ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A context that has passed all rules but those that compare it with others.

    Its tokens are the table's rows `first.row` and `second.row`, cut after `cut` tokens.
    """

    id: str
    first: Line
    second: Line
    cut: int
    sent1: str
    sent2: str
    found: str
    own: bool = False

    @classmethod
    def of(cls, pair: Pair, cut: int, texts: tuple[str, str, str], own: bool) -> Candidate:
        """With its id, from (sent1, sent2, found) as shown."""
        second = pair[1]
        return cls(
            context_id(second.group, second.position, *texts), *pair, cut, *texts, own
        )  # fmt: skip


def resolve(candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[LeftOut]]:
    """(the candidates that stay, by id; the others).

    Of identical pairs, and of contexts with equal (s, n) but another ending, the first by id
    stays; an own context goes before one from captions, since its candidates were made for it.
    """
    kept: list[Candidate] = []
    dropped: list[LeftOut] = []
    contexts: dict[tuple[str, str], str] = {}
    whole: set[tuple[str, str, str]] = set()
    order = sorted(candidates, key=lambda c: (not c.own, c.id, c.second.source, c.second.document))
    for c in order:
        s, n, v = folded(c.sent1), folded(c.sent2), folded(c.found)
        if (s, n) not in contexts:
            contexts[s, n] = c.id
            kept.append(c)
        else:
            reason = "duplicate_pair" if (s, n, v) in whole else "equal_context"
            dropped.append(c.second.left_out(reason, f"like {contexts[s, n]}"))
        whole.add((s, n, v))
    return sorted(kept, key=lambda c: c.id), dropped
