"""A step of many contexts that was killed: it says how far it came, and is undone whole."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import stepping
from stepping import MOST, SLICE, VERSION

from swag_studio.curating import Change, Curator
from swag_studio.records import Context, Ending, ending_id
from swag_studio.reviewing import ReviewFilter
from swag_studio.store import Store

CONTEXTS = 1000

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")


def make(path: Path) -> Store:
    store = Store(path)
    store.migrate()
    rows = [
        Context(f"c{i:04d}", f"g{i}", f"v{i}", "s", "d", i, "One.", "She", "ends.", 0, "train")
        for i in range(CONTEXTS)
    ]
    store.add_contexts(1, rows)
    for slot, text in enumerate(("ends.", "begins.", "stops.")):
        endings = [Ending(ending_id(c.id, text), c.id, text, "generated", slot) for c in rows]
        store.put_endings(endings)
        store.put_assignments(VERSION, [(e.context_id, slot, e.id, slot, 0.5) for e in endings])
    list(store.build_review(VERSION, 1, {}))
    return store


def kill(path: Path, what: str, slices: int) -> None:
    """Kills the work on a step once it has told of so many slices."""
    process = subprocess.Popen(
        [sys.executable, stepping.__file__, str(path), what], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(slices):
        process.stdout.readline()
    process.kill()
    process.communicate()


def test_a_killed_step_is_undone_whole_and_a_killed_undo_goes_on(tmp_path: Path) -> None:
    store, rng = make(tmp_path / "project.db"), random.Random(3)
    everything = ReviewFilter(excluded=True)
    told = rng.randrange(1, 20)
    kill(store.path, "change", told)
    (step,) = store.batches()
    done = len(store.review_ids(VERSION, everything))
    assert told * SLICE <= done <= MOST * SLICE < CONTEXTS
    assert step.name == f"Exclude {done} contexts" and step.remaining == CONTEXTS - done
    assert sum(s.excluded for s in store.all_curated(VERSION).values()) == done
    store.undo("Ann")
    assert len(store.review_ids(VERSION, everything)) == 0 == len(store.human_work())

    whole = Curator(store, VERSION, "Ann").bulk(
        store.review_context_ids(store.review_ids(VERSION)), Change("exclude")
    )
    kill(store.path, "undo", told)
    left = len(store.review_ids(VERSION, everything))
    assert CONTEXTS - MOST * SLICE <= left <= CONTEXTS - told * SLICE
    assert store.undo_stacks() == ([whole], [whole])
    store.undo("Ann")
    assert len(store.review_ids(VERSION, everything)) == 0
    assert store.undo_stacks()[1] == [whole]
    store.redo("Ann")
    assert len(store.review_ids(VERSION, everything)) == CONTEXTS
    assert store.problems() == []
    store.close()
