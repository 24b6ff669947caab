"""The curators' table at 100,000 contexts: open, sort by every column, filter and count, search.

    python benchmarks/review_table.py [--contexts 100000]

Prints milliseconds, each the median and the worst of 5, against the targets.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from swag_studio.project import Project
from swag_studio.recipe import preset
from swag_studio.records import Context, Ending, content_id, ending_id
from swag_studio.reviewing import SORTABLE, ReviewFilter

WORDS = [f"{chr(97 + i % 26)}word{i}" for i in range(6000)]
ZIPF = list(itertools.accumulate(1 / (i + 3) for i in range(6000)))


def sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, cum_weights=ZIPF, k=words)) + "."


def fill(project: Project, contexts: int) -> None:
    rng, store = random.Random(1), project.store
    rows: list[Context] = []
    for i in range(contexts):
        video = f"v_{i // 5:06d}"
        rows.append(
            Context(
                id=content_id("context", str(i)),
                group=video,
                video_id=video,
                source_id="s1",
                document=video,
                position=i % 5,
                sent1=sentence(rng, 14),
                sent2="A man",
                found=sentence(rng, 10),
                fold=i % 5,
                split=("train", "val", "test")[i % 3],
            )
        )
    store.add_contexts(1, rows)
    for start in range(0, contexts, 500):
        endings: list[Ending] = []
        assigned: list[tuple[str, int, str, int, float]] = []
        for c in rows[start : start + 500]:
            texts = [c.found] + [sentence(rng, 10) for _ in range(9)]
            for slot, text in enumerate(texts):
                e = Ending(ending_id(c.id, text), c.id, text, "generated", slot)
                endings.append(e)
                assigned.append((c.id, slot, e.id, slot, rng.gauss(0, 1)))
        store.put_endings(endings)
        store.put_assignments(1, assigned)


def timed(name: str, target: float, work: Callable[[], object], repeats: int = 5) -> None:
    taken, cpu = [], []
    for _ in range(repeats):
        start, start_cpu = time.perf_counter(), time.process_time()
        work()
        taken.append(1000 * (time.perf_counter() - start))
        cpu.append(1000 * (time.process_time() - start_cpu))
    mark = "ok" if max(taken) <= target else "MISSED"
    print(
        f"{name:34} median {statistics.median(taken):7.1f} worst {max(taken):7.1f} ms, "
        f"CPU {statistics.median(cpu):6.1f} ms "
        f"(target {target:.0f}) {mark}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--contexts", type=int, default=100_000)
    contexts = parser.parse_args().contexts
    with tempfile.TemporaryDirectory() as folder:
        project = Project.create(Path(folder) / "big.swag", preset("small"))
        store = project.store
        fill(project, contexts)
        start = time.perf_counter()
        for _ in store.build_review(1, 1, {}):
            pass
        print(f"built once in {time.perf_counter() - start:.1f} s")

        def screen(narrow: ReviewFilter, column: str, descending: bool = False) -> int:
            ids = store.review_ids(1, narrow, column, descending)
            middle = len(ids) // 2
            store.review_rows(ids[middle : middle + 60])
            return len(ids)

        everything = ReviewFilter()
        timed("open", 500, lambda: screen(everything, "context_id"))
        for column in SORTABLE:
            timed(f"sort by {column}", 300, lambda c=column: screen(everything, c, True))
        for narrow in (
            ReviewFilter(split="val"),
            ReviewFilter(text="dword3"),
            ReviewFilter(text="aword0 bwor"),
            ReviewFilter(text="man", fold=2),
            ReviewFilter(flag="typo"),
            ReviewFilter(newest_from=5),
        ):
            timed(f"filter {narrow.to_dict()}", 300, lambda n=narrow: screen(n, "margin"))
        project.close()


if __name__ == "__main__":
    main()
