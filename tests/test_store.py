"""The database: what is written comes back, what is staged stays unseen, writers queue."""

from __future__ import annotations

import itertools
import math
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio import connections
from swag_studio.connections import sliced
from swag_studio.errors import ProjectError
from swag_studio.events import Metric
from swag_studio.records import Artifact, Caption, Context, Ending, LeftOut, OwnContext, SourceInfo
from swag_studio.schema import migrations
from swag_studio.store import Store

CAPTION = Caption("d", "g", "v", 0, " A man\nwaves. ñ\u2028", 1.5, None)
OWN = OwnContext("d", "g", "s", "n", "f", ("a", '"', "ñ"))
LEFT = LeftOut("d", 3, "empty_sentence", "line 3", "detail")


def info(source_id: str = "s1", **changes: Any) -> SourceInfo:
    values = {"file": "f.csv", "format": "csv", "sha256": "0", "bytes": 9, "documents": 1}
    return SourceInfo(source_id, **(values | {"captions": 1, "own_contexts": 1} | changes))


def context(context_id: str, **changes: Any) -> Context:
    values: dict[str, Any] = {"group": "g", "video_id": "v", "source_id": "s1", "document": "d"}
    values |= {"position": 1, "sent1": "s", "sent2": "n", "found": "v.", "fold": 1, "split": "val"}
    return Context(context_id, **(values | changes))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "project.db")
    opened.migrate()
    yield opened
    opened.close()


def publish(store: Store, source_id: str, *captions: Caption) -> None:
    store.stage_source(info(source_id))
    store.add_captions(source_id, captions)
    store.publish_source(info(source_id))


