"""project.db: all of the project's SQL. It knows records, not stages, screens or files.

Long lists are written in slices of `SLICE` rows, each its own transaction under some 50 ms, and
become visible by one last small write.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from swag_studio.connections import sliced
from swag_studio.events import Metric
from swag_studio.records import (
    Artifact,
    Caption,
    Context,
    Ending,
    LeftOut,
    OwnContext,
    SourceInfo,
)
from swag_studio.store_context import ContextTables
from swag_studio.store_packets import PacketTables
from swag_studio.store_rounds import RoundTables
from swag_studio.store_steps import StepTables


class Store(StepTables, ContextTables, RoundTables, PacketTables):
    """The tables of one project. Methods may be called from any thread."""

    # --- sources -------------------------------------------------------------------------

    def stage_source(self, info: SourceInfo) -> None:
        """Opens an import: rows added under `info.id` stay invisible until `publish_source`.

        What an earlier, unfinished import of the same file left is removed first.
        """
        self.discard_source(info.id)
        with self.write() as connection:
            connection.execute(
                "INSERT INTO sources VALUES (?,?,?,?,?,?,?,?,?,0)", _source_row(info)[:-1]
            )

    def add_captions(self, source_id: str, captions: Iterable[Caption]) -> None:
        """Stages captions. Raises sqlite3.IntegrityError on a repeated (document, position)."""
        for part in sliced(captions):
            with self.write() as connection:
                connection.executemany(
                    "INSERT INTO captions VALUES (?,?,?,?,?,?,?,?)",
                    [
                        (
                            source_id,
                            c.document,
                            c.position,
                            c.group,
                            c.video_id,
                            c.text,
                            c.start,
                            c.end,
                        )
                        for c in part
                    ],
                )

    def add_own_contexts(self, source_id: str, contexts: Iterable[OwnContext]) -> None:
        """Stages contexts that another generator made."""
        for part in sliced(contexts, 20):  # a context may bring a thousand endings
            with self.write() as connection:
                connection.executemany(
                    "INSERT INTO own_contexts VALUES (?,?,?,?,?,?,?)",
                    [
                        (
                            source_id,
                            c.document,
                            c.group,
                            c.sent1,
                            c.sent2,
                            c.found,
                            json.dumps(c.endings, ensure_ascii=False),
                        )
                        for c in part
                    ],
                )

    def add_left_out_of_source(self, source_id: str, rows: Iterable[LeftOut]) -> None:
        """Stages what the import did not use, with reasons."""
        for part in sliced(rows):
            with self.write() as connection:
                connection.executemany(
                    "INSERT INTO left_out_of_source VALUES (?,?,?,?,?,?)",
                    [(source_id, *_left_out_row(r)) for r in part],
                )

    def publish_source(self, info: SourceInfo) -> None:
        """Makes a staged import visible, with its final counts, in one small transaction."""
        with self.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO sources VALUES (?,?,?,?,?,?,?,?,?,?)", _source_row(info)
            )

    def discard_source(self, source_id: str) -> None:
        """Removes an import that was not published."""
        if self._one("SELECT 1 FROM sources WHERE id = ? AND published", [source_id]):
            raise ValueError(f"source {source_id} is published")
        self._delete("captions", "source_id", source_id, "document, position")
        self._delete("own_contexts", "source_id", source_id, "document")
        self._delete("left_out_of_source", "source_id", source_id, "rowid")
        with self.write() as connection:
            connection.execute("DELETE FROM sources WHERE id = ?", [source_id])

    def staged_sources(self) -> list[str]:
        """The ids of imports that were begun and not published."""
        return [r["id"] for r in self._query("SELECT id FROM sources WHERE NOT published")]

    def sources(self) -> list[SourceInfo]:
        """The published sources, by id, which does not depend on the order of import."""
        return [
            SourceInfo(
                id=r["id"],
                file=r["file"],
                format=r["format"],
                sha256=r["sha256"],
                bytes=r["bytes"],
                documents=r["documents"],
                captions=r["captions"],
                own_contexts=r["own_contexts"],
                left_out=json.loads(r["left_out"]),
            )
            for r in self._query("SELECT * FROM sources WHERE published ORDER BY id")
        ]

    def captions(self) -> Iterator[tuple[str, Caption]]:
        """(source id, caption) of all published sources, by group, source, document, position."""
        for r in self._stream(
            "SELECT c.* FROM captions c JOIN sources s ON s.id = c.source_id WHERE s.published "
            "ORDER BY c.grp, c.source_id, c.document, c.position"
        ):
            yield r["source_id"], _caption(r)

    def caption(self, source_id: str, document: str, position: int) -> Caption | None:
        """One caption as imported, for provenance."""
        rows = self._rows(
            "SELECT * FROM captions WHERE source_id = ? AND document = ? AND position = ?",
            [source_id, document, position],
        )
        return _caption(rows[0]) if rows else None

    def own_contexts(self) -> Iterator[tuple[str, OwnContext]]:
        """(source id, own context) of all published sources, by source and document."""
        for r in self._stream(
            "SELECT c.* FROM own_contexts c JOIN sources s ON s.id = c.source_id "
            "WHERE s.published ORDER BY c.source_id, c.document"
        ):
            yield r["source_id"], _own_context(r)

    def own_context(self, source_id: str, document: str) -> OwnContext | None:
        """One own context as imported."""
        row = self._one(
            "SELECT * FROM own_contexts WHERE source_id = ? AND document = ?",
            [source_id, document],
        )
        return _own_context(row) if row else None

    def left_out_of_source(self, source_id: str, reason: str = "") -> Iterator[LeftOut]:
        """What an import did not use."""
        yield from self._left_out("left_out_of_source", "source_id", source_id, reason)

    # --- artifacts -----------------------------------------------------------------------

    def artifacts(self, stage: str) -> list[Artifact]:
        """All versions that a stage has begun, oldest first."""
        return [
            Artifact(
                stage=r["stage"],
                version=r["version"],
                key=r["key"],
                folder=r["folder"],
                done=bool(r["done"]),
                recipe=r["recipe"],
                summary=json.loads(r["summary"]),
            )
            for r in self._query(
                "SELECT * FROM artifacts WHERE stage = ? ORDER BY version", [stage]
            )
        ]

    def put_artifact(self, artifact: Artifact) -> None:
        """Adds a version, or marks it done with its summary."""
        with self.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO artifacts VALUES (?,?,?,?,?,?,?)",
                (
                    artifact.stage,
                    artifact.version,
                    artifact.key,
                    artifact.folder,
                    int(artifact.done),
                    artifact.recipe,
                    json.dumps(artifact.summary, sort_keys=True),
                ),
            )

    def put_metrics(self, version: int, metrics: Sequence[Metric]) -> None:
        """Keeps points of series; a point that is there already is replaced by its equal."""
        with self.write() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO metrics VALUES (?,?,?,?,?,?,?)",
                [
                    (
                        m.stage,
                        version,
                        m.series,
                        m.step,
                        m.name,
                        json.dumps(dict(m.tags), sort_keys=True),
                        m.value,
                    )
                    for m in metrics
                ],
            )

    def metrics(self, stage: str, version: int, name: str = "") -> list[Metric]:
        """The kept points of a version, by series and step."""
        return [
            Metric(
                stage=stage,
                name=r["name"],
                step=r["step"],
                value=float("nan") if r["value"] is None else r["value"],
                tags=json.loads(r["tags"]),
            )
            for r in self._query(
                "SELECT * FROM metrics WHERE stage = ? AND version = ? AND (? = '' OR name = ?) "
                "ORDER BY series, step",
                [stage, version, name, name],
            )
        ]

    # --- contexts ------------------------------------------------------------------------

    def clear_contexts(self, version: int) -> None:
        """Removes what an interrupted Prepare wrote under `version`."""
        self._delete("contexts", "version", version, "id")
        self._delete("dropped_pairs", "version", version, "rowid")

    def add_contexts(self, version: int, contexts: Iterable[Context]) -> None:
        """Writes contexts under a version that is not done yet."""
        for part in sliced(contexts):
            with self.write() as connection:
                connection.executemany(
                    "INSERT INTO contexts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                    [
                        (
                            version,
                            c.id,
                            c.group,
                            c.video_id,
                            c.source_id,
                            c.document,
                            c.position,
                            c.sent1,
                            c.sent2,
                            c.found,
                            c.fold,
                            c.split,
                            c.origin,
                            int(c.selected),
                        )
                        for c in part
                    ],
                )

    def add_dropped_pairs(self, version: int, rows: Iterable[LeftOut]) -> None:
        """Writes the pairs that Prepare dropped, with reasons."""
        for part in sliced(rows):
            with self.write() as connection:
                connection.executemany(
                    "INSERT INTO dropped_pairs VALUES (?,?,?,?,?,?)",
                    [(version, *_left_out_row(r)) for r in part],
                )

    def dropped_pairs(self, version: int, reason: str = "") -> Iterator[LeftOut]:
        """The pairs that a Prepare version dropped."""
        yield from self._left_out("dropped_pairs", "version", version, reason)

    def dropped_counts(self, version: int) -> dict[str, int]:
        """Reason -> dropped pairs of a Prepare version, most frequent first."""
        return {
            r["reason"]: r["n"]
            for r in self._query(
                "SELECT reason, count(*) n FROM dropped_pairs WHERE version = ? "
                "GROUP BY reason ORDER BY n DESC, reason",
                [version],
            )
        }

    def contexts(self, version: int, *, selected_only: bool = False) -> Iterator[Context]:
        """The contexts of a Prepare version, by id."""
        for r in self._stream(
            "SELECT * FROM contexts WHERE version = ? AND (selected OR NOT ?) ORDER BY id",
            [version, selected_only],
        ):
            yield _context(r)

    def contexts_by_id(self, version: int, ids: Sequence[str]) -> list[Context]:
        """The contexts with these ids, in their order; those that the version lacks are left out.

        For what a screen shows: ids by the dozen, not by the thousand.
        """
        marks = ",".join("?" * len(ids))
        found = {
            r["id"]: _context(r)
            for r in self._rows(
                f"SELECT * FROM contexts WHERE version = ? AND id IN ({marks})", [version, *ids]
            )
        }
        return [found[i] for i in ids if i in found]

    # --- endings and assignments ---------------------------------------------------------

    def put_endings(self, endings: Iterable[Ending]) -> None:
        """Adds endings that are not there yet. An ending's id is its content, so others stay."""
        for part in sliced(endings):
            with self.write() as connection:
                connection.executemany(
                    "INSERT OR IGNORE INTO endings VALUES (?,?,?,?)",
                    [(e.id, e.context_id, e.text, e.kind) for e in part],
                )

    def put_assignments(
        self, version: int, rows: Iterable[tuple[str, int, str, int, float]]
    ) -> None:
        """(context id, slot, ending id, pool row, ensemble score) under a filter version."""
        for part in sliced(rows):
            with self.write() as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO assignments VALUES (?,?,?,?,?,?)",
                    [(version, *row) for row in part],
                )

    def assigned(self, version: int) -> Iterator[tuple[str, list[tuple[int, Ending, float]]]]:
        """(context id, [(slot, ending, score)]) of a filter version, by context id and slot."""
        rows = self._stream(
            "SELECT a.context_id, a.slot, a.pool_row, a.score, e.id, e.text, e.kind "
            "FROM assignments a JOIN endings e ON e.id = a.ending_id "
            "WHERE a.filter_version = ? ORDER BY a.context_id, a.slot",
            [version],
        )
        for context_id, group in itertools.groupby(rows, key=lambda r: str(r["context_id"])):
            yield (
                context_id,
                [
                    (
                        r["slot"],
                        Ending(r["id"], context_id, r["text"], r["kind"], r["pool_row"]),
                        r["score"],
                    )
                    for r in group
                ],
            )

    # --- shared --------------------------------------------------------------------------

    def _left_out(self, table: str, column: str, key: Any, reason: str) -> Iterator[LeftOut]:
        for r in self._stream(
            f"SELECT * FROM {table} WHERE {column} = ? AND (? = '' OR reason = ?) ORDER BY rowid",
            [key, reason, reason],
        ):
            yield LeftOut(r["document"], r["position"], r["reason"], r["place"], r["detail"])


