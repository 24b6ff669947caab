"""A process that changes all contexts of a project, or takes that back; to be killed at any moment.

    python stepping.py PROJECT.DB change|undo

It prints a line after each slice, and goes no further than `MOST` of them, so that whoever kills it
may take their time.
"""

from __future__ import annotations

import sys
import time
from itertools import islice
from pathlib import Path

from swag_studio import store_steps
from swag_studio.curating import Change, Curator, undoing
from swag_studio.store import Store

VERSION, SLICE, MOST = 1, 20, 40


def main(path: str, what: str) -> None:
    store_steps.SLICE_OF_STEP = SLICE
    store = Store(Path(path))
    ids = store.review_context_ids(store.review_ids(VERSION))
    ann = Curator(store, VERSION, "Ann")
    making = ann.changing(ids, Change("exclude")) if what == "change" else undoing(store, "Ann")
    for made in islice(making, MOST):
        print(made.done, flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main(*sys.argv[1:])
