"""The CNN over noun phrase and ending: one layer, filter sizes 2 to 5 (METHOD 2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from swag_studio.engine.members.base import EnsembleSpec, Member, word_embedding
from swag_studio.engine.members.batches import Batch

SIZES = (2, 3, 4, 5)
REACH = max(SIZES)


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
        self.filters = nn.ModuleList(nn.Linear(size * (dim + 1), filters) for size in SIZES)
        self.dropout = nn.Dropout(spec.recipe.dropout)

    def forward(self, batch: Batch) -> Tensor:
        pooled: Tensor = self.dropout(torch.relu(self.responses(batch).amax(dim=1)))
        return pooled

    def responses(self, batch: Batch) -> Tensor:
        """(B, L, width) each filter at the window that begins at each place; -inf in padding.

        The width holds all filters of the first of `SIZES`, then all of the second, and so on.
        """
        # Convolution as one product over the windows that count: on a CPU 2.5 times as fast as
        # conv1d, which also computes the padding.
        windows = self._windows(batch)  # (N, REACH * (d + 1)), N tokens in all
        layers = [layer for layer in self.filters if isinstance(layer, nn.Linear)]
        reach = windows.shape[1]
        weight = torch.cat([functional.pad(f.weight, (0, reach - f.in_features)) for f in layers])
        outputs = functional.linear(windows, weight, torch.cat([f.bias for f in layers]))
        table = outputs.new_full((*batch.inside.shape, self.width), float("-inf"))
        table[batch.inside] = outputs
        return table

    def _windows(self, batch: Batch) -> Tensor:
        """(N, REACH * (d + 1)) for each token: itself and those after it, side by side."""
        flag = batch.in_n[:, :, None].to(self.embedding.weight.dtype)
        words = torch.cat([self.embedding(batch.tokens), flag], dim=2)  # (B, L, d + 1)
        words = functional.pad(words, (0, 0, 0, REACH - 1))
        starts = torch.arange(len(words), device=words.device)[:, None] * words.shape[1]
        first = (starts + batch.position)[batch.inside]  # (N,)
        places = first[:, None] + torch.arange(REACH, device=words.device)
        return functional.embedding(places, words.flatten(0, 1)).flatten(1)
