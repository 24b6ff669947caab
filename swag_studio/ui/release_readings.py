"""What the Release page tells of releases that are written, read from their folders, and in words.

It knows manifests and files, no widget; all of it may be read in the reading thread.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_studio.files import read_json
from swag_studio.project import Project
from swag_studio.records import SPLITS, Artifact
from swag_studio.releases import CARD, RUN, Release, read_manifest, releases
from swag_studio.ui.words import count
from swag_studio.views import Outlook

# Exporter -> its title, and what it is for.
FORMATS: Mapping[str, tuple[str, str]] = {
    "swag_csv": (
        "SWAG CSV",
        "train.csv, val.csv and test.csv as SWAG has them; the test labels in a file of their own.",
    ),
    "swag_full": (
        "SWAG full CSV",
        "All wrong endings, the fourth where there is one, and how people saw each.",
    ),
    "hellaswag": ("HellaSwag", "JSON lines with HellaSwag's keys, for programs that read those."),
    "everything": ("Everything", "One JSON line a question with all ids, types and sources."),
    "parquet": ("Parquet", "The same columns, compact, for data frames and query engines."),
    "lm_eval": ("lm-evaluation-harness", "A task to score language models on, with its data."),
    "spreadsheet": (
        "Spreadsheet copy",
        "CSV in which no text is taken for a formula: for reading, not for training.",
    ),
}

# Why a context gives no question, in a table and in a sentence; and where that is changed.
LEFT_OUT: Mapping[str, tuple[str, str]] = {
    "adjudicate": ("Tied: someone has to settle it", "Agreement"),
    "reannotate": ("Needs another round", "Agreement"),
    "not judged": ("Not judged, or not by enough people", "Annotate"),
    "surprising": ("Surprising: no round gave a question", "kept apart"),
    "few": ("Too few wrong endings that can be used", "Review"),
    "excluded": ("Excluded by a curator", "Review"),
}

BY: Mapping[str, str] = {
    "people": "people",
    "simulation": "◇ simulated annotators",
    "people and simulation": "people and ◇ simulated annotators",
    "nobody": "nobody",
    "": "⚠ not known: its manifest is damaged",
}

SWAG = """\
@inproceedings{zellers2018swag,
  title = {{SWAG}: A Large-Scale Adversarial Dataset for Grounded Commonsense
           Inference},
  author = {Zellers, Rowan and Bisk, Yonatan and Schwartz, Roy and Choi, Yejin},
  booktitle = {Proceedings of EMNLP},
  year = {2018}
}
"""


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a release. `rows` are records of a table or lines of JSON; None of other files."""

    name: str
    bytes: int
    sha256: str
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A release on the disk, verified or a draft. `date` is when it was written, in UTC.

    `by` is who verified it; "" where its manifest is damaged.
    """

    version: str
    folder: Path
    draft: bool
    date: str
    questions: int
    by: str
    bytes: int
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        """ "1.0.0", "draft v1"."""
        return f"draft {self.version}" if self.draft else self.version


def read_written(project: Project) -> list[Written]:
    """All releases, the newest version first, then the drafts."""
    verified = [_verified(release) for release in reversed(releases(project.root))]
    drafts = [a for a in project.store.artifacts("release") if a.done]
    return [*verified, *(_draft(project, a) for a in reversed(drafts))]


def _verified(release: Release) -> Written:
    counts = release.manifest.get("counts", {}).get("questions", {})
    by = release.manifest.get("verification", {}).get("by", "nobody" if release.manifest else "")
    questions = sum(split["all"] for split in counts.values())
    return _written(release.version, release.folder, False, questions, by, release.manifest)


def _draft(project: Project, artifact: Artifact) -> Written:
    folder = project.folder(artifact)
    try:
        manifest = read_manifest(folder)
    except (OSError, ValueError):
        manifest = {}
    questions = sum(n for n in manifest.get("counts", {}).values() if isinstance(n, int))
    return _written(folder.name, folder, True, questions, "nobody", manifest)


def _written(
    version: str, folder: Path, draft: bool, questions: int, by: str, manifest: Mapping[str, Any]
) -> Written:
    try:
        date = str(read_json(folder / RUN)["written"])
    except (OSError, ValueError, KeyError, TypeError):
        date = ""
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    date = date.replace("T", " ").removesuffix("Z")[:16]
    return Written(version, folder, draft, date, questions, by, size, manifest)


def read_files(written: Written) -> list[FileRow]:
    """The files of a release with their rows. Reads each table once."""
    known = written.manifest.get("files", {})
    paths = sorted(p for p in written.folder.rglob("*") if p.is_file())
    names = {p.relative_to(written.folder).as_posix(): p for p in paths}
    return [
        FileRow(name, path.stat().st_size, known.get(name, {}).get("sha256", ""), rows_of(path))
        for name, path in names.items()
    ]


def rows_of(path: Path) -> int | None:
    """The records of a CSV file without its header, the lines of a JSONL file; else None."""
    if path.suffix == ".csv":
        with open(path, encoding="utf-8-sig", newline="") as file:
            return max(0, sum(1 for _ in csv.reader(file)) - 1)
    if path.suffix == ".jsonl":
        with open(path, "rb") as file:
            return sum(1 for _ in file)
    return None


# --- words ---------------------------------------------------------------------------------------


def size_in_words(size: int) -> str:
    """ "812 B", "1.4 MB"."""
    for unit, bytes in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes:
            return f"{size / bytes:.1f} {unit}"
    return f"{size} B"


def what_waits(left_out: Mapping[str, int]) -> str:
    """What keeps contexts from giving a question and can be changed: "12 ties wait to be ..."."""
    ties, again = left_out.get("adjudicate", 0), left_out.get("reannotate", 0)
    parts = []
    if ties:
        parts.append(f"{count(ties, 'tie')} {'waits' if ties == 1 else 'wait'} to be settled")
    if again:
        parts.append(f"{count(again, 'context')} {'needs' if again == 1 else 'need'} another round")
    if open_ones := left_out.get("not judged", 0):
        parts.append(f"{open_ones:,} {'is' if open_ones == 1 else 'are'} not judged")
    return ", ".join(parts)


def standing(outlook: Outlook) -> str:
    """ "312 of 1,000 contexts give a question; 12 ties wait to be settled"."""
    given = outlook.counts["contexts"]
    words = f"{given:,} of {count(outlook.contexts, 'context')} {'gives' if given == 1 else 'give'}"
    waits = what_waits(outlook.counts["left_out"])
    return f"{words} a question{'; ' if waits else ''}{waits}."


def verified_by(people: Mapping[str, Any]) -> str:
    """Who verified, with their numbers, in a sentence."""
    who = []
    if people["judgements"]:
        judges = count(people["annotators"], "person", "people")
        who.append(f"{judges} with {count(people['judgements'], 'judgement')}")
    if people["simulated_judgements"]:
        judges = count(people["simulated_annotators"], "simulated annotator")
        who.append(f"{judges} with {count(people['simulated_judgements'], 'judgement')}")
    if people["adjudications"]:
        who.append(f"{count(people['adjudications'], 'tie')} settled by an adjudicator")
    return f"Verified by {'; '.join(who)}." if who else "Verified by nobody so far."


def citation(written: Written) -> str:
    """How to cite a release, and what it was made after, as BibTeX."""
    manifest = written.manifest
    title = str(manifest.get("title") or "Adversarially filtered multiple choice")
    package = manifest.get("package", {})
    made = f"{package.get('name', 'swag-studio')} {package.get('version', '')}".strip()
    notes = [f"Version {written.version}", f"made with {made}"]
    if written.draft or written.by not in ("people", ""):
        notes.append("unverified draft" if written.by == "nobody" else f"verified by {written.by}")
    return (
        f"@misc{{{_key(title)},\n"
        f"  title = {{{{{_plain(title)}}}}},\n"
        f"  year = {{{written.date[:4]}}},\n"
        f"  note = {{{'; '.join(notes)}}}\n"
        f"}}\n{SWAG}"
    )


def _key(title: str) -> str:
    letters = [c for c in title.casefold() if c.isascii() and c.isalnum()]
    return "".join(letters)[:24] or "dataset"


def _plain(title: str) -> str:
    """A title that breaks no BibTeX."""
    return " ".join(title.translate(str.maketrans("", "", "{}\\%#$&_~^")).split())


def card_text(written: Written) -> str:
    """The dataset card of a release; "" for a draft, which has none."""
    try:
        return (written.folder / CARD).read_text(encoding="utf-8")
    except OSError:
        return ""


def splits_of(outlook: Outlook) -> Sequence[tuple[str, Mapping[str, int]]]:
    """(split, counts) for a table, the sum last."""
    counts, groups = outlook.counts["questions"], outlook.counts["groups"]
    rows = [(split, {**counts[split], "groups": groups[split]}) for split in SPLITS]
    keys = ("all", "gold", "gen", "unverified", "groups")
    return [*rows, ("all", {key: sum(row[key] for _, row in rows) for key in keys})]
