"""Cases: all that people did on a context, and what follows from it. Read in slices from the store.

A task goes by its texts: it counts as long as all its endings are endings of the context, whichever
filter run it was drawn for, and no longer once one of them was edited or replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from swag_studio.connections import sliced
from swag_studio.judging import Adjudication, Annotator, Judgement, Task, Verdict, counting
from swag_studio.policy import VerificationPolicy
from swag_studio.records import Context, folded
from swag_studio.store import Store
from swag_studio.store_rounds import SLICE_OF_CONTEXTS
from swag_studio.verification import verdict

GIVEN_OUT = ("open", "done")  # states in which an annotator is waited for, or has answered


@dataclass(frozen=True, slots=True)
class Case:
    """A context with all its work.

    `endings` are ids as people left them, the found one first. `live` has one task per round from
    0 on; `obsolete` the other tasks of kind "work". `judgements` are those that count, of live
    tasks. `asked` is task -> annotator -> state of what was given out, to anybody; `waited` is task
    -> annotators whose answer would count.
    """

    context: Context
    endings: tuple[str, ...]
    excluded: bool
    live: tuple[Task, ...]
    obsolete: tuple[Task, ...]
    judgements: tuple[Judgement, ...]
    adjudications: tuple[Adjudication, ...]
    asked: Mapping[str, Mapping[str, str]]
    waited: Mapping[str, int]
    barred: Set[str]

    def verdict(self, policy: VerificationPolicy, seed: int) -> Verdict | None:
        """What follows; None without a task that counts, or for an excluded context."""
        if not self.live or self.excluded:
            return None
        return verdict(
            self.live,
            self.judgements,
            self.adjudications,
            self.endings,
            policy,
            split=self.context.split,
            seed=seed,
            barred=self.barred,
            needed=self.waited,
        )

    def status(self, found: Verdict | None) -> str:
        """One of reviewing.STATUSES: "in work" from the first allocation on."""
        if found is None:
            return "not judged"
        if found.kind in ("found", "surprising"):
            return "judged"
        work = self.judgements or any(self.asked.get(task.id) for task in self.live)
        return "in work" if work else "not judged"


@dataclass(frozen=True, slots=True)
class CaseReader:
    """Reads the cases of one filter run. `barred`: found endings of val and test, folded."""

    store: Store
    version: int
    prepare: int
    barred: Set[str]

    def read(self, context_ids: Iterable[str], simulated: bool) -> Iterator[Case]:
        """The cases of contexts that the run has, in this order, some hundreds at a time.

        Answers of dropped annotators do not count, those of simulated ones only if `simulated`.
        """
        people = [a for a in self.store.annotators() if a.active]
        for ids in sliced(context_ids, SLICE_OF_CONTEXTS):
            yield from self._slice(ids, people, simulated)

    def _slice(
        self, ids: Sequence[str], people: Sequence[Annotator], simulated: bool
    ) -> Iterator[Case]:
        store = self.store
        assigned, curated = (
            store.assigned_of(self.version, ids),
            store.changed_of(self.version, ids),
        )
        tasks, answers = store.tasks_of(ids), store.judgements_of(ids)
        asked, settled = store.asked_of(ids), store.adjudications_of(ids)
        counted = {a.id for a in people if simulated or a.kind == "person"}
        contexts = store.contexts_by_id(self.prepare, ids)
        barred = self._barred(
            [t for c in contexts if c.split == "train" for t in tasks.get(c.id, ())]
        )
        for context in contexts:
            if context.id not in assigned:
                continue
            found, *wrong = assigned[context.id]
            state = curated.get(context.id)
            endings = (found, *(state.endings if state else wrong))
            work = [t for t in tasks.get(context.id, ()) if t.kind == "work"]
            given = {t.id: tuple(counting(answers.get(t.id, ()), people, simulated)) for t in work}
            live = _live(work, frozenset(endings), {task: len(j) for task, j in given.items()})
            yield Case(
                context=context,
                endings=endings,
                excluded=bool(state and state.excluded),
                live=live,
                obsolete=tuple(t for t in work if t not in live),
                judgements=tuple(j for t in live for j in given[t.id]),
                adjudications=tuple(settled[t.id] for t in live if t.id in settled),
                asked={t.id: asked[t.id] for t in work if t.id in asked},
                waited={
                    t.id: sum(
                        who in counted and how in GIVEN_OUT
                        for who, how in asked.get(t.id, {}).items()
                    )
                    for t in live
                },
                barred=barred,
            )

    def _barred(self, tasks: Sequence[Task]) -> Set[str]:
        """Those endings of tasks that equal a found ending of val or test."""
        if not self.barred:
            return frozenset()
        ids = sorted({ending for task in tasks for ending in task.endings})
        endings = self.store.endings_by_id(ids).values()
        return {e.id for e in endings if folded(e.text) in self.barred}


def _live(
    tasks: Sequence[Task], endings: frozenset[str], judged: Mapping[str, int]
) -> tuple[Task, ...]:
    """One task per round from 0 on, as far as there are tasks whose endings are all there still.

    Of several in a round (an edit was undone, say) the one that was judged most.
    """
    there = [t for t in tasks if endings.issuperset(t.endings)]
    chain: list[Task] = []
    while True:
        fit = [t for t in there if t.round == len(chain) and (not chain or _follows(t, chain[-1]))]
        if not fit:
            return tuple(chain)
        chain.append(max(fit, key=lambda t: (judged[t.id], t.id)))


def _follows(task: Task, before: Task) -> bool:
    """Whether a task can be the round after another: it keeps each ending in its place, or out."""
    pairs = zip(task.endings, before.endings, strict=True)
    return all(new == old or new not in before.endings for new, old in pairs)
