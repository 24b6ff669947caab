"""The members with their heads and the joint head, as one module. It knows nothing of training."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from swag_studio.engine.members.base import EnsembleSpec, Member
from swag_studio.engine.members.batches import Batch


class Parts(Protocol):
    """Name -> member class: the registry, or a dict."""

    def __getitem__(self, name: str, /) -> type[Member]: ...


class Network(nn.Module):
    """Members, a head for each, and the joint head where there are several."""

    mean: Tensor
    scale: Tensor

    def __init__(self, spec: EnsembleSpec, parts: Parts) -> None:
        super().__init__()
        self.members = nn.ModuleDict({name: parts[name](spec) for name in spec.members})
        widths = [_member(m).width for m in self.members.values()]
        self.heads = nn.ModuleDict(
            {name: nn.Linear(w, 1) for name, w in zip(spec.members, widths, strict=True)}
        )
        self.joint: nn.Module | None = None
        if len(widths) > 1:
            joint = spec.recipe.ensemble_width
            self.joint = nn.Sequential(
                nn.Linear(sum(widths), joint), nn.SELU(), nn.Linear(joint, 1)
            )
        self.register_buffer("mean", torch.zeros(spec.feature_count))
        self.register_buffer("scale", torch.ones(spec.feature_count))

    def forward(self, batch: Batch) -> Tensor:
        """(heads, B) logits: the members in their order, then the joint head where there is one."""
        batch = self._standard(batch)
        vectors = {name: member(batch) for name, member in self.members.items()}
        logits = [self.heads[name](vector) for name, vector in vectors.items()]
        if self.joint is not None:
            logits.append(self.joint(torch.cat(list(vectors.values()), dim=1)))
        return torch.cat(logits, dim=1).T

    def logits_of(self, name: str, batch: Batch) -> Tensor:
        """(B,) one member's logits, without the work of the others."""
        logits: Tensor = self.heads[name](self.members[name](self._standard(batch)))
        return logits[:, 0]

    def _standard(self, batch: Batch) -> Batch:
        if not batch.features.shape[1]:
            return batch
        standard = (batch.features - self.mean) * self.scale
        return dataclasses.replace(batch, features=standard, raw=batch.features)

    def standardise(self, features: NDArray[np.float32]) -> None:
        """Takes mean and deviation from the training rows (E, F). A constant column becomes 0."""
        deviation = features.std(axis=0, dtype=np.float64)
        mean = features.mean(axis=0, dtype=np.float64)
        constant = deviation <= 1e-6 * np.maximum(1.0, np.abs(mean))
        scale = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
        self.mean.copy_(torch.from_numpy(mean))
        self.scale.copy_(torch.from_numpy(scale))


def _member(module: nn.Module) -> Member:
    assert isinstance(module, Member)
    return module
