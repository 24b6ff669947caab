"""Connections to project.db: one per thread, short write transactions, long reads beside them.

Every write is one short BEGIN IMMEDIATE transaction, so that two writers queue instead of
failing. A long read has a connection of its own, so that its thread can write meanwhile. It knows
the schema's migrations, not what the tables hold.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlite_utils import Database

from swag_studio.errors import DatabaseError, ProjectError, damaged, quoted
from swag_studio.schema import migrations

SLICE = 2000  # rows that one transaction writes or deletes

T = TypeVar("T")


def sliced(rows: Iterable[T], size: int = SLICE) -> Iterator[list[T]]:
    """`rows` in lists of at most `size`."""
    iterator = iter(rows)
    while part := list(itertools.islice(iterator, size)):
        yield part


def companions(database: Path) -> tuple[Path, Path]:
    """SQLite's log and its index beside a database."""
    return Path(f"{database}-wal"), Path(f"{database}-shm")


def in_short(rows: Sequence[str]) -> str:
    """What SQLite's integrity check found: the first fault, and how many more there are."""
    faults = [line for row in rows for line in str(row).splitlines() if not line.startswith("***")]
    more = f", and {len(faults) - 1:,} more" if len(faults) > 1 else ""
    return f"{faults[0] if faults else 'not what SQLite expects'}{more}"


class Connections:
    """The connections to one database. Methods may be called from any thread."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path, self.readonly = path, readonly
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.RLock()  # a read that is dropped unread may end anywhere
        # Held from a long look to the write that goes by it, such as of who judges what: of two
        # threads of this process the one that looks last writes last. Others have the project's
        # lock to pass. It is taken before a transaction, never within one.
        self.deriving = threading.RLock()

    # --- connections ---------------------------------------------------------------------

    @property
    def db(self) -> Database:
        """This thread's database. It is opened on first use."""
        db: Database | None = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = self._connect()
        return db

    def _connect(self) -> Database:
        mode = "ro" if self.readonly else "rwc"
        fixed = self.readonly and not os.access(self.path.parent, os.W_OK)
        if fixed and not any(path.exists() for path in companions(self.path)):
            mode = "ro&immutable=1"  # else SQLite would make an index of its log beside it
        try:
            connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}",
                uri=True,
                timeout=30.0,
                isolation_level=None,
                check_same_thread=False,  # only `close` crosses threads
            )
            if not self.readonly:
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -32768")  # KiB: an index of 113,000 rows fits
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:
            told = f"{self.path} cannot be opened as a project database ({error})."
            if fixed and error.sqlite_errorname.startswith("SQLITE_CANTOPEN"):
                raise ProjectError(
                    f"{told} Its folder may not be written to, and what was written last is still "
                    "in the log beside it: copy the project to where you may write, and open that."
                ) from None
            if not damaged(error):
                raise ProjectError(told) from None
            raise DatabaseError(
                f"{told} Put its newest whole backup in its place: "
                f"swag-studio backups {quoted(self.path.parent)} --restore newest"
            ) from None
        with self._guard:
            self._all.append(connection)
        return Database(connection)

    def close(self) -> None:
        """Closes the connections of all threads."""
        with self._guard:
            for connection in self._all:
                connection.close()
            self._all.clear()
        self._local = threading.local()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One BEGIN IMMEDIATE transaction: committed at the end, rolled back on an error."""
        connection = self.db.conn
        assert connection is not None
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk makes SQLite roll back by itself
                connection.execute("ROLLBACK")
            raise

    def _query(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
        return iter(self.db.query(sql, list(parameters)))

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """As `_query`, all at once, in a third of the time: for what is asked by the thousand."""
        connection = self.db.conn
        assert connection is not None
        cursor = connection.cursor()
        cursor.row_factory = sqlite3.Row
        return cursor.execute(sql, parameters).fetchall()

    def _stream(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[sqlite3.Row]:
        """The rows of a long read, as they stood at its first row.

        On a connection of its own: beside a half-read cursor, a write on the same connection
        fails with "database is locked" once another thread has written.
        """
        connection = self._connect().conn
        assert connection is not None
        connection.row_factory = sqlite3.Row
        try:
            yield from iter(connection.execute(sql, parameters).fetchone, None)
        finally:
            with self._guard:
                if connection in self._all:
                    self._all.remove(connection)
            connection.close()

    def _delete(self, table: str, column: str, value: Any, key: str, size: int = 0) -> None:
        """Deletes the rows with `column` = `value`, in slices of `size`, or of SLICE.

        `key` names the primary key.
        """
        size = size or SLICE
        sql = (
            f"DELETE FROM {table} WHERE {column} = ?1 AND ({key}) IN "
            f"(SELECT {key} FROM {table} WHERE {column} = ?1 LIMIT {size})"
        )
        deleted = size
        while deleted == size:
            with self.write() as connection:
                deleted = connection.execute(sql, [value]).rowcount

    def _one(self, sql: str, parameters: Sequence[Any] = ()) -> dict[str, Any] | None:
        return next(self._query(sql, parameters), None)

    # --- schema --------------------------------------------------------------------------

    def needs_migration(self) -> bool:
        """Whether this version of the program knows migrations that the database lacks."""
        return bool(migrations.pending(self.db))

    def unknown_migrations(self) -> list[str]:
        """Migrations in the database that this version does not know: it is from a newer one."""
        known = {m.name for m in migrations._migrations}
        return [m.name for m in migrations.applied(self.db) if m.name not in known]

    def migrated_before(self) -> bool:
        """Whether the database has any schema yet, so that there is something to back up."""
        return bool(migrations.applied(self.db))

    def migrate(self) -> None:
        """Brings the schema up to date."""
        migrations.apply(self.db)

    def backup(self, target: Path) -> None:
        """Copies the database with SQLite's backup API, consistent beside running writers."""
        connection = self.db.conn
        assert connection is not None
        with sqlite3.connect(target) as copy:
            connection.backup(copy)
        copy.close()

    def problems(self) -> list[str]:
        """SQLite's own integrity check, in short; empty when the database is whole."""
        try:
            rows = [next(iter(row.values())) for row in self._query("PRAGMA integrity_check")]
        except sqlite3.DatabaseError as error:
            return [f"project.db: damaged ({error})"]
        return [] if rows == ["ok"] else [f"project.db: damaged ({in_short(rows)})"]
