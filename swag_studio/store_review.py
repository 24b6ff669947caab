"""The curators' table of contexts, and what people made of each context.

The table is asked for ids in an order, then for the rows of those ids that are on the screen, so
that sorting and scrolling cost the same at the top and at the end of 113,000 contexts.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swag_studio.connections import SLICE, sliced
from swag_studio.records import Ending
from swag_studio.reviewing import (
    SORTABLE,
    Curated,
    ReviewFilter,
    ReviewRow,
    match_query,
    searchable,
)
from swag_studio.store_people import PeopleTables, now

_LISTED = 125  # contexts that one transaction lists, with their texts: some 30 ms
_COLUMNS = (
    "version, context_id, sent1, sent2, found, source, video_id, split, fold, status, verdict, "
    "round, judged, found_score, margin, newest, flags, excluded, edited"
)


class ReviewTables(PeopleTables):
    """The part of the store that curators work on."""

    # --- building ------------------------------------------------------------------------

    def review_ready(self, version: int) -> bool:
        """Whether the table of a filter version has a row for every context that it assigned."""
        row = self._one(
            "SELECT (SELECT count(*) FROM review_rows WHERE version = ?1) AS rows, "
            "(SELECT count(*) FROM assignments WHERE filter_version = ?1 AND slot = 0) AS contexts",
            [version],
        )
        return row is not None and row["rows"] == row["contexts"] > 0

    def build_review(
        self, version: int, prepare_version: int, newest: Mapping[str, int]
    ) -> Iterator[int]:
        """Fills the table of a filter version; yields the number of contexts that are in it.

        `newest` maps context ids to the iteration that brought their newest distractor in.
        """
        self._delete("review_rows", "version", version, "id", 4 * _LISTED)
        rows = self._stream(
            "SELECT c.*, a.slot, a.score, e.text AS ending FROM assignments a "
            "JOIN endings e ON e.id = a.ending_id "
            "JOIN contexts c ON c.version = ?2 AND c.id = a.context_id "
            "WHERE a.filter_version = ?1 ORDER BY a.context_id, a.slot",
            [version, prepare_version],
        )
        done = 0
        groups = (list(g) for _, g in itertools.groupby(rows, key=lambda r: str(r["id"])))
        for part in sliced(groups, _LISTED):
            with self.write() as connection:
                for group in part:
                    c, scores = group[0], [r["score"] for r in group]
                    values = (
                        version, c["id"], c["sent1"], c["sent2"], c["found"], c["source_id"],
                        c["video_id"], c["split"], c["fold"], "not judged", "open", 0, 0,
                        scores[0], scores[0] - max(scores[1:]), newest.get(c["id"], -1), "", 0, 0,
                    )  # fmt: skip
                    key = connection.execute(
                        f"INSERT INTO review_rows ({_COLUMNS}) VALUES ({','.join('?' * 19)})",
                        values,
                    ).lastrowid
                    texts = [c["sent1"], c["sent2"], *(r["ending"] for r in group)]
                    connection.execute(
                        "INSERT OR REPLACE INTO review_text (rowid, texts) VALUES (?, ?)",
                        [key, searchable("\n".join(texts))],
                    )
                self._repeat_curated(version, [str(group[0]["id"]) for group in part])
            done += len(part)
            yield done

    def _repeat_curated(self, version: int, context_ids: Sequence[str]) -> None:
        """Writes what people made of these contexts by now into rows that were just made.

        In the transaction that made them: whoever changes a context later finds its row.
        """
        connection = self.db.conn
        assert connection is not None and connection.in_transaction
        for id, state in connection.execute(
            "SELECT context_id, state FROM curated WHERE version = ? "
            "AND context_id IN (SELECT value FROM json_each(?))",
            [version, json.dumps(context_ids)],
        ).fetchall():
            show_state(connection, version, id, Curated.from_json(state))

    # --- reading -------------------------------------------------------------------------

    def review_ids(
        self,
        version: int,
        narrow: ReviewFilter | None = None,
        sort: str = "context_id",
        descending: bool = False,
    ) -> NDArray[np.int64]:
        """The ids of the rows that `narrow` shows, in order: the exact count is its length.

        The order and each condition come from an index each, and meet here.
        """
        if sort not in SORTABLE:
            raise ValueError(f"no column {sort}")
        direction = "DESC" if descending else "ASC"
        ids = self._ids(
            f"SELECT id FROM review_rows WHERE version = ? ORDER BY {sort} {direction}, "
            f"id {direction}",
            [version],
        )
        for sql, values in _conditions(version, narrow or ReviewFilter()):
            ids = ids[np.isin(ids, self._ids(sql, values))]
        return ids

    def _ids(self, sql: str, values: Sequence[Any]) -> NDArray[np.int64]:
        rows = self.db.execute(sql, values).fetchall()
        return np.fromiter(itertools.chain.from_iterable(rows), np.int64, len(rows))

    def review_rows(self, ids: Iterable[int]) -> list[ReviewRow]:
        """The rows with these ids (at most some hundreds), in the order of `ids`."""
        ids = [int(i) for i in ids]
        marks = ",".join("?" * len(ids))
        found = {
            r["id"]: ReviewRow(
                **{k: v for k, v in r.items() if k not in ("version", "excluded", "edited")},
                excluded=bool(r["excluded"]),
                edited=bool(r["edited"]),
            )
            for r in self._query(f"SELECT * FROM review_rows WHERE id IN ({marks})", ids)
        }
        return [found[i] for i in ids if i in found]

    def review_context_ids(self, ids: Iterable[int]) -> list[str]:
        """The context ids of any number of rows, in the order of `ids`."""
        connection = self.db.conn
        assert connection is not None
        names: dict[int, str] = {}
        ids = [int(i) for i in ids]
        for part in sliced(ids, 500):
            marks = ",".join("?" * len(part))
            names.update(
                connection.execute(
                    f"SELECT id, context_id FROM review_rows WHERE id IN ({marks})", part
                ).fetchall()
            )
        return [names[i] for i in ids]

    def review_values(self, version: int, column: str) -> list[tuple[Any, int]]:
        """(value, contexts) of a column, most frequent first: what a filter can offer."""
        if column not in SORTABLE:
            raise ValueError(f"no column {column}")
        return [
            (r["v"], r["n"])
            for r in self._query(
                f"SELECT {column} v, count(*) n FROM review_rows WHERE version = ? "
                "GROUP BY v ORDER BY n DESC, v",
                [version],
            )
        ]

    def set_review_verdicts(
        self, version: int, rows: Sequence[tuple[str, str, str, int, int]]
    ) -> None:
        """(context id, status, verdict, round, judgements) as they are now."""
        for part in sliced(rows):
            with self.write() as connection:
                connection.executemany(
                    "UPDATE review_rows SET status = ?2, verdict = ?3, round = ?4, judged = ?5 "
                    f"WHERE version = {int(version)} AND context_id = ?1",
                    part,
                )

    # --- curated states ------------------------------------------------------------------

    def curated(self, version: int, context_id: str) -> Curated:
        """What people made of a context; the filter's own result where nobody changed it."""
        return self.curated_of(version, [context_id])[context_id]

    def curated_of(self, version: int, context_ids: Iterable[str]) -> dict[str, Curated]:
        """The same of any number of contexts, by id."""
        assigned = (
            "SELECT ending_id FROM assignments WHERE filter_version = ?1 "
            "AND context_id = i.value AND slot > 0 ORDER BY slot"
        )
        return {
            id: Curated.from_json(state) if state else Curated(tuple(json.loads(endings)))
            for part in sliced(sorted(set(context_ids)), SLICE)
            for id, state, endings in self._rows(
                "SELECT i.value, c.state, CASE WHEN c.state IS NULL THEN "
                f"(SELECT json_group_array(ending_id) FROM ({assigned})) END "
                "FROM json_each(?2) i "
                "LEFT JOIN curated c ON c.version = ?1 AND c.context_id = i.value",
                [version, json.dumps(part)],
            )
        }

    def all_curated(self, version: int) -> dict[str, Curated]:
        """Context id -> state, of the contexts that people changed."""
        return {
            r["context_id"]: Curated.from_json(r["state"])
            for r in self._query("SELECT * FROM curated WHERE version = ?", [version])
        }

    def endings_by_id(self, ids: Sequence[str]) -> dict[str, Ending]:
        """Endings by their ids; `row` is -1, since it belongs to an assignment."""
        result: dict[str, Ending] = {}
        for part in sliced(ids, 500):
            marks = ",".join("?" * len(part))
            for r in self._rows(f"SELECT * FROM endings WHERE id IN ({marks})", part):
                result[r["id"]] = Ending(r["id"], r["context_id"], r["text"], r["kind"], -1)
        return result

    def put_parent(self, ending_id: str, parent_id: str, who: str) -> None:
        """Notes which ending an edited one was made from, and by whom."""
        with self.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO ending_parents VALUES (?,?,?,?)",
                [ending_id, parent_id, who, now()],
            )

    def parents(self) -> dict[str, tuple[str, str, str]]:
        """Edited ending -> (parent, who, when)."""
        return {
            r["ending_id"]: (r["parent_id"], r["who"], r["at"])
            for r in self._query("SELECT * FROM ending_parents")
        }


