"""A project folder NAME.swag: its database, its artifacts by version, its lock.

    project.db            tables (store.py)
    NAME.swagproj         what the desktop associates and opens
    recipe.toml           the current recipe
    outside.json          what was in files elsewhere that the recipe names (outside.py)
    prepared/v1  models/v1  pool/v1  filter/v1     what the stages made; never rewritten once done
    releases/  backups/  logs/

The project knows which artifact belongs to which recipe, and so what is done, stale or missing.
It knows nothing of how a stage works.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import filelock

from swag_studio import integrity, outside
from swag_studio.errors import (
    DatabaseError,
    ProjectError,
    RecipeError,
    gone,
    lost_project,
    misfortune,
    quoted,
)
from swag_studio.files import make_folder, read_json, write_json, write_text
from swag_studio.integrity import Look
from swag_studio.pool import Pool
from swag_studio.recipe import STAGES, Recipe, from_toml
from swag_studio.records import Artifact, State
from swag_studio.store import Store

SUFFIX = ".swag"
DATABASE, RECIPE = "project.db", "recipe.toml"
FOLDERS = {
    "prepare": "prepared",
    "train_lm": "models",
    "generate": "pool",
    "filter": "filter",
    "release": "releases",
}


@dataclass(frozen=True, slots=True)
class StageState:
    """Where a stage stands. `artifact` is the fresh or unfinished one, else the last done."""

    stage: str
    state: State
    artifact: Artifact | None


class Project:
    """An open project. Opened for writing it holds the project's lock until `close`."""

    def __init__(self, root: Path, store: Store, lock: filelock.BaseFileLock | None) -> None:
        self.root, self.store, self._lock = root, store, lock
        self.readonly = lock is None
        self.outside = outside.Outside(root / "outside.json")

    # --- life ----------------------------------------------------------------------------

    @classmethod
    def create(cls, root: Path, recipe: Recipe) -> Project:
        """A new, empty project. The folder must not exist, or be empty, or left by a kill here."""
        if root.suffix != SUFFIX:
            raise ProjectError(f"{root}: a project is a folder named *{SUFFIX}.")
        try:
            if root.exists() and not (root.is_dir() and all(map(_left_by_create, root.iterdir()))):
                raise ProjectError(f"{root} exists already. Choose another name, or open it.")
            root.mkdir(parents=True, exist_ok=True)
            for name in [*FOLDERS.values(), "backups", "logs"]:
                (root / name).mkdir(exist_ok=True)
            write_text(root / RECIPE, recipe.to_toml())
            store = Store(root / DATABASE)
            store.migrate()
            store.close()
            # Last: a folder without it is not a project yet.
            write_json(root / f"{root.stem}.swagproj", {"format": 1, "kind": "SWAG Studio project"})
        except OSError as error:
            raise ProjectError(f"{root} cannot be made: {error.strerror}.") from None
        return cls.open(root)

    @classmethod
    def open(cls, root: Path, *, readonly: bool = False) -> Project:
        """An existing project; `readonly` beside another process that holds its lock.

        Raises ProjectError when the folder is no project, is locked by a living process, or is
        from a newer version of the program.
        """
        root = project_folder(root)
        database = root / DATABASE
        if not database.is_file() or database.stat().st_size == 0:
            raise DatabaseError(
                f"{database} is missing or empty. Put its newest whole backup in its place: "
                f"swag-studio backups {quoted(root)} --restore newest"
            )
        lock = None if readonly else take_lock(root)
        store = Store(database, readonly=readonly)
        try:
            if newer := store.unknown_migrations():
                raise ProjectError(
                    f"{root} was last used by a newer version of SWAG Studio "
                    f"(it has {newer[-1]}). Update the program to open it."
                )
            if store.needs_migration():
                if readonly:
                    raise ProjectError(
                        f"{root} is from an older version; open it once to bring it up to date."
                    )
                if store.migrated_before():
                    stamp = time.strftime("%Y%m%d-%H%M%S")
                    store.backup(root / "backups" / f"before-migration-{stamp}.db")
                store.migrate()
            project = cls(root, store, lock)
            if not readonly:
                for source in store.staged_sources():
                    store.discard_source(source)
            return project
        except BaseException:
            store.close()
            if lock is not None:
                lock.release()
            raise

    def close(self) -> None:
        """Closes the database and gives the lock back."""
        self.store.close()
        if self._lock is not None:
            (self.root / "lock.json").unlink(missing_ok=True)
            self._lock.release()

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- recipe --------------------------------------------------------------------------

    @property
    def recipe(self) -> Recipe:
        """The current recipe, read from recipe.toml."""
        path = self.root / RECIPE
        try:
            return from_toml(path.read_text(encoding="utf-8"))
        except OSError as error:
            if lost_project(path):
                raise ProjectError(gone(path)) from None
            raise ProjectError(
                f"{path} cannot be read ({error.strerror}). {self._recipe_back}"
            ) from None
        except UnicodeDecodeError:
            raise RecipeError(f"{path}: not a text file in UTF-8. {self._recipe_back}") from None
        except RecipeError as error:
            raise RecipeError(f"{path}: {error}") from None

    @property
    def _recipe_back(self) -> str:
        return (
            "Put a copy of it back, or have it written as the newest result has it: "
            f"swag-studio check {quoted(self.root)} --mend"
        )

    def set_recipe(self, recipe: Recipe) -> None:
        """Changes the recipe. What it makes stale is kept, and made anew at the next run."""
        write_text(self.root / RECIPE, recipe.to_toml())

    def last_recipe(self) -> str:
        """The recipe of the newest version of the last stage that has one; "" before any has."""
        made = (a for stage in reversed(STAGES) for a in reversed(self.store.artifacts(stage)))
        return next((artifact.recipe for artifact in made), "")

    # --- artifacts -----------------------------------------------------------------------

    def key(self, stage: str, recipe: Recipe | None = None) -> str:
        """The key that an artifact of `stage` has with the recipe and the current sources."""
        keys = self._keys(recipe or self.recipe)
        return next(key for name, key in keys if name == stage)

    def _keys(self, recipe: Recipe) -> Iterator[tuple[str, str]]:
        """(stage, key) of each stage in order."""
        inputs = [source.id for source in self.store.sources()]
        for stage in STAGES:
            contents = self.outside.digests(recipe, stage)
            inputs = [recipe.stage_key(stage, inputs, outside=contents)]
            yield stage, inputs[0]

    def begin(self, stage: str, recipe: Recipe) -> Artifact:
        """The artifact that `stage` is to make with `recipe`.

        The one with the same key where there is one, done or interrupted; else a new version.
        Raises RecipeError when a file outside the project that it is to be made from is gone, and
        ProjectError when it was done and its folder is gone.
        """
        for _ in self.outside.reading(recipe, stage):
            pass
        key = self.key(stage, recipe)
        versions = self.store.artifacts(stage)
        same = next((a for a in versions if a.key == key), None)
        if same is not None and same.done:
            if self.lost(same):
                raise ProjectError(self.what_lost(same))
            return same
        self.outside.check(recipe, stage)
        if same is not None:
            make_folder(self.folder(same))  # gone, where one that was lost is made anew
            _sweep(self.folder(same))
            return same
        number = 1 + max((a.version for a in versions), default=0)
        artifact = Artifact(
            stage=stage,
            version=number,
            key=key,
            folder=f"{FOLDERS[stage]}/v{number}",
            done=False,
            recipe=recipe.to_toml(),
            summary=outside.summary_of(self.outside.digests(recipe, stage)),
        )
        folder = self.folder(artifact)
        if folder.exists():  # left by a kill between making the folder and the row
            shutil.rmtree(folder)
        make_folder(folder)
        self.store.put_artifact(artifact)
        return artifact

    def finish(self, artifact: Artifact, summary: Mapping[str, object]) -> Artifact:
        """Marks an artifact done. From now on it is never rewritten."""
        kept = outside.summary_of(outside.recorded(artifact))
        sums = integrity.sums(artifact.stage, self.folder(artifact))
        done = replace(artifact, done=True, summary=kept | dict(summary) | sums)
        self.store.put_artifact(done)
        return done

    def current(self, stage: str, recipe: Recipe | None = None) -> Artifact | None:
        """The done artifact that belongs to the recipe and sources, or None."""
        key = self.key(stage, recipe)
        return next((a for a in self.store.artifacts(stage) if a.key == key and a.done), None)

    def require(self, stage: str, recipe: Recipe) -> Artifact:
        """As `current`, for a stage that another one builds on."""
        artifact = self.current(stage, recipe)
        if artifact is None:
            raise ProjectError(f"the stage {stage} has not been run with this recipe.")
        return artifact

    def states(self, recipe: Recipe | None = None) -> list[StageState]:
        """Where every stage stands with the recipe and sources."""
        recipe = recipe or self.recipe  # read once, not per stage
        result = []
        for stage, key in self._keys(recipe):
            versions = self.store.artifacts(stage)
            same = next((a for a in versions if a.key == key), None)
            last = next((a for a in reversed(versions) if a.done), None)
            if same is not None and same.done:
                result.append(StageState(stage, "done", same))
            elif same is not None:
                result.append(StageState(stage, "unfinished", same))
            elif last is not None:
                result.append(StageState(stage, "stale", last))
            else:
                result.append(StageState(stage, "missing", None))
        return result

    def folder(self, artifact: Artifact) -> Path:
        """Where an artifact's files are."""
        return self.root / artifact.folder

    def lost(self, artifact: Artifact) -> bool:
        """Whether a done artifact's folder is gone."""
        return artifact.done and not self.folder(artifact).is_dir()

    def what_lost(self, artifact: Artifact) -> str:
        """What to do about one that is lost."""
        folder = self.folder(artifact)
        if lost_project(folder):
            return gone(folder)
        return (
            f"{folder} is missing, though it was made. Have the next run make it anew with: "
            f"swag-studio check {quoted(self.root)} --mend"
        )

    # --- check ---------------------------------------------------------------------------

    def check(self) -> list[str]:
        """The database, what the stages made and the releases, verified. Empty when all is whole.

        mending.py has what can be made anew made anew.
        """
        return [look.told for look in self.checking() if look.problem]

    def checking(self) -> Iterator[Look]:
        """As `check`, in pieces that a window can stop between: the database, then file by file."""
        damaged = self.store.problems()
        for problem in damaged or [f"{DATABASE}: "]:
            yield Look(DATABASE, problem.removeprefix(f"{DATABASE}: "), "database")
        if damaged:
            return
        yield from self._looking_at_recipe()
        for stage in STAGES:
            for artifact in self.store.artifacts(stage):
                yield from self._looking(artifact)
        written = self.store.people_setting(integrity.WRITTEN, {})
        yield from integrity.verified_releases(self.root, written)

    def _looking_at_recipe(self) -> Iterator[Look]:
        try:
            _ = self.recipe
        except RecipeError as error:
            problem = str(error).removeprefix(f"{self.root / RECIPE}: ")
        except ProjectError:
            problem = "missing, or it cannot be read"
        else:
            return
        yield Look(RECIPE, problem, mend="recipe" if self.last_recipe() else "")

    def _looking(self, artifact: Artifact) -> Iterator[Look]:
        folder = self.folder(artifact)
        if self.lost(artifact):
            yield Look(artifact.folder, "missing", mend="anew")
        elif artifact.stage == "generate":
            yield from _looking_at_pool(folder, artifact.folder, done=artifact.done)
        elif artifact.done:  # else it is not whole yet
            yield from integrity.looking(artifact.stage, folder, artifact.folder, artifact.summary)


