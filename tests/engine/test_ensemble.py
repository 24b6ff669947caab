from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pytest
import torch
from engine.made_items import ALL, SIZE, fitted, noise, planted, spec
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.ensemble import (
    JOINT,
    Ensemble,
    dev_contexts,
    member_accuracies,
    needs_features,
    needs_tags,
)
from swag_studio.engine.items import Items, accuracy
from swag_studio.engine.members.base import Member
from swag_studio.engine.registry import MEMBERS
from swag_studio.errors import ProjectError, StageError

TRAIN, TEST = 150, 200
# Four standard deviations above the 25% of a guesser over TEST contexts.
CHANCE_BOUND = 0.25 + 4 * math.sqrt(0.25 * 0.75 / TEST)


@functools.cache
def measured(giveaway: str) -> dict[str, float]:
    """Head -> accuracy on unseen contexts after a fit of all members together."""
    make = noise if giveaway == "none" else functools.partial(planted, giveaway)
    scores = fitted(spec(), make(TRAIN)).score(make(TEST, seed=50))
    return {head: accuracy(flat.reshape(-1, SIZE)) for head, flat in scores.items()}


SEEN_BY = {
    "feature": {"mlp"},
    "word": {"bow", "cnn"},
    "order": {"cnn"},
    "tags": {"pos"},
    "none": set(),
}


@pytest.mark.parametrize("giveaway", SEEN_BY)
@pytest.mark.parametrize("member", ALL)
def test_a_member_sees_its_giveaway_and_no_other(giveaway, member):
    result = measured(giveaway)[member]
    assert result > 0.8 if member in SEEN_BY[giveaway] else result < CHANCE_BOUND


@pytest.mark.parametrize("giveaway", SEEN_BY)
def test_the_joint_head_sees_what_any_member_sees(giveaway):
    result = measured(giveaway)[JOINT]
    assert result > 0.8 if SEEN_BY[giveaway] else result < CHANCE_BOUND


# --- scores ----------------------------------------------------------------------------------


@functools.cache
def trained() -> tuple[Ensemble, Items]:
    return fitted(spec(epochs=2), planted("word", 40)), planted("word", 30, seed=9)


def test_padding_width_does_not_change_scores():
    ensemble, items = trained()
    widened = dataclasses.replace(
        items,
        **{
            name: np.pad(getattr(items, name), ((0, 0), (0, 6)))
            for name in ("n", "v", "tags_n", "tags_v")
        },
    )
    for head, scores in ensemble.score(items).items():
        assert np.array_equal(ensemble.score(widened)[head], scores)


def test_neither_order_nor_company_changes_scores():
    ensemble, items = trained()
    order = np.random.default_rng(0).permutation(len(items))
    expected, shuffled = ensemble.score(items), ensemble.score(items.take(order))
    alone = [ensemble.score(items.take(np.array([i]))) for i in range(len(items))]
    for head, scores in expected.items():
        assert np.allclose(shuffled[head], scores[order], atol=1e-5)
        assert np.allclose([a[head][0] for a in alone], scores, atol=1e-5)


def test_an_only_member_is_the_ensemble():
    ensemble = fitted(spec("bow", epochs=1), noise(10))
    scores = ensemble.score(noise(5))
    assert set(scores) == {"bow", JOINT}
    assert np.array_equal(scores["bow"], scores[JOINT])


def test_no_items_have_no_scores():
    ensemble, items = trained()
    assert all(len(s) == 0 for s in ensemble.score(items.take(np.arange(0))).values())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_feature_that_is_not_finite_is_an_error(bad):
    ensemble, items = trained()
    features = items.features.copy()
    features[3, 1] = bad
    with pytest.raises(ValueError, match="feature is not finite"):
        ensemble.score(dataclasses.replace(items, features=features))


def test_missing_tags_are_an_error():
    ensemble, items = trained()
    with pytest.raises(ValueError, match="tags"):
        ensemble.score(dataclasses.replace(items, tags_v=None))


