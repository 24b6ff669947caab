"""Nesting that is counted ahead of a decoder is the nesting of what it decodes."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from swag_studio.nesting import json_nests_deeper, toml_nests_deeper

texts = st.text(st.sampled_from("[]{}\"\\'#,: \n\ta"), max_size=8)
values = st.recursive(
    st.integers() | st.none() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)
tokens = st.lists(st.sampled_from(["[", "]", "{", "}", '"', '"a":', "\\", ",", "1", " "]))


def depth_of(value: Any) -> int:
    """By the definition, on the decoded value."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(
    values, st.integers(0, 6), st.sampled_from([None, 1]), st.sampled_from(["", "[[[[[[[[", " x"])
)
def test_depth_of_json(value: Any, most: int, indent: int | None, rest: str) -> None:
    text = json.dumps(value, indent=indent)
    if isinstance(value, dict | list | str):
        text += rest  # another value's: not looked at
    assert json_nests_deeper(text, most) == (depth_of(value) > most)
    assert json_nests_deeper('[[{"' + text, most, start=4) == (depth_of(value) > most)


@given(tokens.map("".join))
@example('{"a": "[[[[[[')
@example("[" * 100_000)
def test_what_is_not_too_deep_is_decoded_or_refused(text: str) -> None:
    """A decoder never goes deeper than was said, also in a text with a mistake."""
    deepest = next(
        most for most in range(len(text) + 1) if most > 99 or not json_nests_deeper(text, most)
    )
    if deepest > 99:
        return
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return
    assert depth_of(value) <= deepest


def toml_of(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml_of(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", # ]]\n".join(map(toml_of, value)) + "]"
    if isinstance(value, str) and not {"'", "\n", "\t"} & set(value):
        return f"'{value}'"
    return json.dumps(0 if value is None else value)


@given(
    values,
    st.integers(0, 6),
    st.sampled_from(["", "# [[[ it's\n", 'y = """[["[\\"""" # {{\n', "z = '''[['['''\n"]),
)
def test_depth_of_toml(value: Any, most: int, before: str) -> None:
    text = f"{before}x = {toml_of(value)}\n"
    try:
        decoded = tomllib.loads(text)["x"]
    except tomllib.TOMLDecodeError:  # a comment in an inline table, an integer of too many bits
        return
    assert toml_nests_deeper(text, most) == (depth_of(decoded) > most)


def test_tables_are_not_nesting() -> None:
    assert not toml_nests_deeper("[a]\nx = [1, 2]\n[[b]]\ny = 1\n" * 20, 2)
