"""The held-out probe: a word biLSTM over the ending alone, which never filters.

Filtering against a family of models may only hide from that family what still gives the found
endings away; a model of another kind, tried before and after, tells. It is no member of the
registry, so that no recipe can filter with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from swag_studio.engine.crossfit import CrossFit
from swag_studio.engine.ensemble import EnsembleSpec, FitStep, member_accuracies
from swag_studio.engine.items import Items
from swag_studio.engine.members.base import BiLstm, Member, word_embedding
from swag_studio.engine.members.batches import Batch
from swag_studio.engine.runtime import seed_for

NAME = "probe"


class WordBiLstm(Member):
    """Word embeddings -> biLSTM -> max over steps, of the POS biLSTM's size."""

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        dim, hidden = spec.recipe.embedding_dim, spec.recipe.pos_hidden
        self.width = 2 * hidden
        self.embedding = word_embedding(spec.vocabulary, dim)
        self.lstm = BiLstm(dim, hidden)
        self.dropout = nn.Dropout(spec.recipe.dropout)

    def forward(self, batch: Batch) -> Tensor:
        inputs = self.dropout(self.embedding(batch.tokens))
        pooled: Tensor = self.dropout(self.lstm(inputs, batch))
        return pooled


class Probe:
    """The probe's accuracies on contexts that it never saw, by K-fold over the contexts."""

    def __init__(
        self, spec: EnsembleSpec, folds: int, seed: int, device: torch.device | str
    ) -> None:
        alone = dataclasses.replace(spec, members=(NAME,), embeddings=None)
        self._fits = CrossFit(alone, folds, seed, device, parts={NAME: WordBiLstm})
        self._seed = seed
        self.accuracies: dict[str, float] = {}  # as member_accuracies has them; after `fit`

    def fit(self, items: Items, endings_per_context: int) -> Iterator[FitStep]:
        """Fits and scores all folds. `items` as for `Ensemble.fit`; noun phrases are not read."""
        endings = dataclasses.replace(
            items,
            n=items.n[:, :0],
            n_lengths=np.zeros_like(items.n_lengths),
            tags_n=None,
            tags_v=None,
        )
        yield from self._fits.fit(endings, endings_per_context)
        rng = np.random.default_rng(seed_for(self._seed, "4way"))
        self.accuracies = member_accuracies(self._fits.scores, endings_per_context, rng)[NAME]
