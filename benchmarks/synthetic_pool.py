"""A pool as large as wished, made fast: random tokens, features as far apart as real ones.

Candidates' features are shifted by D_PRIME against the found endings', so that a classifier on them
is right on about 55% of the questions with four endings, as on real captions.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swag_studio.engine.corpus import SPECIALS, Corpus, Ragged, Vocabulary
from swag_studio.engine.features import FEATURE_NAMES
from swag_studio.pool import Pool, PoolLayout, Rows

D_PRIME = 1.0
WIDTH = 25
VOCABULARY = 6000
_TEMPLATE = 64 * 1024  # random rows that blocks are cut from


def make_corpus(contexts: int) -> Corpus:
    """Contexts with noun phrases of 1 to 4 random tokens, and nothing else that matters."""
    rng = np.random.default_rng(0)
    tokens = (*SPECIALS, *(f"w{i}" for i in range(VOCABULARY - len(SPECIALS))))
    lengths = rng.integers(1, 5, contexts)
    n = Ragged(
        rng.integers(4, VOCABULARY, lengths.sum(), dtype=np.uint16),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )
    ids = tuple(f"c{i:09d}" for i in range(contexts))
    return Corpus(
        vocabulary=Vocabulary(tokens, {}),
        context_ids=ids,
        groups=ids,
        folds=np.zeros(contexts, np.uint8),
        splits=np.zeros(contexts, np.uint8),
        own=np.zeros(contexts, np.bool_),
        s=n,
        n=n,
        v=n,
        captions=n,
        caption_chains=np.arange(contexts, dtype=np.int32),
        caption_folds=np.zeros(contexts, np.uint8),
        caption_groups=np.arange(contexts, dtype=np.int32),
        group_names=ids,
        masked=np.zeros((1, VOCABULARY), np.bool_),
    )


def make_pool(folder: Path, contexts: int, rows: int) -> Pool:
    """`rows` rows per context, the found one included. About 84 bytes a row on disk."""
    rng = np.random.default_rng(1)
    names = FEATURE_NAMES
    pool = Pool.create(folder, PoolLayout(contexts, 16, WIDTH, names))
    lengths = rng.integers(5, WIDTH + 1, _TEMPLATE).astype(np.uint8)
    tokens = rng.integers(4, VOCABULARY, (_TEMPLATE, WIDTH), dtype=np.uint16)
    tokens[np.arange(WIDTH) >= lengths[:, None]] = 0
    features = rng.normal(size=(_TEMPLATE, len(names))).astype(np.float32)
    for block in pool.missing():
        here = len(pool.layout.contexts_of(block))
        index = (rng.integers(_TEMPLATE) + np.arange(here * rows)) % _TEMPLATE
        mine = features[index]
        mine[np.arange(len(index)) % rows > 0, 0] += D_PRIME
        blank = np.zeros(len(index), np.uint16)
        complete = np.ones(len(index), np.uint8)
        pool.write(
            block,
            np.arange(here + 1, dtype=np.int64) * rows,
            Rows(tokens[index], lengths[index], complete, blank, mine),
        )
    pool.finish()
    return pool
