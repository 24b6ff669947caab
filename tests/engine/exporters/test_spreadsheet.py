"""The spreadsheet-safe copy: no cell is a formula, nothing else is changed."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_questions import ANY_TEXT, any_questions

from swag_studio.engine.exporters.spreadsheet import Spreadsheet, guarded, safe_copy
from swag_studio.engine.exporters.swag_csv import SwagCsv
from swag_studio.engine.exporters.swag_full import SwagFull
from swag_studio.records import Question

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", "＝1+1"]


def rows(path: Path) -> list[list[str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_guarded(text: str) -> None:
    assert guarded(text) == "'" + text


@pytest.mark.parametrize("text", ["", "a=1", "'s dog.", "1", "猫", " =1"])
def test_other_cells_stay(text: str) -> None:
    assert guarded(text) == text


@settings(max_examples=40)
@given(any_questions())
def test_only_formulas_differ_from_the_raw_files(questions: list[Question]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        raw_files = [*SwagCsv().files, *SwagFull().files]
        for raw_one in (SwagCsv(), SwagFull()):
            list(raw_one.export(questions, folder))
        exporter = Spreadsheet()
        assert list(exporter.export(questions, folder)) == list(range(1, len(questions) + 1))
        assert len(list((folder / "spreadsheet").iterdir())) == len(exporter.files) == 6
        for copy, raw in zip(exporter.files, raw_files, strict=True):
            assert (folder / copy).read_bytes().startswith(b"\xef\xbb\xbf")
            for safe, cells in zip(rows(folder / copy), rows(folder / raw), strict=True):
                assert safe == [guarded(cell) for cell in cells]
                assert not any(cell[:1] in set("=+-@\t\r") - {""} for cell in safe if cell)


@settings(max_examples=40)
@given(st.lists(st.lists(ANY_TEXT, min_size=2, max_size=4), max_size=5))
def test_any_table_can_be_copied(table: list[list[str]]) -> None:
    with TemporaryDirectory() as name:
        raw, copy = Path(name) / "raw.csv", Path(name) / "copy.csv"
        with open(raw, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows(table)
        safe_copy(raw, copy)
        assert rows(copy) == [[guarded(cell) for cell in row] for row in table]
