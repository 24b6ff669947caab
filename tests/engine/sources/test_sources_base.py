"""Reading text strictly, whatever the bytes are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.registry import SOURCES
from swag_studio.engine.sources import base
from swag_studio.engine.sources.base import Items, Source
from swag_studio.errors import SourceError

Written = Callable[[str | bytes], Path]


class Plain(Source):
    """A source of nothing, to read text through."""

    @staticmethod
    def sniff(path: Path) -> bool:
        return False

    def read(self) -> Items:
        yield from self.notes()


def refusal(source: Source) -> SourceError:
    with pytest.raises(SourceError) as caught:
        list(source.lines())
    return caught.value


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_lines_put_together_are_the_text(written: Written, text: str) -> None:
    source = Plain(written(text))
    lines = list(source.lines())
    assert "".join(line for _, line in lines) == text.removeprefix("\ufeff")
    assert [number for number, _ in lines] == list(range(1, len(lines) + 1))
    assert all("\n" not in line[:-1] for _, line in lines)
    assert source.digests == {hashlib.sha256(text.encode()).hexdigest()}
    assert source.bytes_read == len(text.encode())


@pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
def test_pieces_may_cut_characters_and_lines(
    written: Written, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(base, "CHUNK", chunk)
    source = Plain(written("\ufeffñandú\r\n\n日本語"))
    assert list(source.lines()) == [(1, "ñandú\r\n"), (2, "\n"), (3, "日本語")]
    assert [note.reason for note in source.read() if note] == [
        "byte_order_mark",
        "no_final_newline",
    ]


@pytest.mark.parametrize("chunk", [1, 2, 1000])
@pytest.mark.parametrize(
    ("contents", "place"),
    [
        (b"one\ntw\xe9o\n", "line 2, byte 6"),  # Latin-1
        (b"one\ntwo \xc3", "line 2, byte 8"),  # cut within a character
        ("one".encode("utf-16"), "line 1, byte 0"),
        (b"\xed\xa0\x80", "line 1, byte 0"),  # a surrogate in UTF-8
    ],
)
def test_other_encodings_are_refused_with_the_place(
    written: Written, monkeypatch: pytest.MonkeyPatch, contents: bytes, place: str, chunk: int
) -> None:
    monkeypatch.setattr(base, "CHUNK", chunk)
    error = refusal(Plain(written(contents)))
    assert (error.place, error.reason) == (place, "not text in UTF-8")


def test_a_nul_byte_is_refused(written: Written) -> None:
    assert refusal(Plain(written("one\ntwo\nthr\0ee\n"))).place == "line 3"


def test_a_line_without_end_is_refused(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MAX_LINE", 100)
    monkeypatch.setattr(base, "CHUNK", 10)
    assert refusal(Plain(written("short\n" + "x" * 111))).place == "line 2"


@pytest.mark.parametrize("name", list(SOURCES))
def test_what_is_no_file_with_contents_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    for path, reason in [
        (tmp_path, "a folder, not a file"),
        (tmp_path / "none", "there is no such file"),
        (tmp_path / "empty", "empty"),
        (tmp_path / "pipe", "not a regular file"),
    ]:
        with pytest.raises(SourceError, match=reason):
            SOURCES[name].sniff(path)
        with pytest.raises(SourceError, match=reason):
            list(SOURCES[name](path).read())


@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_are_read_or_refused(written: Written, data: bytes) -> None:
    path = written(data)
    for name in SOURCES:
        part = SOURCES[name]
        for call in (part.sniff, lambda file, part=part: list(part(file).read())):
            try:
                call(path)
            except SourceError as error:
                assert str(error).startswith(str(path))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A man waves.", ""),
        ("\tUn hombre\n", ""),
        ("", "empty_sentence"),
        (" \u3000\n", "empty_sentence"),
        ("a\x1bb", "control_character"),
        ("a\udc80b", "lone_surrogate"),
        ("x" * 10_000, ""),
        ("x" * 10_001, "sentence_too_long"),
    ],
)
def test_unusable_text(text: str, reason: str) -> None:
    assert base.unusable(text) == reason
    assert reason == "" or reason in base.REASONS


@given(st.text())
def test_text_that_is_used_can_be_stored(text: str) -> None:
    if not base.unusable(text):
        assert "\0" not in text
        text.encode("utf-8")  # raises on half a character


@pytest.mark.parametrize("value", [True, "1", None, [], -1, -0.001, float("nan"), float("inf")])
def test_not_seconds(value: object) -> None:
    with pytest.raises(ValueError):
        base.seconds(value)


@pytest.mark.parametrize("value", [0, 1.5, 999_999_999, -0.0])
def test_seconds(value: float) -> None:
    assert base.seconds(value) == value


@pytest.mark.parametrize("value", ["", " ", None, True, 1.0, "a\nb", "a\0", "\ud800", "x" * 1001])
def test_not_an_identifier(value: object) -> None:
    with pytest.raises(ValueError):
        base.identifier(value)


def test_an_identifier_is_stripped_and_may_be_a_number() -> None:
    assert (base.identifier(" v 1 "), base.identifier(7)) == ("v 1", "7")


def test_names_are_shown_short_and_plain() -> None:
    assert base.shown("v\x1b[2J\n") == "v?[2J?"
    assert base.shown("x" * 61) == "x" * 60 + "..."
