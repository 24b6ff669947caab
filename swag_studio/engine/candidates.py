"""Makes the pool's blocks: the candidates of some contexts that follow each other, scored.

Each context's endings are drawn from the language model of its fold, which never saw them; a
context that came with its own candidates has those instead. The contexts of a fold are worked on
together. It knows the corpus, the models and the recipe, not what has been made already.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from swag_studio.engine.checkpoint import load_fold_model
from swag_studio.engine.corpus import SPECIALS, Corpus, Ids, Ragged
from swag_studio.engine.decoding import (
    Endings,
    LetterKeys,
    Plan,
    letters,
    read_contexts,
    read_endings,
    sample,
)
from swag_studio.engine.features import FEATURE_NAMES, Spans, features
from swag_studio.engine.reading import Reader
from swag_studio.engine.runtime import seed_for
from swag_studio.engine.sequences import known_ids
from swag_studio.engine.text import SENTENCE_STOPS, encode, tokens_of
from swag_studio.pool import Rows
from swag_studio.recipe import Recipe
from swag_studio.records import OwnContext

BATCH_ROWS = 16_384  # endings that are worked on together: bounds the memory of their states
OWN_FLOOR = 3  # complete candidates that an own context needs for any question

T = TypeVar("T")
Beats = Generator[None, None, T]
"""Work that pauses every few milliseconds, so that it can be watched and stopped."""


@dataclass(frozen=True)
class Made:
    """The rows of one context, the found ending first; none where it is left out."""

    rows: Rows
    drawn: int = 0  # draws made for it
    repeated: int = 0  # of those, equal to the found ending or to an earlier draw

    @property
    def kept(self) -> bool:
        return len(self.rows) > 0


@dataclass(frozen=True)
class _Fold:
    """A fold's language model, ready to draw and to score."""

    forward: Reader
    backward: Reader
    known: Ids  # (V,) each token as this model reads it: itself, or UNK
    plan: Plan


