"""Every stage, small, on the GPU where there is one, and compared with the CPU.

    python benchmarks/gpu_smoke.py
    python benchmarks/gpu_smoke.py --device cpu    tries the comparison itself

Counts must be equal and perplexities close: the devices add in another order, and a draw that falls
between two words may then fall to the other one. Exits with 1 where they are not.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from swag_studio import recipe as recipes
from swag_studio.engine import pipeline, runtime
from swag_studio.engine.ingest import run_import
from swag_studio.events import Message
from swag_studio.project import Project
from swag_studio.recipe import STAGES, Recipe

TINY = {
    "run.dtype": "float32",
    "prepare.max_contexts": 60,
    "prepare.min_count": 1,
    "lm.dim": 32,
    "lm.epochs": 4,
    "lm.learning_rate": 0.03,
    "generate.candidates": 31,
    "generate.floor": 9,
    "generate.draw_budget": 8.0,
    "filter.found_openings": False,  # a model this small opens endings with anything
    "filter.found_slips": False,
    "filter.mlp_iterations": 3,
    "filter.ensemble_iterations": 3,
    "filter.epochs": 2,
    "filter.mlp_width": 32,
    "filter.ensemble_width": 32,
    "filter.embedding_dim": 8,
    "filter.cnn_filters": 4,
    "filter.pos_hidden": 8,
}
DOCUMENTS = 100
CLOSE = 0.05  # relative difference of perplexities and other measured figures

# What must be the same, by stage: it depends on the captions and the recipe alone.
EQUAL = {
    "prepare": ("captions", "pairs", "contexts", "selected", "vocabulary"),
    "train_lm": ("gold_unseen", "groups_compared", "parameters"),
    "generate": ("contexts", "left_out"),
    "filter": ("contexts", "distractors", "members", "iterations"),
    "release": ("questions", "train", "val", "test"),
}
# What must be close: the path to the figure in the stage's summary.
NEAR = {"train_lm": ("perplexity",), "generate": ("candidates", "found", "generated")}


def run(root: Path, captions: Path, recipe: Recipe) -> dict[str, dict[str, Any]]:
    """The stages' summaries."""
    with Project.create(root, recipe) as project:
        list(run_import(captions, project))
        for event in pipeline.run(recipe, project):
            if isinstance(event, Message) and event.level != "info":
                print(f"  {event.stage}: {event.text}")
        return {stage: dict(project.require(stage, recipe).summary) for stage in STAGES}


def figures(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """(path, number) for all numbers in a summary."""
    if isinstance(value, dict):
        for key in value:
            yield from figures(value[key], f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from figures(inner, f"{path}.{index}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def differences(stage: str, cpu: dict[str, Any], gpu: dict[str, Any]) -> list[str]:
    """What is not as it must be, in words."""
    wrong = [
        f"{stage}: {name} is {gpu.get(name)}, on the CPU {cpu[name]}"
        for name in EQUAL[stage]
        if cpu[name] != gpu.get(name)
    ]
    mine = dict(figures(gpu))
    for path, value in figures(cpu):
        if any(part in path for part in NEAR.get(stage, ())):
            other = mine.get(path, math.nan)
            if not math.isclose(value, other, rel_tol=CLOSE, abs_tol=CLOSE):
                wrong.append(f"{stage}: {path[1:]} is {other:.4g}, on the CPU {value:.4g}")
        elif not math.isfinite(mine.get(path, 0.0)):
            wrong.append(f"{stage}: {path[1:]} is {mine[path]}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    arguments = parser.parse_args()
    device = runtime.choose_device(arguments.device, "float32").device.type
    if device == "cpu" and arguments.device == "auto":
        print("no GPU")
        return 0
    source = files("swag_studio.resources") / "demo" / "captions.json"
    captions = dict(list(json.loads(source.read_bytes()).items())[: arguments.documents])
    with tempfile.TemporaryDirectory() as name:
        folder, summaries = Path(name), {}
        (folder / "captions.json").write_text(json.dumps(captions), encoding="utf-8")
        for side in ("cpu", device):
            recipe = recipes.preset("demo").with_values({**TINY, "run.device": side})
            start = time.perf_counter()
            root = folder / f"side{len(summaries)}-{side}.swag"
            summaries[root] = run(root, folder / "captions.json", recipe)
            print(f"{side}: all stages in {time.perf_counter() - start:.1f} s")
        cpu, gpu = summaries.values()
    wrong = [text for stage in STAGES for text in differences(stage, cpu[stage], gpu[stage])]
    for text in wrong:
        print(text)
    print(f"{device} and cpu {'differ' if wrong else 'agree'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
