"""Peak anonymous memory of an AF iteration on a pool of the paper's size.

Makes a synthetic pool (113,000 contexts x 1,024 rows: about 10 GB of disk), runs one MLP-only
iteration on it, and deletes it, unless `--pool` names a folder to make or find it in and keep.

    python benchmarks/filter_memory.py [--contexts 113000] [--width 256] [--pool FOLDER]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import torch
from synthetic_pool import make_corpus, make_pool

from swag_studio import recipe as recipes
from swag_studio.engine.assignment import draw_initial
from swag_studio.engine.ensemble import EnsembleSpec
from swag_studio.engine.features import FEATURE_NAMES
from swag_studio.engine.filter_items import Assigned, Source
from swag_studio.engine.filter_iteration import remap_tested, rule_for, train_and_test
from swag_studio.engine.usable import Usable
from swag_studio.pool import Pool

BYTES_PER_ROW = 86


def anonymous() -> int:
    """Bytes of memory of this process that no file stands behind."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no Anonymous line in smaps_rollup")


class Peak(threading.Thread):
    """Watches `anonymous` until told to stop; the peak of each part of the work."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self._done = 0, threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.05):
            self.peak = max(self.peak, anonymous())

    def take(self) -> int:
        """The peak since the last call."""
        peak, self.peak = max(self.peak, anonymous()), 0
        return peak

    def stop(self) -> None:
        self._done.set()
        self.join()


def ended(work: Generator[Any, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--contexts", type=int, default=113_000)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--width", type=int, default=256, help="of the MLP; the paper's is 2048")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pool", type=Path)
    options = parser.parse_args()
    wanted = options.contexts * options.rows * BYTES_PER_ROW
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if options.pool:
        options.pool.mkdir(parents=True, exist_ok=True)
        measure(options.pool, options)
    elif free < wanted * 1.2:
        raise SystemExit(
            f"{wanted / 1e9:.1f} GB are needed for the pool; {free / 1e9:.1f} are free"
        )
    else:
        with tempfile.TemporaryDirectory(prefix="swag-studio-pool-") as folder:
            measure(Path(folder), options)


def measure(folder: Path, options: argparse.Namespace) -> None:
    torch.set_num_threads(options.threads)
    started = time.perf_counter()
    make_pool(folder, options.contexts, options.rows)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"pool: {size / 1e9:.1f} GB, made in {time.perf_counter() - started:.0f} s", flush=True)
    base, peak = anonymous(), Peak()
    print(f"before: {base / 1e6:.0f} MB", flush=True)
    peak.start()

    def part(name: str, work: Generator[Any, None, Any]) -> Any:
        began = time.perf_counter()
        result = ended(work)
        seconds = time.perf_counter() - began
        print(f"{name}: {seconds:.1f} s, peak {peak.take() / 1e6:.0f} MB anonymous", flush=True)
        return result

    pool, corpus = Pool.open(folder), make_corpus(options.contexts)
    recipe = recipes.preset("paper").with_values(
        {"filter.mlp_width": options.width, "filter.epochs": options.epochs}
    )
    k = recipe.filter.distractors
    assignment = part("initial draw", draw_initial(pool, corpus.context_ids, k, Usable(1), 1))
    source = Source(corpus, pool, assignment.contexts)
    assigned = part("gathering", Assigned.gather(source, assignment))
    words = torch.zeros(0).numpy().astype("uint16")
    spec = EnsembleSpec(
        ("mlp",), recipe.filter, len(corpus.vocabulary), 0, words, len(FEATURE_NAMES)
    )
    device = torch.device("cpu")
    tested = part("training and test", train_and_test(spec, assigned, device, 1))
    rule = rule_for(recipe.filter, tested)
    swaps, incoming = part("remap", remap_tested(rule, tested, assigned, assignment, 1))
    assignment.apply(swaps)
    assigned.put(swaps, incoming)
    peak.stop()
    print(
        f"4-way accuracy {tested.measures['mlp']['accuracy_4way']:.3f}, "
        f"{swaps.scanned / len(tested.test):.1f} scanned and "
        f"{len(swaps.place) / len(tested.test):.2f} replaced per context, "
        f"{swaps.exhausted / swaps.with_easy:.3f} exhausted"
    )


if __name__ == "__main__":
    main()
