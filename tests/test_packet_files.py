"""Archives from elsewhere: the same bytes for the same files, and every hostile one refused."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swag_studio import packet_files
from swag_studio.errors import PacketError
from swag_studio.packet_files import archive, from_json, load, to_json, unpack

ALLOWED = ("a.json", "b.json")


def zipped(
    *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_STORED
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as target:
        for name, data in entries:
            target.writestr(name, data)
    return buffer.getvalue()


def named(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def patched(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


def flagged(data: bytes, flag: int) -> bytes:
    """With a general purpose flag set in the directory."""
    at = data.rindex(b"PK\x01\x02") + 8
    return data[:at] + flag.to_bytes(2, "little") + data[at + 2 :]


def claiming(data: bytes, size: int) -> bytes:
    """With another unpacked size in the directory."""
    at = data.rindex(b"PK\x01\x02") + 24
    return data[:at] + size.to_bytes(4, "little") + data[at + 4 :]


def counting(data: bytes, count: int) -> bytes:
    """With another number of entries at the end."""
    at = len(data) - 22 + 8
    return data[:at] + count.to_bytes(2, "little") * 2 + data[at + 4 :]


GOOD = zipped(("a.json", b"{}"))
BOMB = zipped(("a.json", b" " * (packet_files.MOST_ENTRY + 1)), method=zipfile.ZIP_DEFLATED)

HOSTILE = {
    "nothing": (b"", "damaged"),
    "no zip": (b"MZ" + b"\0" * 500, "damaged"),
    "cut": (GOOD[:-1], "damaged"),
    "cut at the front": (GOOD[1:], "directory"),
    "something before": (b"#!/bin/sh\n" + GOOD, "directory"),
    "something behind": (GOOD + b"x", "damaged"),
    "a comment": (GOOD[:-2] + b"\x01\x00x", "damaged"),
    "a thousand entries": (counting(GOOD, 1000), "more in it"),
    "one entry too many": (zipped(*((n, b"") for n in ("a.json", "b.json", "c"))), "more in it"),
    "one entry claimed too many": (counting(GOOD, 2), "damaged"),
    "a second directory": (
        GOOD[:-22] + b"PK\x06\x07" + b"\0" * 16 + GOOD[-22:-10] + b"\x48" + GOOD[-9:],
        "directory",
    ),
    "absolute": (zipped(("/a.json", b"{}")), "absolute"),
    "a drive": (zipped(("C:a.json", b"{}")), "absolute"),
    "a share": (patched(GOOD, b"a.json", b"\\\\json"), "absolute"),
    "upwards": (zipped(("../a.json", b"{}")), "leads out"),
    "upwards inside": (zipped(("b/../../a.json", b"{}")), "leads out"),
    "upwards by backslash": (patched(GOOD, b"a.json", b"..\\a.j"), "leads out"),
    "NUL in a name": (patched(GOOD, b"a.json", b"a.j\0xx"), "no work packet has"),
    "a folder": (zipped(("a.json/", b"")), "folder"),
    "a link": (zipped((named("a.json", stat.S_IFLNK | 0o777), b"/etc/passwd")), "link"),
    "a device": (zipped((named("a.json", stat.S_IFCHR | 0o600), b"")), "link"),
    "another file": (zipped(("run.py", b"print()")), "no work packet has"),
    "another case": (zipped(("A.JSON", b"{}")), "no work packet has"),
    "encrypted": (flagged(GOOD, 0x1), "encrypted"),
    "bzip2": (zipped(("a.json", b"{}"), method=zipfile.ZIP_BZIP2), "unusual"),
    "lzma": (zipped(("a.json", b"{}"), method=zipfile.ZIP_LZMA), "unusual"),
    "a bomb": (BOMB, "unpacks to more"),
    "a bomb that claims to be small": (claiming(BOMB, 2), "damaged"),
    "more claimed than there is": (claiming(GOOD, 20), "damaged"),
    "wrong content": (patched(GOOD, b"{}", b"[]"), "damaged"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused_in_one_sentence(kind: str) -> None:
    data, reason = HOSTILE[kind]
    with pytest.raises(PacketError, match=reason) as raised:
        unpack(data, "x.swagpacket", ALLOWED)
    text = str(raised.value)
    assert text.startswith("x.swagpacket is refused: ") and "\n" not in text


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        data = zipped(("a.json", b"{}"), ("a.json", b"[]"))
    with pytest.raises(PacketError, match="two files of one name"):
        unpack(data, "x", ALLOWED)


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda b: GOOD + b))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        unpack(data, "x", ALLOWED)
    except PacketError:
        return
    assert data == GOOD


@example(GOOD.rindex(b"a.json"), 0)  # a name of no letters
@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255))
def test_any_changed_byte_is_refused_or_changes_nothing(place: int, byte: int) -> None:
    data = bytearray(GOOD)
    data[place] = byte
    try:
        assert unpack(bytes(data), "x", ALLOWED) in ({"a.json": b"{}"}, {"b.json": b"{}"})
    except PacketError as error:
        assert str(error).startswith("x is refused: ")


def test_deflated_is_read_as_well() -> None:
    data = zipped(("a.json", b"{}" * 1000), method=zipfile.ZIP_DEFLATED)
    assert unpack(data, "x", ALLOWED) == {"a.json": b"{}" * 1000}


@given(st.dictionaries(st.sampled_from(ALLOWED), st.binary(max_size=99), min_size=1))
def test_an_archive_comes_back_and_its_bytes_depend_on_its_files_alone(
    entries: dict[str, bytes],
) -> None:
    data = archive(entries)
    assert unpack(data, "x", ALLOWED) == entries
    assert archive(dict(reversed(entries.items()))) == data


def test_only_a_file_of_bearable_size_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.swagpacket"
    for make in (lambda: None, path.mkdir):
        make()
        with pytest.raises(PacketError):
            load(path)
    path.rmdir()
    path.write_bytes(b"12345")
    assert load(path) == b"12345"
    monkeypatch.setattr(packet_files, "MOST_ARCHIVE", 4)
    with pytest.raises(PacketError, match="larger than"):
        load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.swagpacket")
    with pytest.raises(PacketError, match="not a file"):
        load(tmp_path / "x.swagpacket")


# --- JSON ------------------------------------------------------------------------------------

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # "Cs" are halves of a pair, which are no text.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=8,
)


@given(values)
def test_json_comes_back(value: object) -> None:
    assert from_json(to_json(value), "x") == value


HOSTILE_JSON: dict[str, tuple[bytes, str]] = {
    "no UTF-8": (b'"\xff"', "UTF-8"),
    "a mark of the byte order": (b"\xef\xbb\xbf{}", "not JSON"),
    "UTF-16": ("{}".encode("utf-16-le"), "not JSON"),
    "halves encoded": (b'"\xed\xa0\x80"', "UTF-8"),
    "no JSON": (b"import os", "not JSON"),
    "two values": (b"{} {}", "not JSON"),
    "a field twice": (b'{"a": 1, "b": {"c": 1, "c": 1}}', "field twice"),
    "NaN": (b'{"a": NaN}', "not JSON"),
    "infinity": (b"[-Infinity]", "not JSON"),
    "a number without end": (b"9" * 100_000, "not JSON"),
    "a bottomless list": (b"[" * 200_000, "nested too deeply"),
    "a bottomless object": (b'{"a":' * 200_000, "nested too deeply"),
    "a deep list": (b"[" * 50 + b"]" * 50, "nested too deeply"),
    "a control character": (b'"a\x00b"', "not JSON"),
}


@pytest.mark.parametrize("kind", HOSTILE_JSON)
def test_hostile_json_is_refused(kind: str) -> None:
    data, reason = HOSTILE_JSON[kind]
    with pytest.raises(PacketError, match=reason):
        from_json(data, "x")


def deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_nesting_is_allowed_to_its_bound() -> None:
    check: Callable[[bytes], object] = lambda data: from_json(data, "x")  # noqa: E731
    check(deep(packet_files.MOST_NESTING))
    with pytest.raises(PacketError):
        check(deep(packet_files.MOST_NESTING + 1))