def test_members_that_need_neither_tags_nor_features_get_none():
    items = dataclasses.replace(
        noise(12), tags_n=None, tags_v=None, features=np.full((12 * SIZE, 3), np.nan, np.float32)
    )
    assert np.isfinite(fitted(spec("bow", "cnn", epochs=1), items).score(items)[JOINT]).all()


# --- training --------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    items = noise(20)
    first, same, other = (
        fitted(spec(epochs=2), items, seed).score(items)[JOINT] for seed in (1, 1, 2)
    )
    assert first.tobytes() == same.tobytes() != other.tobytes()


def test_a_suspended_fit_neither_feels_nor_leaves_randomness(monkeypatch):
    monkeypatch.setattr("swag_studio.engine.ensemble.YIELD_SECONDS", 0.0)
    items, dev = noise(20), np.array([0, 1])
    alone, one, two = (Ensemble(spec(epochs=2), 7, "cpu") for _ in range(3))
    steps = list(alone.fit(items, SIZE, dev))
    assert len(steps) > 4
    torch.manual_seed(5)
    state = torch.get_rng_state()
    together = zip(one.fit(items, SIZE, dev), two.fit(items, SIZE, dev), strict=True)
    for number, pair in enumerate(together):
        assert pair == (steps[number], steps[number])
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(number)
        state = torch.get_rng_state()
    scores = {e.score(items)[JOINT].tobytes() for e in (alone, one, two)}
    assert len(scores) == 1


def _weighted_loss(scores: np.ndarray) -> float:
    """The loss as the module's text has it: both classes with the same total weight."""
    table = scores.reshape(-1, SIZE).astype(np.float64)
    found = np.log1p(np.exp(-table[:, 0])).mean()
    others = np.log1p(np.exp(table[:, 1:])).mean()
    return (found + others) / 2


def test_the_weights_of_the_best_epoch_are_restored():
    items, dev = noise(40), np.arange(10)
    ensemble = Ensemble(spec(epochs=6, patience=6), 1, "cpu")
    losses = [s.dev_loss for s in ensemble.fit(items, SIZE, dev) if s.dev_loss is not None]
    assert len(losses) == 6
    assert losses[-1] > min(losses)  # noise is learned by heart, so the last epoch is not the best
    restored = ensemble.score(items.take(np.arange(10 * SIZE)))[JOINT]
    assert _weighted_loss(restored) == pytest.approx(min(losses), rel=1e-4)


def test_training_stops_when_patience_is_out():
    ensemble = Ensemble(spec(epochs=50, patience=2), 1, "cpu")
    steps = [s for s in ensemble.fit(noise(30), SIZE, np.arange(5)) if s.dev_loss is not None]
    losses = [s.dev_loss for s in steps]
    assert len(losses) < 50
    assert np.argmin(losses) == len(losses) - 3
    assert [s.epoch for s in steps] == list(range(len(losses)))


def test_steps_count_up_to_their_total(monkeypatch):
    monkeypatch.setattr("swag_studio.engine.ensemble.YIELD_SECONDS", 0.0)
    # 20 - 4 contexts of 4 endings in batches of at most 30: 3 an epoch
    ensemble = Ensemble(spec("bow", epochs=2, batch=30, patience=5), 1, "cpu")
    steps = list(ensemble.fit(noise(20), SIZE, np.arange(4)))
    assert {s.total for s in steps} == {6}
    assert sorted({s.done for s in steps}) == [1, 2, 3, 4, 5, 6]
    assert [s.done for s in steps] == sorted(s.done for s in steps)


