"""What is in a packet and in what comes back: it comes back the same, and nothing else gets in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio import packets
from swag_studio.errors import PacketError
from swag_studio.judging import LABELS
from swag_studio.packet_files import archive, to_json, unpack
from swag_studio.packets import (
    PACKET,
    RESULT,
    Packet,
    PacketAnswer,
    PacketDraft,
    PacketFile,
    PacketItem,
    PacketSkip,
    Result,
    file_bytes,
    parse,
    read,
)

TIME = "2030-05-06T07:08:09.123Z"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "彼は椅子に座る。",
        "=1+1",
        "a, b",
        '"',
        "\n\r\n\t",
        "\u202eabc",
        "\0",
        "None",
        "<b>&amp;",
        "😀",
    ]
)
ids = st.integers(0, 2**128 - 1).map(lambda n: f"{n:032x}")
seconds = st.floats(0, packets.MOST_SECONDS)
times = st.datetimes().map(lambda t: t.isoformat(timespec="milliseconds") + "Z")


@st.composite
def worked_on(draw: st.DrawFn) -> tuple[Packet, Result]:
    """A packet, and anything that can be done with it."""
    items = [
        PacketItem(
            i, draw(texts), draw(texts), tuple(draw(st.lists(texts, min_size=2, max_size=6)))
        )
        for i in draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    ]
    packet = Packet(draw(ids), draw(texts), draw(texts), draw(texts), tuple(items))
    answers, skips, drafts = [], [], []
    for item in draw(st.lists(st.sampled_from(items), max_size=6)):
        size = len(item.endings)
        best, second = draw(st.permutations(range(size)))[:2]
        labels = [draw(st.sampled_from(LABELS)) for _ in range(size)]
        labels[best] = labels[second] = "likely"
        rest = (draw(texts), draw(seconds), draw(times))
        answers.append(PacketAnswer(item.id, tuple(labels), best, second, *rest))
    for item in draw(st.lists(st.sampled_from(items), unique=True)):
        skips.append(PacketSkip(item.id, draw(texts), draw(times)))
    for item in draw(st.lists(st.sampled_from(items), unique=True)):
        places = st.none() | st.integers(0, len(item.endings) - 1)
        given = tuple(draw(st.sampled_from([*LABELS, None])) for _ in item.endings)
        rest = (draw(places), draw(places), draw(texts), draw(seconds))
        drafts.append(PacketDraft(item.id, given, *rest))
    return packet, Result(tuple(answers), tuple(skips), tuple(drafts))


@given(worked_on())
@settings(max_examples=40)
def test_a_packet_and_its_result_come_back_and_are_written_with_the_same_bytes(
    work: tuple[Packet, Result],
) -> None:
    packet, result = work
    for wanted in (None, result):
        data = file_bytes(packet, wanted)
        found = parse(data, "x")
        assert (found.packet, found.result) == (packet, wanted)
        assert file_bytes(found.packet, found.result) == data
    assert unpack(data, "x", (PACKET, RESULT))[PACKET] == packets.packet_bytes(packet)


# --- what is refused ---------------------------------------------------------------------------

A, B = "a" * 32, "b" * 32
SIX = ("one", "two", "three", "four", "five", "six")
HERE = Packet(
    "c" * 32, "anna-id", "Anna", "", (PacketItem(A, "s", "o", SIX), PacketItem(B, "s", "o", SIX))
)
ANSWER = PacketAnswer(A, ("likely",) * 5 + ("gibberish",), 0, 1, "", 3.5, TIME)
DRAFT = PacketDraft(B, ("likely",) + (None,) * 5, 0, None, "", 1.0)
DONE = Result((ANSWER,), (PacketSkip(B, "why", TIME),), (DRAFT,))


def changed(change: Callable[[Any], object], file: str = RESULT) -> bytes:
    """The file with one of its JSONs changed."""
    entries = unpack(file_bytes(HERE, DONE), "x", (PACKET, RESULT))
    value = json.loads(entries[file])
    change(value)
    return archive({**entries, file: to_json(value)})


def put(*path: Any) -> Callable[[Any], object]:
    """Puts the last of `path` where the rest leads."""
    *way, last, new = path

    def change(value: Any) -> None:
        for step in way:
            value = value[step]
        value[last] = new

    return change


def without(*path: Any) -> Callable[[Any], object]:
    *way, last = path

    def change(value: Any) -> None:
        for step in way:
            value = value[step]
        del value[last]

    return change


BAD_RESULTS = {
    "another packet": (put("packet", A), "another packet"),
    "a changed packet": (put("sha256", "0" * 64), "another packet"),
    "another annotator": (put("annotator", "ben-id"), "another annotator"),
    "an item of another packet": (put("answers", 0, "item", "d" * 32), "not in the packet"),
    "an item that is a list": (put("answers", 0, "item", [A]), "not in the packet"),
    "a skip elsewhere": (put("skips", 0, "item", "d" * 32), "skip 1 is about an item"),
    "a draft elsewhere": (put("drafts", 0, "item", 7), "draft 1 is about an item"),
    "a skip twice": (lambda v: v["skips"].extend(v["skips"]), "item twice"),
    "a label that there is not": (put("answers", 0, "labels", 0, "good"), "label"),
    "a label that is a list": (put("answers", 0, "labels", 0, ["likely"]), "label"),
    "five labels": (put("answers", 0, "labels", ["likely"] * 5), "label"),
    "seven labels": (put("answers", 0, "labels", ["likely"] * 7), "at most 6"),
    "a missing label": (put("answers", 0, "labels", 2, None), "answer 1 is not a whole"),
    "best out of range": (put("answers", 0, "best", 6), "none of its endings"),
    "best below": (put("answers", 0, "best", -1), "none of its endings"),
    "best true": (put("answers", 0, "best", True), "none of its endings"),
    "best 1.0": (put("answers", 0, "best", 1.0), "none of its endings"),
    "best missing": (put("answers", 0, "best", None), "whole and allowed"),
    "best and second the same": (put("answers", 0, "second", 0), "whole and allowed"),
    "best gibberish": (put("answers", 0, "best", 5), "whole and allowed"),
    "negative time": (put("answers", 0, "seconds", -1), "nobody can"),
    "two days": (put("answers", 0, "seconds", 172_800), "nobody can"),
    "time as text": (put("answers", 0, "seconds", "3"), "nobody can"),
    "time true": (put("answers", 0, "seconds", True), "nobody can"),
    "given never": (put("answers", 0, "given", ""), "time of giving"),
    "given on February 30": (
        put("answers", 0, "given", "2030-02-30T00:00:00.000Z"),
        "time of giving",
    ),
    "given with a newline": (put("answers", 0, "given", TIME + "\n"), "time of giving"),
    "a comment without end": (put("answers", 0, "comment", "x" * 20_001), "20000 characters"),
    "half a character": (lambda v: v["answers"][0].update(comment="@@"), "must be text"),
    "a comment that is none": (put("answers", 0, "comment", None), "must be text"),
    "one field more": (put("answers", 0, "task_id", "x"), "exactly the fields"),
    "one field less": (without("answers", 0, "seconds"), "exactly the fields"),
    "no answers": (without("answers"), "exactly the fields"),
    "answers as an object": (put("answers", {}), "must be a list"),
    "answers that are numbers": (put("answers", [1]), "exactly the fields"),
    "too many answers": (put("answers", [0] * (packets.MOST_ANSWERS * 2 + 1)), "at most"),
    "a newer format": (put("format", 2), "newer version"),
    "format true": (put("format", True), "no number"),
}


@pytest.mark.parametrize("kind", BAD_RESULTS)
def test_a_bad_result_is_refused(kind: str) -> None:
    change, reason = BAD_RESULTS[kind]
    data = changed(change)
    if kind == "half a character":  # which no writer lets through
        data = archive(
            {
                n: d.replace(b"@@", b"\\ud800")
                for n, d in unpack(data, "x", (PACKET, RESULT)).items()
            }
        )
    with pytest.raises(PacketError, match=reason) as raised:
        parse(data, "x.swagpacket")
    assert str(raised.value).startswith("x.swagpacket, result.json is refused: ")


BAD_PACKETS = {
    "no items": (put("items", []), "no items"),
    "two items with one id": (put("items", 1, "id", A), "two with one id"),
    "an id that is a path": (put("items", 0, "id", "../" + "a" * 29), "an id that is none"),
    "a packet id that is none": (put("id", "x"), "an id that is none"),
    "one ending": (put("items", 1, "endings", ["x"]), "item 2 has fewer than two"),
    "seven endings": (put("items", 0, "endings", ["x"] * 7), "at most 6"),
    "an ending that is none": (put("items", 0, "endings", 0, 1), "must be text"),
    "an ending without end": (put("items", 0, "endings", 0, "x" * 20_001), "must be text"),
    "a field that tells": (put("items", 0, "found", 0), "exactly the fields"),
    "something else": (put("kind", "SWAG Studio project"), "something else"),
    "a newer one": (put("format", 99), "newer version"),
    "an annotator that is a text": (put("annotator", "Anna"), "exactly the fields"),
    "too many items": (put("items", [0] * (packets.MOST_ITEMS + 1)), "at most"),
}


@pytest.mark.parametrize("kind", BAD_PACKETS)
def test_a_bad_packet_is_refused(kind: str) -> None:
    change, reason = BAD_PACKETS[kind]
    with pytest.raises(PacketError, match=reason):
        parse(changed(change, PACKET), "x.swagpacket")


def test_a_result_of_a_changed_packet_is_refused() -> None:
    with pytest.raises(PacketError, match="the packet was changed"):
        parse(changed(put("items", 0, "endings", 0, "another"), PACKET), "x")


def test_as_many_answers_and_words_as_are_allowed_are_taken() -> None:
    """20 of each of two items; one more is refused above."""
    long = "x" * packets.MOST_TEXT
    answers = (replace(ANSWER, comment=long, seconds=packets.MOST_SECONDS),) * 20
    most = Result((*answers, *(replace(a, item=B) for a in answers)))
    assert parse(file_bytes(HERE, most), "x").result == most


def test_a_result_alone_is_no_packet() -> None:
    entries = unpack(file_bytes(HERE, DONE), "x", (PACKET, RESULT))
    with pytest.raises(PacketError, match="it has no packet"):
        parse(archive({RESULT: entries[RESULT]}), "x")


@given(st.binary(max_size=80), st.sampled_from([PACKET, RESULT]))
def test_any_bytes_as_json_are_refused(data: bytes, file: str) -> None:
    entries = unpack(file_bytes(HERE, DONE), "x", (PACKET, RESULT))
    with pytest.raises(PacketError):
        parse(archive({**entries, file: data}), "x")


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
shapes = st.recursive(
    scalars,
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=3),
    max_leaves=5,
)


@given(shapes, st.data())
@settings(max_examples=60)
def test_any_value_in_any_place_is_taken_or_refused(value: Any, data: st.DataObject) -> None:
    """Nothing but PacketError comes of it, and what is taken can be written again."""
    file = data.draw(st.sampled_from([PACKET, RESULT]))
    way: list[Any] = []
    at = json.loads(unpack(file_bytes(HERE, DONE), "x", (PACKET, RESULT))[file])
    while isinstance(at, dict | list) and at and (not way or data.draw(st.booleans())):
        way.append(
            data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        )
        at = at[way[-1]]
    try:
        changed_file = changed(put(*way, value), file)
    except (ValueError, UnicodeEncodeError):  # halves of characters, infinity
        return
    try:
        found = parse(changed_file, "x")
    except PacketError:
        return
    assert parse(file_bytes(found.packet, found.result), "x").packet == found.packet


def test_it_is_read_from_a_file_and_keeps_its_name(tmp_path: Path) -> None:
    path = tmp_path / "Anna.swagpacket"
    path.write_bytes(file_bytes(HERE))
    sha256 = packets.checksum(packets.packet_bytes(HERE))
    assert read(path) == PacketFile("Anna.swagpacket", HERE, sha256)
