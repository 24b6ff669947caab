"""Tags: the same whatever the batch, endings after their noun phrase, and a cache that may tear."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine import spacy_model, tagging
from swag_studio.engine.tagging import TagCache, Tagger, missing
from swag_studio.pool import Pool, PoolLayout, Rows

WORDS = ["<pad>", "<unk>", "<bos>", "<eos>", ".", "the", "a", "man", "dogs", "runs", "fast", "and"]
WORDS += ["can", "throws", "her", "red", "ball", "while", "swimming", "n't", "saw", "up", "-", "x9"]
words = st.lists(st.integers(4, len(WORDS) - 1), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(WORDS)


def padded(texts: list[list[int]], width: int = 20) -> tuple[Any, Any]:
    ids = np.zeros((len(texts), width), np.uint16)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = text
    return ids, np.array([len(t) for t in texts], np.uint8)


def random_texts(count: int) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.integers(4, len(WORDS), rng.integers(1, 28)) for _ in range(count)]


@pytest.mark.parametrize("size", [3, 64, 300])
def test_scores_do_not_depend_on_the_batch(
    tagger: Tagger, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """What the module rests its cache on: bit by bit the same."""
    texts = random_texts(300)
    monkeypatch.setattr(tagging, "_BATCH", 1)
    alone = tagger.scores(texts)
    monkeypatch.setattr(tagging, "_BATCH", size)
    for one, in_batch in zip(alone, tagger.scores(texts), strict=True):
        assert np.array_equal(one, in_batch)


def test_tags_are_those_of_the_whole_pipeline(tagger: Tagger) -> None:
    from spacy.tokens import Doc

    nlp = spacy_model.load(exclude=tagging._EXCLUDE)
    texts = random_texts(100)
    docs = [Doc(nlp.vocab, words=[WORDS[i] for i in text]) for text in texts]
    for doc, tags in zip(nlp.pipe(docs), tagger.tag(texts), strict=True):
        assert [tagger.labels[t - 1] for t in tags] == [token.tag_ for token in doc]
    assert list(tagger.labels) == sorted(tagger.labels) and len(tagger.labels) < 255


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=6))
def test_endings_are_tagged_after_their_noun_phrase(
    tagger: Tagger, pairs: list[tuple[list[int], list[int]]]
) -> None:
    n, n_lengths = padded([p[0] for p in pairs])
    v, v_lengths = padded([p[1] for p in pairs])
    tags_n, tags_v = tagger.phrases(n, n_lengths), tagger.endings(n, n_lengths, v, v_lengths)
    for i, (phrase, ending) in enumerate(pairs):
        whole = tagger.tag([np.array(phrase + ending, np.uint16)])[0]
        alone = tagger.tag([np.array(phrase, np.uint16)])[0]
        assert tags_v[i].tolist() == [*whole[len(phrase) :], *[0] * (20 - len(ending))]
        assert tags_n[i].tolist() == [*alone, *[0] * (20 - len(phrase))]


def test_missing() -> None:
    tags = np.array([[1, 2, 0], [1, 0, 0], [0, 2, 0], [0, 0, 0], [3, 3, 3]], np.uint8)
    lengths = np.array([2, 2, 2, 1, 3], np.uint8)
    assert missing(tags, lengths).tolist() == [False, True, True, True, False]


# --- cache -----------------------------------------------------------------------------------


def make_pool(folder: Path, counts: list[int]) -> Pool:
    pool = Pool.create(folder, PoolLayout(len(counts), 2, 5, ()))
    for block in range(pool.layout.blocks):
        mine = [counts[c] for c in pool.layout.contexts_of(block)]
        n = sum(mine)
        rows = Rows(
            np.zeros((n, 5), np.uint16),
            np.full(n, 3, np.uint8),
            np.ones(n, np.uint8),
            np.zeros(n, np.uint16),
            np.zeros((n, 0), np.float32),
        )
        pool.write(block, np.cumsum([0, *mine], dtype=np.int64), rows)
    return pool


def test_cache_keeps_each_context_apart(tmp_path: Path) -> None:
    pool = make_pool(tmp_path / "pool", [4, 0, 3, 2, 6])
    cache = TagCache(tmp_path / "tags", pool)
    expected = {}
    for context in (3, 0, 4, 2):
        assert cache.read(context).shape == (pool.counts()[context], 5)
        assert not cache.read(context).any()
        tags = np.full((int(pool.counts()[context]), 5), 10 + context, np.uint8)
        cache.write(context, tags)
        expected[context] = tags
    again = TagCache(tmp_path / "tags", pool)
    for context, tags in expected.items():
        assert np.array_equal(again.read(context), tags)


def test_a_torn_write_reads_as_not_yet(tmp_path: Path) -> None:
    cache = TagCache(tmp_path / "tags", make_pool(tmp_path / "pool", [4]))
    whole = np.array([[7, 8, 9, 0, 0]] * 4, np.uint8)
    cache.write(0, whole)
    path = next((tmp_path / "tags").iterdir())
    data = path.read_bytes()
    lengths = np.full(4, 3, np.uint8)
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        tags = cache.read(0)
        there = ~missing(tags, lengths)
        assert np.array_equal(tags[there], whole[there])
        # A row of 5 is there when its 3 tags are: after 5 * row + 3 bytes.
        assert there.tolist() == [size >= 5 * row + 3 for row in range(4)]


def test_caches_of_other_pools_and_models_are_apart(tmp_path: Path, tagger: Tagger) -> None:
    pool = make_pool(tmp_path / "pool", [4])
    folders = set()
    for key in ("one", "two"):
        cache = TagCache.of(tmp_path, pool, key, tagger)
        cache.write(0, np.ones((4, 5), np.uint8))
        folders.add(cache._folder)
    assert len(folders) == 2
    assert TagCache.of(tmp_path, pool, "one", tagger).read(0).all()


def test_caches_that_nobody_reads_any_more_are_removed(tmp_path: Path, tagger: Tagger) -> None:
    pool, other = make_pool(tmp_path / "pool", [4]), Namespace(key="0ther")
    (tmp_path / "v1").mkdir()
    kept, stale = "a" * 32, "b" * 32

    def fill() -> None:
        for key in (kept, stale):
            for model in (tagger, other):
                TagCache.of(tmp_path, pool, key, model).write(0, np.ones((4, 5), np.uint8))  # type: ignore[arg-type]

    def left() -> set[str]:
        return {path.name for path in tmp_path.iterdir()} - {"pool"}

    fill()
    assert len(left()) == 5
    TagCache.remove_others(tmp_path, [kept, stale], None)
    assert len(left()) == 5
    TagCache.remove_others(tmp_path, [kept], None)  # a run without tags knows no tagger
    assert left() == {"v1", f"tags-{kept[:12]}-{tagger.key}", f"tags-{kept[:12]}-0ther"}
    fill()
    (tmp_path / "tags-of-older-programs").mkdir()
    TagCache.remove_others(tmp_path, [kept], tagger)
    assert left() == {"v1", f"tags-{kept[:12]}-{tagger.key}"}
    assert TagCache.of(tmp_path, pool, kept, tagger).read(0).all()
