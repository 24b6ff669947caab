"""The dependency splitter against sentences whose cut was set by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from swag_studio.engine.registry import SPLITTERS
from swag_studio.engine.splitters import Splitter
from swag_studio.engine.text import join, tokenise

GOLDEN = [
    line
    for line in (Path(__file__).with_name("golden.txt")).read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def _tokens(line: str) -> list[str]:
    sentence = line if " | " in line else line.partition(": ")[2]
    return tokenise(sentence.replace(" | ", " "))


@pytest.fixture(scope="module")
def splitter() -> Splitter:
    splitter: Splitter = SPLITTERS["spacy"]()
    return splitter


@pytest.fixture(scope="module")
def found(splitter: Splitter) -> list[int | str]:
    return splitter.split([_tokens(line) for line in GOLDEN])


@pytest.mark.parametrize("number", range(len(GOLDEN)), ids=lambda n: GOLDEN[n][:40])
def test_golden(number: int, found: list[int | str]) -> None:
    tokens, cut = _tokens(GOLDEN[number]), found[number]
    drawn = (
        f"{cut}: {join(tokens)}"
        if isinstance(cut, str)
        else f"{join(tokens[:cut])} | {join(tokens[cut:])}"
    )
    assert drawn == GOLDEN[number]


def test_a_sentence_is_cut_alike_in_any_company(splitter: Splitter, found: list[int | str]) -> None:
    backwards = splitter.split([_tokens(line) for line in reversed(GOLDEN)])
    assert backwards[::-1] == found
    assert [splitter.split([_tokens(line)])[0] for line in GOLDEN[:5]] == found[:5]


@pytest.mark.parametrize("tokens", [["."], ["man", "."], ["(", ")", "."], ["彼", "は", "."], ["a"]])
def test_no_phrase_is_empty_or_whole(splitter: Splitter, tokens: list[str]) -> None:
    cut = splitter.split([tokens])[0]
    assert isinstance(cut, str) or 0 < cut < len(tokens)


def test_nothing_to_split(splitter: Splitter) -> None:
    assert splitter.split([]) == []
