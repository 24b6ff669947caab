"""The tables of project.db, as named migrations. A migration is never edited once released.

Staged rows need no tables of their own: rows of a source that is not `published`, and rows under
a version whose artifact is not `done`, are invisible to every reader.
"""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database, Migrations
from sqlite_utils.db import Table

migrations = Migrations("swag_studio")

NEEDS_SQLITE = (3, 37, 0)  # the first with STRICT tables


def sqlite_version() -> tuple[int, ...]:
    """The version of SQLite that this Python uses."""
    return tuple(sqlite3.sqlite_version_info)


def _table(db: Database, name: str) -> Table:
    table = db[name]
    assert isinstance(table, Table)
    return table


@migrations(name="0001_sources")
def sources(db: Database) -> None:
    """Imported files and what stood in them."""
    _table(db, "sources").create(
        {
            "id": str,
            "file": str,
            "format": str,
            "sha256": str,
            "bytes": int,
            "documents": int,
            "captions": int,
            "own_contexts": int,
            "left_out": str,
            "published": int,
        },
        pk="id",
        strict=True,
    )
    db.executescript("""
        CREATE TABLE captions (
            source_id TEXT NOT NULL, document TEXT NOT NULL, position INTEGER NOT NULL,
            grp TEXT NOT NULL, video_id TEXT NOT NULL, text TEXT NOT NULL,
            start REAL, "end" REAL,
            PRIMARY KEY (source_id, document, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE own_contexts (
            source_id TEXT NOT NULL, document TEXT NOT NULL, grp TEXT NOT NULL,
            sent1 TEXT NOT NULL, sent2 TEXT NOT NULL, found TEXT NOT NULL, endings TEXT NOT NULL,
            PRIMARY KEY (source_id, document)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE left_out_of_source (
            source_id TEXT NOT NULL, document TEXT NOT NULL, position INTEGER NOT NULL,
            reason TEXT NOT NULL, place TEXT NOT NULL, detail TEXT NOT NULL
        ) STRICT;
        CREATE INDEX left_out_of_source_by_source ON left_out_of_source (source_id, reason);
    """)


@migrations(name="0002_artifacts")
def artifacts(db: Database) -> None:
    """What the stages made, by version, and the series that they yielded."""
    db.executescript("""
        CREATE TABLE artifacts (
            stage TEXT NOT NULL, version INTEGER NOT NULL, key TEXT NOT NULL, folder TEXT NOT NULL,
            done INTEGER NOT NULL, recipe TEXT NOT NULL, summary TEXT NOT NULL,
            PRIMARY KEY (stage, version)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE metrics (
            stage TEXT NOT NULL, version INTEGER NOT NULL, series TEXT NOT NULL,
            step INTEGER NOT NULL, name TEXT NOT NULL, tags TEXT NOT NULL, value REAL,
            PRIMARY KEY (stage, version, series, step)
        ) STRICT, WITHOUT ROWID;
    """)


@migrations(name="0003_contexts")
def contexts(db: Database) -> None:
    """Contexts of each Prepare version, and the pairs that it dropped."""
    db.executescript("""
        CREATE TABLE contexts (
            version INTEGER NOT NULL, id TEXT NOT NULL, grp TEXT NOT NULL, video_id TEXT NOT NULL,
            source_id TEXT NOT NULL, document TEXT NOT NULL, position INTEGER NOT NULL,
            sent1 TEXT NOT NULL, sent2 TEXT NOT NULL, found TEXT NOT NULL,
            fold INTEGER NOT NULL, split TEXT NOT NULL, origin TEXT NOT NULL,
            selected INTEGER NOT NULL,
            PRIMARY KEY (version, id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE dropped_pairs (
            version INTEGER NOT NULL, document TEXT NOT NULL, position INTEGER NOT NULL,
            reason TEXT NOT NULL, place TEXT NOT NULL, detail TEXT NOT NULL
        ) STRICT;
        CREATE INDEX dropped_pairs_by_version ON dropped_pairs (version, reason);
    """)


@migrations(name="0004_endings")
def endings(db: Database) -> None:
    """Endings that were assigned, shown or judged, and the final assignment of each filter run.

    Slot 0 of an assignment is the found ending, 1 to k are the distractors.
    """
    db.executescript("""
        CREATE TABLE endings (
            id TEXT NOT NULL PRIMARY KEY, context_id TEXT NOT NULL, text TEXT NOT NULL,
            kind TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX endings_by_context ON endings (context_id);
        CREATE TABLE assignments (
            filter_version INTEGER NOT NULL, context_id TEXT NOT NULL, slot INTEGER NOT NULL,
            ending_id TEXT NOT NULL, pool_row INTEGER NOT NULL, score REAL NOT NULL,
            PRIMARY KEY (filter_version, context_id, slot)
        ) STRICT, WITHOUT ROWID;
    """)


