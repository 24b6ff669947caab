"""The candidates of a pool as people are shown them: from a context's place and a row to its text.

It reads one context at a time, and knows neither runs nor what is assigned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import BOS, EOS, PAD, Corpus
from swag_studio.engine.text import TextMaker
from swag_studio.errors import ProjectError
from swag_studio.lineage import ancestor
from swag_studio.pool import Pool
from swag_studio.project import Project
from swag_studio.records import Artifact, folded


class PoolTexts:
    """The texts of one version of the pool, made for one version of the contexts.

    `ids` are those contexts' by place, `prepared` is their version. Raises ProjectError when the
    pool is gone or damaged.
    """

    @classmethod
    def of_run(cls, project: Project, run: Artifact) -> PoolTexts:
        """Of the pool that a filter run chose from."""
        pool, prepared = ancestor(project, run, "generate"), ancestor(project, run, "prepare")
        if pool is None or prepared is None:
            raise ProjectError(
                f"The candidates that version {run.version} of the filter chose from are gone."
            )
        return cls(project, pool, prepared)

    def __init__(self, project: Project, pool: Artifact, prepared: Artifact) -> None:
        self.pool = Pool.open(project.folder(pool))
        corpus = Corpus.load(project.folder(prepared))
        self.ids = corpus.context_ids
        self._own, self._vocabulary = corpus.own, corpus.vocabulary
        self._maker = TextMaker(corpus.vocabulary)
        self._store, self.prepared = project.store, prepared.version

    def of(self, place: int) -> Callable[[int], str]:
        """From a row of a context's pool to its text: own candidates as they were given."""
        rows = self.pool.context(place)
        given = self._given(place) if self._own[place] else ()
        words = len(self._vocabulary)
        if rows.tokens.max(initial=0) >= words or rows.origin.max(initial=0) > len(given):
            block, _ = self.pool.layout.block_of(place)
            raise ProjectError(
                f"{self.pool.path(block)} is damaged. "
                "Have it made anew with: swag-studio check PROJECT --mend"
            )

        def text(row: int) -> str:
            origin = int(rows.origin[row])
            return given[origin - 1] if origin else self._maker.ending(rows.tokens[row])

        return text

    def row(self, place: int, wanted: Callable[[str], bool], like: str) -> int | None:
        """The first row of a context's candidates whose text is wanted.

        Texts take long to make: the rows whose words have as many characters as `like`, a wanted
        text, are looked at before the others.
        """
        text, tokens = self.of(place), self.pool.context(place).tokens
        unlike = self._characters[tokens].sum(axis=1) != _characters(like)
        rows = np.argsort(unlike, kind="stable").tolist()
        return next((row for row in rows if row and wanted(text(row))), None)

    @cached_property
    def _characters(self) -> NDArray[np.int64]:
        """(words,) how many characters each word adds to a text."""
        counts = np.array([_characters(word) for word in self._vocabulary.tokens], np.int64)
        counts[[PAD, BOS, EOS]] = 0
        return counts

    def _given(self, place: int) -> tuple[str, ...]:
        for context in self._store.contexts_by_id(self.prepared, [self.ids[place]]):
            own = self._store.own_context(context.source_id, context.document)
            if own is not None:
                return own.endings
        return ()


def _characters(text: str) -> int:
    """Of a text as it is compared for equality, without its spaces."""
    return len(folded(text).replace(" ", ""))
