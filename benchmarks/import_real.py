"""How long an import takes: seconds and counts per file, into a new project.

    python benchmarks/import_real.py FILE...

Counts are what METHOD gives for the files; times are of this machine, with a warm file cache.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from pathlib import Path

from swag_studio import recipe
from swag_studio.engine.ingest import run_import
from swag_studio.events import Finished
from swag_studio.project import Project

COLUMNS = ("documents", "captions", "adjacent_pairs", "own_contexts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    files: list[Path] = parser.parse_args().files
    print(f"{'file':24}{'seconds':>9}{'longest pull':>14}", *(f"{c:>15}" for c in COLUMNS))
    total = 0.0
    with (
        tempfile.TemporaryDirectory() as folder,
        Project.create(Path(folder) / "import.swag", recipe.preset("small")) as project,
    ):
        for file in files:
            seconds, longest, last = pulled(file, project)
            total += seconds
            counts = (f"{last.summary[c]:>15,}" for c in COLUMNS)
            print(f"{file.name:24}{seconds:9.2f}{1000 * longest:11.0f} ms", *counts)
            print("  left out:", last.summary["left_out"])
    print(f"{'all':24}{total:9.2f}")


def pulled(file: Path, project: Project) -> tuple[float, float, Finished]:
    """(seconds, the longest time between two events, Finished)."""
    times, events = [time.perf_counter()], []
    for event in run_import(file, project):
        times.append(time.perf_counter())
        events.append(event)
    last = events[-1]
    assert isinstance(last, Finished)
    return times[-1] - times[0], max(b - a for a, b in itertools.pairwise(times)), last


if __name__ == "__main__":
    main()