@migrations(name="0005_people")
def people(db: Database) -> None:
    """Annotators, what they are asked and what they answered.

    Judgements, skips and adjudications are only ever added: a correction is a new revision.
    """
    db.executescript("""
        CREATE TABLE annotators (
            id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,
            active INTEGER NOT NULL, created TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE tasks (
            id TEXT NOT NULL PRIMARY KEY, context_id TEXT NOT NULL, filter_version INTEGER NOT NULL,
            round INTEGER NOT NULL, endings TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tasks_by_context ON tasks (filter_version, context_id, round);
        CREATE INDEX tasks_of_context ON tasks (context_id, round);
        CREATE TABLE allocations (
            annotator_id TEXT NOT NULL, position INTEGER NOT NULL, task_id TEXT NOT NULL,
            state TEXT NOT NULL,
            PRIMARY KEY (annotator_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX allocations_by_task ON allocations (task_id, annotator_id);
        CREATE TABLE judgements (
            id TEXT NOT NULL PRIMARY KEY, task_id TEXT NOT NULL, annotator_id TEXT NOT NULL,
            revision INTEGER NOT NULL, labels TEXT NOT NULL, best INTEGER NOT NULL,
            second INTEGER NOT NULL, comment TEXT NOT NULL, seconds REAL NOT NULL,
            given TEXT NOT NULL, via TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX judgements_by_task ON judgements (task_id, annotator_id, revision);
        CREATE INDEX judgements_by_annotator ON judgements (annotator_id, given);
        CREATE TABLE skips (
            task_id TEXT NOT NULL, annotator_id TEXT NOT NULL, reason TEXT NOT NULL,
            given TEXT NOT NULL,
            PRIMARY KEY (task_id, annotator_id, given)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE drafts (
            task_id TEXT NOT NULL, annotator_id TEXT NOT NULL, body TEXT NOT NULL,
            saved TEXT NOT NULL,
            PRIMARY KEY (annotator_id, task_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE adjudications (
            task_id TEXT NOT NULL, given TEXT NOT NULL, by TEXT NOT NULL, labels TEXT NOT NULL,
            best INTEGER NOT NULL, second INTEGER NOT NULL, comment TEXT NOT NULL,
            PRIMARY KEY (task_id, given)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE people_settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)
            STRICT, WITHOUT ROWID;
    """)


@migrations(name="0006_review")
def review(db: Database) -> None:
    """The curators' table, one row per context and filter run, and the append-only log of edits.

    `review_rows` repeats what stands elsewhere, so that one narrow table is sorted and filtered;
    it can be made anew at any time. `curated` and the log cannot.
    """
    db.executescript("""
        CREATE TABLE review_rows (
            id INTEGER PRIMARY KEY, version INTEGER NOT NULL, context_id TEXT NOT NULL,
            sent1 TEXT NOT NULL, sent2 TEXT NOT NULL, found TEXT NOT NULL, source TEXT NOT NULL,
            video_id TEXT NOT NULL, split TEXT NOT NULL, fold INTEGER NOT NULL,
            status TEXT NOT NULL, verdict TEXT NOT NULL, round INTEGER NOT NULL,
            judged INTEGER NOT NULL, found_score REAL NOT NULL, margin REAL NOT NULL,
            newest INTEGER NOT NULL, flags TEXT NOT NULL, excluded INTEGER NOT NULL,
            edited INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX review_rows_by_context ON review_rows (version, context_id);
        CREATE VIRTUAL TABLE review_text USING fts5 (
            texts, tokenize = "unicode61 remove_diacritics 2", detail = none
        );
        CREATE TABLE curated (
            version INTEGER NOT NULL, context_id TEXT NOT NULL, state TEXT NOT NULL,
            PRIMARY KEY (version, context_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE edit_batches (
            id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, who TEXT NOT NULL,
            name TEXT NOT NULL, undoes INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE edits (
            batch INTEGER NOT NULL, version INTEGER NOT NULL, context_id TEXT NOT NULL,
            before TEXT NOT NULL, after TEXT NOT NULL,
            PRIMARY KEY (batch, version, context_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX edits_by_context ON edits (context_id, batch);
        CREATE TABLE ending_parents (
            ending_id TEXT NOT NULL PRIMARY KEY, parent_id TEXT NOT NULL, who TEXT NOT NULL,
            at TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
    """)
    # An order or a condition is read from its index alone, without the wide rows.
    for column in (
        *("sent1", "sent2", "found", "source", "video_id", "split", "fold", "status", "verdict"),
        *("round", "judged", "found_score", "margin", "newest", "flags", "excluded", "edited"),
    ):
        db.execute(f"CREATE INDEX review_rows_by_{column} ON review_rows (version, {column})")


@migrations(name="0007_packets")
def packets(db: Database) -> None:
    """Work packets that were sent out, and what their items are in the project."""
    db.executescript("""
        CREATE TABLE packets (
            id TEXT NOT NULL PRIMARY KEY, annotator_id TEXT NOT NULL, annotator TEXT NOT NULL,
            guidelines TEXT NOT NULL, sha256 TEXT NOT NULL, items TEXT NOT NULL, made TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
    """)


@migrations(name="0008_steps_in_slices")
def steps_in_slices(db: Database) -> None:
    """Of each step of the log how many contexts it has not reached: 0, unless it was broken off."""
    db.execute("ALTER TABLE edit_batches ADD COLUMN remaining INTEGER NOT NULL DEFAULT 0")
