"""Releases as people name, ask for and list them. It knows folders and manifests, not the engine.

releases/v1, v2 ...   drafts, which the pipeline makes (project.py)
releases/1.0.0 ...    verified releases; once there, never changed
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
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
_LONGEST = 64  # characters: it names a folder, and drives allow names so long and paths so long

# What the card says, in the curator's words; kept from release to release as a setting.
ON_CARD, KEPT = ("title", "licence", "language"), "release_card"

# ISO 639-1, and the form of the longer codes, of which there are thousands.
_LANGUAGE = re.compile(
    r"a[abefkmnrsvyz]|b[aegimnors]|c[aehorsuvy]|d[aevz]|e[elnostu]|f[afijory]|g[adlnuv]|"
    r"h[aeiortuyz]|i[adegikostu]|j[av]|k[agijklmnorsuvwy]|l[abginotuv]|m[ghiklnrsty]|"
    r"n[abdeglnorvy]|o[cjmrs]|p[ailst]|q[u]|r[mnouw]|s[acdegiklmnoqrstuvw]|"
    r"t[aeghiklnorstwy]|u[gkrz]|v[eio]|w[ao]|x[h]|y[io]|z[ahu]|[a-z]{3}"
)


class ReleaseError(UserError):
    """A release that cannot be written, and what to do."""


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """What is asked of a release.

    unverified        contexts that nobody judged enter too, marked as such
    include_simulated answers of simulated annotators count, and the release says so
    overrides         kinds of error that do not block it; they stand in its manifest
    override_reason   why not, in the curator's words; stands beside them, and is asked for
    formats           names of exporters; none: all
    filter_version    the run of the filter; 0: that of the project's recipe
    licence           of the sources, as the curator gives it: an id such as cc-by-4.0, or words
    language          of the texts: its code, as `checked_language` gives it; "": not said
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


def command(project: Path, options: ReleaseOptions, out: Path | None = None) -> str:
    """The command that writes a release with these options, to be pasted into a terminal.

    It asks for a reason where an error is overridden without one.
    """
    flags = {"--unverified": options.unverified, "--include-simulated": options.include_simulated}
    values = {
        "--because": options.override_reason or ("TEXT" if options.overrides else None),
        "--run": options.filter_version or None,
        "--title": options.title or None,
        "--licence": options.licence or None,
        "--language": options.language,
        "--cost-per-hour": options.cost_per_hour,
        "--out": out,
    }
    words = ["swag-studio", "release", str(project), "--version", options.version]
    words += [flag for flag, wanted in flags.items() if wanted]
    pairs = [("--format", name) for name in options.formats]
    pairs += [("--override", kind) for kind in options.overrides]
    pairs += [(flag, str(value)) for flag, value in values.items() if value is not None]
    words += [word for pair in pairs for word in pair]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


@dataclass(frozen=True, slots=True)
class Release:
    """A release on the disk. `manifest` is empty where it is damaged."""

    version: str
    folder: Path
    manifest: dict[str, Any]


# The form of what is looked up in a manifest: "?" where it may be absent, "*" for any name. An
# older program's and a draft's lack much of it; one that somebody edited may have anything.
_FORM: Any = {
    "files": {"*": {"sha256": str}},
    "version?": str,
    "recipe?": dict,
    "package?": dict,
    "counts?": {"*": (int, dict), "questions?": {"*": {"all": int}}, "left_out?": dict},
    "verification?": {"by?": str, "policy?": dict},
    "stages?": {"*": dict},
    "feedback?": {"by?": str, "runs?": [{"run": int, "by": str, "contexts": int}]},
    "formats?": {"*": (list, dict)},
    "sources?": [{"file": str, "sha256": str}],
    "checks?": {"problems?": [{"kind": str, "count": int}]},
    "overrides?": [str],
}


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the release in `folder`, in the form that it must have.

    Raises OSError where it cannot be read, ValueError where it is damaged.
    """
    manifest = read_json(folder / MANIFEST)
    if not _fits(manifest, _FORM):
        raise ValueError("no manifest of a release")
    return dict(manifest)


def _fits(value: Any, form: Any) -> bool:
    if isinstance(form, list):
        return isinstance(value, list) and all(_fits(item, form[0]) for item in value)
    if not isinstance(form, dict):
        return isinstance(value, form)
    if not isinstance(value, dict):
        return False
    parts = {key.rstrip("?"): part for key, part in form.items()}
    any_name = parts.pop("*", object)
    needed = {key for key in parts if key in form}
    return needed <= value.keys() and all(
        _fits(item, any_name) and _fits(item, parts.get(key, object)) for key, item in value.items()
    )


def checked_version(text: str) -> str:
    """`text` as it is. Raises ReleaseError unless it is a semantic version."""
    if not _VERSION.fullmatch(text):
        raise ReleaseError(
            f"{text} is no version of a release. Three numbers are, such as 1.0.0: the first goes "
            "up when a question changes its right ending, the second when questions are added."
        )
    if len(text) > _LONGEST:
        raise ReleaseError(f"A version has at most {_LONGEST} characters; {len(text)} were given.")
    return text


def checked_language(text: str) -> str:
    """A language's code in small letters; "" is not said. Raises ReleaseError for another word."""
    code = text.strip().casefold()
    if code and not _LANGUAGE.fullmatch(code):
        raise ReleaseError(
            f"{text} is no code of a language: give two or three letters of ISO 639, such as en."
        )
    return code


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

    A folder without a manifest is none. One whose manifest is damaged is there all the same.
    """
    found = []
    for folder in (project / FOLDER).glob("*.*.*"):
        if _VERSION.fullmatch(folder.name):
            try:
                manifest = read_manifest(folder)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, ValueError):
                manifest = {}
            found.append(Release(folder.name, folder, manifest))
    return sorted(found, key=lambda release: version_key(release.version))


def next_version(project: Path) -> str:
    """A version that is free: 1.0.0, or the newest with its second number raised."""
    known = [r.name for r in (project / FOLDER).glob("*.*.*") if _VERSION.fullmatch(r.name)]
    if not known:
        return "1.0.0"
    major, minor, *_ = version_key(max(known, key=version_key))
    return f"{major}.{minor + 1}.0"
