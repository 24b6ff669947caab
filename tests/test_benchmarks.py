"""The benchmarks that reach into the program still find there what they measure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="not a checkout")
def test_a_release_is_measured() -> None:
    command = [sys.executable, str(BENCHMARKS / "release.py"), "--contexts", "40"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    for step in ("choosing", "hashing", "sync", "card"):
        assert step in done.stdout
