"""A small language model with random weights, and what it says computed slowly, token by token."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from swag_studio.engine.corpus import BOS, EOS
from swag_studio.engine.lm import LanguageModel, LmConfig, initialised
from swag_studio.engine.reading import Reader

T = TypeVar("T")
STOP = 4  # the id of the token that ends an ending


def drive(work: Generator[object, None, T]) -> T:
    """Runs paused work to its end."""
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value


def model(
    seed: int, vocabulary: int = 40, dim: int = 8, layers: int = 2, stop: float = 1.5
) -> LanguageModel:
    """Random weights with distributions far from uniform; `stop` makes STOP likelier."""
    generator = torch.Generator().manual_seed(seed)
    made = initialised(LmConfig(vocabulary, dim, layers), generator).requires_grad_(False)
    made.embedding.mul_(4)
    for direction in (made.forward_lm, made.backward_lm):
        direction.output_bias.normal_(generator=generator)
        direction.output_bias[STOP] += stop
    return made


def banned(vocabulary: int = 40, *words: int) -> Tensor:
    """(V,) the special tokens and `words`."""
    mask = torch.zeros(vocabulary, dtype=torch.bool)
    mask[[0, 1, 2, 3, *words]] = True
    return mask


def reader(made: LanguageModel, name: str, *words: int) -> Reader:
    """A reader that never draws `words`."""
    return Reader(made, name, banned(made.config.vocabulary, *words))


def expectations(made: LanguageModel, name: str, read: Sequence[int]) -> list[Tensor]:
    """What a direction expects after its first token, and after each token of `read`.

    (V,) float64 log-probabilities; one token and one layer at a time, by the reference cell.
    """
    double = LanguageModel(made.config).double().requires_grad_(False)
    double.load_state_dict(made.state_dict())
    direction = double.direction(name)
    zero = torch.zeros(1, made.config.dim, dtype=torch.float64)
    h, c = ([zero for _ in direction.layers] for _ in range(2))
    result = []
    for token in [{"forward": BOS, "backward": EOS}[name], *read]:
        x = double.embedding[[token]]
        for i, layer in enumerate(direction.layers):
            h[i], c[i] = layer.step(x, h[i], c[i])
            x = h[i]
        scores = x @ double.embedding.T + direction.output_bias
        result.append(scores.log_softmax(-1)[0])
    return result


def log_p(
    made: LanguageModel, name: str, before: Sequence[int], span: Sequence[int]
) -> list[float]:
    """log p of each token of `span` after `before`."""
    expected = expectations(made, name, [*before, *span])
    return [float(expected[len(before) + i][token]) for i, token in enumerate(span)]
