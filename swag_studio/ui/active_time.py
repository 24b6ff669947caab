"""How long someone was at work on an item: the time between signs of life, without the breaks.

Pure arithmetic on monotonic seconds that are handed in; no clock and no widget.
"""

from __future__ import annotations

IDLE = 60.0  # seconds without a sign of life after which nobody is taken to be at work


class ActiveTime:
    """Adds up the time from each sign of life (a key, the mouse) to the next, at most `IDLE`.

    It stands still until the first sign after a `start` or a `stop`.
    """

    def __init__(self) -> None:
        self._sum = 0.0
        self._last: float | None = None

    def start(self, now: float, seconds: float = 0.0) -> None:
        """Begins an item on which `seconds` were spent before; its showing is a sign of life."""
        self._sum, self._last = max(0.0, seconds), now

    def sign(self, now: float) -> None:
        """Someone is there."""
        self._sum, self._last = self.seconds(now), now

    def stop(self, now: float) -> None:
        """The item is out of sight: nothing counts before the next sign."""
        self._sum, self._last = self.seconds(now), None

    def seconds(self, now: float) -> float:
        """Active seconds until `now`. Asking changes nothing."""
        if self._last is None:
            return self._sum
        return self._sum + min(max(0.0, now - self._last), IDLE)
