"""The bag of words: the mean of the ending's word embeddings (METHOD 2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from swag_studio.engine.members.base import EnsembleSpec, Member, word_embedding
from swag_studio.engine.members.batches import Batch


class BagOfWords(Member):
    """Trainable embeddings, averaged. They start from `spec.embeddings` where that is given."""

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        given = spec.embeddings
        self.width = spec.recipe.embedding_dim if given is None else given.shape[1]
        self.embedding = word_embedding(spec.vocabulary, self.width)
        if given is not None:
            with torch.no_grad():
                self.embedding.weight.copy_(torch.from_numpy(given))
                self.embedding.weight[0] = 0
        self.dropout = nn.Dropout(spec.recipe.dropout)

    def forward(self, batch: Batch) -> Tensor:
        words = self.embedding(batch.tokens.masked_fill(~batch.in_v, 0))  # (B, L, d), 0 outside v
        count = (batch.lengths - batch.n_lengths).clamp(min=1)
        mean: Tensor = self.dropout(words.sum(dim=1) / count[:, None])
        return mean

    def word_logits(self, head: nn.Linear) -> Tensor:
        """(V,) what each word adds to the head's logit of an ending that is this one word.

        In an ending of L words each adds an L-th of it; with the head's bias that is the logit.
        """
        return self.embedding.weight @ head.weight[0]