def _conditions(version: int, narrow: ReviewFilter) -> Iterator[tuple[str, list[Any]]]:
    """For each condition of a filter the SQL that gives the ids that it lets through."""
    start = "SELECT id FROM review_rows WHERE version = ? AND "
    for name, value in narrow.to_dict().items():
        if name == "newest_from":
            yield start + "newest >= ?", [version, value]
        elif name == "newest_to":
            yield start + "newest <= ?", [version, value]
        elif name == "flag":
            yield start + "',' || flags || ',' LIKE '%,' || ? || ',%'", [version, value]
        elif name == "annotator":
            judged = (
                "SELECT t.context_id FROM judgements j JOIN tasks t ON t.id = j.task_id "
                "WHERE j.annotator_id = ?"
            )
            yield start + f"context_id IN ({judged})", [version, value]
        elif name == "text":
            if query := match_query(value):
                yield "SELECT rowid FROM review_text WHERE review_text MATCH ?", [query]
        else:
            yield start + f"{name} = ?", [version, value]


def show_state(
    connection: sqlite3.Connection, version: int, context_id: str, state: Curated
) -> None:
    """Repeats a context's state in the table, and its texts in the index."""
    row = connection.execute(
        "SELECT id, sent1, sent2, found FROM review_rows WHERE version = ? AND context_id = ?",
        [version, context_id],
    ).fetchone()
    if row is None:  # the table is not made yet; it repeats all states when it is
        return
    assigned = connection.execute(
        "SELECT ending_id FROM assignments WHERE filter_version = ? AND context_id = ? "
        "AND slot > 0 ORDER BY slot",
        [version, context_id],
    ).fetchall()
    connection.execute(
        "UPDATE review_rows SET flags = ?, excluded = ?, edited = ? WHERE id = ?",
        [
            ",".join(state.flags),
            int(state.excluded),
            int(tuple(a[0] for a in assigned) != state.endings),
            row[0],
        ],
    )
    texts = connection.execute(
        "SELECT text FROM endings WHERE id IN (SELECT value FROM json_each(?))",
        [json.dumps(state.endings)],
    ).fetchall()
    connection.execute(
        "INSERT OR REPLACE INTO review_text (rowid, texts) VALUES (?, ?)",
        [row[0], searchable("\n".join([*row[1:], *(t[0] for t in texts)]))],
    )
