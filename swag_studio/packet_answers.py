"""Work on a packet at another machine: every answer is on the disk when it is acknowledged.

NAME.swagpacket.answers beside the packet is a journal: a line of JSON for each thing done, synced
before it counts. A kill leaves at most a last line without an end, which was never acknowledged.
`finish` writes the file to send back. It knows neither the project nor the window.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import filelock

from swag_studio.errors import PacketError
from swag_studio.files import write_bytes
from swag_studio.packet_files import from_json, refuse
from swag_studio.packets import (
    MOST_ANSWERS,
    MOST_TEXT,
    SUFFIX,
    PacketAnswer,
    PacketDraft,
    PacketSkip,
    Reader,
    Result,
    file_bytes,
    parse,
    read,
    sound,
)

JOURNAL = ".answers"
DONE = "-answers"  # what Finish adds to the packet's name

_REPAIR = "Remove this line with a text editor; keep a copy of the file."
_APART = "Move the packet to a folder of its own."


class PacketAnswers:
    """What was done with one packet. Holds the packet until `close`."""

    def __init__(self, path: Path) -> None:
        """Opens a packet and takes up what was done before. Raises PacketError."""
        file = read(path)
        self.path, self.packet = path, file.packet
        self.answers: list[PacketAnswer] = []  # in the order given
        self.skips: dict[str, PacketSkip] = {}  # those that stand, by item
        self.drafts: dict[str, PacketDraft] = {}
        self.settings: dict[str, Any] = {}
        self._sizes = {item.id: len(item.endings) for item in file.packet.items}
        if file.result is not None:
            self.answers += file.result.answers
            self.skips |= {skip.item: skip for skip in file.result.skips}
            self.drafts |= {draft.item: draft for draft in file.result.drafts}
        self._known = set(self.answers)
        head = {"do": "begin", "packet": file.packet.id, "sha256": file.sha256}
        self._journal = Journal(path.with_name(path.name + JOURNAL), head)
        try:
            for where, line in self._journal.lines():
                self._take(*self._record(line, where))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Gives the packet back."""
        self._journal.close()

    # --- what is done --------------------------------------------------------------------

    def answer(self, answer: PacketAnswer) -> None:
        """Keeps an answer. When this returns it outlives the power."""
        self._do("answer", asdict(replace(answer, comment=_storable(answer.comment))))

    def skip(self, skip: PacketSkip) -> None:
        """Keeps that an item was left."""
        self._do("skip", asdict(replace(skip, reason=_storable(skip.reason))))

    def reopen(self, item: str) -> None:
        """Puts a skipped item back."""
        self._do("reopen", {"item": item})

    def draft(self, draft: PacketDraft) -> None:
        """Keeps a half-given answer. It outlives the program, not the power."""
        self._do("draft", asdict(replace(draft, comment=_storable(draft.comment))), sync=False)

    def forget(self, item: str) -> None:
        """Forgets a half-given answer."""
        self._do("forget", {"item": item}, sync=False)

    def setting(self, name: str, value: Any) -> None:
        """Keeps what the person likes, such as keys. It stays on this machine."""
        self._do("setting", {"name": name, "value": value}, sync=False)

    def _do(self, kind: str, fields: dict[str, Any], sync: bool = True) -> None:
        line = json.dumps({"do": kind, **fields}, ensure_ascii=False).encode("utf-8")
        record = self._record(line, "It")  # what could not be read again is not written
        self._journal.append(line, sync)
        self._take(*record)

    def _record(self, line: bytes, where: str) -> tuple[str, Any]:
        """What a line of the journal says: its kind, and a record or the fields."""
        fields, reader = from_json(line, where), Reader(where)
        kind = fields.pop("do", "") if type(fields) is dict else ""
        if kind == "answer":
            return kind, reader.answer(fields, self._sizes, "the answer")
        if kind == "skip":
            return kind, reader.skip(fields, self._sizes, "the skip")
        if kind == "draft":
            return kind, reader.draft(fields, self._sizes, "the draft")
        if kind not in ("reopen", "forget", "setting"):
            refuse(where, "it is damaged", _REPAIR)
        return kind, fields

    def _take(self, kind: str, record: Any) -> None:
        """Takes up what a line says; the same line twice is once."""
        if kind == "draft":
            self.drafts[record.item] = record
        elif kind == "setting":
            self.settings[str(record.get("name"))] = record.get("value")
        elif kind in ("reopen", "forget"):
            (self.skips if kind == "reopen" else self.drafts).pop(str(record.get("item")), None)
        else:
            self.drafts.pop(record.item, None)
            self.skips.pop(record.item, None)
            if kind == "skip":
                self.skips[record.item] = record
            elif record not in self._known:
                self.answers.append(record)
                self._known.add(record)

    # --- what goes back ------------------------------------------------------------------

    def result(self) -> Result:
        """All that was done; skips and drafts in the order of work."""
        return Result(
            answers=tuple(self.answers[-MOST_ANSWERS * len(self._sizes) :]),
            skips=tuple(self.skips[i] for i in self._sizes if i in self.skips),
            drafts=tuple(self.drafts[i] for i in self._sizes if i in self.drafts),
        )

    def finish(self) -> Path:
        """Writes the file to send back, whole or not at all, and returns its path."""
        target = self.path.with_name(f"{self.path.stem.removesuffix(DONE)}{DONE}{SUFFIX}")
        data = file_bytes(self.packet, self.result())
        parse(data, target.name)  # nothing is sent that would be refused
        write_bytes(target, data)
        return target


class Journal:
    """A file that only grows, a line at a time; one process holds it."""

    def __init__(self, path: Path, head: dict[str, str]) -> None:
        """Opens it, or begins it with a line of its own. Raises PacketError."""
        self.path, self._head = path, head
        self._lock = filelock.FileLock(
            path.with_name(f".{path.name}.lock"), blocking=False, thread_local=False
        )
        try:
            self._lock.acquire()
            self._file = path.open("a+b", buffering=0)
        except filelock.Timeout:
            name = path.name.removesuffix(JOURNAL)
            raise PacketError(f"{name} is open in another window. Go on there.") from None
        except OSError as error:
            self._lock.release()
            raise PacketError(
                f"{path} cannot be written ({error.strerror or error}). Copy the packet to a "
                "folder where you may write, and open it there."
            ) from None
        self._end = 0

    def close(self) -> None:
        """Closes the file and lets others have it."""
        self._file.close()
        self._lock.release()

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """(where, line) of all that was appended. A last line without an end is cut off."""
        self._file.seek(0)
        *lines, torn = self._file.read().split(b"\n")
        self._end = sum(len(line) + 1 for line in lines)
        if torn:
            self._file.truncate(self._end)
        if not lines:
            self.append(json.dumps(self._head).encode("utf-8"))
        for number, line in enumerate(lines, start=1):
            where = f"{self.path.name}, line {number}"
            if number > 1:
                yield where, line
            elif from_json(line, where) != self._head:
                refuse(where, "it belongs to another packet of this name", _APART)

    def append(self, line: bytes, sync: bool = True) -> None:
        """Adds a line, all of it or none. Raises OSError."""
        rest = line + b"\n"
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
            if sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(self._end)
            error.filename = str(self.path)
            raise
        self._end += len(line) + 1


def _storable(text: str) -> str:
    """A comment as a packet can carry it. Raises PacketError when it is too long."""
    if len(text) > MOST_TEXT:
        raise PacketError(f"The comment is too long: {MOST_TEXT:,} characters can be kept.")
    return text if sound(text) else text.encode("utf-8", "replace").decode("utf-8")
