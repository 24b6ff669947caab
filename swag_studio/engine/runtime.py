"""Seeds, device, number type and memory: where and how the models run.

It knows torch and the machine, not models, stages or projects.
"""

from __future__ import annotations

import functools
import gc
import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from swag_studio.engine.seeds import seed_for as seed_for
from swag_studio.errors import ALLOCATORS, StageError

T = TypeVar("T")
R = TypeVar("R")

# bfloat16 is taken where it is so much faster that noise in the measurement cannot change the
# choice, which would change the bytes: with tensor cores or AMX it is more than 5 times as fast.
_WORTH_BFLOAT16 = 3.0


def generator(seed: int, device: torch.device | str = "cpu") -> torch.Generator:
    """A random generator of its own for one unit of work."""
    made = torch.Generator(device=device)
    made.manual_seed(seed)
    return made


# --- device and number type ------------------------------------------------------------------


class Chosen(NamedTuple):
    """Where the models run, and the number type for sampling and scoring. Training is float32."""

    device: torch.device
    dtype: torch.dtype


def choose_device(device: str = "auto", dtype: str = "auto") -> Chosen:
    """What the recipe's `run.device` and `run.dtype` mean on this machine.

    "auto" takes the first of CUDA, MPS and CPU that can multiply, and bfloat16 where it was
    measured to be much faster. On CUDA, deterministic algorithms are switched on for the process.
    Raises StageError when the named device is not there.
    """
    names = ("cuda", "mps", "cpu") if device == "auto" else (device,)
    found = next((name for name in names if _works(name)), None)
    if found is None:
        raise StageError(
            f"run.device is {device}, but torch can't use such a device on this machine. "
            "Set run.device to auto or cpu."
        )
    if found == "cuda":
        torch.use_deterministic_algorithms(True, warn_only=True)
    if dtype == "auto":
        dtype = "bfloat16" if _bfloat16_pays(found) else "float32"
    return Chosen(torch.device(found), getattr(torch, dtype))


@functools.cache
def _works(name: str) -> bool:
    """Whether a small product comes out right on the device."""
    if name == "cuda":
        # cuBLAS reads it when it starts; without it its sums may differ from run to run.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    try:
        if not there.get(name, True):
            return False
        ones = torch.ones(4, 4, device=name)
        return bool((ones @ ones).sum().item() == 64.0)
    except (RuntimeError, AssertionError):  # a driver that is too old, a device that is lost
        return False


def _bfloat16_pays(device: str) -> bool:
    speeds = gemm_speeds(device)
    return speeds[torch.bfloat16] > _WORTH_BFLOAT16 * speeds[torch.float32]


@functools.cache
def gemm_speeds(device: str) -> dict[torch.dtype, float]:
    """FLOP/s of a square product on the device, by number type; 0 where it is not possible.

    On a CPU, of one thread. The types take turns and the best time of each counts, so that other
    work on the machine slows both alike. Measured once per process.
    """
    # Small on the CPU, where bfloat16 can be a hundred times slower than float32.
    size, dtypes = 256 if device == "cpu" else 2048, (torch.float32, torch.bfloat16)
    best = dict.fromkeys(dtypes, float("inf"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(6):
            for dtype in dtypes:
                try:
                    a = torch.ones(size, size, device=device, dtype=dtype)
                    best[dtype] = min(best[dtype], _seconds(a, device))
                except (RuntimeError, TypeError):
                    best[dtype] = float("inf")
    finally:
        torch.set_num_threads(threads)
    return {dtype: 2 * size**3 / seconds for dtype, seconds in best.items()}


def _seconds(a: Tensor, device: str) -> float:
    start = time.perf_counter()
    product = a @ a
    if device != "cpu":
        product[0, 0].item()  # waits for the device
    return max(time.perf_counter() - start, 1e-9)


# --- memory ----------------------------------------------------------------------------------


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device had too little memory: smaller batches may do."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    # MPS, the CPU's allocator and some CUDA libraries raise a plain RuntimeError.
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(words in text for words in ALLOCATORS)


def free_memory() -> None:
    """Gives back what torch keeps for later. Call it outside the `except` that caught the error:
    the error's traceback holds the tensors."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def in_parts(
    items: Sequence[T], parts: int, work: Callable[[Sequence[T]], R], reset: Callable[[], None]
) -> tuple[list[R], int]:
    """`work` on `items` cut into `parts` pieces, or into twice as many while memory is short.

    Before each attempt `reset` undoes what pieces of an earlier one have left. Returns the results
    by piece and the number of pieces that fitted: sums depend on it in their last bits, so the
    caller says so and keeps it. An item that does not fit alone raises.
    """
    while True:
        size = -(-len(items) // parts)
        reset()
        try:
            return [work(items[i : i + size]) for i in range(0, len(items), size)], parts
        except RuntimeError as error:
            if not is_out_of_memory(error) or size == 1:
                raise
        parts *= 2
        free_memory()
