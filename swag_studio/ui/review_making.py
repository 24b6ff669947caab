"""Has the table of a filter version made, once, a little at a time in the reading thread.

Between two pulls other pages are read for. It knows neither the table nor who shows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from swag_studio.ui.background import Background

PULL = 0.2  # seconds of building the table between two looks at what else is to be read


class Making:
    """At most one version is made at a time; to ask for it again changes nothing.

    A second making would take away the rows that the first one wrote and that are shown.
    """

    def __init__(self, reader: Background) -> None:
        self._reader = reader
        self._at: tuple[int, Iterator[int]] | None = None

    def begin(
        self,
        version: int,
        make: Callable[[], Iterator[int]],
        made: Callable[[int, int | None], bool],
        failed: Callable[[int, str], None],
    ) -> bool:
        """Begins, unless this version is being made already; whether it began.

        After each pull `made` gets the version and the contexts by now, None at the end, and
        answers whether the version is still wanted. One that is not is left, and made from its
        beginning when it is asked for again.
        """
        if self._at is not None and self._at[0] == version:
            return False
        building = make()
        at = self._at = (version, building)

        def pull() -> int | None:
            until = time.monotonic() + PULL
            for done in building:
                if time.monotonic() > until:
                    return done
            return None

        def pulled(done: int | None) -> None:
            if self._at is not at:
                return  # another one is made now
            if done is None:
                self._at = None
            if not made(version, done):
                self._at = None
            elif done is not None:
                go_on()

        def stopped(text: str) -> None:
            if self._at is at:
                self._at = None
                failed(version, text)

        def go_on() -> None:
            self._reader.ask("review.build", pull, pulled, stopped)

        go_on()
        return True
