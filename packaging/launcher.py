"""What the bundle's program runs: `python -m swag_studio`, or a worker process where one is."""

from __future__ import annotations

import multiprocessing
import sys

from swag_studio.__main__ import main

if __name__ == "__main__":
    multiprocessing.freeze_support()  # else a worker process would open a window
    sys.exit(main())
