"""The classifier of gibberish: what it learns, how it is judged, and when it is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from made_items import FEATURES, VOCABULARY, noise, spec

from swag_studio.engine.gibberish import KEPT, Gibberish, Labelled, Report, judged, learn, too_few
from swag_studio.engine.members import gibberish as members
from swag_studio.engine.members.batches import Data
from swag_studio.engine.members.network import Network
from swag_studio.engine.registry import MEMBERS
from swag_studio.errors import StageError

BAD = 7  # a word that marks gibberish


def labelled(n: int = 200, telling: bool = True) -> Labelled:
    rng = np.random.default_rng(5)
    tokens = rng.integers(8, VOCABULARY, (n, 6)).astype(np.uint16)
    tokens[:, 4:] *= rng.random((n, 1)) < 0.5
    bad = rng.random(n) < 0.4
    if telling:
        tokens[bad, 0] = BAD
    numbers = rng.normal(size=(n, 3)).astype(np.float32)
    numbers[:, 1] += 2.0 * bad * telling
    numbers[:, 2] = 4.0  # constant
    return Labelled(tokens, numbers, bad, np.arange(n) // 2)


def learned(labels: Labelled) -> Gibberish:
    work = learn(labels, VOCABULARY, seed=1)
    while True:
        try:
            assert "gibberish" in next(work)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


def test_it_learns_what_tells(tmp_path: Path) -> None:
    labels = labelled()
    model = learned(labels)
    assert model.report.area > 0.95 and model.report.accuracy > 0.9
    assert np.argmax(model.words) == BAD and model.features[1] > 0 and model.features[2] == 0
    assert model.words[0] == 0
    model.save(tmp_path / "model.json")
    again = Gibberish.load(tmp_path / "model.json")
    logits = model.logits(labels.tokens, labels.features)
    assert np.array_equal(again.logits(labels.tokens, labels.features), logits)
    assert again.report == model.report
    assert (model.barred(labels.tokens, labels.features) == (logits > again.report.threshold)).all()


def test_labels_that_say_nothing_are_refused() -> None:
    with pytest.raises(StageError, match="no better than chance"):
        learned(labelled(telling=False))


def test_labels_of_one_video_are_refused() -> None:
    labels = labelled()
    groups = np.where(labels.gibberish, 0, labels.groups + 1)
    with pytest.raises(StageError, match="few videos"):
        learned(dataclasses.replace(labels, groups=groups))


@pytest.mark.parametrize(("counts", "possible"), [((50, 50), True), ((49, 900), False)])
def test_so_many_labels_are_needed(counts: tuple[int, int], possible: bool) -> None:
    assert (too_few(*counts) == "") is possible


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30).filter(
        lambda rows: len({bad for _, bad in rows}) == 2
    )
)
def test_the_report_against_counting_pairs(rows: list[tuple[int, bool]]) -> None:
    scores = np.array([s for s, _ in rows], float)
    bad = np.array([b for _, b in rows])
    report = judged(scores, bad)
    pairs = [(s, t) for s, b in rows if b for t, c in rows if not c]
    area = sum(1.0 if s > t else 0.5 if s == t else 0.0 for s, t in pairs) / len(pairs)
    assert report.area == pytest.approx(area)
    right = [np.mean([s > 0 for s, b in rows if b]), np.mean([s <= 0 for s, b in rows if not b])]
    assert report.accuracy == pytest.approx(np.mean(right))
    passed = [s <= report.threshold for s, b in rows if not b]
    assert np.mean(passed) >= KEPT
    assert report.threshold in [s for s, b in rows if not b]


def test_the_member_says_what_the_classifier_says() -> None:
    rng = np.random.default_rng(3)
    report = Report(50, 50, 0.8, 0.7, 1.0, 0.5)
    words = rng.normal(size=VOCABULARY)
    words[0] = 0
    model = Gibberish(words, rng.normal(size=FEATURES), 0.25, report)
    shape = dataclasses.replace(spec("gibberish"), gibberish=model)
    items = noise(6)
    batch = Data(items, False, True, torch.device("cpu")).batch(np.arange(len(items)))
    inside = np.arange(items.v.shape[1]) < items.v_lengths[:, None]
    logits = model.logits(np.where(inside, items.v, 0).astype(np.uint16), items.features)
    expected = torch.from_numpy(np.tanh(logits / 2)).float()
    member = members.Gibberish(shape)
    assert torch.allclose(member(batch)[:, 0], expected, atol=1e-5)
    network = Network(shape, MEMBERS)  # standardises what other members read
    network.standardise(items.features)
    head = network.heads["gibberish"]
    told = network.logits_of("gibberish", batch)
    assert torch.allclose(told, head(expected[:, None])[:, 0], atol=1e-5)
    assert not list(member.parameters())
