"""The figures of a filter run: points of series, when a curve has stopped falling, the summary.

It knows numbers only: no models, no project.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from swag_studio.engine.remap import Rule, Swaps
from swag_studio.events import Metric

STAGE = "filter"
MAIN, CONTROL = "main", "control"

Point = Sequence[Any]
"""(name, value, tags) of a Metric, JSON-ready."""
Info = Mapping[str, Any]
"""What is kept of an iteration: "phase", "points", and the counts of its swaps."""


def metrics_of(points: Sequence[Point], step: int) -> Iterator[Metric]:
    """The points as metrics of this step."""
    for name, value, tags in points:
        yield Metric(STAGE, name, step, value, tags)


def member_points(measures: Mapping[str, Mapping[str, float]], arm: str) -> list[Point]:
    """The points of each head's measures."""
    return [
        (name, value, {"member": head, "arm": arm})
        for head, values in measures.items()
        for name, value in values.items()
    ]


def swap_points(rule: Rule, swaps: Swaps, contexts: int) -> list[Point]:
    """What a remap of so many contexts did. No exhausted share where nothing was looked for."""
    if not contexts:
        return []
    values = {
        "replaced_per_context": len(swaps.place) / contexts,
        "scanned_per_context": swaps.scanned / contexts,
    }
    if swaps.with_easy and rule.replace:
        values["exhausted_share"] = swaps.exhausted / swaps.with_easy
    return [(name, value, {"arm": MAIN}) for name, value in values.items()]


def curve(infos: Sequence[Info], name: str, head: str) -> list[float]:
    """The values that the iterations have of a head's series."""
    return [
        value
        for info in infos
        for n, value, tags in info["points"]
        if n == name and tags.get("member") == head
    ]


def converged(values: Sequence[float], window: int) -> bool:
    """Whether a curve has stopped falling: compares the halves of its last `window` values.

    True when the newer half's mean is not below the older's by more than the standard error of
    their difference.
    """
    half = window // 2
    if len(values) < 2 * half:
        return False
    older, newer = np.array(values[-2 * half : -half]), np.array(values[-half:])
    error = np.sqrt((older.var(ddof=1) + newer.var(ddof=1)) / half)
    return bool(older.mean() - newer.mean() <= error)


def phase_summary(infos: Sequence[Info], heads: Sequence[str]) -> dict[str, object]:
    """Per head the mean 4-way and (k+1)-way accuracy of the phase's first and last 5 iterations.

    Of a phase of fewer than 10, of its halves: the same iterations on both sides would always
    read as "nothing fell".
    """
    result: dict[str, object] = {}
    for head in heads:
        curves = {name: curve(infos, name, head) for name in ("accuracy_4way", "accuracy")}
        if any(curves.values()):
            result[head] = {
                name: {"first": _mean(values[:n]), "last": _mean(values[-n:])}
                for name, values in curves.items()
                if (n := min(5, max(1, len(values) // 2)))
            }
    return result


def measure_summary(measured: Mapping[str, Sequence[Point]]) -> dict[str, object]:
    """The values of what was measured beside the iterations: measure -> member -> name -> value."""
    result: dict[str, object] = {}
    for measure, points in measured.items():
        members: dict[str, dict[str, float]] = {}
        for name, value, tags in points:
            members.setdefault(tags["member"], {})[name] = round(value, 4)
        result[measure] = members
    return result


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4)
