"""What each fold's language model writes while it trains, beside the found endings, for people.

    models/v1/fold-0.samples.json      one `FoldSamples`, of the fold's best epoch so far

It knows the format, not how endings are drawn (engine/lm_samples.py) or shown. No stage reads it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_studio.errors import ProjectError
from swag_studio.files import read_json, write_json

_SUFFIX = ".samples.json"


@dataclass(frozen=True, slots=True)
class Sampling:
    """The recipe's settings that the endings were drawn with. `top_k` 0: among all words."""

    temperature: float
    top_k: int
    top_p: float
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A held-out context with its found and one sampled ending, as shown text.

    `complete` is False where the sampled one was cut off at the most tokens.
    """

    context_id: str
    sent1: str
    sent2: str
    found: str
    sampled: str
    complete: bool


@dataclass(frozen=True, slots=True)
class FoldSamples:
    """What the model of a fold writes after `epoch` epochs (counted from 1).

    `perplexity` is that of the direction which draws (forward), on the development set.
    """

    fold: int
    epoch: int
    perplexity: float
    sampling: Sampling
    samples: tuple[Sample, ...]


def path_of(folder: Path, fold: int) -> Path:
    """The file of a fold in the folder of a version's models."""
    return folder / f"fold-{fold}{_SUFFIX}"


def write(folder: Path, made: FoldSamples) -> None:
    """Puts a fold's samples in the place of its earlier ones, whole or not at all."""
    write_json(path_of(folder, made.fold), dataclasses.asdict(made))


def folds(folder: Path) -> list[int]:
    """The folds that have samples, ascending."""
    names = (path.name.removesuffix(_SUFFIX) for path in folder.glob(f"fold-*{_SUFFIX}"))
    numbers = (name.removeprefix("fold-") for name in names)
    return sorted(int(number) for number in numbers if number.isdecimal())


def read(folder: Path, fold: int) -> FoldSamples | None:
    """The samples of a fold; None while there are none. Raises ProjectError when damaged."""
    path = path_of(folder, fold)
    try:
        data: dict[str, Any] = read_json(path)
        return FoldSamples(
            **{
                **data,
                "sampling": Sampling(**data["sampling"]),
                "samples": tuple(Sample(**sample) for sample in data["samples"]),
            }
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ProjectError(
            f"{path} cannot be read ({type(error).__name__}). Nothing else depends on it: the "
            "models are whole, and training writes it anew after its next best epoch."
        ) from None
