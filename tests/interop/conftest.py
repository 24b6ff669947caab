"""A release in every format, with texts that are easily lost, for programs of others to load.

They are extras (`make check-interop` installs them), and nothing is fetched from a network.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

# Before any of them is imported.
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
sys.path.append(str(Path(__file__).resolve().parent.parent / "engine"))

from made_questions import AWKWARD, clean_set

from swag_studio.engine.registry import EXPORTERS
from swag_studio.records import Question


def _with_text(question: Question, place: int, text: str) -> Question:
    endings = [text if i == place else t for i, t in enumerate(question.endings)]
    return dataclasses.replace(question, endings=tuple(endings), sent1=f"{text} {question.sent1}")


@pytest.fixture(scope="session")
def questions() -> list[Question]:
    """Each awkward text in each place of an ending and in a sentence, over all splits.

    But the empty one: the checks let no such ending into a release.
    """
    texts = [text for text in AWKWARD if text] * 4
    made = clean_set(len(texts) + 8)
    for i, text in enumerate(texts):
        made[i] = _with_text(made[i], i * 4 // len(texts), text)
    return made


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory, questions: list[Question]) -> Path:
    """The folder with all files of all exporters."""
    folder = tmp_path_factory.mktemp("release")
    for name in EXPORTERS:
        list(EXPORTERS[name]().export(questions, folder))
    return folder
