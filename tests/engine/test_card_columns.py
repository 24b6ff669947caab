"""The card explains every column that a release has, and none that it has not."""

from __future__ import annotations

import csv
import fnmatch
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from judged_project import BEST, NEITHER, SECOND, context, filtered, judge

from swag_studio import recipe as recipes
from swag_studio.engine.card_columns import FILES, TABLES, Columns, Table
from swag_studio.engine.publish import publish
from swag_studio.releases import ReleaseOptions

FORMATS = ("everything", "hellaswag", "lm_eval", "spreadsheet")
BESIDE = {"manifest.json", "run.json"}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with questions of each kind, surprising contexts and preferences."""
    root = tmp_path_factory.mktemp("card") / "p.swag"
    contexts = [context(i) for i in range(16)]
    answers = [[BEST], [SECOND], [NEITHER] * 3, [BEST]]
    with filtered(root, recipes.preset("demo"), contexts) as project:
        judge(project, {c.video_id: answers[i // 4] for i, c in enumerate(contexts)})
        list(publish(project, ReleaseOptions("1.0.0", formats=FORMATS, cost_per_hour=0.0)))
    return root / "releases" / "1.0.0"


def columns(path: Path) -> set[str]:
    """The columns of a CSV file, or the keys of all lines; of provenance those of endings too."""
    text = path.read_text("utf-8")
    if path.suffix == ".csv":
        return set(next(csv.reader(text.splitlines(keepends=True))))
    rows = [json.loads(line) for line in text.split("\n")[:-1]]
    assert rows, path
    keys = {key for row in rows for key in row}
    if path.name == "provenance.jsonl":
        keys |= {f"endings: {key}" for row in rows for ending in row["endings"] for key in ending}
    return keys


def told(table: Columns) -> Iterator[str]:
    """The names in a table: "a, b" are two, "x0 ... x3" four, "endings: a, b" two of endings."""
    for name in table:
        inside, _, rest = name.rpartition(": ")
        for part in rest.split(", "):
            start, several, _ = part.partition(" ... ")
            numbers = range(4) if several else ("",)
            for number in numbers:
                part = re.sub("0", str(number), start) if several else start
                yield f"{inside}: {part}" if inside else part.replace("(no name)", "")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.first)
def test_every_column_is_explained_and_no_other(release: Path, table: Table) -> None:
    names = re.findall(r"[\w/]+\.(?:csv|jsonl)", table.heading)
    assert table.first in names
    found = set().union(*(columns(release / name) for name in names))
    assert set(told(table.columns)) == found
    assert all(len(text) > 5 for text in table.columns.values())


def test_every_file_is_explained_and_has_a_table(release: Path) -> None:
    paths = (p.relative_to(release).as_posix() for p in release.rglob("*") if p.is_file())
    names = set(paths) - BESIDE
    assert all(any(fnmatch.fnmatchcase(name, p) for p in FILES) for name in names)
    data = {n for n in names if n.endswith((".csv", ".jsonl")) and not n.startswith("spreadsheet")}
    headed = " ".join(table.heading for table in TABLES)
    assert {n for n in data if n not in headed} == {"hellaswag_val.jsonl", "hellaswag_test.jsonl"}
    card = (release / "README.md").read_text("utf-8")
    assert all(table.heading in card for table in TABLES)
