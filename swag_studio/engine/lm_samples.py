"""Draws one ending for each of a few held-out contexts of a fold, to be read beside the found one.

The contexts are of the fold itself, whose groups its model is never trained on nor chosen by, and
they stay the same from epoch to epoch. It knows corpus and models, not when a model is looked at.

Every draw has a seed of its own: nothing of the training's chance is used up, and a run that is
broken off and gone on with draws the same.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import torch
from numpy.typing import NDArray

from swag_studio.engine.corpus import SPECIALS, Corpus, Ids
from swag_studio.engine.decoding import Sampler, read_contexts
from swag_studio.engine.features import Spans
from swag_studio.engine.lm import LanguageModel
from swag_studio.engine.reading import Drawing, Reader, Walk
from swag_studio.engine.runtime import seed_for
from swag_studio.engine.sequences import known_ids
from swag_studio.engine.text import SENTENCE_STOPS, TextMaker
from swag_studio.recipe import GenerateRecipe
from swag_studio.samples import Sample, Sampling

CONTEXTS = 8  # of each fold: a screenful, and next to nothing beside an epoch


def sampling_of(recipe: GenerateRecipe) -> Sampling:
    """How the recipe has candidates drawn."""
    return Sampling(recipe.temperature, recipe.top_k, recipe.top_p, recipe.max_tokens)


class HeldOut:
    """The contexts of one fold that its model is looked at with. `seed` is that of the fold."""

    def __init__(self, corpus: Corpus, fold: int, seed: int) -> None:
        self._corpus, self._fold, self._seed = corpus, fold, seed
        # Own contexts have their candidates already: no model draws for them.
        places = np.flatnonzero((corpus.folds == fold) & ~corpus.own)
        rng = np.random.default_rng(seed_for(seed, "contexts"))
        few = min(CONTEXTS, len(places))
        self.places = [int(c) for c in np.sort(rng.choice(places, few, replace=False))]

    def draw(
        self, model: LanguageModel, epoch: int, sampling: Sampling
    ) -> Generator[None, None, tuple[Sample, ...]]:
        """An ending for each context by the forward direction, a pause after each token."""
        if not self.places:
            return ()
        corpus, known = self._corpus, known_ids(self._corpus, self._fold)
        banned = corpus.masked[self._fold].copy()
        banned[: len(SPECIALS)] = True
        reader = Reader(model, "forward", torch.from_numpy(banned))
        yield
        spans = Spans([known[corpus.s[c]] for c in self.places],
                      [known[corpus.n[c]] for c in self.places])  # fmt: skip
        _, states = yield from read_contexts(reader, spans.forward())
        stops = np.array([token in SENTENCE_STOPS for token in corpus.vocabulary.tokens])
        rows, device = len(self.places), reader.device
        walk = Walk(
            reader,
            states,
            torch.arange(rows, device=device),
            torch.zeros(rows, sampling.max_tokens, dtype=torch.long, device=device),
            torch.full((rows,), sampling.max_tokens, device=device),
            drawing=Drawing(
                torch.ones(rows, dtype=torch.bool, device=device),
                torch.from_numpy(self._uniforms(epoch, sampling.max_tokens)).to(device),
                torch.from_numpy(stops).to(device),
                Sampler(sampling.temperature, sampling.top_k, sampling.top_p),
            ),
        )
        yield from walk.run()
        tokens, lengths = walk.tokens.cpu().numpy().astype(np.uint16), walk.lengths.tolist()
        return self._shown([row[:n] for row, n in zip(tokens, lengths, strict=True)], stops)

    def _uniforms(self, epoch: int, width: int) -> NDArray[np.float32]:
        """(C, T) what the tokens are drawn by."""
        ids = (self._corpus.context_ids[c] for c in self.places)
        seeds = [seed_for(self._seed, "endings", epoch, i) for i in ids]
        return np.stack([np.random.default_rng(s).random(width, np.float32) for s in seeds])

    def _shown(self, endings: list[Ids], stops: NDArray[np.bool_]) -> tuple[Sample, ...]:
        corpus, maker = self._corpus, TextMaker(self._corpus.vocabulary)
        return tuple(
            Sample(
                context_id=corpus.context_ids[c],
                sent1=maker.sentence(corpus.s[c]),
                sent2=maker.phrase(corpus.n[c]),
                found=maker.ending(corpus.v[c]),
                sampled=maker.ending(ending),
                complete=bool(stops[ending[-1]]),
            )
            for c, ending in zip(self.places, endings, strict=True)
        )
