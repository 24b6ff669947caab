"""A task for lm-evaluation-harness in lm_eval/: its YAML file, and the data that it reads.

    lm_eval --include_path RELEASE/lm_eval --tasks swag_studio --model hf --model_args ...

The folder may lie anywhere. Models are scored on the validation questions, and training questions
serve as examples; the test questions are left out, since a task needs their labels.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from swag_studio.files import write_text, writing
from swag_studio.records import Question

FOLDER, TASK = "lm_eval", "swag_studio"
SPLITS = ("train", "val")
_YAML = f"{FOLDER}/{TASK}.yaml"
_READER = f"{FOLDER}/local_data.py"

TASK_FILE = f"""\
# For lm-evaluation-harness 0.4.9 or newer:
#   lm_eval --include_path THIS_FOLDER --tasks {TASK} --model hf --model_args pretrained=MODEL
task: {TASK}
custom_dataset: !function local_data.splits
output_type: multiple_choice
training_split: train
validation_split: validation
doc_to_text: startphrase
doc_to_choice: endings
doc_to_target: label
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
  - metric: acc_norm
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""

READER_FILE = '''\
"""Reads the questions that lie beside this file, wherever the folder was put."""

from pathlib import Path

from datasets import load_dataset


def splits(**_):
    here = Path(__file__).parent
    files = {"train": str(here / "train.jsonl"), "validation": str(here / "val.jsonl")}
    return load_dataset("json", data_files=files)
'''


class LmEval:
    """One object a line and split: `ind` (the row in the split's CSV file), `startphrase`,
    `endings`, `label`. The harness adds the space between the two texts."""

    name = "lm_eval"
    files = (_YAML, _READER, *(f"{FOLDER}/{split}.jsonl" for split in SPLITS))

    def export(self, questions: Iterable[Question], folder: Path) -> Iterator[int]:
        """Writes all files below `folder`, yielding the number of questions seen after each."""
        (folder / FOLDER).mkdir(exist_ok=True)
        write_text(folder / _YAML, TASK_FILE)
        write_text(folder / _READER, READER_FILE)
        rows: Counter[str] = Counter()
        with ExitStack() as stack:
            files = {
                split: stack.enter_context(writing(folder / FOLDER / f"{split}.jsonl"))
                for split in SPLITS
            }
            for done, q in enumerate(questions, start=1):
                if q.split in files:
                    line = {
                        "ind": rows[q.split],
                        "startphrase": f"{q.sent1} {q.sent2}",
                        "endings": list(q.endings),
                        "label": q.label,
                    }
                    files[q.split].write(json.dumps(line, ensure_ascii=False) + "\n")
                    rows[q.split] += 1
                yield done
