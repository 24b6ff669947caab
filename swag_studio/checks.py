"""Entry tests and hidden checks: tasks whose answer is known without anybody's labour.

The found ending, three ordinary distractors, and two distractors whose words were shuffled until
they say nothing. A shuffled ending is of kind "scrambled", which no assignment holds, and a check
is no work, so neither ever comes near a question. Knows neither the project nor a screen.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from swag_studio.judging import FOUND, SHOWN, Judgement, Task, task_id
from swag_studio.records import Ending, ending_id, folded
from swag_studio.sections import setting

SCRAMBLED = 2  # endings of a check that are known gibberish
LEAST = 5  # words of an ending that is shuffled: fewer may happen to make sense again
_STOPS = ".!?。！？"
_TRIES = 200


@dataclass(frozen=True, slots=True)
class CheckRules:
    """When an annotator passes.

    An average worker of the paper has the found ending among the best two in .737 of tasks, so of
    ten such items 93 in 100 workers pass at .6, and 70 in 100 at .7.
    """

    items: int = setting(10, "Items of the entry test.", low=1, high=200, unit="items")
    pass_mark: float = setting(0.6, "Share of items that passes the test.", low=0.0, high=1.0)
    rule: str = setting(
        "both",
        "An item is passed when the found ending is best or second best (found), when the known "
        "gibberish is marked as such (gibberish), or both.",
        choices=("both", "found", "gibberish"),
    )
    share: float = setting(
        0.05, "Hidden checks among the work, as a share of it.", low=0.0, high=0.5
    )


def passes(judgement: Judgement, key: Mapping[str, Any], rule: str) -> bool:
    """Whether an answer agrees with a check's key, under a rule of CheckRules."""
    found = any(place in key["top"] for place in (judgement.best, judgement.second))
    gibberish = all(judgement.labels[place] == "gibberish" for place in key["gibberish"])
    return {"both": found and gibberish, "found": found, "gibberish": gibberish}[rule]


def passed(outcomes: Collection[bool], rules: CheckRules) -> bool:
    """Whether a finished entry test is passed."""
    return bool(outcomes) and sum(outcomes) >= rules.pass_mark * len(outcomes)


def make_check(
    kind: Literal["test", "check"], endings: Sequence[Ending], filter_version: int, seed: int
) -> tuple[Task, list[Ending]] | None:
    """A check from a context's endings, the found one first, with the endings that are new.

    The longest distractors are shuffled. None where the context has too few that can be.
    """
    found, *wrong = endings
    rng = _random(seed, found.context_id)
    longest = sorted(wrong, key=lambda e: (-len(_pieces(e.text)[0]), e.id))
    taken = {folded(e.text) for e in endings}
    made: list[Ending] = []
    ordinary: list[Ending] = []
    for ending in longest:
        text = scrambled(ending.text, rng) if len(made) < SCRAMBLED else ""
        if text and folded(text) not in taken:
            taken.add(folded(text))
            new = ending_id(found.context_id, text)
            made.append(Ending(new, found.context_id, text, "scrambled", -1))
        else:
            ordinary.append(ending)
    count = SHOWN - 1 - SCRAMBLED
    if len(made) < SCRAMBLED or len(ordinary) < count:
        return None
    shown = tuple(e.id for e in [found, *rng.sample(ordinary, count), *made])
    key = {"top": [FOUND], "gibberish": list(range(SHOWN - SCRAMBLED, SHOWN))}
    name = task_id(found.context_id, 0, shown, kind)
    return Task(name, found.context_id, filter_version, 0, shown, kind, key), made


def scrambled(text: str, rng: random.Random) -> str:
    """`text` with no two words that followed each other left so; "" where that cannot be.

    Characters are shuffled where it is written without spaces. The full stop stays at the end.
    """
    pieces, between, stop = _pieces(text)
    if len(pieces) < LEAST:
        return ""
    followed = set(pairwise(pieces))
    for _ in range(_TRIES):
        order = rng.sample(pieces, len(pieces))
        if followed.isdisjoint(pairwise(order)):
            return between.join(order) + stop
    return ""


def strewn(share: float, seed: int, annotator_id: str, tasks: Sequence[str]) -> Iterator[int]:
    """After which of an annotator's tasks a check comes: places, drawn by seed at a rate."""
    for place, task in enumerate(tasks):
        if _random(seed, annotator_id, task).random() < share:
            yield place


def _pieces(text: str) -> tuple[list[str], str, str]:
    """(words or characters, what stands between them, the full stop)."""
    body = text.rstrip(_STOPS)
    words = body.split()
    stop = text[len(body) :]
    return (words, " ", stop) if len(words) > 1 else (list(body), "", stop)


def _random(seed: int, *names: str) -> random.Random:
    text = " ".join((str(seed), *names)).encode()
    digest = hashlib.blake2b(text, digest_size=16, person=b"checks").digest()
    return random.Random(int.from_bytes(digest, "little"))
