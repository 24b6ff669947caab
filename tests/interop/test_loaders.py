"""Every format as others load it: pandas, datasets without a script, pyarrow."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from judged_project import BEST, context, filtered, judge
from made_releases import Released

from swag_studio import recipe as recipes
from swag_studio.engine.exporters.everything import record
from swag_studio.engine.publish import publish
from swag_studio.engine.registry import EXPORTERS
from swag_studio.records import SPLITS, Question
from swag_studio.releases import ReleaseOptions

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


def lines(path: Path) -> list[dict[str, Any]]:
    """A file of JSON lines as pandas reads it; nothing is taken for a number or a date."""
    frame = pd.read_json(path, lines=True, dtype=False)
    return list(frame.to_dict("records"))


def full_row(q: Question) -> list[str]:
    """The texts in a row of a full file; where there is no fourth wrong ending it is empty."""
    wrong = [d.text for d in q.distractors]
    return [q.right, *wrong, *[""] * (4 - len(wrong))]


@pytest.mark.parametrize("split", SPLITS)
def test_csv(released: Released, tmp_path: Path, split: str) -> None:
    path, wanted = released.folder / f"{split}.csv", released.of(split)
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
            assert (row["video-id"], row["gold-source"]) == (q.video_id, q.gold_source)
    labels = [q.label for q in wanted]
    assert ("label" in rows.column_names) == ("label" in frame) == (split != "test")
    key = frame if split != "test" else pd.read_csv(released.folder / "test_key.csv")
    assert key["label"].tolist() == labels
    if split != "test":
        assert rows["label"][:] == labels


@pytest.mark.parametrize("split", ["train", "val"])
def test_full_csv(released: Released, tmp_path: Path, split: str) -> None:
    path, wanted = released.folder / f"{split}_full.csv", released.of(split)
    columns = ["gold-ending", *(f"distractor-{i}" for i in range(4))]
    rows = one("csv", path, tmp_path, keep_default_na=False)
    frame = pd.read_csv(path, keep_default_na=False)
    texts = [full_row(q) for q in wanted]
    assert frame[columns].values.tolist() == texts
    assert [[row[column] for column in columns] for row in rows] == texts
    assert rows["gold-source"][:] == [q.full_source for q in wanted]


def test_csv_splits_that_have_labels_load_together(released: Released, tmp_path: Path) -> None:
    files = {split: str(released.folder / f"{split}.csv") for split in ("train", "val")}
    found = datasets.load_dataset("csv", data_files=files, cache_dir=str(tmp_path))
    assert {s: found[s]["label"][:] for s in files} == {
        s: [q.label for q in released.of(s)] for s in files
    }


def test_the_folder_loads_by_its_card(released: Released, tmp_path: Path) -> None:
    """Without a script or an option: the front matter names files and keeps "None" and "NA"."""

    def rows(config: str, split: str) -> Any:
        whole = datasets.load_dataset(str(released.folder), config, cache_dir=str(tmp_path))
        return whole[split]

    configs = [("default", "train"), ("default", "validation"), ("test", "test")]
    for split, (config, name) in zip(SPLITS, configs, strict=True):
        found = rows(config, name)
        assert len(found) == released.manifest["counts"]["questions"][split]["all"]
        endings = [list(q.endings) for q in released.of(split)]
        assert [[row[f"ending{i}"] for i in range(4)] for row in found] == endings
    fourth = [full_row(q)[-1] for q in released.of("val")]
    assert rows("full", "validation")["distractor-3"][:] == fourth


def test_a_release_is_not_taken_for_another_of_its_name(tmp_path: Path) -> None:
    """`datasets` keeps what it loaded by the folder's name and card, not by the files."""
    found = []
    for number in range(2):
        contexts = [context(i + 20 * number) for i in range(16)]
        root = tmp_path / f"{number}.swag"
        with filtered(root, recipes.preset("demo"), contexts) as project:
            judge(project, {c.video_id: [BEST] for c in contexts})
            list(publish(project, ReleaseOptions("1.0.0")))
        folder = str(root / "releases" / "1.0.0")
        whole = datasets.load_dataset(folder, cache_dir=str(tmp_path / "cache"))
        found.append({row["video-id"] for split in whole.values() for row in split})
    assert all(found) and not found[0] & found[1]


def test_provenance_in_which_few_lines_have_edits(released: Released, tmp_path: Path) -> None:
    """As the card says: else the first ten million bytes tell what kind of value there is."""
    lines = (released.folder / "provenance.jsonl").read_text("utf-8").split("\n")[:-1]
    told = [*map(json.loads, lines)]
    edit = {"run": 1, "by": "curator", "what": "edit", "undone": False, "out": ["a"], "in": ["b"]}
    rows = [*told, {**told[0], "edits": [edit]}]
    path = tmp_path / "provenance.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with pytest.raises(datasets.exceptions.DatasetGenerationError):
        one("json", path, tmp_path, chunksize=1 << 14)
    found = one("json", path, tmp_path, chunksize=1 << 30)
    assert found["id"][:] == [row["id"] for row in rows]
    assert [[dict(e) for e in edits] for edits in found["edits"]] == [row["edits"] for row in rows]


def test_hellaswag(released: Released, tmp_path: Path) -> None:
    found = loaded("json", released.folder, tmp_path, "hellaswag_{}.jsonl")
    for split in SPLITS:
        wanted = released.of(split)
        frame = lines(released.folder / f"hellaswag_{split}.jsonl")
        for rows in (list(found[split]), frame):
            assert [row["endings"] for row in rows] == [list(q.endings) for q in wanted]
            assert [row["ctx_a"] for row in rows] == [q.sent1 for q in wanted]
            labels = [None if split == "test" else q.label for q in wanted]
            assert [row.get("label") for row in rows] == labels
    alone = one("json", released.folder / "hellaswag_test.jsonl", tmp_path / "alone")
    assert "label" not in alone.column_names


def test_everything(released: Released, tmp_path: Path) -> None:
    path = released.folder / "everything.jsonl"
    found = one("json", path, tmp_path)
    told = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    assert [dict(row) for row in found] == told
    assert found["id"][:] == [None if q.split == "test" else q.id for q in released.questions]
    frame = lines(path)
    for name in ("split", "sent1", "endings"):
        assert [row[name] for row in frame] == [row[name] for row in told]


def test_parquet(released: Released, tmp_path: Path) -> None:
    found = loaded("parquet", released.folder, tmp_path, "{}.parquet")
    for split in SPLITS:
        wanted = [record(q, i) for i, q in enumerate(released.of(split))]
        assert [dict(row) for row in found[split]] == wanted
        frame = pd.read_parquet(released.folder / f"{split}.parquet")
        assert frame["sent1"].tolist() == [row["sent1"] for row in wanted]


def test_equal_questions_give_equal_bytes(released: Released, tmp_path: Path) -> None:
    for name in EXPORTERS:
        exporter = EXPORTERS[name]()
        list(exporter.export(released.questions, tmp_path))
        for file in exporter.files:
            assert (tmp_path / file).read_bytes() == (released.folder / file).read_bytes(), file