def test_features_are_standardised_over_the_training_rows_alone():
    items = noise(20)
    items.features[:, 2] = 7.25  # constant
    items.features[: 4 * SIZE] = 1e6  # the development contexts
    ensemble = Ensemble(spec("mlp", epochs=1), 1, "cpu")
    list(ensemble.fit(items, SIZE, np.arange(4)))
    rest = items.features[4 * SIZE :].astype(np.float64)
    assert np.allclose(ensemble.network.mean, rest.mean(axis=0))
    assert np.allclose(ensemble.network.scale, [*(1 / rest[:, :2].std(axis=0)), 0])


def test_gradients_reach_every_parameter():
    ensemble, items = trained()
    ensemble.network.zero_grad()
    ensemble.network.train()
    ensemble._losses(ensemble._data(items), np.arange(len(items)), SIZE).sum().backward()
    for name, parameter in ensemble.network.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_a_divergent_training_is_said_to_be_one():
    items = noise(20)
    items.features[:] *= 1e18
    with pytest.raises(StageError, match="learning_rate"):
        fitted(spec("mlp", learning_rate=1e30, epochs=2), items)


@pytest.mark.parametrize("dev", [np.arange(0), np.arange(20)])
def test_training_and_development_contexts_are_both_needed(dev):
    with pytest.raises(ValueError, match="both"):
        next(Ensemble(spec("bow"), 1, "cpu").fit(noise(20), SIZE, dev))


@settings(deadline=None)
@given(st.integers(2, 300), st.floats(0.02, 0.5), st.integers(0, 5))
def test_development_contexts_are_some_and_not_all(contexts, share, seed):
    chosen = dev_contexts(contexts, share, np.random.default_rng(seed))
    assert list(chosen) == sorted(set(chosen))
    assert set(chosen) < set(range(contexts))
    assert len(chosen) == max(1, min(round(contexts * share), contexts - 1))


def test_one_context_is_too_few_to_set_one_aside():
    with pytest.raises(StageError, match="two contexts"):
        dev_contexts(1, 0.1, np.random.default_rng(0))


# --- members by name -------------------------------------------------------------------------


class Length(Member):
    """Sees only how long an ending is: the toy member that the next tests register."""

    def __init__(self, spec):
        super().__init__(spec)
        self.width = 1

    def forward(self, batch):
        return (batch.lengths - batch.n_lengths)[:, None].float() - 6


class Constant(Length):
    def forward(self, batch):
        return torch.zeros(len(batch.tokens), 1)


class Broken(Length):
    def forward(self, batch):
        return torch.full((len(batch.tokens), 1), math.nan)


@pytest.fixture
def toys(monkeypatch):
    for member in (Length, Constant, Broken):
        monkeypatch.setitem(
            MEMBERS._parts, member.__name__.lower(), f"{__name__}:{member.__name__}"
        )


def test_a_new_member_is_one_class_and_one_line(toys):
    def longest(contexts: int, seed: int) -> Items:
        items = noise(contexts, seed)
        items.v_lengths[::SIZE] = 9
        items.v[::SIZE] = np.where(items.v[::SIZE] == 0, 4, items.v[::SIZE])
        return items

    scores = fitted(spec("length", "mlp"), longest(60, 0)).score(longest(60, 1))
    assert list(scores) == ["length", "mlp", JOINT]
    assert accuracy(scores["length"].reshape(-1, SIZE)) > 0.8
    assert accuracy(scores[JOINT].reshape(-1, SIZE)) > 0.8


def test_a_constant_scorer_gets_chance_on_the_whole_way(toys):
    items = planted("word", 20)
    scores = fitted(spec("constant", epochs=2), items).score(items)
    result = member_accuracies(scores, SIZE, np.random.default_rng(0))["constant"]
    assert result == pytest.approx(
        {"accuracy": 1 / 4, "accuracy_4way": 1 / 4, "accuracy_2way": 1 / 2, "loss": math.log(4)}
    )


