"""The remap step of one AF iteration: the lazy scan against the full scan, same model, same tags.

Trains all members once on a synthetic pool whose found endings are told from distractors about as
well as real ones at the start of AF, then remaps the tested contexts both ways in turn. Every tag
is in the cache for both. The whole iteration's time (training, test and lazy remap) stands beside.

    python benchmarks/remap.py [--contexts 300] [--rows 1024] [--preset small] [--rounds 3]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from synthetic_pool import make_corpus, make_pool

from swag_studio import recipe as recipes
from swag_studio.engine.assignment import draw_initial
from swag_studio.engine.ensemble import EnsembleSpec
from swag_studio.engine.features import FEATURE_NAMES
from swag_studio.engine.filter_items import Assigned, Source
from swag_studio.engine.filter_iteration import remap_tested, rule_for, train_and_test
from swag_studio.engine.tagging import TagCache
from swag_studio.engine.usable import Usable

N_TAGS = 50
T = TypeVar("T")


class CachedTags:
    """Stands where the tagger is: tags noun phrases at random, and has no ending to tag."""

    def phrases(self, n: Any, n_lengths: Any) -> Any:
        tags = np.random.default_rng(0).integers(1, N_TAGS + 1, n.shape, dtype=np.uint8)
        tags[np.arange(n.shape[1]) >= n_lengths[:, None]] = 0
        return tags

    def endings(self, *_: Any) -> Any:
        raise RuntimeError("an ending was not in the cache")


def ended(work: Generator[Any, None, T]) -> tuple[T, float]:
    """What the work returned, and its seconds."""
    started = time.perf_counter()
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--contexts", type=int, default=300)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--preset", default="small", choices=recipes.PRESETS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options)


def measure(folder: Path, options: argparse.Namespace) -> None:
    pool = make_pool(folder / "pool", options.contexts, options.rows)
    corpus = make_corpus(options.contexts)
    recipe = recipes.preset(options.preset).filter
    assignment, _ = ended(draw_initial(pool, corpus.context_ids, recipe.distractors, Usable(1), 1))
    source = Source(corpus, pool, assignment.contexts)
    cache = TagCache(folder / "tags", pool)
    rng = np.random.default_rng(1)
    for context in range(options.contexts):
        rows = pool.context(context)
        tags = rng.integers(1, N_TAGS + 1, rows.tokens.shape, dtype=np.uint8)
        tags[rows.tokens == 0] = 0
        cache.write(context, tags)
    source.tag_with(CachedTags(), cache)  # type: ignore[arg-type]
    assigned, _ = ended(Assigned.gather(source, assignment))
    spec = EnsembleSpec(
        members=recipe.members,
        recipe=recipe,
        vocabulary=len(corpus.vocabulary),
        n_tags=N_TAGS,
        pos_words=np.arange(4, 104, dtype=np.uint16),
        feature_count=len(FEATURE_NAMES),
    )
    tested, trained = ended(train_and_test(spec, assigned, torch.device("cpu"), 1))
    rule = rule_for(recipe, tested)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    scanned = {}
    for round_ in range(options.rounds):
        for lazy in (True, False):
            work = remap_tested(rule, tested, assigned, assignment, round_, lazy=lazy)
            (swaps, _), took = ended(work)
            seconds[lazy].append(took)
            scanned[lazy] = swaps.scanned / len(tested.test)
            share = swaps.exhausted / max(1, swaps.with_easy)
    lazy, full = (statistics.median(seconds[key]) for key in (True, False))
    print(
        f"{options.preset}: {len(tested.test)} contexts x {options.rows - 1} candidates, "
        f"4-way accuracy {tested.measures[tested.head]['accuracy_4way']:.3f}, "
        f"{share:.3f} exhausted"
    )
    print(f"full scan   {full:8.2f} s   {scanned[False]:7.1f} scored per context")
    print(f"lazy scan   {lazy:8.2f} s   {scanned[True]:7.1f} scored per context")
    print(f"            {full / lazy:8.1f} times faster")
    print(f"training and test {trained:.2f} s; the whole iteration {trained + lazy:.2f} s")


if __name__ == "__main__":
    main()
