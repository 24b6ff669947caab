"""The fast loss and its gradients against the plain model and autograd."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from swag_studio.engine import training
from swag_studio.engine.corpus import BOS, EOS
from swag_studio.engine.lm import DIRECTIONS, LanguageModel, LmConfig, initialised
from swag_studio.engine.training import Batch, PackedLstm, TiedSoftmax, pack

VOCABULARY, DIM = 12, 3
SEQUENCES = [np.array(ids, np.uint16) for ids in ([5, 6], [7], [4, 5, 9, 11], [8, 8], [10, 4, 6])]


def model(layers: int = 2) -> LanguageModel:
    generator = torch.Generator().manual_seed(3)
    made = initialised(LmConfig(VOCABULARY, DIM, layers), generator).double()
    with torch.no_grad():
        for name in DIRECTIONS:
            made.direction(name).output_bias.normal_(generator=generator)
    return made


def masks(layers: int = 2, sequences: int = len(SEQUENCES)) -> list[Tensor]:
    drawn = training.dropout_masks(
        LmConfig(VOCABULARY, DIM, layers), sequences, 0.3, 0.4, torch.Generator().manual_seed(4)
    )
    return [mask.double() for mask in drawn]


def random(*shape: int, seed: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


# --- packing ---------------------------------------------------------------------------------

id_lists = st.lists(st.integers(4, VOCABULARY - 1), min_size=0, max_size=6)


@given(st.lists(id_lists, min_size=1, max_size=6))
def test_a_batch_holds_what_each_direction_reads(lists: list[list[int]]) -> None:
    batch = pack([np.array(ids, np.uint16) for ids in lists])
    ordered = sorted(lists, key=len, reverse=True)  # stable, as the batch's order is
    assert batch.tokens == sum(len(ids) + 1 for ids in lists)
    assert list(batch.sizes) == [
        sum(len(ids) >= t for ids in lists) for t in range(len(ordered[0]) + 1)
    ]
    for row, ids in enumerate(ordered):
        mine = batch.sequence == row
        assert batch.inputs[0, mine].tolist() == [BOS, *ids]
        assert batch.targets[0, mine].tolist() == [*ids, EOS]
        assert batch.inputs[1, mine].tolist() == [EOS, *ids[::-1]]
        assert batch.targets[1, mine].tolist() == [*ids[::-1], BOS]
    later = torch.arange(batch.sizes[0], batch.tokens)
    assert torch.equal(batch.sequence[batch.previous], batch.sequence[later])
    assert bool((batch.previous < later).all()) and len(set(batch.previous.tolist())) == len(later)


# --- the function ----------------------------------------------------------------------------


def reference(
    made: LanguageModel, sequences: Sequence[np.ndarray], keep: Sequence[Tensor] = ()
) -> list[Tensor]:
    """The sums of -log p by direction: one sequence and token at a time, autograd as it comes."""
    sums = []
    for k, name in enumerate(DIRECTIONS):
        direction, total = made.direction(name), torch.zeros((), dtype=torch.float64)
        for row, ids in enumerate(sorted(sequences, key=len, reverse=True)):
            words = [int(i) for i in ids]
            read = [BOS, *words, EOS] if name == "forward" else [EOS, *words[::-1], BOS]
            h = [torch.zeros(1, DIM, dtype=torch.float64) for _ in direction.layers]
            c = list(h)
            for token, following in itertools.pairwise(read):
                x = made.embedding[[token]] * (keep[0][k, row] if keep else 1)
                for n, layer in enumerate(direction.layers):
                    x, c[n] = layer.step(x, h[n], c[n])
                    x = x * (keep[n + 1][k, row] if keep else 1)
                    h[n] = x
                total = total - made.logits(x, direction).log_softmax(-1)[0, following]
        sums.append(total)
    return sums


@pytest.mark.parametrize("dropout", [False, True])
def test_loss_and_gradients_are_those_of_the_plain_model(dropout: bool) -> None:
    made, keep = model(), masks() if dropout else []
    expected = reference(made, SEQUENCES, keep)
    gradients = torch.autograd.grad(sum(expected), list(made.parameters()))
    total, sums = training.loss(made, pack(SEQUENCES), keep)
    torch.testing.assert_close(sums, torch.stack(expected).detach())
    torch.testing.assert_close(total, sum(expected))
    found = torch.autograd.grad(total, list(made.parameters()))
    names = [name for name, _ in made.named_parameters()]
    for name, a, b in zip(names, found, gradients, strict=True):
        torch.testing.assert_close(a, b, msg=lambda text, name=name: f"{name}: {text}")


def test_evaluation_gives_the_same_sums_as_the_model_says() -> None:
    made = model()
    found = training.evaluate(made, pack(SEQUENCES))
    expected = torch.zeros(2, dtype=torch.float64)
    for k, name in enumerate(DIRECTIONS):
        for ids in SEQUENCES:
            words = [int(i) for i in ids]
            read = [BOS, *words, EOS] if k == 0 else [EOS, *words[::-1], BOS]
            every = torch.ones(1, len(read), dtype=torch.bool)
            expected[k] -= made.log_probabilities(torch.tensor([read]), every, name).sum().item()
    torch.testing.assert_close(found, expected)
    assert not found.requires_grad


@pytest.mark.parametrize("keep", [None, masks()[1]])
def test_gradients_of_the_layer(keep: Tensor | None) -> None:
    batch = pack(SEQUENCES)
    inputs = (
        random(2, batch.tokens, DIM),
        random(2, 4 * DIM, DIM, seed=6),
        random(2, 4 * DIM, DIM, seed=7),
        random(2, 4 * DIM, seed=8),
    )
    assert torch.autograd.gradcheck(lambda *x: PackedLstm.apply(*x, keep, batch), inputs)


@pytest.mark.parametrize("elements", [1, 30, 1 << 20])
def test_gradients_of_the_softmax_in_chunks(elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(training.CHUNK_ELEMENTS, "cpu", elements)  # 1, 2 and all rows at a time
    targets = pack(SEQUENCES[:2]).targets
    inputs = (
        random(2, targets.shape[1], DIM),
        random(VOCABULARY, DIM, seed=6),
        random(2, VOCABULARY, seed=7),
    )
    assert torch.autograd.gradcheck(lambda *x: TiedSoftmax.apply(*x, targets)[0], inputs)
    states, embedding, bias = inputs
    log_p = (states @ embedding.T + bias.unsqueeze(1)).log_softmax(-1)
    expected = -log_p.gather(2, targets.unsqueeze(2)).sum((1, 2))
    torch.testing.assert_close(TiedSoftmax.apply(*inputs, targets)[1], expected.detach())


def test_a_far_away_target_has_a_finite_loss() -> None:
    states = torch.full((2, 1, 1), 200.0)
    embedding = torch.tensor([[1.0], [-1.0]])
    total, _ = TiedSoftmax.apply(states, embedding, torch.zeros(2, 2), torch.ones(2, 1).long())
    assert total.item() == pytest.approx(800)  # 400 below the other word, both ways


# --- dropout ---------------------------------------------------------------------------------


def test_masks_drop_the_share_and_keep_the_mean() -> None:
    config = LmConfig(VOCABULARY, 64, 2)
    made = training.dropout_masks(config, 200, 0.25, 0.5, torch.Generator().manual_seed(1))
    assert [m.shape for m in made] == [(2, 200, 64)] * 3
    for mask, share in zip(made, (0.25, 0.5, 0.5), strict=True):
        assert mask.unique().tolist() == [0.0, pytest.approx(1 / (1 - share))]
        # 25,600 draws: five standard deviations are 5 * sqrt(.25 / 25600) = .0156.
        assert (mask == 0).double().mean().item() == pytest.approx(share, abs=0.016)
    assert not torch.equal(made[1], made[2]) and not torch.equal(made[1][0], made[1][1])


def test_no_dropout_keeps_everything() -> None:
    made = training.dropout_masks(LmConfig(9, 8, 1), 5, 0.0, 0.0, torch.Generator())
    assert all(bool((mask == 1).all()) for mask in made)


# --- batches ---------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 60), min_size=1, max_size=300), st.integers(1, 7), st.integers(0, 9))
def test_every_sequence_is_in_one_batch(lengths: list[int], size: int, seed: int) -> None:
    array = np.array(lengths)
    found = training.batches(array, size, np.random.default_rng(seed))
    again = training.batches(array, size, np.random.default_rng(seed))
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))
    assert sorted(np.concatenate(found).tolist()) == list(range(len(lengths)))
    assert max(map(len, found)) <= size
    assert len(found) == sum(
        -(-min(64 * size, len(lengths) - start) // size)
        for start in range(0, len(lengths), 64 * size)
    )


def test_batches_hold_similar_lengths() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 60, 64 * 16)
    found = training.batches(lengths, 16, rng)
    padded = sum(len(b) * int(lengths[b].max()) for b in found)
    # 64 batches in order of length span 55 lengths, so a batch's differ by 1 or 2 of 32.
    assert lengths.sum() / padded > 0.97
    means = [float(lengths[b].mean()) for b in found]
    assert means != sorted(means)


# --- accounting ------------------------------------------------------------------------------


def test_operations_are_counted_on_real_tokens() -> None:
    # Lengths 2 and 1 give 3 + 2 predictions; the 2 first ones have no recurrent product.
    batch = pack([np.array([4, 5], np.uint16), np.array([6], np.uint16)])
    per_layer = 5 * (2 * 12 * 3) + 3 * (2 * 12 * 3)  # input, recurrent: 2 * 4D * D each
    softmax = 5 * 2 * VOCABULARY * DIM
    # Each product once forward and twice backward, in 2 directions.
    expected = 2 * 3 * (2 * per_layer + softmax)
    assert training.training_flops(LmConfig(VOCABULARY, DIM, 2), batch) == expected


@settings(max_examples=20)
@given(st.lists(id_lists, min_size=1, max_size=5))
def test_a_batch_may_be_moved(lists: list[list[int]]) -> None:
    batch = pack([np.array(ids, np.uint16) for ids in lists])
    moved: Batch = batch.to("cpu")
    assert moved.sizes == batch.sizes and torch.equal(moved.previous, batch.previous)
