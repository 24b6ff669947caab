"""Which candidates are assigned to each context, on disk by iteration.

    initial.safetensors          who may be assigned, and a seeded draw of k of them
    iteration-0000.safetensors   what the first iteration replaced, with its metrics; and so on

A file is written whole by one rename, so an iteration is there or it is not. The current
assignment is the initial one with all replacements replayed; so it can be told when each
distractor came in and what it displaced. It knows nothing of models or of how swaps are chosen.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from swag_studio.engine.remap import SWAP_ARRAYS, SWAP_COUNTS, Swaps
from swag_studio.engine.seeds import seed_for
from swag_studio.engine.usable import Usable
from swag_studio.errors import ProjectError
from swag_studio.files import write_bytes
from swag_studio.pool import Pool

_INITIAL = "initial.safetensors"
_INFO = "info"  # the one metadata key: several would be written in random order


@dataclass(frozen=True)
class Assignment:
    """The k distractors of each of C contexts, as rows of their pool context, and who else may be.

    `rows` is changed in place by `apply`.
    """

    contexts: NDArray[np.int64]  # (C,) ascending places in the pool
    rows: NDArray[np.uint16]  # (C, k)
    usable_bits: NDArray[np.uint8]  # usable rows of all contexts, packed, each from a new byte
    usable_offsets: NDArray[np.int64]  # (C + 1,) bytes

    @property
    def k(self) -> int:
        return int(self.rows.shape[1])

    def __len__(self) -> int:
        return len(self.contexts)

    @classmethod
    def of(
        cls,
        contexts: Sequence[int],
        rows: Sequence[NDArray[np.uint16]],
        bits: Sequence[NDArray[np.uint8]],
        k: int,
    ) -> Assignment:
        """From each context's place, its k rows and its packed usable rows."""
        return cls(
            contexts=np.array(contexts, np.int64),
            rows=np.array(rows, np.uint16).reshape(len(contexts), k),
            usable_bits=np.concatenate(bits) if bits else np.zeros(0, np.uint8),
            usable_offsets=np.cumsum([0, *map(len, bits)], dtype=np.int64),
        )

    def bits(self, place: int) -> NDArray[np.uint8]:
        """The usable rows of the context at `place`, packed."""
        first, last = self.usable_offsets[place : place + 2]
        return self.usable_bits[first:last]

    def candidates(self, place: int) -> NDArray[np.int64]:
        """The rows that may be assigned to the context at `place` and are not, ascending."""
        usable = np.unpackbits(self.bits(place), bitorder="little")
        usable[self.rows[place]] = 0
        return np.flatnonzero(usable)

    def apply(self, swaps: Swaps) -> None:
        """Replaces. `swaps.place` counts this assignment's contexts."""
        if not np.array_equal(self.rows[swaps.place, swaps.slot], swaps.old):
            raise ValueError("the swaps belong to another assignment")
        self.rows[swaps.place, swaps.slot] = swaps.new


def draw_initial(
    pool: Pool, context_ids: Sequence[str], k: int, may_be: Usable, seed: int
) -> Generator[int, None, Assignment]:
    """k random usable candidates per context; yields the number of contexts seen, by block.

    A context's draw depends on its id and the seed alone. Contexts with fewer than k usable
    candidates are left out.
    """
    contexts: list[int] = []
    drawn: list[NDArray[np.uint16]] = []
    bits: list[NDArray[np.uint8]] = []
    for block in range(pool.layout.blocks):
        offsets, rows = pool.block(block)
        places = zip(pool.layout.contexts_of(block), pairwise(offsets.tolist()), strict=True)
        for context, (first, last) in places:
            usable = may_be(rows.slice(first, last))
            if usable.sum() < k:
                continue
            rng = np.random.default_rng(seed_for(seed, "assign", context_ids[context]))
            contexts.append(context)
            drawn.append(rng.choice(np.flatnonzero(usable), k, replace=False).astype(np.uint16))
            bits.append(np.packbits(usable, bitorder="little"))
        yield pool.layout.contexts_of(block).stop
    return Assignment.of(contexts, drawn, bits, k)


# --- on disk ---------------------------------------------------------------------------------


