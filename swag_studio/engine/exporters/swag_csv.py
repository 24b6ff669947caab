"""SWAG's own CSV files (METHOD section 5): train.csv, val.csv, test.csv, and the test set's key.

It writes what it is given, in the order it is given; which question is right and in which order
the endings stand was decided before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from swag_studio.records import SPLITS, Question

KEY_FILE = "test_key.csv"
_SPECIAL = re.compile(r'[",\r\n]')


class SwagCsv:
    """One row per question: UTF-8, commas, quotes only where needed, lines ended by "\\n".

    `fold-ind` counts the questions of each fold from 0: as in SWAG it is not unique by itself.
    The texts "None", "NA" and the like are written as they are; read the files with
    `pandas.read_csv(..., keep_default_na=False)`.
    """

    name = "swag_csv"

    def __init__(self, endings: int = 4) -> None:
        self.endings = endings

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, in the order of the splits; the test set's key is last."""
        return (*(f"{split}.csv" for split in SPLITS), KEY_FILE)

    def header(self, split: str) -> list[str]:
        """The columns of a split's file. The row's index has no name; test has no label."""
        endings = [f"ending{i}" for i in range(self.endings)]
        columns = ["", "video-id", "fold-ind", "startphrase", "sent1", "sent2", "gold-source"]
        return columns + endings + ([] if split == "test" else ["label"])

    def export(self, questions: Iterable[Question], folder: Path) -> Iterator[int]:
        """Writes all files into `folder`, yielding the number of questions written after each.

        Raises ValueError for a question with another number of endings.
        """
        rows, fold_index = dict.fromkeys(SPLITS, 0), FoldCounter()
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(open(folder / name, "w", encoding="utf-8", newline=""))
                for name in self.files
            }
            for split in SPLITS:
                files[f"{split}.csv"].write(csv_line(self.header(split)))
            files[KEY_FILE].write(csv_line(["", "label"]))
            for done, question in enumerate(questions, start=1):
                if len(question.endings) != self.endings:
                    raise ValueError(f"{question.context_id} has {len(question.endings)} endings")
                split = question.split
                row: list[str | int] = [rows[split], question.video_id, fold_index(question)]
                row += [f"{question.sent1} {question.sent2}", question.sent1, question.sent2]
                row += [question.gold_source, *question.endings]
                if split == "test":
                    files[KEY_FILE].write(csv_line([rows[split], question.label]))
                else:
                    row.append(question.label)
                files[f"{split}.csv"].write(csv_line(row))
                rows[split] += 1
                yield done


class FoldCounter:
    """The column `fold-ind`: counts the questions of each fold from 0, over all splits."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}

    def __call__(self, question: Question) -> int:
        index = self._seen.get(question.fold, 0)
        self._seen[question.fold] = index + 1
        return index


def csv_line(cells: Iterable[str | int]) -> str:
    """One row. The csv module of Python 3.11 leaves a lone carriage return without quotes."""
    return ",".join(map(_cell, cells)) + "\n"


def _cell(value: str | int) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
