"""From what people said of each context to questions, and a release's questions in their order.

The rules: a found ending that people chose gives a question; a generated one that beat it gives
another, for training only; where asked, a context that nobody judged gives an unverified one. It
knows cases and verdicts, not formats or folders of releases.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swag_studio.cases import Case
from swag_studio.connections import sliced
from swag_studio.engine.seeds import seed_for
from swag_studio.judging import FOUND, Judged, Label, Verdict
from swag_studio.policy import VerificationPolicy
from swag_studio.records import SPLITS, Context, Distractor, Ending, Question, content_id
from swag_studio.store import Store
from swag_studio.verification import GEN_SOURCE, gold_source

WRONG = 3  # wrong endings of a question in SWAG's files
MOST_WRONG = 4  # those of the full files
UNVERIFIED_SOURCE = "gold-unverified"  # the full files' name for a question that nobody judged
_SEEDED = "release"  # as in the draft, so that the same wrong endings are drawn
_CASES_AT_ONCE = 100

Answer = tuple[tuple[Label, ...], int, int]  # a label per ending, the places of best and second


@dataclass(frozen=True)
class Outcome:
    """What a release makes of one context.

    `endings` holds those of its case by id, and those of other cases. `left_out` says why no
    question came of it: "excluded", "not judged", "few" (wrong endings), or the kind of its
    verdict; it is empty where one did.
    """

    case: Case
    verdict: Verdict | None
    endings: Mapping[str, Ending]
    questions: tuple[Question, ...] = ()
    left_out: str = ""

    @property
    def context(self) -> Context:
        return self.case.context

    @property
    def shown(self) -> tuple[str, ...]:
        """The ids of the endings that people last saw, the found one first; none if nobody did."""
        return self.case.live[self.verdict.round].endings if self.verdict else ()

    def answers(self) -> list[Answer]:
        """What was said of `shown` and decided: its adjudication, else the judgements."""
        if self.verdict is None:
            return []
        task = self.case.live[self.verdict.round].id
        settled = [a for a in self.case.adjudications if a.task_id == task]
        given = [j for j in self.case.judgements if j.task_id == task]
        return [(a.labels, a.best, a.second) for a in settled[-1:] or given]


@dataclass(frozen=True)
class QuestionMaker:
    """The rules with what they depend on. `simulated`: ids of annotators who are no people."""

    store: Store
    policy: VerificationPolicy
    seed: int
    unverified: bool
    simulated: Set[str]

    def outcomes(self, cases: Iterable[Case]) -> Iterator[Outcome]:
        """What follows for each case, in their order. A question's right ending has label 0."""
        for part in sliced(cases, _CASES_AT_ONCE):
            ids = {id for case in part for id in case.endings}
            ids.update(id for case in part for task in case.live for id in task.endings)
            endings = self.store.endings_by_id(sorted(ids))
            for case in part:
                yield self._outcome(Outcome(case, case.verdict(self.policy, self.seed), endings))

    def _outcome(self, outcome: Outcome) -> Outcome:
        verdict = outcome.verdict
        reason = ""
        if outcome.case.excluded:
            reason = "excluded"
        elif verdict is None or verdict.kind == "open":
            reason = "" if self.unverified else "not judged"
        elif verdict.kind != "found":
            reason = verdict.kind
        if reason:
            return dataclasses.replace(outcome, left_out=reason)
        judged = verdict is not None and verdict.kind == "found"
        made = tuple(self._verified(outcome)) if judged else (self._unverified(outcome),)
        if len(made[0].distractors) < WRONG:
            return dataclasses.replace(outcome, left_out="few")
        return dataclasses.replace(outcome, questions=made)

    def _verified(self, outcome: Outcome) -> Iterator[Question]:
        """The found question, and the one whose right ending is generated, in training alone.

        An ending that a person wrote may be a wrong one, but is never passed off as generated.
        """
        verdict = outcome.verdict
        assert verdict is not None
        found = outcome.case.endings[FOUND]
        wrong = _judged(outcome, verdict.distractors)
        yield self._question(outcome, found, "gold", gold_source(verdict), wrong)
        generated = outcome.endings.get(verdict.generated)
        if generated and generated.kind != "edited" and outcome.context.split == "train":
            wrong = _judged(outcome, verdict.generated_distractors)
            yield self._question(outcome, generated.id, "gen", GEN_SOURCE, wrong)

    def _unverified(self, outcome: Outcome) -> Question:
        """The found ending with a seeded draw of the assigned ones, as in the draft."""
        found, *assigned = outcome.case.endings
        rng = np.random.default_rng(seed_for(self.seed, _SEEDED, "endings", outcome.context.id))
        drawn = [assigned[place] for place in rng.permutation(len(assigned))[:MOST_WRONG]]
        wrong = tuple(_distractor(outcome.endings[id]) for id in drawn)
        return self._question(outcome, found, "gold", UNVERIFIED_SOURCE, wrong)

    def _question(
        self,
        outcome: Outcome,
        right: str,
        source: str,
        full_source: str,
        wrong: tuple[Distractor, ...],
    ) -> Question:
        context, verified = outcome.context, full_source != UNVERIFIED_SOURCE
        return Question(
            context_id=context.id,
            video_id=context.video_id,
            fold=context.fold,
            split=context.split,
            sent1=context.sent1,
            sent2=context.sent2,
            endings=(outcome.endings[right].text, *(d.text for d in wrong[:WRONG])),
            label=0,
            gold_source=source,
            id=content_id("question", context.id, source, right),
            group=context.group,
            source_id=context.source_id,
            document=context.document,
            position=context.position,
            right_id=right,
            right_type=self._type(outcome, right) if verified else "",
            right_kind=outcome.endings[right].kind,
            distractors=wrong,
            full_source=full_source,
            verified=verified,
            simulated=verified
            and any(j.annotator_id in self.simulated for j in outcome.case.judgements),
        )

    def _type(self, outcome: Outcome, ending: str) -> str:
        """How people saw a right ending. A tie, on which no verdict rests, is "pos" by default."""
        place = outcome.shown.index(ending)
        votes = Counter(labels[place] for labels, _, _ in outcome.answers())
        likely, unlikely = votes["likely"], votes["unlikely"]
        tied = likely == unlikely and self.policy.likely_tie == "unlikely"
        return "unl" if unlikely > likely or tied else "pos"


