"""Pulls a generator of events to its end, or to the moment at which someone says stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import cast

from swag_studio.cli.reporting import Reporter
from swag_studio.events import Event, Finished


class Interrupted(Exception):
    """The person or the system asked to stop; what was committed stays."""


class _Wish:
    """Whether a signal has come in. It is looked at between two events, where all is whole."""

    stop = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.stop:  # the second time someone means now
            raise KeyboardInterrupt
        self.stop = True


def pull(events: Iterator[Event], reporter: Reporter) -> dict[str, dict[str, object]]:
    """Reports every event; returns stage -> summary of what finished.

    Raises Interrupted after SIGINT or SIGTERM, with the generator closed.
    """
    summaries: dict[str, dict[str, object]] = {}
    generator = cast(Generator[Event, None, None], events)
    with _signals(_Wish()) as wish, reporter.watching(), closing(generator):
        for event in generator:
            reporter.event(event)
            if isinstance(event, Finished):
                summaries[event.stage] = dict(event.summary)
            if wish.stop:
                raise Interrupted
    return summaries


@contextmanager
def _signals(wish: _Wish) -> Iterator[_Wish]:
    """SIGINT and SIGTERM go to `wish` for a while. Elsewhere than in the main thread: nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
