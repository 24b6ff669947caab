"""Intervals of shares, exact and without scipy, whose import a window would wait for."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=4096)
def exact_interval(hits: int, n: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share, `hits` of `n`; (0, 1) for n = 0.

    By bisection on the binomial tail.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
    tail = (1 - confidence) / 2
    high = 1.0 if hits == n else _where_at_most(hits, n, tail)
    low = 0.0 if hits == 0 else 1 - _where_at_most(n - hits, n, tail)
    return low, high


def _where_at_most(hits: int, n: int, tail: float) -> float:
    """The share p at which P(X <= hits) = tail for X binomial (n, p); hits < n."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])  # log i!
    i = np.arange(hits + 1)
    choose = logs[n] - logs[i] - logs[n - i]
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        below = np.exp(choose + i * np.log(p) + (n - i) * np.log1p(-p)).sum()
        low, high = (p, high) if below > tail else (low, p)
    return (low + high) / 2
