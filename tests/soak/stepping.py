"""A process that changes all contexts of a project, or takes that back; to be killed at any moment.

    python stepping.py PROJECT.DB change|undo

It prints a line after each slice.
"""

from __future__ import annotations

import sys
from pathlib import Path

from swag_studio import store_steps
from swag_studio.curating import Change, Curator, undoing
from swag_studio.store import Store

VERSION, SLICE = 1, 20


def main(path: str, what: str) -> None:
    store_steps.SLICE_OF_STEP = SLICE
    store = Store(Path(path))
    ids = store.review_context_ids(store.review_ids(VERSION))
    ann = Curator(store, VERSION, "Ann")
    for made in ann.changing(ids, Change("exclude")) if what == "change" else undoing(store, "Ann"):
        print(made.done, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
