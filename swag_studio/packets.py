"""Work packets: what an annotator at another machine gets as one file, and what comes back in it.

NAME.swagpacket is a zip with `packet.json`, the items in the order that this annotator sees, and
once it was worked on `result.json`, the answers. It says nothing of which ending is the found one,
which item is a test, or what anything is called in the project. What is read here is checked to
the last field and executes nothing. It knows neither the project nor the window.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from swag_studio.judging import LABELS, SHOWN, Label, problem
from swag_studio.packet_files import archive, from_json, load, refuse, to_json, unpack

SUFFIX = ".swagpacket"
KIND = "SWAG Studio work packet"
FORMAT = 1
PACKET, RESULT = "packet.json", "result.json"

MOST_ITEMS = 10_000
MOST_TEXT = 20_000  # characters of a sentence, an ending, a comment
MOST_GUIDELINES = 200_000  # characters
MOST_ANSWERS = 20  # of one item: an answer and its corrections
MOST_SECONDS = 86_400.0  # that an answer may claim; what is plausible is judged at the merge

_ID = re.compile(r"[0-9a-f]{32}\Z")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class PacketItem:
    """What is judged together, as its annotator sees it. To them the id is a random one."""

    id: str
    sent1: str
    opening: str
    endings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Packet:
    """One annotator's items in the order of work, and the guidelines (Markdown; "" the usual)."""

    id: str
    annotator_id: str
    annotator: str  # the name
    guidelines: str
    items: tuple[PacketItem, ...]


@dataclass(frozen=True, slots=True)
class PacketAnswer:
    """An answer in the order shown; a correction is a further one. `seconds` is active time."""

    item: str
    labels: tuple[Label, ...]
    best: int
    second: int
    comment: str
    seconds: float
    given: str  # ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class PacketSkip:
    """An item that was left, and is left still."""

    item: str
    reason: str
    given: str


