"""The curators' table at 100,000 contexts: open, sort by every column, filter and count, search.

    python benchmarks/review_table.py [--contexts 100000] [--judged 20000]

Prints milliseconds, each the median and the worst of 5, against the targets. Then, on a project of
20,000 judged contexts (synthetic_project.py), what a change of many contexts takes, and catching up
with what follows from it: of a quarter of them and of all, so that the CPU seconds should grow 4.0
times. Told beside them: the longest write, for which others wait, and the peak of resident memory.
Either part is left out at 0.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from swag_studio import connections
from swag_studio.curating import Change, Curator
from swag_studio.keeping import carry_over, keep_up
from swag_studio.lineage import Lineage
from swag_studio.project import Project
from swag_studio.recipe import preset
from swag_studio.records import Context, Ending, content_id, ending_id
from swag_studio.reviewing import SORTABLE, ReviewFilter
from swag_studio.rounds import HumanWork
from swag_studio.store import Store

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


def table(contexts: int) -> None:
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


# --- changes of many contexts --------------------------------------------------------------------

writes: list[tuple[float, float]] = []  # seconds and CPU seconds of each transaction


def watch_writes() -> None:
    """Has every write of the store counted."""
    real = connections.Connections.write

    @contextmanager
    def counted(self: Store) -> Iterator[object]:
        with real(self) as connection:
            began, cpu = time.perf_counter(), time.thread_time()
            yield connection
        writes.append((time.perf_counter() - began, time.thread_time() - cpu))

    connections.Connections.write = counted  # type: ignore[assignment,method-assign]


def changes(contexts: int) -> None:
    from release import Clock  # both take their sentences from here
    from synthetic_project import make_project

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "judged.swag"
        make_project(root, contexts)
        watch_writes()
        with Project.open(root) as project:
            store, lineage = project.store, Lineage.of(project)
            run, prepared = lineage["filter"].version, lineage["prepare"].version
            work = HumanWork(store, run, prepared, lineage.recipe.run.seed)
            work.keep(count_simulated=True)
            list(store.build_review(run, prepared, {}))
            keep_up(work)
            ann, ids = Curator(store, run, "Ann"), list(store.contexts_in_work(run))
            clock = Clock()

            def step(name: str, work: Callable[[], object]) -> None:
                clock.step("between")
                writes.clear()
                work()
                clock.step(name)
                t = clock.steps[name]
                wall, cpu = (1000 * max(seconds) for seconds in zip(*writes, strict=True))
                print(
                    f"{name:28} {t['seconds']:6.1f} s, CPU {t['cpu']:6.2f} s, longest of "
                    f"{len(writes):3} writes {wall:4.0f} ms, CPU {cpu:3.0f} ms, "
                    f"peak {t['peak'] / 1e6:.0f} MB"
                )

            for some in (ids[: contexts // 4], ids):
                step(f"exclude {len(some):,}", lambda s=some: ann.bulk(s, Change("exclude")))
                step(f"catch up with {len(some):,}", lambda: keep_up(work))
                step(f"undo {len(some):,}", lambda: store.undo("Ann"))
                step(f"catch up with undo of {len(some):,}", lambda: keep_up(work))
            ann.bulk(ids, Change("flag", "typo"))
            for part in connections.sliced(store.assigned(run), 500):
                store.put_assignments(
                    run + 1, [(c, j, e.id, e.row, score) for c, row in part for j, e, score in row]
                )
            step("list the next run", lambda: list(store.build_review(run + 1, prepared, {})))
            step("carry notes over", lambda: list(carry_over(store, run, run + 1)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--contexts", type=int, default=100_000)
    parser.add_argument("--judged", type=int, default=20_000)
    arguments = parser.parse_args()
    if arguments.contexts:
        table(arguments.contexts)
    if arguments.judged:
        changes(arguments.judged)


if __name__ == "__main__":
    main()
