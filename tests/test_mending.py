"""What is damaged is made anew at the next run, and nothing that people need is lost for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from swag_studio import recipe as recipes
from swag_studio.app import EngineJobs
from swag_studio.errors import ProjectError
from swag_studio.events import Finished, Message
from swag_studio.files import write_bytes, write_json
from swag_studio.mending import Mended, mend, mendable
from swag_studio.pool import Pool, PoolLayout, Rows
from swag_studio.project import Project
from swag_studio.recipe import STAGES
from swag_studio.records import SourceInfo

DEMO = recipes.preset("demo")
ARRAY = save({"a": np.ones(3, np.float32)})


def make(project: Project, stage: str) -> None:
    """One stage, as if by its engine module."""
    artifact = project.begin(stage, project.recipe)
    if artifact.done:
        return
    folder = project.folder(artifact)
    summary: dict[str, object] = {}
    if stage == "prepare":
        write_bytes(folder / "corpus.safetensors", ARRAY)
        for name in ("ids", "vocabulary"):
            write_json(folder / f"{name}.json", [])
    elif stage == "train_lm":
        write_bytes(folder / "fold-0.safetensors", ARRAY)
        write_json(folder / "fold-0.json", {})
        write_json(folder / "fold-0.samples.json", {})
        summary = {"folds": [{}]}
    elif stage == "generate":
        summary = {"pool": make_pool(folder).finish()}
    elif stage == "filter":
        write_bytes(folder / "initial.safetensors", ARRAY)
    else:
        write_json(folder / "manifest.json", {"files": {}})
    project.finish(artifact, summary)


def make_pool(folder: Path) -> Pool:
    pool = Pool.create(folder, PoolLayout(2, 1, 2, ()))
    rows = Rows(
        np.zeros((0, 2), np.uint16),
        np.zeros(0, np.uint8),
        np.zeros(0, np.uint8),
        np.zeros(0, np.uint16),
        np.zeros((0, 0), np.float32),
    )
    for block in pool.missing():
        pool.write(block, np.zeros(2, np.int64), rows)
    return pool


def run(project: Project) -> None:
    for stage in STAGES:
        make(project, stage)


@pytest.fixture
def made(project: Project) -> Iterator[Project]:
    info = SourceInfo("s1", "f.csv", "csv", "s1", 1, 1, 1, 0)
    project.store.stage_source(info)
    project.store.publish_source(info)
    run(project)
    assert project.check() == []
    yield project


def mended(project: Project) -> list[Mended]:
    looks = list(project.checking())
    can = mendable(project, looks)
    done = mend(project, looks)
    assert can == any(m.how != "earlier" for m in done)
    return done


def states(project: Project) -> list[str]:
    return [state.state for state in project.states()]


@pytest.mark.parametrize("place", range(len(STAGES)))
def test_a_lost_folder_is_made_anew_and_what_depends_on_it_stays(made: Project, place: int) -> None:
    artifact = made.require(STAGES[place], DEMO)
    folder = made.folder(artifact)
    shutil.rmtree(folder)
    assert made.check() == [f"{artifact.folder}: missing"]
    with pytest.raises(ProjectError, match=r"is missing, though it was made.*check .* --mend"):
        make(made, artifact.stage)
    assert mended(made) == [Mended(artifact.folder, "anew")]
    expected = ["done"] * 5
    expected[place] = "unfinished"
    assert states(made) == expected
    run(made)
    assert states(made) == ["done"] * 5 and made.check() == []
    assert [a.version for stage in STAGES for a in made.store.artifacts(stage)] == [1] * 5


def test_a_lost_folder_of_a_lost_project_is_told_as_such(made: Project, tmp_path: Path) -> None:
    made.root.rename(tmp_path / "elsewhere.swag")
    with pytest.raises(ProjectError, match=r"test\.swag is gone"):
        made.begin("generate", DEMO)
    (tmp_path / "elsewhere.swag").rename(made.root)


@pytest.mark.parametrize("lost", ["block-000001.safetensors", "blocks.json"])
@pytest.mark.parametrize("how", ["unlink", "cut"])
def test_a_damaged_file_of_a_pool_is_made_anew_alone(made: Project, lost: str, how: str) -> None:
    folder = made.folder(made.require("generate", DEMO))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / lost).unlink() if how == "unlink" else (folder / lost).write_bytes(b"{")
    assert mended(made) == [Mended(f"pool/v1/{lost}", "anew")]
    assert {path.name for path in folder.iterdir()} == before.keys() - {lost}
    run(made)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_damaged_block_of_an_interrupted_pool_is_made_anew_too(made: Project) -> None:
    changed = DEMO.with_values({"generate.temperature": 0.9})
    made.set_recipe(changed)
    folder = made.folder(made.begin("generate", changed))
    make_pool(folder).path(0).write_bytes(b"torn")
    assert mended(made) == [Mended("pool/v2/block-000000.safetensors", "anew")]
    run(made)
    assert made.check() == []


@pytest.mark.parametrize(
    "file", ["models/v1/fold-0.safetensors", "prepared/v1/ids.json", "pool/v1/pool.json",
             "filter/v1/initial.safetensors", "releases/v1/manifest.json"]
)  # fmt: skip
def test_a_damaged_result_is_put_aside_and_made_anew(made: Project, file: str) -> None:
    (made.root / file).write_bytes(b"{")
    name, version, _ = file.split("/")
    (problem,) = made.check()
    assert problem.split(":")[0] in (file, f"{name}/{version}")
    for aside in ("damaged-v1", "damaged-v1-2"):
        assert mended(made) == [Mended(f"{name}/v1", "anew", f"{name}/{aside}")]
        assert (made.root / file.replace("/v1/", f"/{aside}/")).read_bytes() == b"{"
        run(made)
        assert made.check() == []
        (made.root / file).write_bytes(b"{")


def test_a_flipped_bit_is_found_by_the_sum_and_the_run_made_anew(made: Project) -> None:
    path = made.root / "filter/v1/initial.safetensors"
    before, changed = path.read_bytes(), bytearray(path.read_bytes())
    changed[-1] ^= 1
    path.write_bytes(changed)
    assert made.check() == [
        "filter/v1/initial.safetensors: its checksum does not match its contents"
    ]
    assert mended(made) == [Mended("filter/v1", "anew", "filter/damaged-v1")]
    run(made)
    assert made.check() == [] and path.read_bytes() == before


def test_what_only_people_read_is_removed_and_the_models_stay(made: Project) -> None:
    (made.root / "models/v1/fold-0.samples.json").write_text("{")
    assert mended(made) == [Mended("models/v1/fold-0.samples.json", "removed")]
    assert made.check() == [] and states(made) == ["done"] * 5


def test_what_an_earlier_recipe_made_stays_done(made: Project) -> None:
    """People's work may hang on it: it is read and released without its files."""
    made.set_recipe(DEMO.with_values({"generate.temperature": 0.9}))
    run(made)
    shutil.rmtree(made.root / "filter/v1")
    Pool.open(made.root / "pool/v1").path(0).write_bytes(b"torn")
    before = [made.store.artifacts(stage) for stage in STAGES]
    assert mended(made) == [Mended("pool/v1", "earlier"), Mended("filter/v1", "earlier")]
    assert [made.store.artifacts(stage) for stage in STAGES] == before
    assert (made.root / "pool/v1/block-000000.safetensors").read_bytes() == b"torn"
    made.set_recipe(DEMO)
    assert [m.how for m in mended(made)] == ["anew", "anew"]
    run(made)
    assert made.check() == []


