"""A process that submits answers and says of each that it is kept; to be killed at any moment.

    python submitting.py PROJECT.DB ANNOTATOR

Beside them it writes as the engine does. It prints the id of a judgement once `submit` returned.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

from swag_studio.events import Metric
from swag_studio.judging import Judgement, Label, Task
from swag_studio.records import Ending, content_id
from swag_studio.store import Store

LABELS: tuple[Label, ...] = ("likely", *["unlikely"] * 5)


def answer(task: Task, annotator: str) -> Judgement:
    return Judgement(task.id, annotator, LABELS, 0, 1, seconds=1.0)


def submit_all(store: Store, annotator: str, told: Callable[[Judgement], object]) -> None:
    """Answers all that is open to an annotator, from first to last."""
    while task := store.next_task(annotator):
        told(store.submit(answer(task, annotator)))


def write_as_engine(
    store: Store, stop: threading.Event, wrote: threading.Event | None = None
) -> int:
    """Slices of endings and metrics until it is told to stop; returns how many slices.

    `wrote` is set after each.
    """
    step = 0
    while not stop.is_set():
        ids = (content_id("ending", "engine", str(step), str(n)) for n in range(2000))
        store.put_endings(Ending(i, "c0", "nobody's.", "generated", -1) for i in ids)
        store.put_metrics(1, [Metric("filter", "accuracy_4way", step, 0.5)])
        step += 1
        if wrote is not None:
            wrote.set()
    return step


def main(path: str, annotator: str) -> None:
    store = Store(Path(path))
    threading.Thread(target=write_as_engine, args=(store, threading.Event()), daemon=True).start()
    submit_all(store, annotator, lambda kept: print(kept.id, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
