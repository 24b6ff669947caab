"""Weights and training states on disk: safetensors and JSON, whole or not at all.

Nothing that is loaded can execute code. It knows tensors and names, not what training does.

    fold-0.safetensors   the fold's model, as training left it
    fold-0.json          its sizes, the hash of the file beside it, and what is known of its making
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from swag_studio.engine.lm import LanguageModel, LmConfig
from swag_studio.errors import ProjectError
from swag_studio.files import read_json, write_bytes, write_json

FORMAT = 1


def model_path(folder: Path, fold: int) -> Path:
    """Where the weights of a fold's model are."""
    return folder / f"fold-{fold}.safetensors"


def save_model(path: Path, model: LanguageModel, meta: Mapping[str, Any]) -> None:
    """Writes `path` and, last, the JSON beside it, whose presence says that the model is whole."""
    tensors = {k: v.detach().cpu().contiguous() for k, v in model.state_dict().items()}
    data = save(tensors)
    write_bytes(path, data)
    config = model.config
    description = {
        "format": FORMAT,
        "vocabulary": config.vocabulary,
        "dim": config.dim,
        "layers": config.layers,
        "blake2b": hashlib.blake2b(data, digest_size=16).hexdigest(),
        "meta": dict(meta),
    }
    write_json(path.with_suffix(".json"), description)


def model_meta(folder: Path, fold: int) -> dict[str, Any] | None:
    """What was kept with a fold's model, or None while it is not finished."""
    path = model_path(folder, fold).with_suffix(".json")
    return dict(read_json(path)["meta"]) if path.exists() else None


def load_fold_model(
    folder: Path, fold: int, device: torch.device | str, dtype: torch.dtype
) -> LanguageModel:
    """The fold's model, in evaluation mode and without gradients, on `device` in `dtype`.

    Raises ProjectError when its files are missing or damaged.
    """
    path = model_path(folder, fold)
    try:
        description, data = read_json(path.with_suffix(".json")), path.read_bytes()
        if description["blake2b"] != hashlib.blake2b(data, digest_size=16).hexdigest():
            raise ValueError("its weights do not match their hash")
        config = LmConfig(description["vocabulary"], description["dim"], description["layers"])
        model = LanguageModel(config)
        model.load_state_dict(load(data))
    except Exception as error:  # safetensors raises its own, undocumented types
        raise ProjectError(
            f"{path} is missing or damaged ({type(error).__name__}). "
            "Have it made anew with: swag-studio check PROJECT --mend"
        ) from error
    return model.requires_grad_(False).eval().to(device=device, dtype=dtype)


def save_state(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Writes tensors and a JSON-ready `state` as one file: neither is ever without the other.

    The state is the only key of the file's metadata: safetensors keeps several in no fixed order.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_bytes(path, save(plain, metadata={"state": json.dumps(state, sort_keys=True)}))


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What `save_state` wrote. Raises ProjectError when the file is damaged."""
    try:
        data = path.read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        return load(data), json.loads(header["__metadata__"]["state"])
    except Exception as error:  # safetensors raises its own, undocumented types
        raise ProjectError(
            f"{path} is damaged ({type(error).__name__}). Remove it and run the project again: "
            "this model's training starts anew."
        ) from error
