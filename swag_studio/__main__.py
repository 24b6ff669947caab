"""`python -m swag_studio` and the command `swag-studio`."""

from __future__ import annotations

from swag_studio.cli import main

if __name__ == "__main__":
    main()
