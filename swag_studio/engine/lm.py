"""The two-way language model of a fold, written to be read: parameters and the plain forward pass.

It knows token ids, not words, folds or training. `training.py` computes the same function fast and
with gradients; the tests hold the two equal.

METHOD section 2, row LM: plain LSTM layers each way, one embedding shared as input and output by
both directions. The forward direction reads BOS, tokens, EOS; the backward one EOS, the tokens
reversed, BOS. Each position predicts the next token of what its direction reads.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

DIRECTIONS = ("forward", "backward")


@dataclass(frozen=True)
class LmConfig:
    """The sizes that decide the shapes of all parameters."""

    vocabulary: int
    dim: int
    layers: int


class LstmLayer(nn.Module):
    """One LSTM layer of width D. Gates stand in the order input, forget, candidate, output."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.w_ih = nn.Parameter(torch.zeros(4 * dim, dim))
        self.w_hh = nn.Parameter(torch.zeros(4 * dim, dim))
        self.bias = nn.Parameter(torch.zeros(4 * dim))

    @staticmethod
    def cell(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """(B, 4D) gates before their nonlinearities and (B, D) cell -> (B, D) h, (B, D) cell."""
        i, f, g, o = gates.chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def step(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """One token: (B, D) input, h and cell -> the next h and cell."""
        return self.cell(x @ self.w_ih.T + h @ self.w_hh.T + self.bias, c)


class Direction(nn.Module):
    """The layers of one direction, with the bias of its output over the vocabulary."""

    def __init__(self, config: LmConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(LstmLayer(config.dim) for _ in range(config.layers))
        self.output_bias = nn.Parameter(torch.zeros(config.vocabulary))

    def states(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """(B, T, D) inputs and (B, T) mask of real positions -> (B, T, D) states of the top layer.

        Padding stands on the right of each sequence; its states are 0. Both states start at 0.
        """
        x = embedded
        for layer in self.layers:
            assert isinstance(layer, LstmLayer)
            h = c = x.new_zeros(x.shape[0], x.shape[2])
            steps = []
            for t in range(x.shape[1]):
                h, c = layer.step(x[:, t], h, c)
                steps.append(h)
            x = torch.stack(steps, dim=1)
        return x * mask.unsqueeze(-1).to(x.dtype)


class LanguageModel(nn.Module):
    """Both directions over one embedding, which is also the output matrix of both."""

    def __init__(self, config: LmConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Parameter(torch.zeros(config.vocabulary, config.dim))
        self.forward_lm = Direction(config)
        self.backward_lm = Direction(config)

    @property
    def parameter_count(self) -> int:
        """Numbers that are learnt."""
        return sum(p.numel() for p in self.parameters())

    def direction(self, name: str) -> Direction:
        """The direction called "forward" or "backward"."""
        return {"forward": self.forward_lm, "backward": self.backward_lm}[name]

    def logits(self, states: Tensor, direction: Direction) -> Tensor:
        """(..., D) states -> (..., V) unnormalised log-probabilities of the next token."""
        return states @ self.embedding.T + direction.output_bias

    def log_probabilities(self, ids: Tensor, mask: Tensor, name: str) -> Tensor:
        """(B, T) ids as the direction reads them -> (B, T - 1) log p(ids[:, t + 1] | before).

        `mask` (B, T) is True at real positions; where the predicted position is padding, 0.
        """
        direction, ids = self.direction(name), ids.long()
        states = direction.states(self.embedding[ids[:, :-1]], mask[:, :-1])
        scores = self.logits(states, direction).log_softmax(dim=-1)
        chosen = scores.gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        return chosen.masked_fill(~mask[:, 1:], 0.0)


def initialised(config: LmConfig, generator: torch.Generator) -> LanguageModel:
    """A model with fresh weights, the same for the same state of `generator`.

    Weights are uniform within 1/sqrt(D); the forget gate's bias is 1, so that memory is kept from
    the first step on; the embedding is normal with deviation 1/sqrt(D), so that logits start near
    the scale of 1 or below although it serves as the output matrix too.
    """
    model = LanguageModel(config)
    bound = config.dim**-0.5
    with torch.no_grad():
        model.embedding.normal_(0.0, bound, generator=generator)
        for name in DIRECTIONS:
            for layer in model.direction(name).layers:
                assert isinstance(layer, LstmLayer)
                layer.w_ih.uniform_(-bound, bound, generator=generator)
                layer.w_hh.uniform_(-bound, bound, generator=generator)
                layer.bias[config.dim : 2 * config.dim] = 1.0
    return model
