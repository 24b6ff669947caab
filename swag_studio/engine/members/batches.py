"""From `Items` (arrays) to batches of tensors, as the members read them.

It knows nothing of members, training or the filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from swag_studio.engine.items import Items


@dataclass(frozen=True)
class Batch:
    """B endings on the device, each after its noun phrase: n, then v, then padding.

    L is the longest n + v of the batch, so that a pad never reaches further than it must.
    """

    tokens: Tensor  # (B, L) int64, 0 pads
    n_lengths: Tensor  # (B,) int64
    lengths: Tensor  # (B,) int64, of n + v
    features: Tensor  # (B, F) standardised by the network; F is 0 where no member needs them
    tags: Tensor | None = None  # (B, L) int64, 0 pads
    raw: Tensor | None = None  # (B, F) where `features` are standardised: as in the pool

    @cached_property
    def position(self) -> Tensor:
        """(L,) 0, 1, 2, ..."""
        return torch.arange(self.tokens.shape[1], device=self.tokens.device)

    @cached_property
    def inside(self) -> Tensor:
        """(B, L) bool: not padding."""
        return self.position < self.lengths[:, None]

    @cached_property
    def in_n(self) -> Tensor:
        """(B, L) bool: belongs to the noun phrase."""
        return self.position < self.n_lengths[:, None]

    @cached_property
    def in_v(self) -> Tensor:
        """(B, L) bool: belongs to the ending."""
        return self.inside & ~self.in_n


class Data:
    """Items as tensors on the device, n and v joined."""

    def __init__(self, items: Items, tags: bool, features: bool, device: torch.device) -> None:
        n_lengths, v_lengths = (a.astype(np.int64) for a in (items.n_lengths, items.v_lengths))
        self.host_lengths = n_lengths + v_lengths
        if self.host_lengths.min(initial=1) < 1:
            raise ValueError("an ending has no tokens")
        width = int(self.host_lengths.max(initial=1))
        joined = _join(items.n, items.v, n_lengths, v_lengths, width)
        self.device = device
        self.tokens = torch.from_numpy(joined).to(device)
        self.n_lengths = torch.from_numpy(n_lengths).to(device)
        self.lengths = torch.from_numpy(self.host_lengths).to(device)
        self.tags: Tensor | None = None
        if tags:
            if items.tags_n is None or items.tags_v is None:
                raise ValueError("a member needs tags, and the items have none")
            joined = _join(items.tags_n, items.tags_v, n_lengths, v_lengths, width)
            self.tags = torch.from_numpy(joined).to(device)
        if features and not np.isfinite(items.features).all():
            raise ValueError("a feature is not finite")
        columns = items.features if features else items.features[:, :0]
        self.features = torch.from_numpy(np.ascontiguousarray(columns)).to(device)

    def batch(self, rows: NDArray[np.int64]) -> Batch:
        """The chosen rows, no wider than their longest text."""
        width = int(self.host_lengths[rows].max())
        index = torch.from_numpy(rows).to(self.device)
        tags = self.tags
        return Batch(
            tokens=self.tokens[index, :width].long(),
            n_lengths=self.n_lengths[index],
            lengths=self.lengths[index],
            features=self.features[index],
            tags=None if tags is None else tags[index, :width].long(),
        )


def _join(
    n: NDArray[Any],
    v: NDArray[Any],
    n_lengths: NDArray[np.int64],
    v_lengths: NDArray[np.int64],
    width: int,
) -> NDArray[np.int32]:
    """(E, width) each row's n, then its v, then zeros."""
    joined = np.zeros((len(n), width), np.int32)
    place, first = np.arange(width), n_lengths[:, None]
    joined[place < first] = n[np.arange(n.shape[1]) < first]
    after = (place >= first) & (place < first + v_lengths[:, None])
    joined[after] = v[np.arange(v.shape[1]) < v_lengths[:, None]]
    return joined