@dataclass(frozen=True, slots=True)
class PacketDraft:
    """An answer that was half-given, in the order shown."""

    item: str
    labels: tuple[Label | None, ...]
    best: int | None
    second: int | None
    comment: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Result:
    """What was done with a packet. Answers are in the order given."""

    answers: tuple[PacketAnswer, ...] = ()
    skips: tuple[PacketSkip, ...] = ()
    drafts: tuple[PacketDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class PacketFile:
    """A file that was read and found right. `sha256` is that of its packet.json."""

    name: str
    packet: Packet
    sha256: str
    result: Result | None = None


# --- writing -----------------------------------------------------------------------------------


def packet_bytes(packet: Packet) -> bytes:
    """packet.json."""
    return to_json(
        {
            "kind": KIND,
            "format": FORMAT,
            "id": packet.id,
            "annotator": {"id": packet.annotator_id, "name": packet.annotator},
            "guidelines": packet.guidelines,
            "items": [asdict(item) for item in packet.items],
        }
    )


def file_bytes(packet: Packet, result: Result | None = None) -> bytes:
    """The file. Equal packets and results give equal bytes."""
    entries = {PACKET: packet_bytes(packet)}
    if result is not None:
        entries[RESULT] = to_json(
            {
                "format": FORMAT,
                "packet": packet.id,
                "sha256": checksum(entries[PACKET]),
                "annotator": packet.annotator_id,
                "answers": [asdict(a) for a in result.answers],
                "skips": [asdict(s) for s in result.skips],
                "drafts": [asdict(d) for d in result.drafts],
            }
        )
    return archive(entries)


def checksum(data: bytes) -> str:
    """What a result names its packet.json by."""
    return hashlib.sha256(data).hexdigest()


# --- reading -----------------------------------------------------------------------------------


def read(path: Path) -> PacketFile:
    """A packet file, with its result if it has one. Raises PacketError, in one sentence."""
    return parse(load(path), path.name)


def parse(data: bytes, name: str) -> PacketFile:
    """As `read`; `name` is what errors call the file."""
    entries = unpack(data, name, (PACKET, RESULT))
    if PACKET not in entries:
        refuse(name, f"it has no {PACKET} in it")
    packet = Reader(f"{name}, {PACKET}").packet(from_json(entries[PACKET], f"{name}, {PACKET}"))
    sha256 = checksum(entries[PACKET])
    result = None
    if RESULT in entries:
        where = f"{name}, {RESULT}"
        result = Reader(where).result(from_json(entries[RESULT], where), packet, sha256)
    return PacketFile(name, packet, sha256, result)


class Reader:
    """Turns JSON into records, or refuses it: with `name`, the place and the reason."""

    def __init__(self, name: str) -> None:
        self._name = name

    # --- records -------------------------------------------------------------------------

    def packet(self, value: Any) -> Packet:
        f = self._fields(value, "it", "kind format id annotator guidelines items")
        self._format(f)
        who = self._fields(f["annotator"], "annotator", "id name")
        items = tuple(
            self._item(item, f"item {i}")
            for i, item in enumerate(self._list(f["items"], "items", MOST_ITEMS), start=1)
        )
        if not items or len({item.id for item in items}) < len(items):
            refuse(self._name, "it has no items, or two with one id")
        return Packet(
            id=self._id(f["id"], "id"),
            annotator_id=self._text(who["id"], "annotator.id", 200),
            annotator=self._text(who["name"], "annotator.name", 1000),
            guidelines=self._text(f["guidelines"], "guidelines", MOST_GUIDELINES),
            items=items,
        )

    def _item(self, value: Any, where: str) -> PacketItem:
        f = self._fields(value, where, "id sent1 opening endings")
        endings = self._list(f["endings"], where, SHOWN)
        if len(endings) < 2:
            refuse(self._name, f"{where} has fewer than two endings")
        return PacketItem(
            id=self._id(f["id"], where),
            sent1=self._text(f["sent1"], where),
            opening=self._text(f["opening"], where),
            endings=tuple(self._text(text, where) for text in endings),
        )

    def result(self, value: Any, packet: Packet, sha256: str) -> Result:
        f = self._fields(value, "it", "format packet sha256 annotator answers skips drafts")
        self._format(f)
        if f["packet"] != packet.id or f["sha256"] != sha256:
            refuse(self._name, "its answers belong to another packet, or the packet was changed")
        if f["annotator"] != packet.annotator_id:
            refuse(self._name, "its answers are another annotator's than the packet's")
        sizes = {item.id: len(item.endings) for item in packet.items}
        most = MOST_ANSWERS * len(sizes)
        result = Result(
            answers=tuple(
                self.answer(a, sizes, f"answer {i}")
                for i, a in enumerate(self._list(f["answers"], "answers", most), start=1)
            ),
            skips=tuple(
                self.skip(s, sizes, f"skip {i}")
                for i, s in enumerate(self._list(f["skips"], "skips", len(sizes)), start=1)
            ),
            drafts=tuple(
                self.draft(d, sizes, f"draft {i}")
                for i, d in enumerate(self._list(f["drafts"], "drafts", len(sizes)), start=1)
            ),
        )
        self._once(result.skips, "skips")
        self._once(result.drafts, "drafts")
        return result

    def answer(self, value: Any, sizes: dict[str, int], where: str) -> PacketAnswer:
        """An answer to an item of these ids and numbers of endings, whole and allowed."""
        f = self._fields(value, where, "item labels best second comment seconds given")
        draft = self._answer(f, sizes, where)
        labels = tuple(label for label in draft.labels if label is not None)
        if problem(draft.labels, draft.best, draft.second):
            refuse(self._name, f"{where} is not a whole and allowed answer")
        assert draft.best is not None and draft.second is not None
        given = self._time(f["given"], where)
        return PacketAnswer(
            draft.item, labels, draft.best, draft.second, draft.comment, draft.seconds, given
        )

    def draft(self, value: Any, sizes: dict[str, int], where: str) -> PacketDraft:
        """A half-given answer to such an item."""
        fields = self._fields(value, where, "item labels best second comment seconds")
        return self._answer(fields, sizes, where)

    def _answer(self, f: dict[str, Any], sizes: dict[str, int], where: str) -> PacketDraft:
        item = self._member(f["item"], sizes, where)
        labels = self._list(f["labels"], where, sizes[item])
        if len(labels) != sizes[item] or not all(x is None or x in LABELS for x in labels):
            refuse(self._name, f"{where} has a label that there is not, or not one for each ending")
        best, second = (self._place(f[name], sizes[item], where) for name in ("best", "second"))
        comment, seconds = self._text(f["comment"], where), f["seconds"]
        if type(seconds) not in (int, float) or not 0 <= seconds <= MOST_SECONDS:
            refuse(self._name, f"{where} has a time that nobody can have taken")
        assert math.isfinite(seconds)
        return PacketDraft(item, tuple(labels), best, second, comment, float(seconds))

    def skip(self, value: Any, sizes: dict[str, int], where: str) -> PacketSkip:
        """That such an item was left."""
        f = self._fields(value, where, "item reason given")
        item = self._member(f["item"], sizes, where)
        return PacketSkip(item, self._text(f["reason"], where), self._time(f["given"], where))

    # --- fields --------------------------------------------------------------------------

    def _format(self, fields: dict[str, Any]) -> None:
        if type(fields["format"]) is int and fields["format"] > FORMAT:
            refuse(self._name, "it is of a newer version of SWAG Studio", "Update the program.")
        if type(fields["format"]) is not int or fields["format"] != FORMAT:
            refuse(self._name, "its format has no number that is known")
        if fields.get("kind", KIND) != KIND:
            refuse(self._name, "it is something else than a work packet")

    def _fields(self, value: Any, where: str, names: str) -> dict[str, Any]:
        wanted = names.split()
        if type(value) is not dict or set(value) != set(wanted):
            refuse(self._name, f"{where} must have exactly the fields {', '.join(wanted)}")
        return value

    def _list(self, value: Any, where: str, most: int) -> list[Any]:
        if type(value) is not list or len(value) > most:
            refuse(self._name, f"{where} must be a list of at most {most}")
        return value

    def _text(self, value: Any, where: str, most: int = MOST_TEXT) -> str:
        if type(value) is not str or not sound(value) or len(value) > most:
            refuse(self._name, f"{where} must be text of at most {most} characters")
        return value

    def _id(self, value: Any, where: str) -> str:
        if type(value) is not str or not _ID.match(value):
            refuse(self._name, f"{where} has an id that is none")
        return value

    def _member(self, value: Any, sizes: dict[str, int], where: str) -> str:
        if type(value) is not str or value not in sizes:
            refuse(self._name, f"{where} is about an item that is not in the packet")
        return value

    def _place(self, value: Any, size: int, where: str) -> int | None:
        if value is not None and (type(value) is not int or not 0 <= value < size):
            refuse(self._name, f"{where} has a best or second best that is none of its endings")
        return value

    def _time(self, value: Any, where: str) -> str:
        if type(value) is not str or not _TIME.match(value) or not _exists(value):
            refuse(self._name, f"{where} has a time of giving that is none")
        return value

    def _once(self, rows: Iterable[PacketSkip | PacketDraft], where: str) -> None:
        ids = [row.item for row in rows]
        if len(set(ids)) < len(ids):
            refuse(self._name, f"{where} has an item twice")


def sound(text: str) -> bool:
    """Whether a text can be written in UTF-8: no half of a pair of surrogates."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _exists(time: str) -> bool:
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return False
    return True
