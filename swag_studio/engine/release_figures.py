"""What is counted of a release: the paper's Table 6, its Table 2, and who verified.

Fed outcome by outcome while the questions are chosen; in memory are counts, the ids of groups, and
a bounded number of judgements for the agreement. It knows no files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swag_studio.agreement import agreement
from swag_studio.engine.questions import UNVERIFIED_SOURCE, WRONG, Outcome
from swag_studio.judging import FOUND, LABELS, Annotator, Judgement, Task, whose
from swag_studio.ratings import collect
from swag_studio.records import SPLITS, Question, SourceInfo

MOST_COMPARED = 10_000  # tasks of several judgements that the agreement is measured on


@dataclass
class Figures:
    """The figures of one release. `simulated`: simulated annotators' answers count."""

    sources: Mapping[str, SourceInfo]
    annotators: list[Annotator]
    simulated: bool
    contexts: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    questions: dict[str, Counter[str]] = field(
        default_factory=lambda: {split: Counter() for split in SPLITS}
    )
    by_source: Counter[str] = field(default_factory=Counter)  # questions
    of_source: dict[str, Counter[str]] = field(default_factory=dict)  # contexts by split
    by_kind: Counter[str] = field(default_factory=Counter)  # gold0-orig, gen-orig ...
    groups: dict[str, set[str]] = field(default_factory=lambda: {s: set() for s in SPLITS})
    endings: int = 0  # different ones
    fourth: int = 0  # questions with a fourth wrong ending
    edited: int = 0  # different wrong endings that a person wrote
    simulated_questions: int = 0
    words: Counter[str] = field(default_factory=Counter)  # sums, and how many of each
    judgements: Counter[str] = field(default_factory=Counter)  # by the annotator's kind
    judges: dict[str, str] = field(default_factory=dict)  # annotator -> kind
    adjudications: int = 0
    seconds: float = 0.0  # of people's work
    said: dict[str, Counter[str]] = field(
        default_factory=lambda: {"found": Counter(), "generated": Counter()}
    )
    _compared: list[Judgement] = field(default_factory=list)
    _tasks: dict[str, Task] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kinds = {a.id: a.kind for a in self.annotators}

    def add(self, outcome: Outcome) -> None:
        """Counts a context: its questions, or why there is none, and what people said of it."""
        self._add_people(outcome)
        if outcome.left_out:
            self.left_out[outcome.left_out] += 1
            return
        self.contexts += 1
        self.groups[outcome.context.split].add(outcome.context.group)
        source = self.sources[outcome.context.source_id].file
        self.of_source.setdefault(source, Counter())[outcome.context.split] += 1
        wrong = {d.id: d for q in outcome.questions for d in q.distractors}
        self.endings += len({*wrong, *(q.right_id for q in outcome.questions)})
        self.edited += sum(d.kind == "edited" for d in wrong.values())
        for question in outcome.questions:
            self._add_question(question)

    def _add_question(self, q: Question) -> None:
        self.questions[q.split]["unverified" if not q.verified else q.gold_source] += 1
        self.by_source[self.sources[q.source_id].file] += 1
        self.by_kind[q.full_source] += 1
        self.fourth += len(q.distractors) > WRONG
        self.simulated_questions += q.simulated
        texts = [("context", f"{q.sent1} {q.sent2}"), ("right", q.endings[0])]
        texts += [("wrong", text) for text in q.endings[1:]]
        for name, text in texts:
            self.words[name] += len(text.split())
            self.words[f"{name} texts"] += 1

    def _add_people(self, outcome: Outcome) -> None:
        tasks = {task.id: task for task in outcome.case.live}
        self.adjudications += len(outcome.case.adjudications)
        by_task = Counter(j.task_id for j in outcome.case.judgements)
        for judgement in outcome.case.judgements:
            kind = self._kinds[judgement.annotator_id]
            self.judgements[kind] += 1
            self.judges[judgement.annotator_id] = kind
            self.seconds += judgement.seconds if kind == "person" else 0.0
            for place, label in enumerate(judgement.labels):
                counts = self.said["found" if place == FOUND else "generated"]
                counts["endings"] += 1
                counts[label] += 1
                counts["best"] += place == judgement.best
                counts["second"] += place == judgement.second
            task = judgement.task_id
            if by_task[task] > 1 and (task in self._tasks or len(self._tasks) < MOST_COMPARED):
                self._tasks[task] = tasks[task]
                self._compared.append(judgement)

    # --- as figures --------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """All questions."""
        return sum(counts.total() for counts in self.questions.values())

    @property
    def verified_by(self) -> str:
        """ "people", "simulation", "people and simulation", or "nobody"."""
        simulated = self.judgements["simulated"] > 0
        settled = self.adjudications > 0 and not simulated
        return whose(self.judgements["person"] > 0 or settled, simulated)

    def counts(self) -> dict[str, Any]:
        """The counts of a manifest, JSON-ready."""
        kinds = ("gold", "gen", "unverified")
        return {
            "questions": {
                split: {"all": c.total(), **{kind: c[kind] for kind in kinds}}
                for split, c in self.questions.items()
            },
            "by_source": dict(sorted(self.by_source.items())),
            "contexts_by_source": {
                file: {split: contexts[split] for split in SPLITS}
                for file, contexts in sorted(self.of_source.items())
            },
            "by_kind": dict(sorted(self.by_kind.items())),
            "contexts": self.contexts,
            "left_out": dict(sorted(self.left_out.items())),
            "groups": {split: len(ids) for split, ids in self.groups.items()},
            "endings": self.endings,
            "with_fourth": self.fourth,
            "edited_endings": self.edited,
            "mean_words": {n: self._mean(n) for n in ("context", "right", "wrong")},
        }

    def people(self) -> dict[str, Any]:
        """Who verified and what they said, JSON-ready. Shares are of all rated endings."""
        judges = Counter(self.judges.values())
        return {
            "by": self.verified_by,
            "annotators": judges["person"],
            "simulated_annotators": judges["simulated"],
            "judgements": self.judgements["person"],
            "simulated_judgements": self.judgements["simulated"],
            "adjudications": self.adjudications,
            "questions_from_simulated": self.simulated_questions,
            "unverified_questions": self.by_kind[UNVERIFIED_SOURCE],
            "said": {
                name: {
                    "endings": c["endings"],
                    **{
                        what: round(c[what] / c["endings"], 4) if c["endings"] else None
                        for what in (*LABELS, "best", "second")
                    },
                }
                for name, c in self.said.items()
            },
            "agreement": self._agreement(),
        }

    def _agreement(self) -> dict[str, Any]:
        ratings = collect(self._compared, self._tasks, self.annotators, self.simulated)
        result: dict[str, Any] = {"tasks": len(self._tasks)}
        for measure in ("choices", "labels"):
            found = agreement(ratings, measure, draws=0) if self._tasks else None
            values = (found.alpha.value, found.percent.value) if found else (None, None)
            alpha, percent = (None if v is None else round(v, 4) for v in values)
            result[measure] = {"alpha": alpha, "percent": percent}
        return result

    def _mean(self, name: str) -> float | None:
        texts = self.words[f"{name} texts"]
        return round(self.words[name] / texts, 2) if texts else None
