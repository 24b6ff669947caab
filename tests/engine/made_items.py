"""Items made for tests: endings that do not differ, and four ways to give the found one away."""

from __future__ import annotations

import dataclasses

import numpy as np

from swag_studio import recipe as recipes
from swag_studio.engine.ensemble import Ensemble, EnsembleSpec, dev_contexts
from swag_studio.engine.items import Items
from swag_studio.recipe import FilterRecipe

VOCABULARY, TAGS, FEATURES, SIZE = 40, 6, 3, 4  # SIZE: endings per context
A, B = 30, 31  # words that `noise` never draws
POS_WORDS = np.array([4, 5, 6], np.uint16)
ALL = ("mlp", "bow", "cnn", "pos")


def recipe(**values: object) -> FilterRecipe:
    """Small members, quickly trained."""
    small = {
        "mlp_width": 16,
        "ensemble_width": 16,
        "embedding_dim": 12,
        "cnn_filters": 6,
        "pos_hidden": 8,
        "epochs": 12,
        "patience": 3,
        "batch": 64,
        "mlp_batch": 64,
        "learning_rate": 1e-2,
    }
    return dataclasses.replace(recipes.preset("demo").filter, **(small | values))


def spec(*members: str, **values: object) -> EnsembleSpec:
    return EnsembleSpec(members or ALL, recipe(**values), VOCABULARY, TAGS, POS_WORDS, FEATURES)


def noise(contexts: int, seed: int = 0) -> Items:
    """Found and other endings drawn alike; the tags do not depend on the words."""
    rng = np.random.default_rng(seed)
    rows = contexts * SIZE
    n_lengths = np.repeat(rng.integers(0, 4, contexts), SIZE)
    v_lengths = rng.integers(3, 10, rows)
    n, tags_n = (np.repeat(rng.integers(*r, (contexts, 3)), SIZE, 0) for r in ((4, A), (3, 7)))
    v, tags_v = (rng.integers(*r, (rows, 9)) for r in ((4, A), (3, 7)))
    for array, lengths in (
        (n, n_lengths),
        (tags_n, n_lengths),
        (v, v_lengths),
        (tags_v, v_lengths),
    ):
        array[np.arange(array.shape[1]) >= lengths[:, None]] = 0
    return Items(
        n.astype(np.uint16),
        v.astype(np.uint16),
        n_lengths.astype(np.uint8),
        v_lengths.astype(np.uint8),
        rng.normal(5, 2, (rows, FEATURES)).astype(np.float32),
        tags_n.astype(np.uint8),
        tags_v.astype(np.uint8),
    )


def planted(giveaway: str, contexts: int, seed: int = 0) -> Items:
    """`noise` with one giveaway of the found endings.

    feature  its second feature is higher
    word     it holds A, the others hold B
    order    it holds A B, the others B A
    tags     two neighbours are tagged 1 2, in the others 2 1
    """
    items = noise(contexts, seed)
    rng = np.random.default_rng(seed + 1)
    rows = np.arange(len(items))
    found = rows % SIZE == 0
    at = rng.integers(0, items.v_lengths.astype(int) - 1)  # a place with a neighbour to its right
    if giveaway == "feature":
        items.features[found, 1] += 12
    elif giveaway == "word":
        items.v[rows, at] = np.where(found, A, B)
    else:
        array, (x, y) = (items.v, (A, B)) if giveaway == "order" else (items.tags_v, (1, 2))
        array[rows, at] = np.where(found, x, y)
        array[rows, at + 1] = np.where(found, y, x)
    return items


def fitted(shape: EnsembleSpec, items: Items, seed: int = 1) -> Ensemble:
    ensemble = Ensemble(shape, seed, "cpu")
    dev = dev_contexts(len(items) // SIZE, 0.1, np.random.default_rng(seed))
    for _ in ensemble.fit(items, SIZE, dev):
        pass
    return ensemble
