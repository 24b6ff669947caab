"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from swag_studio import recipe as recipes
from swag_studio.project import Project

# As __main__ has it: threads that wait do not spin. Before any test loads torch.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Here and in the processes that tests start, output goes to a pipe of 80 columns, the system speaks
# English, and Qt finds UTF-8, whatever shell or CI is around.
for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)
os.environ |= {"COLUMNS": "80", "LANGUAGE": "en", "LC_ALL": "C.UTF-8"}

REPOSITORY = Path(__file__).resolve().parent.parent

# No test depends on how busy a machine is, or on the luck of its examples: each run has the same
# ones. `pytest --hypothesis-profile=search` looks for others.
settings.register_profile(
    "search", deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("same", settings.get_profile("search"), derandomize=True)
settings.load_profile("same")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real caption files; the test is skipped where there is none."""
    folder = Path(os.environ.get("SWAG_STUDIO_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real captions here")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """An empty project with the demo recipe."""
    with Project.create(tmp_path / "test.swag", recipes.preset("demo")) as opened:
        yield opened
