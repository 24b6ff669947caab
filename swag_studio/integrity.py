"""Whether the files of a project are whole, without loading what is in them.

A safetensors file by its header, which says where its arrays end; JSON by reading it; both by the
sums that the result's summary has, or a model by the sum beside it; a release by the sums in its
manifest. It knows the formats of files and which of them a finished result has, not how one is
made.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from swag_studio.files import from_json, read_json, read_object, sha256_of
from swag_studio.releases import FOLDER, MANIFEST, version_key

# "block": a run makes it anew by itself; "anew": all of its result is made anew; "drop": nothing
# depends on it, so it may go; "recipe": what was made tells it; "": no run makes it anew.
Mend = Literal["block", "anew", "drop", "recipe", ""]

KINDS = {
    "database": ("the database", "the database"),
    "prepared": ("file of contexts", "files of contexts"),
    "model": ("model", "models"),
    "block": ("block of candidates", "blocks of candidates"),
    "filter": ("file of filter runs", "files of filter runs"),
    "release": ("release", "releases"),
}
_OF_STAGE = {"prepare": "prepared", "train_lm": "model", "filter": "filter"}

SUMS = "sums"  # in a result's summary: file -> BLAKE2b; an older program kept none
WRITTEN = "release_manifests"  # the store's setting: version -> SHA-256 of its manifest
_NOT_BY_ITSELF = "No run makes it anew: put a copy of it back, or write one under another version"
_LONGEST_HEADER = 100_000_000  # bytes, as the safetensors library has it


@dataclass(frozen=True, slots=True)
class Look:
    """What was looked at, and what is wrong with it: nothing where `problem` is "".

    `name` is its path in the project. `kind` is one of KINDS; "" is not counted by itself.
    `unsummed`: there is no sum to compare it with, so that a flipped bit may go unseen.
    """

    name: str
    problem: str = ""
    kind: str = ""
    mend: Mend = ""
    unsummed: bool = False

    @property
    def told(self) -> str:
        return f"{self.name}: {self.problem}"


def whole(looks: Collection[Look]) -> str:
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
    unsummed = sum(look.unsummed for look in looks if look.kind)
    by_length = (
        f"; an older program kept no sums of {unsummed:,} of these files, which were looked at by "
        "their form and length"
        if unsummed
        else ""
    )
    return f"{listed} {'is' if single else 'are'} whole{by_length}"


# --- results of stages -------------------------------------------------------------------------


def sums(stage: str, folder: Path) -> dict[str, object]:
    """What a finished result's summary keeps of its files, for `looking`: the sum of each.

    Nothing of pools and releases, which have a list of sums of their own.
    """
    files = _files(folder) if stage in _OF_STAGE else []
    return {SUMS: {file: _sum(folder / file) for file in files}} if files else {}


def looking(stage: str, folder: Path, name: str, summary: Mapping[str, Any]) -> Iterator[Look]:
    """The files of a finished result in `folder`, which the project calls `name`; not of pools."""
    if stage == "release":
        yield Look(name, _of_release(folder), "release", "anew")
        return
    kept: Mapping[str, str] = summary.get(SUMS, {})
    wanted = {*_needed(stage, summary), *(file for file in kept if not _may_go(file))}
    for file in sorted(wanted.union(_files(folder))):
        path, counted = folder / file, stage != "train_lm" or file.endswith(".safetensors")
        wanted_sum = kept.get(file) or _sum_beside(path)
        yield Look(
            f"{name}/{file}",
            problem(path, wanted_sum),
            _OF_STAGE[stage] if counted else "",
            "drop" if _may_go(file) else "anew",
            unsummed=not (kept or wanted_sum),
        )


def _files(folder: Path) -> list[str]:
    """The files of a result, by their path in its folder."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix in (".safetensors", ".json") and not path.name.startswith(".")
    )


def _may_go(file: str) -> bool:
    """Whether a file of a result is read by people alone."""
    return file.endswith(".samples.json") or file.startswith("evidence/")


def _needed(stage: str, summary: Mapping[str, Any]) -> list[str]:
    """The files without which a result of a stage is none."""
    if stage == "prepare":
        return ["corpus.safetensors", "ids.json", "vocabulary.json"]
    if stage == "train_lm":
        folds = range(len(summary.get("folds", ())))
        return [f"fold-{fold}{suffix}" for fold in folds for suffix in (".safetensors", ".json")]
    iterations = range(sum(summary.get("iterations", {}).values()))
    return ["initial.safetensors", *(f"iteration-{i:04d}.safetensors" for i in iterations)]


def problem(path: Path, wanted: str = "") -> str:
    """What is wrong with a safetensors or JSON file; "" when it is whole. `wanted`: its sum."""
    try:
        if path.suffix == ".json":
            read_json(path)
        elif found := _of_length(path):
            return found
        if wanted and _sum(path) != wanted:
            return "its checksum does not match its contents"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    except (ValueError, LookupError, TypeError, AttributeError):
        return "damaged"
    return ""


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


def _sum(path: Path) -> str:
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
    return digest.hexdigest()


def _sum_beside(path: Path) -> str:
    """The sum of a model that the JSON beside it says; "" where there is none."""
    beside = path.with_suffix(".json")
    return str(read_object(beside).get("blake2b", "")) if beside != path else ""


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
