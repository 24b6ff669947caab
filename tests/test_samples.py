"""The format of what a language model writes for people: what is written comes back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio import samples
from swag_studio.errors import ProjectError
from swag_studio.samples import FoldSamples, Sample, Sampling

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
MADE = st.builds(
    FoldSamples,
    fold=st.integers(0, 19),
    epoch=st.integers(1, 1000),
    perplexity=st.floats(1, 1e300),
    sampling=st.builds(
        Sampling, st.floats(0.05, 10), st.integers(0, 65_000), st.floats(0.01, 1), st.just(25)
    ),
    samples=st.lists(
        st.builds(Sample, TEXT, TEXT, TEXT, TEXT, TEXT, st.booleans()), max_size=3
    ).map(tuple),
)


@given(st.lists(MADE, max_size=4))
def test_the_newest_of_each_fold_comes_back(made: list[FoldSamples]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in made:
            samples.write(folder, one)
        newest = {one.fold: one for one in made}
        assert samples.folds(folder) == sorted(newest)
        assert {fold: samples.read(folder, fold) for fold in newest} == newest


def test_other_files_of_the_models_are_no_samples(tmp_path: Path) -> None:
    for name in ("fold-0.json", "fold-0.safetensors", "fold-x.samples.json", ".fold-1.samples"):
        (tmp_path / name).write_text("{}")
    assert samples.folds(tmp_path) == []
    assert samples.read(tmp_path, 0) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"fold": 0}', '{"samples": 3, "sampling": 1}'])
def test_a_damaged_file_is_told_in_a_sentence(tmp_path: Path, text: str) -> None:
    samples.path_of(tmp_path, 2).write_text(text)
    with pytest.raises(ProjectError, match=r"fold-2\.samples\.json cannot be read"):
        samples.read(tmp_path, 2)
