"""Whether the files of a project are whole, without loading what is in them.

A safetensors file by its header, which says where its arrays end; a model also by the sum beside
it; JSON by reading it; a release by the sums in its manifest. It knows the formats of files and
which of them a finished result has, not how one is made.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from swag_studio.files import from_json, read_json, read_object, sha256_of
from swag_studio.releases import FOLDER, MANIFEST, version_key

# "block": a run makes it anew by itself; "anew": all of its result is made anew; "drop": nothing
# depends on it, so it may go; "": no run makes it anew.
Mend = Literal["block", "anew", "drop", ""]

KINDS = {
    "database": ("the database", "the database"),
    "prepared": ("file of contexts", "files of contexts"),
    "model": ("model", "models"),
    "block": ("block of candidates", "blocks of candidates"),
    "filter": ("file of filter runs", "files of filter runs"),
    "release": ("release", "releases"),
}
_OF_STAGE = {"prepare": "prepared", "train_lm": "model", "filter": "filter"}

WRITTEN = "release_manifests"  # the store's setting: version -> SHA-256 of its manifest
_NOT_BY_ITSELF = "No run makes it anew: put a copy of it back, or write one under another version"
_LONGEST_HEADER = 100_000_000  # bytes, as the safetensors library has it


@dataclass(frozen=True, slots=True)
class Look:
    """What was looked at, and what is wrong with it: nothing where `problem` is "".

    `name` is its path in the project. `kind` is one of KINDS; "" is not counted by itself.
    """

    name: str
    problem: str = ""
    kind: str = ""
    mend: Mend = ""

    @property
    def told(self) -> str:
        return f"{self.name}: {self.problem}"


def whole(looks: Iterable[Look]) -> str:
    """What was looked at, in words: "the database, 12 blocks of candidates and 4 models are whole".

    For looks that found nothing wrong.
    """
    counts = Counter(look.kind for look in looks)
    parts = [
        words[0] if kind == "database" else f"{counts[kind]:,} {words[counts[kind] > 1]}"
        for kind, words in KINDS.items()
        if counts[kind]
    ]
    single = sum(counts[kind] for kind in KINDS) == 1
    listed = " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)
    return f"{listed} {'is' if single else 'are'} whole"


# --- results of stages -------------------------------------------------------------------------


def looking(stage: str, folder: Path, name: str, summary: Mapping[str, Any]) -> Iterator[Look]:
    """The files of a finished result in `folder`, which the project calls `name`; not of pools."""
    if stage == "release":
        yield Look(name, _of_release(folder), "release", "anew")
        return
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix in (".safetensors", ".json") and not path.name.startswith(".")
    }
    for file in sorted(there.union(_needed(stage, summary))):
        counted = stage != "train_lm" or file.endswith(".safetensors")
        yield Look(
            f"{name}/{file}",
            problem(folder / file),
            _OF_STAGE[stage] if counted else "",
            "drop" if file.endswith(".samples.json") or file.startswith("evidence/") else "anew",
        )


def _needed(stage: str, summary: Mapping[str, Any]) -> list[str]:
    """The files without which a result of a stage is none."""
    if stage == "prepare":
        return ["corpus.safetensors", "ids.json", "vocabulary.json"]
    if stage == "train_lm":
        folds = range(len(summary.get("folds", ())))
        return [f"fold-{fold}{suffix}" for fold in folds for suffix in (".safetensors", ".json")]
    iterations = range(sum(summary.get("iterations", {}).values()))
    return ["initial.safetensors", *(f"iteration-{i:04d}.safetensors" for i in iterations)]


def problem(path: Path) -> str:
    """What is wrong with a safetensors or JSON file; "" when it is whole."""
    try:
        if path.suffix == ".json":
            read_json(path)
            return ""
        return _of_length(path) or _of_sum(path)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    except (ValueError, LookupError, TypeError, AttributeError):
        return "damaged"


def _of_length(path: Path) -> str:
    """Whether a safetensors file ends where its arrays do."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > min(size, _LONGEST_HEADER):
            return "damaged"
        header = from_json(file.read(length).decode("utf-8"))
    ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
    lacks = 8 + length + max(ends, default=0) - size
    if lacks:
        words = f"{abs(lacks):,} byte{'s' * (abs(lacks) > 1)}"
        return f"{words} short" if lacks > 0 else f"{words} too long"
    return ""


def _of_sum(path: Path) -> str:
    """Whether a file is what the JSON beside it says, if that says anything."""
    wanted = read_object(path.with_suffix(".json")).get("blake2b")
    if wanted is None:
        return ""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
    return "" if digest.hexdigest() == wanted else "its checksum does not match its contents"


# --- releases ----------------------------------------------------------------------------------


def verified_releases(root: Path, written: Mapping[str, str]) -> Iterator[Look]:
    """The verified releases of a project: those that are there, and those that were `written`.

    A release of an older program is not among the latter, so that its loss is not seen.
    """
    there = (path.name for path in (root / FOLDER).glob("*.*.*") if path.is_dir())
    for version in sorted({*written, *filter(_is_version, there)}, key=version_key):
        folder = root / FOLDER / version
        found = _of_release(folder) if folder.is_dir() else "missing"
        if not found and written.get(version) not in (None, sha256_of(folder / MANIFEST)):
            found = f"{MANIFEST} is not as it was written"
        yield Look(f"{FOLDER}/{version}", found and f"{found}. {_NOT_BY_ITSELF}", "release")


def _of_release(folder: Path) -> str:
    """What is wrong with a release, by the sums in its manifest; "" when it is whole."""
    try:
        files = read_json(folder / MANIFEST)["files"]
        wrong = [name for name, entry in files.items() if not _is(folder / name, entry["sha256"])]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return f"{MANIFEST} is missing or damaged"
    return f"missing, or not as written: {', '.join(wrong)}" if wrong else ""


def _is(path: Path, sha256: str) -> bool:
    try:
        return sha256_of(path) == sha256
    except OSError:
        return False


def _is_version(name: str) -> bool:
    try:
        version_key(name)
    except ValueError:
        return False
    return True
