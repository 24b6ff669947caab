"""The manifests of a project's releases as they were written, by their hashes.

A manifest has the hashes of all files but its own, so its own stays with the project: a manifest
that was edited since is found where the project is at hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from swag_studio.files import sha256_of
from swag_studio.integrity import WRITTEN
from swag_studio.releases import MANIFEST
from swag_studio.store import Store

State = Literal["as written", "changed", "not known"]


def remember(store: Store, version: str, folder: Path) -> None:
    """Keeps the hash of the manifest in a folder that is to become the release `version`."""
    digest = sha256_of(folder / MANIFEST)
    store.change_people_setting(WRITTEN, {}, lambda known: {**known, version: digest})


def state(store: Store, folder: Path) -> State:
    """Whether a release's manifest is what was written under the folder's name.

    Not known is that of a draft, of a release by an older program, and of one that was written
    after the backup from which the project was restored.
    """
    kept = store.people_setting(WRITTEN, {}).get(folder.name)
    if kept is None:
        return "not known"
    return "as written" if sha256_of(folder / MANIFEST) == kept else "changed"
