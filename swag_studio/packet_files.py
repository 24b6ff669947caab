"""Archives that come from elsewhere: a zip with a few named JSON files, and nothing else.

Whatever the bytes are, reading ends soon, within bounded memory, with the files or with one
sentence that says why not. Nothing is unpacked to the disk. It knows nothing of what is in the
JSON. Equal contents give equal bytes on every machine: names sorted, times fixed, stored as they
are (what deflate makes depends on the library's version).
"""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from swag_studio.errors import PacketError
from swag_studio.nesting import json_nests_deeper

MOST_ARCHIVE = 40 * 2**20  # bytes of a file that is looked at
MOST_ENTRY = 16 * 2**20  # bytes of one entry, unpacked; as JSON in memory up to 20 times that
MOST_DIRECTORY = 1024  # bytes that the directory has for an entry
MOST_NESTING = 16  # of lists and objects in each other

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that a zip can hold
_REGULAR = (stat.S_IFREG | 0o644) << 16
_UNIX = 3
_END = struct.Struct("<4s4H2LH")  # the end-of-directory record
_ZIP64 = struct.Struct("<4sLQL")  # what stands before it where a zip is a large one
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def refuse(name: str, reason: str, remedy: str = "Ask for the file again.") -> NoReturn:
    """Raises PacketError: which file, why, what to do."""
    raise PacketError(f"{name} is refused: {reason}. {remedy}")


# --- the archive -------------------------------------------------------------------------------


def archive(entries: Mapping[str, bytes]) -> bytes:
    """A zip with these files; the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as target:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = _UNIX, _REGULAR
            target.writestr(info, entries[name])
    return buffer.getvalue()


def load(path: Path) -> bytes:
    """The bytes of a regular file of bearable size. Raises PacketError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            refuse(path.name, "it is not a file")
        with path.open("rb") as file:
            data = file.read(MOST_ARCHIVE + 1)
    except OSError as error:
        raise PacketError(f"{path} cannot be read ({error.strerror or error}).") from None
    if len(data) > MOST_ARCHIVE:
        refuse(path.name, f"it is larger than {MOST_ARCHIVE >> 20} MiB")
    return data


def unpack(data: bytes, name: str, allowed: Collection[str]) -> dict[str, bytes]:
    """The files of a zip, all of them among `allowed`. `name` is what errors call the archive."""
    count = _check_directory(data, name, len(allowed))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as source:
            infos = source.infolist()
            if len(infos) != count:
                refuse(name, "its directory is damaged")
            _check_entries(infos, name, allowed)
            return {info.filename: _content(source, info, name) for info in infos}
    except _DAMAGE:
        refuse(name, "it is damaged, or not a work packet")


def _check_directory(data: bytes, name: str, most: int) -> int:
    """How many entries there are: few, before zipfile makes objects of them.

    The directory ends the file, and is the only one: a zip64 would have another before it.
    """
    end = data[-_END.size :]
    if len(end) < _END.size or not end.startswith(b"PK\x05\x06"):
        refuse(name, "it is damaged, or not a work packet")
    _, disk, first, here, count, size, offset, comment = _END.unpack(end)
    if here != count or disk or first or comment:
        refuse(name, "it is damaged, or not a work packet")
    if count > most:
        refuse(name, "it has more in it than a work packet has")
    before = data[-_END.size - _ZIP64.size : -_END.size]
    bound = size <= most * MOST_DIRECTORY and offset + size + _END.size == len(data)
    if not bound or before.startswith(b"PK\x06\x07"):
        refuse(name, "its directory is damaged")
    return int(count)


def _check_entries(infos: list[zipfile.ZipInfo], name: str, allowed: Collection[str]) -> None:
    for info in infos:
        path, mode = info.orig_filename, info.external_attr >> 16
        if not info.filename:  # "" or cut at a NUL; ZipInfo.is_dir fails on it
            refuse(name, "it has a file without a name in it")
        if path.startswith(("/", "\\")) or path[1:2] == ":":
            refuse(name, "it has an absolute path in it")
        if ".." in path.replace("\\", "/").split("/"):
            refuse(name, "it has a path in it that leads out of it")
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG) or info.is_dir():
            refuse(name, "it has a link or a folder in it")
        if path not in allowed:
            refuse(name, "it has a file in it that no work packet has")
        if info.flag_bits & 0x1:
            refuse(name, "it is encrypted")
        if info.compress_type not in _METHODS:
            refuse(name, "it is compressed in an unusual way")
        if info.file_size > MOST_ENTRY:
            refuse(name, f"it unpacks to more than {MOST_ENTRY >> 20} MiB")
    if len({info.filename for info in infos}) < len(infos):
        refuse(name, "it has two files of one name in it")


def _content(source: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> bytes:
    """Reads what really comes, whatever the directory claims."""
    with source.open(info) as file:
        data = file.read(MOST_ENTRY + 1)
    if len(data) > MOST_ENTRY:
        refuse(name, f"it unpacks to more than {MOST_ENTRY >> 20} MiB")
    if len(data) != info.file_size:
        refuse(name, "it is damaged")
    return data


# --- JSON --------------------------------------------------------------------------------------


def to_json(value: Any) -> bytes:
    """Sorted keys, UTF-8: equal values give equal bytes. Raises ValueError for lone surrogates."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")


def from_json(data: bytes, name: str) -> Any:
    """The value of strict JSON: UTF-8, no key twice, no NaN, no number or nesting without end."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        refuse(name, "it is not text in UTF-8")
    if json_nests_deeper(text, MOST_NESTING):
        refuse(name, "it is nested too deeply")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except _TwiceError:
        refuse(name, "it has a field twice")
    except ValueError:
        refuse(name, "it is not JSON")


class _TwiceError(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _TwiceError
    return fields


def _no_constant(text: str) -> NoReturn:
    raise ValueError(text)
