"""Where each word of a release came from: provenance.jsonl, one line per question.

It joins what people said (noted while the questions were chosen) to the source captions, the
generator, the filter's iterations and the curators' log. It knows no formats and writes no files.
Annotators and curators stand under pseudonyms that hold within one release.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from swag_studio.engine.history import History, Span
from swag_studio.engine.pool_texts import PoolTexts
from swag_studio.engine.questions import WRONG, Outcome, Spool
from swag_studio.files import read_json
from swag_studio.judging import Adjudication, Judgement
from swag_studio.lineage import Lineage
from swag_studio.policy import VerificationPolicy
from swag_studio.project import Project
from swag_studio.records import SPLITS, Context, Ending, Question, ending_id
from swag_studio.store import Store

Assigned = Sequence[tuple[int, Ending, float]]  # (slot, ending, ensemble score)


# --- people ----------------------------------------------------------------------------------


class Names:
    """Pseudonyms: "annotator-1", "simulated-2", "adjudicator-1", "curator-1".

    Numbered by ids that say nothing, or by a hash of the name, so that no order is told.
    """

    def __init__(self, store: Store) -> None:
        self._names: dict[str, str] = {}
        annotators = sorted(store.annotators(), key=lambda a: a.id)
        for kind, role in (("person", "annotator"), ("simulated", "simulated")):
            ids = [a.id for a in annotators if a.kind == kind]
            self._names |= {id: f"{role}-{n}" for n, id in enumerate(ids, start=1)}
        self._adjudicators = _numbered({a.by for a in store.adjudications().values()})
        self._curators = _numbered({b.who for b in store.batches()})

    def annotator(self, id: str) -> str:
        return self._names[id]

    def adjudicator(self, name: str) -> str:
        # Who settled something since this was made comes after the others.
        number = self._adjudicators.setdefault(name, len(self._adjudicators) + 1)
        return f"adjudicator-{number}"

    def curator(self, name: str) -> str:
        return f"curator-{self._curators[name]}" if name in self._curators else "curator"


def _numbered(names: Iterable[str]) -> dict[str, int]:
    order = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    return {name: number for number, name in enumerate(order, start=1)}


def policy_id(policy: VerificationPolicy) -> str:
    """A short name of a policy's values; the manifest has them."""
    text = json.dumps(policy.to_dict(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def said(outcome: Outcome, names: Names) -> dict[str, Any]:
    """What people said of a context, JSON-ready: the verdict, and all that counts by ending."""
    verdict, case = outcome.verdict, outcome.case
    tasks = {task.id: task for task in case.live}
    judged: dict[str, list[dict[str, Any]]] = {}

    def add(by: str, answer: Judgement | Adjudication) -> None:
        task = tasks[answer.task_id]
        for place, ending in enumerate(task.endings):
            rank = {answer.best: "best", answer.second: "second"}.get(place, "")
            judged.setdefault(ending, []).append(
                {"by": by, "round": task.round, "label": answer.labels[place], "rank": rank}
            )

    for judgement in case.judgements:
        add(names.annotator(judgement.annotator_id), judgement)
    for adjudication in case.adjudications:
        add(names.adjudicator(adjudication.by), adjudication)
    return {
        "verdict": verdict
        and {
            "kind": verdict.kind,
            "round": verdict.round,
            "place": verdict.place,
            "reason": verdict.reason,
        },
        "judged": judged,
    }


# --- lines -----------------------------------------------------------------------------------


class Provenance:
    """Makes the lines of one release."""

    def __init__(
        self, project: Project, lineage: Lineage, names: Names, policy: VerificationPolicy
    ) -> None:
        self._project, self._store, self._lineage = project, project.store, lineage
        self._names, self._policy, self._recipe = names, policy_id(policy), lineage.recipe
        self.run = lineage["filter"].version
        self._sources = {source.id: source for source in project.store.sources()}
        self.history = History.of(project, lineage["filter"], lambda: self._texts)
        folder = project.folder(lineage["train_lm"])
        self._checkpoints = [
            _checkpoint(folder / f"fold-{fold}.json") for fold in range(self._recipe.prepare.folds)
        ]

    def lines(self, spool: Spool) -> Iterator[str]:
        """A line for each question, in their order."""
        assigned = self._store.assigned(self._lineage["filter"].version)
        contexts = enumerate(
            self._store.contexts(self._lineage["prepare"].version, selected_only=True)
        )
        rows = dict.fromkeys(SPLITS, 0)
        for id, group in itertools.groupby(spool.noted(), key=lambda pair: pair[0].context_id):
            place, context = next((i, c) for i, c in contexts if c.id == id)
            mine = next(endings for other, endings in assigned if other == id)
            teller = _Teller(self, place, context, mine)
            shared = self._context(context)
            for question, note in group:
                line = {
                    **self._question(question, rows[question.split], note),
                    **shared,
                    "edits": teller.edits(question),
                    "endings": teller.endings(question, note["judged"]),
                }
                rows[question.split] += 1
                yield json.dumps(line, ensure_ascii=False)

    def _question(self, q: Question, index: int, note: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": q.id,
            "split": q.split,
            "index": index,
            "label": q.label,
            "gold_source": q.gold_source,
            "full_source": q.full_source,
            "verified": q.verified,
            "simulated": q.simulated,
            "verdict": note["verdict"],
            "policy": self._policy,
        }

    def _context(self, context: Context) -> dict[str, Any]:
        """What the questions of a context share: where it stood in its source, word for word."""
        source, store, at = self._sources[context.source_id], self._store, context
        captions = [
            {"sentence": c.position, "start": c.start, "end": c.end, "text": c.text}
            for position in (at.position - 1, at.position)
            if (c := store.caption(at.source_id, at.document, position)) is not None
        ]
        if context.origin == "own" and (own := store.own_context(at.source_id, at.document)):
            texts = (own.sent1, f"{own.sent2} {own.found}")
            captions = [
                {"sentence": i, "start": None, "end": None, "text": text}
                for i, text in enumerate(texts)
            ]
        return {
            "context": context.id,
            "group": context.group,
            "video": context.video_id,
            "source": {"file": source.file, "format": source.format, "sha256": source.sha256},
            "document": context.document,
            "sentence": context.position,
            "captions": captions,
            "splitter": self._recipe.prepare.splitter if context.origin != "own" else None,
        }

    def generator(self, kind: str, fold: int) -> dict[str, Any] | None:
        """How an ending of this kind was made; None where no model of this project did."""
        if kind != "generated":
            return None
        g = self._recipe.generate
        return {
            "fold": fold,
            "checkpoint": self._checkpoints[fold],
            "seed": self._recipe.run.seed,
            "temperature": g.temperature,
            "top_k": g.top_k,
            "top_p": g.top_p,
            "max_tokens": g.max_tokens,
        }

    # --- looked up where it is needed --------------------------------------------------------

    def pool_row(self, place: int, context: Context, ending: str, text: str) -> int | None:
        """The row of an ending, by its id and text, that a curator took from the pool."""
        return self._texts.row(place, lambda made: ending_id(context.id, made) == ending, text)

    @cached_property
    def _texts(self) -> PoolTexts:
        return PoolTexts(self._project, self._lineage["generate"], self._lineage["prepare"])

    @cached_property
    def parents(self) -> dict[str, tuple[str, str, str]]:
        """Edited ending -> (the one it was made from, who, when)."""
        return self._store.parents()

    def changes(self, context_id: str, run: int = 0) -> list[dict[str, Any]]:
        """Each change of a context's endings in the curators' log of a run, oldest first.

        0 is the released one.
        """
        return [
            {
                "run": run or self.run,
                "by": self._names.curator(edit.batch.who),
                "what": edit.batch.name,
                "undone": bool(edit.batch.undoes),
                "out": sorted({*edit.before.endings} - {*edit.after.endings}),
                "in": sorted({*edit.after.endings} - {*edit.before.endings}),
            }
            for edit in self._store.edits(context_id=context_id, version=run or self.run)
            if edit.before.endings != edit.after.endings
        ]

    def forebears(self, ending: str) -> Iterator[tuple[str, Ending | None, str]]:
        """What an edited ending was made from, the nearest first: (id, ending, who edited it).

        None stands for one that the project no longer has.
        """
        seen = {ending}
        while ending in self.parents and self.parents[ending][0] not in seen:
            ending, who, _ = self.parents[ending]
            seen.add(ending)
            known = self._store.endings_by_id([ending]).get(ending)
            yield ending, known, self._names.curator(who)


@dataclass(frozen=True)
class _Teller:
    """What is told of one context's endings."""

    made: Provenance
    place: int  # in the pool
    context: Context
    assigned: Assigned

    @cached_property
    def _spans(self) -> dict[int, list[Span]]:
        return self.made.history.spans(self.place)

    @cached_property
    def _known(self) -> dict[str, tuple[int, float]]:
        """Ending -> (pool row, ensemble score), of those that the filter left assigned."""
        return {ending.id: (ending.row, score) for _, ending, score in self.assigned}

    def edits(self, question: Question) -> list[dict[str, Any]]:
        """The curators' changes, of a context that has an ending which the filter did not leave.

        Of earlier runs those that put an ending there which it has kept since.
        """
        edits = []
        for run, ending in sorted(self._by_curators(question)):
            edits += [e for e in self.made.changes(self.context.id, run) if ending in e["in"]]
        if any(d.id not in self._known for d in question.distractors):
            edits += self.made.changes(self.context.id)
        return edits

    def _by_curators(self, question: Question) -> set[tuple[int, str]]:
        """(earlier run, ending) of the endings that a curator put there, and that were kept."""
        rows = {d.id: self._known[d.id][0] for d in question.distractors if d.id in self._known}
        return {
            (int(span["run"] or 0), ending)
            for ending, row in rows.items()
            for span in self._spans.get(row, [])
            if span["by"] == "curator"
        }

    def endings(
        self, q: Question, judged: Mapping[str, list[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """The endings in the question's order, then the fourth wrong one with place None."""
        right = {"id": q.right_id, "text": q.right, "kind": q.right_kind, "type": q.right_type}
        every = [right] + [
            {"id": d.id, "text": d.text, "kind": d.kind, "type": d.type} for d in q.distractors
        ]
        shown = {e["id"]: place for e in every[: 1 + WRONG] if (place := self._place(q, e)) >= 0}
        every.sort(key=lambda e: shown.get(e["id"], len(q.endings)))
        return [
            {
                "place": shown.get(e["id"]),
                **e,
                "right": e["id"] == q.right_id,
                **self._origin(e["id"], e["kind"], e["text"]),
                "judgements": judged.get(e["id"], []),
            }
            for e in every
        ]

    def _place(self, q: Question, ending: Mapping[str, Any]) -> int:
        if ending["id"] == q.right_id:
            return q.label
        places = (i for i, text in enumerate(q.endings) if i != q.label and text == ending["text"])
        return next(places, -1)

    def _origin(self, ending: str, kind: str, text: str) -> dict[str, Any]:
        """Where an ending came from; of an edited one where each that it was made from did."""
        parents = self.made.forebears(ending) if kind == "edited" else ()
        return {
            **self._way(ending, kind, text),
            "parents": [
                {
                    "id": parent,
                    "text": known and known.text,
                    "kind": known and known.kind,
                    "edited_by": by,
                    **self._way(parent, *((known.kind, known.text) if known else ("", ""))),
                }
                for parent, known, by in parents
            ],
        }

    def _way(self, ending: str, kind: str, text: str) -> dict[str, Any]:
        """What wrote an ending, and its way through the filter."""
        row, score = self._known.get(ending, (None, None))
        candidate = kind in ("generated", "own")
        if row is None and candidate:
            row = self.made.pool_row(self.place, self.context, ending, text)
        known = self.made.history.known
        spans = [*self._spans.get(row, [])] if row is not None and known else None
        if spans is not None and ending not in self._known and self._put_in(ending):
            spans.append({"run": self.made.run, "by": "curator", "in": None, "out": None})
        return {
            # One that is not among the candidates was written for others, in an earlier run.
            "generator": self.made.generator(kind, self.context.fold) if row is not None else None,
            "pool_row": row,
            "assigned": spans if candidate else [],
            "score": score,
        }

    def _put_in(self, ending: str) -> bool:
        """Whether the curators' log of the released run says that a person put an ending there."""
        return any(ending in edit["in"] for edit in self.made.changes(self.context.id))


def _checkpoint(path: Path) -> str | None:
    """The hash of a fold's weights, as it was kept beside them."""
    try:
        return str(read_json(path)["blake2b"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
