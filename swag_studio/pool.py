"""The candidate pool on disk: arrays in checksummed blocks, read by the block or the context.

A pool holds, for each context in the order of the corpus, its endings as rows: row 0 is the found
ending, the others are candidates. It knows token ids and features, not words or models.

A block is one safetensors file of consecutive contexts. It is read through ordinary reads: a
truncated file under a memory mapping would kill the process.

    offsets   int64   (contexts + 1,)  first row of each context; a context may have none
    tokens    uint16  (rows, T)        padded with 0
    lengths   uint8   (rows,)          tokens of the ending
    complete  uint8   (rows,)          1 unless the candidate was cut off at T tokens
    origin    uint16  (rows,)          own candidates: 1 + index in the source's list; else 0
    features  float32 (rows, F)
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from swag_studio.errors import ProjectError
from swag_studio.files import from_json, read_json, write_bytes, write_json

_DTYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "F32": np.dtype("<f4"),
}


@dataclass(frozen=True)
class Rows:
    """The rows of one context, or of several that follow each other."""

    tokens: NDArray[np.uint16]  # (rows, T)
    lengths: NDArray[np.uint8]  # (rows,)
    complete: NDArray[np.uint8]  # (rows,)
    origin: NDArray[np.uint16]  # (rows,)
    features: NDArray[np.float32]  # (rows, F)

    def __len__(self) -> int:
        return len(self.lengths)

    def slice(self, first: int, last: int) -> Rows:
        """Rows first to last, as views."""
        return Rows(*(getattr(self, name)[first:last] for name in _ROWS))


_ARRAYS = {
    "offsets": np.dtype("<i8"),
    "tokens": np.dtype("<u2"),
    "lengths": np.dtype("u1"),
    "complete": np.dtype("u1"),
    "origin": np.dtype("<u2"),
    "features": np.dtype("<f4"),
}
_ROWS = tuple(_ARRAYS)[1:]  # the arrays with one row per ending


@dataclass(frozen=True)
class PoolLayout:
    """What all blocks of a pool share."""

    contexts: int
    contexts_per_block: int
    max_tokens: int
    feature_names: tuple[str, ...]

    @property
    def blocks(self) -> int:
        return -(-self.contexts // self.contexts_per_block)

    def block_of(self, context: int) -> tuple[int, int]:
        """(block, place within it) of a context."""
        return divmod(context, self.contexts_per_block)

    def contexts_of(self, block: int) -> range:
        """The contexts of a block."""
        first = block * self.contexts_per_block
        return range(first, min(first + self.contexts_per_block, self.contexts))


def encode_block(offsets: NDArray[np.int64], rows: Rows) -> bytes:
    """A block's bytes: a safetensors file whose metadata holds the checksum of its arrays."""
    arrays: dict[str, NDArray[Any]] = {"offsets": np.ascontiguousarray(offsets, dtype="<i8")}
    arrays |= {name: np.ascontiguousarray(getattr(rows, name)) for name in _ROWS}
    return save(arrays, metadata={"blake2b": _digest(arrays)})


def _digest(arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape};".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class _Header:
    start: int  # byte at which the arrays begin
    arrays: dict[str, tuple[np.dtype[Any], tuple[int, ...], int, int]]  # dtype, shape, from, to
    checksum: str


