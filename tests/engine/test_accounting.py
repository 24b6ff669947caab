"""Where and with what an artifact was made, whatever stood between: machines, versions, seconds."""

from __future__ import annotations

import itertools
import platform
from pathlib import Path
from typing import Any

import pytest
from judged_project import context, filtered

from swag_studio import __version__
from swag_studio import recipe as recipes
from swag_studio.engine import accounting
from swag_studio.engine.accounting import WorkClock, account, machines, versions, work
from swag_studio.engine.publish import publish
from swag_studio.files import read_json, write_json
from swag_studio.project import Project
from swag_studio.recipe import STAGES
from swag_studio.records import Artifact
from swag_studio.releases import ReleaseOptions


@pytest.fixture
def project(tmp_path: Path) -> Any:
    with Project.create(tmp_path / "p.swag", recipes.preset("demo")) as made:
        yield made


@pytest.fixture
def artifact(project: Project) -> Artifact:
    return project.begin("train_lm", project.recipe)


@pytest.fixture(autouse=True)
def clock_of_tens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks at the clock lie ten seconds."""
    ticks = itertools.count(0, 10)
    monkeypatch.setattr(accounting.time, "monotonic", lambda: float(next(ticks)))


def on(monkeypatch: pytest.MonkeyPatch, host: str, torch: str = "2.1") -> None:
    """The work that follows is done on another machine."""
    there = {
        "host": host,
        "system": "Linux",
        "processor": "x86_64",
        "program": "0.1.0",
        "python": "3.11.7",
        "packages": {"torch": torch, "safetensors": "1", "en-core-web-sm": "3.8.0"},
    }
    monkeypatch.setattr(accounting, "machine", lambda: there)


def session(project: Project, artifact: Artifact) -> None:
    """One run of a stage that takes ten seconds, or more by what is saved."""
    clock = WorkClock(project, artifact)
    with clock:
        pass
    clock.save()


def stage(project: Project, artifact: Artifact) -> dict[str, Any]:
    told: dict[str, Any] = account(project, [artifact])["stages"]["train_lm"]
    return told


def test_each_machine_has_its_share(
    project: Project, artifact: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in ("laptop", "server", "server", "laptop"):
        on(monkeypatch, host)
        session(project, artifact)
    on(monkeypatch, "the one that releases", "9.9")
    told = stage(project, artifact)
    assert account(project, [artifact])["machine"]["host"] == "the one that releases"
    assert [m["host"] for m in told["machines"]] == ["laptop", "server"]
    assert [m["sessions"] for m in told["machines"]] == [2, 2] and told["sessions"] == 4
    assert [m["seconds"] for m in told["machines"]] == [20.0, 20.0] and told["seconds"] == 40.0
    assert told["machines"][1]["packages"]["torch"] == "2.1"


def test_going_on_at_the_same_machine_changes_no_versions(
    project: Project, artifact: Artifact
) -> None:
    session(project, artifact)
    first = versions(work(project)[artifact.folder])
    session(project, artifact)
    assert versions(work(project)[artifact.folder]) == first
    (made_with,) = first
    assert made_with is not None and set(made_with) >= {"python", "torch", "numpy", "spacy"}
    assert made_with["swag-studio"] == __version__
    assert made_with["python"] == platform.python_version()
    assert "safetensors" not in made_with  # no result depends on it
    assert any(name.startswith("en-core-web-sm") and value for name, value in made_with.items())


def test_versions_are_told_once_each_and_name_no_host(
    project: Project, artifact: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host, torch in (("laptop", "2.1"), ("server", "2.1"), ("laptop", "2.2")):
        on(monkeypatch, host, torch)
        session(project, artifact)
    entry = work(project)[artifact.folder]
    base = {"swag-studio": "0.1.0", "python": "3.11.7", "en-core-web-sm": "3.8.0"}
    assert versions(entry) == [{**base, "torch": "2.1"}, {**base, "torch": "2.2"}]
    assert [m["host"] for m in machines(entry)] == ["laptop", "server", "laptop"]


def test_what_an_older_program_did_not_keep_is_said_to_be_unknown(
    project: Project, artifact: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stage(project, artifact)["machines"] == [{"host": None}]
    old = {"seconds": 82.7, "cpu_seconds": 56.18, "sessions": 1}
    write_json(project.root / "logs" / "work.json", {artifact.folder: old})
    told = stage(project, artifact)
    assert told == {**old, "machines": [{"host": None, **old}]}
    assert versions(old) == [None] == versions({})
    on(monkeypatch, "server")
    session(project, artifact)
    unknown, known = stage(project, artifact)["machines"]
    assert unknown == {"host": None, **old}
    assert (known["host"], known["seconds"], known["sessions"]) == ("server", 10.0, 1)
    before, since = versions(work(project)[artifact.folder])
    assert before is None and since is not None and since["torch"] == "2.1"


def test_a_release_tells_where_its_stages_worked_and_its_manifest_with_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def manifest_and_account(project: Project, version: str) -> tuple[Any, Any]:
        list(publish(project, ReleaseOptions(version, unverified=True, formats=("swag_csv",))))
        folder = project.root / "releases" / version
        manifest, run = (read_json(folder / f"{name}.json") for name in ("manifest", "run"))
        return manifest["stages"], run["stages"]

    with filtered(tmp_path / "j.swag", recipes.preset("demo"), [context(0)]) as project:
        made = [a for stage in STAGES[:-1] for a in project.store.artifacts(stage)]
        unknown, _ = manifest_and_account(project, "1.0.0")
        assert [told["made_with"] for told in unknown.values()] == [[None]] * 4
        on(monkeypatch, "server")
        for artifact in made:
            session(project, artifact)
        first, _ = manifest_and_account(project, "1.0.1")
        for host in ("server", "laptop"):  # goes on there, and elsewhere with the same versions
            on(monkeypatch, host)
            session(project, made[1])
        again, run = manifest_and_account(project, "1.0.2")
    assert again == first
    assert [[v["torch"] for v in told["made_with"]] for told in first.values()] == [["2.1"]] * 4
    assert [m["host"] for m in run["train_lm"]["machines"]] == ["server", "laptop"]
    assert [m["host"] for m in run["filter"]["machines"]] == ["server"]
