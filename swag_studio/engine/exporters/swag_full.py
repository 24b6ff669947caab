"""SWAG's full files (METHOD section 5): train_full.csv and val_full.csv, with all that people said.

The test split has none: its right endings would stand in it. As the other exporters it writes what
it is given, in the order it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from swag_studio.engine.exporters.swag_csv import FoldCounter, csv_line
from swag_studio.records import Question

MOST = 4  # wrong endings
SPLITS = ("train", "val")


class SwagFull:
    """One row per question: its wrong endings from unlikely to likely, each with its type.

    Where there are three wrong endings, `distractor-3` and its type are empty. Types are "pos" and
    "unl", and empty for a question that nobody judged; `gold-source` is "gold-unverified" then.
    """

    name = "swag_full"

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, in the order of the splits."""
        return tuple(f"{split}_full.csv" for split in SPLITS)

    def header(self) -> list[str]:
        """The columns."""
        wrong = [f"distractor-{i}" for i in range(MOST)]
        columns = ["video-id", "fold-ind", "startphrase", "gold-ending", *wrong, "gold-source"]
        return [*columns, "gold-type", *(f"{name}-type" for name in wrong), "sent1", "sent2"]

    def export(self, questions: Iterable[Question], folder: Path) -> Iterator[int]:
        """Writes all files into `folder`, yielding the number of questions seen after each.

        Raises ValueError for a question with more wrong endings than there are columns.
        """
        fold_index = FoldCounter()
        with ExitStack() as stack:
            files = {
                split: stack.enter_context(open(folder / name, "w", encoding="utf-8", newline=""))
                for split, name in zip(SPLITS, self.files, strict=True)
            }
            for file in files.values():
                file.write(csv_line(self.header()))
            for done, question in enumerate(questions, start=1):
                row = self._row(question, fold_index(question))
                if question.split in files:
                    files[question.split].write(csv_line(row))
                yield done

    def _row(self, q: Question, fold_index: int) -> list[str | int]:
        missing = MOST - len(q.distractors)
        if missing < 0:
            raise ValueError(f"{q.context_id} has {len(q.distractors)} wrong endings")
        texts = [d.text for d in q.distractors] + [""] * missing
        types = [d.type for d in q.distractors] + [""] * missing
        start: list[str | int] = [q.video_id, fold_index, f"{q.sent1} {q.sent2}", q.right]
        return [*start, *texts, q.full_source, q.right_type, *types, q.sent1, q.sent2]
