"""The rows of human work: annotators, what they are asked, what they answer, what follows from it.

Ids are derived from content, so that answers stay with the text they were given on. What an
annotator sees is ordered by `shown_order`; everything here is in the task's own order, which has
the found ending first and never leaves the project.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from swag_studio.records import content_id

Label = Literal["likely", "unlikely", "gibberish"]
LABELS: tuple[Label, ...] = ("likely", "unlikely", "gibberish")
FOUND = 0  # the found ending's place in a task
SHOWN = 6  # endings of a task: the found one and five distractors (paper, section 4)

AnnotatorKind = Literal["person", "simulated"]
TaskKind = Literal["work", "test", "check"]


@dataclass(frozen=True, slots=True)
class Annotator:
    """Who judges. `id` is random, so that it says nothing; `active` False once dropped."""

    id: str
    name: str
    kind: AnnotatorKind = "person"
    active: bool = True
    created: str = ""  # ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class Task:
    """A context with the endings that are judged together, in one round of verification.

    `endings` are ids, the found ending first. "work" counts; "test" is an entry test and "check"
    a hidden one, both with a `key`: {"top": [places that may be best or second], "gibberish":
    [places that are]}.
    """

    id: str
    context_id: str
    filter_version: int
    round: int  # from 0
    endings: tuple[str, ...]
    kind: TaskKind = "work"
    key: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One annotator's answer to one task; the highest `revision` is the one that counts.

    `labels` has a label for each of the task's endings; `best` and `second` are places in it, two
    different ones; the best is not gibberish, the second only where all others are. `seconds` is
    active time. `via` is "app", or the packet that brought it.
    """

    task_id: str
    annotator_id: str
    labels: tuple[Label, ...]
    best: int
    second: int
    revision: int = 0
    comment: str = ""
    seconds: float = 0.0
    given: str = ""  # ISO 8601, UTC
    via: str = "app"

    @property
    def id(self) -> str:
        return content_id("judgement", self.task_id, self.annotator_id, str(self.revision))


@dataclass(frozen=True, slots=True)
class Skip:
    """A task that an annotator left, and why."""

    task_id: str
    annotator_id: str
    reason: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class Adjudication:
    """How a disagreement was settled. It never enters agreement."""

    task_id: str
    by: str
    labels: tuple[Label, ...]
    best: int
    second: int
    given: str = ""
    comment: str = ""


VerdictKind = Literal["open", "found", "reannotate", "surprising", "adjudicate"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's wrong ending as people see it: "unl" (unlikely) or "pos" (likely)."""

    ending_id: str
    type: Literal["unl", "pos"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What follows for a context from all its judgements, under a policy.

    found       a question with the found ending right; `place` says whether it was best (0) or
                second (1); `distractors` are sorted unlikely -> likely
    reannotate  another round, with `replace` (gibberish and outranking endings) changed for
                `by` from the assigned ones
    surprising  no round gave a question: people did not choose the found ending, or too few wrong
                endings could be used
    adjudicate  annotators are tied
    open        not judged yet, or not by enough people

    `generated` is the ending of an extra training question, and `generated_distractors` its wrong
    endings; empty where there is none. `reason` is in words, for people.
    """

    context_id: str
    kind: VerdictKind
    round: int
    reason: str
    place: int = 0
    distractors: tuple[Judged, ...] = ()
    replace: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    generated: str = ""
    generated_distractors: tuple[Judged, ...] = ()


def task_id(context_id: str, round: int, endings: tuple[str, ...], kind: TaskKind = "work") -> str:
    """The id of a task: what is asked, not when or of whom."""
    return content_id("task", context_id, str(round), kind, *endings)


def shown_order(seed: int, task_id: str, annotator_id: str, size: int = SHOWN) -> tuple[int, ...]:
    """The order in which this annotator sees the endings: places of the task, top to bottom.

    From the project's seed, the task and the annotator alone, so that a packet, a restart and
    another machine show the same.
    """
    text = f"{seed} {task_id} {annotator_id}".encode()
    digest = hashlib.blake2b(text, digest_size=16, person=b"shown").digest()
    order = list(range(size))
    random.Random(int.from_bytes(digest, "little")).shuffle(order)
    return tuple(order)


def problem(labels: tuple[Label | None, ...], best: int | None, second: int | None) -> str:
    """Why an answer is not complete or not allowed, as a sentence; empty when it may be given."""
    missing = sum(label is None for label in labels)
    if missing:
        return f"{missing} of {len(labels)} endings have no label yet."
    if best is None:
        return "No ending is marked as best yet."
    if second is None:
        return "No ending is marked as second best yet."
    if best == second:
        return "Best and second best must be two different endings."
    if labels[best] == "gibberish":
        return "An ending that is gibberish cannot be best."
    if labels[second] == "gibberish" and not only_sane(labels, best):
        return "An ending that is gibberish cannot be second best while another one is not."
    return ""


def only_sane(labels: Sequence[Label | None], best: int) -> bool:
    """Whether all endings but the best one are gibberish: then one of them has to be second."""
    return all(label == "gibberish" for i, label in enumerate(labels) if i != best)


def latest(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Of each annotator's answers to a task the one that counts: the highest revision."""
    kept: dict[tuple[str, str], Judgement] = {}
    for judgement in judgements:
        key = (judgement.task_id, judgement.annotator_id)
        if key not in kept or judgement.revision > kept[key].revision:
            kept[key] = judgement
    return list(kept.values())


def counting(
    judgements: Iterable[Judgement], annotators: Iterable[Annotator], simulated: bool = False
) -> list[Judgement]:
    """The latest answers of people; of simulated annotators as well only where that is asked."""
    ids = {a.id for a in annotators if simulated or a.kind == "person"}
    return latest(j for j in judgements if j.annotator_id in ids)


def whose(people: bool, simulation: bool) -> str:
    """Whose word counted, as manifests say it: "people and simulation", one of them, "nobody"."""
    kinds = [kind for kind, said in (("people", people), ("simulation", simulation)) if said]
    return " and ".join(kinds) or "nobody"
