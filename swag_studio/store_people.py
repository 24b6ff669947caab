"""The tables of human work: annotators, tasks, allocations, judgements, drafts, adjudications.

Judgements, skips and adjudications are only ever added; a correction is a new revision. What is
returned here is committed, and on the disk: an answer that was acknowledged outlives the power.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from swag_studio.connections import SLICE, Connections, sliced
from swag_studio.errors import ProjectError
from swag_studio.judging import Adjudication, Annotator, Judgement, Label, Skip, Task, problem
from swag_studio.records import folded


def now() -> str:
    """This moment as ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class PeopleTables(Connections):
    """The part of the store that holds human work."""

    @contextmanager
    def durable(self) -> Iterator[sqlite3.Connection]:
        """A write that is on the disk when it returns, whatever happens to the machine then."""
        connection = self.db.conn
        assert connection is not None
        connection.execute("PRAGMA synchronous = FULL")
        try:
            with self.write() as inner:
                yield inner
        finally:
            connection.execute("PRAGMA synchronous = NORMAL")

    # --- annotators ----------------------------------------------------------------------

    def annotators(self) -> list[Annotator]:
        """All annotators, by name."""
        return [
            Annotator(r["id"], r["name"], r["kind"], bool(r["active"]), r["created"])
            for r in self._query("SELECT * FROM annotators ORDER BY name, id")
        ]

    def put_annotator(self, annotator: Annotator) -> None:
        """Adds or changes one. Raises ProjectError when another one has the name."""
        with self.durable() as connection:
            for other in self.annotators():
                if other.id != annotator.id and folded(other.name) == folded(annotator.name):
                    raise ProjectError(
                        "Another annotator has this name. Choose a name that tells them apart."
                    )
            connection.execute(
                "INSERT OR REPLACE INTO annotators VALUES (?,?,?,?,?)",
                [
                    annotator.id,
                    annotator.name,
                    annotator.kind,
                    int(annotator.active),
                    annotator.created or now(),
                ],
            )

    # --- tasks ---------------------------------------------------------------------------

    def put_tasks(self, tasks: Iterable[Task]) -> None:
        """Adds tasks that are not there yet: a task's id is its content."""
        for part in sliced(tasks):
            with self.write() as connection:
                connection.executemany(
                    "INSERT OR IGNORE INTO tasks VALUES (?,?,?,?,?,?,?)",
                    [
                        (
                            t.id,
                            t.context_id,
                            t.filter_version,
                            t.round,
                            json.dumps(t.endings),
                            t.kind,
                            json.dumps(dict(t.key), sort_keys=True),
                        )
                        for t in part
                    ],
                )

    def task(self, task_id: str) -> Task | None:
        """One task."""
        row = self._one("SELECT * FROM tasks WHERE id = ?", [task_id])
        return task_of(row) if row else None

    def tasks(self, filter_version: int | None = None) -> Iterator[Task]:
        """The tasks of a filter version, or all, by context, round and id."""
        for r in self._stream(
            "SELECT * FROM tasks WHERE ?1 IS NULL OR filter_version = ?1 "
            "ORDER BY context_id, round, id",
            [filter_version],
        ):
            yield task_of(r)

    # --- allocations ---------------------------------------------------------------------

    def allocate(self, pairs: Iterable[tuple[str, str]]) -> int:
        """Gives (task id, annotator id) pairs out, each annotator's at the end of their queue.

        A pair that was given out already stays as it is, unless it was taken back: then it is
        open again. Returns how many are new or open again.
        """
        count = 0
        for part in sliced(pairs, SLICE // 4):
            with self.write() as connection:
                last = dict[str, int]()
                for task, annotator in part:
                    if annotator not in last:
                        (last[annotator],) = connection.execute(
                            "SELECT coalesce(max(position), -1) FROM allocations "
                            "WHERE annotator_id = ?",
                            [annotator],
                        ).fetchone()
                    place = last[annotator] + 1
                    added = connection.execute(
                        "INSERT INTO allocations VALUES (?,?,?,'open') "
                        "ON CONFLICT (task_id, annotator_id) DO UPDATE SET state = 'open', "
                        "position = excluded.position WHERE state = 'withdrawn'",
                        [annotator, place, task],
                    ).rowcount
                    last[annotator] = place if added else place - 1
                    count += added
        return count

    def allocations(self, annotator_id: str = "") -> list[tuple[str, str, int, str]]:
        """(task id, annotator id, position, state) of one annotator or all, in their order.

        States: open, done, skipped, withdrawn.
        """
        return [
            (r["task_id"], r["annotator_id"], r["position"], r["state"])
            for r in self._query(
                "SELECT * FROM allocations WHERE ?1 = '' OR annotator_id = ?1 "
                "ORDER BY annotator_id, position",
                [annotator_id],
            )
        ]

    def withdraw(self, annotator_id: str) -> list[str]:
        """Takes an annotator's open tasks back; returns their ids."""
        with self.durable() as connection:
            rows = connection.execute(
                "UPDATE allocations SET state = 'withdrawn' "
                "WHERE annotator_id = ? AND state IN ('open', 'skipped') RETURNING task_id",
                [annotator_id],
            ).fetchall()
        return sorted(row[0] for row in rows)

    def next_task(self, annotator_id: str) -> Task | None:
        """The first open task of an annotator's queue."""
        row = self._one(
            "SELECT t.* FROM allocations a JOIN tasks t ON t.id = a.task_id "
            "WHERE a.annotator_id = ? AND a.state = 'open' ORDER BY a.position LIMIT 1",
            [annotator_id],
        )
        return task_of(row) if row else None

    def progress_of(self, annotator_id: str) -> dict[str, int]:
        """State -> tasks of an annotator."""
        return {
            r["state"]: r["n"]
            for r in self._query(
                "SELECT state, count(*) n FROM allocations WHERE annotator_id = ? GROUP BY state",
                [annotator_id],
            )
        }

    # --- answers -------------------------------------------------------------------------

    def submit(self, judgement: Judgement) -> Judgement:
        """Adds an answer as the next revision, closes its allocation and its draft: one write.

        Returns the judgement as kept. Raises ValueError when it is not complete.
        """
        if trouble := problem(judgement.labels, judgement.best, judgement.second):
            raise ValueError(trouble)
        with self.durable() as connection:
            revision = connection.execute(
                "SELECT coalesce(max(revision), -1) + 1 FROM judgements "
                "WHERE task_id = ? AND annotator_id = ?",
                [judgement.task_id, judgement.annotator_id],
            ).fetchone()[0]
            kept = Judgement(
                task_id=judgement.task_id,
                annotator_id=judgement.annotator_id,
                labels=judgement.labels,
                best=judgement.best,
                second=judgement.second,
                revision=revision,
                comment=judgement.comment,
                seconds=judgement.seconds,
                given=judgement.given or now(),
                via=judgement.via,
            )
            connection.execute(_INSERT_JUDGEMENT, _judgement_row(kept))
            _close(connection, kept.task_id, kept.annotator_id, "done")
        return kept

    def add_judgements(self, judgements: Iterable[Judgement]) -> int:
        """Adds judgements with the revisions that they have, as a packet's merge does.

        One that is there already is left as it is: added twice is added once. Returns how many
        are new.
        """
        count = 0
        for part in sliced(judgements, SLICE // 4):
            with self.durable() as connection:
                count += self.add_rows(connection, part)
        return count

    def add_rows(self, connection: sqlite3.Connection, judgements: Iterable[Judgement]) -> int:
        """As `add_judgements`, in the transaction of `connection`."""
        count = 0
        insert = _INSERT_JUDGEMENT.replace("INSERT", "INSERT OR IGNORE")
        for j in judgements:
            new = connection.execute(insert, _judgement_row(j)).rowcount
            count += new
            if new:
                _close(connection, j.task_id, j.annotator_id, "done")
        return count

    def judgements(
        self, *, annotator_id: str = "", task_id: str = "", all_revisions: bool = False
    ) -> Iterator[Judgement]:
        """Judgements by task, annotator and revision; only the newest ones unless asked."""
        for r in self._stream(
            "SELECT * FROM judgements j WHERE (?1 = '' OR annotator_id = ?1) "
            "AND (?2 = '' OR task_id = ?2) AND (?3 OR revision = (SELECT max(revision) "
            "FROM judgements k WHERE k.task_id = j.task_id AND k.annotator_id = j.annotator_id)) "
            "ORDER BY task_id, annotator_id, revision",
            [annotator_id, task_id, all_revisions],
        ):
            yield judgement_of(r)

    def judgement_count(self) -> int:
        """All judgements ever given, revisions included."""
        row = self._one("SELECT count(*) n FROM judgements")
        return int(row["n"]) if row else 0

    def skip(self, skip: Skip) -> None:
        """Notes that a task was left, and why.

        It closes only what is open: what was answered elsewhere or taken back meanwhile stays so.
        """
        with self.durable() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO skips VALUES (?,?,?,?)",
                [skip.task_id, skip.annotator_id, skip.reason, skip.given or now()],
            )
            _close(connection, skip.task_id, skip.annotator_id, "skipped", "open")

    def skips(self) -> list[Skip]:
        """All skips, oldest first."""
        return [
            Skip(r["task_id"], r["annotator_id"], r["reason"], r["given"])
            for r in self._query("SELECT * FROM skips ORDER BY given, task_id, annotator_id")
        ]

    def reopen(self, task_id: str, annotator_id: str) -> None:
        """Puts a skipped task back where it stood."""
        with self.durable() as connection:
            connection.execute(
                "UPDATE allocations SET state = 'open' "
                "WHERE task_id = ? AND annotator_id = ? AND state = 'skipped'",
                [task_id, annotator_id],
            )

    # --- drafts --------------------------------------------------------------------------

    def put_draft(self, task_id: str, annotator_id: str, body: Mapping[str, Any]) -> None:
        """Keeps a half-given answer."""
        with self.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO drafts VALUES (?,?,?,?)",
                [task_id, annotator_id, json.dumps(dict(body), ensure_ascii=False), now()],
            )

    def draft(self, task_id: str, annotator_id: str) -> dict[str, Any] | None:
        """The half-given answer, if there is one."""
        row = self._one(
            "SELECT body FROM drafts WHERE task_id = ? AND annotator_id = ?",
            [task_id, annotator_id],
        )
        return json.loads(row["body"]) if row else None

    # --- adjudications -------------------------------------------------------------------

    def adjudicate(self, adjudication: Adjudication) -> None:
        """Adds how a disagreement was settled; the newest counts."""
        if trouble := problem(adjudication.labels, adjudication.best, adjudication.second):
            raise ValueError(trouble)
        a = adjudication
        with self.durable() as connection:
            connection.execute(
                "INSERT INTO adjudications VALUES (?,?,?,?,?,?,?)",
                [
                    a.task_id,
                    a.given or now(),
                    a.by,
                    json.dumps(a.labels),
                    a.best,
                    a.second,
                    a.comment,
                ],
            )

    def adjudications(self) -> dict[str, Adjudication]:
        """Task id -> its newest adjudication."""
        return {
            r["task_id"]: adjudication_of(r)
            for r in self._query("SELECT * FROM adjudications ORDER BY task_id, given")
        }

    # --- settings of the verification ----------------------------------------------------

    def people_setting(self, name: str, default: Any) -> Any:
        """A setting of the human work (policy, guidelines, plan, pay) as JSON gave it."""
        row = self._one("SELECT value FROM people_settings WHERE name = ?", [name])
        return json.loads(row["value"]) if row else default

    def set_people_setting(self, name: str, value: Any) -> None:
        """Keeps such a setting."""
        self.change_people_setting(name, None, lambda _: value)

    def change_people_setting(self, name: str, default: Any, change: Callable[[Any], Any]) -> Any:
        """Keeps what `change` makes of such a setting; returns it. Nobody writes in between."""
        with self.write() as connection:
            value = change(self.people_setting(name, default))
            connection.execute(
                "INSERT OR REPLACE INTO people_settings VALUES (?,?)",
                [name, json.dumps(value, ensure_ascii=False, sort_keys=True)],
            )
        return value