def test_a_nan_scorer_is_an_error_on_the_whole_way(toys):
    with pytest.raises(StageError):
        fitted(spec("broken"), noise(10))
    with pytest.raises(ValueError, match="broken"):
        Ensemble(spec("broken"), 1, "cpu").score(noise(10))
    with pytest.raises(ValueError, match="NaN"):
        nan = np.full(8, np.nan, np.float32)
        member_accuracies({"broken": nan}, SIZE, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("members", "tags", "features"),
    [(("mlp",), False, True), (("bow", "cnn"), False, False), (ALL, True, True)],
)
def test_what_members_need_is_known_before_they_are_made(members, tags, features):
    assert (needs_tags(members), needs_features(members)) == (tags, features)


# --- measures --------------------------------------------------------------------------------


def test_accuracies_of_a_worked_example():
    # Two contexts of five endings, the found one first. In the first one distractor of four is
    # above it; in the second two tie with it.
    scores = np.array([[2, 3, 1, 1, 1], [1, 1, 1, 0, 0]], np.float32)
    result = member_accuracies({"x": scores.ravel()}, 5, np.random.default_rng(0))["x"]
    assert result["accuracy"] == pytest.approx((0 + 1 / 3) / 2)
    assert result["accuracy_2way"] == pytest.approx((3 / 4 + (1 / 2 + 1 / 2 + 1 + 1) / 4) / 2)
    e = math.e
    first = math.log(e**2 / (e**2 + e**3 + 3 * e))
    second = math.log(e / (3 * e + 2))
    assert result["loss"] == pytest.approx(-(first + second) / 2)


def test_4way_draws_three_of_the_k_and_the_same_for_all_heads():
    # The found ending is beaten by exactly one of nine distractors, so it is right when that one
    # is not among the three drawn: 6 times in 9.
    contexts = 4000
    scores = np.tile(np.array([1, 2, *[0] * 8], np.float32), contexts)
    result = member_accuracies({"a": scores, "b": scores * 3}, 10, np.random.default_rng(3))
    deviation = math.sqrt(6 / 9 * 3 / 9 / contexts)
    assert abs(result["a"]["accuracy_4way"] - 6 / 9) < 4 * deviation
    assert result["a"]["accuracy_4way"] == result["b"]["accuracy_4way"]


def test_loss_of_far_apart_scores_does_not_overflow():
    scores = np.array([[-3e4, 3e4]], np.float32)
    result = member_accuracies({"x": scores.ravel()}, 2, np.random.default_rng(0))
    assert result["x"]["loss"] == pytest.approx(6e4)


# --- files -----------------------------------------------------------------------------------


def test_what_is_loaded_scores_the_same(tmp_path):
    ensemble, items = trained()
    ensemble.save(tmp_path, "m")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.json", "m.safetensors"]
    loaded = Ensemble.load(tmp_path, "m", "cpu")
    expected = ensemble.score(items)
    assert {h: s.tobytes() for h, s in loaded.score(items).items()} == {
        h: s.tobytes() for h, s in expected.items()
    }
    assert loaded.spec.recipe == ensemble.spec.recipe


def test_an_ensemble_with_given_embeddings_is_loaded_without_them(tmp_path):
    given = np.random.default_rng(0).normal(size=(40, 7)).astype(np.float32)
    ensemble = fitted(dataclasses.replace(spec("bow", epochs=1), embeddings=given), noise(10))
    ensemble.save(tmp_path, "m")
    items = noise(5, seed=4)
    loaded = Ensemble.load(tmp_path, "m", "cpu")
    assert np.array_equal(loaded.score(items)["bow"], ensemble.score(items)["bow"])


@pytest.mark.parametrize("name", ["m.json", "m.safetensors"])
@pytest.mark.parametrize("damage", [None, 0, 60])
def test_a_damaged_file_is_refused(tmp_path, name, damage):
    fitted(spec("bow", epochs=1), noise(10)).save(tmp_path, "m")
    file = tmp_path / name
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:damage])
    with pytest.raises(ProjectError, match="damaged"):
        Ensemble.load(tmp_path, "m", "cpu")
