"""What follows from people's judgements: a context's verdict, its next task, a worker's standing.

Pure rules under one VerificationPolicy. Knows neither the project nor a screen. Whose judgements
count (people's, not a dropped annotator's) is the caller's choice: `judging.counting`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import Literal

from swag_studio.errors import StageError
from swag_studio.intervals import exact_interval
from swag_studio.judging import (
    FOUND,
    SHOWN,
    Adjudication,
    Judged,
    Judgement,
    Label,
    Task,
    Verdict,
    latest,
    task_id,
)
from swag_studio.policy import VerificationPolicy

__all__ = [
    "GEN_SOURCE",
    "Standing",
    "VerificationPolicy",
    "draw_task",
    "gold_source",
    "next_task",
    "possible_ranks",
    "ranks_found",
    "rejects_found",
    "verdict",
    "worker_standing",
]

_REJECTED = "The found ending is"
GEN_SOURCE = "gen-orig"  # the release's name for an extra question: its right ending is generated


# --- tasks -----------------------------------------------------------------------------------


def draw_task(
    context_id: str,
    assigned: Sequence[str],
    filter_version: int,
    seed: int,
    policy: VerificationPolicy,
) -> Task:
    """The first round's task: the found ending and five of the assigned ones, drawn by seed.

    `assigned` are ids, the found ending first. Raises StageError where so few are assigned that
    no judgement could leave enough wrong endings.
    """
    least = policy.distractors_needed + 1  # one is best or second best beside the found ending
    if len(assigned) - 1 < least:
        raise StageError(
            f"a question needs {policy.distractors_needed} wrong endings, so people must be shown "
            f"at least {least} distractors, and the filter assigned {len(assigned) - 1}. Raise "
            "filter.distractors and filter again."
        )
    drawn = _queue(context_id, assigned, seed)[: SHOWN - 1]
    return _task(context_id, filter_version, 0, (assigned[0], *drawn))


def next_task(task: Task, verdict: Verdict) -> Task:
    """The task of the round after `task`, whose verdict is "reannotate"."""
    if verdict.kind != "reannotate" or verdict.round != task.round:
        raise ValueError(f"no further round follows from {verdict.kind} in round {verdict.round}")
    change = dict(zip(verdict.replace, verdict.by, strict=True))
    endings = tuple(change.get(ending, ending) for ending in task.endings)
    return _task(task.context_id, task.filter_version, task.round + 1, endings)


def _task(context_id: str, filter_version: int, round: int, endings: tuple[str, ...]) -> Task:
    return Task(task_id(context_id, round, endings), context_id, filter_version, round, endings)


def _queue(context_id: str, assigned: Sequence[str], seed: int) -> list[str]:
    """The distractors in the order in which they are shown: the first five, then replacements.

    Sorted by a hash of each, so that neither the slots nor a change of one moves the others.
    """

    def key(ending: str) -> tuple[bytes, str]:
        text = f"{seed} {context_id} {ending}".encode()
        return hashlib.blake2b(text, digest_size=16, person=b"draw task").digest(), ending

    return sorted(assigned[1:], key=key)


# --- verdicts --------------------------------------------------------------------------------

Reading = tuple[tuple[Label, ...], int, int]  # a label per ending, the places of best and second


@dataclass(frozen=True, slots=True)
class _Round:
    """What a round's outcome depends on besides the answers. `reserve`: endings never shown."""

    task: Task
    reserve: tuple[str, ...]
    policy: VerificationPolicy
    extra: bool  # whether an extra question may come of it
    barred: Set[str]


def verdict(
    tasks: Iterable[Task],
    judgements: Iterable[Judgement],
    adjudications: Iterable[Adjudication],
    assigned: Sequence[str],
    policy: VerificationPolicy,
    *,
    split: str,
    seed: int,
    barred: Set[str] = frozenset(),
    needed: int | Mapping[str, int] = 0,
) -> Verdict:
    """What follows for one context.

    Rounds are read in order; the first whose outcome is not a further round decides, else the
    last. A round's outcome is that of its adjudication where there is one, else of what its
    judgements come to: where a tie leaves several readings with different outcomes, it goes to
    adjudication.

    tasks      the context's, one per round (the last given of a round counts); only "work"
    judgements those that count, of any revision; adjudications: of a task the last given decides
    assigned   ids of the assigned endings, the found one first; replacements come from them in
               the order of `seed`
    barred     ids of endings that equal a found ending of val or test: never right in an extra
               question
    needed     judgements that this context's plan asks for, or task -> judgements; counts where
               that is more than the policy's

    Raises ValueError without a task.
    """
    rounds = {task.round: task for task in tasks if task.kind == "work"}
    if not rounds:
        raise ValueError("a verdict needs a task of kind work")
    answers: dict[str, list[Judgement]] = {}
    for judgement in latest(judgements):
        answers.setdefault(judgement.task_id, []).append(judgement)
    settled = {a.task_id: a for a in sorted(adjudications, key=lambda a: a.given)}
    shown: set[str] = set()
    queue = _queue(rounds[min(rounds)].context_id, assigned, seed)
    for number in sorted(rounds):
        task = rounds[number]
        shown.update(task.endings)
        extra = policy.extra_questions and split == "train" and number < policy.extra_rounds
        case = _Round(task, tuple(e for e in queue if e not in shown), policy, extra, barred)
        decided = settled.get(task.id)
        if decided:
            result = _outcome(case, (decided.labels, decided.best, decided.second))
        else:
            asked = needed if isinstance(needed, int) else needed.get(task.id, 0)
            wanted = max(policy.judgements, asked)
            result = _consensus(case, answers.get(task.id, []), wanted)
        if result.kind != "reannotate":
            break
    return result


