"""What a model reads, against slow and plain restatements of the rules."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_corpus import RARE, corpus

from swag_studio.engine import sequences
from swag_studio.engine.corpus import UNK, Corpus, Ragged
from swag_studio.engine.sequences import TextFiles, fold_captions, known_ids, windows
from swag_studio.engine.text import tokens_of
from swag_studio.errors import StageError

# --- windows ---------------------------------------------------------------------------------


def chained(chains: list[int], chosen: list[bool]) -> tuple[Corpus, np.ndarray]:
    """Captions that are told apart by their one word; `chains` holds the chains' lengths."""
    count = sum(chains)
    made = replace(
        corpus(),
        captions=Ragged.of([[5 + i] for i in range(count)]),
        caption_chains=np.repeat(np.arange(len(chains)), chains).astype(np.int32),
    )
    return made, np.repeat(chosen, chains)


@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=6), st.sampled_from([0, 1]))
def test_windows_are_pairs_that_start_in_turn(chains: list[tuple[int, bool]], parity: int) -> None:
    made, chosen = chained([n for n, _ in chains], [c for _, c in chains])
    expected, first = [], 5
    for length, is_chosen in chains:
        words = list(range(first, first + length))
        first += length
        if is_chosen:
            expected += [words[:1]] * parity  # (0), then (1, 2), (3, 4) ...
            expected += [words[i : i + 2] for i in range(parity, length, 2)]
    known = np.arange(100, dtype=np.uint16)
    assert [w.tolist() for w in windows(made, chosen, known, parity)] == expected


def test_a_long_window_is_read_in_pieces() -> None:
    made = replace(
        corpus(), captions=Ragged.of([[5] * 200, [6] * 200]), caption_chains=np.zeros(2, np.int32)
    )
    found = windows(made, np.ones(2, np.bool_), np.arange(20, dtype=np.uint16), 0)
    assert [len(w) for w in found] == [256, 144]
    assert np.concatenate(found).tolist() == [5] * 200 + [6] * 200


def test_masked_words_are_read_as_unknown() -> None:
    made = corpus()
    for fold in (0, 1):
        known = known_ids(made, fold)
        read = np.concatenate(windows(made, made.caption_folds != fold, known, 0))
        plain = np.concatenate(
            windows(made, made.caption_folds != fold, np.arange(20, dtype=np.uint16), 0)
        )
        changed = (plain == RARE) if fold == 1 else np.zeros(len(plain), bool)
        assert (plain == RARE).any()
        assert np.array_equal(read, np.where(changed, UNK, plain))


# --- folds -----------------------------------------------------------------------------------


def test_every_caption_has_one_place_in_each_fold() -> None:
    made = corpus(documents=40)
    for fold in (0, 1):
        part = fold_captions(made, fold, 0.2, seed=3)
        places = np.stack([part.train, part.dev, part.held_out])
        assert (places.sum(axis=0) == 1).all()
        assert np.array_equal(part.held_out, made.caption_folds == fold)
        assert part.groups_compared == 20
        for group in range(40):  # a group is never divided
            assert (places[:, made.caption_groups == group].all(axis=1)).sum() == 1


def test_the_development_set_has_its_share_and_does_not_depend_on_other_groups() -> None:
    many, few = corpus(documents=400), corpus(documents=100)

    def dev_groups(made: Corpus) -> set[int]:
        part = fold_captions(made, 0, 0.2, seed=3)
        return set(made.caption_groups[part.dev].tolist())

    found = dev_groups(many)
    assert 20 <= len(found) <= 60  # 40 of 200; standard deviation sqrt(200 * .2 * .8) = 5.7
    assert dev_groups(few) == {g for g in found if g < 100}
    assert dev_groups(many) != set(
        many.caption_groups[fold_captions(many, 0, 0.2, seed=4).dev].tolist()
    )


@pytest.mark.parametrize("share", [0.005, 0.5])
def test_there_is_always_something_to_train_on_and_to_stop_by(share: float) -> None:
    for seed in range(20):
        part = fold_captions(corpus(documents=4), 0, share, seed)
        assert part.train.any() and part.dev.any()


