"""All that may be told of each question, a line each, in one JSONL file.

The lines of the test split say neither which ending is right nor what people made of each. Nor do
they have the ids of the question and its context: those are hashes of the right ending among other
things, and whoever tries the four would know it. `split` and `index` name a question in any split,
in the test set's key and in provenance.jsonl, which tells where each word came from.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from swag_studio.files import writing
from swag_studio.records import Question

FILE = "everything.jsonl"


class Everything:
    """One object a line, with the same keys in each; `index` is the row in the split's CSV file.

    In the test split `id`, `context_id`, `label`, `full_source`, `right`, `distractors` are null.
    """

    name = "everything"
    files = (FILE,)

    def export(self, questions: Iterable[Question], folder: Path) -> Iterator[int]:
        """Writes the file into `folder`, yielding the number of questions written after each."""
        rows: Counter[str] = Counter()
        with writing(folder / FILE) as file:
            for done, question in enumerate(questions, start=1):
                line = record(question, rows[question.split])
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                rows[question.split] += 1
                yield done


def record(q: Question, index: int) -> dict[str, Any]:
    """A question as one object."""
    told = q.split != "test"
    right = {"id": q.right_id, "text": q.right, "type": q.right_type, "kind": q.right_kind}
    wrong = [{"id": d.id, "text": d.text, "type": d.type, "kind": d.kind} for d in q.distractors]
    return {
        "id": q.id if told else None,
        "split": q.split,
        "index": index,
        "context_id": q.context_id if told else None,
        "video_id": q.video_id,
        "group": q.group,
        "fold": q.fold,
        "source_id": q.source_id,
        "document": q.document,
        "position": q.position,
        "sent1": q.sent1,
        "sent2": q.sent2,
        "startphrase": f"{q.sent1} {q.sent2}",
        "endings": list(q.endings),
        "label": q.label if told else None,
        "gold_source": q.gold_source,
        "full_source": q.full_source if told else None,
        "verified": q.verified,
        "simulated": q.simulated,
        "right": right if told else None,
        "distractors": wrong if told else None,
    }
