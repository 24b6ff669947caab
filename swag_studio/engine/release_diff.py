"""What differs between two releases: questions, files, counts, settings; in words and as JSON.

A question is the same in both when its context and its kind (found or generated as the right one)
are: ids of contexts come from their content. It reads folders and knows no project.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from swag_studio.engine import released
from swag_studio.engine.card_statistics import LEFT_OUT
from swag_studio.errors import ProjectError
from swag_studio.records import SPLITS, Question

ORDER = "order of the options"

_MOST_NAMED = 5  # files
_MOST_SETTINGS = 12

_TOLD = (
    "simulated", "unverified", "title", "licence", "language", "overrides", "override_reason",
    "gold_unseen",
)  # fmt: skip

# A key of the manifest -> what it tells, where the key does not say it.
_WORDS = {
    "simulated": "counts simulated annotators",
    "unverified": "has questions that nobody judged",
    "override_reason": "reason of the overrides",
    "filter_run": "filter run",
    "feedback.by": "the filter went on with the word of",
    "feedback.runs": "earlier runs that the filter went on from",
    "verification.by": "verified by",
    "verification.annotators": "people who judged",
    "verification.judgements": "judgements of people",
    "verification.simulated_annotators": "simulated annotators",
    "verification.simulated_judgements": "judgements of simulated annotators",
    "verification.adjudications": "ties settled by an adjudicator",
    "verification.questions_from_simulated": "questions verified by simulated annotators",
    "verification.unverified_questions": "questions that nobody judged",
    "gold_unseen": "no language model saw the group that it wrote for",
    "formats.written": "formats",
    "formats.left_out": "formats left out",
    "surprising": "contexts kept apart as surprising",
    "preferences": "pairs in preferences.jsonl",
    **{f"left_out.{why}": f"left out, {words}" for why, words in LEFT_OUT.items()},
}

Pair = tuple[Any, Any]  # the value in the first release and in the second, None where it has none


@dataclass(frozen=True, slots=True)
class Change:
    """A question that only one release has, or that differs; `what` names the differences."""

    context: str
    gold_source: str
    split: str  # in the second release, or in the only one that has it
    what: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """What a second release has that the first has not, and the other way round.

    `files` holds those that are not equal: name -> "added", "removed" or "changed". `counts` is
    split -> questions in both, `settings` a dotted key -> values that differ.
    """

    names: tuple[str, str]
    added: tuple[Change, ...]
    removed: tuple[Change, ...]
    changed: tuple[Change, ...]
    unchanged: int
    files: Mapping[str, str]
    counts: Mapping[str, tuple[int, int]]
    settings: Mapping[str, Pair]

    @property
    def same(self) -> bool:
        """Whether the files are equal, byte for byte, and the manifests tell the same of them."""
        return not self.files and not self.settings

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self) | {"same": self.same}

    def words(self) -> list[str]:
        """A few sentences for a person."""
        first, second = self.names
        if not self.files:
            end = "" if self.same else ", but their manifests tell them apart:"
            return [f"{first} and {second} are equal, byte for byte{end or '.'}", *self._told()]
        lines = [
            f"From {first} to {second}: {len(self.added):,} questions added, "
            f"{len(self.removed):,} removed, {len(self.changed):,} changed, "
            f"{self.unchanged:,} as they were."
        ]
        what = Counter(word for change in self.changed for word in change.what)
        if what:
            told = ", ".join(f"{word} {n:,}" for word, n in sorted(what.items()))
            lines.append(f"What changed in them: {told}.")
        for word, changes in (("Added", self.added), ("Removed", self.removed)):
            splits = Counter(c.split for c in changes)
            if splits:
                told = ", ".join(f"{split} {splits[split]:,}" for split in SPLITS if splits[split])
                lines.append(f"{word} by split: {told}.")
        for word in ("added", "removed", "changed"):
            if names := [name for name, how in self.files.items() if how == word]:
                rest = len(names) - _MOST_NAMED
                told = ", ".join(names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
                lines.append(f"Files {word}: {told}.")
        return lines + self._told()

    def _told(self) -> list[str]:
        """What the manifests say otherwise, a line each."""
        told = [
            f"{_WORDS.get(key, key)}: {_said(before)} -> {_said(after)}"
            for key, (before, after) in self.settings.items()
            if _said(before) != _said(after)  # what a draft does not tell, and an empty text
        ]
        if more := len(told[_MOST_SETTINGS:]):
            told[_MOST_SETTINGS:] = [f"and {more} more settings."]
        return told

    def first(self, most: int) -> list[tuple[str, Change]]:
        """The first questions that differ, with how; those that differ in order alone come last."""
        moved = (ORDER,)
        changed = sorted(self.changed, key=lambda change: change.what == moved)
        rows = {"added": self.added, "removed": self.removed, "changed": changed}
        return [(how, change) for how, changes in rows.items() for change in changes][:most]


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return "nothing" if value in (None, "", {}) else str(value)


def compare(first: Path, second: Path) -> ReleaseDiff:
    """The difference between the releases in two folders.

    Raises ProjectError when one is none, or its files are not as they were written. Keeps some
    hashes per question.
    """
    for folder in (first, second):
        if damaged := released.damaged(folder):
            raise ProjectError(
                f"{folder / damaged[0]} is missing, or not as it was written, so {folder.name} "
                f"cannot be compared. {released.ANEW}"
            )
    manifests = released.manifest_of(first), released.manifest_of(second)
    before, after = (
        {(q.context_id, q.gold_source): _facts(q) for q in released.questions(folder)}
        for folder in (first, second)
    )
    changed = [
        Change(*key, after[key].split, what)
        for key in sorted(before.keys() & after.keys())
        if (what := tuple(before[key].unlike(after[key])))
    ]
    counts = [Counter(facts.split for facts in found.values()) for found in (before, after)]
    return ReleaseDiff(
        names=(first.name, second.name),
        added=tuple(Change(*k, after[k].split) for k in sorted(after.keys() - before.keys())),
        removed=tuple(Change(*k, before[k].split) for k in sorted(before.keys() - after.keys())),
        changed=tuple(changed),
        unchanged=len(before.keys() & after.keys()) - len(changed),
        files=_unequal_files(manifests[0]["files"], manifests[1]["files"]),
        counts={split: (counts[0][split], counts[1][split]) for split in SPLITS},
        settings=_unequal_settings(*manifests),
    )


class _Facts(NamedTuple):
    """What of a question is compared: its split, and hashes of the rest."""

    split: str
    context: bytes
    right: bytes
    wrong: bytes  # as a set
    order: bytes
    judged: bytes

    def unlike(self, other: _Facts) -> Iterable[str]:
        """The names of the differences."""
        if self.split != other.split:
            yield "split"
        if self.context != other.context:
            yield "context's text"
        if self.right != other.right:
            yield "right ending"
        if self.wrong != other.wrong:
            yield "wrong endings"
        elif self.right == other.right and self.order != other.order:
            yield ORDER
        if self.judged != other.judged:
            yield "verdict"


def _facts(q: Question) -> _Facts:
    wrong = {text for i, text in enumerate(q.endings) if i != q.label}
    wrong |= {d.text for d in q.distractors}
    types = sorted(f"{d.id} {d.type}" for d in q.distractors)
    return _Facts(
        q.split,
        _hash(q.sent1, q.sent2),
        _hash(q.right),
        _hash(*sorted(wrong)),
        _hash(*q.endings),
        _hash(q.full_source, q.right_type, str(q.verified), str(q.simulated), *types),
    )


def _hash(*texts: str) -> bytes:
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


def _unequal_files(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    result = {}
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            result[name] = "removed" if name in before else "added"
        elif before[name]["sha256"] != after[name]["sha256"]:
            result[name] = "changed"
    return result


def _unequal_settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Pair]:
    """In the order of `_settings`, and within a part by name."""
    flat = [
        {part: dict(_flat({part: value})) for part, value in _settings(manifest).items()}
        for manifest in (before, after)
    ]
    pairs = {
        key: (flat[0][part].get(key), flat[1][part].get(key))
        for part in flat[0]
        for key in sorted(flat[0][part].keys() | flat[1][part].keys())
    }
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def _settings(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What of a manifest is compared key by key, what matters most first. A draft's has no policy,
    title and the like; an older program's lacks what came since: that is None, as in no manifest.
    """
    people, feedback = dict(manifest.get("verification", {})), manifest.get("feedback", {})
    told = {name: value for name, value in people.items() if isinstance(value, int | str)}
    counts = manifest.get("counts", {})
    runs = [f"{r['run']} ({r['contexts']:,} moved by {r['by']})" for r in feedback.get("runs", ())]
    return {
        **{name: manifest.get(name) for name in _TOLD},
        "verification": {name: value for name, value in told.items() if name != "policy_id"},
        "filter_run": manifest.get("stages", {}).get("filter", {}).get("version"),
        "feedback": {"by": feedback.get("by"), "runs": runs},
        "policy": people.get("policy", {}),
        "recipe": manifest.get("recipe", {}),
        "sources": {s["file"]: s["sha256"] for s in manifest.get("sources", ())},
        "package": manifest.get("package", {}),
        "formats": {name: [*value] for name, value in manifest.get("formats", {}).items()},
        "checks": {p["kind"]: p["count"] for p in manifest.get("checks", {}).get("problems", ())},
        "left_out": counts.get("left_out", {}),
        **{name: counts.get(name) for name in ("surprising", "preferences")},
    }


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
