"""Who judges what: an overlap plan, dealt out evenly and by seed. Pure; the store keeps the result.

Each pair of a task and an annotator is dealt to the least loaded who may take it, and then moved
while that makes the loads more even. What can be promised:

- Nobody has a task twice, or two tasks of one context unless that is allowed, and no task has
  more annotators than planned, besides those who had it before.
- A task has as many as planned wherever enough annotators may take it, if no other task of its
  context is short as well.
- Where no two short tasks share a context, no other way to deal the same work has a smaller
  difference between the highest and the lowest load. It is at most 1 whenever any way reaches
  that: always if nobody has work yet; else if the new work suffices to level what they have and
  each may take enough of it.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from swag_studio.sections import setting

Pair = tuple[str, str]  # a task's id and an annotator's


@dataclass(frozen=True, slots=True)
class OverlapPlan:
    """How many annotators judge a task: the first tasks by several, the rest by few."""

    first: int = setting(
        0, "Tasks, from the first, that several judge.", low=0, high=10_000_000, unit="tasks"
    )
    by: int = setting(2, "Annotators of each of those.", low=1, high=50)
    rest: int = setting(1, "Annotators of each other task.", low=1, high=50)

    def wanted(self, place: int) -> int:
        """Annotators of the task at `place`, from 0."""
        return self.by if place < self.first else self.rest


def allocate(
    tasks: Sequence[str],
    annotators: Sequence[str],
    plan: OverlapPlan,
    seed: int,
    existing: Collection[Pair] = (),
    *,
    contexts: Mapping[str, str] | None = None,
) -> list[Pair]:
    """The new pairs of task and annotator, in the order of `tasks`; see the module for promises.

    tasks       ids in their order of work: the plan's first ones are the first here
    annotators  ids of those who get work
    existing    pairs that were dealt before, judged or not, also of tasks or annotators that are
                not among these; those of a dropped annotator are left out (`requeue`)
    contexts    task -> context, at least for all tasks named; absent: one annotator may judge two
                tasks of a context (its further rounds)

    A task that too few may take gets as many as can be; `shortfall` tells.
    """
    places = {task: place for place, task in enumerate(tasks)}
    needs = {task: plan.wanted(place) for task, place in places.items()}
    return _Deal(needs, annotators, seed, existing, contexts).pairs()


def requeue(
    tasks: Sequence[str],
    annotators: Sequence[str],
    plan: OverlapPlan,
    seed: int,
    existing: Collection[Pair],
    dropped: str,
    *,
    contexts: Mapping[str, str] | None = None,
) -> list[Pair]:
    """New pairs for the tasks of a dropped annotator, whose own no longer count. As `allocate`."""
    left = {pair for pair in existing if pair[1] != dropped}
    theirs = {task for task, annotator in existing if annotator == dropped}
    needs = {task: plan.wanted(i) for i, task in enumerate(tasks) if task in theirs}
    active = [annotator for annotator in annotators if annotator != dropped]
    return _Deal(needs, active, seed, left, contexts).pairs()


def shortfall(tasks: Sequence[str], plan: OverlapPlan, pairs: Iterable[Pair]) -> dict[str, int]:
    """Task -> annotators that it still lacks, given all pairs; only tasks that lack some."""
    have = Counter(task for task, _ in set(pairs))
    lacks = {task: plan.wanted(i) - have[task] for i, task in enumerate(tasks)}
    return {task: count for task, count in lacks.items() if count > 0}


@dataclass(frozen=True, slots=True)
class Preview:
    """What an allocation would mean. `new` and `total`: tasks per annotator."""

    new: Mapping[str, int]
    total: Mapping[str, int]
    short: Mapping[str, int] = field(default_factory=dict)  # task -> annotators that it lacks


def preview(
    tasks: Sequence[str],
    annotators: Sequence[str],
    plan: OverlapPlan,
    existing: Collection[Pair],
    new: Collection[Pair],
) -> Preview:
    """Counts of an allocation, before it is kept."""
    fresh = Counter(annotator for _, annotator in new)
    before = Counter(annotator for _, annotator in set(existing))
    return Preview(
        new={a: fresh[a] for a in annotators},
        total={a: fresh[a] + before[a] for a in annotators},
        short=shortfall(tasks, plan, [*existing, *new]),
    )


class _Deal:
    """One dealing: who holds what, who may take what, and the loads."""

    def __init__(
        self,
        needs: Mapping[str, int],
        annotators: Sequence[str],
        seed: int,
        existing: Collection[Pair],
        contexts: Mapping[str, str] | None,
    ) -> None:
        self.annotators = sorted(set(annotators))
        self.needs, self.seed = needs, seed
        self.subject = {t: t if contexts is None else contexts[t] for t in needs}
        self.dealt: dict[str, set[str]] = {task: set() for task in needs}
        self.busy: dict[str, set[str]] = {}  # who has judged or will judge a subject
        self.load = dict.fromkeys(self.annotators, 0)
        self.before = Counter(task for task, _ in set(existing))
        for task, annotator in set(existing):
            subject = task if contexts is None else contexts[task]
            self.busy.setdefault(subject, set()).add(annotator)
            if annotator in self.load:
                self.load[annotator] += 1

    def pairs(self) -> list[Pair]:
        self._deal()
        while self._even():
            pass
        return [(task, who) for task in self.needs for who in sorted(self.dealt[task])]

    def _open_to(self, task: str) -> list[str]:
        busy = self.busy.get(self.subject[task], ())
        return [who for who in self.annotators if who not in busy]

    def _deal(self) -> None:
        """Each task to the least loaded, those with the least choice first."""
        lacks = {task: max(0, need - self.before[task]) for task, need in self.needs.items()}
        choice = {t: len(self._open_to(t)) - lack for t, lack in lacks.items() if lack}
        for task in sorted(choice, key=lambda t: (choice[t], self._chance(t, ""))):
            candidates = self._open_to(task)
            candidates.sort(key=lambda who: (self.load[who], self._chance(task, who)))
            for who in candidates[: lacks[task]]:
                self._give(task, who)

    def _even(self) -> bool:
        """Moves work along one chain of annotators that makes loads more even, if there is one.

        A chain passes a task of each one to the next, from someone with at least two more than
        the last has. Without such a chain the loads are as even as they can be: like paths in a
        bipartite matching.
        """
        if not self.load or max(self.load.values()) - min(self.load.values()) < 2:
            return False
        movable = self._movable()
        for start in sorted(self.load, key=lambda who: -self.load[who]):
            chain = self._chain(start, movable)
            if chain:
                steps = list(pairwise(chain))
                gap = self.load[chain[0]] - self.load[chain[-1]]
                # All of it is legal at once: nobody on a chain takes what they or a taker holds.
                most = min(gap // 2, *(len(movable[giver][taker]) for giver, taker in steps))
                for giver, taker in steps:
                    for task in movable[giver][taker][:most]:
                        self._take(task, giver)
                        self._give(task, taker)
                return True
        return False

    def _movable(self) -> dict[str, dict[str, list[str]]]:
        """Giver -> taker -> new tasks of the giver that the taker may have."""
        found: dict[str, dict[str, list[str]]] = {who: {} for who in self.annotators}
        for task, holders in self.dealt.items():
            if holders:
                takers = self._open_to(task)
                for giver in holders:
                    for taker in takers:
                        found[giver].setdefault(taker, []).append(task)
        return found

    def _chain(self, start: str, movable: Mapping[str, Mapping[str, list[str]]]) -> list[str]:
        """The shortest chain from `start` to someone with two less, or nothing."""
        came: dict[str, str] = {start: ""}
        waiting = deque([start])
        while waiting:
            who = waiting.popleft()
            if self.load[who] <= self.load[start] - 2:
                chain = [who]
                while came[chain[-1]]:
                    chain.append(came[chain[-1]])
                return chain[::-1]
            for taker in sorted(movable[who], key=lambda other: (self.load[other], other)):
                if taker not in came:
                    came[taker] = who
                    waiting.append(taker)
        return []

    def _give(self, task: str, who: str) -> None:
        self.dealt[task].add(who)
        self.busy.setdefault(self.subject[task], set()).add(who)
        self.load[who] += 1

    def _take(self, task: str, who: str) -> None:
        self.dealt[task].discard(who)
        self.busy[self.subject[task]].discard(who)
        self.load[who] -= 1

    def _chance(self, task: str, who: str) -> bytes:
        text = f"{self.seed} {task} {who}".encode()
        return hashlib.blake2b(text, digest_size=8, person=b"allocation").digest()
