"""One iteration of Adversarial Filtering: train on some contexts, test and remap the others.

A new ensemble is trained on the found and assigned endings of 80% of the contexts; on the other
20% it is tested, before anything is replaced, and then chooses what is. It knows no project and
no files but the pool; it yields what it is doing, in a few words.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from swag_studio.engine.assignment import Assignment
from swag_studio.engine.ensemble import (
    JOINT,
    Ensemble,
    EnsembleSpec,
    dev_contexts,
    member_accuracies,
    needs_tags,
)
from swag_studio.engine.filter_items import Assigned, Candidates, Incoming
from swag_studio.engine.remap import Rule, Score, Swaps, adaptive_count, remap
from swag_studio.engine.runtime import seed_for
from swag_studio.recipe import FilterRecipe

# Fixed: a score's last bits depend on what shares its batch.
_CONTEXTS_AT_ONCE = 256  # read from the pool together, so that a scan has large batches
_SCORED_AT_ONCE = 1024  # endings

Note = str
Places = NDArray[np.int64]
Scores = NDArray[np.float32]


S = TypeVar("S")
T = TypeVar("T")


def noted(work: Generator[S, None, T], note: Note) -> Generator[Note, None, T]:
    """`work`, with a note for each thing that it yields; "{}" in the note stands for the thing."""
    while True:
        try:
            value = next(work)
        except StopIteration as stop:
            result: T = stop.value
            return result
        yield note.format(value)


@dataclass(frozen=True)
class Tested:
    """A trained ensemble and how it did on contexts that it never saw."""

    ensemble: Ensemble
    test: Places  # (C',) ascending
    scores: dict[str, Scores]  # head -> (C' * (k + 1),)
    measures: dict[str, dict[str, float]]  # head -> accuracy, accuracy_4way, accuracy_2way, loss

    @property
    def head(self) -> str:
        """The head whose scores count: the joint one, or that of the only member."""
        return JOINT if JOINT in self.measures else next(iter(self.measures))


def split(contexts: int, share: float, rng: np.random.Generator) -> tuple[Places, Places]:
    """(training, test) places, ascending, at least two and one of them."""
    count = min(max(2, round(contexts * share)), contexts - 1)
    order = rng.permutation(contexts)
    return np.sort(order[:count]), np.sort(order[count:])


def train_and_test(
    spec: EnsembleSpec, assigned: Assigned, device: torch.device, seed: int
) -> Generator[Note, None, Tested]:
    """Splits the contexts, trains a new ensemble on the larger part and tests it on the other."""
    recipe, size = spec.recipe, assigned.rows.shape[1]
    tags = needs_tags(spec.members)
    if tags:
        yield from noted(assigned.fill_tags(), f"tagging {{}}/{len(assigned.rows)}")
    rng = np.random.default_rng(seed_for(seed, "split"))
    train, test = split(len(assigned.rows), recipe.train_share, rng)
    dev = dev_contexts(len(train), recipe.dev_share, rng)
    ensemble = Ensemble(spec, seed_for(seed, "weights"), device)
    for step in ensemble.fit(assigned.items(train, tags), size, dev):
        yield f"training {step.done}/{step.total}"
    scores: dict[str, list[Scores]] = {}
    for part in np.array_split(test, -(-len(test) * size // _SCORED_AT_ONCE)):
        for head, values in ensemble.score(assigned.items(part, tags)).items():
            scores.setdefault(head, []).append(values)
        yield "testing"
    joined = {head: np.concatenate(parts) for head, parts in scores.items()}
    if len(spec.members) == 1:  # no ensemble, and so no such curve
        joined.pop(JOINT)
    draw = np.random.default_rng(seed_for(seed, "4-way"))
    return Tested(ensemble, test, joined, member_accuracies(joined, size, draw))


def rule_for(recipe: FilterRecipe, tested: Tested) -> Rule:
    """What the recipe replaces after this test."""
    count = recipe.replace
    if recipe.adaptive:
        count = adaptive_count(tested.measures[tested.head]["accuracy_2way"])
    return Rule(recipe.policy, count, recipe.softmax_temperature)


def remap_tested(
    rule: Rule,
    tested: Tested,
    assigned: Assigned,
    assignment: Assignment,
    seed: int,
    *,
    may_move: NDArray[np.bool_] | None = None,
    lazy: bool = True,
) -> Generator[Note, None, tuple[Swaps, Incoming]]:
    """What `rule` replaces in the tested contexts, and the endings that come in.

    Nothing is changed yet. `may_move` (C,) says which of all contexts are not to stay as they are;
    `lazy` False scores every candidate whatever the policy.
    """
    ensemble, tags = tested.ensemble, needs_tags(tested.ensemble.spec.members)
    table, test = tested.scores[tested.head].reshape(len(tested.test), -1), tested.test
    if may_move is not None:
        table, test = table[may_move[test]], test[may_move[test]]
    rng = np.random.default_rng(seed_for(seed, "remap"))
    parts: list[Swaps] = []
    incoming: list[Incoming] = []
    for start in range(0, len(table), _CONTEXTS_AT_ONCE):
        part = slice(start, start + _CONTEXTS_AT_ONCE)
        candidates = Candidates(assigned.source, test[part], tags)
        scanning = remap(
            rule,
            table[part, 0],
            assignment.rows[candidates.places],
            table[part, 1:],
            [assignment.candidates(int(place)) for place in candidates.places],
            _scorer(ensemble, candidates),
            rng,
            lazy=lazy,
        )
        swaps = yield from noted(scanning, f"replacing {start}/{len(table)}")
        candidates.keep_tags()
        incoming.append(candidates.incoming(swaps.place, swaps.new))
        parts.append(swaps.at(candidates.places))
    if not parts:
        return Swaps.none(), Incoming.none(assigned)
    return Swaps.join(parts), Incoming.join(incoming)


def _scorer(ensemble: Ensemble, candidates: Candidates) -> Score:
    def score(which: Places, rows: Places) -> Generator[None, None, Scores]:
        yield from candidates.fill_tags(which, rows)
        parts = [np.zeros(0, np.float32)]
        for start in range(0, len(rows), _SCORED_AT_ONCE):
            part = slice(start, start + _SCORED_AT_ONCE)
            parts.append(ensemble.score(candidates.items(which[part], rows[part]))[JOINT])
            yield
        return np.concatenate(parts)

    return score
