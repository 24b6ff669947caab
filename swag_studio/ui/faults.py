"""Faults of the program: kept in the log folder, told without stopping anyone's work.

Nothing is sent anywhere.
"""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import IO

from swag_studio.errors import UserError, in_words

CRASH = "crash.log"  # empty unless the program crashed: what faulthandler writes
CRASHES = 5  # that are kept

_log = logging.getLogger("swag_studio")


class Faults:
    """Catches what nobody else does. `tell` gets a sentence and the traceback."""

    def __init__(self, folder: Path, tell: Callable[[str, str], None]) -> None:
        self.folder, self._tell = folder, tell
        self.crashed: Path | None = None  # the log of a crash before this start, once installed
        self._crash: IO[str] | None = None
        self._handler: logging.Handler | None = None
        self._before = (sys.excepthook, threading.excepthook)

    def install(self) -> None:
        """From now on. A folder that cannot be written to is no reason not to start."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.crashed = _set_aside(self.folder / CRASH)
            self._crash = (self.folder / CRASH).open("a", encoding="utf-8")
            faulthandler.enable(self._crash)
            self._handler = RotatingFileHandler(
                self.folder / "swag-studio.log", maxBytes=1 << 20, backupCount=3, encoding="utf-8"
            )
            self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
            _log.addHandler(self._handler)
        except OSError as error:
            print(f"swag-studio: no log in {self.folder} ({error.strerror})", file=sys.stderr)
        sys.excepthook = self._hook
        threading.excepthook = self._thread_hook

    def remove(self) -> None:
        """As before `install`."""
        sys.excepthook, threading.excepthook = self._before
        faulthandler.disable()
        if self._handler is not None:
            _log.removeHandler(self._handler)
            self._handler.close()
        if self._crash is not None:
            self._crash.close()

    def _hook(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        self.note(error)
        fault = f"A fault in the window ({kind.__name__}). Your work is safe."
        self._tell(in_words(error, fault), "" if isinstance(error, UserError) else _text(error))

    def _thread_hook(self, what: threading.ExceptHookArgs) -> None:
        if what.exc_value is not None:
            self.note(what.exc_value)

    def note(self, error: BaseException) -> None:
        """Writes a traceback to the log and to the terminal."""
        text = _text(error)
        _log.error("%s", text)
        print(text, file=sys.stderr)


def _set_aside(log: Path) -> Path | None:
    """Renames the log of a crash, so that it is told once. None where there was no crash."""
    if not log.exists() or not log.stat().st_size:
        return None
    when = time.strftime("%Y%m%d-%H%M%S", time.localtime(log.stat().st_mtime))
    target = log.replace(log.with_name(f"{log.stem}-{when}{log.suffix}"))
    for old in sorted(log.parent.glob(f"{log.stem}-*{log.suffix}"))[:-CRASHES]:
        old.unlink(missing_ok=True)
    return target


def _text(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
