"""A small project in which everything before the stage generate is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tiny_lm import model

from swag_studio import recipe as recipes
from swag_studio.engine.checkpoint import model_path, save_model
from swag_studio.engine.corpus import SPECIALS, Corpus, Ragged, Vocabulary
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import Context, OwnContext, SourceInfo

WORDS = (*SPECIALS, ".", *(f"word{chr(97 + i)}" for i in range(25)))
MASKED = (9, 10, 11, 12)  # words that fold 1's model does not know
CONTEXTS = 11
OWN = 6  # the context that came with its own candidates
OWN_ENDINGS = (
    "worde wordf .",
    "WordE  wordf.",  # equal to the one before
    "wordb wordc .",  # equal to the found ending
    "stranger worda .",  # a word that the project does not know
    "worda " * 9 + ".",  # cut off at 8 tokens
    "wordd worda .",
    "wordd wordd .",
)


RECIPE = recipes.preset("demo").with_values(
    {
        "prepare.folds": 2,
        "prepare.max_ending_tokens": 8,
        "lm.dim": 8,
        "lm.layers": 2,
        "generate.candidates": 12,
        "generate.floor": 3,
        "generate.draw_budget": 6.0,
        "filter.distractors": 3,
        "filter.found_openings": False,
        "filter.found_slips": False,
        "generate.max_tokens": 8,
        "generate.contexts_per_block": 4,
        "run.device": "cpu",
        "run.dtype": "float32",
    }
)


def corpus() -> Corpus:
    rng = np.random.default_rng(2)
    folds = np.arange(CONTEXTS, dtype=np.uint8) % 2
    masked = np.zeros((2, len(WORDS)), np.bool_)
    masked[1, MASKED] = True
    known = np.setdiff1d(np.arange(5, len(WORDS)), MASKED)

    def phrases(low: int, high: int, words: np.ndarray, stop: bool = False) -> Ragged:
        drawn = [rng.choice(words, rng.integers(low, high)) for _ in range(CONTEXTS)]
        if stop:
            drawn = [np.append(ids, 4) for ids in drawn]
            drawn[OWN] = np.array([6, 7, 4])  # "wordb wordc ."
        return Ragged.of([ids.astype(np.uint16) for ids in drawn])

    every = np.arange(5, len(WORDS))
    return Corpus(
        vocabulary=Vocabulary(WORDS, {}),
        context_ids=tuple(f"c{i:02d}" for i in range(CONTEXTS)),
        groups=tuple(f"g{i:02d}" for i in range(CONTEXTS)),
        folds=folds,
        splits=np.zeros(CONTEXTS, np.uint8),
        own=np.arange(CONTEXTS) == OWN,
        s=phrases(3, 7, every),
        n=phrases(1, 4, every),
        v=phrases(2, 7, known, stop=True),
        captions=Ragged.of([]),
        caption_chains=np.zeros(0, np.int32),
        caption_folds=np.zeros(0, np.uint8),
        caption_groups=np.zeros(0, np.int32),
        group_names=(),
        masked=masked,
    )


def prepared(root: Path, recipe: Recipe, stop: float = 3.0) -> Project:
    """A project in which everything before this stage is done."""
    project = Project.create(root, recipe)
    info = SourceInfo("src", "own.jsonl", "own", "0" * 64, 0, 1, 0, 1)
    project.store.stage_source(info)
    own = OwnContext("d1", "g06", "s", "n", "wordb wordc.", OWN_ENDINGS)
    project.store.add_own_contexts("src", [own])
    project.store.publish_source(info)
    artifact = project.begin("prepare", recipe)
    corpus().save(project.folder(artifact))
    row = Context(f"c{OWN:02d}", "g06", "g06", "src", "d1", 0, "s", "n", own.found, 0, "train",
                  "own")  # fmt: skip
    project.store.add_contexts(artifact.version, [row])
    project.finish(artifact, {})
    artifact = project.begin("train_lm", recipe)
    for fold in range(2):
        made = model(fold, vocabulary=len(WORDS), stop=stop)
        save_model(model_path(project.folder(artifact), fold), made, {})
    project.finish(artifact, {})
    return project
