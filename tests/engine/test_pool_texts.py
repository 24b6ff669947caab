"""Candidates found by their text, against a reading of all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_project import CONTEXTS, OWN, RECIPE, prepared

from swag_studio.engine import generate
from swag_studio.engine.pool_texts import PoolTexts
from swag_studio.records import folded


@pytest.fixture
def texts(tmp_path: Path) -> Iterator[PoolTexts]:
    with prepared(tmp_path / "p.swag", RECIPE) as project:
        list(generate.run(RECIPE, project))
        yield PoolTexts(
            project, project.require("generate", RECIPE), project.require("prepare", RECIPE)
        )


def test_a_candidate_is_found_by_its_text_however_it_is_written(texts: PoolTexts) -> None:
    for place in range(CONTEXTS):
        text, size = texts.of(place), len(texts.pool.context(place))
        every = [folded(text(row)) for row in range(size)]
        for row in range(1, size):
            for like in (text(row), f"  {text(row).upper()}", "of another length", ""):
                found = texts.row(place, lambda made: folded(made) == every[row], like)  # noqa: B023
                assert found == every.index(every[row], 1)
        assert texts.row(place, lambda made: False, every[1]) is None


def test_the_found_ending_is_no_candidate(texts: PoolTexts) -> None:
    for place in set(range(CONTEXTS)) - {OWN}:
        found = texts.of(place)(0)
        assert texts.row(place, lambda made: made == found, found) is None  # noqa: B023


def test_likely_rows_are_looked_at_first(texts: PoolTexts) -> None:
    for place in set(range(CONTEXTS)) - {OWN}:
        text, size = texts.of(place), len(texts.pool.context(place))
        last, asked = text(size - 1), list[str]()

        def wanted(made: str) -> bool:
            asked.append(made)  # noqa: B023
            return made == last  # noqa: B023

        assert texts.row(place, wanted, last) == size - 1
        assert {len(made.replace(" ", "")) for made in asked} == {len(last.replace(" ", ""))}
