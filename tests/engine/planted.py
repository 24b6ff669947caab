"""A project prepared up to the filter, with candidates of which most give themselves away.

Feature 0 is near 0 for every found ending and for a quarter of the candidates, and near 4 for the
others, which also like the word "suddenly". So classifiers find the latter easily, and a filter
can replace them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swag_studio.engine.corpus import SPECIALS, Corpus, Ragged, Vocabulary
from swag_studio.engine.text import TextMaker
from swag_studio.pool import Pool, PoolLayout, Rows
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import SPLITS, Context, OwnContext, SourceInfo, context_id

NOUNS = ["the", "a", "man", "woman", "dog", "boy", "girl", "ball", "house", "car", "rope", "boat"]
VERBS = [
    "runs",
    "walks",
    "jumps",
    "throws",
    "takes",
    "opens",
    "slowly",
    "then",
    "and",
    "over",
    "into",
    "up",
    "suddenly",
    "quickly",
]
TOKENS = (*SPECIALS, ".", *NOUNS, *VERBS)
INDEX = {token: i for i, token in enumerate(TOKENS)}
FEATURES = ("shift", "noise", "length")
WIDTH = 12  # tokens of the longest ending

TINY = {
    "filter.found_openings": False,  # of so few words each opens some ending, or none does
    "filter.found_slips": False,
    "filter.replace": 2,
    "filter.distractors": 4,
    "filter.mlp_iterations": 2,
    "filter.ensemble_iterations": 2,
    "filter.mlp_width": 16,
    "filter.ensemble_width": 16,
    "filter.embedding_dim": 8,
    "filter.cnn_filters": 4,
    "filter.pos_hidden": 4,
    "filter.epochs": 2,
    "filter.crossfit_folds": 2,
    "filter.strength_folds": 2,
    "generate.floor": 10,
    "run.threads": 1,
    "run.device": "cpu",
}


@dataclass
class Planted:
    """What was planted, to be looked at afterwards."""

    project: Project
    recipe: Recipe
    corpus: Corpus
    pool: Pool
    contexts: list[Context]
    given: list[np.ndarray]  # per context, per row: True where the row gives itself away


def sentence(rng: np.random.Generator, words: list[str], low: int, high: int) -> list[int]:
    return [INDEX[w] for w in rng.choice(words, rng.integers(low, high))]


def plant(
    project: Project,
    recipe: Recipe,
    contexts: int = 40,
    candidates: int = 30,
    own: bool = False,
    short: int = 0,
) -> Planted:
    """Writes corpus, pool and store rows; the first `short` contexts have 2 candidates only."""
    rng = np.random.default_rng(11)
    vocabulary = Vocabulary(TOKENS, {"dog": "Dog"})
    text = TextMaker(vocabulary)
    rows = []
    for i in range(contexts):
        s, n = sentence(rng, NOUNS + VERBS, 6, 9), sentence(rng, NOUNS, 1, 4)
        v = [*sentence(rng, VERBS[:-2] + NOUNS, 4, 8), INDEX["."]]
        parts = (text.sentence(s), text.phrase(n), text.ending(v))
        key = context_id(f"g{i}", 1, *parts)
        rows.append((key, f"g{i}", s, n, v, parts))
    rows.sort()
    blocks = [
        _context_rows(rng, r[4], 2 if i < short else candidates, own) for i, r in enumerate(rows)
    ]
    records = [
        Context(
            key,
            group,
            group,
            "source",
            f"doc-{group}",
            1,
            *parts,
            fold=0,
            split=SPLITS[i % 3],
            origin="own" if own else "captions",
        )
        for i, (key, group, _, _, _, parts) in enumerate(rows)
    ]
    if own:
        _put_own(project, records, blocks, text)
    artifact = {stage: project.begin(stage, recipe) for stage in ("prepare", "train_lm")}
    corpus = Corpus(
        vocabulary=vocabulary,
        context_ids=tuple(r[0] for r in rows),
        groups=tuple(r[1] for r in rows),
        folds=np.zeros(contexts, np.uint8),
        splits=np.arange(contexts, dtype=np.uint8) % 3,
        own=np.full(contexts, own),
        s=Ragged.of([r[2] for r in rows]),
        n=Ragged.of([r[3] for r in rows]),
        v=Ragged.of([r[4] for r in rows]),
        captions=Ragged.of([r[2] for r in rows]),
        caption_chains=np.arange(contexts, dtype=np.int32),
        caption_folds=np.zeros(contexts, np.uint8),
        caption_groups=np.arange(contexts, dtype=np.int32),
        group_names=tuple(sorted(r[1] for r in rows)),
        masked=np.zeros((2, len(TOKENS)), np.bool_),
    )
    corpus.save(project.folder(artifact["prepare"]))
    project.store.clear_contexts(artifact["prepare"].version)
    project.store.add_contexts(artifact["prepare"].version, records)
    for stage in ("prepare", "train_lm"):
        project.finish(artifact[stage], {})
    made = project.begin("generate", recipe)
    pool = Pool.create(project.folder(made), PoolLayout(contexts, 8, WIDTH, FEATURES))
    for block in range(pool.layout.blocks):
        parts_ = [blocks[c][0] for c in pool.layout.contexts_of(block)]
        offsets = np.cumsum([0, *map(len, parts_)], dtype=np.int64)
        names = ("tokens", "lengths", "complete", "origin", "features")
        pool.write(
            block, offsets, Rows(*(np.concatenate([getattr(p, n) for p in parts_]) for n in names))
        )
    pool.finish()
    project.finish(made, {})
    return Planted(project, recipe, corpus, pool, records, [b[1] for b in blocks])


def _context_rows(
    rng: np.random.Generator, v: list[int], candidates: int, own: bool
) -> tuple[Rows, np.ndarray]:
    """The found ending and its candidates; every tenth is cut off, the last repeats the first."""
    tokens = np.zeros((candidates + 1, WIDTH), np.uint16)
    lengths = np.zeros(candidates + 1, np.uint8)
    given = rng.random(candidates + 1) < 0.75
    given[0] = False
    complete = np.ones(candidates + 1, np.uint8)
    for i in range(candidates + 1):
        words = VERBS[-3:] if given[i] else VERBS[:-2] + NOUNS
        ids = v if i == 0 else [*sentence(rng, words, 4, 8), INDEX["."]]
        if i % 10 == 9:
            ids, complete[i] = sentence(rng, words, WIDTH, WIDTH + 1), 0
        tokens[i, : len(ids)], lengths[i] = ids, len(ids)
    if candidates > 2:
        tokens[-1], lengths[-1], given[-1] = tokens[1], lengths[1], given[1]
    features = rng.normal(size=(candidates + 1, len(FEATURES))).astype(np.float32)
    features[:, 0] = features[:, 0] * 0.5 + 4 * given
    features[:, 2] = lengths
    if own:
        features[:] = 0
    origin = np.arange(candidates + 1, dtype=np.uint16) if own else np.zeros_like(lengths, "u2")
    return Rows(tokens, lengths, complete, origin, features), given


def _put_own(project: Project, records: list[Context], blocks: list, text: TextMaker) -> None:
    """The own candidates as they were given: in capitals, which tokens do not keep."""
    info = SourceInfo("source", "own.jsonl", "own", "0" * 64, 1, len(records), 0, len(records))
    project.store.stage_source(info)
    project.store.add_own_contexts(
        "source",
        [
            OwnContext(
                c.document,
                c.group,
                c.sent1,
                c.sent2,
                c.found,
                tuple(
                    text.ending(ids[:length]).upper()
                    for ids, length in zip(rows.tokens[1:], rows.lengths[1:], strict=True)
                ),
            )
            for c, (rows, _) in zip(records, blocks, strict=True)
        ],
    )
    project.store.publish_source(info)
