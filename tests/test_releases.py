"""Versions of releases: their order by the rules of semver.org, and what stands in a folder."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from swag_studio.releases import (
    ReleaseError,
    checked_version,
    next_version,
    read_manifest,
    releases,
    version_key,
)

# From semver.org, precedence.
ORDER = [
    "0.9.10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
    "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0",
]  # fmt: skip


def test_versions_are_ordered() -> None:
    shuffled = random.Random(0).sample(ORDER, len(ORDER))
    assert sorted(shuffled, key=version_key) == ORDER
    assert [checked_version(v) for v in ORDER] == ORDER


@pytest.mark.parametrize(
    "text",
    ["1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-01", "1.0.0-", "v1.0.0", "1.0.0 ", "1.0.0\n", "١.0.0"],
)
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(ReleaseError):
        checked_version(text)


def test_a_version_names_a_folder_on_any_drive() -> None:
    longest = f"1.0.0-{'a' * 58}"
    assert checked_version(longest) == longest
    with pytest.raises(ReleaseError, match="at most 64 characters; 65 were given"):
        checked_version(f"{longest}a")


def test_the_releases_of_a_folder(tmp_path: Path) -> None:
    assert releases(tmp_path) == [] and next_version(tmp_path) == "1.0.0"
    for name in ("1.10.0", "1.9.0", "v1", ".2.0.0.partial", "3.0.0"):
        (tmp_path / "releases" / name).mkdir(parents=True)
        if name != "3.0.0":  # somebody's own folder, with no manifest in it
            (tmp_path / "releases" / name / "manifest.json").write_text('{"format": 2}')
    assert [r.version for r in releases(tmp_path)] == ["1.9.0", "1.10.0"]
    assert next_version(tmp_path) == "3.1.0"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": {"train.csv": "00"}}', None])
def test_a_release_with_a_damaged_manifest_is_there_all_the_same(
    tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "releases/1.0.0/manifest.json"
    file.parent.mkdir(parents=True)
    if text is None:
        file.mkdir()
    else:
        file.write_text(text, "utf-8")
    (listed,) = releases(tmp_path)
    assert (listed.version, listed.manifest) == ("1.0.0", {})
    with pytest.raises(OSError if text is None else ValueError):
        read_manifest(file.parent)


WHOLE: dict[str, Any] = {
    "files": {"train.csv": {"sha256": "00", "bytes": 1}},
    "version": "1.0.0",
    "recipe": {},
    "package": {},
    "counts": {"contexts": 1, "questions": {"train": {"all": 1}}, "left_out": {}},
    "verification": {"by": "people", "policy": {}},
    "stages": {"filter": {"version": 1}},
    "feedback": {"by": "nobody", "runs": [{"run": 1, "by": "people", "contexts": 2}]},
    "formats": {"written": ["swag_csv"], "left_out": {}},
    "sources": [{"file": "a.json", "sha256": "00"}],
    "checks": {"problems": [{"kind": "stray_space", "count": 1}]},
    "overrides": ["stray_space"],
}


DAMAGE = {
    "files": [[], None, {"train.csv": None}, {"train.csv": {}}, {"train.csv": {"sha256": 1}}],
    "version": [1, None],
    "recipe": [None, []],
    "package": [None, "swag-studio"],
    "counts": [[], {"contexts": "1"}, {"questions": 5}, {"questions": {"train": {}}},
               {"questions": {"train": {"all": "1"}}}, {"left_out": 1}],
    "verification": ["people", {"by": ["people"]}, {"policy": None}],
    "stages": [[], {"filter": 1}],
    "feedback": [{"runs": [{}]}, {"runs": [{"run": 1, "by": 2, "contexts": 3}]}, {"by": None}],
    "formats": [{"written": "swag_csv"}, []],
    "sources": [{}, [{}], [{"file": "a.json"}]],
    "checks": [[], {"problems": {}}, {"problems": [{"kind": "stray_space"}]}],
    "overrides": ["stray_space", [1]],
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), [(k, v) for k, vs in DAMAGE.items() for v in vs])
def test_a_manifest_in_another_form_than_it_is_read_in_is_damaged(
    tmp_path: Path, key: str, value: Any
) -> None:
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps({**WHOLE, "of a newer program": [None]}), "utf-8")
    assert read_manifest(tmp_path)["counts"] == WHOLE["counts"]
    file.write_text(json.dumps({"files": WHOLE["files"]}), "utf-8")  # an older one lacks much
    assert read_manifest(tmp_path) == {"files": WHOLE["files"]}
    file.write_text(json.dumps({**WHOLE, key: value}), "utf-8")
    with pytest.raises(ValueError):
        read_manifest(tmp_path)
