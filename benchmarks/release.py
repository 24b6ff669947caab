"""A verified release of a large project: seconds, memory and bytes of each step, beside the floor.

    python benchmarks/release.py [--contexts 5000]       (--contexts 113000 is the paper's size)

Makes two projects of made-up words (synthetic_project.py), one with a quarter of the contexts, and
writes a release of each in a process of its own. Told of each step: seconds, CPU seconds and
their growth from the small to the large project, contexts per second, and the peak of resident
memory, of it SQLite's caches, and of the rest the bytes that each context more takes. CPU that
grows by more than the contexts do (4.0 times) is worth a look, and so are more than some ten bytes
for each context. A step's peak holds what the steps before it left.

The floor is what the release's bytes take to be written, synced and hashed once, in the same run.
"""

from __future__ import annotations

import _sqlite3
import argparse
import cProfile
import ctypes
import hashlib
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swag_studio.engine import publish as publishing
from swag_studio.events import Message, Progress
from swag_studio.project import Project
from swag_studio.releases import FOLDER, ReleaseOptions

VERSION = "1.0.0"
REST = "manifest, card"
_CHUNK = 1 << 20


class Clock:
    """Seconds and peaks of memory of steps that follow each other, and of parts within them."""

    def __init__(self) -> None:
        self.steps: dict[str, dict[str, float]] = {}
        self.parts: dict[str, float] = {}
        self._began = time.perf_counter(), time.process_time()
        _forget_peak()

    def step(self, name: str) -> None:
        """All since the last step was `name`."""
        now, before = (time.perf_counter(), time.process_time()), self._began
        told = self.steps.setdefault(name, dict.fromkeys(("seconds", "cpu", "peak", "sqlite"), 0.0))
        told["seconds"] += now[0] - before[0]
        told["cpu"] += now[1] - before[1]
        told["peak"], told["sqlite"] = max(told["peak"], _resident()), _sqlite_peak()
        _forget_peak()
        self._began = now

    def watch(self, owner: Any, function: str, name: str) -> None:
        """Counts the seconds within a function of a module or class."""
        wrapped: Callable[..., Any] = getattr(owner, function)

        def timed(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return wrapped(*arguments)
            finally:
                self.parts[name] = self.parts.get(name, 0.0) + time.perf_counter() - began

        setattr(owner, function, timed)


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _resident() -> float:
    """Bytes: the peak of resident memory since it was forgotten."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def _sqlite_peak() -> float:
    """Bytes that SQLite ever had in memory; freed, they stay resident. 0 where it cannot tell."""
    try:
        ask = ctypes.CDLL(_sqlite3.__file__).sqlite3_memory_highwater
    except (AttributeError, OSError):
        return 0.0
    ask.restype = ctypes.c_int64
    return float(ask(0))


# --- one release -----------------------------------------------------------------------------


def measure(root: Path, profile: bool = False) -> dict[str, Any]:
    """Writes a release of the project and tells of it."""
    clock = Clock()
    clock.watch(publishing, "card", "card")
    clock.watch(publishing, "sync", "sync")
    clock.watch(publishing.Publication, "_described", "hashing")
    options = ReleaseOptions(VERSION, include_simulated=True, licence="none", cost_per_hour=0.0)
    profiler = cProfile.Profile()
    with Project.open(root) as project:
        clock.step("opening")
        if profile:
            profiler.enable()
        for event in publishing.publish(project, options):
            if isinstance(event, Progress):
                clock.step(event.note)
            elif isinstance(event, Message) and event.level == "warning":
                print(f"warning: {event.text}", file=sys.stderr)
        profiler.disable()
        clock.step(REST)
    for part in ("hashing", "sync", "card"):
        clock.steps[part] = {"seconds": clock.parts.get(part, 0.0)}
        clock.steps[REST]["seconds"] -= clock.parts.get(part, 0.0)
    if profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(45)
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(60)
    folder = root / FOLDER / VERSION
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {"steps": clock.steps, "bytes": size, "floor": floor(root, size)}


def floor(folder: Path, size: int) -> dict[str, float]:
    """Seconds that `size` bytes take to be written and synced, and to be hashed."""
    data = os.urandom(_CHUNK)
    chunks = max(1, size // _CHUNK)
    began = time.perf_counter()
    with open(folder / "floor", "wb", buffering=0) as file:
        for _ in range(chunks):
            file.write(data)
        os.fsync(file.fileno())
    written = time.perf_counter()
    digest = hashlib.sha256()
    for _ in range(chunks):
        digest.update(data)
    hashed = time.perf_counter()
    (folder / "floor").unlink()
    return {"write": written - began, "hash": hashed - written}


# --- two of them -----------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--contexts", type=int, default=5000)
    parser.add_argument("--keep", type=Path, help="a folder to make or find the projects in")
    parser.add_argument("--profile", action="store_true", help="of the large project alone")
    parser.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.project is not None:
        print(json.dumps(measure(wish.project, wish.profile)))
    elif wish.keep is not None:
        wish.keep.mkdir(parents=True, exist_ok=True)
        compare(wish.keep, wish.contexts, wish.profile)
    else:
        with tempfile.TemporaryDirectory(prefix="swag-studio-release-") as folder:
            compare(Path(folder), wish.contexts, wish.profile)


def compare(folder: Path, contexts: int, profile: bool) -> None:
    if profile:
        subprocess.run([*_command(folder, contexts), "--profile"], check=True)
        return
    small = max(1, contexts // 4)
    runs = [json.loads(subprocess.run(_command(folder, n), check=True, stdout=subprocess.PIPE)
                       .stdout) for n in (small, contexts)]  # fmt: skip
    report(small, contexts, *runs)


def _command(folder: Path, contexts: int) -> list[str]:
    """Makes the project where it is not there, and says how a release of it is measured."""
    root = folder / f"{contexts}.swag"
    if not root.exists():
        from synthetic_project import make_project  # here: a release is measured without torch

        began = time.perf_counter()
        make_project(root, contexts)
        seconds = time.perf_counter() - began
        print(f"a project of {contexts:,} contexts made in {seconds:.1f} s", flush=True)
    return [sys.executable, __file__, "--project", str(root)]


def report(small: int, large: int, few: dict[str, Any], many: dict[str, Any]) -> None:
    print(f"{'':16}{'seconds':>9}{'CPU':>8}{'contexts/s':>12}{'growth':>8}{'peak MB':>9}"
          f"{'SQLite':>8}{'bytes/context':>15}")  # fmt: skip
    for name, told in many["steps"].items():
        line = f"{name:16}{told['seconds']:9.2f}"
        if before := few["steps"].get(name) if "cpu" in told else None:
            own = (told["peak"] - told["sqlite"]) - (before["peak"] - before["sqlite"])
            line += f"{told['cpu']:8.2f}{large / max(told['seconds'], 1e-9):12,.0f}"
            line += f"{told['cpu'] / max(before['cpu'], 1e-9):8.1f}"
            line += f"{told['peak'] / 1e6:9.0f}{told['sqlite'] / 1e6:8.0f}"
            line += f"{own / (large - small):15,.0f}"
        print(line)
    seconds, cpu, cpu_before = (
        sum(step.get(what, 0.0) for step in run["steps"].values())
        for run, what in ((many, "seconds"), (many, "cpu"), (few, "cpu"))
    )
    print(f"{'all':16}{seconds:9.2f}{cpu:8.2f}{large / seconds:12,.0f}{cpu / cpu_before:8.1f}"
          f"  (contexts: {large / small:.1f})")  # fmt: skip
    write, hashing = many["floor"]["write"], many["floor"]["hash"]
    print(
        f"{many['bytes'] / 1e6:.1f} MB, {many['bytes'] / large:,.0f} bytes per context; floor "
        f"{write + hashing:.2f} s (writing {write:.2f}, hashing {hashing:.2f}): the release takes "
        f"{seconds / (write + hashing):.0f} times as long, {cpu / (write + hashing):.0f} in CPU"
    )


if __name__ == "__main__":
    main()
