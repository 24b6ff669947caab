from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.corpus import SPECIALS, Vocabulary
from swag_studio.engine.members.pretrained import load_embeddings
from swag_studio.errors import RecipeError

VOCABULARY = Vocabulary((*SPECIALS, "dog", "runs", "café"), {})


def load(tmp_path, text: str | bytes, name: str = "vectors.txt"):
    file = tmp_path / name
    data = text.encode() if isinstance(text, str) else text
    file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return load_embeddings(file, VOCABULARY)


def rows(**vectors: list[float]) -> np.ndarray:
    matrix = np.zeros((len(VOCABULARY), 2), np.float32)
    for word, vector in vectors.items():
        matrix[VOCABULARY.index[word]] = vector
    return matrix


EXPECTED = rows(dog=[1, 2.5], café=[-1e-3, 4])


@pytest.mark.parametrize(
    "text",
    [
        "dog 1 2.5\ncat 9 9\ncafé -1e-3 4\n",
        "dog 1 2.5\ncafé -1e-3 4",
        "dog 1 2.5 \r\n\ncafé -1e-3 4\r\n",
        "3 2\ndog 1 2.5\ncafé -1e-3 4\n",
        "3 2\n/c/en/dog 1 2.5\n/c/fr/dog 7 7\n/c/en/café -1e-3 4\n",
        "dog 1 2.5\n. . . 8 8\ncafé -1e-3 4\ndog 5 5\n<unk> 1 1\n",
    ],
    ids=["glove", "no last line end", "spaces", "counted", "numberbatch", "odd words"],
)
@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_words_of_the_vocabulary_get_their_vectors(tmp_path, text, name):
    assert np.array_equal(load(tmp_path, text, name), EXPECTED)


def test_words_that_are_not_utf8_are_passed_over(tmp_path):
    assert np.array_equal(load(tmp_path, b"\xff\xfe 1 1\ndog 3 4\n"), rows(dog=[3, 4]))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("dog 1 2\nruns 1\n", 2, "1 numbers where the first word has 2"),
        ("dog 1 2\ncat\n", 2, "0 numbers"),
        ("2 2\ndog 1 2\nruns 1 x\n", 3, "not a number"),
        ("dog 1 nan\n", 1, "not finite"),
        ("dog 1e99 1\n", 1, "not finite"),
        ("dog\n", 1, "no word with numbers"),
        ("a" + " 1" * 5000 + "\n", 1, "no word with numbers"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, line, reason):
    with pytest.raises(RecipeError, match=rf"vectors.txt, line {line}: .*{reason}"):
        load(tmp_path, text)


@pytest.mark.parametrize("text", ["", "3 2\n", "cat 1 2\n", "\n\n"])
def test_a_file_without_the_projects_words_is_refused(tmp_path, text):
    with pytest.raises(RecipeError, match="none of the project's words"):
        load(tmp_path, text)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(RecipeError, match="No such file"):
        load_embeddings(tmp_path / "absent.txt", VOCABULARY)
    with pytest.raises(RecipeError, match="cannot be read"):
        load_embeddings(tmp_path, VOCABULARY)
    (tmp_path / "plain.txt.gz").write_text("dog 1 2\n")
    with pytest.raises(RecipeError, match="cannot be read"):
        load_embeddings(tmp_path / "plain.txt.gz", VOCABULARY)
    (tmp_path / "short.txt.gz").write_bytes(gzip.compress(b"dog 1 2\n" * 1000)[:-12])
    with pytest.raises(RecipeError, match="cannot be read"):
        load_embeddings(tmp_path / "short.txt.gz", VOCABULARY)


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.sampled_from(["dog", "runs", "café", "cat"]), st.tuples(finite, finite)))
def test_written_vectors_are_read_back(tmp_path_factory, vectors):
    known = {w: list(v) for w, v in vectors.items() if w != "cat"}
    if known:
        text = "".join(f"{w} {a!r} {b!r}\n" for w, (a, b) in vectors.items())
        assert np.array_equal(load(tmp_path_factory.mktemp("v"), text), rows(**known))
