"""What people call gibberish, as a member: the classifier of `engine.gibberish`, which stays fixed.

Its one number is no opinion on found or generated; how it counts is learned by its head.
"""

from __future__ import annotations

import torch
from torch import Tensor

from swag_studio.engine.members.base import EnsembleSpec, Member
from swag_studio.engine.members.batches import Batch


class Gibberish(Member):
    """The chance that an ending is gibberish, from -1 to 1. It reads features as in the pool."""

    needs_features = True
    width = 1
    words: Tensor
    features: Tensor
    bias: Tensor

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        self.register_buffer("words", torch.zeros(spec.vocabulary))
        self.register_buffer("features", torch.zeros(spec.feature_count))
        self.register_buffer("bias", torch.zeros(()))
        if spec.gibberish is not None:
            self.words.copy_(torch.from_numpy(spec.gibberish.words))
            self.features.copy_(torch.from_numpy(spec.gibberish.features))
            self.bias.fill_(spec.gibberish.bias)

    def forward(self, batch: Batch) -> Tensor:
        words = self.words[batch.tokens.masked_fill(~batch.in_v, 0)].sum(dim=1)  # (B,)
        features = batch.features if batch.raw is None else batch.raw
        logit = words + (features * self.features).sum(dim=1) + self.bias
        return torch.tanh(logit / 2)[:, None]
