"""The swap rules of Adversarial Filtering (METHOD 2, "one AF iteration"), in plain numpy.

Of a context's k assigned distractors those ranked below its found ending are easy; of its
unassigned candidates those ranked above it are adversarial. Both strictly: a tie is neither. At
most `Rule.replace` easy ones make room for as many adversarial ones. It knows scores and row
numbers, not models, files or texts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIRST_ROUND = 8  # candidates per context in a lazy scan's first round; each later one has 1/4 more

Places = NDArray[np.int64]
Scores = NDArray[np.float32]
Pausing = Generator[None, None, Scores]
Score = Callable[[Places, Places], Pausing]
"""(places, rows), both (E,) -> (E,), with pauses; places count the contexts of the call."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Who goes and who comes, and how many at most.

    random: any easy one, any adversarial one (the paper). hardest: the lowest-scored easy ones,
    the highest-scored adversarial ones. softmax: easy ones drawn by the softmax of minus their
    scores, adversarial ones by that of their scores, over `temperature`, without replacement
    (after HellaSwag).
    """

    policy: str
    replace: int
    temperature: float = 1.0


@dataclass(frozen=True)
class Swaps:
    """What one call of `remap` replaced, S swaps, by place; and what it took to find them."""

    place: Places  # (S,)
    slot: NDArray[np.uint8]  # (S,) which of the k
    old: NDArray[np.uint16]  # (S,) pool row that left
    new: NDArray[np.uint16]  # (S,) pool row that came
    old_score: Scores  # (S,)
    new_score: Scores  # (S,)
    gold_score: Scores  # (S,)
    with_easy: int  # contexts that had an easy distractor
    exhausted: int  # of those, contexts whose complete scan found nothing adversarial
    scanned: int  # candidates scored

    def at(self, contexts: Places) -> Swaps:
        """The same swaps, with `contexts[place]` for each place."""
        return replace(self, place=contexts[self.place])

    @classmethod
    def none(cls) -> Swaps:
        """Where nothing could be replaced."""
        i8, scores = np.zeros(0, np.int64), np.zeros(0, np.float32)
        u1, u2 = np.zeros(0, np.uint8), np.zeros(0, np.uint16)
        return cls(i8, u1, u2, u2, scores, scores, scores, 0, 0, 0)

    @classmethod
    def join(cls, parts: Sequence[Swaps]) -> Swaps:
        """All of them, in order."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in SWAP_ARRAYS
        }
        counts = {name: sum(getattr(part, name) for part in parts) for name in SWAP_COUNTS}
        return cls(**arrays, **counts)


SWAP_ARRAYS = ("place", "slot", "old", "new", "old_score", "new_score", "gold_score")
SWAP_COUNTS = ("with_easy", "exhausted", "scanned")

Found = tuple[list[NDArray[np.int64]], list[Scores], int]
"""Per open context its incoming rows and their scores, in order of choice; candidates scored."""


def adaptive_count(accuracy_2way: float) -> int:
    """HellaSwag's number of replacements: 0 up to .525, 1 up to .575, else 2."""
    return 0 if accuracy_2way <= 0.525 else 1 if accuracy_2way <= 0.575 else 2


def remap(
    rule: Rule,
    gold: Scores,
    assigned: NDArray[np.uint16],
    assigned_scores: Scores,
    candidates: Sequence[NDArray[np.int64]],
    score: Score,
    rng: np.random.Generator,
    *,
    lazy: bool = True,
    first_round: int = FIRST_ROUND,
) -> Generator[None, None, Swaps]:
    """Applies `rule` to C contexts; pauses where `score` does.

    `gold` (C,) are the found endings' scores, `assigned` and `assigned_scores` (C, k),
    `candidates` each context's rows that may come in (complete, unassigned). Contexts without an
    easy distractor are not scanned. `lazy` stops a context's scan at the first candidates that
    suffice, which the policy `random` allows: the outcome has the full scan's distribution.
    Raises ValueError when a score is not finite.
    """
    _checked(gold)
    easy = _checked(assigned_scores) < gold[:, None]
    needed = np.minimum(easy.sum(axis=1), rule.replace)
    open_ = np.flatnonzero(needed)
    if lazy and rule.policy == "random":
        scan = _lazy_scan(open_, gold, needed, candidates, score, rng, first_round)
    else:
        scan = _full_scan(rule, open_, gold, needed, candidates, score, rng)
    rows, scores, scanned = yield from scan
    slots = []
    for one, incoming in zip(open_, rows, strict=True):
        mine = np.flatnonzero(easy[one])
        slots.append(mine[_order(rule, -assigned_scores[one, mine], rng)][: len(incoming)])
    place, slot = np.repeat(open_, [len(r) for r in rows]), _join(slots, np.int64)
    return Swaps(
        place=place,
        slot=slot.astype(np.uint8),
        old=assigned[place, slot],
        new=_join(rows, np.uint16),
        old_score=assigned_scores[place, slot],
        new_score=_join(scores, np.float32),
        gold_score=gold[place],
        with_easy=int(easy.any(axis=1).sum()),
        exhausted=sum(len(r) == 0 for r in rows),
        scanned=scanned,
    )