def _looking_at_pool(folder: Path, name: str, *, done: bool) -> Iterator[Look]:
    """The pool in a folder, block by block."""
    if not (folder / "pool.json").exists():  # not begun, unless it is done
        if done:
            yield Look(f"{name}/pool.json", "missing", mend="anew")
        return
    try:
        pool = Pool.open(folder)
    except ProjectError:
        yield Look(f"{name}/pool.json", "damaged", mend="anew")
        return
    for found in pool.checking():
        if not found:
            yield Look(name, kind="block")
        for text in found:
            file, _, problem = text.partition(": ")
            yield Look(f"{name}/{file}", problem, mend="block")
    if done and not pool.sealed:
        yield Look(f"{name}/blocks.json", "missing", mend="block")


def project_folder(path: Path) -> Path:
    """A project's folder, given itself or the file in it that the desktop opens.

    Raises ProjectError when it is none.
    """
    root = path.parent if path.suffix == ".swagproj" and path.is_file() else path
    if not root.is_dir() or not any(root.glob("*.swagproj")):
        if (root / DATABASE).is_file() and not all(map(_left_by_create, root.iterdir())):
            raise ProjectError(
                f"{root} lacks its file {root.stem}.swagproj. Copy the one of any other project "
                "there, and open it again."
            )
        raise ProjectError(
            f"{root} is not a project. Make one with: swag-studio new {quoted(root)}"
            if root.suffix == SUFFIX
            else f"{root} is not a project: a project is a folder named *{SUFFIX}."
        )
    return root


