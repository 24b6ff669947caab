"""How long a chart of 100,000 points takes to show new values, painting and all.

    python benchmarks/charts.py [FRAMES]

Five series of 20,000 values, raw and smoothed, in a window of 1,280 x 720 pixels. Each frame adds
a value to every series and is timed from the first `put` to the end of the painting; the target is
50 ms. The CPU's time beside it is what a busy machine cannot blur.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtWidgets import QApplication

from swag_studio.ui.charts import Chart
from swag_studio.ui.theme import LIGHT

SERIES, POINTS = 5, 20_000
TARGET = 50.0  # ms


def main() -> None:
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    app = QApplication(sys.argv[:1])
    chart = Chart("Accuracy", LIGHT, percent=True)
    chart.resize(1280, 720)
    chart.show()
    values = np.random.default_rng(1).normal(0.5, 0.1, (SERIES, POINTS + 2 * frames))
    steps = np.arange(POINTS + 2 * frames, dtype=float)
    for i in range(SERIES):
        chart.add_series(str(i), f"member {i}")

    def load() -> None:
        for i in range(SERIES):
            chart.put_many(str(i), steps[:POINTS], values[i, :POINTS])
        show()

    def put(at: int) -> None:
        for i in range(SERIES):
            chart.put(str(i), steps[at], values[i, at])

    def show() -> None:
        chart.refresh()
        app.processEvents()  # paints

    def frame(at: int) -> None:
        put(at)
        show()

    print(f"{SERIES * POINTS:,} points, raw and smoothed; load average {os.getloadavg()[0]:.1f}")
    report("loaded at once and shown", [timed(load)], None)
    report("appended and shown", [timed(frame, POINTS + i) for i in range(frames)], TARGET)
    report("  painting alone", [timed(chart.plot.viewport().repaint) for _ in range(frames)], None)
    chart.plot.zoom(0.1)
    chart.plot.box.translateBy(x=-5000)
    app.processEvents()
    at = POINTS + frames
    report("appended while zoomed in", [timed(frame, at + i) for i in range(frames)], TARGET)

    def pan() -> None:
        chart.plot.box.translateBy(x=-10)
        app.processEvents()

    report("moved while zoomed in", [timed(pan) for _ in range(frames)], TARGET)
    chart.close()


def timed(work: Callable[..., object], *arguments: object) -> tuple[float, float]:
    """Milliseconds that a call takes: by the clock, and of the CPU."""
    began, cpu = time.perf_counter(), time.process_time()
    work(*arguments)
    return (time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000


def report(what: str, times: list[tuple[float, float]], target: float | None) -> None:
    walls, cpus = zip(*times, strict=True)
    print(
        f"{what:<26} median {statistics.median(walls):6.1f}  worst {max(walls):6.1f}"
        f"  best {min(walls):6.1f}  CPU {statistics.median(cpus):6.1f} ms"
        + ("" if target is None else f"  target {target:.0f} ms")
    )


if __name__ == "__main__":
    main()
