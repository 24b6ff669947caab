"""Places of right endings, and questions read back from their file."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.questions import Spool, labels, placed
from swag_studio.records import SPLITS, Distractor, Question


def question(number: int, split: str = "train", text: str = "x") -> Question:
    wrong = tuple(Distractor(f"e{i}", f"{text} wrong {i}", "unl") for i in range(4))
    endings = (f"{text} right", *(d.text for d in wrong[:3]))
    return Question(
        f"c{number}", "v", 0, split, text, "Then", endings, 0, "gold", f"q{number}", "g",
        distractors=wrong, verified=True,
    )  # fmt: skip


@given(st.integers(0, 2**40), st.sampled_from(SPLITS), st.integers(0, 300))
def test_labels_are_balanced_and_the_same_for_the_same_seed(
    seed: int, split: str, count: int
) -> None:
    made = labels(seed, split, count)
    sizes = [Counter(made.tolist())[place] for place in range(4)]
    assert sum(sizes) == count and max(sizes) - min(sizes) <= 1
    assert made.tolist() == labels(seed, split, count).tolist()


@given(st.integers(0, 2**40), st.integers(0, 3))
def test_a_placed_question_has_the_same_endings(seed: int, label: int) -> None:
    before = question(1)
    after = placed(before, label, seed)
    assert after.right == before.right and Counter(after.endings) == Counter(before.endings)
    assert dataclasses.replace(after, endings=before.endings, label=0) == before


def test_wrong_endings_stand_in_any_order() -> None:
    orders = Counter(placed(question(i), 0, 1).endings[1:] for i in range(600))
    # Six orders, each expected 100 times, with variance 83.
    assert len(orders) == 6 and all(abs(n - 100) < 5 * 83**0.5 for n in orders.values())


def test_the_file_gives_back_what_was_put_in(tmp_path: Path) -> None:
    texts = ["None", "a\nb", "\r", "\u2028", '"', "猫", "", "\x85"]
    put = [question(i, SPLITS[i % 3], text) for i, text in enumerate(texts)]
    spool = Spool(tmp_path / "s.jsonl", seed=4)
    with open(spool.path, "w", encoding="utf-8", newline="\n") as file:
        for i, q in enumerate(put):
            file.write(spool.line(q, {"note": i}))
    assert len(spool) == len(put) and spool.counts == {"train": 3, "val": 3, "test": 2}
    read = list(spool.noted())
    assert [note["note"] for _, note in read] == list(range(len(put)))
    for before, (after, _) in zip(put, read, strict=True):
        assert placed(before, after.label, 4) == after
    assert list(spool) == [q for q, _ in read]  # each reading is the same
