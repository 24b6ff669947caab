"""Backups of a project's database: made, verified, rotated, and put back.

    backups/project-20261129-221846.db            made here, in local time; some are kept
    backups/before-migration-20261129-221846.db   made by project.py; all are kept
    backups/replaced-20261129-221846.db           what a restore took the place of; all are kept

A copy counts as a backup once SQLite's integrity check has passed on it, so a damaged database
never pushes a good backup out. It knows nothing of what the tables hold, and backs up nothing but
the database: pools and models are made anew from the recipe.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Hashable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from swag_studio.connections import companions, in_short
from swag_studio.errors import ProjectError, quoted
from swag_studio.files import make_folder
from swag_studio.project import DATABASE, FOLDERS, project_folder, take_lock
from swag_studio.store import Store

FOLDER = "backups"
DAYS, WEEKS = 7, 4  # the newest of each of the last days, and of the last weeks, that have any
DAILY, HOURLY = timedelta(days=1), timedelta(hours=1)
LEFT = HOURLY  # after which an unfinished copy that nobody writes to is one that was left
KINDS = {"project": "backup", "before-migration": "before an update", "replaced": "replaced"}

_NAME = re.compile(r"(project|before-migration|replaced)-(\d{8}-\d{6})(?:-\d+)?\.db")
_MIGRATIONS = "_sqlite_migrations"  # a table that every project has
_STAMP = "%Y%m%d-%H%M%S"
_NOT_DAMAGE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_BUSY", "SQLITE_READONLY", "SQLITE_NOMEM")


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of project.db. `made` is local time, from the name: a copied folder keeps it."""

    path: Path
    kind: str  # a key of KINDS
    made: datetime
    size: int  # bytes

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    backup: Backup
    replaced: Path | None  # the database that was there before
    unknown: tuple[str, ...]  # folders of artifacts that the backup does not know


def found(root: Path) -> list[Backup]:
    """The copies in a project's backups folder, the newest first."""
    result = []
    with suppress(OSError):
        for path in (root / FOLDER).iterdir():
            if (match := _NAME.fullmatch(path.name)) and path.is_file():
                with suppress(ValueError):  # a stamp that is no time
                    made = datetime.strptime(match[2], _STAMP)
                    result.append(Backup(path, match[1], made, path.stat().st_size))
    return sorted(result, key=lambda b: (b.made, b.name), reverse=True)


def problems(path: Path) -> list[str]:
    """What SQLite's integrity check finds in a copy that nobody writes to, in short; empty when
    whole.
    """
    try:
        with closing(_connect(path, "immutable=1")) as connection:
            rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
            tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master")}
    except sqlite3.DatabaseError as error:
        return [str(error)]
    if rows == ["ok"]:
        return [] if _MIGRATIONS in tables else ["no project's tables are in it"]
    return [in_short(rows)]


@dataclass(frozen=True, slots=True)
class Newest:
    """What a restore would take."""

    backup: Backup | None  # the newest that is whole
    damaged: tuple[Backup, ...]  # those that are newer, the newest first

    def skipped(self) -> str:
        """In words, which copies are passed over; "" when none is."""
        names = ", ".join(backup.name for backup in self.damaged)
        if not names:
            return ""
        return f"{'Newer, but damaged' if self.backup else 'No copy is whole. Damaged'}: {names}."


def newest_whole(root: Path, now: datetime | None = None) -> Newest:
    """The newest backup that passes the check, to be offered for a restore. Reads whole copies.

    One from the future, made while a clock was wrong, comes after all others: nobody knows what it
    is newer than. A day more is no future, for who travelled west.
    """
    refuse_file(root)
    damaged: list[Backup] = []
    future = (now or datetime.now()) + DAILY
    candidates = [b for b in found(root) if b.kind != "replaced"]
    for backup in sorted(candidates, key=lambda b: b.made > future):  # stable: newest first
        if not problems(backup.path):
            return Newest(backup, tuple(damaged))
        damaged.append(backup)
    return Newest(None, tuple(damaged))


