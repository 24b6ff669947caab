"""The only place where the parts are put together: the command line now, the window beside it."""

from __future__ import annotations

from collections.abc import Sequence

from swag_studio import cli


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit code."""
    return cli.main(arguments)
