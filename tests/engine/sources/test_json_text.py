"""JSON a member at a time gives what json.loads gives, and refuses what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.sources import base, json_text
from swag_studio.engine.sources.activitynet import ActivityNet
from swag_studio.engine.sources.json_text import members, object_of
from swag_studio.errors import SourceError

Written = Callable[[str | bytes], Path]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def member_list(path: Path) -> list[tuple[str, Any]]:
    return list(members(ActivityNet(path)))


@settings(max_examples=40)
@given(st.dictionaries(st.text(), values), st.sampled_from([None, 0, 2]), st.integers(1, 9))
def test_members_are_those_of_json(
    written: Written, value: dict[str, Any], indent: int | None, chunk: int
) -> None:
    path = written(json.dumps(value, indent=indent))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "CHUNK", chunk)
        assert dict(member_list(path)) == value


@settings(max_examples=40)
@given(st.dictionaries(st.text(), values, min_size=1), st.data())
def test_every_prefix_is_refused(
    written: Written, value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(SourceError):
        member_list(written(text[:end]))


@given(st.text(st.sampled_from('{}[]":,\\ 1ae\n'), min_size=1, max_size=20))
def test_what_json_refuses_is_refused(written: Written, text: str) -> None:
    path = written('{"a": ' + text)
    try:
        pairs = json.loads('{"a": ' + text, object_pairs_hook=lambda pairs: pairs)
    except ValueError:
        with pytest.raises(SourceError):
            member_list(path)
    else:
        try:
            assert [key for key, _ in member_list(path)] == [key for key, _ in pairs]
        except SourceError as error:
            assert "twice" in error.reason  # of a key inside a value


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("[]", "line 1", "not a JSON object"),
        (" \n ", "line 2", "not a JSON object"),
        ('{"a":\n1,\n"b" 2}', "line 3", "a colon is missing"),
        ('{"a": 1,}', "line 1", "a key is missing"),
        ('{"a": 1\n"b": 2}', "line 2", "a comma or the object's end is missing"),
        ('{"a": 1}\n\n{}', "line 3", "more follows after the object's end"),
        ('{"a":\n{"b": 1, "b": 2}}', "line 2", "the key b stands there twice"),
        ('{"a": ' + "[" * 100_000, "line 1", "nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}", "line 1", "a number of too many digits"),
        ('{"a": "\n"}', "line 1", "not valid JSON (Invalid control character at)"),
    ],
)
def test_refusals_name_line_and_reason(
    written: Written, text: str, place: str, reason: str
) -> None:
    with pytest.raises(SourceError) as caught:
        member_list(written(text))
    assert (caught.value.place, caught.value.reason) == (place, reason)


def test_a_value_without_end_is_not_read_to_the_files_end(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_text, "MAX_LINE", 1_000)
    monkeypatch.setattr(base, "CHUNK", 100)
    source = ActivityNet(written('{"a": "' + "x" * 100_000))
    with pytest.raises(SourceError):
        list(members(source))
    assert source.bytes_read < 5_000


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "not a JSON object"),
        ('{"a": 1} {}', "not valid JSON (Extra data)"),
        ('{"a": 1, "a": 1}', "the key a stands there twice"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5_000, "a number of too many digits"),
    ],
)
def test_one_object_a_line(written: Written, line: str, reason: str) -> None:
    source = ActivityNet(written("x"))
    assert object_of(source, 1, '{"a": [1, null]}\n') == {"a": [1, None]}
    with pytest.raises(SourceError) as caught:
        object_of(source, 7, line)
    assert (caught.value.place, caught.value.reason) == ("line 7", reason)
