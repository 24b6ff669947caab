"""Seeds, devices and what happens when memory is short."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine import runtime
from swag_studio.errors import StageError


def test_a_seed_is_63_bits_of_blake2b() -> None:
    digest = hashlib.blake2b(b"7\x1ftrain_lm\x1f3", digest_size=8).digest()
    assert runtime.seed_for(7, "train_lm", 3) == int.from_bytes(digest, "big") // 2


@given(st.integers(0, 2**31 - 1), st.lists(st.text("ab\x1e0", max_size=3) | st.integers(0, 99)))
def test_seeds_are_valid_for_torch_and_numpy(seed: int, parts: list[str | int]) -> None:
    found = runtime.seed_for(seed, *parts)
    assert 0 <= found < 2**63
    assert found == runtime.seed_for(seed, *parts)
    assert found != runtime.seed_for(seed, *parts, "more")


def test_a_generator_is_its_own() -> None:
    a = torch.rand(3, generator=runtime.generator(5))
    torch.manual_seed(1)
    assert torch.equal(a, torch.rand(3, generator=runtime.generator(5)))


# --- device ----------------------------------------------------------------------------------


def test_the_cpu_can_be_asked_for() -> None:
    assert runtime.choose_device("cpu", "bfloat16") == (torch.device("cpu"), torch.bfloat16)


@pytest.mark.parametrize(("ratio", "dtype"), [(2.9, torch.float32), (3.1, torch.bfloat16)])
def test_bfloat16_is_taken_where_it_was_measured_to_be_much_faster(
    ratio: float, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds = {torch.float32: 1e9, torch.bfloat16: ratio * 1e9}
    monkeypatch.setattr(runtime, "gemm_speeds", lambda device: speeds)
    assert runtime.choose_device("cpu", "auto").dtype == dtype


def test_speeds_are_measured_without_a_trace() -> None:
    threads = torch.get_num_threads()
    speeds = runtime.gemm_speeds("cpu")
    assert speeds[torch.float32] > 0 and set(speeds) == {torch.float32, torch.bfloat16}
    assert torch.get_num_threads() == threads


def test_a_device_that_is_not_there_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runtime, "_works", lambda name: name == "cpu")
    assert runtime.choose_device("auto", "float32").device.type == "cpu"
    with pytest.raises(StageError, match=r"run\.device is cuda.*Set run\.device to auto or cpu"):
        runtime.choose_device("cuda")


# --- memory ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 5 GB)"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_memory_errors_are_known(error: Exception, expected: bool) -> None:
    assert runtime.is_out_of_memory(error) is expected


class Device:
    """Holds so many items at once."""

    def __init__(self, fits: int) -> None:
        self.fits, self.kept, self.resets = fits, [0], 0

    def work(self, items: Sequence[int]) -> int:
        if len(items) > self.fits:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        self.kept += items
        return len(items)

    def reset(self) -> None:
        self.kept, self.resets = [], self.resets + 1


@pytest.mark.parametrize(
    ("fits", "parts", "sizes", "needed"),
    [
        (10, 1, [10], 1),
        (5, 1, [5, 5], 2),
        (4, 1, [3, 3, 3, 1], 4),
        (10, 4, [3, 3, 3, 1], 4),  # as it was found before
        (1, 1, [1] * 10, 16),
    ],
)
def test_a_batch_is_halved_until_it_fits(
    fits: int, parts: int, sizes: list[int], needed: int
) -> None:
    device = Device(fits)
    assert runtime.in_parts(range(10), parts, device.work, device.reset) == (sizes, needed)
    assert device.kept == list(range(10))  # nothing twice, nothing left from a failed attempt
    assert device.resets == 1 + (needed // parts).bit_length() - 1


def test_an_item_that_does_not_fit_alone_is_an_error() -> None:
    device = Device(0)
    with pytest.raises(torch.OutOfMemoryError):
        runtime.in_parts(range(4), 1, device.work, device.reset)


def test_other_errors_pass() -> None:
    def work(items: Sequence[int]) -> int:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        runtime.in_parts(range(4), 1, work, lambda: None)
