"""A small corpus of captions in a made language, for what reads the captions."""

from __future__ import annotations

import numpy as np

from swag_studio.engine.corpus import SPECIALS, Corpus, Ragged, Vocabulary
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import Artifact

STOP = 4  # "."
WORDS = (*SPECIALS, ".", *(f"w{i}" for i in range(5, 20)))
RARE = 19  # masked for fold 1


def captions(documents: int, seed: int = 1) -> list[list[list[int]]]:
    """Per document its captions: words that follow each other in the vocabulary, then a stop."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(documents):
        document = []
        for _ in range(int(rng.integers(1, 5))):
            first, length = int(rng.integers(5, 20)), int(rng.integers(2, 7))
            document.append([5 + (first - 5 + k) % 15 for k in range(length)] + [STOP])
        made.append(document)
    return made


def corpus(documents: int = 12, folds: int = 2) -> Corpus:
    """One chain and one context per document; document d is group "gdd", of fold d % folds."""
    texts = captions(documents)
    group = np.repeat(np.arange(documents), [len(d) for d in texts])
    names = tuple(f"g{d:02d}" for d in range(documents))
    masked = np.zeros((folds, len(WORDS)), np.bool_)
    masked[1, RARE] = True
    return Corpus(
        vocabulary=Vocabulary(WORDS, {}),
        context_ids=names,
        groups=names,
        folds=(np.arange(documents) % folds).astype(np.uint8),
        splits=np.zeros(documents, np.uint8),
        own=np.zeros(documents, np.bool_),
        s=Ragged.of([d[0] for d in texts]),
        n=Ragged.of([[5]] * documents),
        v=Ragged.of([[6, STOP]] * documents),
        captions=Ragged.of([caption for d in texts for caption in d]),
        caption_chains=group.astype(np.int32),
        caption_folds=(group % folds).astype(np.uint8),
        caption_groups=group.astype(np.int32),
        group_names=names,
        masked=masked,
    )


def prepare(project: Project, recipe: Recipe, made: Corpus) -> Artifact:
    """The project with Prepare done."""
    artifact = project.begin("prepare", recipe)
    made.save(project.folder(artifact))
    return project.finish(artifact, {})
