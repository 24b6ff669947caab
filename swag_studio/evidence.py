"""What a member of the ensemble goes by, as a filter run writes it down for people.

    filter/v1/evidence/iteration-0007.json      one list of `Evidence`, one entry per member

It knows the format, and what things are called in words, not how the evidence is found
(engine/telling.py) or shown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from swag_studio.errors import ProjectError
from swag_studio.files import read_json, write_json

FOLDER = "evidence"

Kind = Literal["words", "ngrams", "tags", "features"]

# What people call the members and others that tell endings apart; others go by their own names.
MEMBERS = {
    "mlp": "MLP",
    "bow": "bag of words",
    "cnn": "CNN",
    "pos": "POS biLSTM",
    "gibberish": "classifier of gibberish",
    "ensemble": "ensemble",
    "probe": "held-out probe",
}

# What the MLP sees of an ending, in nats per token and in tokens.
FEATURES = {
    "s_n_forward": "surprise at the context, read forward",
    "v_given_s_n_forward": "surprise at the ending after its context",
    "s_n_given_v_backward": "surprise at the context, read back from the ending",
    "v_backward": "surprise at the ending alone, read backward",
    "last_token": "surprise at the last token",
    "v_tokens": "length of the ending",
    "n_tokens": "length of the noun phrase",
    "s_tokens": "length of the first sentence",
}


@dataclass(frozen=True, slots=True)
class Clue:
    """One thing that a member goes by.

    `weight` is positive where it speaks for "found", negative for "generated", in the head's
    logits per ending that shows it; of a feature it is the loss of 4-way accuracy (a share) when
    its values are shuffled among the endings. `found` and `assigned` are the shares of found
    endings and of distractors that show it; of a feature its two means. `contexts` are the ids of
    some contexts where it is seen.
    """

    text: str
    weight: float
    found: float
    assigned: float
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one member went by in one iteration, the most telling first; on `tested` contexts."""

    iteration: int
    member: str
    kind: Kind
    tested: int
    clues: tuple[Clue, ...]


def path_of(folder: Path, iteration: int) -> Path:
    """The file of an iteration in a filter version's folder."""
    return folder / FOLDER / f"iteration-{iteration:04d}.json"


def write(folder: Path, iteration: int, evidence: Sequence[Evidence]) -> None:
    """Writes the evidence of an iteration, whole or not at all."""
    path = path_of(folder, iteration)
    path.parent.mkdir(exist_ok=True)
    write_json(path, [dataclasses.asdict(e) for e in evidence])


def iterations(folder: Path) -> list[int]:
    """The iterations that have evidence, ascending."""
    names = (path.stem.rpartition("-")[2] for path in (folder / FOLDER).glob("iteration-*.json"))
    return sorted(int(name) for name in names if name.isdigit())


def read(folder: Path, iteration: int) -> list[Evidence]:
    """The evidence of an iteration; empty when there is none. ProjectError when it is damaged."""
    path = path_of(folder, iteration)
    if not path.exists():
        return []
    try:
        return [Evidence(**{**e, "clues": tuple(map(_clue, e["clues"]))}) for e in read_json(path)]
    except (ValueError, KeyError, TypeError) as error:
        raise ProjectError(
            f"{path} is damaged. Remove it: nothing else depends on what it tells."
        ) from error


def _clue(values: Mapping[str, Any]) -> Clue:
    return Clue(**{**values, "contexts": tuple(values["contexts"])})
