"""In which order contexts are judged, and who gets which task of which round. Pure.

It adds to allocation.py what the rounds of one filter run need: first rounds come before further
ones, what somebody skipped goes to another one too, and where nobody else is left an annotator may
have a further round of a context that they know.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from swag_studio.allocation import OverlapPlan, Pair, allocate, requeue, shortfall


def spread(groups: Iterable[tuple[str, str]], seed: int) -> list[str]:
    """The context ids of (context id, group) in the order of work: each group spread out evenly.

    The next caption of a video tells the ending of a context, so the contexts of one group are
    kept far from each other: with n of all N contexts, they come about N/n apart.
    """
    members: dict[str, list[str]] = {}
    for context, group in groups:
        members.setdefault(group, []).append(context)
    places: list[tuple[float, str]] = []
    for group, contexts in members.items():
        start = _chance(seed, group) / 2**64
        contexts.sort(key=lambda context: _chance(seed, context))
        places += [((i + start) / len(contexts), c) for i, c in enumerate(contexts)]
    return [context for _, context in sorted(places)]


@dataclass(frozen=True, slots=True, order=True)
class Wanted:
    """A task that wants judges, in the order of work. `seen`: its context had a task before."""

    round: int
    place: int
    task_id: str
    context_id: str
    seen: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """A task that an annotator has: `state` open, done or skipped."""

    task_id: str
    context_id: str
    annotator_id: str
    state: str

    @property
    def pair(self) -> Pair:
        return self.task_id, self.annotator_id


def deal(
    wanted: Collection[Wanted],
    annotators: Sequence[str],
    plan: OverlapPlan,
    seed: int,
    given: Collection[Given],
    dropped: str = "",
) -> list[Pair]:
    """The new pairs of task and annotator, in the order of work.

    given     what annotators have of these and of other tasks, checks too; not what was taken back
    dropped   an annotator whose tasks alone are dealt, to the others

    The plan's first tasks are the first ones of round 0; further rounds have `rest` each.
    """
    queue = sorted(wanted)
    tasks = [w.task_id for w in queue]
    firsts = sum(w.round == 0 for w in queue)
    plan = dataclasses.replace(plan, first=min(plan.first, firsts))
    contexts = {g.task_id: g.context_id for g in given} | {w.task_id: w.context_id for w in queue}
    have = [g.pair for g in given]
    active = [who for who in annotators if who != dropped]

    if dropped:
        new = requeue(tasks, active, plan, seed, have, dropped, contexts=contexts)
        have = [pair for pair in have if pair[1] != dropped]
        theirs = {g.task_id for g in given if g.annotator_id == dropped}
        queue = [w for w in queue if w.task_id in theirs]
    else:
        new = allocate(tasks, active, plan, seed, have, contexts=contexts)
    for who in sorted({g.annotator_id for g in given if g.state == "skipped"} - {dropped}):
        own = [g.pair for g in given if g.annotator_id == who and g.state != "skipped"]
        others = set(have + new) - set(own)
        new += requeue(tasks, active, plan, seed, others, who, contexts=contexts)

    lacks = shortfall(tasks, plan, have + new)
    again = [w for w in queue if w.seen and w.task_id in lacks]
    if again:
        wanting = {w.task_id for w in again}
        places = {task: place for place, task in enumerate(tasks)}
        first = sum(places[task] < plan.first for task in wanting)
        rest = dataclasses.replace(plan, first=first)
        ids = [w.task_id for w in again]
        new += allocate(ids, active, rest, seed, have + new)
    order = {task: place for place, task in enumerate(tasks)}
    return sorted(set(new), key=lambda pair: (order[pair[0]], pair[1]))


def _chance(seed: int, name: str) -> int:
    digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8, person=b"order of work")
    return int.from_bytes(digest.digest(), "little")
