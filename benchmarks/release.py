"""A verified release of a large project: seconds, memory and bytes of each step, beside the floor.

    python benchmarks/release.py [--contexts 5000]       (--contexts 113000 is the paper's size)

Makes two projects of made-up words (synthetic_project.py), one with a quarter of the contexts, and
writes a release of each in a process of its own. Told of each step: seconds, contexts per second,
the peak of resident memory, and how both grow from the small to the large project. Time that grows
by more than the contexts do (4.0 times) is worth a look, and so are more than some ten bytes of
memory for each context; what SQLite keeps in its caches has a bound and is told apart.

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
        _forget_peaks()

    def step(self, name: str) -> None:
        """All since the last step was `name`."""
        now, before = (time.perf_counter(), time.process_time()), self._began
        told = self.steps.setdefault(name, dict.fromkeys(("seconds", "cpu", "peak", "sqlite"), 0.0))
        told["seconds"] += now[0] - before[0]
        told["cpu"] += now[1] - before[1]
        peak, sqlite = _peaks()
        if peak - sqlite > told["peak"] - told["sqlite"]:
            told["peak"], told["sqlite"] = peak, sqlite
        _forget_peaks()
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


def _forget_peaks() -> None:
    Path("/proc/self/clear_refs").write_text("5")
    _sqlite_peak(1)


def _peaks() -> tuple[float, float]:
    """Bytes: the peak of resident memory since it was forgotten, and of SQLite's part of it."""
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    return peak * 1024.0, float(_sqlite_peak(0))


def _sqlite_peak(forget: int) -> int:
    """What SQLite had in memory at most; 0 where its library does not tell."""
    try:
        ask = ctypes.CDLL(_sqlite3.__file__).sqlite3_memory_highwater
    except (AttributeError, OSError):
        return 0
    ask.restype = ctypes.c_int64
    return int(ask(forget))


# --- one release -----------------------------------------------------------------------------


def measure(root: Path, profile: bool = False) -> dict[str, Any]:
    """Writes a release of the project and tells of it."""
    clock = Clock()
    clock.watch(publishing, "card", "card")
    clock.watch(publishing, "_sync", "sync")
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
    times = large / small
    print(f"{'':16} {'seconds':>8} {'contexts/s':>10} {'times':>6} {'peak MB':>8} {'SQLite':>7} "
          f"{'bytes/context':>14}")  # fmt: skip
    for name, told in many["steps"].items():
        before = few["steps"].get(name, {})
        seconds, grown = told["seconds"], told["seconds"] / max(before.get("seconds", 0), 1e-9)
        line = f"{name:16} {seconds:8.2f} {large / max(seconds, 1e-9):10,.0f} {grown:6.1f}"
        if "peak" in told and "peak" in before:
            own = (told["peak"] - told["sqlite"]) - (before["peak"] - before["sqlite"])
            line += f" {told['peak'] / 1e6:8.0f} {told['sqlite'] / 1e6:7.0f}"
            line += f" {own / (large - small):14.0f}"
        print(line)
    total = [sum(s["seconds"] for s in run["steps"].values()) for run in (few, many)]
    cpu = sum(s.get("cpu", 0) for s in many["steps"].values())
    least = many["floor"]["write"] + many["floor"]["hash"]
    print(f"{'all':16} {total[1]:8.2f} {large / total[1]:10,.0f} {total[1] / total[0]:6.1f}  "
          f"(contexts: {times:.1f} times; CPU {cpu:.2f} s)")  # fmt: skip
    print(
        f"{many['bytes'] / 1e6:.1f} MB written, {many['bytes'] / large:,.0f} bytes per context; "
        f"floor {least:.2f} s (writing {many['floor']['write']:.2f}, hashing "
        f"{many['floor']['hash']:.2f}): the release takes {total[1] / least:.0f} times as long"
    )


if __name__ == "__main__":
    main()
