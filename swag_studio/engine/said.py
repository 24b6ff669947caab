"""What people said of a filter run, as a later run takes it up, frozen into a file.

Endings that most people called gibberish, or that a curator replaced or edited away, are excluded:
no later run assigns them. The file is named by a hash of its contents, and a recipe names the
file; so a run after feedback has a key like any other, and goes on with the same bytes whatever
people say meanwhile. It knows the store and no pool.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_studio.connections import sliced
from swag_studio.errors import StageError, quoted
from swag_studio.files import read_json, write_json
from swag_studio.judging import Judgement, Label, counting, whose
from swag_studio.project import FOLDERS, Project
from swag_studio.recipe import from_toml
from swag_studio.records import Artifact, Ending, folded
from swag_studio.reviewing import Curated
from swag_studio.store import Store
from swag_studio.store_rounds import SLICE_OF_CONTEXTS

FILE = "feedback.json"  # in the folder of a run after feedback
NAME = re.compile(r"v(\d+):([0-9a-f]{12})")
_FROM_POOL = ("generated", "own")  # kinds of endings that a filter may assign


@dataclass(frozen=True, slots=True)
class Said:
    """What people said of a context, in folded texts.

    `excluded` may never be assigned again, of earlier runs too. `start` are the endings by slot
    from which the context moves on, "" for one to be drawn; empty where all its endings stand.
    """

    excluded: tuple[str, ...] = ()
    start: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feedback:
    """What people said of the run `parent`, by context.

    `labels`: (context, folded text, whether it is gibberish) of all wrong endings on which most
    people agree. `simulated` says that answers of simulated annotators counted; `people`, told only
    then, that answers or edits of people did too.
    """

    parent: int
    parent_key: str
    contexts: Mapping[str, Said]
    labels: tuple[tuple[str, str, bool], ...]
    simulated: bool = False
    people: bool | None = None

    @property
    def by(self) -> str:
        """Whose word it is: "people", "simulation", "people and simulation"."""
        return whose(not self.simulated or bool(self.people), self.simulated)

    @property
    def affected(self) -> list[str]:
        """The contexts that move."""
        return [context for context, said in self.contexts.items() if said.start]

    @property
    def counts(self) -> tuple[int, int]:
        """(labels gibberish, labels not gibberish)."""
        bad = sum(label for _, _, label in self.labels)
        return bad, len(self.labels) - bad

    @property
    def name(self) -> str:
        """As the recipe names it: "v1:0123456789ab"."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6)
        return f"v{self.parent}:{digest.hexdigest()}"

    def to_dict(self) -> dict[str, Any]:
        d = dataclasses.asdict(self) | {"labels": [list(label) for label in self.labels]}
        return {key: value for key, value in d.items() if value is not None}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> Feedback:
        said = {c: Said(tuple(s["excluded"]), tuple(s["start"])) for c, s in d["contexts"].items()}
        labels = tuple((c, text, bool(label)) for c, text, label in d["labels"])
        whose = d["simulated"], d.get("people")
        return cls(d["parent"], d["parent_key"], said, labels, *whose)


# --- files -----------------------------------------------------------------------------------


def frozen_path(project: Project, name: str) -> Path:
    """Where the feedback that a recipe names is kept. Raises StageError for no such name."""
    match = NAME.fullmatch(name)
    if match is None:
        raise StageError(
            f"filter.feedback is {name}, which names no feedback. It is set by: "
            f"swag-studio filter-again {quoted(project.root)}"
        )
    return project.root / FOLDERS["filter"] / f"feedback-{match[2]}.json"


def freeze(project: Project, feedback: Feedback) -> str:
    """Keeps a feedback for good; returns its name."""
    name = feedback.name
    path = frozen_path(project, name)
    if not path.exists():
        write_json(path, feedback.to_dict())
    return name


def thawed(project: Project, name: str, folder: Path) -> Feedback:
    """The feedback that a recipe names; the run's `folder` has a copy from now on."""
    path = folder / FILE
    source = path if path.exists() else frozen_path(project, name)
    try:
        feedback = Feedback.from_dict(read_json(source))
        if feedback.name != name:
            raise ValueError("other contents")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise StageError(
            f"{source} is missing or damaged: what people said is not known. Begin the run anew "
            f"with: swag-studio filter-again {quoted(project.root)}"
        ) from None
    if not path.exists():
        write_json(path, feedback.to_dict())
    return feedback


# --- what people said ------------------------------------------------------------------------


def collect(project: Project, run: Artifact) -> Feedback:
    """What people said of a done filter run by now."""
    before = _before(project, run)
    contexts: dict[str, Said] = {}
    labels: list[tuple[str, str, bool]] = []
    reader = _Reader(project.store, run.version)
    for context, assigned, votes, removed in reader.read(before):
        texts = {e.id: folded(e.text) for e in (*assigned, *votes, *removed)}
        said = {texts[e.id]: label for e, label in votes.items()}
        labels += sorted(
            (context, texts[e.id], label) for e, label in votes.items() if e.kind in _FROM_POOL
        )
        excluded = {*before.get(context, ()), *(texts[e.id] for e in removed)}
        excluded |= {text for text, label in said.items() if label}
        if not excluded:
            continue
        start: tuple[str, ...] = ()
        if not excluded.isdisjoint(texts[e.id] for e in assigned):
            start = tuple(
                text if kind in _FROM_POOL and text not in excluded else ""
                for text, kind in reader.standing(context, assigned)
            )
        contexts[context] = Said(tuple(sorted(excluded)), start)
    people = reader.people if reader.simulated else None
    return Feedback(run.version, run.key, contexts, tuple(labels), reader.simulated, people)