# --- scans -----------------------------------------------------------------------------------


def _lazy_scan(
    open_: Places,
    gold: Scores,
    needed: Places,
    candidates: Sequence[NDArray[np.int64]],
    score: Score,
    rng: np.random.Generator,
    first_round: int,
) -> Generator[None, None, Found]:
    """Walks each context's candidates in random order up to the last one needed.

    The adversarial ones stand in uniformly random order within a uniformly random order of all;
    so the first m that are met are a uniform draw of m of them. All open contexts share a round,
    so that the model gets large batches.
    """
    orders = [rng.permutation(candidates[place]) for place in open_]
    rows: list[list[NDArray[np.int64]]] = [[] for _ in open_]
    scores: list[list[Scores]] = [[] for _ in open_]
    missing = needed[open_].copy()
    start, size, scanned = 0, first_round, 0
    walking = [i for i, order in enumerate(orders) if len(order)]
    while walking:
        parts = [orders[i][start : start + size] for i in walking]
        lengths = [len(part) for part in parts]
        places = np.repeat(open_[walking], lengths)
        met = _checked((yield from score(places, np.concatenate(parts))))
        scanned += len(met)
        cuts = np.cumsum(lengths)[:-1]
        for i, part, part_scores in zip(walking, parts, np.split(met, cuts), strict=True):
            hits = np.flatnonzero(part_scores > gold[open_[i]])[: missing[i]]
            rows[i].append(part[hits])
            scores[i].append(part_scores[hits])
            missing[i] -= len(hits)
        start, size = start + size, size + max(1, size // 4)
        walking = [i for i in walking if missing[i] and len(orders[i]) > start]
    return [_join(r, np.int64) for r in rows], [_join(s, np.float32) for s in scores], scanned


def _full_scan(
    rule: Rule,
    open_: Places,
    gold: Scores,
    needed: Places,
    candidates: Sequence[NDArray[np.int64]],
    score: Score,
    rng: np.random.Generator,
) -> Generator[None, None, Found]:
    """Scores every candidate of every open context, then chooses among the adversarial ones."""
    lengths = [len(candidates[place]) for place in open_]
    rows = _join([candidates[place] for place in open_], np.int64)
    scores = _checked((yield from score(np.repeat(open_, lengths), rows)))
    chosen_rows, chosen_scores = [], []
    cuts = np.cumsum(lengths)[:-1]
    for place, r, s in zip(open_, np.split(rows, cuts), np.split(scores, cuts), strict=False):
        above = np.flatnonzero(s > gold[place])
        above = above[_order(rule, s[above], rng)][: needed[place]]
        chosen_rows.append(r[above])
        chosen_scores.append(s[above])
    return chosen_rows, chosen_scores, len(rows)


def _order(rule: Rule, wish: Scores, rng: np.random.Generator) -> NDArray[np.intp]:
    """The places of `wish`, first choice first; a higher wish is chosen sooner by the policy."""
    if rule.policy == "random":
        return rng.permutation(len(wish))
    if rule.policy == "hardest":
        return np.argsort(-wish, kind="stable")
    # Adding Gumbel noise and sorting draws by softmax without replacement.
    return np.argsort(-(wish / rule.temperature + rng.gumbel(size=len(wish))), kind="stable")


def _checked(scores: Scores) -> Scores:
    if not np.isfinite(scores).all():
        raise ValueError("a score is not finite")
    return scores


def _join(parts: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)
