"""Looks at the machine: what the program finds, and what to do about what is not right.

It changes nothing and needs no project.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

from swag_studio import __version__
from swag_studio.engine import accounting, runtime, spacy_model
from swag_studio.errors import UserError
from swag_studio.schema import NEEDS_SQLITE, sqlite_version

GIB = 1 << 30
NEEDS_DISK, NEEDS_MEMORY = 2 * GIB, 2 * GIB  # bytes: what `small` takes, with room


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `remedy` says what to do when it is not `ok`."""

    name: str
    value: str
    ok: bool = True
    remedy: str = ""


def examine(folder: Path) -> Iterator[Finding]:
    """Everything, one finding after another; `folder` is where projects are to be made."""
    yield Finding("SWAG Studio", __version__)
    yield Finding("Python", f"{platform.python_version()} on {platform.platform()}")
    packages = accounting.machine()["packages"]
    yield Finding("Packages", ", ".join(f"{name} {version}" for name, version in packages.items()))
    yield _sqlite()
    yield _device()
    yield _number_types()
    yield _language_model()
    yield _memory()
    yield _disk(folder)


def _sqlite() -> Finding:
    found, needed = (".".join(map(str, v)) for v in (sqlite_version(), NEEDS_SQLITE))
    return Finding(
        "SQLite",
        found,
        sqlite_version() >= NEEDS_SQLITE,
        f"Projects need SQLite {needed} or newer: use a newer Python or system.",
    )


def _device() -> Finding:
    device, dtype = runtime.choose_device()
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        names.append("Apple GPU")
    gpus = ", ".join(names) or "no GPU"
    cores = psutil.cpu_count(logical=False) or os.cpu_count()
    return Finding("Device", f"{device} with {_name(dtype)}; {cores} cores, {gpus}")


def _number_types() -> Finding:
    """The speed of a matrix product in each number type, on the device that would be used."""
    device = runtime.choose_device().device.type
    speeds = [f"{_name(t)} {s / 1e9:,.0f}" for t, s in runtime.gemm_speeds(device).items()]
    where = " on one core" if device == "cpu" else ""
    return Finding("Speed", f"{', '.join(speeds)} GFLOP/s{where}")


def _language_model() -> Finding:
    try:
        name = spacy_model.installed()
        spacy_model.load()
    except UserError as error:
        return Finding("English model", "none that works", False, str(error))
    return Finding("English model", name)


def _memory() -> Finding:
    free = psutil.virtual_memory().available
    return Finding(
        "Free memory",
        f"{free / GIB:.1f} GiB",
        free >= NEEDS_MEMORY,
        f"At least {NEEDS_MEMORY // GIB} GiB are wanted: close other programs.",
    )


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    return Finding(
        "Free disk",
        f"{free / GIB:.1f} GiB at {folder}",
        free >= NEEDS_DISK,
        f"At least {NEEDS_DISK // GIB} GiB are wanted, 20 for the recipe paper on 40,000 contexts.",
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