def take_lock(root: Path) -> filelock.BaseFileLock:
    """The project's lock, to be released. The system frees it when its holder dies.

    Raises ProjectError when somebody else has it.
    """
    # Not bound to a thread: a project may be opened in one and closed in another.
    lock = filelock.FileLock(root / "lock", blocking=False, thread_local=False)
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": int(time.time())}
    try:
        lock.acquire()
        write_json(root / "lock.json", holder)
    except filelock.Timeout:
        raise ProjectError(
            f"{root} is in use{_holder(root)}. Close it there first; status, agreement and plan "
            "can be read meanwhile."
        ) from None
    except OSError as error:
        lock.release()
        raise ProjectError(
            misfortune(error) or f"{root} cannot be locked: {error.strerror or error}."
        ) from None
    return lock


def _left_by_create(entry: Path) -> bool:
    """Whether an entry of a folder may come from a `create` that was killed."""
    if entry.is_dir():
        return entry.name in {*FOLDERS.values(), "backups", "logs"} and not any(entry.iterdir())
    # The folders come first: a lone recipe.toml is somebody's.
    made = (entry.parent / "logs").is_dir()
    return made and entry.name.startswith((DATABASE, RECIPE, "."))


def _sweep(folder: Path) -> None:
    """Removes the temporary files that a kill left in an unfinished artifact (files.py)."""
    for leftover in folder.rglob(".*.tmp"):
        leftover.unlink(missing_ok=True)


def _holder(root: Path) -> str:
    try:
        data = read_json(root / "lock.json")
        since = time.strftime("%H:%M", time.localtime(data["since"]))
        return f" by process {data['pid']} on {data['host']} since {since}"
    except (OSError, ValueError, KeyError, TypeError, json.JSONDecodeError):
        return ""
