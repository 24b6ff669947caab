"""A project's side of work packets: what goes out to an annotator, and how it comes back in.

What an item is called outside is a hash under a key that never leaves the project, so that neither
the item nor its endings can be recognised by it, and two annotators' packets share no id. Tests
and hidden checks look like any item; they are scored by what becomes of all judgements.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from swag_studio.connections import sliced
from swag_studio.errors import PacketError
from swag_studio.judged import all_due
from swag_studio.judging import Annotator, Judgement, Label, Skip, Task, shown_order
from swag_studio.packet_files import to_json
from swag_studio.packets import (
    MOST_ITEMS,
    Packet,
    PacketAnswer,
    PacketDraft,
    PacketFile,
    PacketItem,
    checksum,
    file_bytes,
    packet_bytes,
    parse,
)
from swag_studio.records import Context
from swag_studio.store import Store
from swag_studio.store_packets import SentItem, SentPacket
from swag_studio.store_people import now

KEY = "packet_key"  # of the hashes; a setting of the human work
MOST_ACTIVE = 1800.0  # seconds at one item that are believed; pay is worked out from them

Keep = Literal["later", "project", "packet"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A task that was answered in the project and in the packet, each in its own way.

    `packet_counts` is what is chosen: both stay, as revisions, and the last one counts.
    """

    project: Judgement
    packet: Judgement
    packet_counts: bool


@dataclass(frozen=True, slots=True)
class Merge:
    """What a packet brings. `new` are the judgements to add, in order, with their revisions.

    `answers` of it come from the packet; the rest of `new` repeats an answer of the project that
    goes on counting. `same` are answers that are there already. `notes` are for people.
    """

    packet_id: str
    annotator: str  # the name
    new: tuple[Judgement, ...]
    answers: int
    same: int
    conflicts: tuple[Conflict, ...]
    skips: tuple[Skip, ...]
    drafts: Mapping[tuple[str, str], Mapping[str, Any]]
    notes: tuple[str, ...] = ()


# --- out ---------------------------------------------------------------------------------------


def export(store: Store, seed: int, annotator: Annotator) -> Packet:
    """A packet with the annotator's open work, in the order of their queue.

    `seed` is the recipe's, from which the order shown follows. The same open work gives the same
    packet. Raises PacketError when there is none.
    """
    name = annotator.name
    if annotator.kind == "simulated":
        raise PacketError(f"{name} is simulated: a packet is for a person at another machine.")
    queue = [task for task, _, _, state in store.allocations(annotator.id) if state == "open"]
    if not queue:
        raise PacketError(
            f"{name} has no open work. Give work out first, or choose another annotator."
        )
    if len(queue) > MOST_ITEMS:
        raise PacketError(
            f"{name} has {len(queue):,} open items; a packet holds {MOST_ITEMS:,}. Give out less."
        )
    key = _key(store)
    sent = tuple(
        SentItem(
            _hidden(key, "item", annotator.id, task.id),
            task.id,
            shown_order(seed, task.id, annotator.id, len(task.endings)),
        )
        for task in _tasks(store, queue)
    )
    guidelines = str(store.people_setting("guidelines", ""))
    draft = Packet("", annotator.id, name, guidelines, _items(store, sent))
    packet = replace(draft, id=_hidden(key, "packet", checksum(to_json(_plain(draft)))))
    sha256 = parse(file_bytes(packet), f"The packet of {name}").sha256  # what goes out comes back
    store.put_packet(SentPacket(packet.id, annotator.id, name, guidelines, sha256, sent))
    return packet


def again(store: Store, packet_id: str) -> Packet:
    """A packet that went out before, whatever was answered since. Raises PacketError."""
    sent = store.packet(packet_id)
    if sent is None:
        raise PacketError(f"No packet {packet_id} was made by this project.")
    items = _items(store, sent.items)
    packet = Packet(sent.id, sent.annotator_id, sent.annotator, sent.guidelines, items)
    if checksum(packet_bytes(packet)) != sent.sha256:
        raise PacketError(f"Texts of packet {packet_id} changed since. Export a new one.")
    return packet


def _plain(packet: Packet) -> list[Any]:
    items = [[i.id, i.sent1, i.opening, list(i.endings)] for i in packet.items]
    return [packet.annotator_id, packet.annotator, packet.guidelines, items]


