"""An answer that was acknowledged is kept: killed right after, and beside a busy engine.

The short forms run with all tests; `make soak` kills fifty times and submits 10,000 answers.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import submitting

from swag_studio.judging import Annotator, Judgement, Task, task_id
from swag_studio.store import Store

ANN = Annotator("a1", "Ann")


def make(path: Path, tasks: int) -> Path:
    """A database in which Ann has this much open."""
    store = Store(path)
    store.migrate()
    store.put_annotator(ANN)
    endings = tuple(f"e{n}" for n in range(6))
    made = [Task(task_id(f"c{n}", 0, endings), f"c{n}", 1, 0, endings) for n in range(tasks)]
    store.put_tasks(made)
    store.allocate((task.id, ANN.id) for task in made)
    store.close()
    return path


def killed_after(path: Path, answers: int) -> list[str]:
    """The ids that were acknowledged until a process was killed right after its nth answer."""
    process = subprocess.Popen(
        [sys.executable, submitting.__file__, str(path), ANN.id],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = [process.stdout.readline().strip() for _ in range(answers)]
    process.kill()
    rest, _ = process.communicate(timeout=600)  # what it said before the kill reached it
    whole = rest[: rest.rfind("\n") + 1]
    return told + whole.split()


def kill_often(path: Path, kills: int, rng: random.Random) -> None:
    acknowledged: set[str] = set()
    for _ in range(kills):
        told = killed_after(path, rng.randrange(1, 4))
        assert "" not in told, "there was nothing left to answer"
        acknowledged.update(told)
        store = Store(path)
        kept = list(store.judgements(all_revisions=True))
        states = [state for _, _, _, state in store.allocations(ANN.id)]
        assert acknowledged <= {judgement.id for judgement in kept}
        assert states.count("done") == len(kept)  # closed in the same write
        assert store.problems() == []
        store.close()


def submit_beside_the_engine(path: Path, count: int) -> None:
    store, stop, told, slices = Store(path), threading.Event(), list[str](), list[int]()
    wrote = threading.Event()
    engine = threading.Thread(
        target=lambda: slices.append(submitting.write_as_engine(store, stop, wrote))
    )
    engine.start()

    def tell(kept: Judgement) -> None:
        told.append(kept.id)
        if len(told) % 50 == 0:  # no person submits without a pause
            wrote.clear()
            assert wrote.wait(600), "the engine did not get to write"

    try:
        submitting.submit_all(store, ANN.id, tell)
    finally:
        stop.set()
        engine.join()
        kept = [judgement.id for judgement in store.judgements(all_revisions=True)]
        store.close()
    assert len(told) == count and sorted(kept) == sorted(told)
    assert slices[0] >= count // 50


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_five_kills_right_after_submit(tmp_path: Path) -> None:
    kill_often(make(tmp_path / "project.db", 5000), 5, random.Random(3))


def test_500_submits_beside_the_engine(tmp_path: Path) -> None:
    submit_beside_the_engine(make(tmp_path / "project.db", 500), 500)


@pytest.mark.soak
@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_fifty_kills_right_after_submit(tmp_path: Path) -> None:
    seed = int(os.environ.get("SWAG_STUDIO_SOAK_SEED", "1"))
    kill_often(make(tmp_path / "project.db", 100_000), 50, random.Random(seed))


@pytest.mark.soak
def test_10000_submits_beside_the_engine(tmp_path: Path) -> None:
    submit_beside_the_engine(make(tmp_path / "project.db", 10_000), 10_000)
