"""Where a filter run after feedback starts, and what may move in it.

It starts from its parent's last assignment. A context of which something was excluded gets other
candidates in those places and moves on from there; all others stay as they are, and the classifiers
learn from them as from any. It knows the run's files and the pool, not iterations.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.assignment import Assignment, AssignmentLog
from swag_studio.engine.filter_setup import Setup, has_features
from swag_studio.engine.gibberish import Gibberish, Labelled, learn
from swag_studio.engine.said import Said, thawed
from swag_studio.engine.seeds import seed_for
from swag_studio.engine.text import TextMaker
from swag_studio.engine.usable import Usable
from swag_studio.errors import StageError
from swag_studio.events import Level
from swag_studio.keeping import carry_over
from swag_studio.pool import Rows
from swag_studio.project import Project
from swag_studio.records import folded

_CLASSIFIER = "gibberish.json"  # in the run's folder

Told = tuple[str, Level]  # of a message


class Restart:
    """The start of one run after feedback. What it reads and learns is kept in the run's folder.

    Raises StageError when the feedback, or the parent, is gone.
    """

    def __init__(self, project: Project, setup: Setup, folder: Path) -> None:
        self.project, self.setup, self.folder = project, setup, folder
        recipe = setup.recipe.filter
        self.feedback = thawed(project, recipe.feedback, folder)
        self._uses_classifier = recipe.bar_gibberish or "gibberish" in recipe.members

    # --- the classifier ------------------------------------------------------------------

    def learn(self, seed: int) -> Generator[str, None, None]:
        """Trains the classifier of gibberish where the recipe uses it, or reads the one trained."""
        if not self._uses_classifier:
            return
        path = self.folder / _CLASSIFIER
        if path.exists():
            self.setup.gibberish = Gibberish.load(path)
            return
        labels = yield from self._labelled()
        made = yield from learn(labels, len(self.setup.corpus.vocabulary), seed)
        made.save(path)
        self.setup.gibberish = Gibberish.load(path)

    def _labelled(self) -> Generator[str, None, Labelled]:
        """The labelled endings that are in the pool."""
        said: dict[str, dict[str, bool]] = {}
        for context, text, label in self.feedback.labels:
            said.setdefault(context, {})[text] = label
        layout = self.setup.pool.layout
        tokens = [np.zeros((0, layout.max_tokens), np.uint16)]
        numbers = [np.zeros((0, len(layout.feature_names)), np.float32)]
        labels, groups = list[bool](), list[str]()
        for done, (context, labels_of) in enumerate(said.items()):
            if done % 20 == 0:
                yield f"reading labelled endings {done}/{len(said)}"
            place = self._places.get(context)
            if place is None:
                continue
            rows = self.setup.pool.context(place)
            first = {text: row for row, text in reversed(list(enumerate(self._texts(place, rows))))}
            found = sorted(first[text] for text in labels_of if first.get(text, 0) > 0)
            texts = {row: text for text, row in first.items()}
            tokens.append(rows.tokens[found])
            numbers.append(self._numbers(rows)[found])
            labels += [labels_of[texts[row]] for row in found]
            groups += [self.setup.corpus.groups[place]] * len(found)
        videos = np.unique(np.array(groups, np.str_), return_inverse=True)[1]
        return Labelled(
            np.concatenate(tokens), np.concatenate(numbers), np.array(labels, np.bool_), videos
        )

    def _numbers(self, rows: Rows) -> NDArray[np.float32]:
        """The features as the classifier reads them: 0 where some contexts have none."""
        setup = self.setup
        known = has_features(setup.recipe, setup.corpus, setup.pool)
        return rows.features if known else np.zeros_like(rows.features)

    # --- the assignment ------------------------------------------------------------------

    def initial(self, seed: int) -> Generator[int, None, Assignment]:
        """The parent's last assignment, without what is excluded; yields contexts seen by now.

        A context whose candidates no longer suffice is left out.
        """
        parent, k = self._parent(), self.setup.recipe.filter.distractors
        if parent.k != k:
            raise StageError(
                f"Run {self.feedback.parent} assigned {parent.k} distractors to each context, and "
                f"filter.distractors is {k}. Set it to {parent.k}, or filter from a new draw."
            )
        contexts: list[int] = []
        assigned: list[NDArray[np.uint16]] = []
        bits: list[NDArray[np.uint8]] = []
        for at, context in enumerate(parent.contexts.tolist()):
            said = self.feedback.contexts.get(self.setup.corpus.context_ids[context], Said())
            rows, usable = parent.rows[at], parent.bits(at)
            if said.start:
                started = self._started(context, rows, said, seed)
                yield context
                if started is None:
                    continue
                rows, usable = started
            contexts.append(context)
            assigned.append(rows)
            bits.append(usable)
        return Assignment.of(contexts, assigned, bits, k)

    def _started(
        self, context: int, assigned: NDArray[np.uint16], said: Said, seed: int
    ) -> tuple[NDArray[np.uint16], NDArray[np.uint8]] | None:
        """A moving context's rows and packed usable bits; None where too few are usable.

        What stays keeps its slot, and so does what a curator took from the pool; the other slots
        are drawn. What the classifier bars may stay, but not come in.
        """
        rows = self.setup.pool.context(context)
        texts = self._texts(context, rows)
        usable = Usable.of(self.setup.recipe, self.setup.corpus)(rows)
        usable &= np.array([text not in said.excluded for text in texts])
        row_of = {texts[row]: row for row in reversed(np.flatnonzero(usable).tolist())}
        row_of |= {texts[row]: row for row in assigned.tolist() if texts[row] in row_of}
        if self.setup.recipe.filter.bar_gibberish:
            assert self.setup.gibberish is not None
            usable &= ~self.setup.gibberish.barred(rows.tokens, self._numbers(rows))
        start = np.array([row_of.get(text, 0) for text in said.start], np.int64)
        open_ = np.flatnonzero(start == 0)
        free = np.setdiff1d(np.flatnonzero(usable), start)
        if len(free) < len(open_):
            return None
        rng = np.random.default_rng(
            seed_for(seed, "assign", self.setup.corpus.context_ids[context])
        )
        start[open_] = rng.choice(free, len(open_), replace=False)
        return start.astype(np.uint16), np.packbits(usable, bitorder="little")

    def _parent(self) -> Assignment:
        """The last assignment of the run that people judged."""
        for run in self.project.store.artifacts("filter"):
            if (run.version, run.key) == (self.feedback.parent, self.feedback.parent_key):
                assignment = AssignmentLog(self.project.folder(run)).current()
                if assignment is not None and run.done:
                    return assignment
        raise StageError(
            f"Run {self.feedback.parent} of the filter, which this one goes on from, is gone. "
            "Set filter.feedback to nothing and filter from a new draw."
        )

    def may_move(self, assignment: Assignment) -> NDArray[np.bool_]:
        """(C,) which contexts of this run's assignment move."""
        moving = [self._places[c] for c in self.feedback.affected if c in self._places]
        return np.isin(assignment.contexts, moving)

    # --- texts ---------------------------------------------------------------------------

    @cached_property
    def _places(self) -> dict[str, int]:
        return {context: place for place, context in enumerate(self.setup.corpus.context_ids)}

    @cached_property
    def _maker(self) -> TextMaker:
        return TextMaker(self.setup.corpus.vocabulary)

    def _texts(self, context: int, rows: Rows) -> list[str]:
        """The folded text of every row of a context; own candidates as they were given."""
        own = self._own(context) if self.setup.corpus.own[context] else ()
        return [
            folded(own[origin - 1] if origin else self._maker.ending(ids))
            for ids, origin in zip(rows.tokens, rows.origin.tolist(), strict=True)
        ]

    def _own(self, context: int) -> tuple[str, ...]:
        store = self.project.store
        ids = [self.setup.corpus.context_ids[context]]
        for c in store.contexts_by_id(self.setup.prepared.version, ids):
            given = store.own_context(c.source_id, c.document)
            if given is not None:
                return given.endings
        return ()

    # --- what is told --------------------------------------------------------------------

    def told(self) -> Iterator[Told]:
        """What people should know of this start."""
        moving = len(self.feedback.affected)
        yield f"Goes on from run {self.feedback.parent}; {moving:,} contexts move.", "info"
        if self.feedback.simulated:
            yield "Answers of simulated annotators count in what people said.", "warning"
        if self.setup.gibberish is not None:
            yield self.setup.gibberish.report.words(), "info"

    def summary(self) -> dict[str, object]:
        """For the run's summary."""
        told: dict[str, Any] = {
            "parent": self.feedback.parent,
            "affected": len(self.feedback.affected),
            "labels": self.feedback.counts,
            "simulated": self.feedback.simulated,
            "by": self.feedback.by,
        }
        if self.setup.gibberish is not None:
            told["classifier"] = asdict(self.setup.gibberish.report)
        return {"feedback": told}

    # --- notes ---------------------------------------------------------------------------

    def carry_over(self, version: int) -> Generator[int, None, None]:
        """Has what curators noted in the parent hold in this run; yields contexts seen by now."""
        return carry_over(self.project.store, self.feedback.parent, version)
