"""The front matter of a dataset card: what Hugging Face's Hub and its `datasets` read of it.

Made from the release's manifest. A value that the Hub would refuse is left out, or put as words.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

Manifest = Mapping[str, Any]

_JOINERS = "\u200c\u200d"  # of Persian, Hindi and others

# Ids of licences as the Hub has them. It refuses a card with another one.
_LICENCES = (
    r"apache-2\.0|mit|cc|cc0-1\.0|cc-by-([23]\.0|2\.5|4\.0)|cc-by-sa-[34]\.0"
    r"|cc-by-(nc|nd|nc-nd|nc-sa)-(3\.0|4\.0)|cc-by-nc-(2\.0|sa-2\.0)|odbl|odc-by|pddl|gfdl"
    r"|[al]?gpl-3\.0|gpl-2\.0|cdla-(sharing|permissive)-1\.0|cdla-permissive-2\.0|c-uda|unlicense"
)


def front_matter(manifest: Manifest) -> str:
    """The lines from "---" to "---"."""
    total = sum(c["all"] for c in manifest["counts"]["questions"].values())
    lines = ["---", f"pretty_name: {_yaml(title(manifest))}", *_licence_lines(manifest["licence"])]
    if re.fullmatch(r"[a-z]{2,3}", manifest["language"]):  # ISO 639; the Hub takes nothing else
        lines += ["language:", f"- {_yaml(manifest['language'])}"]
    lines += ["task_categories:", "- multiple-choice", "size_categories:", f"- {_size(total)}"]
    files = manifest["files"]
    lines.append("configs:")
    lines += _config("default", {"train": "train.csv", "validation": "val.csv"}, files)
    # Its columns differ from the others', so it cannot be a split of the same configuration.
    lines += _config("test", {"test": "test.csv"}, files)
    full = {"train": "train_full.csv", "validation": "val_full.csv"}
    if set(full.values()) <= set(files):
        lines += _config("full", full, files)
    return "\n".join([*lines, "---"])


def _config(name: str, splits: Mapping[str, str], files: Mapping[str, Any]) -> list[str]:
    """A configuration that loads "None" and "NA" as the texts that they are.

    `datasets` knows what it loaded before by the folder's last name and by what stands here, and
    not by the files: without their hash, 1.0.0 of one project would be given for that of another.
    """
    known = " ".join(files.get(file, {}).get("sha256", "") for file in splits.values())
    fingerprint = hashlib.sha256(known.encode()).hexdigest()[:16]
    lines = [f"- config_name: {name}", f"  description: {_yaml(f'Files {fingerprint}')}"]
    lines += ["  keep_default_na: false", "  data_files:"]
    for split, file in splits.items():
        lines += [f"  - split: {split}", f"    path: {file}"]
    return lines


def _licence_lines(licence: str) -> list[str]:
    """An id that the Hub knows as it is; other words under "other"; nothing given is unknown."""
    if not licence.strip():
        return ["license: unknown"]
    id = "-".join(licence.casefold().split())  # as people write it: CC-BY-4.0, CC BY 4.0
    if re.fullmatch(_LICENCES, id):
        return [f"license: {id}"]
    return ["license: other", f"license_name: {_yaml(plain(licence))}"]


def _yaml(text: str) -> str:
    """A text as YAML takes it whatever is in it: JSON's strings are YAML's."""
    return json.dumps(text, ensure_ascii=False)


def _size(total: int) -> str:
    bounds = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
    return next((name for most, name in bounds.items() if total < most), "1M<n<10M")


def title(manifest: Manifest) -> str:
    """The dataset's name, or a general one."""
    return plain(manifest["title"]) or "Adversarially filtered multiple choice"


def plain(text: str) -> str:
    """One line without control characters, that breaks no table, no code span and no YAML."""
    text = "".join(c for c in " ".join(text.split()) if c.isprintable() or c in _JOINERS)
    return text.replace("|", "/").replace("`", "'")
