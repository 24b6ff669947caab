"""`python -m swag_studio` and the command `swag-studio`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Runs the program and returns its exit code."""
    # torch's threads sleep while they wait, instead of spinning: beside other work (a window that
    # draws, a build) spinning took seven times the CPU seconds. Read when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from swag_studio import app

    return app.main()


if __name__ == "__main__":
    sys.exit(main())
