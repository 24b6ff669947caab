"""Versions of releases: their order by the rules of semver.org, and what stands in a folder."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from swag_studio.releases import (
    ReleaseError,
    checked_version,
    next_version,
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


def test_the_releases_of_a_folder(tmp_path: Path) -> None:
    assert releases(tmp_path) == [] and next_version(tmp_path) == "1.0.0"
    for name in ("1.10.0", "1.9.0", "v1", ".2.0.0.partial", "3.0.0"):
        (tmp_path / "releases" / name).mkdir(parents=True)
        if name != "3.0.0":  # somebody's own folder, with no manifest in it
            (tmp_path / "releases" / name / "manifest.json").write_text('{"format": 2}')
    assert [r.version for r in releases(tmp_path)] == ["1.9.0", "1.10.0"]
    assert next_version(tmp_path) == "3.1.0"
