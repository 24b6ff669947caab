"""A project folder: made once, held by one writer, whole after a kill."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from swag_studio import recipe as recipes
from swag_studio.connections import companions
from swag_studio.errors import ProjectError, RecipeError, UserError
from swag_studio.pool import Pool, PoolLayout, Rows
from swag_studio.project import FOLDERS, Project
from swag_studio.recipe import STAGES
from swag_studio.records import Artifact, Caption, SourceInfo
from swag_studio.schema import migrations

DEMO = recipes.preset("demo")


def add_source(project: Project, name: str) -> None:
    info = SourceInfo(name, f"{name}.csv", "csv", name, 1, 1, 1, 0)
    project.store.stage_source(info)
    project.store.add_captions(name, [Caption("d", "g", "v", 0, "t")])
    project.store.publish_source(info)


def states(project: Project) -> dict[str, str]:
    return {state.stage: state.state for state in project.states()}


def run_all(project: Project) -> list[Artifact]:
    """Every stage made, as if by its engine module."""
    done = []
    for stage in STAGES:
        artifact = project.begin(stage, project.recipe)
        done.append(artifact if artifact.done else project.finish(artifact, {"stage": stage}))
    return done


# --- life --------------------------------------------------------------------------------------


def test_a_new_project_is_empty(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "new.swag"
    with Project.create(root, DEMO) as project:
        assert project.recipe == DEMO
        assert project.store.sources() == project.check() == []
        assert set(states(project).values()) == {"missing"}
    names = {path.name for path in root.iterdir()}
    folders = {*FOLDERS.values(), "backups", "logs"}
    assert names == folders | {"project.db", "new.swagproj", "recipe.toml", "lock"}
    with Project.open(root / "new.swagproj") as project:
        assert project.root == root


def test_what_is_no_new_project(tmp_path: Path) -> None:
    (tmp_path / "file.swag").touch()
    (tmp_path / "full.swag" / "logs").mkdir(parents=True)
    (tmp_path / "full.swag" / "logs" / "theirs").touch()
    (tmp_path / "theirs.swag").mkdir()
    (tmp_path / "theirs.swag" / "recipe.toml").write_text("mine")
    for name in ("plain", "file.swag", "full.swag", "theirs.swag", "file.swag/in.swag"):
        with pytest.raises(ProjectError):
            Project.create(tmp_path / name, DEMO)
    assert (tmp_path / "theirs.swag" / "recipe.toml").read_text() == "mine"
    Project.create(tmp_path / "made.swag", DEMO).close()
    with pytest.raises(ProjectError, match="exists already"):
        Project.create(tmp_path / "made.swag", DEMO)


def test_what_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "empty.swag").mkdir()
    for name in ("empty.swag", "none.swag", "none", "empty.swag/none.swagproj"):
        for readonly in (False, True):
            with pytest.raises(ProjectError, match="is not a project"):
                Project.open(tmp_path / name, readonly=readonly)


CREATE = """
import os, sys
from pathlib import Path
from swag_studio import files, recipe, project
left = int(sys.argv[2])
def counted(real):
    def call(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
        return real(*arguments, **named)
    return call
Path.mkdir = counted(Path.mkdir)
Path.replace = counted(Path.replace)
project.Store.migrate = counted(project.Store.migrate)
project.Project.create(Path(sys.argv[1]), recipe.preset("demo")).close()
"""


@pytest.mark.parametrize("steps", [1, 9, 10, 12, 14])
def test_a_create_that_was_killed_can_be_repeated(tmp_path: Path, steps: int) -> None:
    """1 to 8 make folders; then recipe.toml (2 steps), the tables, NAME.swagproj, lock.json."""
    root = tmp_path / "new.swag"
    killed = subprocess.run([sys.executable, "-c", CREATE, str(root), str(steps)], check=False)
    assert killed.returncode == -signal.SIGKILL
    made = root / "new.swagproj"
    with Project.open(root) if made.exists() else Project.create(root, DEMO) as project:
        assert project.recipe == DEMO
        assert project.check() == []


def test_a_database_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    Project.create(tmp_path / "p.swag", DEMO).close()
    for damage in (lambda p: p.unlink(), lambda p: p.touch()):
        damage(tmp_path / "p.swag" / "project.db")
        for readonly in (False, True):
            with pytest.raises(ProjectError, match=r"project\.db is missing"):
                Project.open(tmp_path / "p.swag", readonly=readonly)


def test_a_damaged_database_gives_the_lock_back(tmp_path: Path) -> None:
    Project.create(tmp_path / "p.swag", DEMO).close()
    database = tmp_path / "p.swag" / "project.db"
    whole = database.read_bytes()
    database.write_bytes(b"junk" * 1000)
    with pytest.raises(ProjectError, match="cannot be opened"):
        Project.open(tmp_path / "p.swag")
    database.write_bytes(whole)
    Project.open(tmp_path / "p.swag").close()


# --- lock --------------------------------------------------------------------------------------


def test_one_writer_and_any_readers(project: Project) -> None:
    with pytest.raises(ProjectError, match=f"in use by process {os.getpid()} on .* since"):
        Project.open(project.root)
    with Project.open(project.root, readonly=True) as reader:
        assert reader.readonly
        add_source(project, "s1")
        assert [s.id for s in reader.store.sources()] == ["s1"]


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    root = tmp_path / "p.swag"
    Project.create(root, DEMO).close()
    code = (
        "import sys, time; from pathlib import Path; from swag_studio.project import Project; "
        "p = Project.open(Path(sys.argv[1])); print('open', flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(ProjectError, match=f"process {holder.pid}"):
            Project.open(root)
        holder.kill()
        holder.wait()
    assert (root / "lock.json").exists()  # stale, and not believed
    Project.open(root).close()
    assert not (root / "lock.json").exists()


def test_a_project_is_closed_in_another_thread(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p.swag", DEMO)
    closing = threading.Thread(target=project.close)
    closing.start()
    closing.join()
    Project.open(tmp_path / "p.swag").close()


# --- versions of the program -------------------------------------------------------------------


def test_a_newer_project_is_refused(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.swag", DEMO) as project:
        project.store.db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('swag_studio', '9999_future', '')"
        )
    for readonly in (False, True):
        with pytest.raises(ProjectError, match="newer version of SWAG Studio"):
            Project.open(tmp_path / "p.swag", readonly=readonly)


def test_an_older_project_is_backed_up_and_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "p.swag"
    with Project.create(root, DEMO) as project:
        add_source(project, "s1")
    later = [*migrations._migrations]

    @migrations(name="9999_later")
    def later_table(db: object) -> None:
        db.executescript("CREATE TABLE later (x)")  # type: ignore[attr-defined]

    added = migrations._migrations[-1]
    migrations._migrations[:] = later
    monkeypatch.setattr(migrations, "_migrations", [*later, added])
    with pytest.raises(ProjectError, match="older version"):
        Project.open(root, readonly=True)
    with Project.open(root) as project:
        assert "later" in project.store.db.table_names()
    monkeypatch.undo()
    (backup,) = (root / "backups").iterdir()
    shutil.copy(backup, root / "project.db")  # as the message says
    with Project.open(root) as project:
        assert [s.id for s in project.store.sources()] == ["s1"]
        assert "later" not in project.store.db.table_names()


# --- recipe ------------------------------------------------------------------------------------


def test_the_recipe_is_kept(project: Project) -> None:
    changed = DEMO.with_values({"lm.dim": 64})
    project.set_recipe(changed)
    assert project.recipe == changed
    path = project.root / "recipe.toml"
    for contents in (b"[lm]\ndimm = 3\n", b"\xff", b"[lm"):
        path.write_bytes(contents)
        with pytest.raises(RecipeError, match=r"recipe\.toml"):
            _ = project.recipe
    path.unlink()
    with pytest.raises(UserError, match=r"recipe\.toml"):
        _ = project.recipe


# --- artifacts ---------------------------------------------------------------------------------


def test_a_stage_is_begun_resumed_and_finished(project: Project) -> None:
    add_source(project, "s1")
    first = project.begin("prepare", DEMO)
    assert (first.version, first.folder, first.done) == (1, "prepared/v1", False)
    assert project.folder(first).is_dir()
    assert states(project)["prepare"] == "unfinished"
    assert project.begin("prepare", DEMO) == first
    assert project.current("prepare") is None
    with pytest.raises(ProjectError, match="prepare has not been run"):
        project.require("prepare", DEMO)
    done = project.finish(first, {"kept": 3})
    assert done.done and done.summary == {"kept": 3}
    assert project.begin("prepare", DEMO) == project.require("prepare", DEMO) == done
    assert recipes.from_toml(done.recipe) == DEMO


def test_resuming_sweeps_what_a_kill_left(project: Project) -> None:
    add_source(project, "s1")
    artifact = project.begin("prepare", DEMO)
    folder = project.folder(artifact) / "sub"
    folder.mkdir()
    for name in (".block.safetensors.123.tmp", "block.safetensors"):
        (folder / name).touch()
    project.begin("prepare", DEMO)
    assert [path.name for path in folder.iterdir()] == ["block.safetensors"]


def test_a_folder_that_a_kill_left_without_a_row_is_cleared(project: Project) -> None:
    add_source(project, "s1")
    (project.root / "prepared" / "v1").mkdir()
    (project.root / "prepared" / "v1" / "stale").touch()
    artifact = project.begin("prepare", DEMO)
    assert list(project.folder(artifact).iterdir()) == []


def test_a_changed_recipe_makes_new_versions_and_keeps_the_old(project: Project) -> None:
    add_source(project, "s1")
    first = run_all(project)
    assert set(states(project).values()) == {"done"}
    project.set_recipe(DEMO.with_values({"generate.temperature": 0.9}))
    assert list(states(project).values()) == ["done", "done", "stale", "stale", "stale"]
    second = run_all(project)
    assert [a.version for a in second] == [1, 1, 2, 2, 2]
    assert all(project.folder(a).is_dir() for a in [*first, *second])
    project.set_recipe(DEMO)
    assert run_all(project) == first


def test_a_new_source_makes_all_stages_stale_whatever_the_order(tmp_path: Path) -> None:
    keys = []
    for order in (["s1", "s2"], ["s2", "s1"]):
        with Project.create(tmp_path / f"{order[0]}.swag", DEMO) as project:
            add_source(project, order[0])
            run_all(project)
            add_source(project, order[1])
            assert set(states(project).values()) == {"stale"}
            keys.append([project.key(stage) for stage in STAGES])
    assert keys[0] == keys[1]


# --- check -------------------------------------------------------------------------------------


def test_check_names_what_is_missing_or_damaged(project: Project) -> None:
    add_source(project, "s1")
    for stage in ("prepare", "train_lm"):
        project.begin(stage, DEMO)  # not done, and so not whole yet
    artifact = project.finish(project.begin("generate", DEMO), {})
    pool = Pool.create(project.folder(artifact), PoolLayout(1, 1, 2, ("f",)))
    rows = Rows(
        np.ones((3, 2), np.uint16),
        np.ones(3, np.uint8),
        np.ones(3, np.uint8),
        np.zeros(3, np.uint16),
        np.ones((3, 1), np.float32),
    )
    pool.write(0, np.array([0, 3], np.int64), rows)
    pool.finish()
    assert project.check() == []
    data = bytearray(pool.path(0).read_bytes())
    data[-1] ^= 1
    pool.path(0).write_bytes(data)
    project.finish(project.begin("train_lm", DEMO), {})
    shutil.rmtree(project.root / "models" / "v1")
    assert project.check() == [
        "models/v1: missing",
        f"pool/v1/{pool.path(0).name}: its checksum does not match its contents",
    ]
    (project.folder(artifact) / "blocks.json").unlink()
    assert project.check()[2] == "pool/v1/blocks.json: missing"
    (project.folder(artifact) / "pool.json").write_text("{}")
    assert project.check()[1] == "pool/v1/pool.json: damaged"
    (project.folder(artifact) / "pool.json").unlink()
    assert project.check()[1] == "pool/v1/pool.json: missing"


def test_a_project_on_a_medium_that_cannot_be_written_to_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would make an index of its log beside the database, and there it cannot."""
    root = tmp_path / "p.swag"
    Project.create(root, DEMO).close()
    files = companions(root / "project.db")
    with Project.open(root, readonly=True):
        assert files[1].exists()
    for file in files:
        file.unlink(missing_ok=True)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with Project.open(root, readonly=True) as project:
        assert project.check() == [] and not any(file.exists() for file in files)


def test_a_project_that_lost_its_file_is_not_told_to_be_made_anew(tmp_path: Path) -> None:
    Project.create(tmp_path / "other.swag", DEMO).close()
    with Project.create(tmp_path / "p.swag", DEMO) as project:
        folder = project.folder(project.begin("prepare", DEMO))
        (folder / "ids.json").write_text("[]")
    (project.root / "p.swagproj").unlink()
    with pytest.raises(ProjectError, match=r"lacks its file p\.swagproj.*any other project"):
        Project.open(project.root)
    shutil.copy(tmp_path / "other.swag" / "other.swagproj", project.root)
    Project.open(project.root).close()


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "The disk is full."), (errno.EROFS, "may not be used (read-only file system)")],
)
def test_a_lock_that_cannot_be_written_says_why_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def fail(path: Path, value: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    root = tmp_path / "p.swag"
    Project.create(root, DEMO).close()
    with monkeypatch.context() as patched:
        patched.setattr("swag_studio.project.write_json", fail)
        with pytest.raises(ProjectError) as error:
            Project.open(root)
    assert said in str(error.value) and "run again" in str(error.value)
    Project.open(root).close()  # and nothing holds it
