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
        usable = ~np.logical_or.reduce([*self._faults(rows).values()])
        usable[:1] = False
        return np.asarray(usable)

    def barred(self, rows: Rows) -> list[str]:
        """The first reason why each row of one context may not be assigned; "" where none holds."""
        faults = self._faults(rows)
        reasons: list[str] = np.select([*faults.values()], [*faults], "").tolist()
        return reasons

    def _faults(self, rows: Rows) -> dict[str, NDArray[np.bool_]]:
        """Reason -> the (rows,) that it holds of."""
        tokens, sampled = np.ascontiguousarray(rows.tokens), rows.origin == 0
        texts = tokens.view(np.dtype((np.void, 2 * tokens.shape[1]))).ravel()
        repeats = np.ones(len(rows), np.bool_)
        repeats[np.unique(texts, return_index=True)[1]] = False  # of equal ones the first is none
        faults = {
            "cut_off": rows.complete != 1,
            "repeat": repeats,
            "short": sampled & (rows.lengths < self.shortest),
        }
        if self.openings is not None:
            faults["opening"] = sampled & ~self.openings[tokens[:, 0]]
        return faults
