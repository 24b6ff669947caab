"""Fixtures of the engine's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small models in tests are faster on one thread, and do not wait for busy cores."""
    yield from _one_thread()


@pytest.fixture(autouse=True, scope="module")
def one_thread_for_shared_fixtures() -> Iterator[None]:
    """What the tests of a module share is made on as many threads: sums depend on them."""
    yield from _one_thread()
