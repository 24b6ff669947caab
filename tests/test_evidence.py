"""Evidence on disk: what was written is read, and equal evidence gives equal bytes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio import evidence
from swag_studio.errors import ProjectError
from swag_studio.evidence import Clue, Evidence

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
CLUES = st.builds(Clue, TEXTS, NUMBERS, NUMBERS, NUMBERS, st.lists(TEXTS, max_size=3).map(tuple))
EVIDENCE = st.builds(
    Evidence,
    st.integers(0, 10_000),
    TEXTS,
    st.sampled_from(["words", "ngrams", "tags", "features"]),
    st.integers(0, 10**6),
    st.lists(CLUES, max_size=3).map(tuple),
)


@given(st.lists(EVIDENCE, max_size=3))
def test_what_was_written_is_read_and_rewritten_to_the_byte(found: list[Evidence]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evidence.write(folder, 7, found)
        first = evidence.path_of(folder, 7).read_bytes()
        assert evidence.read(folder, 7) == found
        evidence.write(folder, 7, evidence.read(folder, 7))
        assert evidence.path_of(folder, 7).read_bytes() == first


def test_iterations_are_those_that_are_whole(tmp_path: Path) -> None:
    assert evidence.iterations(tmp_path) == [] and evidence.read(tmp_path, 3) == []
    for iteration in (12, 3, 12_345):
        evidence.write(tmp_path, iteration, [])
    (tmp_path / evidence.FOLDER / ".iteration-0004.json.17.tmp").write_text("[")
    (tmp_path / evidence.FOLDER / "iteration-last.json").write_text("[]")
    assert evidence.iterations(tmp_path) == [3, 12, 12_345]


@pytest.mark.parametrize("text", ["[", "[3]", '[{"member": "bow"}]', '{"a": 1}', "\udcff"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    evidence.write(tmp_path, 3, [])
    evidence.path_of(tmp_path, 3).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ProjectError, match=r"iteration-0003\.json is damaged"):
        evidence.read(tmp_path, 3)