def _key(store: Store) -> bytes:
    text = store.people_setting(KEY, "")
    if not text:  # made once, whoever else asks for it now: what it named must stay known
        text = store.change_people_setting(KEY, "", lambda key: key or secrets.token_hex(32))
    return bytes.fromhex(text)


def _hidden(key: bytes, *parts: str) -> str:
    """A name that says nothing to whoever has not the key."""
    text = to_json(list(parts))
    return hashlib.blake2b(text, digest_size=16, key=key, person=b"packet").hexdigest()


def _tasks(store: Store, ids: Iterable[str]) -> list[Task]:
    found = [store.task(i) for i in ids]
    return [task for task in found if task is not None]


def _items(store: Store, sent: Sequence[SentItem]) -> tuple[PacketItem, ...]:
    """The texts of items, each in its own order."""
    items: list[PacketItem] = []
    for part in sliced(sent, 100):
        tasks = {task.id: task for task in _tasks(store, [i.task_id for i in part])}
        contexts: dict[str, Context] = {}
        for artifact in store.artifacts("prepare"):  # an id is a text: the newest has it last
            wanted = [task.context_id for task in tasks.values()]
            contexts |= {c.id: c for c in store.contexts_by_id(artifact.version, wanted)}
        endings = store.endings_by_id([e for task in tasks.values() for e in task.endings])
        for item in part:
            task = tasks[item.task_id]
            context = contexts.get(task.context_id)
            if context is None or any(e not in endings for e in task.endings):
                raise PacketError(
                    "The text of an item is no longer in the project. Take back the work that "
                    "was given out, and give it out anew."
                )
            texts = tuple(endings[task.endings[place]].text for place in item.order)
            items.append(PacketItem(item.id, context.sent1, context.sent2, texts))
    return tuple(items)


# --- in ----------------------------------------------------------------------------------------


def preview(
    store: Store, file: PacketFile, keep: Keep = "later", chosen: Mapping[str, Keep] | None = None
) -> Merge:
    """What `merge` would do; nothing is written. Raises PacketError when the file is refused.

    Where the project and the packet disagree on a task, `keep` says which of the two answers
    counts, and `chosen` says it by task id.
    """
    sent = _sent(store, file)
    if file.result is None:
        raise PacketError(
            f"{file.name} has no answers in it yet. Ask for the file that Finish writes."
        )
    items = {item.id: item for item in sent.items}
    theirs: dict[str, list[Judgement]] = {}
    for answer in file.result.answers:
        judgement = _judgement(answer, items[answer.item], sent)
        theirs.setdefault(judgement.task_id, []).append(judgement)
    ours: dict[str, list[Judgement]] = {}
    for judgement in store.judgements(annotator_id=sent.annotator_id, all_revisions=True):
        ours.setdefault(judgement.task_id, []).append(judgement)
    new: list[Judgement] = []
    conflicts: list[Conflict] = []
    answers = same = 0
    for task, given in theirs.items():
        wish = (chosen or {}).get(task, keep)
        rows, conflict = _revisions(ours.get(task, []), given, wish)
        new += rows
        fresh = len(rows) - (conflict is not None and not conflict.packet_counts)
        answers, same = answers + fresh, same + len(given) - fresh
        conflicts += [conflict] if conflict else []
    skips = [
        Skip(items[s.item].task_id, sent.annotator_id, s.reason, s.given) for s in file.result.skips
    ]
    have = set(store.skips())
    drafts = {
        (items[d.item].task_id, sent.annotator_id): _draft(d, items[d.item])
        for d in file.result.drafts
        if items[d.item].task_id not in {*theirs, *ours}
    }
    return Merge(
        packet_id=sent.id,
        annotator=sent.annotator,
        new=tuple(new),
        answers=answers,
        same=same,
        conflicts=tuple(conflicts),
        skips=tuple(skip for skip in skips if skip not in have),
        drafts=drafts,
        notes=_notes(store, sent, file.result.answers),
    )


def merge(
    store: Store, file: PacketFile, keep: Keep = "later", chosen: Mapping[str, Keep] | None = None
) -> Merge:
    """Brings a packet's answers in, all or none; twice is once. Returns what was added."""
    all_due(store)  # the answers' times are another machine's: long before the last ones here
    with store.durable() as connection:  # nothing else is written between the look and the deed
        found = preview(store, file, keep, chosen)
        store.add_merged(connection, found.new, found.skips, found.drafts)
    return found