def in_thread(work: Any) -> None:
    """Runs `work` in another thread to its end and passes on its error."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


# --- schema ------------------------------------------------------------------------------------


def test_migrations_are_never_renamed() -> None:
    """Names stand in projects: a new one is added at the end."""
    assert [m.name for m in migrations._migrations][:4] == [
        "0001_sources",
        "0002_artifacts",
        "0003_contexts",
        "0004_endings",
    ]


def test_a_new_database_is_migrated_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "project.db")
    assert store.needs_migration() and not store.migrated_before()
    store.migrate()
    assert store.migrated_before() and not store.needs_migration()
    store.migrate()
    assert store.unknown_migrations() == []
    store.db.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
        "VALUES ('swag_studio', '9999_future', '')"
    )
    assert store.unknown_migrations() == ["9999_future"]
    store.close()


def test_a_failed_migration_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "project.db")

    def fail(db: Any) -> None:
        db.executescript("CREATE TABLE half (x); CREATE TABLE other (x);")
        raise RuntimeError("killed here")

    third = migrations._migrations[2]
    monkeypatch.setattr(third, "fn", fail)
    with pytest.raises(RuntimeError):
        store.migrate()
    assert "half" not in store.db.table_names()
    monkeypatch.undo()
    store.migrate()
    assert not store.needs_migration() and store.problems() == []
    store.close()


# --- sources -----------------------------------------------------------------------------------


def test_staged_rows_are_unseen_until_published(store: Store) -> None:
    store.stage_source(info())
    store.add_captions("s1", [CAPTION])
    store.add_own_contexts("s1", [OWN])
    store.add_left_out_of_source("s1", [LEFT])
    assert store.sources() == list(store.captions()) == list(store.own_contexts()) == []
    assert store.staged_sources() == ["s1"]
    final = info(left_out={"empty_sentence": 1})
    store.publish_source(final)
    assert store.sources() == [final]
    assert list(store.captions()) == [("s1", CAPTION)]
    assert list(store.own_contexts()) == [("s1", OWN)]
    assert list(store.left_out_of_source("s1")) == [LEFT]
    assert store.staged_sources() == list(store.left_out_of_source("s1", "other")) == []
    assert store.caption("s1", "d", 0) == CAPTION and store.caption("s1", "d", 1) is None
    assert store.own_context("s1", "d") == OWN and store.own_context("s2", "d") is None


def test_a_staged_import_can_be_begun_again_or_discarded(store: Store) -> None:
    publish(store, "s0", CAPTION)
    for _ in range(2):
        store.stage_source(info())
        store.add_captions("s1", [CAPTION])
        store.add_own_contexts("s1", [OWN])
        store.add_left_out_of_source("s1", [LEFT])
    store.discard_source("s1")
    store.publish_source(info())
    assert list(store.captions()) == [("s0", CAPTION)]
    assert list(store.own_contexts()) == list(store.left_out_of_source("s1")) == []
    with pytest.raises(ValueError, match="published"):
        store.discard_source("s0")
    with pytest.raises(ValueError, match="published"):
        store.stage_source(info("s0"))


def test_a_repeated_place_is_an_error(store: Store) -> None:
    store.stage_source(info())
    with pytest.raises(sqlite3.IntegrityError):
        store.add_captions("s1", [CAPTION, CAPTION])
    store.add_captions("s1", [CAPTION])  # the failed transaction left nothing


names = st.text("ab\u00f1", min_size=1, max_size=2)


@settings(max_examples=20)
@given(
    st.lists(st.tuples(names, names, names, st.integers(0, 2)), unique_by=lambda r: r[:1] + r[2:])
)
def test_captions_come_in_an_order_of_their_own(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, int]]
) -> None:
    """(source, group, document, position) in any order of writing; read by group first."""
    path = tmp_path_factory.mktemp("store") / "project.db"
    store = Store(path)
    store.migrate()
    for source in {row[0] for row in rows}:
        publish(
            store,
            source,
            *(Caption(d, g, "v", position, "t") for s, g, d, position in rows if s == source),
        )
    read = [(s, c.group, c.document, c.position) for s, c in store.captions()]
    assert read == sorted(rows, key=lambda r: (r[1], r[0], r[2], r[3]))
    store.close()


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5])
def test_long_lists_are_written_and_deleted_in_slices(
    store: Store, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(connections, "SLICE", 2)
    store.stage_source(info())
    store.add_captions("s1", (Caption("d", "g", "v", i, "t") for i in range(rows)))
    store.add_left_out_of_source("s1", [LEFT] * rows)
    store.add_contexts(1, [context(str(i)) for i in range(rows)])
    store.add_contexts(2, [context("kept")])
    store.discard_source("s1")
    store.clear_contexts(1)
    left = "SELECT (SELECT count(*) FROM captions) + (SELECT count(*) FROM left_out_of_source)"
    assert store.db.execute(left).fetchone() == (0,)
    assert list(store.contexts(1)) == [] and [c.id for c in store.contexts(2)] == ["kept"]


def test_sliced() -> None:
    assert list(sliced(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(sliced([], 2)) == []


# --- threads and transactions --------------------------------------------------------------------


def test_a_thread_writes_while_it_reads_and_another_writes(store: Store) -> None:
    publish(store, "s1", *(Caption("d", "g", "v", i, "t") for i in range(50)))
    reading = store.captions()
    next(reading)
    in_thread(lambda: publish(store, "s2", CAPTION))
    publish(store, "s3", CAPTION)  # on one connection this is "database is locked" at once
    assert len(list(reading)) == 49  # as it stood when reading began
    assert {source for source, _ in store.captions()} == {"s1", "s2", "s3"}


def test_an_unfinished_read_keeps_no_connection(store: Store) -> None:
    publish(store, "s1", *(Caption("d", "g", "v", i, "t") for i in range(50)))
    open_before = len(store._all)
    for _ in range(3):
        next(store.captions())
    assert len(store._all) == open_before
    reading = store.captions()
    next(reading)
    store.close()
    reading.close()  # type: ignore[attr-defined]
    assert store._all == []


def test_writers_queue(store: Store) -> None:
    """Each of four threads writes 25 times; a failed BEGIN would raise."""
    for i in range(4):
        store.stage_source(info(f"s{i}"))
    start = threading.Barrier(4)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            start.wait()
            for i in range(25):
                store.add_captions(f"s{number}", [Caption("d", "g", "v", i, "t")])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert store.db.execute("SELECT count(*) FROM captions").fetchone() == (100,)


def test_an_error_rolls_the_transaction_back(store: Store) -> None:
    with pytest.raises(RuntimeError, match="first"), store.write() as connection:
        connection.execute("INSERT INTO endings VALUES ('e', 'c', 't', 'found')")
        raise RuntimeError("first")
    with pytest.raises(RuntimeError, match="second"), store.write() as connection:
        connection.execute("ROLLBACK")  # as SQLite does by itself when the disk is full
        raise RuntimeError("second")
    store.put_endings([Ending("e", "c", "t", "found", 0)])
    assert store.db.execute("SELECT count(*) FROM endings").fetchone() == (1,)


# --- artifacts, metrics, contexts, endings -------------------------------------------------------


def test_artifacts(store: Store) -> None:
    first = Artifact("prepare", 1, "k", "prepared/v1", False, "r", {})
    store.put_artifact(Artifact("prepare", 2, "k2", "prepared/v2", False, "r", {}))
    store.put_artifact(first)
    done = Artifact("prepare", 1, "k", "prepared/v1", True, "r", {"kept": 3, "ñ": [1.5, None]})
    store.put_artifact(done)
    assert [a.version for a in store.artifacts("prepare")] == [1, 2]
    assert store.artifacts("prepare")[0] == done
    assert store.artifacts("filter") == []


def test_metrics_are_kept_once_by_series_and_step(store: Store) -> None:
    points = [
        Metric("filter", "loss", 1, 0.5, {"member": "bow"}),
        Metric("filter", "loss", 0, 1.5, {"member": "bow"}),
        Metric("filter", "accuracy", 0, math.inf, {"member": "cnn", "arm": "main"}),
    ]
    store.put_metrics(1, points)
    store.put_metrics(1, points[:2])
    store.put_metrics(2, [Metric("filter", "loss", 0, math.nan)])
    assert store.metrics("filter", 1) == [points[2], points[1], points[0]]
    assert store.metrics("filter", 1, "loss") == [points[1], points[0]]
    assert math.isnan(store.metrics("filter", 2)[0].value)
    assert store.metrics("prepare", 1) == []


def test_contexts_by_id_and_version(store: Store) -> None:
    rows = [context("b", selected=False), context("a", origin="own"), context("c")]
    store.add_contexts(1, rows)
    store.add_contexts(2, [context("a", sent1="other")])
    assert list(store.contexts(1)) == [rows[1], rows[0], rows[2]]
    assert list(store.contexts(1, selected_only=True)) == [rows[1], rows[2]]
    assert store.contexts_by_id(1, ["c", "gone", "b"]) == [rows[2], rows[0]]
    assert store.contexts_by_id(2, ["c"]) == store.contexts_by_id(1, []) == []
    store.add_dropped_pairs(1, [LEFT, LeftOut("d", 1, "gap"), LeftOut("e", 1, "gap")])
    assert store.dropped_counts(1) == {"gap": 2, "empty_sentence": 1}
    assert list(store.dropped_pairs(1, "gap")) == [LeftOut("d", 1, "gap"), LeftOut("e", 1, "gap")]
    store.clear_contexts(1)
    assert list(store.contexts(1)) == list(store.dropped_pairs(1)) == []
    assert len(list(store.contexts(2))) == 1


def test_assignments_by_context_and_slot(store: Store) -> None:
    names = ("a0", "a1", "b0")
    endings = {n: Ending(f"e{n}", n[0], f"text {n}", "generated", 7) for n in names}
    store.put_endings(endings.values())
    store.put_endings([Ending("ea0", "a", "text a0", "generated", 9)])
    store.put_assignments(
        3, [("b", 0, "eb0", 7, 0.5), ("a", 1, "ea1", 7, 0.25), ("a", 0, "ea0", 7, 1)]
    )
    store.put_assignments(4, [("a", 0, "ea1", 7, 0)])
    assert list(store.assigned(3)) == [
        ("a", [(0, endings["a0"], 1.0), (1, endings["a1"], 0.25)]),
        ("b", [(0, endings["b0"], 0.5)]),
    ]


# --- files ---------------------------------------------------------------------------------------


def test_a_backup_is_whole_beside_a_writer(store: Store, tmp_path: Path) -> None:
    publish(store, "s1", CAPTION)
    with store.write() as connection:
        connection.execute("INSERT INTO endings VALUES ('e', 'c', 't', 'found')")
        in_thread(lambda: store.backup(tmp_path / "copy.db"))
    copy = Store(tmp_path / "copy.db", readonly=True)
    assert list(copy.captions()) == [("s1", CAPTION)]
    assert copy.problems() == []
    assert copy.db.execute("SELECT count(*) FROM endings").fetchone() == (0,)
    copy.close()


def test_readonly(store: Store) -> None:
    publish(store, "s1", CAPTION)
    reader = Store(store.path, readonly=True)
    assert list(reader.captions()) == [("s1", CAPTION)]
    with pytest.raises(sqlite3.OperationalError):
        reader.stage_source(info("s2"))
    publish(store, "s2", CAPTION)
    assert len(reader.sources()) == 2
    reader.close()


@pytest.mark.parametrize("contents", [b"junk" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_a_project_error(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "project.db"
    path.write_bytes(contents)
    store = Store(path)
    with pytest.raises(ProjectError, match="cannot be opened"):
        store.sources()
    store.close()


def test_damage_inside_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "project.db")
    store.migrate()
    publish(store, "s1", *(Caption("d", "g", "v", i, "t" * 100) for i in range(500)))
    assert store.problems() == []
    store.close()
    data = bytearray((tmp_path / "project.db").read_bytes())
    pages = len(data) // 4096
    for page in itertools.islice(range(pages // 2, pages), 3):
        data[page * 4096 : page * 4096 + 200] = b"\xaa" * 200
    (tmp_path / "project.db").write_bytes(data)
    damaged = Store(tmp_path / "project.db")
    assert damaged.problems()[0].startswith("project.db: ")
    damaged.close()
