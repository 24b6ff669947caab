"""What the rounds of verification are read from: the work on many contexts, joined by context.

Methods that take context ids are for slices of some hundreds. What they return is keyed by context
or by task, and lacks those that have nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from swag_studio.connections import sliced
from swag_studio.judging import Adjudication, Judgement, Task
from swag_studio.reviewing import Curated
from swag_studio.store_people import adjudication_of, judgement_of, task_of
from swag_studio.store_review import ReviewTables

SLICE_OF_CONTEXTS = 500
_OF_CONTEXTS = "(SELECT value FROM json_each(?))"
_NEWEST = (
    "j.revision = (SELECT max(revision) FROM judgements k "
    "WHERE k.task_id = j.task_id AND k.annotator_id = j.annotator_id)"
)


class RoundTables(ReviewTables):
    """The part of the store that joins human work to the contexts of a filter version."""

    # --- contexts ------------------------------------------------------------------------

    def filtered_groups(self, version: int, prepare_version: int) -> Iterator[tuple[str, str]]:
        """(context id, group) of every context that a filter version assigned, by id."""
        for r in self._stream(
            "SELECT c.id, c.grp FROM assignments a "
            "JOIN contexts c ON c.version = ?2 AND c.id = a.context_id "
            "WHERE a.filter_version = ?1 AND a.slot = 0 ORDER BY a.context_id",
            [version, prepare_version],
        ):
            yield r["id"], r["grp"]

    def contexts_in_work(self, version: int) -> Iterator[str]:
        """The contexts of a filter version that have a task of kind "work", by id.

        A task may be another version's: it goes by its texts, and so do its judgements.
        """
        for r in self._stream(
            "SELECT a.context_id FROM assignments a WHERE a.filter_version = ? AND a.slot = 0 "
            "AND EXISTS (SELECT 1 FROM tasks t WHERE t.context_id = a.context_id "
            "AND t.kind = 'work') ORDER BY a.context_id",
            [version],
        ):
            yield r["context_id"]

    def marks_of_work(self, version: int) -> Iterator[tuple[str, tuple[object, ...]]]:
        """(context, mark) of the contexts in work, by id.

        A mark stays equal as long as the context's tasks, who has them, its answers and
        adjudications, and what curators made of it do. Answers are only ever added: it counts them.
        """
        of = "FROM tasks t JOIN {} x ON x.task_id = t.id WHERE t.context_id = a.context_id"
        for r in self._stream(
            "SELECT a.context_id, "
            "(SELECT count(*) FROM tasks t WHERE t.context_id = a.context_id "
            "AND t.kind = 'work') tasks, "
            f"(SELECT count(*) {of.format('judgements')}) answers, "
            f"(SELECT count(*) {of.format('adjudications')}) settled, "
            "(SELECT group_concat(x.task_id || x.annotator_id || x.state) "
            f"{of.format('allocations')}) asked, "
            "(SELECT state FROM curated c WHERE c.version = ?1 AND c.context_id = a.context_id) "
            "curated FROM assignments a "
            "WHERE a.filter_version = ?1 AND a.slot = 0 AND tasks > 0 ORDER BY a.context_id",
            [version],
        ):
            yield r["context_id"], (*r[1:4], hash(r["asked"]), hash(r["curated"]))

    def judged_since(self, version: int, given: str) -> tuple[list[str], str]:
        """The contexts with an answer or adjudication of that moment or later; the newest moment.

        Those of the moment itself are told again: others may have come within its millisecond.
        """
        answers = (
            "SELECT task_id, given FROM judgements UNION ALL "
            "SELECT task_id, given FROM adjudications"
        )
        newest = self._one(f"SELECT coalesce(max(given), '') n FROM ({answers})")
        assert newest is not None  # read first: what comes in now is told, and told again
        rows = self._query(
            f"SELECT DISTINCT t.context_id FROM ({answers}) j JOIN tasks t ON t.id = j.task_id "
            "JOIN assignments a ON a.filter_version = ? AND a.context_id = t.context_id "
            "AND a.slot = 0 WHERE j.given >= ? ORDER BY t.context_id",
            [version, given],
        )
        return [r["context_id"] for r in rows], newest["n"]

    def found_texts(self, prepare_version: int, splits: Sequence[str]) -> Iterator[str]:
        """The found endings of all contexts in these splits."""
        for r in self._stream(
            f"SELECT found FROM contexts WHERE version = ? AND split IN {_OF_CONTEXTS}",
            [prepare_version, json.dumps(splits)],
        ):
            yield r["found"]

    def assigned_of(self, version: int, context_ids: Sequence[str]) -> dict[str, list[str]]:
        """Context -> ids of its endings as the filter assigned them, by slot."""
        result: dict[str, list[str]] = {}
        for r in self._of(
            "SELECT context_id, ending_id FROM assignments WHERE filter_version = ? "
            f"AND context_id IN {_OF_CONTEXTS} ORDER BY context_id, slot",
            context_ids,
            version,
        ):
            result.setdefault(r["context_id"], []).append(r["ending_id"])
        return result

    def contexts_changed(self, version: int) -> list[str]:
        """The contexts of a filter version that people changed, by id."""
        return [
            r["context_id"]
            for r in self._rows(
                "SELECT context_id FROM curated WHERE version = ? ORDER BY context_id", [version]
            )
        ]

    def changed_of(self, version: int, context_ids: Sequence[str]) -> dict[str, Curated]:
        """Context -> what people made of it, of those that they changed."""
        return {
            r["context_id"]: Curated.from_json(r["state"])
            for r in self._of(
                f"SELECT * FROM curated WHERE version = ? AND context_id IN {_OF_CONTEXTS}",
                context_ids,
                version,
            )
        }

    # --- work ----------------------------------------------------------------------------

    def tasks_of(self, context_ids: Sequence[str]) -> dict[str, list[Task]]:
        """Context -> its tasks of any version and kind, by round and id."""
        result: dict[str, list[Task]] = {}
        for r in self._of(
            f"SELECT * FROM tasks WHERE context_id IN {_OF_CONTEXTS} "
            "ORDER BY context_id, round, id",
            context_ids,
        ):
            result.setdefault(r["context_id"], []).append(task_of(r))
        return result

    def judgements_of(self, context_ids: Sequence[str]) -> dict[str, list[Judgement]]:
        """Task -> each annotator's newest judgement, by annotator."""
        result: dict[str, list[Judgement]] = {}
        for r in self._of(
            "SELECT j.* FROM tasks t JOIN judgements j ON j.task_id = t.id "
            f"WHERE t.context_id IN {_OF_CONTEXTS} AND {_NEWEST} "
            "ORDER BY j.task_id, j.annotator_id",
            context_ids,
        ):
            result.setdefault(r["task_id"], []).append(judgement_of(r))
        return result

    def asked_of(self, context_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Task -> annotator -> state of what was given out."""
        result: dict[str, dict[str, str]] = {}
        for r in self._of(
            "SELECT a.task_id, a.annotator_id, a.state FROM tasks t "
            f"JOIN allocations a ON a.task_id = t.id WHERE t.context_id IN {_OF_CONTEXTS} "
            "ORDER BY a.task_id, a.annotator_id",
            context_ids,
        ):
            result.setdefault(r["task_id"], {})[r["annotator_id"]] = r["state"]
        return result

    def adjudications_of(self, context_ids: Sequence[str]) -> dict[str, Adjudication]:
        """Task -> its newest adjudication."""
        return {
            r["task_id"]: adjudication_of(r)
            for r in self._of(
                "SELECT d.* FROM tasks t JOIN adjudications d ON d.task_id = t.id "
                f"WHERE t.context_id IN {_OF_CONTEXTS} ORDER BY d.task_id, d.given",
                context_ids,
            )
        }

    def review_verdicts(
        self, version: int, context_ids: Sequence[str]
    ) -> dict[str, tuple[str, str, int, int]]:
        """Context -> (status, verdict, round, judgements) as the curators' table has them."""
        return {
            r["context_id"]: (r["status"], r["verdict"], r["round"], r["judged"])
            for r in self._of(
                "SELECT context_id, status, verdict, round, judged FROM review_rows "
                f"WHERE version = ? AND context_id IN {_OF_CONTEXTS}",
                context_ids,
                version,
            )
        }

    # --- annotators ----------------------------------------------------------------------

    def given_out(self) -> Iterator[tuple[str, str, str, str]]:
        """(task id, context id, annotator id, state) of all that was given out, in its order."""
        for r in self._stream(
            "SELECT a.task_id, t.context_id, a.annotator_id, a.state FROM allocations a "
            "JOIN tasks t ON t.id = a.task_id ORDER BY a.annotator_id, a.position"
        ):
            yield r["task_id"], r["context_id"], r["annotator_id"], r["state"]

    def open_tasks(self, annotator_id: str) -> Iterator[Task]:
        """What an annotator has still to answer, as it stood at the first row."""
        for r in self._stream(
            "SELECT t.* FROM allocations a JOIN tasks t ON t.id = a.task_id "
            "WHERE a.annotator_id = ? AND a.state = 'open' ORDER BY a.position",
            [annotator_id],
        ):
            yield task_of(r)

    def answers(
        self, annotator_id: str = "", *, checks: bool = False
    ) -> Iterator[tuple[Task, Judgement]]:
        """Each newest answer of one annotator or all, with its task, by annotator and time.

        With `checks` those to entry tests and hidden checks alone.
        """
        for r in self._stream(
            "SELECT t.*, j.task_id, j.annotator_id, j.labels, j.best, j.second, j.revision, "
            "j.comment, j.seconds, j.given, j.via FROM judgements j JOIN tasks t "
            f"ON t.id = j.task_id WHERE (?1 = '' OR j.annotator_id = ?1) AND {_NEWEST} "
            "AND (t.kind != 'work' OR NOT ?2) ORDER BY j.annotator_id, j.given, j.task_id",
            [annotator_id, checks],
        ):
            yield task_of(r), judgement_of(r)

    def answer_figures(self) -> Iterator[tuple[str, str, int, int, int, float]]:
        """(annotator, kind and round of the task, best, second, seconds) of each newest answer.

        In a fifth of the time of `answers`.
        """
        for r in self._stream(
            "SELECT j.annotator_id, t.kind, t.round, j.best, j.second, j.seconds "
            f"FROM judgements j JOIN tasks t ON t.id = j.task_id WHERE {_NEWEST}"
        ):
            yield tuple(r)

    def test_tasks(self, version: int) -> list[Task]:
        """The entry test of a filter version, by id; empty before it was made."""
        return [
            task_of(r)
            for r in self._query(
                "SELECT * FROM tasks WHERE filter_version = ? AND kind = 'test' ORDER BY id",
                [version],
            )
        ]

    def withdraw_tasks(self, task_ids: Iterable[str]) -> int:
        """Takes what is open or skipped of these tasks back from everybody; returns how many."""
        count = 0
        for part in sliced(task_ids):
            with self.write() as connection:
                count += connection.execute(
                    "UPDATE allocations SET state = 'withdrawn' "
                    f"WHERE state IN ('open', 'skipped') AND task_id IN {_OF_CONTEXTS}",
                    [json.dumps(part)],
                ).rowcount
        return count

    def _of(self, sql: str, context_ids: Sequence[str], *before: Any) -> list[sqlite3.Row]:
        return self._rows(sql, [*before, json.dumps(list(context_ids))])
