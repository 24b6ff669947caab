"""What a member of the ensemble is: a network from a batch of endings to one vector each.

It knows nothing of training, heads or the filter. A new member is one file with one `Member`
class and one line in `registry.MEMBERS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from swag_studio.engine.gibberish import Gibberish
from swag_studio.engine.members.batches import Batch
from swag_studio.recipe import FilterRecipe


@dataclass(frozen=True)
class EnsembleSpec:
    """All that fixes the shape of an ensemble. Its weights follow from a seed and the data."""

    members: tuple[str, ...]  # names in the registry
    recipe: FilterRecipe
    vocabulary: int  # token ids are below it
    n_tags: int  # tag ids are 1..n_tags
    pos_words: NDArray[np.uint16]  # the words that stay words beside POS tags
    feature_count: int
    embeddings: NDArray[np.float32] | None = field(default=None, repr=False)  # (V, d) to start from
    gibberish: Gibberish | None = field(default=None, repr=False)  # for the member of that name


class Member(nn.Module):
    """Turns a batch into representations (B, width). Its head is the ensemble's."""

    needs_tags: ClassVar[bool] = False
    needs_features: ClassVar[bool] = False
    width: int

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__()

    def forward(self, batch: Batch) -> Tensor:
        raise NotImplementedError


class BiLstm(nn.Module):
    """A biLSTM, max-pooled over each text's own steps: (B, L, dim) -> (B, 2 * hidden).

    Two one-way LSTMs over padded input, the second on each text reversed in place, so that
    neither meets padding before its text ends. Packed sequences do the same and train at half the
    speed on a CPU, since autograd fills a whole zero input for every step.
    """

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.ahead = nn.LSTM(dim, hidden)
        self.back = nn.LSTM(dim, hidden)

    def forward(self, inputs: Tensor, batch: Batch) -> Tensor:
        mirrored = torch.where(
            batch.inside, batch.lengths[:, None] - 1 - batch.position, batch.position
        )
        reversed_inputs = inputs.gather(1, mirrored[:, :, None].expand_as(inputs))
        outside = ~batch.inside.T[:, :, None]  # (L, B, 1)
        pooled = [
            lstm(x.transpose(0, 1))[0].masked_fill(outside, float("-inf")).amax(dim=0)
            for lstm, x in ((self.ahead, inputs), (self.back, reversed_inputs))
        ]
        return torch.cat(pooled, dim=1)


def word_embedding(vocabulary: int, dim: int) -> nn.Embedding:
    """An embedding whose row 0, the pad, is zero and stays so.

    It starts at a tenth of the usual scale: an iteration sees most words a few times only, and
    its steps must outweigh what the words were drawn as.
    """
    embedding = nn.Embedding(vocabulary, dim, padding_idx=0)
    with torch.no_grad():
        embedding.weight.mul_(0.1)
    return embedding