def _consensus(case: _Round, answers: Sequence[Judgement], needed: int) -> Verdict:
    """The outcome on which all readings of the answers agree, or a call for adjudication."""
    task = case.task
    if len(answers) < needed:
        reason = f"{len(answers)} of {needed} judgements are given."
        return Verdict(task.context_id, "open", task.round, reason)
    readings = _readings(answers, case.policy)
    first = next(readings, None)
    if first is None:
        reason = "Taken together, the labels leave no ending that is not gibberish."
        return Verdict(task.context_id, "adjudicate", task.round, reason)
    result = _outcome(case, first)
    for reading in readings:
        other = _outcome(case, reading)
        if dataclasses.replace(other, reason=result.reason) != result:
            reason = _tied(result, other)
            return Verdict(task.context_id, "adjudicate", task.round, reason)
    return result


def _tied(one: Verdict, other: Verdict) -> str:
    if one.kind != other.kind:
        return "Annotators are tied, and on it depends whether this becomes a question."
    if one.place != other.place:
        return "Annotators are tied on whether the found ending is best or second best."
    if one.kind == "found":
        return "Annotators are tied on the wrong endings."
    return "Annotators are tied on which endings to replace."


def _readings(
    answers: Sequence[Judgement | Adjudication], policy: VerificationPolicy
) -> Iterator[Reading]:
    """All that the answers can be read as together; one reading where nothing is tied."""
    if len(answers) == 1:  # as below, sooner
        yield answers[0].labels, answers[0].best, answers[0].second
        return
    places = range(len(answers[0].labels))
    options = [_labels(Counter(a.labels[i] for a in answers), policy) for i in places]
    for labels in product(*options):
        for best, second in _ranks(answers, labels, policy):
            yield labels, best, second


def _labels(votes: Counter[Label], policy: VerificationPolicy) -> list[Label]:
    most = max(votes.values())
    if policy.label_rule == "half" and 2 * most <= votes.total():
        tied = sorted(votes)
    else:
        tied = sorted(label for label, count in votes.items() if count == most)
    if tied == ["likely", "unlikely"] and policy.likely_tie != "adjudicate":
        return [label for label in tied if label == policy.likely_tie]
    return tied


def _ranks(
    answers: Sequence[Judgement | Adjudication],
    labels: tuple[Label, ...],
    policy: VerificationPolicy,
) -> Iterator[tuple[int, int]]:
    """The places that may be best and second best.

    What is gibberish by the labels is neither, but where one ending alone makes sense it is best.
    """
    best, second = Counter(a.best for a in answers), Counter(a.second for a in answers)
    points = policy.rank_rule == "points"
    for_best = {i: 2 * best[i] + second[i] if points else best[i] for i in range(len(labels))}
    for_second = for_best if points else {i: best[i] + second[i] for i in range(len(labels))}
    places = [i for i, label in enumerate(labels) if label != "gibberish"]
    if len(places) == 1:
        best_one = places[0]
        rest = [i for i in range(len(labels)) if i != best_one]
        yield from ((best_one, after) for after in _highest(rest, for_second))
        return
    for first in _highest(places, for_best) if places else ():
        rest = [i for i in places if i != first]
        for after in _highest(rest, for_second):
            yield first, after


def _highest(places: Sequence[int], score: Mapping[int, int]) -> list[int]:
    most = max(score[i] for i in places)
    return [i for i in places if score[i] == most]


