"""Places of right endings, and questions read back from their file."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from made_run import make_store

from swag_studio.cases import CaseReader
from swag_studio.engine.questions import Outcome, QuestionMaker, Spool, labels, placed
from swag_studio.judging import Annotator, Judgement, Label
from swag_studio.policy import VerificationPolicy
from swag_studio.records import SPLITS, Distractor, Question
from swag_studio.store import Store
from swag_studio.verification import draw_task


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


# --- what becomes of a context -------------------------------------------------------------------

TWO = VerificationPolicy(judgements=2)
SAID: dict[str, tuple[Label, ...]] = {
    "found": ("likely", *["unlikely"] * 5),
    "best of bad": ("unlikely",) * 6,
    "missed": ("unlikely", "likely", "likely", *["unlikely"] * 3),
}


def judged(store: Store, context: str, said: str, *people: str) -> None:
    """The context's first task, answered alike by some: the found ending best, or missed."""
    task = draw_task(context, store.assigned_of(1, [context])[context], 1, 7, TWO)
    store.put_tasks([task])
    best, second = (1, 2) if said == "missed" else (0, 1)
    store.add_judgements([Judgement(task.id, who, SAID[said], best, second) for who in people])


def made_of(store: Store, unverified: bool) -> dict[str, Outcome]:
    maker = QuestionMaker(store, TWO, 7, unverified, {"robot"})
    cases = CaseReader(store, 1, 1, frozenset()).read([c.id for c in store.contexts(1)], True)
    return {outcome.context.id: outcome for outcome in maker.outcomes(cases)}


def test_what_becomes_of_contexts_that_few_or_none_judged(tmp_path: Path) -> None:
    store = make_store(tmp_path, 6)
    for who, kind in (("ann", "person"), ("bob", "person"), ("robot", "simulated")):
        store.put_annotator(Annotator(who, who, kind))  # type: ignore[arg-type]
    untouched, half, people, mixed, missed, excluded = (c.id for c in store.contexts(1))
    judged(store, half, "found", "robot")  # one of two
    judged(store, people, "found", "ann", "bob")
    judged(store, mixed, "best of bad", "ann", "robot")
    judged(store, missed, "missed", "ann", "bob")
    judged(store, excluded, "found", "ann", "bob")
    before = store.curated(1, excluded)
    after = dataclasses.replace(before, excluded=True)
    store.apply_edits(1, "Cura", "Exclude", {excluded: (before, after)})
    for unverified in (False, True):
        made = made_of(store, unverified)
        pending = "" if unverified else "not judged"
        assert {id: outcome.left_out for id, outcome in made.items()} == {
            untouched: pending,
            half: pending,
            people: "",
            mixed: "",
            missed: "reannotate",
            excluded: "excluded",
        }
        questions = {id: outcome.questions for id, outcome in made.items()}
        told = {id: (q.verified, q.simulated) for id, qs in questions.items() for q in qs}
        # What a simulated annotator began is nobody's word.
        expected = {people: (True, False), mixed: (True, True)}
        assert told == expected | (
            dict.fromkeys((untouched, half), (False, False)) if unverified else {}
        )
        types = {id: q.right_type for id, qs in questions.items() for q in qs if q.verified}
        assert types == {people: "pos", mixed: "unl"}
        for id, (q,) in ((id, qs) for id, qs in questions.items() if qs):
            wrong = {d.id for d in q.distractors}
            assert len(wrong) == 4 and wrong < {*store.assigned_of(1, [id])[id][1:]}
            assert q.endings == (q.right, *(d.text for d in q.distractors[:3]))
    store.close()
