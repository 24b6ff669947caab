"""The POS biLSTM: common words stay words, all others are their POS tag (METHOD 2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from swag_studio.engine.members.base import BiLstm, EnsembleSpec, Member
from swag_studio.engine.members.batches import Batch


class PosBiLstm(Member):
    """Symbols of n and v -> embedding -> biLSTM -> max over steps.

    Symbols: 0 pads, 1..n_tags are tags, the words of `spec.pos_words` follow.
    """

    needs_tags = True
    word_symbol: Tensor

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        words = torch.from_numpy(spec.pos_words.astype("int64"))
        symbols = torch.zeros(spec.vocabulary, dtype=torch.int64)  # 0: not among the words
        symbols[words] = torch.arange(spec.n_tags + 1, spec.n_tags + 1 + len(words))
        self.register_buffer("word_symbol", symbols)
        self.width = 2 * spec.recipe.pos_hidden
        dim = spec.recipe.embedding_dim
        self.embedding = nn.Embedding(spec.n_tags + 1 + len(words), dim, padding_idx=0)
        self.lstm = BiLstm(dim, spec.recipe.pos_hidden)
        self.dropout = nn.Dropout(spec.recipe.dropout)

    def symbols(self, batch: Batch) -> Tensor:
        """(B, L) the word's symbol where it has one, else the tag's."""
        assert batch.tags is not None
        words = self.word_symbol[batch.tokens]
        return torch.where(words > 0, words, batch.tags)

    def forward(self, batch: Batch) -> Tensor:
        inputs = self.dropout(self.embedding(self.symbols(batch)))
        pooled: Tensor = self.dropout(self.lstm(inputs, batch))
        return pooled
