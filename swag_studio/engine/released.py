"""Reads a written release back as questions, and compares its files with its manifest.

It needs SWAG's own files, the test set's key and provenance.jsonl, which every release has, draft
or verified; it knows neither the project nor how the questions were chosen.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from swag_studio.engine.exporters.swag_csv import KEY_FILE
from swag_studio.errors import ProjectError
from swag_studio.files import from_json, sha256_of
from swag_studio.records import SPLITS, Distractor, Question
from swag_studio.releases import MANIFEST, PROVENANCE, RUN, read_manifest

ANEW = "Put a copy of it back, or write one under another version."  # none is written over
# What programs and systems leave beside files that they open; nobody takes it for data.
_LEFT = ("__pycache__", ".DS_Store", "Thumbs.db", "desktop.ini", ".directory")


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of the release in `folder`. Raises ProjectError where there is none."""
    try:
        return read_manifest(folder)
    except FileNotFoundError:
        raise ProjectError(f"{folder} is no release: it has no {MANIFEST}.") from None
    except OSError as error:
        raise ProjectError(f"{folder / MANIFEST} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise ProjectError(f"{folder / MANIFEST} is damaged. {ANEW}") from None


def damaged(folder: Path) -> list[str]:
    """The files that the manifest names and that are missing or not what they were."""
    files = manifest_of(folder)["files"]
    return [name for name, entry in files.items() if _sha256(folder / name) != entry["sha256"]]


def unlisted(folder: Path) -> list[str]:
    """The files in the folder that its manifest does not name, and that nobody can vouch for."""
    known = {MANIFEST, RUN, *manifest_of(folder)["files"]}
    paths = (p.relative_to(folder) for p in folder.rglob("*") if not p.is_dir())
    names = {p.as_posix() for p in paths if not {*_LEFT} & {*p.parts}}
    return sorted(names - known)


def questions(folder: Path) -> Iterator[Question]:
    """The questions of a release in its order, with what its provenance tells of them.

    Streams. Raises ProjectError when files are missing, cannot be read, or do not belong together.
    """
    try:
        yield from _questions(folder)
    except (UnicodeDecodeError, csv.Error):
        raise ProjectError(
            f"The files in {folder} are damaged: not all are tables or lines in UTF-8. {ANEW}"
        ) from None


def _questions(folder: Path) -> Iterator[Question]:
    with ExitStack() as stack:

        def opened(name: str) -> TextIO:
            try:
                return stack.enter_context(open(folder / name, encoding="utf-8", newline=""))
            except OSError as error:
                raise ProjectError(f"{folder / name} cannot be read: {error.strerror}.") from None

        rows = {split: csv.DictReader(opened(f"{split}.csv")) for split in SPLITS}
        key = csv.DictReader(opened(KEY_FILE))
        for number, line in enumerate(opened(PROVENANCE), start=1):
            try:
                entry = from_json(line)
                row = next(rows[entry["split"]])
                told = next(key) if entry["split"] == "test" else row
                if not int(row[""]) == int(told[""]) == entry["index"]:
                    raise ValueError("another row")
                label = told["label"]
                question = _question(entry, row, int(label))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError, StopIteration):
                raise ProjectError(
                    f"{folder / PROVENANCE}, line {number}: it does not fit the CSV files beside "
                    f"it. {ANEW}"
                ) from None
            yield question
        if any(next(left, None) is not None for left in (*rows.values(), key)):
            raise ProjectError(
                f"{folder / PROVENANCE} has fewer questions than the CSV files beside it. {ANEW}"
            )


def _question(entry: Mapping[str, Any], row: Mapping[str, str], label: int) -> Question:
    count = sum(name.startswith("ending") for name in row if name)  # None: more cells than columns
    endings = tuple(row[f"ending{i}"] for i in range(count))
    told = entry["endings"]  # a draft's has no texts, types or places
    if None in row or None in row.values() or not 0 <= label < count:
        raise ValueError("another row")
    if any(e["text"] != endings[e["place"]] for e in told if e.get("place") is not None):
        raise ValueError("other endings")
    right = told[label]
    wrong = [e for e in told if e is not right and "text" in e]
    return Question(
        context_id=entry["context"],
        video_id=row["video-id"],
        fold=-1,  # not written: fold-ind counts within one
        split=entry["split"],
        sent1=row["sent1"],
        sent2=row["sent2"],
        endings=endings,
        label=label,
        gold_source=row["gold-source"],
        id=entry.get("id", ""),
        group=entry.get("group", ""),
        document=entry["document"],
        position=entry["sentence"] if "sentence" in entry else entry["position"],
        right_id=right["id"],
        right_type=right.get("type", ""),
        right_kind=right["kind"],
        distractors=tuple(
            Distractor(e["id"], e["text"], e.get("type", ""), e["kind"]) for e in wrong
        ),
        full_source=entry.get("full_source", ""),
        verified=entry.get("verified", False),
        simulated=entry.get("simulated", False),
    )


def _sha256(path: Path) -> str:
    """The hash of a file; "" where there is none."""
    try:
        return sha256_of(path)
    except OSError:
        return ""
