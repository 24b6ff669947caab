"""A copy of SWAG's CSV files that is safe to open in a spreadsheet program, in spreadsheet/.

A cell such as "=1+1" would be run as a formula there: in the copy an apostrophe stands before it.
The copy is for reading; what models are trained on are the files beside it, which stay raw.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path

from swag_studio.engine.exporters.swag_csv import SwagCsv
from swag_studio.engine.exporters.swag_full import SwagFull
from swag_studio.records import Question

FOLDER = "spreadsheet"
# What begins a formula, also after a tab or line end, also in the wide forms of Japanese input.
_STARTS = tuple("=+-@\t\r\n＝＋－＠")


class Spreadsheet:
    """SWAG's files with guarded cells, and the byte order mark by which Excel knows UTF-8."""

    name = "spreadsheet"

    def __init__(self) -> None:
        self._raw = SwagCsv(), SwagFull()

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, with their folder."""
        return tuple(f"{FOLDER}/{name}" for raw in self._raw for name in raw.files)

    def export(self, questions: Iterable[Question], folder: Path) -> Iterator[int]:
        """Writes all files below `folder`, yielding the number of questions written after each."""
        (folder / FOLDER).mkdir(exist_ok=True)
        (short, full), (first, second) = self._raw, tee(questions)
        steps = short.export(first, folder / FOLDER), full.export(second, folder / FOLDER)
        for done, _ in zip(*steps, strict=True):  # in step, so that no question waits in memory
            yield done
        for name in self.files:
            raw = (folder / name).with_suffix(".raw")
            (folder / name).replace(raw)
            safe_copy(raw, folder / name)
            raw.unlink()


def safe_copy(raw: Path, copy: Path) -> None:
    """Copies any CSV file of a release with guarded cells, all of them in quotes."""
    with (
        open(raw, encoding="utf-8", newline="") as source,
        open(copy, "w", encoding="utf-8-sig", newline="") as target,
    ):
        writer = csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([guarded(cell) for cell in row] for row in csv.reader(source))


def guarded(cell: str) -> str:
    """A cell as no program takes it for a formula."""
    return f"'{cell}" if cell.startswith(_STARTS) else cell
