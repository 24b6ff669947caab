"""Loads torch's libraries without stopping the other threads of the program.

An import maps some 200 MB and binds their symbols while it holds the interpreter's lock: a window
stands still for half a second. Called through ctypes, dlopen runs without the lock, and the import
that follows finds the libraries loaded. It knows nothing of what torch is for.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

_LIBRARIES = ("libc10.so", "libtorch_cpu.so", "libtorch.so", "libtorch_python.so")


def load_torch() -> None:
    """Loads them on Linux; elsewhere, and where they lie elsewhere, it does nothing."""
    if sys.platform != "linux" or "torch" in sys.modules:
        return
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.restype, dlopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    folder = Path(spec.origin).parent / "lib"
    for name in _LIBRARIES:
        if (folder / name).exists():
            dlopen(os.fsencode(folder / name), os.RTLD_LAZY | os.RTLD_LOCAL)