class AssignmentLog:
    """The assignment's files in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, assignment: Assignment) -> None:
        """Writes the initial assignment."""
        arrays: dict[str, Any] = {
            "contexts": assignment.contexts,
            "rows": assignment.rows,
            "usable_bits": assignment.usable_bits,
            "usable_offsets": assignment.usable_offsets,
        }
        write_bytes(self.folder / _INITIAL, save(arrays))

    def initial(self) -> Assignment | None:
        """The initial assignment; None before `begin`."""
        path = self.folder / _INITIAL
        if not path.exists():
            return None
        try:
            arrays = load(path.read_bytes())
            names = ("contexts", "rows", "usable_bits", "usable_offsets")
            return Assignment(*(arrays[name] for name in names))
        except Exception as error:  # safetensors raises its own, undocumented types
            raise _damaged(path) from error

    def path(self, iteration: int) -> Path:
        return self.folder / f"iteration-{iteration:04d}.safetensors"

    def commit(self, iteration: int, swaps: Swaps, info: Mapping[str, Any]) -> None:
        """Writes what an iteration replaced, with its `info`, whole or not at all."""
        arrays: dict[str, Any] = {name: getattr(swaps, name) for name in SWAP_ARRAYS}
        arrays["place"] = swaps.place.astype(np.uint32)
        counts = {name: getattr(swaps, name) for name in SWAP_COUNTS}
        text = json.dumps({**info, **counts}, sort_keys=True)
        write_bytes(self.path(iteration), save(arrays, metadata={_INFO: text}))

    def committed(self) -> int:
        """How many iterations are there, without a gap, from the first."""
        count = 0
        while self.path(count).exists():
            count += 1
        return count

    def infos(self) -> list[dict[str, Any]]:
        """The `info` of each committed iteration, with the counts of its swaps."""
        return [self._read(iteration)[1] for iteration in range(self.committed())]

    def swaps(self, first: int = 0) -> Iterator[Swaps]:
        """What each committed iteration replaced, from the iteration `first` on."""
        return (self._read(iteration)[0] for iteration in range(first, self.committed()))

    def _read(self, iteration: int) -> tuple[Swaps, dict[str, Any]]:
        path = self.path(iteration)
        try:
            data = path.read_bytes()
            length = int.from_bytes(data[:8], "little")
            info = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][_INFO])
            arrays: dict[str, Any] = load(data)
            arrays["place"] = arrays["place"].astype(np.int64)
            swaps = Swaps(**arrays, **{name: info[name] for name in SWAP_COUNTS})
        except Exception as error:
            raise _damaged(path) from error
        return swaps, info

    def current(self) -> Assignment | None:
        """The initial assignment with all committed replacements; None before `begin`."""
        assignment = self.initial()
        if assignment is not None:
            for iteration, swaps in enumerate(self.swaps()):
                try:
                    assignment.apply(swaps)
                except (ValueError, IndexError):
                    raise _damaged(self.path(iteration)) from None
        return assignment

    def history(self, context: int) -> list[tuple[int, int, int, int]]:
        """(iteration, slot, row out, row in) of the context at this place of the pool, in order."""
        assignment = self.initial()
        if assignment is None:
            return []
        place = np.searchsorted(assignment.contexts, context)
        if place == len(assignment) or assignment.contexts[place] != context:
            return []
        result = []
        for iteration, swaps in enumerate(self.swaps()):
            for i in np.flatnonzero(swaps.place == place):
                slot, old, new = int(swaps.slot[i]), int(swaps.old[i]), int(swaps.new[i])
                result.append((iteration, slot, old, new))
        return result

    def newest(self, contexts: int) -> NDArray[np.int64]:
        """(contexts,) the iteration that brought the newest distractor in, -1 for the first draw.

        What the last swap in a context brought in is still there.
        """
        newest = np.full(contexts, -1, np.int64)
        for iteration, swaps in enumerate(self.swaps()):
            newest[swaps.place] = iteration
        return newest


def _damaged(path: Path) -> ProjectError:
    return ProjectError(
        f"{path} is damaged. Remove it and run the project again: it is made anew with the same "
        "contents."
    )