def test_a_lost_verified_release_is_told_and_left_to_people(made: Project) -> None:
    made.store.set_people_setting("release_manifests", {"1.0.0": "0" * 64})
    (problem,) = made.check()
    assert problem.startswith("releases/1.0.0: missing. No run makes it anew")
    assert mended(made) == [] and len(made.check()) == 1


@pytest.mark.parametrize("how", [None, b"\xff\xfe", b"seed = ", b"[filter]\nreplaced = 3\n"])
def test_a_recipe_that_cannot_be_read_is_put_back(made: Project, how: bytes | None) -> None:
    """Also where more is damaged: what belongs to the recipe is asked once there is one."""
    made.set_recipe(DEMO.with_values({"filter.replace": 1}))
    run(made)
    path, text = made.root / "recipe.toml", (made.root / "recipe.toml").read_bytes()
    path.unlink() if how is None else path.write_bytes(how)
    (made.root / "filter/v2/initial.safetensors").write_bytes(b"{")
    first, second = made.check()
    assert first.startswith("recipe.toml: ") and second.startswith("filter/v2/")
    aside = "" if how is None else "damaged-recipe.toml"
    assert mended(made) == [
        Mended("recipe.toml", "recipe", aside), Mended("filter/v2", "anew", "filter/damaged-v2"),
    ]  # fmt: skip
    assert path.read_bytes() == text
    assert how is None or (made.root / aside).read_bytes() == how
    run(made)
    assert made.check() == [] and states(made) == ["done"] * 5


def test_a_recipe_of_a_project_without_results_is_named_and_left(project: Project) -> None:
    (project.root / "recipe.toml").write_bytes(b"\xff")
    (problem,) = project.check()
    assert problem.startswith("recipe.toml: ") and mended(project) == []


def test_a_damaged_database_is_not_mended(made: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made.store, "problems", lambda: ["project.db: torn"])
    assert made.check() == ["project.db: torn"]
    assert mended(made) == []


# --- the window's check ----------------------------------------------------------------------


def told(project: Project) -> Message:
    *_, message, finished = EngineJobs().check(project)
    assert isinstance(message, Message) and isinstance(finished, Finished)
    return message


def test_the_window_says_what_it_looked_at_and_what_to_do(made: Project) -> None:
    assert told(made).text == (
        "Checked: the database, 3 files of contexts, 1 model, 2 blocks of candidates, 1 file of "
        "filter runs and 1 release are whole."
    )
    (made.root / "models/v1/fold-0.safetensors").write_bytes(ARRAY[:-1])
    message = told(made)
    assert message.level == "error" and message.detail.splitlines() == [
        "models/v1/fold-0.safetensors: 1 byte short",
        f"Close the project, then: swag-studio check {made.root} --mend",
    ]
    made.set_recipe(DEMO.with_values({"lm.dim": 64}))
    assert "--mend" not in told(made).detail
