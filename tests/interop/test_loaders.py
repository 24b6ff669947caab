"""Every format as others load it: pandas, datasets without a script, pyarrow."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swag_studio.engine.card_front import front_matter
from swag_studio.engine.exporters.everything import record
from swag_studio.engine.registry import EXPORTERS
from swag_studio.records import SPLITS, Question

datasets = pytest.importorskip("datasets")
pytestmark = pytest.mark.interop


def loaded(kind: str, folder: Path, cache: Path, pattern: str) -> dict[str, Any]:
    """All splits together, as a user loads them."""
    files = {split: str(folder / pattern.format(split)) for split in SPLITS}
    return dict(datasets.load_dataset(kind, data_files=files, cache_dir=str(cache)))


def one(kind: str, path: Path, cache: Path, **options: Any) -> Any:
    """One file alone."""
    return datasets.load_dataset(
        kind, data_files=str(path), cache_dir=str(cache), split="train", **options
    )


def of(questions: list[Question], split: str) -> list[Question]:
    return [q for q in questions if q.split == split]


@pytest.mark.parametrize("split", SPLITS)
def test_csv(release: Path, questions: list[Question], tmp_path: Path, split: str) -> None:
    path, wanted = release / f"{split}.csv", of(questions, split)
    rows = one("csv", path, tmp_path, keep_default_na=False)
    frame = pd.read_csv(path, keep_default_na=False)
    with open(path, encoding="utf-8", newline="") as file:
        plain = list(csv.DictReader(file))
    for found in (list(rows), frame.to_dict("records"), plain):
        assert len(found) == len(wanted)
        for row, q in zip(found, wanted, strict=True):
            assert [row[f"ending{i}"] for i in range(4)] == list(q.endings)
            assert row["startphrase"] == f"{q.sent1} {q.sent2}"
            assert (row["sent1"], row["sent2"]) == (q.sent1, q.sent2)
            assert row["video-id"] == q.video_id
    assert ("label" in rows.column_names) == (split != "test")
    if split != "test":
        assert rows["label"][:] == [q.label for q in wanted]
        full = one("csv", release / f"{split}_full.csv", tmp_path / "full", keep_default_na=False)
        assert full["gold-ending"][:] == [q.right for q in wanted]
        assert full["distractor-3"][:] == [q.distractors[3].text for q in wanted]


def test_csv_splits_that_have_labels_load_together(
    release: Path, questions: list[Question], tmp_path: Path
) -> None:
    files = {split: str(release / f"{split}.csv") for split in ("train", "val")}
    found = datasets.load_dataset("csv", data_files=files, cache_dir=str(tmp_path))
    assert {s: len(found[s]) for s in files} == {s: len(of(questions, s)) for s in files}


def test_the_folder_loads_by_its_card(
    release: Path, questions: list[Question], tmp_path: Path
) -> None:
    """Without a script or an option: the front matter names files and keeps "None" and "NA"."""
    counts = {"questions": {s: {"all": len(of(questions, s))} for s in SPLITS}}
    files = {path.name: {} for path in release.iterdir()}
    told = {"title": "", "licence": "", "language": "en", "files": files, "counts": counts}
    folder = tmp_path / "release"
    folder.mkdir()
    for path in release.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "README.md").write_text(front_matter(told) + "\n\n# Title\n", "utf-8")

    def rows(config: str, split: str) -> Any:
        return datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path / "c"))[split]

    for split, (config, name) in zip(
        SPLITS, [("default", "train"), ("default", "validation"), ("test", "test")], strict=True
    ):
        found = rows(config, name)
        wanted = [list(q.endings) for q in of(questions, split)]
        assert [[row[f"ending{i}"] for i in range(4)] for row in found] == wanted
    wanted = [q.distractors[3].text for q in of(questions, "val")]
    assert rows("full", "validation")["distractor-3"][:] == wanted


def test_hellaswag(release: Path, questions: list[Question], tmp_path: Path) -> None:
    found = loaded("json", release, tmp_path, "hellaswag_{}.jsonl")
    for split in SPLITS:
        wanted = of(questions, split)
        assert found[split]["endings"][:] == [list(q.endings) for q in wanted]
        assert found[split]["ctx_a"][:] == [q.sent1 for q in wanted]
        labels = [None if split == "test" else q.label for q in wanted]
        assert found[split]["label"][:] == labels
    alone = one("json", release / "hellaswag_test.jsonl", tmp_path / "alone")
    assert "label" not in alone.column_names


def test_everything(release: Path, questions: list[Question], tmp_path: Path) -> None:
    found = one("json", release / "everything.jsonl", tmp_path)
    lines = (release / "everything.jsonl").read_text("utf-8").split("\n")[:-1]
    assert [dict(row) for row in found] == [json.loads(line) for line in lines]
    assert found["id"][:] == [None if q.split == "test" else q.id for q in questions]


def test_parquet(release: Path, questions: list[Question], tmp_path: Path) -> None:
    found = loaded("parquet", release, tmp_path, "{}.parquet")
    for split in SPLITS:
        wanted = [record(q, i) for i, q in enumerate(of(questions, split))]
        assert [dict(row) for row in found[split]] == wanted
        frame = pd.read_parquet(release / f"{split}.parquet")
        assert frame["sent1"].tolist() == [row["sent1"] for row in wanted]


def test_equal_questions_give_equal_bytes(
    release: Path, questions: list[Question], tmp_path: Path
) -> None:
    for name in EXPORTERS:
        exporter = EXPORTERS[name]()
        list(exporter.export(questions, tmp_path))
        for file in exporter.files:
            assert (tmp_path / file).read_bytes() == (release / file).read_bytes(), file
