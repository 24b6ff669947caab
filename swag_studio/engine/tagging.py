"""POS tags of noun phrases and endings, computed when first needed and kept beside the filter.

An ending is tagged as what follows its noun phrase; a noun phrase by itself, so that its tags say
nothing of an ending. Found endings and candidates take the same path from the same lowercased
tokens.

The tagger gives a text the same bits alone and in any batch: its scores were compared for 3,000
texts in batches of 1 to 3,000 (spaCy 3.8, whose products blis computes row by row;
`tests/engine/test_tagging.py` keeps watch). So tags are a pure function of the text, and the cache
can be shared between filter runs, lose or keep entries in a kill, and be removed when no run reads
it any more, without a trace in a result.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine import spacy_model
from swag_studio.engine.corpus import Ids
from swag_studio.files import make_folder
from swag_studio.pool import Pool

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

T = TypeVar("T")
Tags = NDArray[np.uint8]

# Only these are kept: `tok2vec` and `tagger` are all that tags need.
_EXCLUDE = ("parser", "senter", "ner", "attribute_ruler", "lemmatizer")
_BATCH = 128
_FOLDER = "tags-"  # and then the start of the pool's key, and the tagger's
_SHORT = 12


class Tagger:
    """spaCy's fine-grained tags. Ids count from 1 in the order of the sorted labels; 0 pads.

    Its network is an embedding of each word by itself, then convolutions over 4 words to either
    side, then a softmax. The embeddings of the project's words are computed once and looked up
    after that, which takes a third off the work and not a bit off the result.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """`words` gives the token of each id."""
        nlp = spacy_model.load(exclude=_EXCLUDE)
        # spaCy types its components as functions of one text, which is less than they are.
        tok2vec, tagger = cast(Any, nlp.get_pipe("tok2vec")), cast(Any, nlp.get_pipe("tagger"))
        embed, self._convolve = tok2vec.model.layers
        self._softmax = tagger.model.layers[1]  # 0 fetches what tok2vec made
        self._embedded = np.concatenate(
            [vector for part in _parts(words) for vector in embed.predict(_alone(nlp, part))]
        )
        self.labels = tuple(sorted(tagger.labels))
        ids = {label: i for i, label in enumerate(self.labels, 1)}
        self._ids = np.array([ids[label] for label in tagger.labels], np.uint8)
        model = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
        identity = json.dumps([model, self.labels])
        self.key = hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()

    def scores(self, texts: Sequence[Ids]) -> list[NDArray[np.float32]]:
        """The probability of each of the model's own labels, (tokens, labels) per text."""
        result: list[NDArray[np.float32]] = []
        for part in _parts(texts):
            embedded = [self._embedded[ids] for ids in part]
            result += self._softmax.predict(self._convolve.predict(embedded))
        return result

    def tag(self, texts: Sequence[Ids]) -> list[Tags]:
        """The tags of each text, one per token."""
        return [self._ids[scores.argmax(axis=1)] for scores in self.scores(texts)]

    def phrases(self, n: Ids, n_lengths: NDArray[np.uint8]) -> Tags:
        """(C, Tn) tags of noun phrases by themselves, each different one tagged once."""
        different, which = np.unique(n, axis=0, return_inverse=True)
        lengths = np.zeros(len(different), np.int64)
        lengths[which] = n_lengths
        tags = np.zeros(different.shape, np.uint8)
        texts = [row[:length] for row, length in zip(different, lengths, strict=True)]
        for row, found in zip(tags, self.tag(texts), strict=True):
            row[: len(found)] = found
        return tags[which]

    def endings(
        self, n: Ids, n_lengths: NDArray[np.uint8], v: Ids, v_lengths: NDArray[np.uint8]
    ) -> Tags:
        """(E, T) tags of the endings v, each after its noun phrase; rows as in `Items`."""
        texts = [
            np.concatenate([a[:i], b[:j]])
            for a, i, b, j in zip(n, n_lengths, v, v_lengths, strict=True)
        ]
        tags = np.zeros(v.shape, np.uint8)
        for row, found, skip in zip(tags, self.tag(texts), n_lengths.tolist(), strict=True):
            row[: len(found) - skip] = found[skip:]
        return tags


def _parts(sequence: Sequence[T]) -> Iterator[Sequence[T]]:
    return (sequence[start : start + _BATCH] for start in range(0, len(sequence), _BATCH))


def _alone(nlp: Language, words: Sequence[str]) -> list[Doc]:
    from spacy.tokens import Doc

    return [Doc(nlp.vocab, words=[word]) for word in words]


class TagCache:
    """Tags of a pool's rows in a folder: one sparse file per block, uint8 (rows, T), 0 = not yet.

    A row is there when none of its tokens lacks a tag, so a torn write reads as not yet.
    """

    def __init__(self, folder: Path, pool: Pool) -> None:
        self._folder, self._pool = folder, pool
        make_folder(folder)

    @classmethod
    def of(cls, parent: Path, pool: Pool, pool_key: str, tagger: Tagger) -> TagCache:
        """The cache that all filter runs on this pool with this tagger share."""
        return cls(parent / f"{_FOLDER}{pool_key[:_SHORT]}-{tagger.key}", pool)

    @staticmethod
    def remove_others(parent: Path, pool_keys: Collection[str], tagger: Tagger | None) -> None:
        """Removes the caches of other pools than these, and of other taggers where one is given.

        For who holds the project's lock. What cannot be removed stays.
        """
        pools = {key[:_SHORT] for key in pool_keys}
        for folder in parent.glob(f"{_FOLDER}*"):
            pool, _, model = folder.name.removeprefix(_FOLDER).partition("-")
            if pool not in pools or (tagger is not None and model != tagger.key):
                shutil.rmtree(folder, ignore_errors=True)

    def read(self, context: int) -> Tags:
        """(rows, T) what is known of a context's tags; writable."""
        path, start, shape = self._place(context)
        data = b""
        if path.exists():
            with open(path, "rb", buffering=0) as file:
                data = os.pread(file.fileno(), shape[0] * shape[1], start)
        tags = np.zeros(shape, np.uint8)
        tags.reshape(-1)[: len(data)] = np.frombuffer(data, np.uint8)
        return tags

    def write(self, context: int, tags: Tags) -> None:
        """Keeps a context's tags."""
        path, start, shape = self._place(context)
        assert tags.shape == shape
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            os.pwrite(descriptor, tags.tobytes(), start)
        finally:
            os.close(descriptor)

    def _place(self, context: int) -> tuple[Path, int, tuple[int, int]]:
        layout = self._pool.layout
        block = layout.block_of(context)[0]
        width, count = layout.max_tokens, int(self._pool.counts()[context])
        first = int(self._starts[context])
        return self._folder / f"block-{block:06d}.tags", first * width, (count, width)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """(contexts,) the first row of each context within its block."""
        counts, size = self._pool.counts(), self._pool.layout.contexts_per_block
        before = np.cumsum(counts) - counts
        return before - before[np.arange(len(counts)) // size * size]


def missing(tags: Tags, lengths: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """(E,) True where a row of `tags` (E, T) lacks the tag of any of its tokens."""
    return np.asarray(np.count_nonzero(tags, axis=1) < lengths)