def _source_row(info: SourceInfo) -> tuple[Any, ...]:
    left_out: Mapping[str, int] = info.left_out
    return (
        info.id,
        info.file,
        info.format,
        info.sha256,
        info.bytes,
        info.documents,
        info.captions,
        info.own_contexts,
        json.dumps(left_out, sort_keys=True),
        1,
    )


def _caption(r: Mapping[str, Any] | sqlite3.Row) -> Caption:
    return Caption(
        r["document"], r["grp"], r["video_id"], r["position"], r["text"], r["start"], r["end"]
    )


def _context(r: Mapping[str, Any] | sqlite3.Row) -> Context:
    return Context(
        id=r["id"],
        group=r["grp"],
        video_id=r["video_id"],
        source_id=r["source_id"],
        document=r["document"],
        position=r["position"],
        sent1=r["sent1"],
        sent2=r["sent2"],
        found=r["found"],
        fold=r["fold"],
        split=r["split"],
        origin=r["origin"],
        selected=bool(r["selected"]),
    )


def _own_context(r: Mapping[str, Any] | sqlite3.Row) -> OwnContext:
    return OwnContext(
        r["document"], r["grp"], r["sent1"], r["sent2"], r["found"], tuple(json.loads(r["endings"]))
    )


def _left_out_row(r: LeftOut) -> tuple[Any, ...]:
    return (r.document, r.position, r.reason, r.place, r.detail)
