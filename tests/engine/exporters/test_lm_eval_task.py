"""The task's data, and its two files; the harness itself runs it in `make check-interop`."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from made_questions import any_questions, made

from swag_studio.engine.exporters.lm_eval import FOLDER, TASK, LmEval
from swag_studio.records import Question


@settings(max_examples=40)
@given(any_questions())
def test_train_and_val_survive_and_nothing_of_test_is_there(questions: list[Question]) -> None:
    with TemporaryDirectory() as name:
        exported = list(LmEval().export(questions, Path(name)))
        assert exported == list(range(1, len(questions) + 1))
        files = {p.relative_to(name).as_posix(): p for p in Path(name).rglob("*") if p.is_file()}
        assert sorted(files) == sorted(LmEval.files)
        for split in ("train", "val"):
            text = files[f"{FOLDER}/{split}.jsonl"].read_bytes().decode("utf-8")
            found = [json.loads(line) for line in text.split("\n")[:-1]]
            wanted = [q for q in questions if q.split == split]
            assert found == [
                {
                    "ind": i,
                    "startphrase": q.sent1 + " " + q.sent2,
                    "endings": list(q.endings),
                    "label": q.label,
                }
                for i, q in enumerate(wanted)
            ]


def test_the_task_names_the_reader_and_the_keys_that_there_are(tmp_path: Path) -> None:
    list(LmEval().export([made(1), made(2, "val")], tmp_path))
    task = (tmp_path / FOLDER / f"{TASK}.yaml").read_text("utf-8")
    values = dict(line.split(": ", 1) for line in task.split("\n") if ": " in line[:40])
    module, _, function = values["custom_dataset"].removeprefix("!function ").partition(".")
    reader = ast.parse((tmp_path / FOLDER / f"{module}.py").read_text("utf-8"))
    assert function in [n.name for n in reader.body if isinstance(n, ast.FunctionDef)]
    line = json.loads((tmp_path / FOLDER / "val.jsonl").read_text("utf-8"))
    assert {values[key] for key in ("doc_to_text", "doc_to_choice", "doc_to_target")} <= {*line}
    told = ast.unparse(reader)
    for split in (values["training_split"], values["validation_split"]):
        assert f"'{split}'" in told