_INSERT_JUDGEMENT = "INSERT INTO judgements VALUES (?,?,?,?,?,?,?,?,?,?,?)"


def _close(
    connection: sqlite3.Connection, task_id: str, annotator_id: str, state: str, only: str = ""
) -> None:
    """Gives an allocation its last state, from whichever it has or from `only` this one."""
    connection.execute(
        "UPDATE allocations SET state = ?1 WHERE task_id = ?2 AND annotator_id = ?3 "
        "AND (?4 = '' OR state = ?4)",
        [state, task_id, annotator_id, only],
    )
    connection.execute(
        "DELETE FROM drafts WHERE task_id = ? AND annotator_id = ?", [task_id, annotator_id]
    )


def _judgement_row(j: Judgement) -> Sequence[Any]:
    return (
        j.id,
        j.task_id,
        j.annotator_id,
        j.revision,
        json.dumps(j.labels),
        j.best,
        j.second,
        j.comment,
        j.seconds,
        j.given or now(),  # in its transaction: none that was written before is later
        j.via,
    )


@lru_cache(4096)  # they repeat: three labels of six endings are 729 at most
def _labels(text: str) -> tuple[Label, ...]:
    return tuple(json.loads(text))


def judgement_of(r: Mapping[str, Any] | sqlite3.Row) -> Judgement:
    """A judgement from its row."""
    return Judgement(
        task_id=r["task_id"],
        annotator_id=r["annotator_id"],
        labels=_labels(r["labels"]),
        best=r["best"],
        second=r["second"],
        revision=r["revision"],
        comment=r["comment"],
        seconds=r["seconds"],
        given=r["given"],
        via=r["via"],
    )


def task_of(r: Mapping[str, Any] | sqlite3.Row) -> Task:
    """A task from its row."""
    return Task(
        id=r["id"],
        context_id=r["context_id"],
        filter_version=r["filter_version"],
        round=r["round"],
        endings=tuple(json.loads(r["endings"])),
        kind=r["kind"],
        key=json.loads(r["key"]),
    )


def adjudication_of(r: Mapping[str, Any] | sqlite3.Row) -> Adjudication:
    """An adjudication from its row."""
    return Adjudication(
        task_id=r["task_id"],
        by=r["by"],
        labels=_labels(r["labels"]),
        best=r["best"],
        second=r["second"],
        given=r["given"],
        comment=r["comment"],
    )
