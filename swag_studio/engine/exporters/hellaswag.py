"""HellaSwag's JSON lines: hellaswag_train.jsonl, hellaswag_val.jsonl, hellaswag_test.jsonl.

The keys and their order are HellaSwag's; a test line has no `label`. What HellaSwag knows of its
sources and a caption file does not tell is filled in by a fixed rule, stated below.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from swag_studio.files import writing
from swag_studio.records import SPLITS, Question

# HellaSwag: "zeroshot" where no training question is about the same activity. Captions name no
# activity, and all our splits are drawn from the same sources by a hash of the group: all is in
# the domain of the training set, though none of its groups is in it.
SPLIT_TYPE = "indomain"
ACTIVITY = ""  # captions do not tell what a video is about; HellaSwag's have a title


class HellaSwag:
    """One object a line. `ind` is the row in the split's CSV file, so the test set's key fits.

    `ctx_a` is the first sentence, `ctx_b` the opening noun phrase of the second, `ctx` both;
    `source_id` is the video's id.
    """

    name = "hellaswag"
    files = tuple(f"hellaswag_{split}.jsonl" for split in SPLITS)

    def export(self, questions: Iterable[Question], folder: Path) -> Iterator[int]:
        """Writes all files into `folder`, yielding the number of questions written after each."""
        rows: Counter[str] = Counter()
        with ExitStack() as stack:
            files = {
                split: stack.enter_context(writing(folder / name))
                for split, name in zip(SPLITS, self.files, strict=True)
            }
            for done, question in enumerate(questions, start=1):
                split = question.split
                line = record(question, rows[split])
                files[split].write(json.dumps(line, ensure_ascii=False) + "\n")
                rows[split] += 1
                yield done


def record(q: Question, index: int) -> dict[str, Any]:
    """A question as HellaSwag has it."""
    label = {} if q.split == "test" else {"label": q.label}
    return {
        "ind": index,
        "activity_label": ACTIVITY,
        "ctx_a": q.sent1,
        "ctx_b": q.sent2,
        "ctx": f"{q.sent1} {q.sent2}",
        "split": q.split,
        "split_type": SPLIT_TYPE,
        **label,
        "endings": list(q.endings),
        "source_id": q.video_id,
    }
