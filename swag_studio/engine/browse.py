"""Reads a project's pool for people: contexts and endings as text, features as numbers.

Read-only and cheap: one context is read at a time, and distributions come from a sample of
contexts, whatever the pool's size. It knows no models and loads neither torch nor spaCy.
"""

from __future__ import annotations

import numpy as np

from swag_studio.engine.corpus import Corpus
from swag_studio.engine.text import TextMaker
from swag_studio.errors import ProjectError
from swag_studio.pool import Pool
from swag_studio.project import Project
from swag_studio.views import ContextRow, Distribution, PoolEnding

SAMPLED_CONTEXTS = 200


class PoolBrowser:
    """The current pool of a project. Raises ProjectError when there is none."""

    def __init__(self, project: Project) -> None:
        recipe, store = project.recipe, project.store
        pool, prepared = project.current("generate"), project.current("prepare")
        if pool is None or prepared is None:
            raise ProjectError("There are no candidates for the current recipe yet.")
        self.version = pool.version
        self._store, self._prepared = store, prepared.version
        self._pool = Pool.open(project.folder(pool))
        self.corpus = Corpus.load(project.folder(prepared))
        self._maker = TextMaker(self.corpus.vocabulary)
        self._seed = recipe.run.seed

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self._pool.layout.feature_names

    def contexts(self) -> list[ContextRow]:
        """Every context, by place."""
        counts = self._pool.counts()
        return [
            ContextRow(i, c.id, c.sent1, c.sent2, max(0, int(counts[i]) - 1))
            for i, c in enumerate(self._store.contexts(self._prepared, selected_only=True))
        ]

    def endings(self, context: int) -> list[PoolEnding]:
        """All rows of the context at a place of the corpus, the found ending first."""
        rows = self._pool.context(context)
        own = self._own_texts(context) if rows.origin.any() or self.corpus.own[context] else ()
        return [
            PoolEnding(
                row=i,
                text=own[rows.origin[i]] if own else self._maker.ending(rows.tokens[i]),
                found=i == 0,
                complete=bool(rows.complete[i]),
                features=tuple(float(f) for f in rows.features[i]),
            )
            for i in range(len(rows))
        ]

    def _own_texts(self, context: int) -> tuple[str, ...]:
        """The found ending and the own candidates as given, by 0 and 1 + place in the list."""
        wanted = self.corpus.context_ids[context]
        for c in self._store.contexts(self._prepared, selected_only=True):
            if c.id == wanted:
                own = self._store.own_context(c.source_id, c.document)
                return (own.found, *own.endings) if own else ()
        return ()

    def distributions(self, contexts: int = SAMPLED_CONTEXTS) -> list[Distribution]:
        """Every feature over a seeded sample of contexts, found against generated."""
        filled = np.flatnonzero(self._pool.counts())
        rng = np.random.default_rng(self._seed)
        chosen = np.sort(rng.choice(filled, min(contexts, len(filled)), replace=False))
        read = [self._pool.context(int(c)).features for c in chosen]
        width = len(self.feature_names)
        found = np.concatenate([f[:1] for f in read]) if read else np.zeros((0, width), np.float32)
        rest = np.concatenate([f[1:] for f in read]) if read else np.zeros((0, width), np.float32)
        return [
            Distribution(name, found[:, i], rest[:, i]) for i, name in enumerate(self.feature_names)
        ]
