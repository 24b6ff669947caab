"""How long a job will still take, as a range, from its own progress. Pure arithmetic."""

from __future__ import annotations

import itertools
import math
from collections import deque

WINDOW = 40


class Eta:
    """Estimates from the pace of the last `WINDOW` reports.

    The range is the mean pace of the pieces between reports with two standard errors; it widens
    when the pace varies and says nothing before there are three pieces.
    """

    def __init__(self) -> None:
        self._points: deque[tuple[float, float]] = deque(maxlen=WINDOW)

    def put(self, seconds: float, done: float) -> None:
        """`done` units at a monotonic time; going backwards (a new stage) starts over."""
        if self._points and done < self._points[-1][1]:
            self._points.clear()
        if not self._points or done > self._points[-1][1]:
            self._points.append((seconds, done))

    def paused(self) -> None:
        """Forgets the pace: time goes by without work."""
        self._points.clear()

    def remaining(self, total: float) -> tuple[float, float] | None:
        """(shortest, longest) seconds that remain, or None when it is too early to say."""
        if len(self._points) < 4 or total <= 0:
            return None
        points = list(self._points)
        paces = [(t1 - t0) / (d1 - d0) for (t0, d0), (t1, d1) in itertools.pairwise(points)]
        span = points[-1][1] - points[0][1]
        mean = (points[-1][0] - points[0][0]) / span
        spread = math.sqrt(sum((p - mean) ** 2 for p in paces) / (len(paces) - 1))
        error = 2 * spread / math.sqrt(len(paces))
        left = max(0.0, total - points[-1][1])
        return left * max(0.0, mean - error), left * (mean + error)


def in_words(seconds: float) -> str:
    """ "40 s", "3 min", "2 h 10 min"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def range_in_words(span: tuple[float, float] | None) -> str:
    """ "3 to 5 min left", or nothing."""
    if span is None:
        return ""
    low, high = in_words(span[0]), in_words(span[1])
    return f"{low} left" if low == high else f"{low} to {high} left"
