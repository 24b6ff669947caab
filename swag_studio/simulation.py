"""Simulated annotators, for the demo, for tests and for planning; always marked as such.

They answer as often as the paper's Table 2 says, whatever the texts are. They know which ending
is the found one, and nothing else.
"""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import dataclass

from swag_studio.judging import FOUND, LABELS, Annotator, Judgement, Label, Task
from swag_studio.ratings import PAPER, Shares
from swag_studio.records import content_id

VIA = "simulation"
SECONDS = 0.20 / 8.57 * 3600  # a question's pay over the median pay per hour (paper): 84 s
SPREAD = 0.4  # of the logarithm of the time
SHARED = 0.57  # share of a skilled annotator's answers that are the common one; see `simulate`

Answer = tuple[tuple[Label, ...], int, int]


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated annotator with the share of answers that follow Table 2; the rest is random."""

    annotator: Annotator
    skill: float = 1.0


def crew(count: int, seed: int, skill: float = 1.0, created: str = "") -> list[Simulated]:
    """`count` simulated annotators with ids of their own, the same for the same seed."""
    return [
        Simulated(
            Annotator(
                id=content_id("simulated annotator", str(seed), str(number)),
                name=f"Simulated {number}",
                kind="simulated",
                created=created,
            ),
            skill,
        )
        for number in range(1, count + 1)
    ]


def simulate(
    task: Task, annotator: Annotator, skill: float, seed: int, given: str = ""
) -> Judgement:
    """A legal answer, the same for the same seed, task and annotator.

    With probability `skill` (0 to 1) it is drawn from Table 2, else at random: labels, best and
    second equally likely as far as that is legal. A drawn answer is with probability SHARED the
    one that all annotators have in common for this task, which is drawn from Table 2 as well: so
    each one's frequencies are the table's, and two skilled ones agree on about 70% of choices and
    65% of labels (paper: 72% and 64%). Independent draws would agree on 56% and 49%.

    Raises ValueError for an annotator who is not simulated, or a skill out of range.
    """
    if annotator.kind != "simulated":
        raise ValueError(f"{annotator.id} is a person; only simulated annotators are simulated")
    if not 0 <= skill <= 1:
        raise ValueError(f"skill must be from 0 to 1, not {skill}")
    own = _random(seed, task.id, annotator.id)
    size = len(task.endings)
    skilled, common = own.random() < skill, own.random() < SHARED
    if skilled:
        labels, best, second = _from_table(size, _random(seed, task.id) if common else own)
    else:
        labels, best, second = _at_random(size, own)
    return Judgement(
        task_id=task.id,
        annotator_id=annotator.id,
        labels=labels,
        best=best,
        second=second,
        seconds=round(SECONDS * math.exp(own.gauss(0.0, SPREAD)), 1),
        given=given,
        via=VIA,
    )


def _from_table(size: int, rng: random.Random) -> Answer:
    """Best and second by the found ending's shares, generated ones alike; then the labels.

    Gibberish cannot be best or second, so among the rest it is more frequent than in the table,
    in the measure that makes the whole right.
    """
    wrong = [place for place in range(size) if place != FOUND]
    rng.shuffle(wrong)
    found = PAPER.found
    if rng.random() < found.best:
        best, second = FOUND, wrong[0]
    elif rng.random() < found.second / (1 - found.best):
        best, second = wrong[0], FOUND
    else:
        best, second = wrong[0], wrong[1]
    labels = tuple(
        _label(
            PAPER.found if place == FOUND else PAPER.generated,
            _share_in_top(place, size),
            place in (best, second),
            rng,
        )
        for place in range(size)
    )
    return labels, best, second


def _share_in_top(place: int, size: int) -> float:
    """How often an ending is best or second: two places, less what the found one takes."""
    found = PAPER.found.best + PAPER.found.second
    return found if place == FOUND else (2 - found) / (size - 1)


def _label(shares: Shares, in_top: float, top: bool, rng: random.Random) -> Label:
    """A label by the shares, given whether it is in the top two, where it is `in_top` often."""
    if not top and rng.random() < shares.gibberish / (1 - in_top):
        return "gibberish"
    likely = shares.likely / (shares.likely + shares.unlikely)
    return "likely" if rng.random() < likely else "unlikely"


def _at_random(size: int, rng: random.Random) -> Answer:
    best, second = rng.sample(range(size), 2)
    labels = tuple(
        rng.choice(LABELS[:2] if place in (best, second) else LABELS) for place in range(size)
    )
    return labels, best, second


def _random(seed: int, *names: str) -> random.Random:
    text = " ".join((str(seed), *names)).encode()
    digest = hashlib.blake2b(text, digest_size=16, person=b"simulation").digest()
    return random.Random(int.from_bytes(digest, "little"))
