"""Releases as people name, ask for and list them. It knows folders and manifests, not the engine.

releases/v1, v2 ...   drafts, which the pipeline makes (project.py)
releases/1.0.0 ...    verified releases; once there, never changed
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_studio.errors import UserError
from swag_studio.files import read_json

FOLDER = "releases"
MANIFEST, RUN, CARD, PROVENANCE = "manifest.json", "run.json", "README.md", "provenance.jsonl"
SURPRISING, PREFERENCES = "surprising.jsonl", "preferences.jsonl"

# Semantic Versioning 2.0.0, without build metadata: it would not order two releases.
_NUMBER = r"(0|[1-9]\d*)"
_PART = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PART}(?:\.{_PART})*))?", re.ASCII)


class ReleaseError(UserError):
    """A release that cannot be written, and what to do."""


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """What is asked of a release.

    unverified        contexts that nobody judged enter too, marked as such
    include_simulated answers of simulated annotators count, and the release says so
    overrides         codes of problems that do not block it; they stand in its manifest
    override_reason   why not, in the curator's words; stands beside them, and is asked for
    formats           names of exporters; none: all
    filter_version    the run of the filter; 0: that of the project's recipe
    licence           of the sources, as the curator gives it: an id such as cc-by-4.0, or words
    cost_per_hour     of this machine; None: as in the person's settings
    """

    version: str
    unverified: bool = False
    include_simulated: bool = False
    overrides: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    filter_version: int = 0
    title: str = ""
    licence: str = ""
    language: str = "en"
    cost_per_hour: float | None = None
    override_reason: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """A release on the disk."""

    version: str
    folder: Path
    manifest: dict[str, Any]


def checked_version(text: str) -> str:
    """`text` as it is. Raises ReleaseError unless it is a semantic version."""
    if not _VERSION.fullmatch(text):
        raise ReleaseError(
            f"{text} is no version of a release. Three numbers are, such as 1.0.0: the first goes "
            "up when a question changes its right ending, the second when questions are added."
        )
    return text


def version_key(version: str) -> tuple[Any, ...]:
    """Orders versions: 1.0.0-rc.1 < 1.0.0 < 1.0.1 < 1.10.0."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version} is no version")
    *numbers, before = match.groups()
    parts = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in (before or "").split(".") if p]
    return (*map(int, numbers), before is None, parts)


def releases(project: Path) -> list[Release]:
    """The verified releases in a project's folder, in the order of their versions.

    A folder without a readable manifest is none.
    """
    found = []
    for folder in (project / FOLDER).glob("*.*.*"):
        if _VERSION.fullmatch(folder.name):
            try:
                manifest = read_json(folder / MANIFEST)
            except (OSError, ValueError):
                continue
            if isinstance(manifest, dict):
                found.append(Release(folder.name, folder, manifest))
    return sorted(found, key=lambda release: version_key(release.version))


def next_version(project: Path) -> str:
    """A version that is free: 1.0.0, or the newest with its second number raised."""
    known = [r.name for r in (project / FOLDER).glob("*.*.*") if _VERSION.fullmatch(r.name)]
    if not known:
        return "1.0.0"
    major, minor, *_ = version_key(max(known, key=version_key))
    return f"{major}.{minor + 1}.0"