class Pool:
    """A pool folder. Written block by block, in any order; read once `finish`ed or while growing.

    Not for several threads at once: each reader opens its own.
    """

    def __init__(self, folder: Path, layout: PoolLayout) -> None:
        self.folder, self.layout = folder, layout
        self._headers: OrderedDict[int, tuple[_Header, NDArray[np.int64]]] = OrderedDict()
        self._counts: NDArray[np.int64] | None = None

    @classmethod
    def create(cls, folder: Path, layout: PoolLayout) -> Pool:
        """A new pool, or the one that an interrupted run began with the same layout."""
        folder.mkdir(parents=True, exist_ok=True)
        description = {
            "contexts": layout.contexts,
            "contexts_per_block": layout.contexts_per_block,
            "max_tokens": layout.max_tokens,
            "feature_names": list(layout.feature_names),
        }
        path = folder / "pool.json"
        if path.exists() and read_json(path) != description:
            raise ProjectError(f"{folder} holds a pool of another layout.")
        if not path.exists():
            write_json(path, description)
        return cls(folder, layout)

    @classmethod
    def open(cls, folder: Path) -> Pool:
        """An existing pool."""
        try:
            d = read_json(folder / "pool.json")
            layout = PoolLayout(
                d["contexts"], d["contexts_per_block"], d["max_tokens"], tuple(d["feature_names"])
            )
        except (OSError, ValueError, KeyError, TypeError):
            raise ProjectError(f"{folder} is not a whole candidate pool; run Check.") from None
        return cls(folder, layout)

    # --- writing -------------------------------------------------------------------------

    def path(self, block: int) -> Path:
        return self.folder / f"block-{block:06d}.safetensors"

    def write(self, block: int, offsets: NDArray[np.int64], rows: Rows) -> None:
        """Writes a block whole. `offsets` has one entry more than the block has contexts."""
        layout = self.layout
        assert offsets.shape == (len(layout.contexts_of(block)) + 1,)
        assert offsets[0] == 0 and offsets[-1] == len(rows)
        assert rows.tokens.dtype == np.uint16 and rows.tokens.shape[1] == layout.max_tokens
        assert rows.features.dtype == np.float32
        assert rows.features.shape[1] == len(layout.feature_names)
        write_bytes(self.path(block), encode_block(offsets, rows))
        self._headers.pop(block, None)
        self._counts = None

    def missing(self) -> list[int]:
        """The blocks that are not written yet: what a resumed run has to do."""
        return [b for b in range(self.layout.blocks) if not self.path(b).exists()]

    def finish(self, known: str | None = None) -> str:
        """Seals a complete pool with the list of its blocks' checksums; returns their hash.

        A pool that was sealed before, and mended since, must come out as it was: with its seal,
        and with the hash `known` where the seal itself was lost.
        """
        sums = [self._open(b)[0].checksum for b in range(self.layout.blocks)]
        digest = hashlib.blake2b("".join(sums).encode(), digest_size=16).hexdigest()
        seal = self.folder / "blocks.json"
        if known not in (None, digest) or (self.sealed and read_json(seal) != sums):
            raise ProjectError(
                f"{self.folder}: blocks that were made anew differ from the lost ones, as on "
                "another machine or device. Restore the project from a backup, or change the "
                "seed to make a new pool."
            )
        write_json(seal, sums)
        return digest

    @property
    def sealed(self) -> bool:
        """Whether the pool was finished."""
        return (self.folder / "blocks.json").exists()

    # --- reading -------------------------------------------------------------------------

    def counts(self) -> NDArray[np.int64]:
        """(contexts,) rows per context, the found ending included; 0 where it was left out."""
        if self._counts is None:
            parts = [np.diff(self._open(b)[1]) for b in range(self.layout.blocks)]
            self._counts = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return self._counts

    def context(self, context: int) -> Rows:
        """All rows of one context, by positioned reads of only their bytes."""
        block, place = self.layout.block_of(context)
        header, offsets = self._open(block)
        first, last = int(offsets[place]), int(offsets[place + 1])
        return self._read(block, header, first, last)

    def block(self, block: int) -> tuple[NDArray[np.int64], Rows]:
        """A whole block: offsets (contexts + 1,) and rows."""
        header, offsets = self._open(block)
        return offsets, self._read(block, header, 0, int(offsets[-1]))

    def gather(self, context: int, rows: Sequence[int] | NDArray[np.int64]) -> Rows:
        """Some rows of one context, in the given order."""
        every = self.context(context)
        index = np.asarray(rows, dtype=np.int64)
        return Rows(*(getattr(every, name)[index] for name in _ROWS))

    def problems(self) -> list[str]:
        """Every block read whole and compared with its checksum and with the seal."""
        return [problem for found in self.checking() for problem in found]

    def checking(self) -> Iterator[list[str]]:
        """As `problems`, in pieces: what was found before the blocks, then one list per block.

        Blocks that a pool lacks which was not finished are not problems, and have none.
        """
        sums: list[str] | None = None
        if sealed := self.sealed:
            try:
                sums = read_json(self.folder / "blocks.json")
                if not isinstance(sums, list) or len(sums) != self.layout.blocks:
                    raise ValueError
            except (OSError, ValueError):
                yield ["blocks.json: not the list of the blocks' checksums"]
                sums = None
        for block in range(self.layout.blocks):
            found: list[str] = []
            name = self.path(block).name
            if not self.path(block).exists():
                if sealed:
                    yield [f"{name}: missing"]
                continue
            try:
                header, _ = self._open(block, cache=False)
                data = self.path(block).read_bytes()
                arrays = {
                    key: np.frombuffer(data[header.start + a : header.start + b], dtype).reshape(
                        shape
                    )
                    for key, (dtype, shape, a, b) in header.arrays.items()
                }
                if _digest(arrays) != header.checksum:
                    found.append(f"{name}: its checksum does not match its contents")
                elif sums is not None and sums[block] != header.checksum:
                    found.append(f"{name}: not the block that was sealed")
            except (ProjectError, ValueError, LookupError, TypeError) as error:
                found.append(f"{name}: {error}")
            yield found

    def _open(self, block: int, cache: bool = True) -> tuple[_Header, NDArray[np.int64]]:
        if cache and block in self._headers:
            return self._headers[block]
        path = self.path(block)
        try:
            size = path.stat().st_size
            with open(path, "rb") as file:
                length = int.from_bytes(file.read(8), "little")
                if length > min(size, 1 << 20):
                    raise ValueError("header longer than the file")
                header = _parse_header(file.read(length), size - 8 - length, 8 + length)
                dtype, shape, a, b = header.arrays["offsets"]
                file.seek(header.start + a)
                offsets = np.frombuffer(file.read(b - a), dtype).reshape(shape).astype(np.int64)
            self._check(block, header, offsets)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ProjectError(
                f"{path} is missing or damaged ({error}). "
                "Have it made anew with: swag-studio check PROJECT --mend"
            ) from None
        entry = (header, offsets)
        if cache:
            self._headers[block] = entry
        return entry

    def _check(self, block: int, header: _Header, offsets: NDArray[np.int64]) -> None:
        """Raises ValueError unless the arrays are those of this block of this pool.

        Without it, a damaged offset would give rows of another context and no error.
        """
        layout, rows = self.layout, int(offsets[-1]) if offsets.size else 0
        shapes = {
            "offsets": (len(layout.contexts_of(block)) + 1,),
            "tokens": (rows, layout.max_tokens),
            "lengths": (rows,),
            "complete": (rows,),
            "origin": (rows,),
            "features": (rows, len(layout.feature_names)),
        }
        for name, shape in shapes.items():
            if header.arrays[name][:2] != (_ARRAYS[name], shape):
                raise ValueError(f"the array {name} is not of this pool")
        if offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError("its offsets do not rise from 0")

    def _read(self, block: int, header: _Header, first: int, last: int) -> Rows:
        parts: list[NDArray[Any]] = []
        try:
            with open(self.path(block), "rb", buffering=0) as file:
                for name in _ROWS:
                    dtype, shape, start, _ = header.arrays[name]
                    width = dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64))
                    file.seek(header.start + start + first * width)
                    data = file.read((last - first) * width)
                    parts.append(np.frombuffer(data, dtype).reshape(last - first, *shape[1:]))
        except (OSError, ValueError) as error:
            raise ProjectError(f"{self.path(block)} changed while it was read ({error}).") from None
        return Rows(*parts)


def _parse_header(data: bytes, body: int, start: int) -> _Header:
    """The safetensors header, with every array inside the file."""
    parsed = from_json(data.decode("utf-8"))
    arrays = {}
    for name, entry in parsed.items():
        if name == "__metadata__":
            continue
        dtype = _DTYPES[entry["dtype"]]
        shape = tuple(int(n) for n in entry["shape"])
        if min(shape, default=0) < 0:
            raise ValueError(f"the array {name} has no shape")
        a, b = (int(n) for n in entry["data_offsets"])
        if not 0 <= a <= b <= body or b - a != dtype.itemsize * int(np.prod(shape)):
            raise ValueError(f"the array {name} does not fit the file")
        arrays[name] = (dtype, shape, a, b)
    if missing := _ARRAYS.keys() - arrays.keys():
        raise ValueError(f"no array {sorted(missing)[0]}")
    return _Header(start, arrays, str(parsed["__metadata__"]["blake2b"]))