# --- making ------------------------------------------------------------------------------------


def keep(root: Path, every: timedelta = DAILY, now: datetime | None = None) -> Backup | None:
    """Makes a backup if the last is older than `every` and the database changed since; rotates.

    Raises ProjectError when the database is damaged or the disk does not play along.
    """
    now = now or datetime.now()
    if not due(root, every, now):
        return None
    made = make(root, now)
    for old in surplus([b for b in found(root) if b.kind == "project" and b.made <= now]):
        old.path.unlink(missing_ok=True)
    return made


def due(root: Path, every: timedelta, now: datetime) -> bool:
    """Whether `keep` would make one. A backup from the future (a clock was wrong) does not count.

    Also a copy from before a migration counts: it was made at this very opening.
    """
    made = [b for b in found(root) if b.kind != "replaced" and b.made <= now]
    if not made:
        return True
    written = [root / DATABASE, root / f"{DATABASE}-wal"]
    stats = [path.stat() for path in written if path.exists()]
    changed = max((s.st_mtime for s in stats if s.st_size), default=0.0)
    return now - made[0].made >= every and changed > made[0].made.timestamp()


def make(root: Path, now: datetime | None = None) -> Backup:
    """Copies the database beside whoever writes to it, and verifies the copy before it counts.

    Raises ProjectError when the folder is no project, its database is damaged, a file stands where
    backups go, or the disk does not play along.
    """
    root = project_folder(root)
    try:
        return _make(root, now or datetime.now())
    except (OSError, sqlite3.DatabaseError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ProjectError(
            f"No backup was made in {root / FOLDER} ({reason}); the earlier ones are kept. See to "
            "the disk and its permissions, and back up again."
        ) from error


def _make(root: Path, now: datetime) -> Backup:
    _make_folder(root)
    _sweep(root / FOLDER)
    target = root / FOLDER / f"project-{now.strftime(_STAMP)}.db"
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        wrong = _copy(root / DATABASE, temporary)
        if wrong:
            raise ProjectError(
                f"{root / DATABASE} is damaged ({wrong[0]}), so that no backup was made of it; "
                "the earlier ones are kept. Put the newest whole one back with: "
                f"swag-studio backups {quoted(root)} --restore newest"
            )
        temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return next(b for b in found(root) if b.path == target)


def _sweep(folder: Path) -> None:
    """Removes what a making that was killed has left.

    A young one may be another process's that is at work: nobody needs a project's lock to back it
    up, and to whom its copy is taken away a whole database looks damaged.
    """
    for leftover in folder.glob(".*.tmp*"):
        with suppress(FileNotFoundError):  # its maker was faster
            if time.time() - leftover.stat().st_mtime > LEFT.total_seconds():
                leftover.unlink()


def surplus(backups: Iterable[Backup]) -> list[Backup]:
    """Those that are neither the newest of one of the last days nor of one of the last weeks.

    Only days and weeks (Monday to Sunday) that have backups count, so that a project that was at
    rest for a year keeps what it had.
    """
    ordered = sorted(backups, key=lambda b: b.made, reverse=True)
    by_day: dict[Hashable, Backup] = {}
    by_week: dict[Hashable, Backup] = {}
    for backup in ordered:
        by_day.setdefault(backup.made.date(), backup)
        by_week.setdefault(backup.made.isocalendar()[:2], backup)
    kept = {*list(by_day.values())[:DAYS], *list(by_week.values())[:WEEKS]}
    return [backup for backup in ordered if backup not in kept]


# --- putting back ------------------------------------------------------------------------------


def restore(root: Path, name: str, now: datetime | None = None) -> Restored:
    """Puts a backup in the database's place and keeps the present one in the backups folder.

    The project must not be open anywhere. A kill at any moment leaves the old database, the new
    one, or none, which a further restore mends. Raises ProjectError when there is no such backup,
    or it is damaged, or from a newer version of the program, or the project is in use; OSError and
    sqlite3.DatabaseError when the disk does not play along.
    """
    chosen = next((b for b in found(root) if b.name == name), None)
    if chosen is None:
        names = ", ".join(b.name for b in found(root)) or "none"
        raise ProjectError(f"{root / FOLDER} has no backup {name}. It has: {names}.")
    lock = take_lock(root)
    fresh = root / f".{DATABASE}.{os.getpid()}.tmp"
    try:
        if wrong := _copy(chosen.path, fresh):
            raise ProjectError(
                f"{chosen.path} is damaged ({wrong[0]}). Nothing was changed; choose another one."
            )
        _refuse_newer(fresh, chosen)
        replaced = _put_aside(root, now or datetime.now())
        fresh.replace(root / DATABASE)
    finally:
        for path in (fresh, *companions(fresh)):
            path.unlink(missing_ok=True)
        (root / "lock.json").unlink(missing_ok=True)
        lock.release()
    return Restored(chosen, replaced, _unknown(root))


def _refuse_newer(path: Path, chosen: Backup) -> None:
    store = Store(path, readonly=True)
    try:
        newer = store.unknown_migrations()
    finally:
        store.close()
    if newer:
        raise ProjectError(
            f"{chosen.path} was made by a newer version of SWAG Studio (it has {newer[-1]}). "
            "Nothing was changed; update the program first."
        )


def _put_aside(root: Path, now: datetime) -> Path | None:
    """Moves the present database, with what its log still holds, into the backups folder.

    The log must go too, and never before its database: beside another database SQLite would
    play it into that.
    """
    database = root / DATABASE
    _make_folder(root)
    target, count = root / FOLDER / f"replaced-{now.strftime(_STAMP)}.db", 1
    while target.exists() or any(path.exists() for path in companions(target)):
        count += 1
        target = root / FOLDER / f"replaced-{now.strftime(_STAMP)}-{count}.db"
    was_there = database.exists()
    if was_there:
        database.replace(target)
    log, index = companions(database)
    if log.exists():
        log.replace(companions(target)[0])
    index.unlink(missing_ok=True)
    return target if was_there else None


def _make_folder(root: Path) -> None:
    """The backups folder of a project, unless a file stands there."""
    refuse_file(root)
    make_folder(root / FOLDER)


def refuse_file(root: Path) -> None:
    """Raises ProjectError when a file stands where a project's backups go."""
    if (root / FOLDER).exists() and not (root / FOLDER).is_dir():
        raise ProjectError(
            f"{root / FOLDER} is a file, and backups need a folder there. Move it away and try "
            "again."
        )


def _unknown(root: Path) -> tuple[str, ...]:
    """Folders of artifacts that are younger than the database; a run makes those anew."""
    with closing(_connect(root / DATABASE, "mode=ro")) as connection:
        known = {str(row[0]) for row in connection.execute("SELECT folder FROM artifacts")}
    there = {f"{name}/{p.name}" for name in FOLDERS.values() for p in (root / name).glob("v*")}
    return tuple(sorted(there - known))


def _copy(source: Path, target: Path) -> list[str]:
    """A consistent copy as one plain file, on the disk; what is wrong with it, if anything.

    Raises sqlite3.DatabaseError when the disk is at fault and not what is on it.
    """
    target.unlink(missing_ok=True)
    try:
        with closing(_connect(source, "mode=ro")) as one, closing(sqlite3.connect(target)) as other:
            one.backup(other)  # in one step: nobody who writes makes it start again
            other.execute("PRAGMA journal_mode = DELETE")  # no log beside it
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "").startswith(_NOT_DAMAGE):
            raise
        return [str(error)]
    if wrong := problems(target):
        return wrong
    with target.open("rb+") as file:
        os.fsync(file.fileno())
    return []


def _connect(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=30.0)
