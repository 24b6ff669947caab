"""The log of what curators change: steps with names, each of one context or of any number of them.

The log is append-only: undoing adds a step that goes the other way. A step of many contexts is
written a slice at a time, so that the writes of others come in between. After each slice the log
says what was done by then and how much remains, so that a step that was broken off, by a kill or by
a person, is undone as any other; and an undoing that was broken off goes on where it stopped, or
back.
"""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from swag_studio.connections import sliced
from swag_studio.reviewing import Batch, Curated, Edit, Made, stacks
from swag_studio.store_people import now
from swag_studio.store_review import ReviewTables, show_state

SLICE_OF_STEP = 500  # contexts that one transaction changes: a hundredth of a second

# What one transaction is to write, put together before it, so that it is short. The last three
# columns are what the curators' table has to repeat: NULL where it does not change.
_PART = """
    CREATE TEMP TABLE IF NOT EXISTS part (
        context_id TEXT NOT NULL PRIMARY KEY, before TEXT NOT NULL, after TEXT,
        flags TEXT, excluded INTEGER, endings INTEGER
    ) WITHOUT ROWID
"""
# To be changed: states as they are (as Curated.to_json has them where nobody changed anything),
# with the marks that the change goes by.
_FILL = """
    INSERT INTO part SELECT i.value,
        coalesce(c.state, json_object(
            'comment', '', 'endings', (SELECT json_group_array(ending_id) FROM (
                SELECT ending_id FROM assignments WHERE filter_version = ?1
                AND context_id = i.value AND slot > 0 ORDER BY slot)),
            'excluded', json('false'), 'flags', json('[]'), 'ranks', json('[]'))),
        NULL,
        coalesce(json_extract(c.state, '$.flags'), '[]'),
        coalesce(json_extract(c.state, '$.excluded'), 0),
        NULL
    FROM json_each(?2) i LEFT JOIN curated c ON c.version = ?1 AND c.context_id = i.value
"""
_CHANGE = """
    UPDATE part SET after = json_set(before, '$.flags', json(?), '$.excluded', json(?)),
        flags = ?, excluded = ?
    WHERE after IS NULL AND flags = ? AND excluded = ?
"""
# To be reversed: the contexts of a step, but for those that are there already, where it was broken
# off before.
_FILL_BACK = """
    INSERT INTO part SELECT e.context_id, e.{old}, e.{new}, NULL, NULL, NULL FROM edits e
    JOIN curated c ON c.version = e.version AND c.context_id = e.context_id AND c.state != e.{new}
    WHERE e.batch = ? AND e.version = ? AND e.context_id > ? AND e.context_id <= ?
"""
_MARK = """
    UPDATE part SET
        flags = CASE WHEN json_extract(before, '$.flags') != json_extract(after, '$.flags')
            THEN (SELECT coalesce(group_concat(value), '') FROM json_each(after, '$.flags')) END,
        excluded = nullif(json_extract(after, '$.excluded'), json_extract(before, '$.excluded')),
        endings = json_extract(after, '$.endings') != json_extract(before, '$.endings')
"""
_STEP = "b.id, b.at, b.who, b.name, b.undoes, b.remaining"  # the fields of a Batch

Changes = Mapping[str, tuple[Curated, Curated]]  # context id -> state before, state after
Part = tuple[int, Changes]  # contexts that were looked at, and what of them changes


class Overtaken(ValueError):
    """Something else was changed before all of a step was written."""


class TooLate(Overtaken):
    """Something else was changed before a step was taken back or done again: nothing was."""


