"""The prepared data as arrays: what Prepare writes, and the later stages read.

Token ids are uint16 ids of the project's one vocabulary. Contexts stand in the order of their
sorted ids, which is the order of the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from swag_studio.errors import ProjectError
from swag_studio.files import read_json, write_bytes, write_json

PAD, UNK, BOS, EOS = range(4)
SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>")
MAX_VOCABULARY = 65_535

Ids = NDArray[np.uint16]


@dataclass(frozen=True)
class Ragged:
    """Sequences of token ids of different length in one array. `ragged[i]` is a view."""

    values: Ids  # (total,)
    offsets: NDArray[np.int64]  # (sequences + 1,)

    @classmethod
    def of(cls, sequences: Iterable[Sequence[int] | Ids]) -> Ragged:
        parts = [np.asarray(s, dtype=np.uint16) for s in sequences]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(p) for p in parts], out=offsets[1:])
        return cls(np.concatenate(parts) if parts else np.zeros(0, np.uint16), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Ids:
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def padded(self, index: NDArray[Any] | Sequence[int], width: int) -> Ids:
        """(len(index), width) the chosen sequences, padded with PAD on the right."""
        index = np.asarray(index, dtype=np.int64)
        columns = self.offsets[index][:, None] + np.arange(width)
        inside = columns < self.offsets[index + 1][:, None]
        if len(self.values) == 0:
            return np.zeros((len(index), width), np.uint16)
        taken = self.values[np.minimum(columns, len(self.values) - 1)]
        return np.where(inside, taken, np.uint16(PAD))


@dataclass(frozen=True)
class Vocabulary:
    """Token strings by id (specials first, then by falling count), and how they are written.

    `cased` gives the written form of tokens that are not written in lower case ("i" -> "I").
    """

    tokens: tuple[str, ...]
    cased: dict[str, str]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def index(self) -> dict[str, int]:
        """Token -> id. Built at each call: keep it."""
        return {token: i for i, token in enumerate(self.tokens)}


@dataclass(frozen=True)
class Corpus:
    """All that Prepare made with one recipe."""

    vocabulary: Vocabulary
    # contexts, selected ones only
    context_ids: tuple[str, ...]  # sorted
    groups: tuple[str, ...]
    folds: NDArray[np.uint8]  # (contexts,) the fold whose language model samples for it
    splits: NDArray[np.uint8]  # (contexts,) 0 train, 1 val, 2 test
    own: NDArray[np.bool_]  # (contexts,) True: its candidates come from another generator
    s: Ragged  # first sentence
    n: Ragged  # opening noun phrase of the second
    v: Ragged  # found ending, final stop included
    # captions, all of them, each document's in order
    captions: Ragged
    caption_chains: NDArray[np.int32]  # (captions,) equal within an unbroken run of captions
    caption_folds: NDArray[np.uint8]  # (captions,) fold of the caption's group
    caption_groups: NDArray[np.int32]  # (captions,) index into group_names
    group_names: tuple[str, ...]  # sorted
    # words that each fold's language model does not know
    masked: NDArray[np.bool_]  # (folds, vocabulary)

    @property
    def n_folds(self) -> int:
        return len(self.masked)

    def save(self, folder: Path) -> None:
        """Writes corpus.safetensors, vocabulary.json and ids.json."""
        arrays: dict[str, NDArray[Any]] = {
            name: np.ascontiguousarray(getattr(self, name)) for name in _PLAIN
        }
        for name in _RAGGED:
            ragged: Ragged = getattr(self, name)
            arrays[f"{name}.values"], arrays[f"{name}.offsets"] = ragged.values, ragged.offsets
        write_bytes(folder / "corpus.safetensors", save(arrays))
        write_json(
            folder / "vocabulary.json",
            {"tokens": self.vocabulary.tokens, "cased": self.vocabulary.cased},
        )
        write_json(
            folder / "ids.json",
            {"contexts": self.context_ids, "groups": self.groups, "group_names": self.group_names},
        )

    @classmethod
    def load(cls, folder: Path) -> Corpus:
        """What `save` wrote. Raises ProjectError when it is not whole."""
        try:
            arrays = load((folder / "corpus.safetensors").read_bytes())
            words, ids = read_json(folder / "vocabulary.json"), read_json(folder / "ids.json")
            fields: dict[str, Any] = {name: arrays[name] for name in _PLAIN}
            for name in _RAGGED:
                fields[name] = Ragged(arrays[f"{name}.values"], arrays[f"{name}.offsets"])
            return cls(
                vocabulary=Vocabulary(tuple(words["tokens"]), dict(words["cased"])),
                context_ids=tuple(ids["contexts"]),
                groups=tuple(ids["groups"]),
                group_names=tuple(ids["group_names"]),
                **fields,
            )
        except Exception as error:  # safetensors raises its own, undocumented types
            raise ProjectError(
                f"{folder} is damaged ({type(error).__name__}). Remove the folder's version by "
                "changing the recipe, or restore the project from a backup."
            ) from error


_PLAIN = ("folds", "splits", "own", "caption_chains", "caption_folds", "caption_groups", "masked")
_RAGGED = ("s", "n", "v", "captions")
