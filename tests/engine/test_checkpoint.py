"""Models and training states on the disk: whole, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.checkpoint import (
    load_fold_model,
    load_state,
    model_meta,
    model_path,
    save_model,
    save_state,
)
from swag_studio.engine.lm import LanguageModel, LmConfig, initialised
from swag_studio.errors import ProjectError


def model(seed: int = 1) -> LanguageModel:
    return initialised(LmConfig(11, 4, 2), torch.Generator().manual_seed(seed))


def test_a_model_comes_back_as_it_was(tmp_path: Path) -> None:
    made = model()
    assert model_meta(tmp_path, 3) is None
    save_model(model_path(tmp_path, 3), made, {"epochs": 2})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fold-3.json", "fold-3.safetensors"]
    found = load_fold_model(tmp_path, 3, "cpu", torch.float32)
    assert found.config == made.config and not found.training
    for name, tensor in made.state_dict().items():
        assert torch.equal(found.state_dict()[name], tensor)
    assert not any(p.requires_grad for p in found.parameters())
    assert model_meta(tmp_path, 3) == {"epochs": 2}


def test_a_model_comes_in_the_asked_number_type(tmp_path: Path) -> None:
    save_model(model_path(tmp_path, 0), model(), {})
    found = load_fold_model(tmp_path, 0, "cpu", torch.bfloat16)
    assert {p.dtype for p in found.parameters()} == {torch.bfloat16}


def test_equal_models_have_equal_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        save_model(model_path(tmp_path / folder, 0), model(), {"x": 1, "y": [2]})
    for name in ("fold-0.json", "fold-0.safetensors"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def damage(path: Path, kind: str) -> None:
    data = bytearray(path.read_bytes())
    if kind == "a bit":
        data[-1] ^= 1
        path.write_bytes(data)
    elif kind == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()


@pytest.mark.parametrize("kind", ["a bit", "truncated", "empty", "gone"])
@pytest.mark.parametrize("name", ["fold-0.safetensors", "fold-0.json"])
def test_a_damaged_model_is_refused_in_a_sentence(tmp_path: Path, name: str, kind: str) -> None:
    save_model(model_path(tmp_path, 0), model(), {})
    damage(tmp_path / name, kind)
    with pytest.raises(ProjectError, match=r"fold-0\.safetensors is missing or damaged"):
        load_fold_model(tmp_path, 0, "cpu", torch.float32)


def test_weights_of_another_training_are_refused(tmp_path: Path) -> None:
    save_model(model_path(tmp_path, 0), model(1), {})
    save_model(model_path(tmp_path, 1), model(2), {})
    model_path(tmp_path, 1).replace(model_path(tmp_path, 0))
    with pytest.raises(ProjectError):
        load_fold_model(tmp_path, 0, "cpu", torch.float32)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values, max_size=4), st.lists(st.floats(width=32)))
def test_a_state_comes_back_with_its_tensors(
    tmp_path_factory: pytest.TempPathFactory, state: dict[str, object], numbers: list[float]
) -> None:
    path = tmp_path_factory.mktemp("state") / "s.safetensors"
    tensors = {"a": torch.tensor(numbers), "b": torch.arange(6).view(2, 3), "c": torch.tensor(2.0)}
    save_state(path, tensors, state)
    data = path.read_bytes()
    found, kept = load_state(path)
    assert kept == state
    assert all(torch.equal(found[k].nan_to_num(), v.nan_to_num()) for k, v in tensors.items())
    save_state(path, found, kept)
    assert path.read_bytes() == data


@pytest.mark.parametrize("kind", ["truncated", "empty"])
def test_a_damaged_state_is_refused_in_a_sentence(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "s.safetensors"
    save_state(path, {"a": torch.ones(100)}, {"epoch": 1})
    damage(path, kind)
    with pytest.raises(ProjectError, match="damaged"):
        load_state(path)