def test_too_few_groups_are_refused_in_a_sentence() -> None:
    with pytest.raises(StageError, match=r"outside fold 1 come from 1 groups.*prepare\.folds"):
        fold_captions(corpus(documents=2), 1, 0.1, seed=1)


def test_a_group_of_the_fold_among_those_seen_is_an_error() -> None:
    made = corpus()
    folds = made.folds.copy()
    folds[3] = 0  # its captions stay in fold 1
    with pytest.raises(RuntimeError, match="fold 0 would see 1 groups of its own fold"):
        fold_captions(replace(made, folds=folds), 0, 0.1, seed=1)


# --- plain text ------------------------------------------------------------------------------

INDEX = {"a": 5, "b": 6, "c": 7, ".": 4}


def folder_of(path: Path, **files: str) -> Path:
    for name, text in files.items():
        (path / f"{name}.txt").write_bytes(text.encode())
    return path


def all_of(text: TextFiles, size: int, start: tuple[int, int] = (0, 0)) -> list[list[int]]:
    return [ids.tolist() for pool, _ in text.pools(INDEX, size, start) for ids in pool]


def test_sequences_are_two_sentences_of_a_paragraph(tmp_path: Path) -> None:
    folder_of(tmp_path, z="C.", a="A b. b\nB. C.\n\nc a\n", m="unheard a.\r\n")
    (tmp_path / "notes.md").write_text("A.")
    text = TextFiles.of(tmp_path)
    assert all_of(text, 100) == [
        [5, 6, 4, 6, 6, 4],  # "a b ." and "b b .", across the line's end
        [7, 4],  # the paragraph ends
        [7, 5],
        [UNK, 5, 4],
        [7, 4],
    ]


def test_a_sentence_without_an_end_is_cut(tmp_path: Path) -> None:
    text = TextFiles.of(folder_of(tmp_path, a="a " * 250))
    assert [len(s) for s in all_of(text, 10)] == [200, 50]


lines = st.lists(st.text("ab. \n", max_size=12), min_size=1, max_size=12)


@settings(max_examples=50)
@given(st.lists(lines, min_size=1, max_size=3), st.integers(1, 5))
def test_reading_goes_on_where_a_pool_ended(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[str]], size: int
) -> None:
    folder = tmp_path_factory.mktemp("text")
    folder_of(folder, **{f"f{i}": "\n".join(parts) for i, parts in enumerate(files)}, last="A.")
    text = TextFiles.of(folder)
    pools = list(text.pools(INDEX, size))
    assert all(len(pool) >= size for pool, _ in pools[:-1])
    tokens = sum(len(ids) for pool, _ in pools for ids in pool)
    lines_of = [line for parts in files for line in "\n".join(parts).split("\n")]
    assert tokens == 2 + sum(len(tokens_of(line)) for line in lines_of)
    for number, (_, place) in enumerate(pools):
        rest = [[s.tolist() for s in pool] for pool, _ in text.pools(INDEX, size, place)]
        assert rest == [[s.tolist() for s in pool] for pool, _ in pools[number + 1 :]]


def test_the_hash_is_of_names_and_contents(tmp_path: Path) -> None:
    def of(name: str, **files: str) -> str:
        (tmp_path / name).mkdir()
        return list(TextFiles.of(folder_of(tmp_path / name, **files)).hashes())[-1]

    first = of("one", a="A.", b="B.")
    assert first == hashlib.sha256(b"a.txt\x002\x00A.b.txt\x002\x00B.").hexdigest()
    assert of("two", a="A.", b="B.") == first
    assert len({first, of("three", a="B.", b="A."), of("four", a="A.", c="B.")}) == 3


def test_text_that_cannot_be_read_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"A.\nB \xff.\n")
    with pytest.raises(StageError, match=r"a\.txt, byte 5: not UTF-8"):
        all_of(TextFiles.of(tmp_path), 10)


@pytest.mark.parametrize("make", [lambda p: None, lambda p: (p / "a.txt").touch()])
def test_a_folder_without_text_is_refused(tmp_path: Path, make: object) -> None:
    make(tmp_path)  # type: ignore[operator]
    with pytest.raises(StageError, match="holds no text"):
        TextFiles.of(tmp_path)


def test_the_longest_sentence_fits_a_window() -> None:
    assert 2 * sequences.LONGEST_SENTENCE <= sequences.LONGEST
