"""What to try where a filter run stays above chance: a few stated rules, each with its reason.

They look at how the classifiers stand, the control arm, the probe, the exhausted share and the
members' evidence. Pure: they know neither project nor screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from swag_studio import series
from swag_studio.evidence import FEATURES, Clue
from swag_studio.recipe import Recipe
from swag_studio.standings import CHANCE, DONE, Finding, Run, head_name

EXHAUSTED_HIGH = 0.2  # below, four of five contexts still have somewhere to go
LOOKED_AT = 10  # clues of the bag of words, the most telling
RARE = 0.02  # a word that one distractor in fifty shows, or fewer ...
OFTEN = 3  # ... and found endings so many times as often
DOMINANT = 0.5  # of the accuracy that all features bring: one is worth as much as all others
TELLING = 0.05  # accuracy that a feature must bring to be named; less is a shuffle's noise
SAME = 0.03  # a fall below the control arm that nobody would call one

_LENGTH = "v_tokens"
_SURPRISES = frozenset(code for code in FEATURES if not code.endswith("_tokens"))
_READERS = ("bow", "cnn", "pos")  # of words or tags; the MLP reads neither, as the probe does


@dataclass(frozen=True, slots=True)
class Advice:
    """What to try, as a sentence that names the recipe's key, and what in the run speaks for it."""

    text: str
    why: str


def advise(run: Run) -> tuple[Advice, ...]:
    """What the rules say, the most telling first; something wherever a head is stalled now."""
    return tuple(advice for rule in _RULES for advice in rule(run))


# --- rules -----------------------------------------------------------------------------------


def _exhausted(run: Run) -> Iterator[Advice]:
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
            f"and the {head_name(head.member)} is stalled at {head.verdict.level:.0%}.",
        )


def _unfinished(run: Run) -> Iterator[Advice]:
    """The phase ended while its curve still fell, or rose."""
    for phase in run.phases:
        verdict = phase.head.verdict
        if len(phase.steps) >= phase.planned and verdict.state in ("falling", "rising"):
            replace = (
                f"replace more at a time than {run.recipe.filter.replace} (filter.replace), or "
            )
            yield Advice(
                _sentence(
                    f"{replace if verdict.state == 'rising' else ''}filter for more than "
                    f"{len(phase.steps)} iterations (filter.{phase.name}_iterations)."
                ),
                f"The {head_name(phase.head.member)} was still {verdict.state} when they ended, at "
                f"{verdict.level:.0%} over the last {series.WINDOW}.",
            )


def _rare_words(run: Run) -> Iterator[Advice]:
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


def _one_feature(run: Run) -> Iterator[Advice]:
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


def _nothing_learned(run: Run) -> Iterator[Advice]:
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
            f"On distractors that were never filtered the {head_name(head.member)} is right in "
            f"{mean:.0%}, on filtered ones in {head.verdict.level:.0%}: what it learns does not "
            "tell easy distractors from hard ones.",
        )


def _missing_member(run: Run) -> Iterator[Advice]:
    """The probe sees what no member sees."""
    probe = run.probe()
    if run.last is None or probe is None or probe[1] - CHANCE < series.NEAR:
        return
    if any(f.verdict.state not in DONE for f in run.last.findings.values()):
        return
    others = [head_name(m) for m in _READERS if m not in run.recipe.filter.members]
    text = (
        f"Add a member that reads what the others do not (filter.members): {', '.join(others)}."
        if others
        else "Give the members more room: filter.cnn_filters, filter.pos_hidden, or word vectors "
        "for the bag of words (filter.embeddings_file)."
    )
    yield Advice(
        text,
        f"All members are at or near chance, and yet a word biLSTM that never filters is right in "
        f"{probe[1]:.0%} (chance {CHANCE:.0%}).",
    )


def _unexplained(run: Run) -> Iterator[Advice]:
    """Stalled, and no other rule says why: what tells endings apart is in all candidates."""
    if run.last is None or any(True for rule in _STALLS for _ in rule(run)):
        return
    stalled = [f for f in run.last.findings.values() if f.verdict.state == "stalled"]
    if not stalled:
        return
    head, highest = run.last.head, max(stalled, key=lambda f: f.verdict.level)
    pressing = (
        "make candidates more like found endings: train the language models longer (lm.epochs, now "
        f"{run.recipe.lm.epochs}) or on more captions, or try another temperature "
        f"(generate.temperature, now {run.recipe.generate.temperature:g})."
    )
    if head in stalled:
        yield Advice(
            _sentence(pressing),
            f"The {head_name(head.member)} is stalled {_points(head)} above chance, while harder "
            "candidates are still found: what gives generated endings away is in those as well.",
        )
    else:
        names = " and the ".join(head_name(f.member) for f in stalled)
        yield Advice(
            f"To bring down the {names}, {pressing}",
            f"By itself the {head_name(highest.member)} is {_points(highest)} above chance; the "
            f"{head_name(head.member)}, which decides, is {head.verdict.text(CHANCE)}.",
        )


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _points(finding: Finding) -> str:
    return f"{100 * (finding.verdict.level - CHANCE):.0f} points"


def _stalled(run: Run, member: str) -> bool:
    """Whether a member is stalled in the last phase that it has a part in."""
    found = [phase.findings[member] for phase in run.phases if member in phase.findings]
    return bool(found) and found[-1].verdict.state == "stalled"


_Rule = Callable[[Run], Iterator[Advice]]
_STALLS: tuple[_Rule, ...] = (_exhausted, _rare_words, _one_feature, _nothing_learned)
_RULES: tuple[_Rule, ...] = (
    _exhausted,
    _unfinished,
    _rare_words,
    _one_feature,
    _nothing_learned,
    _unexplained,
    _missing_member,
)