class StepTables(ReviewTables):
    """The part of the store that keeps the log."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        super().__init__(path, readonly=readonly)
        self._in_making: set[int] = set()  # steps that this process is writing

    # --- writing -------------------------------------------------------------------------

    def apply_edits(
        self,
        version: int,
        who: str,
        name: str,
        changes: Changes,
        undoes: int = 0,
    ) -> Batch:
        """One step: context id -> (state before, state after), all of them or none.

        Raises Overtaken when a context is no longer in the state before.
        """
        self._fill_part(changes)
        with self.durable() as connection:
            step = _begin(connection, who, name, undoes, 0)
            _write(connection, step, version)
        return step

    def apply_parts(
        self, version: int, who: str, name: str, parts: Iterable[Part], total: int
    ) -> Iterator[Made]:
        """As `apply_edits`, for any number of contexts, a slice at a time, as one step.

        Goes on with the step of this name that was broken off, while it is the last of the log.
        Yields after each slice. Raises Overtaken when another step came between.
        """

        def filled() -> Iterator[int]:
            for looked_at, changes in parts:
                self._fill_part(changes)
                yield looked_at

        row = self._one(
            f"SELECT {_STEP} FROM edit_batches b WHERE b.id = (SELECT max(id) FROM edit_batches) "
            "AND b.who = ? AND b.name = ? AND b.undoes = 0 AND b.remaining > 0 "
            "AND EXISTS (SELECT 1 FROM edits e WHERE e.batch = b.id AND e.version = ?)",
            [who, name, version],
        )
        step = Batch(**row) if row else None
        return self._make(version, who, lambda _: name, filled(), total, step=step)

    def change(
        self,
        version: int,
        who: str,
        context_ids: Iterable[str],
        after: Callable[[Curated], Curated],
        named: Callable[[int], str],
    ) -> Iterator[Made]:
        """Changes flags and exclusion of any number of contexts, as one step.

        `after` gets a state without endings, ranks and comment, and goes by its flags and exclusion
        alone; contexts that it leaves as they are are not in the step. `named` gives the name of a
        step of so many contexts. Yields after each slice. Who closes this has a step with what was
        done by then. Raises Overtaken when another step came between.
        """
        ids = sorted(set(context_ids))  # as the tables have them: each page is written once

        def parts() -> Iterator[int]:
            for some in sliced(ids, SLICE_OF_STEP):
                part = self._empty_part()
                part.execute(_FILL, [version, json.dumps(some)])
                marks = part.execute("SELECT DISTINCT flags, excluded FROM part").fetchall()
                for flags, excluded in marks:
                    state = _marked(flags, excluded)
                    part.execute(_CHANGE, [*_marks(state, after(state)), flags, excluded])
                part.execute("DELETE FROM part WHERE flags IS NULL AND excluded IS NULL")
                yield len(some)

        return self._make(version, who, named, parts(), len(ids))

    def _make(
        self,
        version: int,
        who: str,
        named: Callable[[int], str],
        parts: Iterable[int],
        total: int,
        undoes: int = 0,
        step: Batch | None = None,
        newest: int | None = None,
    ) -> Iterator[Made]:
        """Writes a step part by part; each of `parts` fills `part` from so many contexts.

        Raises TooLate where the log ends with another step than `newest` when this one begins.
        """
        done = changed = 0
        if step is not None:
            self._in_making.add(step.id)
        try:
            for looked_at in parts:
                ((fresh,),) = self._rows("SELECT count(*) FROM part")
                done, changed = done + looked_at, changed + fresh
                remaining, name = total - done, named(changed)
                if fresh or (not remaining and (step or undoes)):
                    # The last one takes those before it to the disk with it.
                    with self.write() if remaining else self.durable() as connection:
                        if step is None:
                            if newest not in (None, _newest(connection)):
                                raise TooLate(f"a step came in after step {newest}")
                            step = _begin(connection, who, name, undoes, remaining)
                            self._in_making.add(step.id)
                        else:
                            step = _go_on(connection, step, name, remaining)
                        _write(connection, step, version)
                yield Made(step, done, total)
        finally:
            if step is not None:
                self._in_making.discard(step.id)

    def _empty_part(self) -> sqlite3.Connection:
        connection = self.db.conn
        assert connection is not None
        connection.execute(_PART)
        connection.execute("DELETE FROM part")
        return connection

    def _fill_part(self, changes: Changes) -> None:
        texts = [(id, b.to_json(), a.to_json()) for id, (b, a) in changes.items()]
        part = self._empty_part()
        part.executemany("INSERT INTO part (context_id, before, after) VALUES (?,?,?)", texts)
        part.execute(_MARK)

    # --- reading -------------------------------------------------------------------------

    def batches(self) -> list[Batch]:
        """All steps, oldest first."""
        return [
            Batch(*row) for row in self._rows(f"SELECT {_STEP} FROM edit_batches b ORDER BY id")
        ]

    def edits(self, *, context_id: str = "", batch: int = 0, version: int = 0) -> list[Edit]:
        """The log of a context or of a step, oldest first; of one filter version, or of all."""
        asked = {"context_id": context_id, "batch": batch, "version": version}
        given = {column: value for column, value in asked.items() if value}
        where = " AND ".join(f"e.{column} = ?" for column in given) or "1"  # so indices serve
        return [
            Edit(Batch(*step), id, Curated.from_json(before), Curated.from_json(after))
            for id, before, after, *step in self._rows(
                f"SELECT e.context_id, e.before, e.after, {_STEP} FROM edits e "
                f"JOIN edit_batches b ON b.id = e.batch WHERE {where} "
                "ORDER BY e.batch, e.context_id",
                list(given.values()),
            )
        ]

    def marks_of(self, version: int, context_ids: Iterable[str]) -> dict[Curated, int]:
        """How many of these contexts have which flags and exclusion: states of those alone."""
        ids = set(context_ids)
        counts = {
            _marked(flags, excluded): n
            for flags, excluded, n in self._rows(
                "SELECT json_extract(state, '$.flags') f, json_extract(state, '$.excluded') e, "
                "count(*) FROM curated WHERE version = ? "
                "AND context_id IN (SELECT value FROM json_each(?)) GROUP BY f, e",
                [version, json.dumps(sorted(ids))],
            )
        }
        as_found = Curated(())  # nobody changed the others
        counts[as_found] = counts.get(as_found, 0) + len(ids) - sum(counts.values())
        return counts

    def edited_since(self, version: int, batch: int) -> tuple[list[str], int]:
        """The contexts to which steps of the log after `batch` did what bears upon their work.

        That is another ending, or another exclusion; not flags, ranks and comments. Beside them the
        newest whole step's number: one that is being made is told again, for more of it will come.
        """
        newest = self._one("SELECT coalesce(max(id), 0) n FROM edit_batches")
        assert newest is not None
        making = list(self._in_making)  # at once: another thread may begin or end one
        whole = min([newest["n"], *(step - 1 for step in making)])
        rows = self._rows(
            "SELECT DISTINCT context_id FROM edits WHERE version = ? AND batch > ? AND ("
            "json_extract(before, '$.endings') != json_extract(after, '$.endings') OR "
            "json_extract(before, '$.excluded') != json_extract(after, '$.excluded')) "
            "ORDER BY context_id",
            [version, batch],
        )
        return [r["context_id"] for r in rows], whole

    # --- undo and redo -------------------------------------------------------------------

    def undo_stacks(self) -> tuple[list[Batch], list[Batch]]:
        """Steps that can be undone, and that can be redone; see `reviewing.stacks`."""
        return stacks(self.batches())

    def undoing(self, who: str, asked: int = 0) -> Iterator[Made]:
        """Takes the last step back, a slice at a time; `change` has the manners of it.

        `asked` is the step that is meant, 0 for whichever is the last. Raises TooLate where that
        is another one, or where one comes in before this begins.
        """
        log = self.batches()
        done, _ = stacks(log)
        if step := _meant(done, asked):
            yield from self._reverse(step, step.id, who, log[-1].id, back=True)

    def redoing(self, who: str, asked: int = 0) -> Iterator[Made]:
        """Does the last undone step again, a slice at a time; `asked` as in `undoing`."""
        log = self.batches()
        _, undone = stacks(log)
        if step := _meant(undone, asked):
            undoing = max(b.id for b in log if b.undoes == step.id)
            yield from self._reverse(step, undoing, who, log[-1].id, back=False)

    def undo(self, who: str) -> Batch | None:
        """Takes the last step back. Returns the step that was undone."""
        return _whole(self.undo_stacks()[0], self.undoing(who))

    def redo(self, who: str) -> Batch | None:
        """Does the last undone step again. Returns it."""
        return _whole(self.undo_stacks()[1], self.redoing(who))

    def _reverse(
        self, step: Batch, undoes: int, who: str, newest: int, *, back: bool
    ) -> Iterator[Made]:
        """Brings the contexts of a step to the states before it, or again to those after it."""
        row = self._one("SELECT version, count(*) n FROM edits WHERE batch = ?", [step.id])
        assert row is not None
        version, total = row["version"], row["n"]
        old, new = ("after", "before") if back else ("before", "after")
        fill = _FILL_BACK.format(old=old, new=new)

        def parts() -> Iterator[int]:
            last = ""
            while ids := self._rows(
                "SELECT context_id FROM edits WHERE batch = ? AND version = ? AND context_id > ? "
                f"ORDER BY context_id LIMIT {SLICE_OF_STEP}",
                [step.id, version, last],
            ):
                first, last = last, ids[-1]["context_id"]
                part = self._empty_part()
                part.execute(fill, [step.id, version, first, last])
                part.execute(_MARK)
                yield len(ids)

        yield from self._make(
            version, who, lambda _: step.name, parts(), total, undoes, newest=newest
        )


def _meant(stack: list[Batch], asked: int) -> Batch | None:
    """The step on top, if there is any. Raises TooLate where another one is meant."""
    step = stack[-1] if stack else None
    if asked and (step is None or step.id != asked):
        raise TooLate(f"step {asked} is not the next one any more")
    return step


def _whole(stack: list[Batch], making: Iterator[Made]) -> Batch | None:
    for _ in making:
        pass
    return stack[-1] if stack else None


def _marked(flags: str, excluded: int) -> Curated:
    return Curated((), flags=tuple(json.loads(flags)), excluded=bool(excluded))


def _marks(before: Curated, after: Curated) -> tuple[str, str, str | None, int | None]:
    """What `_CHANGE` sets: both marks as JSON, and each as the table has it where it changed."""
    return (
        json.dumps(after.flags, ensure_ascii=False),
        json.dumps(after.excluded),
        ",".join(after.flags) if after.flags != before.flags else None,
        int(after.excluded) if after.excluded != before.excluded else None,
    )


def _begin(
    connection: sqlite3.Connection, who: str, name: str, undoes: int, remaining: int
) -> Batch:
    at = now()
    key = connection.execute(
        "INSERT INTO edit_batches (at, who, name, undoes, remaining) VALUES (?,?,?,?,?)",
        [at, who, name, undoes, remaining],
    ).lastrowid
    assert key is not None
    return Batch(key, at, who, name, undoes, remaining)


def _newest(connection: sqlite3.Connection) -> int:
    (newest,) = connection.execute("SELECT coalesce(max(id), 0) FROM edit_batches").fetchone()
    return int(newest)


def _go_on(connection: sqlite3.Connection, step: Batch, name: str, remaining: int) -> Batch:
    """Undoing goes by the order of steps: nothing is added to one that another came after."""
    if (newest := _newest(connection)) != step.id:
        raise Overtaken(f"step {newest} came in while step {step.id} was being made")
    connection.execute(
        "UPDATE edit_batches SET name = ?, remaining = ? WHERE id = ?", [name, remaining, step.id]
    )
    return dataclasses.replace(step, name=name, remaining=remaining)


def _write(connection: sqlite3.Connection, step: Batch, version: int) -> None:
    """Writes `part` as states, log and table. Raises Overtaken where a state is another one."""
    other = connection.execute(
        "SELECT p.context_id FROM part p CROSS JOIN curated c ON c.version = ? "
        "AND c.context_id = p.context_id AND c.state != p.before "
        "AND json(c.state) != json(p.before)",
        [version],
    ).fetchone()
    if other is not None:
        raise Overtaken(f"context {other[0]} was changed meanwhile")
    connection.execute(
        "INSERT OR REPLACE INTO curated SELECT ?, context_id, after FROM part", [version]
    )
    connection.execute(
        "INSERT INTO edits SELECT ?, ?, context_id, before, after FROM part", [step.id, version]
    )
    for column in ("flags", "excluded"):
        connection.execute(
            f"UPDATE review_rows SET {column} = (SELECT {column} FROM part p "
            "WHERE p.context_id = review_rows.context_id) WHERE version = ? "
            f"AND context_id IN (SELECT context_id FROM part WHERE {column} IS NOT NULL)",
            [version],
        )
    for id, state in connection.execute("SELECT context_id, after FROM part WHERE endings"):
        show_state(connection, version, id, Curated.from_json(state))