def _outcome(case: _Round, reading: Reading) -> Verdict:
    """What follows from one reading of a round."""
    task, policy = case.task, case.policy
    labels, best, second = reading
    ranked = (best, second)
    chosen = FOUND in ranked[: policy.top_places]
    wrong = [i for i in range(1, len(labels)) if labels[i] != "gibberish" and i not in ranked]
    if not chosen or len(wrong) < policy.distractors_needed:
        return _another_round(case, reading, chosen, len(wrong))

    wrong.sort(key=lambda i: labels[i] == "likely")  # unlikely first, each in the task's order
    distractors = tuple(
        Judged(task.endings[i], "pos" if labels[i] == "likely" else "unl")
        for i in wrong[: policy.distractors_most]
    )
    place = ranked.index(FOUND)
    extra = case.extra and place == 1 and task.endings[best] not in case.barred
    reason = (
        f"The found ending is {('best', 'second best')[place]}; {_endings(len(wrong), 'wrong')} "
        "can be used."
    )
    if extra:
        reason += " The generated ending that is best makes an extra training question."
    return Verdict(
        task.context_id,
        "found",
        task.round,
        reason,
        place=place,
        distractors=distractors,
        generated=task.endings[best] if extra else "",
        generated_distractors=distractors if extra else (),
    )


def _another_round(case: _Round, reading: Reading, chosen: bool, usable: int) -> Verdict:
    """Another round with gibberish and outranking endings replaced, or no more: surprising.

    Where too few were never shown, what stands in the way goes first: outranking endings if the
    found one was not chosen, else gibberish.
    """
    task, policy = case.task, case.policy
    labels, *ranked = reading
    above = ranked[: ranked.index(FOUND)] if FOUND in ranked else ranked
    gibberish = [i for i in range(1, len(labels)) if labels[i] == "gibberish"]
    places = gibberish + above if chosen else above + gibberish
    change = list(zip((task.endings[i] for i in places), case.reserve, strict=False))

    if chosen:
        why = f"Only {_endings(usable, 'wrong')} can be used, {policy.distractors_needed} needed"
    else:
        places_allowed = "not best" if policy.top_places == 1 else "neither best nor second best"
        why = f"{_REJECTED} {places_allowed}"
    if task.round >= policy.further_rounds:
        reason = f"{why}, and {_rounds(task.round + 1)}."
        return Verdict(task.context_id, "surprising", task.round, reason)
    if not change:
        reason = f"{why}, and no assigned ending is left to put in."
        return Verdict(task.context_id, "surprising", task.round, reason)
    return Verdict(
        task.context_id,
        "reannotate",
        task.round,
        f"{why}; {_endings(len(change), '')} to be replaced for another round.",
        replace=tuple(old for old, _ in change),
        by=tuple(new for _, new in change),
    )


def _endings(count: int, which: str) -> str:
    noun = "ending" if count == 1 else "endings"
    return " ".join(filter(None, (str(count), which, noun)))


def _rounds(count: int) -> str:
    return "no further round is allowed" if count == 1 else f"there were {count} rounds"


def rejects_found(verdict: Verdict) -> bool:
    """Whether no question came of a context because people did not choose its found ending."""
    return verdict.kind in ("surprising", "reannotate") and verdict.reason.startswith(_REJECTED)


def possible_ranks(
    answers: Sequence[Judgement | Adjudication], policy: VerificationPolicy
) -> tuple[set[int], set[int]]:
    """The places that may be best, and second best, by all answers to one task together.

    One of each, unless the policy leaves annotators tied.
    """
    readings = list(_readings(answers, policy)) if answers else []
    return {best for _, best, _ in readings}, {second for _, _, second in readings}


def gold_source(verdict: Verdict) -> str:
    """The full release's name for a found question: gold0-orig, gold1-reannot and so on."""
    if verdict.kind != "found":
        raise ValueError(f"no question comes of a verdict that is {verdict.kind}")
    return f"gold{verdict.place}-{'reannot' if verdict.round else 'orig'}"


# --- workers ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """How often a worker has the found ending among the best two, and what follows.

    `rate` is NaN before the first judgement; `low` and `high` are the ends of its interval.
    "dropped" says that the policy asks for it; a person decides.
    """

    rate: float
    low: float
    high: float
    n: int
    state: Literal["ok", "warned", "dropped"]


def ranks_found(kind: str, round: int, best: int, second: int) -> bool | None:
    """Whether an answer to a task of this kind and round has the found ending among the best two.

    None beside first rounds of work: a later round has the contexts where the found ending had
    already been missed, by whoever, so it would tell of the context more than of the worker.
    """
    return FOUND in (best, second) if kind == "work" and round == 0 else None


def worker_standing(top2_found: int, n: int, policy: VerificationPolicy) -> Standing:
    """Warned when the rate is below the threshold, dropped only when its whole interval is.

    The interval is Clopper and Pearson's, which covers the truth at least as often as it says
    for every n and rate: someone at the threshold is dropped at one look by luck in at most 2.5
    of 100 cases. Wilson's is narrower but would drop at 2 of 10, which has 2.7 in 100.
    """
    rate = top2_found / n if n else float("nan")
    low, high = exact_interval(top2_found, n, policy.interval)
    state: Literal["ok", "warned", "dropped"] = "ok"
    if n >= policy.worker_minimum and rate < policy.worker_threshold:
        state = "dropped" if high < policy.worker_threshold else "warned"
    return Standing(rate, low, high, n, state)
