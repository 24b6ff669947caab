"""The classes of Qt, all made in the window's thread before another one reads a page's code.

PySide makes a class when it is first asked for, and not as two threads could do it at once: the
library of the charts asks for all of them as it is imported, and beside a window that was at work
the program crashed now and then. Made ahead, they are only looked up.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator

# What pyqtgraph imports of PySide6; it does without those of the second line.
MODULES = ("QtCore", "QtGui", "QtWidgets",
           "QtSvg", "QtTest", "QtOpenGL", "QtOpenGLWidgets")  # fmt: skip


def make_some(seconds: float) -> bool:
    """Makes classes for about so long. Whether all are made now."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if next(_rest, None) is None:
            return True
    return False


def _making() -> Iterator[str]:
    """Yields after each that may have taken time: some milliseconds, the slowest fifty."""
    for name in MODULES:
        try:
            module = importlib.import_module(f"PySide6.{name}")
        except ImportError:
            continue
        yield name
        for attribute in dir(module):
            getattr(module, attribute)
            yield attribute


_rest = _making()
