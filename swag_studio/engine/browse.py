"""Reads a project's pool for people: contexts and endings as text, features as numbers.

Read-only and cheap: one context is read at a time, and distributions come from a sample of
contexts, whatever the pool's size. It knows no models and loads neither torch nor spaCy.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import Corpus
from swag_studio.engine.text import TextMaker
from swag_studio.engine.usable import Usable
from swag_studio.errors import ProjectError
from swag_studio.lineage import ancestor
from swag_studio.pool import Pool, Rows
from swag_studio.project import Project
from swag_studio.recipe import from_toml
from swag_studio.records import Artifact
from swag_studio.views import ContextRow, Distribution, PoolEnding

SAMPLED_CONTEXTS = 200

# Standard errors on each side of a mean that hold it 95 times in 100.
_TWO_SIDED_95 = 1.96


class PoolBrowser:
    """The pool of the current recipe, or else the newest one that is whole.

    Not for several threads at once. Raises ProjectError when there is none, or it is damaged.
    """

    def __init__(self, project: Project) -> None:
        pool, prepared = _newest(project)
        recipe = from_toml(pool.recipe)
        self.version = pool.version
        self._store, self._prepared, self._seed = project.store, prepared.version, recipe.run.seed
        self._pool = Pool.open(project.folder(pool))
        corpus = Corpus.load(project.folder(prepared))
        self._ids, self._own, self._words = corpus.context_ids, corpus.own, len(corpus.vocabulary)
        self._maker = TextMaker(corpus.vocabulary)
        self._usable = Usable.of(recipe, corpus)
        if len(self._ids) != self._pool.layout.contexts:
            raise ProjectError(f"{project.folder(pool)} belongs to other contexts; run Check.")

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self._pool.layout.feature_names

    def contexts(self) -> list[ContextRow]:
        """Every context, by place. Reads the head of every block."""
        counts = np.maximum(self._pool.counts() - 1, 0).tolist()
        places = {context: place for place, context in enumerate(self._ids)}
        return [
            ContextRow(places[c.id], c.id, c.sent1, c.sent2, counts[places[c.id]])
            for c in self._store.contexts(self._prepared, selected_only=True)
        ]

    def place_of(self, context_id: str) -> int | None:
        """The place of a context in the pool; None where it is not in it."""
        place = bisect_left(self._ids, context_id)
        return place if place < len(self._ids) and self._ids[place] == context_id else None

    def endings(self, place: int) -> list[PoolEnding]:
        """All rows of the context at a place of the corpus, the found ending first."""
        rows = self._rows(place)
        own = self._own_texts(place) if self._own[place] else ()
        if rows.origin.max(initial=0) >= max(1, len(own)):
            raise self._damaged(place)
        barred = self._usable.barred(rows)
        return [
            PoolEnding(
                row=i,
                text=own[rows.origin[i]] if own else self._maker.ending(rows.tokens[i]),
                found=i == 0,
                features=tuple(rows.features[i].tolist()),
                barred=barred[i] if i else "",
            )
            for i in range(len(rows))
        ]

    def distributions(self, contexts: int = SAMPLED_CONTEXTS) -> list[Distribution]:
        """Every feature over a seeded sample of contexts, found against generated.

        Only candidates that may be assigned are part of it.
        """
        filled = np.flatnonzero(self._pool.counts() > 1)
        rng = np.random.default_rng(self._seed)
        chosen = np.sort(rng.choice(filled, min(contexts, len(filled)), replace=False))
        none = np.zeros((0, len(self.feature_names)), np.float32)
        found, generated, sizes = [none], [none], []
        for place in chosen.tolist():
            rows = self._rows(place)
            candidates = rows.features[self._usable(rows)]
            if len(candidates):
                found.append(rows.features[:1])
                generated.append(candidates)
                sizes.append(len(candidates))
        left, right = np.concatenate(found), np.concatenate(generated)
        counts = np.array(sizes, np.int64)
        return [
            Distribution(
                name, left[:, i], right[:, i], counts, *smaller(left[:, i], right[:, i], counts)
            )
            for i, name in enumerate(self.feature_names)
        ]

    # --- reading -------------------------------------------------------------------------

    def _rows(self, place: int) -> Rows:
        """A context's rows. Raises ProjectError on values that no pool holds."""
        rows = self._pool.context(place)
        if rows.tokens.max(initial=0) >= self._words or not np.isfinite(rows.features).all():
            raise self._damaged(place)
        return rows

    def _own_texts(self, place: int) -> tuple[str, ...]:
        """The found ending and the own candidates as given, by 0 and 1 + place in the list."""
        for context in self._store.contexts_by_id(self._prepared, [self._ids[place]]):
            own = self._store.own_context(context.source_id, context.document)
            if own is not None:
                return (own.found, *own.endings)
        return ()

    def _damaged(self, place: int) -> ProjectError:
        block, _ = self._pool.layout.block_of(place)
        return ProjectError(
            f"{self._pool.path(block)} is damaged. "
            "Have it made anew with: swag-studio check PROJECT --mend"
        )


def _newest(project: Project) -> tuple[Artifact, Artifact]:
    """(pool, the contexts that it was made for): of the current recipe, else the newest there."""
    current = project.current("generate")
    others = [a for a in reversed(project.store.artifacts("generate")) if a.done]
    for pool in chain([current] if current else [], others):
        if prepared := ancestor(project, pool, "prepare"):
            return pool, prepared
    raise ProjectError("There are no candidates yet.")


def smaller(
    found: NDArray[np.float32], generated: NDArray[np.float32], sizes: NDArray[np.int64]
) -> tuple[float, float]:
    """How often the found ending's number is the smaller one, and half the 95% interval of that.

    `found` (C,), `generated` the candidates of each context after each other, `sizes` (C,) how
    many each has, 1 at least. Every found ending is held against each candidate of its own
    context, equal numbers counting half, and contexts count alike: the mean of the areas under
    the contexts' ROC curves. The interval is that of a mean over independent contexts.
    """
    if not len(sizes):
        return 0.5, 0.5
    context = np.repeat(np.arange(len(sizes)), sizes)
    own = found[context]
    wins = np.where(own < generated, 1.0, np.where(own == generated, 0.5, 0.0))
    shares = np.bincount(context, wins) / sizes
    spread = float(shares.std(ddof=1)) if len(sizes) > 1 else 0.5
    return float(shares.mean()), _TWO_SIDED_95 * spread / len(sizes) ** 0.5
