"""The language model against an LSTM written out by hand, number by number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
import torch

from swag_studio.engine.corpus import BOS, EOS, PAD
from swag_studio.engine.lm import DIRECTIONS, LanguageModel, LmConfig, initialised


def model(dim: int = 3, layers: int = 2, vocabulary: int = 9) -> LanguageModel:
    made = initialised(LmConfig(vocabulary, dim, layers), torch.Generator().manual_seed(1)).double()
    with torch.no_grad():  # biases that do something
        for name in DIRECTIONS:
            made.direction(name).output_bias.copy_(torch.linspace(-1, 1, vocabulary))
    return made


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def by_hand(made: LanguageModel, name: str, ids: Sequence[int]) -> list[float]:
    """log p of ids[1:], each after all before it, in plain Python floats."""
    dim, embedding = made.config.dim, made.embedding.tolist()
    direction = made.direction(name)
    layers = [
        (layer.w_ih.tolist(), layer.w_hh.tolist(), layer.bias.tolist())
        for layer in direction.layers
    ]
    h = [[0.0] * dim for _ in layers]
    c = [[0.0] * dim for _ in layers]
    result = []
    for token, following in itertools.pairwise(ids):
        x = embedding[token]
        for number, (w_ih, w_hh, bias) in enumerate(layers):
            gate = [
                sum(w * v for w, v in zip(w_ih[row], x, strict=True))
                + sum(w * v for w, v in zip(w_hh[row], h[number], strict=True))
                + bias[row]
                for row in range(4 * dim)
            ]
            for k in range(dim):
                i, f, g, o = (gate[part * dim + k] for part in range(4))
                c[number][k] = sigmoid(f) * c[number][k] + sigmoid(i) * math.tanh(g)
                h[number][k] = sigmoid(o) * math.tanh(c[number][k])
            x = h[number]
        logits = [
            sum(a * b for a, b in zip(row, x, strict=True)) + bias
            for row, bias in zip(embedding, direction.output_bias.tolist(), strict=True)
        ]
        result.append(logits[following] - math.log(sum(map(math.exp, logits))))
    return result


@pytest.mark.parametrize("name", DIRECTIONS)
def test_log_probabilities_are_those_of_an_lstm_by_hand(name: str) -> None:
    made = model()
    long, short = [BOS, 4, 5, 6, 8, EOS], [BOS, 7, 4, EOS]
    ids = torch.tensor([long, [*short, PAD, PAD]])
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    found = made.log_probabilities(ids, mask, name)
    expected = [by_hand(made, name, long), by_hand(made, name, short) + [0.0, 0.0]]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


def test_states_at_padding_are_zero_and_padding_changes_nothing() -> None:
    made = model()
    embedded = torch.randn(2, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    mask = torch.arange(5) < torch.tensor([[5], [3]])
    states = made.forward_lm.states(embedded, mask)
    assert states[1, 3:].abs().max() == 0
    alone = made.forward_lm.states(embedded[1:, :3], mask[1:, :3])
    torch.testing.assert_close(states[1:, :3], alone)


def test_the_directions_share_the_embedding_and_nothing_else() -> None:
    made = model(dim=3, layers=2, vocabulary=9)
    # Each way: 2 layers of 12 x 3 + 12 x 3 + 12 numbers, and 9 output biases.
    assert made.parameter_count == 9 * 3 + 2 * (2 * (36 + 36 + 12) + 9)
    made.log_probabilities(
        torch.tensor([[BOS, 4, EOS]]), torch.ones(1, 3, dtype=torch.bool), "forward"
    ).sum().backward()
    assert made.embedding.grad is not None
    assert all(p.grad is not None for p in made.forward_lm.parameters())
    assert all(p.grad is None for p in made.backward_lm.parameters())


def test_fresh_weights_are_those_of_the_seed() -> None:
    def weights(seed: int) -> dict[str, torch.Tensor]:
        made = initialised(LmConfig(9, 4, 2), torch.Generator().manual_seed(seed))
        return made.state_dict()

    a, b, c = weights(1), weights(1), weights(2)
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not torch.equal(a["embedding"], c["embedding"])
    bias = a["backward_lm.layers.1.bias"]
    assert bias.tolist() == [0] * 4 + [1] * 4 + [0] * 8  # only the forget gate's is 1
    drawn = a["forward_lm.layers.0.w_hh"]
    assert 0.4 < drawn.abs().max() <= 0.5  # 1 / sqrt(4)
