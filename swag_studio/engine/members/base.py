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


class Member(nn.Module):
    """Turns a batch into representations (B, width). Its head is the ensemble's."""

    needs_tags: ClassVar[bool] = False
    needs_features: ClassVar[bool] = False
    width: int

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__()

    def forward(self, batch: Batch) -> Tensor:
        raise NotImplementedError


def max_over(values: Tensor, keep: Tensor) -> Tensor:
    """(B, d) the largest of values (B, L, d) over the positions where keep (B, L) is True.

    Each row must keep at least one position.
    """
    return values.masked_fill(~keep[:, :, None], float("-inf")).amax(dim=1)


def bilstm_max(lstm: nn.LSTM, inputs: Tensor, host_lengths: Tensor) -> Tensor:
    """(B, 2 * hidden) the largest output at any of a row's own steps; inputs are (B, L, d).

    Packed, since the backward direction would otherwise start in the padding.
    """
    packed = nn.utils.rnn.pack_padded_sequence(
        inputs, host_lengths, batch_first=True, enforce_sorted=False
    )
    outputs, _ = nn.utils.rnn.pad_packed_sequence(
        lstm(packed)[0], batch_first=True, padding_value=float("-inf")
    )
    return outputs.amax(dim=1)


def word_embedding(vocabulary: int, dim: int) -> nn.Embedding:
    """An embedding whose row 0, the pad, is zero and stays so."""
    embedding = nn.Embedding(vocabulary, dim, padding_idx=0)
    with torch.no_grad():
        embedding.weight.mul_(0.1)
    return embedding
