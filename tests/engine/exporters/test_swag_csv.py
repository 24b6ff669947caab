"""SWAG's files read back with the csv module and pandas: every text survives exactly."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.exporters.swag_csv import SwagCsv
from swag_studio.engine.registry import EXPORTERS
from swag_studio.records import SPLITS, Question

AWKWARD = [
    "None",
    "NA",
    "nan",
    "",
    "a, b",
    'say "no"',
    "two\nlines",
    "\r",
    "\r\n",
    "猫が窓を開ける。",
    " x ",
    "-1",
]

texts = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12),
)
questions = st.lists(
    st.builds(
        Question,
        context_id=st.just("c"),
        video_id=texts,
        fold=st.integers(0, 4),
        split=st.sampled_from(SPLITS),
        sent1=texts,
        sent2=texts,
        endings=st.tuples(texts, texts, texts, texts),
        label=st.integers(0, 3),
        gold_source=st.sampled_from(["gold", "gen"]),
    ),
    max_size=12,
)


def written(folder: Path, made: list[Question]) -> SwagCsv:
    exporter = SwagCsv()
    assert list(exporter.export(made, folder)) == list(range(1, len(made) + 1))
    return exporter


def expected_rows(made: list[Question], split: str) -> list[list[str]]:
    """The rows as the paper's files have them, made in the slow and obvious way."""
    rows = []
    for i, question in enumerate(made):
        if question.split != split:
            continue
        in_fold = sum(other.fold == question.fold for other in made[:i])
        row = [str(len(rows)), question.video_id, str(in_fold)]
        row += [question.sent1 + " " + question.sent2, question.sent1, question.sent2]
        row += [question.gold_source, *question.endings]
        rows.append(row if split == "test" else [*row, str(question.label)])
    return rows


@settings(max_examples=40, deadline=None)
@given(questions)
def test_every_text_survives(made: list[Question]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        exporter = written(folder, made)
        for split in SPLITS:
            path = folder / f"{split}.csv"
            with open(path, encoding="utf-8", newline="") as file:
                header, *rows = list(csv.reader(file))
            assert header == exporter.header(split)
            assert rows == expected_rows(made, split)
            frame = pd.read_csv(path, keep_default_na=False, dtype=str)
            assert frame.to_numpy().tolist() == expected_rows(made, split)
        key = pd.read_csv(folder / "test_key.csv")["label"].tolist()
        assert key == [q.label for q in made if q.split == "test"]


def test_the_bytes(tmp_path: Path) -> None:
    made = [
        Question(
            "c1", "anetv_x", 1, "train", "He sits.", "He", ("a.", "b, c.", "d.", "e."), 1, "gold"
        ),
        Question(
            "c2", "anetv_y", 1, "test", "She runs.", "She", ("f.", "g.", "h.", "i."), 3, "gold"
        ),
    ]
    written(tmp_path, made)
    assert (tmp_path / "train.csv").read_bytes() == (
        b",video-id,fold-ind,startphrase,sent1,sent2,gold-source,"
        b"ending0,ending1,ending2,ending3,label\n"
        b'0,anetv_x,0,He sits. He,He sits.,He,gold,a.,"b, c.",d.,e.,1\n'
    )
    assert (tmp_path / "test.csv").read_bytes() == (
        b",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3\n"
        b"0,anetv_y,1,She runs. She,She runs.,She,gold,f.,g.,h.,i.\n"
    )
    assert (tmp_path / "test_key.csv").read_bytes() == b",label\n0,3\n"
    assert (tmp_path / "val.csv").read_bytes().count(b"\n") == 1  # the header alone


def test_five_endings_and_a_wrong_number_of_them(tmp_path: Path) -> None:
    exporter = EXPORTERS["swag_csv"](endings=5)
    assert exporter.header("train")[-2:] == ["ending4", "label"]
    question = Question("c", "v", 0, "val", "S.", "N", ("a", "b", "c", "d"), 0, "gold")
    with pytest.raises(ValueError, match="4 endings"):
        list(exporter.export([question], tmp_path))
