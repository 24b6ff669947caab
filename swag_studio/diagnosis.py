"""Why a filter run does not converge, in words, and what to try.

Verdicts come from `series.verdict` on each member's curve, phase by phase; advice from a few
stated rules over them, the control arm, the probe, the exhausted share and the members' evidence.
Pure: it knows neither project nor screen; the window and the command line say the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swag_studio import series
from swag_studio.events import Metric
from swag_studio.evidence import FEATURES, MEMBERS, Clue, Evidence
from swag_studio.recipe import Recipe

CHANCE = 0.25  # of the 4-way accuracy that runs are judged by
ASSUMED_TESTED = 100  # contexts behind a value where nobody says: few, so that little is claimed
EXHAUSTED_HIGH = 0.2  # below, four of five contexts still have somewhere to go
LOOKED_AT = 10  # clues of the bag of words, the most telling
RARE = 0.02  # a word that one distractor in fifty shows, or fewer ...
OFTEN = 3  # ... and found endings so many times as often
DOMINANT = 0.5  # of the accuracy that all features bring: one is worth as much as all others
TELLING = 0.05  # accuracy that a feature must bring to be named; less is a shuffle's noise
SAME = 0.03  # a fall below the control arm that nobody would call one
PROBE_HIGH = 0.05  # above chance: what a reader of the dataset would call a difference

_LENGTH = "v_tokens"
_SURPRISES = frozenset(code for code in FEATURES if not code.endswith("_tokens"))
_READERS = ("bow", "cnn", "pos")  # of words or tags; the MLP reads neither, as the probe does


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


@dataclass(frozen=True, slots=True)
class Advice:
    """What to try, as a sentence that names the recipe's key, and what in the run speaks for it."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is known of a run so far.

    `findings` stand in the order of the phases, the ensemble last in each. `exhausted` is the mean
    share of contexts with an easy distractor that have no harder candidate, over the last
    iterations; None where nothing was looked for. `summary` is a few sentences; there always, also
    before the first iteration. `advice` is empty when nothing asks for any.
    """

    findings: tuple[Finding, ...]
    advice: tuple[Advice, ...]
    exhausted: float | None
    summary: str


def diagnose(
    metrics: Sequence[Metric],
    evidence: Sequence[Evidence],
    recipe: Recipe,
    tested: int = 0,
) -> Diagnosis:
    """Judges a filter run by its metrics so far, the latest evidence of its members, the recipe.

    `metrics` are those of the stage "filter", of one run, in any order; others are passed over.
    `tested` contexts are behind each value; where 0, as many as the evidence rests on, or
    `ASSUMED_TESTED`.
    """
    count = tested or max((e.tested for e in evidence), default=ASSUMED_TESTED)
    run = _Run(_Points(metrics), evidence, recipe, count)
    return Diagnosis(
        findings=tuple(finding for phase in run.phases for finding in phase.findings.values()),
        advice=tuple(advice for rule in _RULES for advice in rule(run)),
        exhausted=run.lately("exhausted_share"),
        summary=_summary(run),
    )


# --- the run ---------------------------------------------------------------------------------


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
class _Phase:
    """Iterations with the same members, and how each head stands in them."""

    name: str
    steps: tuple[int, ...]
    planned: int
    findings: Mapping[str, Finding]

    @property
    def head(self) -> Finding:
        """The head whose scores decide what is replaced."""
        return self.findings.get("ensemble") or next(iter(self.findings.values()))


class _Run:
    """All that the rules look at."""

    def __init__(
        self, points: _Points, evidence: Sequence[Evidence], recipe: Recipe, tested: int
    ) -> None:
        self.points, self.recipe, self.tested = points, recipe, tested
        self.evidence = {e.member: e for e in sorted(evidence, key=lambda e: e.iteration)}
        alone: dict[str, list[int]] = {"mlp": [], "ensemble": []}
        for step, heads in points.heads().items():
            alone["mlp" if heads == {"mlp"} else "ensemble"].append(step)
        self.phases = [self._judged(name, tuple(steps)) for name, steps in alone.items() if steps]

    def _judged(self, name: str, steps: tuple[int, ...]) -> _Phase:
        given = self.recipe.filter
        heads = set().union(*(self.points.heads()[step] for step in steps))
        order = [m for m in given.members if m in heads]
        order += sorted(heads - {*order, "ensemble"}) + ["ensemble"] * ("ensemble" in heads)
        planned = given.mlp_iterations if name == "mlp" else given.ensemble_iterations
        if set(given.members) == {"mlp"}:  # both phases are the MLP's
            planned = given.mlp_iterations + given.ensemble_iterations
        return _Phase(name, steps, planned, {h: self._finding(h, name, steps) for h in order})

    def _finding(self, head: str, phase: str, steps: tuple[int, ...]) -> Finding:
        ways = self.recipe.filter.distractors + 1
        of_4 = self._verdict("accuracy_4way", head, steps, CHANCE)
        words = of_4.text(CHANCE)
        if of_4.state == "too_early":
            words += f"; {of_4.level:.0%} so far (chance {CHANCE:.0%})"
        elif ways > 4 and self.points.of("accuracy", head):
            of_all = self._verdict("accuracy", head, steps, 1 / ways)
            same = of_all.state == of_4.state
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
    def last(self) -> _Phase | None:
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


def _name(head: str) -> str:
    return MEMBERS.get(head, head)


# --- rules -----------------------------------------------------------------------------------


def _exhausted(run: _Run) -> Iterator[Advice]:
    """Stalled, for there is nothing harder left to assign."""
    share = run.lately("exhausted_share")
    if run.last is None or share is None or share <= EXHAUSTED_HIGH:
        return
    head, given = run.last.head, run.recipe.generate
    if head.verdict.state == "stalled":
        yield Advice(
            f"Give each context more candidates than {given.candidates:,} (generate.candidates), "
            f"or bolder ones (generate.temperature above {given.temperature:g}).",
            f"{share:.0%} of the contexts with an easy distractor had no candidate that is harder, "
            f"and the {_name(head.member)} is stalled at {head.verdict.level:.0%}.",
        )


def _unfinished(run: _Run) -> Iterator[Advice]:
    """The phase ended while its curve still fell."""
    for phase in run.phases:
        verdict = phase.head.verdict
        if len(phase.steps) >= phase.planned and verdict.state == "falling":
            yield Advice(
                f"Filter for more than {len(phase.steps)} iterations "
                f"(filter.{phase.name}_iterations).",
                f"The {_name(phase.head.member)} was still falling when they ended, at "
                f"{verdict.level:.0%} over the last {series.WINDOW}.",
            )


def _rare_words(run: _Run) -> Iterator[Advice]:
    """The bag of words goes by words that the language models hardly ever write."""
    if not _stalled(run, "bow") or "bow" not in run.evidence:
        return
    speaking = [c for c in run.evidence["bow"].clues[:LOOKED_AT] if c.weight > 0]
    rare = [c for c in speaking if c.assigned <= RARE and c.found >= OFTEN * c.assigned]
    if len(rare) * 2 > len(speaking):
        given = run.recipe.generate
        narrow = "generate.top_k, generate.top_p and " if given.top_k or given.top_p < 1 else ""
        yield Advice(
            f"Let the language models write rarer words: look at {narrow}generate.temperature "
            f"(now {given.temperature:g}), train them longer (lm.epochs), or leave rare words out "
            "of their vocabulary and so of the contexts (prepare.min_count).",
            "The bag of words is stalled, and goes by words of found endings that distractors "
            f"hardly ever have: {', '.join(f'“{c.text}”' for c in rare[:5])}.",
        )


def _one_feature(run: _Run) -> Iterator[Advice]:
    """The MLP goes by one number above all."""
    if not _stalled(run, "mlp") or not run.evidence.get("mlp"):
        return
    clues = sorted(run.evidence["mlp"].clues, key=lambda c: -c.weight)
    total = sum(max(c.weight, 0.0) for c in clues)
    if clues and clues[0].weight >= max(TELLING, DOMINANT * total):
        top = clues[0]
        what = f"the {FEATURES[top.text]}" if top.text in FEATURES else top.text
        yield Advice(
            _against(top, run.recipe),
            f"The MLP is stalled, and loses {top.weight:.0%} of its accuracy without {what}: "
            f"{top.found:.3g} on average in found endings, {top.assigned:.3g} in distractors.",
        )


def _against(top: Clue, recipe: Recipe) -> str:
    """What makes found endings and candidates more alike in a feature."""
    if top.text == _LENGTH:
        return (
            "Bring the lengths of found endings and candidates together: compare "
            f"prepare.max_ending_tokens ({recipe.prepare.max_ending_tokens}) with "
            f"generate.max_tokens ({recipe.generate.max_tokens}), and train the language models "
            "longer, so that they learn where to stop (lm.epochs)."
        )
    if top.text in _SURPRISES:
        kind, way = ("bolder", "above") if top.found > top.assigned else ("safer", "below")
        now = recipe.generate.temperature
        return f"Sample {kind} candidates: generate.temperature {way} {now:g}."
    return (
        "Give each context more candidates, so that some are like found endings in what the MLP "
        "goes by (generate.candidates)."
    )


def _nothing_learned(run: _Run) -> Iterator[Advice]:
    """The control arm is no better than the main one: filtering took nothing away."""
    control = run.control()
    if run.last is None or control is None:
        return
    head, (mean, error) = run.last.head, control
    if head.verdict.state in ("too_early", "falling"):
        return
    noise = series.Z_ABOVE * math.hypot(error, head.verdict.error)
    if mean - head.verdict.level < max(SAME, noise):
        yield Advice(
            "Let the members learn more: import more captions or take more contexts "
            f"(prepare.max_contexts), or train longer (filter.epochs, now "
            f"{run.recipe.filter.epochs}).",
            f"On distractors that were never filtered the {_name(head.member)} is right in "
            f"{mean:.0%}, on filtered ones in {head.verdict.level:.0%}: what it learns does not "
            "tell easy distractors from hard ones.",
        )


def _missing_member(run: _Run) -> Iterator[Advice]:
    """The probe sees what no member sees."""
    probe = run.probe()
    if run.last is None or probe is None or probe[1] - CHANCE < PROBE_HIGH:
        return
    if any(f.verdict.state != "at_chance" for f in run.last.findings.values()):
        return
    others = [_name(m) for m in _READERS if m not in run.recipe.filter.members]
    text = (
        f"Add a member that reads what the others do not (filter.members): {', '.join(others)}."
        if others
        else "Give the members more room: filter.cnn_filters, filter.pos_hidden, or word vectors "
        "for the bag of words (filter.embeddings_file)."
    )
    yield Advice(
        text,
        f"All members are at chance, and yet a word biLSTM that never filters is right in "
        f"{probe[1]:.0%} (chance {CHANCE:.0%}).",
    )


def _stalled(run: _Run, member: str) -> bool:
    """Whether a member is stalled in the last phase that it has a part in."""
    found = [phase.findings[member] for phase in run.phases if member in phase.findings]
    return bool(found) and found[-1].verdict.state == "stalled"


_RULES: tuple[Callable[[_Run], Iterator[Advice]], ...] = (
    _exhausted,
    _unfinished,
    _rare_words,
    _one_feature,
    _nothing_learned,
    _missing_member,
)


# --- summary ---------------------------------------------------------------------------------


def _summary(run: _Run) -> str:
    if run.last is None:
        return "Nothing has been measured yet."
    head, lines = run.last.head, []
    if head.verdict.state == "too_early":
        lines.append(f"It is {head.verdict.text(CHANCE)} of this phase.")
    else:
        lines.append(f"The {_name(head.member)} is {head.verdict.text(CHANCE)}.")
        stalled = [
            _name(f.member)
            for f in run.last.findings.values()
            if f is not head and f.verdict.state == "stalled"
        ]
        if stalled:
            lines.append(f"Stalled by themselves: {', '.join(stalled)}.")
    if control := run.control():
        lines.append(f"On distractors that were never filtered it is {control[0]:.0%}.")
    if probe := run.probe():
        lines.append(f"The held-out probe went from {probe[0]:.0%} to {probe[1]:.0%}.")
    replaced = run.lately("replaced_per_context")
    if replaced is not None:
        lines.append(
            f"Lately {replaced:.1f} of {run.recipe.filter.distractors} distractors were replaced "
            "per context."
        )
    return " ".join(lines)
