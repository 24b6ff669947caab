"""kill -9 at random moments, then run again: every byte as in a run that nobody broke.

The short form runs with all tests; `make soak` kills the whole demo twenty times.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from killing import Unbroken, differences, fingerprint, finish, killed, make, stages_of
from tiny import DOCUMENTS, tiny_recipe

from swag_studio import recipe as recipes

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")


def test_three_kills_of_a_tiny_project(tmp_path: Path, unbroken: Unbroken) -> None:
    broken = make(tmp_path / "b.swag", tiny_recipe(), DOCUMENTS)
    stages = killed(broken, 3, unbroken.told, random.Random(7))
    assert len(stages) >= 2, "the kills came too late to kill anything"
    assert differences(unbroken.fingerprint, fingerprint(broken)) == []


@pytest.mark.soak
def test_twenty_kills_of_the_demo(tmp_path: Path) -> None:
    seed = int(os.environ.get("SWAG_STUDIO_SOAK_SEED", "1"))
    rng = random.Random(seed)
    unbroken = make(tmp_path / "a.swag", recipes.preset("demo"), documents=0)
    told, expected, count = stages_of(finish(unbroken)), fingerprint(unbroken), 0
    while count < 20:
        broken = make(tmp_path / f"b{count}.swag", recipes.preset("demo"), documents=0)
        stages = killed(broken, 20 - count, told, rng)
        count += len(stages)
        print(f"seed {seed}: {len(stages)} kills: {' '.join(stages)}")
        assert differences(expected, fingerprint(broken)) == []
