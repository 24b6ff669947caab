from __future__ import annotations

import math

import numpy as np
import pytest
from engine.made_items import SIZE, noise, planted, spec
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.crossfit import CrossFit
from swag_studio.engine.ensemble import JOINT, Ensemble
from swag_studio.errors import ProjectError, StageError

SPEC = spec("mlp", "bow", epochs=3)


def run(fits: CrossFit, items) -> CrossFit:
    for _ in fits.fit(items, SIZE):
        pass
    return fits


@settings(deadline=None)
@given(st.integers(2, 10), st.integers(20, 60), st.integers(0, 9))
def test_each_context_is_held_out_once_and_folds_are_even(folds, contexts, seed):
    sizes = np.bincount(CrossFit(SPEC, folds, seed, "cpu").fold_of(contexts), minlength=folds)
    assert sizes.sum() == contexts and len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1


def test_every_ending_is_scored_by_a_model_that_never_saw_its_context(monkeypatch):
    items = noise(24)
    items.features[:, 0] = np.arange(len(items)) // SIZE  # the context's number
    seen, scored = {}, {}

    def fit(self, items, endings_per_context, dev_contexts):
        seen[id(self)] = set(items.features[:, 0])
        yield from ()

    def score(self, items):
        scored[id(self)] = (self, set(items.features[:, 0]))
        own = items.features[:, 0] * 10 + np.arange(len(items)) % SIZE
        return {JOINT: own.astype(np.float32)}

    monkeypatch.setattr(Ensemble, "fit", fit)
    monkeypatch.setattr(Ensemble, "score", score)
    fits = run(CrossFit(SPEC, 3, 1, "cpu"), items)
    assert len(scored) == 3
    for key, (_, contexts) in scored.items():
        assert not seen[key] & contexts
        assert seen[key] | contexts == set(range(24))
    places = np.arange(len(items))
    assert np.array_equal(fits.scores[JOINT], places // SIZE * 10 + places % SIZE)


def test_a_giveaway_makes_the_adversary_strong_and_noise_does_not():
    strong = run(CrossFit(SPEC, 2, 1, "cpu"), planted("feature", 80))
    weak = run(CrossFit(SPEC, 2, 1, "cpu"), noise(80))
    assert strong.strength().error_rate < 0.1
    assert strong.strength().log_loss < 0.5
    assert weak.strength().error_rate > 0.75 - 4 * math.sqrt(0.25 * 0.75 / 80)
    assert weak.strength().log_loss > 1.3  # log 4 = 1.386 for one who knows nothing
    assert strong.strength("bow").error_rate > 0.5
    assert strong.strength().folds == 2


def test_strength_of_a_worked_example():
    fits = CrossFit(SPEC, 2, 1, "cpu")
    fits._endings_per_context = 2
    fits.scores = {JOINT: np.array([1, 0, 0, 2], np.float32)}
    right, wrong = math.log(1 + math.exp(-1)), math.log(1 + math.exp(2))
    assert fits.strength().log_loss == pytest.approx((right + wrong) / 2)
    assert fits.strength().error_rate == 0.5


def test_steps_count_through_all_folds():
    steps = list(CrossFit(SPEC, 3, 1, "cpu").fit(noise(30), SIZE))
    assert [s.done for s in steps] == sorted(s.done for s in steps)
    # 20 contexts of 4, less 2 to stop early, in batches of 64: 2 an epoch, 3 epochs, 3 folds
    assert {s.total for s in steps} == {18}


def _bytes(folder) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_a_broken_run_goes_on_with_the_same_bytes(tmp_path, monkeypatch):
    items, whole, broken = noise(24), tmp_path / "whole", tmp_path / "broken"
    expected = run(CrossFit(SPEC, 3, 1, "cpu", whole), items)
    steps = CrossFit(SPEC, 3, 1, "cpu", broken).fit(items, SIZE)
    while not (broken / "fold-0.scores.safetensors").exists():
        next(steps)
    steps.close()
    assert not (broken / "fold-1.scores.safetensors").exists()
    (broken / "fold-1.safetensors").write_bytes(b"half a mod")  # as if killed before the scores
    fitted = []
    fit = Ensemble.fit
    monkeypatch.setattr(Ensemble, "fit", lambda self, *a: fitted.append(1) or fit(self, *a))
    resumed = run(CrossFit(SPEC, 3, 1, "cpu", broken), items)
    assert len(fitted) == 2
    assert _bytes(broken) == _bytes(whole)
    assert len(_bytes(whole)) == 9
    for head, scores in expected.scores.items():
        assert resumed.scores[head].tobytes() == scores.tobytes()


def test_the_kept_models_give_the_kept_scores(tmp_path):
    items = noise(24)
    fits = run(CrossFit(SPEC, 2, 1, "cpu", tmp_path), items)
    fold_of = np.repeat(fits.fold_of(24), SIZE)
    for fold in range(2):
        model = Ensemble.load(tmp_path, f"fold-{fold}", "cpu")
        held_out = np.flatnonzero(fold_of == fold)
        again = model.score(items.take(held_out))[JOINT]
        assert np.array_equal(again, fits.scores[JOINT][held_out])


@pytest.mark.parametrize("cut", [0, 5, -1])
def test_damaged_scores_are_refused(tmp_path, cut):
    items = noise(12)
    run(CrossFit(spec("bow", epochs=1), 2, 1, "cpu", tmp_path), items)
    file = tmp_path / "fold-1.scores.safetensors"
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(ProjectError, match="damaged"):
        run(CrossFit(spec("bow", epochs=1), 2, 1, "cpu", tmp_path), items)


def test_too_few_contexts_are_refused():
    with pytest.raises(StageError, match="9 contexts are too few for 5 folds"):
        run(CrossFit(SPEC, 5, 1, "cpu"), noise(9))