def _judged(outcome: Outcome, judged: Iterable[Judged]) -> tuple[Distractor, ...]:
    return tuple(_distractor(outcome.endings[j.ending_id], j.type) for j in judged)


def _distractor(ending: Ending, type: str = "") -> Distractor:
    return Distractor(ending.id, ending.text, type, ending.kind)


# --- in their final order ------------------------------------------------------------------------


def labels(seed: int, split: str, count: int, places: int = 1 + WRONG) -> NDArray[np.int8]:
    """(count,) the place of each question's right ending: shuffled, equally often each.

    Over the whole split, since in small blocks the last ones would follow from the others.
    """
    rng = np.random.default_rng(seed_for(seed, _SEEDED, "labels", split))
    return rng.permutation(np.arange(count, dtype=np.int64) % places).astype(np.int8)


def placed(question: Question, label: int, seed: int) -> Question:
    """The question with its right ending at `label` and the wrong ones in seeded order."""
    return dataclasses.replace(
        question, endings=_inserted(_shuffled(question, seed), label), label=label
    )


def _shuffled(question: Question, seed: int) -> list[str]:
    """The endings, the right one first and the wrong ones in seeded order.

    Not as they are sorted: from unlikely to likely is a giveaway.
    """
    rng = np.random.default_rng(seed_for(seed, _SEEDED, "order", question.id))
    right, *wrong = question.endings
    return [right, *(wrong[place] for place in rng.permutation(len(wrong)))]


def _inserted(endings: Iterable[str], label: int) -> tuple[str, ...]:
    """The endings with the first one moved to `label`."""
    right, *wrong = endings
    wrong.insert(label, right)
    return tuple(wrong)


class Spool:
    """A release's questions in a file, each with a note of what people said: read many times.

    So what can be done once is: a line is the values of a question, its wrong endings in their
    final order, and then the note, which most readings pass over. Every reading places the right
    endings anew and the same. `counts` are questions by split.
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.seed = path, seed
        self.counts = dict.fromkeys(SPLITS, 0)

    def __len__(self) -> int:
        return sum(self.counts.values())

    def line(self, question: Question, note: Mapping[str, Any]) -> str:
        """Counts a question, whose right ending stands first, and gives its line of the file."""
        self.counts[question.split] += 1
        values = list(_values(question))
        values[_ENDINGS] = _shuffled(question, self.seed)
        values[_DISTRACTORS] = [(d.id, d.text, d.type, d.kind) for d in question.distractors]
        return "\t".join(json.dumps(part, ensure_ascii=False) for part in (values, note)) + "\n"

    def __iter__(self) -> Iterator[Question]:
        return (question for question, _ in self._read())

    def noted(self) -> Iterator[tuple[Question, dict[str, Any]]]:
        """The questions in their final form, each with its note."""
        return ((question, json.loads(note)) for question, note in self._read())

    def _read(self) -> Iterator[tuple[Question, str]]:
        places = {s: iter(labels(self.seed, s, n).tolist()) for s, n in self.counts.items()}
        with open(self.path, encoding="utf-8", newline="\n") as file:
            for line in file:
                values, end = _DECODER.raw_decode(line)
                label = values[_LABEL] = next(places[values[_SPLIT]])
                values[_ENDINGS] = _inserted(values[_ENDINGS], label)
                values[_DISTRACTORS] = tuple(Distractor(*d) for d in values[_DISTRACTORS])
                yield Question(*values), line[end:]


_NAMES = [field.name for field in dataclasses.fields(Question)]
_SPLIT, _ENDINGS, _LABEL, _DISTRACTORS = map(
    _NAMES.index, ("split", "endings", "label", "distractors")
)
_values = attrgetter(*_NAMES)
_DECODER = json.JSONDecoder()
