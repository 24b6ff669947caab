"""What one context's detail view reads, and what concerns many contexts' human work at once.

It adds no table: it reads those of the store's other parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from swag_studio.judging import Judgement, Task
from swag_studio.records import Ending
from swag_studio.store_review import ReviewTables


class ContextTables(ReviewTables):
    """The part of the store that looks at single contexts."""

    def assigned_to(self, version: int, context_id: str) -> list[tuple[int, Ending, float]]:
        """(slot, ending, score) of a context as the filter left it, the found ending first."""
        return [
            (
                r["slot"],
                Ending(r["id"], context_id, r["text"], r["kind"], r["pool_row"]),
                r["score"],
            )
            for r in self._query(
                "SELECT a.slot, a.pool_row, a.score, e.id, e.text, e.kind FROM assignments a "
                "JOIN endings e ON e.id = a.ending_id "
                "WHERE a.filter_version = ? AND a.context_id = ? ORDER BY a.slot",
                [version, context_id],
            )
        ]

    def answers_to(self, version: int, context_id: str) -> list[tuple[Task, Judgement]]:
        """The answers that count for a context's work, by round and annotator."""
        ids = [
            r["id"]
            for r in self._query(
                "SELECT id FROM tasks WHERE filter_version = ? AND context_id = ? "
                "AND kind = 'work' ORDER BY round, id",
                [version, context_id],
            )
        ]
        tasks = [task for id in ids if (task := self.task(id)) is not None]
        return [(task, answer) for task in tasks for answer in self.judgements(task_id=task.id)]

    def review_id(self, version: int, context_id: str) -> int | None:
        """The row of a context in the curators' table."""
        row = self._one(
            "SELECT id FROM review_rows WHERE version = ? AND context_id = ?", [version, context_id]
        )
        return int(row["id"]) if row else None

    def parents_of(self, endings: Sequence[str]) -> dict[str, str]:
        """Edited ending -> the one that it was made from, of a few endings."""
        marks = ",".join("?" * len(endings))
        return {
            r["ending_id"]: r["parent_id"]
            for r in self._query(
                f"SELECT * FROM ending_parents WHERE ending_id IN ({marks})", endings
            )
        }

    def human_work(self) -> dict[int, tuple[int, int]]:
        """Filter version -> (contexts that people changed, contexts that people judged).

        A change that was undone does not count.
        """
        changed = {
            r["version"]: r["n"]
            for r in self._query(
                "SELECT version, count(*) n FROM curated c WHERE json(state) != "
                "(SELECT json(before) FROM edits e "
                "WHERE e.context_id = c.context_id AND e.version = c.version "
                "ORDER BY batch LIMIT 1) GROUP BY version"
            )
        }
        judged = {
            r["version"]: r["n"]
            for r in self._query(
                "SELECT t.filter_version version, count(DISTINCT t.context_id) n FROM judgements j "
                "JOIN tasks t ON t.id = j.task_id GROUP BY version"
            )
        }
        versions = sorted(changed.keys() | judged.keys())
        return {v: (changed.get(v, 0), judged.get(v, 0)) for v in versions}
