"""How the classifiers of a filter run stand: phase by phase, by the rule of `series.verdict`.

It knows metrics, the recipe and the members' evidence; what is to be done about it is `advice`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swag_studio import series
from swag_studio.events import Metric
from swag_studio.evidence import MEMBERS, Evidence
from swag_studio.recipe import Recipe

CHANCE = 0.25  # of the 4-way accuracy that runs are judged by
DONE = frozenset({"at_chance", "near_chance"})  # states that a run is to end in
_LEVEL = DONE | {"stalled"}


@dataclass(frozen=True, slots=True)
class Finding:
    """How one member's 4-way accuracy stands in one phase.

    `member` is a name of the registry or "ensemble"; `phase` "mlp" (the MLP alone) or "ensemble"
    (all members). `words` is a whole statement without the member's name: "stalled at 41% since
    iteration 12 (chance 25%); 10-way 22% (chance 10%)".
    """

    member: str
    phase: str
    verdict: series.Verdict
    words: str


class _Points:
    """The values of a run by what they are of. A point that came twice counts once."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._curves: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
        for m in metrics:
            if m.stage == "filter" and not math.isnan(m.value):
                key = (m.name, m.tags.get("member", ""), m.tags.get("arm", "main"))
                self._curves[key][m.step] = m.value

    def of(self, name: str, member: str = "", arm: str = "main") -> Mapping[int, float]:
        """Step -> value, ascending."""
        return dict(sorted(self._curves.get((name, member, arm), {}).items()))

    def heads(self) -> dict[int, set[str]]:
        """Iteration -> the heads that were measured in it."""
        result: dict[int, set[str]] = defaultdict(set)
        for (name, member, arm), curve in self._curves.items():
            if (name, arm) == ("accuracy_4way", "main") and member not in ("", "probe"):
                for step in curve:
                    result[step].add(member)
        return dict(sorted(result.items()))


@dataclass(frozen=True)
class Phase:
    """Iterations with the same members, and how each head stands in them."""

    name: str
    steps: tuple[int, ...]
    planned: int
    findings: Mapping[str, Finding]

    @property
    def head(self) -> Finding:
        """The head whose scores decide what is replaced."""
        return self.findings.get("ensemble") or next(iter(self.findings.values()))


class Run:
    """A run by its phases, beside its control arm and its probe: all that rules look at."""

    def __init__(
        self, metrics: Sequence[Metric], evidence: Sequence[Evidence], recipe: Recipe, tested: int
    ) -> None:
        self.points, self.recipe, self.tested = _Points(metrics), recipe, tested
        self.evidence = {e.member: e for e in sorted(evidence, key=lambda e: e.iteration)}
        alone: dict[str, list[int]] = {"mlp": [], "ensemble": []}
        for step, heads in self.points.heads().items():
            alone["mlp" if heads == {"mlp"} else "ensemble"].append(step)
        self.phases = [self._judged(name, tuple(steps)) for name, steps in alone.items() if steps]

    def _judged(self, name: str, steps: tuple[int, ...]) -> Phase:
        given = self.recipe.filter
        heads = set().union(*(self.points.heads()[step] for step in steps))
        order = [m for m in given.members if m in heads]
        order += sorted(heads - {*order, "ensemble"}) + ["ensemble"] * ("ensemble" in heads)
        planned = given.mlp_iterations if name == "mlp" else given.ensemble_iterations
        if set(given.members) == {"mlp"}:  # both phases are the MLP's
            planned = given.mlp_iterations + given.ensemble_iterations
        return Phase(name, steps, planned, {h: self._finding(h, name, steps) for h in order})

    def _finding(self, head: str, phase: str, steps: tuple[int, ...]) -> Finding:
        ways = self.recipe.filter.distractors + 1
        of_4 = self._verdict("accuracy_4way", head, steps, CHANCE)
        words = of_4.text(CHANCE)
        if of_4.state == "too_early":
            words += f"; {of_4.level:.0%} so far (chance {CHANCE:.0%})"
        elif ways > 4 and self.points.of("accuracy", head):
            of_all = self._verdict("accuracy", head, steps, 1 / ways)
            same = of_all.state == of_4.state or {of_all.state, of_4.state} <= _LEVEL
            told = f"{of_all.level:.0%} (chance {1 / ways:.0%})" if same else of_all.text(1 / ways)
            words += f"; {ways}-way {told}"
        return Finding(head, phase, of_4, words)

    def _verdict(
        self, name: str, head: str, steps: tuple[int, ...], chance: float
    ) -> series.Verdict:
        curve = self.points.of(name, head)
        mine = [step for step in steps if step in curve]
        return series.verdict([curve[step] for step in mine], chance, self.tested, mine)

    @property
    def last(self) -> Phase | None:
        return self.phases[-1] if self.phases else None

    def lately(self, name: str) -> float | None:
        """The mean of the run's own series over the last iterations of the present phase."""
        steps = self.last.steps[-series.WINDOW :] if self.last else ()
        curve = self.points.of(name)
        values = [curve[step] for step in steps if step in curve]
        return float(np.mean(values)) if values else None

    def control(self) -> tuple[float, float] | None:
        """(mean 4-way accuracy of the deciding head on unfiltered distractors, its error)."""
        if self.last is None:
            return None
        values = [*self.points.of("accuracy_4way", self.last.head.member, "control").values()]
        if not values:
            return None
        mean = float(np.mean(values))
        return mean, math.sqrt(mean * (1 - mean) / (self.tested * len(values)))

    def probe(self) -> tuple[float, float] | None:
        """(before, after) the filtering: the 4-way accuracy of the model that never filters."""
        curve = self.points.of("accuracy_4way", "probe")
        if self.last is None or len(curve) < 2 or max(curve) <= self.last.steps[-1]:
            return None
        return curve[min(curve)], curve[max(curve)]


def head_name(head: str) -> str:
    """What people call a head."""
    return MEMBERS.get(head, head)