def _before(project: Project, run: Artifact) -> dict[str, tuple[str, ...]]:
    """What was excluded when this run began."""
    name = from_toml(run.recipe).filter.feedback
    if not name:
        return {}
    feedback = thawed(project, name, project.folder(run))
    return {context: said.excluded for context, said in feedback.contexts.items()}


_Row = tuple[str, list[Ending], dict[Ending, bool], list[Ending]]
"""A context, its assigned wrong endings, what people called them, those that curators put away."""


class _Reader:
    """Reads a run's human work. `simulated` and `people` are told once all was read."""

    def __init__(self, store: Store, version: int) -> None:
        self.store, self.version, self.simulated = store, version, False
        self._with_simulated = bool(store.people_setting("count_simulated", False))
        self._counted = [a for a in store.annotators() if a.active]
        self._made_up = {a.id for a in self._counted if a.kind == "simulated"}
        self._curated = store.all_curated(version)
        self._removed = _removed(store, version, self._curated)
        self.people = bool(self._removed)
        self._endings: dict[str, Ending] = {}  # of the slice at hand

    def read(self, more: Iterable[str]) -> Iterator[_Row]:
        """The contexts with human work or in `more`, by id."""
        ids = {*self.store.contexts_in_work(self.version), *self._removed, *more}
        for part in sliced(sorted(ids), SLICE_OF_CONTEXTS):
            yield from self._slice(part)

    def standing(self, context: str, assigned: Sequence[Ending]) -> list[tuple[str, str]]:
        """(folded text, kind) by slot, as people left the context that was just read."""
        state = self._curated.get(context)
        endings = [self._endings[e] for e in state.endings] if state else assigned
        return [(folded(e.text), e.kind) for e in endings]

    def _slice(self, ids: Sequence[str]) -> Iterator[_Row]:
        assigned = self.store.assigned_of(self.version, ids)
        votes = self._votes(ids)
        wanted = {e for endings in assigned.values() for e in endings}
        wanted |= {e for context in ids for e in self._removed.get(context, ())}
        wanted |= {e for context in ids for e in votes.get(context, ())}
        wanted |= {e for c in ids if c in self._curated for e in self._curated[c].endings}
        self._endings = known = self.store.endings_by_id(sorted(wanted))
        for context in ids:
            if context in assigned:  # else it was left out of this run
                yield (
                    context,
                    [known[e] for e in assigned[context][1:]],
                    {known[e]: label for e, label in votes.get(context, {}).items()},
                    [known[e] for e in self._removed.get(context, ())],
                )

    def _votes(self, ids: Sequence[str]) -> dict[str, dict[str, bool]]:
        """Context -> wrong ending -> whether it is gibberish to most, or to who settled it.

        Every counting answer to a task of kind "work" is a vote, of any round and run: a judgement
        stays with its text. An ending on which people are evenly divided is left out.
        """
        answers, settled = self.store.judgements_of(ids), self.store.adjudications_of(ids)
        result: dict[str, dict[str, bool]] = {}
        for context, tasks in self.store.tasks_of(ids).items():
            votes: dict[str, Counter[bool]] = {}
            decided: dict[str, tuple[str, bool]] = {}
            for task in (t for t in tasks if t.kind == "work"):
                given = self._counting(answers.get(task.id, ()))
                self.people |= task.id in settled
                for place, ending in enumerate(task.endings[1:], 1):
                    votes.setdefault(ending, Counter()).update(
                        labels[place] == "gibberish" for labels in given
                    )
                    if a := settled.get(task.id):
                        word = a.given, a.labels[place] == "gibberish"
                        decided[ending] = max(decided.get(ending, word), word)
            labels = {e: n[True] > n[False] for e, n in votes.items() if n[True] != n[False]}
            result[context] = labels | {e: label for e, (_, label) in decided.items()}
        return result

    def _counting(self, answers: Iterable[Judgement]) -> list[tuple[Label, ...]]:
        kept = counting(answers, self._counted, self._with_simulated)
        made_up = sum(j.annotator_id in self._made_up for j in kept)
        self.simulated |= made_up > 0
        self.people |= made_up < len(kept)
        return [j.labels for j in kept]


def _removed(store: Store, version: int, curated: Mapping[str, Curated]) -> dict[str, list[str]]:
    """Context -> the endings that curators put away and that are not back, by steps that stand."""
    standing = {step.id for step in store.undo_stacks()[0]}
    removed: dict[str, set[str]] = {}
    for edit in store.edits(version=version):
        state = curated.get(edit.context_id)
        if state and edit.batch.id in standing:
            gone = set(edit.before.endings) - set(state.endings)
            removed.setdefault(edit.context_id, set()).update(gone)
    return {context: sorted(gone) for context, gone in removed.items() if gone}
