"""The table of work packets that are out: what their items are in the project; and their merge.

Only a project knows which task an item of a packet is and in what order its endings stand there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from swag_studio.judging import Judgement, Skip
from swag_studio.store_people import PeopleTables, now


@dataclass(frozen=True, slots=True)
class SentItem:
    """An item of a packet: its task, and the task's places in the order shown."""

    id: str
    task_id: str
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SentPacket:
    """A packet as the project remembers it. `sha256` is that of its packet.json."""

    id: str
    annotator_id: str
    annotator: str  # the name, as it was
    guidelines: str
    sha256: str
    items: tuple[SentItem, ...]
    made: str = ""  # ISO 8601, UTC


class PacketTables(PeopleTables):
    """The part of the store that holds packets."""

    def put_packet(self, packet: SentPacket) -> None:
        """Keeps a packet; one that is kept already stays as it is: its id is its content."""
        items = [[i.id, i.task_id, i.order] for i in packet.items]
        row = [packet.id, packet.annotator_id, packet.annotator, packet.guidelines]
        with self.durable() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO packets VALUES (?,?,?,?,?,?,?)",
                [*row, packet.sha256, json.dumps(items), packet.made or now()],
            )

    def packet(self, packet_id: str) -> SentPacket | None:
        """One packet."""
        row = self._one("SELECT * FROM packets WHERE id = ?", [packet_id])
        return _packet(row) if row else None

    def packets(self) -> list[SentPacket]:
        """All packets, oldest first."""
        return [_packet(r) for r in self._query("SELECT * FROM packets ORDER BY made, id")]

    def add_merged(
        self,
        connection: sqlite3.Connection,
        judgements: Iterable[Judgement],
        skips: Iterable[Skip],
        drafts: Mapping[tuple[str, str], Mapping[str, Any]],
    ) -> None:
        """Adds what a packet brought, in the transaction of `connection`: all of it or nothing.

        A skip closes only what is open; a draft, by (task, annotator), is kept where the project
        has none.
        """
        self.add_rows(connection, judgements)
        for skip in skips:
            new = connection.execute(
                "INSERT OR IGNORE INTO skips VALUES (?,?,?,?)",
                [skip.task_id, skip.annotator_id, skip.reason, skip.given],
            ).rowcount
            if new:  # one that was put back since stays open
                connection.execute(
                    "UPDATE allocations SET state = 'skipped' "
                    "WHERE task_id = ? AND annotator_id = ? AND state = 'open'",
                    [skip.task_id, skip.annotator_id],
                )
        for (task, annotator), body in drafts.items():
            connection.execute(
                "INSERT OR IGNORE INTO drafts SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 "
                "FROM allocations WHERE task_id = ?1 AND annotator_id = ?2 AND state = 'open')",
                [task, annotator, json.dumps(dict(body), ensure_ascii=False), now()],
            )


def _packet(r: Mapping[str, Any]) -> SentPacket:
    items = (SentItem(i, task, tuple(order)) for i, task, order in json.loads(r["items"]))
    return SentPacket(
        id=r["id"],
        annotator_id=r["annotator_id"],
        annotator=r["annotator"],
        guidelines=r["guidelines"],
        sha256=r["sha256"],
        items=tuple(items),
        made=r["made"],
    )
