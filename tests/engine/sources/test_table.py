"""Captions as CSV, TSV and JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.registry import SOURCES
from swag_studio.engine.sources.table import Csv, role_of
from swag_studio.errors import SourceError
from swag_studio.records import Caption, LeftOut

Written = Callable[[str | bytes], Path]
FORMATS = ("csv", "tsv", "jsonl")
HEADER = ["document", "sentence", "start", "end", "group"]

# A TSV value holds neither tab nor line end; a lone carriage return ends no line anywhere.
texts = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1).map("A ".__add__)
documents = st.sampled_from(["a", "b", "ñ 1"])
# 2 ** -6 and its multiples are exact in decimals
seconds = st.integers(0, 1_000).map(lambda n: n / 64)


@st.composite
def rows(draw: st.DrawFn) -> list[list[Any]]:
    found = []
    for _ in range(draw(st.integers(1, 8))):
        document, start = draw(documents), draw(seconds)
        found.append([document, draw(texts), start, start + draw(seconds), f"group of {document}"])
    return found


def encoded(name: str, values: list[list[Any]], header: list[str] = HEADER) -> str:
    if name == "jsonl":
        return "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in values)
    if name == "tsv":
        return "".join("\t".join(map(str, row)) + "\n" for row in [header, *values])
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *values])
    return out.getvalue()


def read(name: str, path: Path) -> list[Caption | LeftOut]:
    return [i for i in SOURCES[name](path).read() if isinstance(i, Caption | LeftOut)]


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40)
@given(rows())
def test_what_was_written_is_read(written: Written, name: str, values: list[list[Any]]) -> None:
    path = written(encoded(name, values))
    assert SOURCES[name].sniff(path)
    expected = set()
    for document in {row[0] for row in values}:
        own = sorted((row for row in values if row[0] == document), key=lambda row: row[2])
        expected |= {
            Caption(document, row[4], document, i, row[1], row[2], row[3])
            for i, row in enumerate(own)
        }
    items = read(name, path)
    assert len(items) == len(values)
    assert set(items) == expected


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40)
@given(rows(), st.data())
def test_a_file_that_is_cut_off_is_refused_or_reported(
    written: Written, name: str, values: list[list[Any]], draw: st.DataObject
) -> None:
    """Only a cut at a line's end can't be told from a whole file."""
    whole = encoded(name, values).encode()
    cut = whole[: draw.draw(st.integers(1, len(whole) - 1))]
    try:
        items = read(name, written(cut))
    except SourceError:
        return
    reported = [item.reason for item in items if isinstance(item, LeftOut)]
    assert reported[-1:] == (["no_final_newline"] if not cut.endswith(b"\n") else [])


def test_csv_holds_commas_quotes_and_line_ends(written: Written) -> None:
    text = 'document,sentence\r\na,"One, ""two""\nthree"\r\n\r\nb,"4"\r\n'
    (first, second) = read("csv", written(text))
    assert isinstance(first, Caption) and isinstance(second, Caption)
    assert (first.text, second.text) == ('One, "two"\nthree', "4")
    assert (first.start, first.group) == (None, "a")


def test_tsv_quotes_are_literal(written: Written) -> None:
    (caption,) = read("tsv", written('document\tsentence\na\t"One" said.\n'))
    assert isinstance(caption, Caption)
    assert caption.text == '"One" said.'


@pytest.mark.parametrize("name", FORMATS)
def test_other_names_order_and_unused_columns(written: Written, name: str) -> None:
    header = ["Start Time", "speaker", "TEXT", "video-id"]
    path = written(encoded(name, [[3, "Ann", "A man waves.", 12]], header))
    assert SOURCES[name].sniff(path)
    assert read(name, path) == [
        Caption("12", "12", "12", 0, "A man waves.", 3.0, None),
        LeftOut("", 0, "column_not_used", "speaker"),
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_empty_values_are_absent(written: Written, name: str) -> None:
    path = written(encoded(name, [["a", "One.", "", " ", ""], ["a", " ", "2", "3", ""]]))
    if name == "jsonl":
        path = written('{"document": "a", "sentence": "One.", "start": null}\n\n')
        assert read(name, path) == [Caption("a", "a", "a", 0, "One.")]
    else:
        assert read(name, path) == [
            Caption("a", "a", "a", 0, "One."),
            LeftOut("a", 1, "empty_sentence", "line 3"),
        ]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("header", "row", "reason"),
    [
        (["document", "start"], ["a", 1], "no sentence"),
        (["sentence", "x"], ["a", 1], "no document"),
        (["document", "sentence", "doc"], ["a", "b", "c"], "two names for the document"),
        (["document", "sentence"], ["", "b"], "its document is empty"),
        (["document", "sentence", "start"], ["a", "b", -1], "its start is not a number"),
        (["document", "sentence", "start"], ["a", "b", "nan"], "its start is not a number"),
        (["document", "sentence", "end"], ["a", "b", "1:20"], "its end is not a number"),
        (["document", "sentence", "group"], ["a", "b", "x" * 1001], "its group is longer"),
    ],
)
def test_refusals(
    written: Written, name: str, header: list[str], row: list[Any], reason: str
) -> None:
    with pytest.raises(SourceError, match=reason) as caught:
        read(name, written(encoded(name, [row], header)))
    assert caught.value.place.startswith("line ")


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("document,sentence\na,b\n\na\n", "line 4", "1 fields where the header has 2"),
        ("document,sentence\na,b,c\n", "line 2", "3 fields where the header has 2"),
        ('document,sentence\na,"b\n', "line 2", "not well formed"),
        ('document,sentence\na,"b"c\n', "line 2", "not well formed"),
        ("document,sentence\ra,b\r", "line 1", "not well formed"),
        ("document,sentence\na," + "b" * 200_000 + "\n", "line 2", "not well formed"),
    ],
)
def test_csv_refusals(written: Written, text: str, place: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason) as caught:
        list(Csv(written(text)).read())
    assert caught.value.place == place


def test_jsonl_refusals(written: Written) -> None:
    for line, reason in [
        ('{"document": "a", "sentence": 1}', "its sentence is not text"),
        ('{"document": "a", "sentence": null}', "its sentence is not text"),
        ('{"document": true, "sentence": "b"}', "its document is neither"),
        ('["a", "b"]', "not a JSON object"),
    ]:
        with pytest.raises(SourceError, match=reason):
            read("jsonl", written(line + "\n"))


def test_roles() -> None:
    assert [role_of(name) for name in (" Video-ID ", "caption", "End  Time", "speaker", "")] == [
        "document",
        "sentence",
        "end",
        "",
        "",
    ]
