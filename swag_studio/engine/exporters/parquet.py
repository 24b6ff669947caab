"""Parquet: train.parquet, val.parquet, test.parquet, with the columns of everything.jsonl.

pyarrow writes them; it is an extra, and asked for when a file is written. The columns are the same
in all three, so that they load together; what is not told of the test split is null there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from swag_studio.engine.exporters.everything import record
from swag_studio.records import SPLITS, Question

_ROWS_AT_ONCE = 1000  # of a row group, and held in memory for each split


class Parquet:
    """One row per question, in row groups of a thousand. Equal questions give equal bytes."""

    name = "parquet"
    needs = "pyarrow"
    files = tuple(f"{split}.parquet" for split in SPLITS)

    def export(self, questions: Iterable[Question], folder: Path) -> Iterator[int]:
        """Writes all files into `folder`, yielding the number of questions seen after each.

        Raises ImportError, before anything is written, when pyarrow is not installed.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema, rows = _schema(), Counter[str]()
        waiting: dict[str, list[dict[str, Any]]] = {split: [] for split in SPLITS}
        with ExitStack() as stack:
            writers = {
                split: stack.enter_context(pq.ParquetWriter(folder / name, schema))
                for split, name in zip(SPLITS, self.files, strict=True)
            }

            def write(split: str) -> None:
                writers[split].write_table(pa.Table.from_pylist(waiting[split], schema))
                waiting[split].clear()

            for done, question in enumerate(questions, start=1):
                split = question.split
                waiting[split].append(record(question, rows[split]))
                rows[split] += 1
                if len(waiting[split]) == _ROWS_AT_ONCE:
                    write(split)
                yield done
            for split in SPLITS:  # an empty split too has its columns
                write(split)


def _schema() -> Any:
    """The columns, in the order of `record`."""
    import pyarrow as pa

    told = pa.struct({name: pa.string() for name in ("id", "text", "type", "kind")})
    types = {
        "index": pa.int64(),
        "fold": pa.int64(),
        "position": pa.int64(),
        "endings": pa.list_(pa.string()),
        "label": pa.int64(),
        "verified": pa.bool_(),
        "simulated": pa.bool_(),
        "right": told,
        "distractors": pa.list_(told),
    }
    names = record(Question("", "", 0, "test", "", "", ("",), 0, ""), 0)
    return pa.schema({name: types.get(name, pa.string()) for name in names})
