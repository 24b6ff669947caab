"""Candidates of another generator."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.sources.own import OwnCandidates
from swag_studio.errors import SourceError
from swag_studio.records import LeftOut, OwnContext, folded

Written = Callable[[str | bytes], Path]
CONTEXT: dict[str, Any] = {
    "id": "c1",
    "sent1": "Ein Mann kommt herein.",
    "sent2": "Er",
    "found": "setzt sich hin.",
    "endings": ["steht auf.", "geht."],
}

texts = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)


def lines(*values: dict[str, Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def read(path: Path) -> list[OwnContext | LeftOut]:
    return [i for i in OwnCandidates(path).read() if isinstance(i, OwnContext | LeftOut)]


def test_a_line(written: Written) -> None:
    path = written(
        lines({**CONTEXT, "sent1": " 彼は\n笑う。 "}, {**CONTEXT, "id": 2, "group": "g"})
    )
    assert OwnCandidates.sniff(path)
    rest = (CONTEXT["sent2"], CONTEXT["found"], tuple(CONTEXT["endings"]))
    assert read(path) == [
        OwnContext("c1", "c1", "彼は\n笑う。", *rest),
        OwnContext("2", "g", CONTEXT["sent1"], *rest),
    ]


def test_equal_endings_are_left_out(written: Written) -> None:
    """Equal after NFKC, case and space: the ligature "ﬁ" is "fi"."""
    endings = ["Setzt  sich hin.", "ﬁlmt ihn.", "geht.", "FILMT IHN.", "Geht. "]
    assert read(written(lines({**CONTEXT, "endings": endings}))) == [
        LeftOut("c1", 0, "equals_found", "line 1, ending 1"),
        LeftOut("c1", 3, "duplicate_ending", "line 1, ending 4"),
        LeftOut("c1", 4, "duplicate_ending", "line 1, ending 5"),
        OwnContext("c1", "c1", CONTEXT["sent1"], "Er", CONTEXT["found"], ("ﬁlmt ihn.", "geht.")),
    ]


def test_a_context_without_other_endings_is_left_out(written: Written) -> None:
    items = read(written(lines({**CONTEXT, "endings": [CONTEXT["found"]]})))
    assert [item.reason for item in items if isinstance(item, LeftOut)] == [
        "equals_found",
        "no_endings",
    ]
    assert len(items) == 2


@settings(max_examples=40)
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=6)), max_size=4))
def test_endings_are_kept_once_and_in_order(
    written: Written, contexts: list[tuple[str, list[str]]]
) -> None:
    data = [
        {**CONTEXT, "id": str(i), "found": found, "endings": endings}
        for i, (found, endings) in enumerate(contexts)
    ]
    items = read(written(lines(*data) or "\n"))
    kept = {i.document: list(i.endings) for i in items if isinstance(i, OwnContext)}
    for i, (found, endings) in enumerate(contexts):
        expected = [
            ending
            for j, ending in enumerate(endings)
            if folded(ending) not in {folded(other) for other in [found, *endings[:j]]}
        ]
        assert kept.get(str(i), []) == expected
    total = sum(len(endings) for _, endings in contexts)
    dropped = [i for i in items if isinstance(i, LeftOut) and i.reason != "no_endings"]
    assert sum(map(len, kept.values())) + len(dropped) == total


@pytest.mark.parametrize(
    ("change", "place", "reason"),
    [
        ({"id": ""}, "line 2", "its id or group is empty"),
        ({"id": None}, "line 2", "its id or group is neither"),
        ({"group": []}, "line 2", "its id or group is neither"),
        ({"sent1": " "}, "line 2, sent1", "empty"),
        ({"sent2": ""}, "line 2, sent2", "empty"),
        ({"found": 3}, "line 2, found", "not text"),
        ({"found": "a\0"}, "line 2, found", "control character"),
        ({"found": "\udfff"}, "line 2, found", "half of a character"),
        ({"found": "x" * 10_001}, "line 2, found", "longer than 10,000 characters"),
        ({"endings": []}, "line 2", "endings is not a list of 1 to 65,000 texts"),
        ({"endings": "geht."}, "line 2", "endings is not a list"),
        ({"endings": ["geht.", None]}, "line 2, ending 2", "not text"),
        ({"endings": ["geht.", ""]}, "line 2, ending 2", "empty"),
        ({"id": "c0"}, "line 2", "its id stands in an earlier line"),
    ],
)
def test_refusals(written: Written, change: dict[str, Any], place: str, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(written(lines({**CONTEXT, "id": "c0"}, {**CONTEXT, **change})))
    assert caught.value.place == place
    assert reason in caught.value.reason


@pytest.mark.parametrize("key", list(CONTEXT))
def test_a_missing_key_is_refused(written: Written, key: str) -> None:
    with pytest.raises(SourceError, match=f"line 1: no {key}"):
        read(written(lines({k: v for k, v in CONTEXT.items() if k != key})))


@given(st.integers(1, len(lines(CONTEXT)) - 2))
def test_a_line_that_is_cut_off_is_refused(written: Written, end: int) -> None:
    with pytest.raises(SourceError):
        read(written(lines(CONTEXT)[:end]))


def test_a_long_first_line_is_recognised(written: Written) -> None:
    assert OwnCandidates.sniff(written(lines({**CONTEXT, "endings": ["x" * 100] * 1_000})))
