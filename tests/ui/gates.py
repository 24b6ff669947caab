"""Gates: what is read waits until a test lets it through, so that two answers meet as it says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from swag_studio.ui.background import Background

PATIENCE = 60  # seconds


class Gate:
    """Wraps work: its first call has begun, and goes on when the gate is opened."""

    def __init__(self, *, after: bool = False) -> None:
        self._after = after  # whether the work is done before it waits
        self.begun, self._open = threading.Event(), threading.Event()

    def before(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """`work`, behind the gate."""

        def waits(*arguments: Any, **named: Any) -> Any:
            done = work(*arguments, **named) if self._after else None
            self.begun.set()
            assert self._open.wait(PATIENCE)
            return done if self._after else work(*arguments, **named)

        return waits

    def reached(self) -> None:
        """Waits until something is behind the gate."""
        assert self.begun.wait(PATIENCE)

    def open(self) -> None:
        """Lets through what waits and what comes."""
        self._open.set()


@contextmanager
def held(reader: Background) -> Iterator[None]:
    """Within it nothing is read: what is asked for waits, in its order."""
    gate = Gate()
    reader.ask("gate", gate.before(lambda: None), lambda _: None)
    gate.reached()
    try:
        yield
    finally:
        gate.open()
