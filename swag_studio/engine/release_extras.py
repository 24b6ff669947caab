"""What a release keeps apart from its questions: surprising pairs, and preferences.

Rows, JSON-ready, of one context at a time; which file they go to is the caller's affair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from swag_studio.engine.questions import Outcome
from swag_studio.judging import FOUND, LABELS
from swag_studio.policy import VerificationPolicy
from swag_studio.verification import possible_ranks, rejects_found


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


def preferences(outcome: Outcome, policy: VerificationPolicy) -> Iterator[dict[str, Any]]:
    """Each generated ending that was best, and so above the found one, in a round of judging.

    Of every round whose answers are in: a found ending that is second best after others were
    replaced, or best in the end, was below the one that people then put first all the same. An
    extra question comes of first rounds alone, as in SWAG; a pair says less, and needs no wrong
    endings. Of the training split alone, and never with an ending that is right in another split:
    both would tell right endings of validation and test.
    """
    verdict, case, context = outcome.verdict, outcome.case, outcome.context
    if verdict is None or context.split != "train":
        return
    decided = verdict.kind not in ("open", "adjudicate")
    told: set[str] = set()
    for task in case.live[: verdict.round + decided]:
        settled = [a for a in case.adjudications if a.task_id == task.id][-1:]
        given = [j for j in case.judgements if j.task_id == task.id]
        answers = settled or given
        best, second = possible_ranks(answers, policy)
        if len(best) != 1 or FOUND in best:
            continue
        chosen = outcome.endings[task.endings[best.pop()]]
        if chosen.kind == "edited" or chosen.id in case.barred or chosen.id in told:
            continue
        told.add(chosen.id)
        yield {
            "context": context.id,
            "video": context.video_id,
            "split": context.split,
            "prompt": f"{context.sent1} {context.sent2}",
            "chosen": chosen.text,
            "rejected": context.found,
            "rejected_rank": _rank_of_found(second),
            "round": task.round,
            "answers": len(answers),
            "verdict": verdict.kind,
        }


def _rank_of_found(second: set[int]) -> str | None:
    """Of a found ending that is not best; None where annotators are tied on it."""
    if FOUND not in second:
        return "neither"
    return "second" if len(second) == 1 else None
