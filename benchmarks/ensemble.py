"""Fitting and asking the ensemble at the sizes of the presets, beside the fp32 GEMM peak.

    python benchmarks/ensemble.py                   demo and small, MLP alone and all members
    python benchmarks/ensemble.py --each            every member alone, too

A fit is one AF iteration's: 80% of the contexts, all epochs (no early stop, so the most that it can
take). On a busy machine compare the last column: the time as a multiple of what the peak's GEMM,
sampled in turn with it, needs for 100 GFLOP.
"""

from __future__ import annotations

import argparse
import dataclasses
import time

import numpy as np
import torch
from gemm import Peak

from swag_studio import recipe as recipes
from swag_studio.engine.ensemble import Ensemble, EnsembleSpec, dev_contexts
from swag_studio.engine.items import Items

SIZE = 10  # endings per context
TAGS, FEATURES, WIDTH_N, WIDTH = 50, 8, 8, 25


def synthetic(contexts: int, vocabulary: int, rng: np.random.Generator) -> Items:
    """Words by Zipf's law; ending lengths with the mean of SWAG's (about 11)."""
    rows = contexts * SIZE
    share = 1 / np.arange(1, vocabulary - 3)
    n_lengths = np.repeat(rng.integers(1, 6, contexts), SIZE)
    v_lengths = np.clip(rng.gamma(5, 2.2, rows).round(), 3, WIDTH).astype(int)
    n, v = (
        rng.choice(np.arange(4, vocabulary), (rows, w), p=share / share.sum())
        for w in (WIDTH_N, WIDTH)
    )
    n[np.arange(WIDTH_N) >= n_lengths[:, None]] = 0
    v[np.arange(WIDTH) >= v_lengths[:, None]] = 0
    tags_n, tags_v = (np.where(ids > 0, 1 + ids % TAGS, 0).astype(np.uint8) for ids in (n, v))
    features = rng.normal(size=(rows, FEATURES)).astype(np.float32)
    lengths = (a.astype(np.uint8) for a in (n_lengths, v_lengths))
    return Items(n.astype(np.uint16), v.astype(np.uint16), *lengths, features, tags_n, tags_v)


def measure(name: str, members: tuple[str, ...], vocabulary: int) -> None:
    """One fit and one scoring, with a line of figures."""
    recipe = recipes.preset(name)
    contexts = recipe.prepare.max_contexts
    filters = dataclasses.replace(recipe.filter, patience=recipe.filter.epochs)
    rng = np.random.default_rng(0)
    items = synthetic(round(contexts * filters.train_share), vocabulary, rng)
    words = np.arange(4, 4 + filters.pos_words, dtype=np.uint16)
    spec = EnsembleSpec(members, filters, vocabulary, TAGS, words, FEATURES)
    ensemble = Ensemble(spec, 1, "cpu")
    dev = dev_contexts(len(items) // SIZE, filters.dev_share, rng)
    peak, fitting, batches = Peak(), 0.0, 0
    start = time.perf_counter()
    for step in ensemble.fit(items, SIZE, dev):
        fitting, batches = fitting + time.perf_counter() - start, step.done
        peak.sample(1)
        start = time.perf_counter()
    fitting += time.perf_counter() - start
    start = time.perf_counter()
    ensemble.score(items)
    scoring = time.perf_counter() - start
    print(
        f"{name:6} {'+'.join(members):16} fit {fitting:6.2f} s  {batches:4} batches "
        f"{fitting / batches * 1e3:6.1f} ms each  {len(items) / scoring / 1e3:6.1f} k endings/s "
        f"scored  peak {peak.flops / 1e9:5.1f} GFLOP/s  fit = {fitting * peak.flops / 1e11:6.2f} x"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=3000)
    parser.add_argument("--presets", nargs="+", default=["demo", "small"])
    parser.add_argument("--each", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    every = recipes.FilterRecipe().members
    for name in ["demo", *arguments.presets]:  # the first warms up
        for members in [("mlp",), every, *((m,) for m in every[1:] if arguments.each)]:
            measure(name, members, arguments.vocabulary)


if __name__ == "__main__":
    main()
