"""The MLP over the language models' features (METHOD 2: 8-2048-2048-1, SELU, AlphaDropout)."""

from __future__ import annotations

from torch import Tensor, nn

from swag_studio.engine.members.base import EnsembleSpec, Member
from swag_studio.engine.members.batches import Batch


class Mlp(Member):
    """Standardised features -> width -> width."""

    needs_features = True

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        self.width, dropout = spec.recipe.mlp_width, spec.recipe.dropout
        self.layers = nn.Sequential(
            nn.Linear(spec.feature_count, self.width),
            nn.SELU(),
            nn.AlphaDropout(dropout),
            nn.Linear(self.width, self.width),
            nn.SELU(),
            nn.AlphaDropout(dropout),
        )
        for layer in self.layers:
            if isinstance(
                layer, nn.Linear
            ):  # LeCun normal, which SELU's fixed point is derived for
                nn.init.kaiming_normal_(layer.weight, nonlinearity="linear")
                nn.init.zeros_(layer.bias)

    def forward(self, batch: Batch) -> Tensor:
        hidden: Tensor = self.layers(batch.features)
        return hidden
