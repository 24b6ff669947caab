"""`python -m swag_studio` and the command `swag-studio`."""

from __future__ import annotations

import sys

from swag_studio.app import main

if __name__ == "__main__":
    sys.exit(main())