def _sent(store: Store, file: PacketFile) -> SentPacket:
    sent = store.packet(file.packet.id)
    if sent is None:
        raise PacketError(f"{file.name} was not made by this project. Merge it where it was made.")
    if sent.sha256 != file.sha256 or sent.annotator_id != file.packet.annotator_id:
        raise PacketError(
            f"{file.name} is not the packet that went out: its items were changed. Ask for the "
            "work to be done on the packet as it was."
        )
    if all(a.id != sent.annotator_id for a in store.annotators()):
        raise PacketError(f"{file.name} is of an annotator who is no longer in this project.")
    return sent


def _revisions(
    ours: Sequence[Judgement], theirs: Sequence[Judgement], keep: Keep
) -> tuple[list[Judgement], Conflict | None]:
    """What one task gets, and what it is about if the project has its own, other answer.

    Answers that are there are passed over. Where the project's answer is to count, it is repeated
    after the packet's: a revision is never changed.
    """
    have = {_content(j) for j in ours}
    fresh = [j for j in theirs if _content(j) not in have]
    if not fresh:
        return [], None
    top = max(ours, key=lambda j: j.revision, default=None)
    first = top.revision + 1 if top else 0
    rows = [replace(j, revision=first + i) for i, j in enumerate(fresh)]
    brought = {_content(j) for j in theirs}
    # The first answer, a correction of what the packet brought before, or the same once more.
    if top is None or _content(top) in brought or _said(top) == _said(rows[-1]):
        return rows, None
    counts = fresh[-1].given >= top.given if keep == "later" else keep == "packet"
    if not counts:
        rows.append(replace(top, revision=first + len(rows)))
    return rows, Conflict(top, rows[len(fresh) - 1], counts)


def _content(j: Judgement) -> Judgement:
    return replace(j, revision=0, via="")


def _said(j: Judgement) -> tuple[Any, ...]:
    return j.labels, j.best, j.second, j.comment


def _judgement(answer: PacketAnswer, item: SentItem, sent: SentPacket) -> Judgement:
    """From the order shown to the task's."""
    labels: list[Label] = list(answer.labels)
    for shown, place in enumerate(item.order):
        labels[place] = answer.labels[shown]
    return Judgement(
        task_id=item.task_id,
        annotator_id=sent.annotator_id,
        labels=tuple(labels),
        best=item.order[answer.best],
        second=item.order[answer.second],
        comment=answer.comment,
        seconds=min(answer.seconds, MOST_ACTIVE),
        given=answer.given,
        via=sent.id,
    )


def _draft(draft: PacketDraft, item: SentItem) -> dict[str, Any]:
    """As the project keeps drafts, in the task's order."""
    labels: list[Label | None] = list(draft.labels)
    for shown, place in enumerate(item.order):
        labels[place] = draft.labels[shown]
    best, second = (None if i is None else item.order[i] for i in (draft.best, draft.second))
    seconds = min(draft.seconds, MOST_ACTIVE)
    body: dict[str, Any] = {"labels": labels, "best": best, "second": second}
    return body | {"comment": draft.comment, "seconds": seconds}


def _notes(store: Store, sent: SentPacket, answers: Sequence[PacketAnswer]) -> tuple[str, ...]:
    """What a person should know of times that cannot be, and of work that was taken back."""
    notes = []
    moment = now()
    if long := sum(a.seconds > MOST_ACTIVE for a in answers):
        notes.append(f"{long} answers claim more than {MOST_ACTIVE / 60:.0f} minutes; cut to that.")
    if sum(a.given > moment for a in answers):
        notes.append("Answers are dated in the future: the other machine's clock is wrong.")
    elif sum(a.given < sent.made for a in answers):
        notes.append("Answers are older than the packet: the other machine's clock is wrong.")
    mine = store.allocations(sent.annotator_id)
    back = {task for task, _, _, state in mine if state == "withdrawn"}
    items = {item.id: item.task_id for item in sent.items}
    if late := len({a.item for a in answers if items[a.item] in back}):
        notes.append(f"{late} items were taken back since; their answers are kept all the same.")
    return tuple(notes)