class BlockMaker:
    """Makes the contexts of blocks. A fold's model is loaded when it is first needed, and kept."""

    def __init__(
        self,
        recipe: Recipe,
        corpus: Corpus,
        models: Path,
        device: torch.device,
        dtype: torch.dtype,
        own: Callable[[str], OwnContext],
    ) -> None:
        """`models` is the folder of the language models; `own` gives own contexts by id."""
        self._recipe, self._corpus, self._models = recipe, corpus, models
        self._device, self._dtype, self._own = device, dtype, own
        self._folds: dict[int, _Fold] = {}
        self._index = corpus.vocabulary.index
        self._keys = LetterKeys(corpus.vocabulary.tokens)

    def make(self, contexts: range, limit: int = BATCH_ROWS) -> Beats[list[Made]]:
        """What consecutive contexts have in the pool, at about `limit` rows at a time."""
        made: dict[int, Made] = {}
        for batch in self._batches(contexts, limit):
            own = self._corpus.own[batch[0]]
            parts = yield from (self._own_rows(batch) if own else self._drawn_rows(batch))
            made |= zip(batch, parts, strict=True)
        return [made[c] for c in contexts]

    def _batches(self, contexts: range, limit: int) -> Iterator[list[int]]:
        """The contexts of a fold that are worked on together; own ones apart from the others."""
        corpus = self._corpus
        kind = [(int(corpus.folds[c]), bool(corpus.own[c])) for c in contexts]
        for this in sorted(set(kind)):
            batch, size = list[int](), 0
            for c in (c for c, k in zip(contexts, kind, strict=True) if k == this):
                rows = 1 + (len(self._own(corpus.context_ids[c]).endings) if this[1]
                            else self._recipe.generate.candidates)  # fmt: skip
                if batch and size + rows > limit:
                    yield batch
                    batch, size = [], 0
                batch.append(c)
                size += rows
            yield batch

    # --- drawn ---------------------------------------------------------------------------

    def _drawn_rows(self, batch: list[int]) -> Beats[list[Made]]:
        corpus, recipe = self._corpus, self._recipe.generate
        fold = yield from self._fold(int(corpus.folds[batch[0]]))
        spans = self._spans(fold, batch)
        context_log_p, states = yield from read_contexts(fold.forward, spans.forward())
        endings, searches = yield from sample(
            fold.forward,
            states,
            corpus.v.padded(batch, recipe.max_tokens),
            fold.plan,
            partial(self._seed, batch),
        )
        complete = fold.plan.stops[endings.tokens[np.arange(len(endings)), endings.lengths - 1]]
        firsts = np.searchsorted(endings.context, np.arange(len(batch)))
        complete[firsts] = True  # the found endings
        enough = np.bincount(endings.context[complete], minlength=len(batch)) > recipe.floor
        kept = np.flatnonzero(enough[endings.context])
        endings, complete = endings.take(kept), complete[kept]
        numbers = yield from features(fold.backward, spans, endings, context_log_p)
        origin = np.zeros(len(endings), np.uint16)
        parts = _by_context(endings, complete, origin, numbers, len(batch))
        return [Made(p, s.drawn, s.repeated) for p, s in zip(parts, searches, strict=True)]

    def _seed(self, batch: list[int], place: int, number: int) -> int:
        """The seed of a context's draws in one round, whatever batch it is in."""
        context = self._corpus.context_ids[batch[place]]
        return seed_for(self._recipe.run.seed, "generate", context, number)

    # --- own -----------------------------------------------------------------------------

    def _own_rows(self, batch: list[int]) -> Beats[list[Made]]:
        """As drawn ones, but that their words may be unknown to the model: it reads UNK there."""
        endings, complete, origin = self._encoded(batch)
        yield
        if self._recipe.generate.score_own:
            fold = yield from self._fold(int(self._corpus.folds[batch[0]]))
            spans = self._spans(fold, batch)
            context_log_p, states = yield from read_contexts(fold.forward, spans.forward())
            read = yield from read_endings(
                fold.forward, states, endings.context, fold.known[endings.tokens]
            )
            numbers = yield from features(fold.backward, spans, read, context_log_p)
        else:
            numbers = np.zeros((len(endings), len(FEATURE_NAMES)), np.float32)
        parts = _by_context(endings, complete, origin, numbers, len(batch))
        return [Made(p if p.complete.sum() > OWN_FLOOR else _no_rows(p)) for p in parts]

    def _encoded(self, batch: list[int]) -> tuple[Endings, NDArray[np.bool_], NDArray[np.uint16]]:
        """The found ending of each own context and its different candidates; complete; origin."""
        width = self._recipe.generate.max_tokens
        context, sequences, origin = list[int](), list[Ids](), list[int]()
        for place, c in enumerate(batch):
            own = self._own(self._corpus.context_ids[c])
            seen = {letters(own.found)}
            rows = [(0, self._corpus.v[c])]
            for i, text in enumerate(own.endings, start=1):
                ids = encode(tokens_of(text), self._index)
                if len(ids) and (key := letters(text)) not in seen:
                    seen.add(key)
                    rows.append((i, ids))
            context += [place] * len(rows)
            origin += [i for i, _ in rows]
            sequences += [ids for _, ids in rows]
        every = Ragged.of(sequences)
        tokens = every.padded(range(len(every)), width)
        lengths = np.minimum(every.lengths, width)
        log_p = np.zeros(tokens.shape, np.float32)
        endings = Endings(np.array(context, np.int64), tokens, lengths, log_p)
        return endings, every.lengths <= width, np.array(origin, np.uint16)

    # --- models --------------------------------------------------------------------------

    def _fold(self, fold: int) -> Beats[_Fold]:
        if fold not in self._folds:
            model = load_fold_model(self._models, fold, self._device, self._dtype)
            yield
            banned = self._corpus.masked[fold].copy()
            banned[: len(SPECIALS)] = True
            forward = Reader(model, "forward", torch.from_numpy(banned))
            yield
            backward = Reader(model, "backward", torch.from_numpy(banned))
            yield
            stops = np.array([token in SENTENCE_STOPS for token in self._corpus.vocabulary.tokens])
            plan = Plan(self._recipe.generate, self._keys, stops)
            self._folds[fold] = _Fold(forward, backward, known_ids(self._corpus, fold), plan)
        return self._folds[fold]

    def _spans(self, fold: _Fold, batch: list[int]) -> Spans:
        s, n = self._corpus.s, self._corpus.n
        return Spans([fold.known[s[c]] for c in batch], [fold.known[n[c]] for c in batch])


def join(made: Sequence[Made]) -> tuple[NDArray[np.int64], Rows]:
    """A block's offsets (contexts + 1,) and rows."""
    offsets = np.cumsum([0, *(len(m.rows) for m in made)], dtype=np.int64)
    parts = [m.rows for m in made]
    return offsets, Rows(
        *(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Rows))
    )


def _by_context(
    endings: Endings,
    complete: NDArray[np.bool_],
    origin: NDArray[np.uint16],
    numbers: NDArray[np.float32],
    contexts: int,
) -> list[Rows]:
    """The pool rows of each context of a batch."""
    cuts = np.searchsorted(endings.context, np.arange(contexts + 1))
    rows = Rows(
        endings.tokens, endings.lengths.astype(np.uint8), complete.astype(np.uint8), origin, numbers
    )
    return [_slice(rows, a, b) for a, b in pairwise(cuts.tolist())]


def _slice(rows: Rows, a: int, b: int) -> Rows:
    return Rows(*(getattr(rows, f.name)[a:b] for f in fields(Rows)))


def _no_rows(rows: Rows) -> Rows:
    return _slice(rows, 0, 0)
