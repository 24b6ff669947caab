"""The full files: every text survives, wrong endings in their order, no test split."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from made_questions import any_questions, made

from swag_studio.engine.exporters.swag_full import SwagFull
from swag_studio.records import Distractor, Question

HEADER = (
    "video-id,fold-ind,startphrase,gold-ending,distractor-0,distractor-1,distractor-2,distractor-3,"
    "gold-source,gold-type,distractor-0-type,distractor-1-type,distractor-2-type,distractor-3-type,"
    "sent1,sent2"
)


def expected(questions: list[Question], split: str) -> list[list[str]]:
    """The rows as the paper's files have them, made in the slow and obvious way."""
    rows = []
    for i, q in enumerate(questions):
        if q.split == split:
            wrong = [*q.distractors, Distractor("", "")][:4]
            in_fold = sum(other.fold == q.fold for other in questions[:i])
            row = [q.video_id, str(in_fold), q.sent1 + " " + q.sent2, q.endings[q.label]]
            row += [*(d.text for d in wrong), q.full_source, q.right_type]
            rows.append([*row, *(d.type for d in wrong), q.sent1, q.sent2])
    return rows


@settings(max_examples=40)
@given(any_questions())
def test_every_text_survives(questions: list[Question]) -> None:
    with TemporaryDirectory() as name:
        exported = list(SwagFull().export(questions, Path(name)))
        assert exported == list(range(1, len(questions) + 1))
        assert {path.name for path in Path(name).iterdir()} == {"train_full.csv", "val_full.csv"}
        for split in ("train", "val"):
            with open(Path(name) / f"{split}_full.csv", encoding="utf-8", newline="") as file:
                header, *rows = list(csv.reader(file))
            assert header == HEADER.split(",")
            assert rows == expected(questions, split)


def test_the_bytes(tmp_path: Path) -> None:
    wrong = (*made(1).distractors[:2], Distractor("x", 'says "no", then goes.', "pos"))
    questions = [
        dataclasses.replace(made(1, "val", 2), distractors=wrong, right_type="unl"),
        made(2, "test", 1),
        made(3, "val", 0),
    ]
    list(SwagFull().export(questions, tmp_path))
    assert (tmp_path / "train_full.csv").read_bytes() == f"{HEADER}\n".encode()
    assert (tmp_path / "val_full.csv").read_bytes().decode() == (
        f"{HEADER}\n"
        "anetv_1,0,A man sits on chair 1. Then man 1,stands up 1.,falls 1 0.,falls 1 1.,"
        '"says ""no"", then goes.",,gold0-orig,unl,unl,unl,pos,,A man sits on chair 1.,Then man 1\n'
        "anetv_3,1,A man sits on chair 3. Then man 3,stands up 3.,falls 3 0.,falls 3 1.,falls 3 2.,"
        "falls 3 3.,gold0-orig,pos,unl,unl,unl,unl,A man sits on chair 3.,Then man 3\n"
    )


def test_a_fifth_wrong_ending_has_no_column(tmp_path: Path) -> None:
    wrong = (*made(1).distractors, Distractor("x", "sings."))
    with pytest.raises(ValueError, match="5 wrong endings"):
        list(SwagFull().export([dataclasses.replace(made(1), distractors=wrong)], tmp_path))
