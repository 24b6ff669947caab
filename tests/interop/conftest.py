"""Releases of three projects for programs of others to load.

awkward   texts that are easily lost, judged by answers made here
demo      the program's own captions: `demo --headless`, simulated annotators, a release
real      ActivityNet captions with a recipe below `small`, then the same; needs the captions

SWAG_STUDIO_PROJECT=DIR.swag has a copy of a finished project stand in for `real`, and
SWAG_STUDIO_DEMO for `demo`. What loads them are extras (`make check-interop` installs them), and
nothing is fetched from a network.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# Before any of them is imported.
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
sys.path.append(str(Path(__file__).resolve().parent.parent / "engine"))

from made_releases import (
    Released,
    of_a_given_project,
    of_awkward_texts,
    of_captions,
    of_the_demo,
)


@pytest.fixture(scope="session", params=["awkward", "demo", "real"])
def released(request: pytest.FixtureRequest) -> Released:
    """Each of the three, made when it is first asked for."""
    made: Released = request.getfixturevalue(request.param)
    return made


@pytest.fixture(scope="session")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return of_awkward_texts(tmp_path_factory.mktemp("awkward") / "awkward.swag")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return of_the_demo(tmp_path_factory.mktemp("demo") / "demo.swag")


@pytest.fixture(scope="session")
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Released:
    root = tmp_path_factory.mktemp("real") / "real.swag"
    if given := of_a_given_project(root):
        return given
    captions = request.getfixturevalue("real_data") / "activitynet_captions/val_1.json"
    return of_captions(root, captions)
