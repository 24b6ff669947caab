"""Off screen; and one unbroken run that all broken ones are compared with."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from killing import Unbroken, fingerprint, finish, make, stages_of
from tiny import DOCUMENTS, tiny_recipe


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Unbroken:
    root = make(tmp_path_factory.mktemp("unbroken") / "a.swag", tiny_recipe(), DOCUMENTS)
    told = stages_of(finish(root))
    return Unbroken(fingerprint(root), told)
