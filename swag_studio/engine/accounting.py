"""How long each artifact took to make, on which machines and with which versions.

Added up over every interruption, machine by machine, in the project's logs/work.json: outside all
compared bytes, since times differ from run to run. It knows nothing of what the stages do.
"""

from __future__ import annotations

import platform
import socket
import time
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

from swag_studio import __version__
from swag_studio.engine.spacy_model import MODELS
from swag_studio.files import read_object, write_json
from swag_studio.project import Project
from swag_studio.records import Artifact

SAVE_EVERY = 10.0  # seconds: what a kill can lose of the account

_PACKAGES = ("torch", "numpy", "spacy", "safetensors", "sqlite-utils")
_LANGUAGE = tuple(name.replace("_", "-") for name in MODELS)  # as packages are named
_CHANGE_RESULTS = {"torch", "numpy", "spacy", *_LANGUAGE}
_SPENT = ("seconds", "cpu_seconds", "sessions")

Entry = Mapping[str, Any]


class WorkClock:
    """Counts the seconds inside `with clock:`, of the wall and of all the process's threads.

    They count for the artifact and, in it, for this machine as it is now.
    """

    def __init__(self, project: Project, artifact: Artifact) -> None:
        self._project, self._folder = project, artifact.folder
        before = work(project).get(artifact.folder, {})
        self._all = _spent(before)
        self._machines: list[dict[str, Any]] = [
            {**told, **_spent(told)} for told in before.get("machines", [])
        ]
        here = machine()
        mine = next((m for m in self._machines if here.items() <= m.items()), None)
        if mine is None:
            mine = {**here, **_spent({})}
            self._machines.append(mine)
        self._accounts = (self._all, mine)
        self._add("sessions", 1)
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
        self._add("seconds", time.monotonic() - self._wall)
        self._add("cpu_seconds", time.process_time() - self._cpu)
        if time.monotonic() - self._saved > SAVE_EVERY:
            self.save()

    def _add(self, what: str, amount: float) -> None:
        for account in self._accounts:
            account[what] += amount

    def save(self) -> None:
        """Adds the account to the project's."""
        everything = work(self._project)
        everything[self._folder] = {
            **_rounded(self._all),
            "machines": [_rounded(told) for told in self._machines],
        }
        write_json(_path(self._project), everything)
        self._saved = time.monotonic()


def work(project: Project) -> dict[str, dict[str, Any]]:
    """Artifact folder -> seconds, cpu_seconds, sessions, and `machines` with the same of each.

    A damaged account counts as none. An older program kept no machines.
    """
    return read_object(_path(project))


def machines(entry: Entry) -> list[dict[str, Any]]:
    """The machines that made an artifact, in the order of their first work, with their share.

    `host` is None for work of which an older program kept no machine; it stands first. `entry` is
    the artifact's in `work`, or empty where there is none.
    """
    known = [dict(told) for told in entry.get("machines", [])]
    total = _spent(entry)
    rest = {what: total[what] - sum(_spent(told)[what] for told in known) for what in _SPENT}
    # By sessions, which are whole numbers: seconds are rounded.
    if known and rest["sessions"] <= 0:
        return known
    return [{"host": None, **(_rounded(rest) if entry else {})}, *known]


def versions(entry: Entry) -> list[dict[str, str] | None]:
    """The versions with which an artifact was made, of what its result depends on; each once.

    None stands for work of which they were not kept. The same on one machine whatever became of
    a run there, so that compared bytes may have it.
    """
    result: list[dict[str, str] | None] = []
    for told in machines(entry):
        used = None
        if told["host"] is not None:
            packages = {n: v for n, v in told["packages"].items() if n in _CHANGE_RESULTS}
            used = {"swag-studio": told["program"], "python": told["python"], **packages}
        if used not in result:
            result.append(used)
    return result


def account(project: Project, made: Iterable[Artifact]) -> dict[str, Any]:
    """When, where and in what time something was made, and what it was made from: for run.json.

    `machine` is the one that writes it; each of `stages` has those that worked on it.
    """
    spent = work(project)
    stages = {a.stage: spent.get(a.folder, {}) for a in made}
    return {
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine(),
        "stages": {name: {**entry, "machines": machines(entry)} for name, entry in stages.items()},
    }


def machine() -> dict[str, Any]:
    """The host and the versions that work is done with."""
    model = next((name for name in _LANGUAGE if _version(name)), _LANGUAGE[0])
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "program": __version__,
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in (*_PACKAGES, model)},
    }


def _spent(entry: Entry) -> dict[str, Any]:
    return {what: entry.get(what, 0) for what in _SPENT}


def _rounded(entry: Entry) -> dict[str, Any]:
    return {**entry, **{what: round(entry[what], 2) for what in _SPENT}}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _path(project: Project) -> Path:
    return project.root / "logs" / "work.json"
