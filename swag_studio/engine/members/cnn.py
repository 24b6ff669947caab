"""The CNN over noun phrase and ending: one layer, filter sizes 2 to 5 (METHOD 2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from swag_studio.engine.members.base import EnsembleSpec, Member, max_over, word_embedding
from swag_studio.engine.members.batches import Batch

SIZES = (2, 3, 4, 5)


class Cnn(Member):
    """Embedding and a flag "belongs to n" -> filters of each size -> max over positions.

    A window counts when it begins inside the text; what it sees beyond the end is zero. So every
    text has as many windows as tokens, however short it is, and none depends on the padding.
    """

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        dim, filters = spec.recipe.embedding_dim, spec.recipe.cnn_filters
        self.width = filters * len(SIZES)
        self.embedding = word_embedding(spec.vocabulary, dim)
        self.filters = nn.ModuleList(nn.Conv1d(dim + 1, filters, size) for size in SIZES)
        self.dropout = nn.Dropout(spec.recipe.dropout)

    def forward(self, batch: Batch) -> Tensor:
        flag = batch.in_n[:, :, None].to(self.embedding.weight.dtype)
        words = torch.cat([self.embedding(batch.tokens), flag], dim=2).transpose(1, 2)
        pooled = [
            max_over(conv(nn.functional.pad(words, (0, size - 1))).transpose(1, 2), batch.inside)
            for size, conv in zip(SIZES, self.filters, strict=True)
        ]
        result: Tensor = self.dropout(torch.relu(torch.cat(pooled, dim=1)))
        return result
