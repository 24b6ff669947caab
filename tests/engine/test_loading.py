"""Loading torch ahead of its import changes nothing of it, and does not hold the interpreter."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys, threading
from swag_studio.engine.loading import load_torch
turns = 0
def load():
    load_torch()
    assert "torch" not in sys.modules
thread = threading.Thread(target=load)
thread.start()
while thread.is_alive():
    turns += 1
import torch
assert turns > 1000, turns  # a lock held by dlopen would leave a few
print(int(torch.ones(3).sum()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a facility of Linux")
def test_other_threads_go_on_while_torch_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout.strip()) == (0, "3"), done.stderr
