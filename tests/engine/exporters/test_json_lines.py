"""HellaSwag's lines and the lines with everything: what is told of which split, and exactly."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from made_questions import any_questions, made

from swag_studio.engine.exporters.everything import FILE, Everything
from swag_studio.engine.exporters.hellaswag import HellaSwag
from swag_studio.records import SPLITS, Question, content_id, context_id, ending_id


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file, whose only line end is "\\n"."""
    return [json.loads(line) for line in path.read_bytes().decode("utf-8").split("\n")[:-1]]


@settings(max_examples=40)
@given(any_questions())
def test_hellaswag_carries_every_text(questions: list[Question]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        exported = list(HellaSwag().export(questions, folder))
        assert exported == list(range(1, len(questions) + 1))
        for split in SPLITS:
            found = lines(folder / f"hellaswag_{split}.jsonl")
            wanted = [q for q in questions if q.split == split]
            assert [line["ind"] for line in found] == list(range(len(wanted)))
            for line, q in zip(found, wanted, strict=True):
                assert line["endings"] == list(q.endings)
                assert (line["ctx_a"], line["ctx_b"]) == (q.sent1, q.sent2)
                assert line["ctx"] == q.sent1 + " " + q.sent2
                assert line["source_id"] == q.video_id
                assert line.get("label") == (None if split == "test" else q.label)
                assert ("label" in line) == (split != "test")


def test_hellaswag_keys_and_bytes(tmp_path: Path) -> None:
    list(HellaSwag().export([made(7, "val", 2)], tmp_path))
    assert (tmp_path / "hellaswag_val.jsonl").read_text("utf-8") == (
        '{"ind": 0, "activity_label": "", "ctx_a": "A man sits on chair 7.", '
        '"ctx_b": "Then man 7", "ctx": "A man sits on chair 7. Then man 7", "split": "val", '
        '"split_type": "indomain", "label": 2, '
        '"endings": ["falls 7 0.", "falls 7 1.", "stands up 7.", "falls 7 2."], '
        '"source_id": "anetv_7"}\n'
    )


@settings(max_examples=40)
@given(any_questions())
def test_everything_carries_every_text(questions: list[Question]) -> None:
    with TemporaryDirectory() as name:
        list(Everything().export(questions, Path(name)))
        found = lines(Path(name) / FILE)
    rows: Counter[str] = Counter()
    for line, q in zip(found, questions, strict=True):
        assert (line["split"], line["index"]) == (q.split, rows[q.split])
        rows[q.split] += 1
        assert line["endings"] == list(q.endings)
        assert line["startphrase"] == q.sent1 + " " + q.sent2
        if q.split == "test":
            untold = ("id", "context_id", "label", "full_source", "right", "distractors")
            assert all(line[key] is None for key in untold)
        else:
            assert line["label"] == q.label and line["right"]["text"] == q.right
            assert (line["id"], line["context_id"]) == (q.id, q.context_id)
            assert [d["text"] for d in line["distractors"]] == [d.text for d in q.distractors]


def test_a_test_line_does_not_tell_the_answer(tmp_path: Path) -> None:
    """The right place can be moved, and nothing but the order of the endings changes."""
    told = []
    for label in range(4):
        list(Everything().export([made(3, "test", label)], tmp_path))
        (line,) = lines(tmp_path / FILE)
        told.append({**line, "endings": sorted(line["endings"])})
    assert told[0] == told[1] == told[2] == told[3]
    assert "e3" not in json.dumps(told[0])  # the right ending's id


@pytest.mark.parametrize("exporter", [Everything(), HellaSwag()])
def test_no_id_of_a_test_line_follows_from_the_right_ending(tmp_path: Path, exporter: Any) -> None:
    """Who tries each ending as the found one, as ids are made of it, finds none of them."""
    q = made(3, "test", 2)

    def ids(found: str) -> tuple[str, str, str]:
        context = context_id(q.group, q.position, q.sent1, q.sent2, found)
        ending = ending_id(context, found)
        return context, ending, content_id("question", context, "gold", ending)

    context, ending, question = ids(q.right)
    hashed = dataclasses.replace(q, id=question, context_id=context, right_id=ending)
    list(exporter.export([hashed], tmp_path))
    text = "".join(p.read_text("utf-8") for p in tmp_path.iterdir())
    assert q.right in text and not [id for e in q.endings for id in ids(e) if id in text]
