"""The house's rules as tests: who imports whom, what has a name, what is in the wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from swag_studio.engine import pipeline, registry
from swag_studio.engine.registry import Registry

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "swag_studio"
MOST_LINES = 450

REGISTRIES = {
    r.kind: r for r in [*vars(registry).values(), pipeline.RUNNERS] if isinstance(r, Registry)
}


def python(code: str, **environment: str) -> str:
    """What `code` prints in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],  # -P: the working folder is no place to import from
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules_under(package: str) -> list[str]:
    root = REPOSITORY / package.replace(".", "/")
    files = sorted(root.rglob("*.py"))
    names = [".".join(f.relative_to(REPOSITORY).with_suffix("").parts) for f in files]
    return [name.removesuffix(".__init__") for name in names]


def test_the_floors_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 kept, 0 broken" in done.stdout


def test_the_registries_are_all_seen() -> None:
    assert set(REGISTRIES) == {"source", "splitter", "member", "exporter", "stage"}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, parts in REGISTRIES.items() for name in parts]
)
def test_every_part_can_be_loaded(kind: str, name: str) -> None:
    part = REGISTRIES[kind][name]
    assert callable(part)


def test_no_engine_module_loads_qt() -> None:
    imports = "; ".join(f"import {name}" for name in modules_under("swag_studio.engine"))
    code = (
        f"{imports}; import sys; print([m for m in sys.modules if m in ('PySide6', 'pyqtgraph')])"
    )
    assert python(code).strip() == "[]"


def test_files_stay_readable_in_one_go() -> None:
    long = {
        str(path.relative_to(REPOSITORY)): count
        for path in PACKAGE.rglob("*.py")
        if (count := len(path.read_text("utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}


def test_no_two_test_files_have_one_name() -> None:
    """pytest imports them by their names alone, so one of two would stop the whole run."""
    names = [path.name for path in (REPOSITORY / "tests").rglob("*.py")]
    assert [
        n for n in sorted({*names} - {"__init__.py", "conftest.py"}) if names.count(n) > 1
    ] == []


def test_every_module_says_what_it_does() -> None:
    silent = [
        str(path.relative_to(REPOSITORY))
        for path in PACKAGE.rglob("*.py")
        if not path.read_text("utf-8").lstrip().startswith('"""')
    ]
    assert silent == []


def test_every_dependency_has_its_reason() -> None:
    reasons = (REPOSITORY / "docs/decisions/libraries.md").read_text("utf-8")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = project["dependencies"] + extras["dev"] + extras["interop"]
    names = [re.split(r"[<>=]", text)[0] for text in wanted]
    silent = [n for n in names if n not in reasons and not n.startswith("types-")]
    assert silent == []


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    pins = {
        re.split("==", line)[0].lower().replace("_", "-")
        for line in (REPOSITORY / "constraints.txt").read_text("utf-8").splitlines()
        if "==" in line
    }
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    assert {re.split(r"[<>=]", text)[0].lower() for text in wanted} <= pins


def test_the_design_names_every_file_of_the_floors_below_the_engine() -> None:
    design = (REPOSITORY / "docs/design.md").read_text("utf-8")
    files = [p.name for p in PACKAGE.glob("*.py") if p.name != "__init__.py"]
    assert [name for name in files if name not in design] == []


# --- the wheel -------------------------------------------------------------------------------


def setuptools_table() -> dict[str, Any]:
    table = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    return table["tool"]["setuptools"]


def test_every_package_is_listed() -> None:
    found = {".".join(p.parent.relative_to(REPOSITORY).parts) for p in PACKAGE.rglob("__init__.py")}
    assert set(setuptools_table()["packages"]) == found | {"swag_studio.resources"}


def test_an_installed_wheel_finds_the_captions(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in ("swag_studio", "resources"):
        shutil.copytree(
            REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source / name)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
        + ["--disable-pip-version-check", "--target", target, source],
        check=True,
        timeout=900,
    )
    code = (
        "import swag_studio; print(swag_studio.__file__);"
        "from importlib.resources import files;"
        "captions = files('swag_studio.resources') / 'demo' / 'captions.json';"
        "print(captions); print(len(captions.read_bytes()))"
    )
    package, captions, size = python(code, PYTHONPATH=str(target)).splitlines()
    # Also the development install knows the captions: both have to come from the wheel.
    assert Path(package).is_relative_to(target) and Path(captions).is_relative_to(target)
    assert int(size) == (REPOSITORY / "resources/demo/captions.json").stat().st_size
