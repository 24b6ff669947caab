"""What a release keeps apart from its questions: surprising pairs, and preferences.

One row per context, JSON-ready; which file it goes to is the caller's affair.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from swag_studio.engine.questions import Outcome
from swag_studio.judging import FOUND, LABELS
from swag_studio.verification import rejects_found


def surprising(outcome: Outcome) -> dict[str, Any] | None:
    """A pair whose found ending people rejected to the last round, with how they voted there."""
    verdict, context = outcome.verdict, outcome.context
    if verdict is None or verdict.kind != "surprising" or not rejects_found(verdict):
        return None
    answers = outcome.answers()
    endings: list[dict[str, Any]] = []
    for place, id in enumerate(outcome.shown):
        votes = Counter(labels[place] for labels, _, _ in answers)
        row: dict[str, Any] = {label: votes[label] for label in LABELS}
        row["best"] = sum(best == place for _, best, _ in answers)
        row["second"] = sum(second == place for _, _, second in answers)
        ending = outcome.endings[id]
        endings.append({"text": ending.text, "kind": ending.kind, **row})
    return {
        "context": context.id,
        "video": context.video_id,
        "split": context.split,
        "sent1": context.sent1,
        "sent2": context.sent2,
        "found": context.found,
        "rounds": verdict.round + 1,
        "answers": len(answers),
        "reason": verdict.reason,
        "endings": endings,
    }


def preference(outcome: Outcome) -> dict[str, Any] | None:
    """A generated ending that people put above the found one. Of the training split alone.

    In another split the pair would tell right endings of validation and test.
    """
    verdict, context = outcome.verdict, outcome.context
    if verdict is None or context.split != "train":
        return None
    best = verdict.generated
    if not best and verdict.kind == "surprising" and rejects_found(verdict):
        best = _clear_best(outcome)
    if not best or outcome.endings[best].kind == "edited":
        return None
    return {
        "context": context.id,
        "video": context.video_id,
        "split": context.split,
        "prompt": f"{context.sent1} {context.sent2}",
        "chosen": outcome.endings[best].text,
        "rejected": context.found,
        "verdict": verdict.kind,
        "answers": len(outcome.answers()),
    }


def _clear_best(outcome: Outcome) -> str:
    """The ending that alone has most points, best counting 2 and second best 1; never the found."""
    points = Counter[int]()
    for _, best, second in outcome.answers():
        points[best] += 2
        points[second] += 1
    (first, most), *others = points.most_common()
    tied = bool(others) and others[0][1] == most
    return "" if tied or first == FOUND else outcome.shown[first]
