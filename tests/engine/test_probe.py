from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from engine.made_items import SIZE, noise, planted, spec

from swag_studio.engine.items import Items
from swag_studio.engine.probe import NAME, Probe
from swag_studio.engine.registry import MEMBERS

CONTEXTS = 150
CHANCE_BOUND = 0.25 + 4 * math.sqrt(0.25 * 0.75 / CONTEXTS)


def accuracies(items: Items, **values: object) -> dict[str, float]:
    probe = Probe(spec(**values), 2, 1, "cpu")
    steps = list(probe.fit(items, SIZE))
    assert steps
    return probe.accuracies


@pytest.mark.parametrize(("giveaway", "seen"), [("word", True), ("order", True), ("tags", False)])
def test_the_probe_learns_from_words_and_their_order(giveaway, seen):
    result = accuracies(planted(giveaway, CONTEXTS))["accuracy"]
    assert result > 0.8 if seen else result < CHANCE_BOUND


def test_the_probe_stays_at_chance_on_noise():
    result = accuracies(noise(CONTEXTS))
    assert result["accuracy"] < CHANCE_BOUND
    assert set(result) == {"accuracy", "accuracy_4way", "accuracy_2way", "loss"}
    assert result["accuracy_4way"] == result["accuracy"]  # SIZE is 4: the same question


def test_the_probe_reads_the_ending_alone():
    items = planted("word", 30)
    bare = dataclasses.replace(
        items,
        n=np.zeros_like(items.n),
        n_lengths=np.zeros_like(items.n_lengths),
        features=np.zeros((len(items), 0), np.float32),
        tags_n=None,
        tags_v=None,
    )
    assert accuracies(items, epochs=2) == accuracies(bare, epochs=2)


def test_no_recipe_can_filter_with_the_probe():
    assert NAME not in MEMBERS
