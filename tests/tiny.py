"""A project that goes through every stage, with every kind of unit, in seconds."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from swag_studio import recipe as recipes
from swag_studio.recipe import Recipe

DOCUMENTS = 120  # of the demo

# Two folds, several epochs and checkpoints,
# several pool blocks, both phases of the filter, everything that is measured beside it. On any
# machine the same kind of numbers: what is chosen by measuring is not chosen here.
TINY = {
    "run.threads": 1,
    "run.device": "cpu",
    "run.dtype": "float32",
    "prepare.min_count": 1,
    "prepare.max_contexts": 60,
    "lm.dim": 16,
    "lm.epochs": 2,
    "lm.learning_rate": 0.03,
    "lm.checkpoint_steps": 10,
    "generate.candidates": 15,
    "generate.floor": 9,
    "generate.contexts_per_block": 8,
    "generate.draw_budget": 8.0,
    "filter.found_openings": False,  # a model this small opens endings with anything
    "filter.found_slips": False,
    "filter.mlp_iterations": 3,
    "filter.ensemble_iterations": 3,
    "filter.epochs": 2,
    "filter.mlp_width": 16,
    "filter.ensemble_width": 16,
    "filter.embedding_dim": 8,
    "filter.cnn_filters": 4,
    "filter.pos_hidden": 8,
}


def tiny_recipe() -> Recipe:
    return recipes.preset("demo").with_values(TINY)


def captions(path: Path, documents: int) -> Path:
    """The first `documents` of the demo's captions as a file; 0 takes them all."""
    found = json.loads((files("swag_studio.resources") / "demo" / "captions.json").read_bytes())
    kept = dict(list(found.items())[: documents or None])
    path.write_text(json.dumps(kept), encoding="utf-8")
    return path
