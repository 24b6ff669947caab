"""Which candidates of a context may become distractors. It knows the pool's rows, and no models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import UNK, Corpus, Ids
from swag_studio.pool import Rows
from swag_studio.recipe import Recipe

PAIRS = (('"', '"'), ("“", "”"), ("(", ")"), ("[", "]"))  # marks that come in pairs

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Usable:
    """The rule, for the candidates of one project.

    Never the found ending (row 0), a text equal to it or to an earlier row, or one that was cut
    off. (Own candidates are all different texts; those with words that the vocabulary lacks can
    have the same tokens.) Of sampled ones besides: none of fewer than `shortest` tokens; none that
    opens with a word with which no found ending of the project opens, for it goes on with the noun
    phrase ("The group | of people ..."); none with a slip that no found ending has. What found
    endings never do would tell a distractor at a glance.
    """

    shortest: int
    openings: Flags | None = None  # (vocabulary,) may open an ending; None: any word may
    doubled: Flags | None = None  # (vocabulary,) may stand twice in a row; None: any word may
    paired: tuple[tuple[int, int], ...] = ()  # the token ids of marks that may not stand alone

    @classmethod
    def of(cls, recipe: Recipe, corpus: Corpus) -> Usable:
        """The rule of a project's recipe."""
        openings = doubled = None
        paired: tuple[tuple[int, int], ...] = ()
        found, size = corpus.v, len(corpus.vocabulary)
        if recipe.filter.found_openings:
            openings = _flags(size, found.values[found.offsets[:-1]])
        if recipe.filter.found_slips:
            lengths = found.lengths
            tokens = found.padded(np.arange(len(found)), int(lengths.max(initial=1)))
            doubled = _flags(size, tokens[:, 1:][_twice(tokens, lengths)])
            index = corpus.vocabulary.index
            known = [(index[a], index[b]) for a, b in PAIRS if a in index and b in index]
            paired = tuple(pair for pair in known if not _alone(tokens, lengths, pair).any())
        return cls(recipe.prepare.min_ending_tokens, openings, doubled, paired)

    def __call__(self, rows: Rows) -> Flags:
        """(rows,) which rows of one context may be assigned."""
        usable = ~np.logical_or.reduce([*self._faults(rows).values()])
        usable[:1] = False
        return np.asarray(usable)

    def barred(self, rows: Rows) -> list[str]:
        """The first reason why each row of one context may not be assigned; "" where none holds."""
        faults = self._faults(rows)
        reasons: list[str] = np.select([*faults.values()], [*faults], "").tolist()
        return reasons

    def _faults(self, rows: Rows) -> dict[str, Flags]:
        """Reason -> the (rows,) that it holds of."""
        tokens, sampled = np.ascontiguousarray(rows.tokens), rows.origin == 0
        texts = tokens.view(np.dtype((np.void, 2 * tokens.shape[1]))).ravel()
        repeats = np.ones(len(rows), np.bool_)
        repeats[np.unique(texts, return_index=True)[1]] = False  # of equal ones the first is none
        repeats &= sampled | (tokens != UNK).all(axis=1)
        faults = {
            "cut_off": rows.complete != 1,
            "repeat": repeats,
            "short": sampled & (rows.lengths < self.shortest),
        }
        if self.openings is not None:
            faults["opening"] = sampled & ~self.openings[tokens[:, 0]]
        if self.doubled is not None:
            twice = _twice(tokens, rows.lengths) & ~self.doubled[tokens[:, 1:]]
            faults["doubled"] = sampled & twice.any(axis=1)
        for number, pair in enumerate(self.paired):
            alone = sampled & _alone(tokens, rows.lengths, pair)
            faults["unpaired"] = alone | faults["unpaired"] if number else alone
        return faults


def _flags(size: int, tokens: Ids) -> Flags:
    flags = np.zeros(size, np.bool_)
    flags[tokens] = True
    return flags


def _inside(tokens: Ids, lengths: NDArray[np.integer]) -> Flags:
    """(rows, width) which tokens are an ending's, and not padding."""
    return np.arange(tokens.shape[1]) < lengths[:, None]


def _twice(tokens: Ids, lengths: NDArray[np.integer]) -> Flags:
    """(rows, width - 1) where the token is that before it."""
    return np.asarray((tokens[:, 1:] == tokens[:, :-1]) & _inside(tokens, lengths)[:, 1:])


def _alone(tokens: Ids, lengths: NDArray[np.integer], pair: tuple[int, int]) -> Flags:
    """(rows,) where one of the two marks stands more often than the other."""
    inside = _inside(tokens, lengths)
    first, last = (((tokens == mark) & inside).sum(axis=1) for mark in pair)
    return np.asarray(first % 2 == 1 if pair[0] == pair[1] else first != last)
