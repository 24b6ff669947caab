"""Each member against a slow, plain computation of what it should see."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from engine.made_items import ALL, POS_WORDS, SIZE, TAGS, VOCABULARY, fitted, noise, spec
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from swag_studio.engine.items import Items
from swag_studio.engine.members.base import BiLstm
from swag_studio.engine.members.batches import Batch, Data
from swag_studio.engine.members.bow import BagOfWords
from swag_studio.engine.members.cnn import SIZES, Cnn
from swag_studio.engine.members.mlp import Mlp
from swag_studio.engine.members.pos import PosBiLstm
from swag_studio.engine.registry import MEMBERS


def batch_of(items: Items) -> Batch:
    return Data(items, True, True, torch.device("cpu")).batch(np.arange(len(items)))


def texts(items: Items) -> list[tuple[list[int], list[int], list[int]]]:
    """Per row: ids of n, ids of v, tags of both."""
    rows = zip(items.n, items.v, items.n_lengths, items.v_lengths, strict=True)
    pairs = [(n[:a].tolist(), v[:b].tolist()) for n, v, a, b in rows]
    rows = zip(items.tags_n, items.tags_v, items.n_lengths, items.v_lengths, strict=True)
    tags = [[*n[:a].tolist(), *v[:b].tolist()] for n, v, a, b in rows]
    return [(n, v, t) for (n, v), t in zip(pairs, tags, strict=True)]


@pytest.fixture
def made():
    torch.manual_seed(0)
    items = noise(6)
    return spec(), items, batch_of(items)


def test_a_batch_holds_n_then_v_then_padding(made):
    _, items, batch = made
    for row, (n, v, tags) in enumerate(texts(items)):
        text = [*n, *v]
        pad = [0] * (batch.tokens.shape[1] - len(text))
        assert batch.tokens[row].tolist() == text + pad
        assert batch.tags[row].tolist() == tags + pad
        assert batch.in_n[row].tolist() == [True] * len(n) + [False] * (len(v) + len(pad))
        assert batch.in_v[row].tolist() == [False] * len(n) + [True] * len(v) + [False] * len(pad)
        assert batch.inside[row].sum() == len(text) == batch.lengths[row]


def test_a_batch_is_as_wide_as_its_longest_text(made):
    _, items, batch = made
    lengths = items.n_lengths.astype(int) + items.v_lengths
    assert batch.tokens.shape[1] == lengths.max()
    short = np.argsort(lengths)[:2]
    data = Data(items, True, True, torch.device("cpu"))
    assert data.batch(short).tokens.shape == (2, lengths[short].max())


def test_an_ending_without_tokens_is_an_error():
    items = noise(2)
    items.n_lengths[0] = items.v_lengths[0] = 0
    with pytest.raises(ValueError, match="no tokens"):
        batch_of(items)


# --- members ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_representation_has_the_width_that_the_member_says(made, name):
    shape, items, batch = made
    member = MEMBERS[name](shape)
    assert member(batch).shape == (len(items), member.width)


def test_the_bag_of_words_is_the_mean_over_the_ending(made):
    shape, items, batch = made
    member = BagOfWords(shape).eval()
    vectors = member.embedding.weight
    expected = torch.stack([vectors[v].mean(dim=0) for _, v, _ in texts(items)])
    assert torch.allclose(member(batch), expected, atol=1e-6)


def test_given_embeddings_are_where_the_bag_of_words_starts(made):
    shape, _, batch = made
    given = np.random.default_rng(0).normal(size=(VOCABULARY, 5)).astype(np.float32)
    member = BagOfWords(dataclasses.replace(shape, embeddings=given)).eval()
    assert member.width == 5
    assert np.array_equal(member.embedding.weight.detach()[1:], given[1:])
    assert not member.embedding.weight[0].any()
    assert member(batch).shape == (len(batch.tokens), 5)


def test_a_cnn_filter_sees_each_window_that_begins_in_the_text(made):
    shape, items, batch = made
    member = Cnn(shape).eval()
    vectors, dim = member.embedding.weight, shape.recipe.embedding_dim
    expected = []
    for n, v, _ in texts(items):
        flags = torch.tensor([[1.0]] * len(n) + [[0.0]] * len(v))
        text = torch.cat([vectors[[*n, *v]], flags], dim=1)
        text = torch.cat([text, torch.zeros(max(SIZES), dim + 1)])
        pooled = []
        for size, layer in zip(SIZES, member.filters, strict=True):
            windows = [text[i : i + size].flatten() for i in range(len(n) + len(v))]
            outputs = [torch.relu(layer.weight @ w + layer.bias) for w in windows]
            pooled.append(torch.stack(outputs).amax(dim=0))
        expected.append(torch.cat(pooled))
    assert torch.allclose(member(batch), torch.stack(expected), atol=1e-5)


def test_pos_symbols_are_words_where_common_and_tags_elsewhere(made):
    shape, items, batch = made
    symbols = PosBiLstm(shape).symbols(batch)
    common = {int(word): TAGS + 1 + i for i, word in enumerate(POS_WORDS)}
    for row, (n, v, tags) in zip(symbols.tolist(), texts(items), strict=True):
        expected = [common.get(w, t) for w, t in zip([*n, *v], tags, strict=True)]
        assert row[: len(expected)] == expected
        assert not any(row[len(expected) :])


def test_the_pos_bilstm_reads_symbols_alone(made):
    shape, items, batch = made
    member = PosBiLstm(shape).eval()
    other_words = np.where(items.v >= 7, 7 + (items.v * 5) % 20, items.v).astype(np.uint16)
    changed = batch_of(dataclasses.replace(items, v=other_words))
    assert not torch.equal(changed.tokens, batch.tokens)
    assert torch.equal(member(changed), member(batch))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_a_bilstm_pools_each_text_as_if_it_were_alone(lengths):
    torch.manual_seed(1)
    lstm = BiLstm(3, 4)
    width = max(lengths) + 2
    inputs = torch.randn(len(lengths), width, 3)
    place = torch.arange(width)
    batch = SimpleNamespace(
        inside=place < torch.tensor(lengths)[:, None],
        lengths=torch.tensor(lengths),
        position=place,
    )
    both_ways = nn.LSTM(3, 4, bidirectional=True)
    for name, parameter in both_ways.named_parameters():
        way = lstm.back if name.endswith("_reverse") else lstm.ahead
        parameter.data = getattr(way, name.removesuffix("_reverse")).data
    expected = [
        both_ways(x[:n, None])[0].amax(dim=0)[0] for x, n in zip(inputs, lengths, strict=True)
    ]
    assert torch.allclose(lstm(inputs, batch), torch.stack(expected), atol=1e-6)


def test_the_mlp_starts_near_the_fixed_point_of_selu():
    torch.manual_seed(0)
    member = Mlp(dataclasses.replace(spec(mlp_width=512), feature_count=64)).eval()
    features = torch.randn(400, 64)
    outputs = member(SimpleNamespace(features=features))
    # Mean 0 and variance 1 are kept by SELU (Klambauer et al. 2017); each unit's own offset shows
    # in the variance over units, so both are taken over all.
    assert abs(outputs.mean()) < 0.1
    assert abs(outputs.var() - 1) < 0.15


@pytest.mark.parametrize("name", ["bow", "cnn", "pos"])
def test_the_pad_embedding_stays_zero_in_training(name):
    ensemble = fitted(spec(name, epochs=1), noise(2 * SIZE))
    assert not ensemble.network.members[name].embedding.weight[0].any()
