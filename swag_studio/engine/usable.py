"""Which candidates of a context may become distractors. It knows the pool's rows, and no models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import Corpus
from swag_studio.pool import Rows
from swag_studio.recipe import Recipe


@dataclass(frozen=True)
class Usable:
    """The rule, for the candidates of one project.

    Never the found ending (row 0), a text equal to it or to an earlier row, or one that was cut
    off. Of sampled ones besides: none of fewer than `shortest` tokens, and none that opens with a
    word with which no found ending of the project opens. Found endings are not that short, and do
    not go on with the noun phrase ("The group | of people ..."), so either would tell a distractor.
    """

    shortest: int
    openings: NDArray[np.bool_] | None = None  # (vocabulary,); None: any word may open an ending

    @classmethod
    def of(cls, recipe: Recipe, corpus: Corpus) -> Usable:
        """The rule of a project's recipe."""
        openings = None
        if recipe.filter.found_openings:
            openings = np.zeros(len(corpus.vocabulary), np.bool_)
            openings[corpus.v.values[corpus.v.offsets[:-1]]] = True
        return cls(recipe.prepare.min_ending_tokens, openings)

    def __call__(self, rows: Rows) -> NDArray[np.bool_]:
        """(rows,) which rows of one context may be assigned."""
        tokens = np.ascontiguousarray(rows.tokens)
        texts = tokens.view(np.dtype((np.void, 2 * tokens.shape[1]))).ravel()
        usable = np.zeros(len(rows), np.bool_)
        usable[np.unique(texts, return_index=True)[1]] = True  # of equal ones the first
        usable[:1] = False
        usable &= rows.complete == 1
        fits = rows.lengths >= self.shortest
        if self.openings is not None:
            fits &= self.openings[tokens[:, 0]]
        return usable & (fits | (rows.origin > 0))
