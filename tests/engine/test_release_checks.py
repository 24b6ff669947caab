"""Every fault that is planted in a clean set is found, and a clean set is not blamed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_questions import clean_set, made
from scipy.stats import binomtest

from swag_studio.engine.release_checks import FALSE_ALARM, FIRST_PLACES, KINDS, Report, check
from swag_studio.records import SPLITS, Distractor, Question

Fault = Callable[[list[Question], int], list[Question]]


def changed(questions: list[Question], at: int, **values: Any) -> list[Question]:
    """The set with one question changed."""
    copy = list(questions)
    copy[at] = dataclasses.replace(copy[at], **values)
    return copy


def with_ending(questions: list[Question], at: int, text: str, right: bool) -> list[Question]:
    """The set with the right ending, or the first wrong one, of a question replaced."""
    q = questions[at]
    place = q.label if right else (q.label + 1) % len(q.endings)
    endings = [text if i == place else t for i, t in enumerate(q.endings)]
    return changed(questions, at, endings=tuple(endings))


def other_split(question: Question) -> str:
    return SPLITS[(SPLITS.index(question.split) + 1) % 3]


def twice(questions: list[Question], at: int) -> list[Question]:
    q = questions[at]
    twin = q.endings[(q.label + 2) % 4]
    return with_ending(questions, at, twin.upper(), right=False)


def fourth_twice(questions: list[Question], at: int) -> list[Question]:
    q = questions[at]
    fourth = Distractor("x", q.distractors[0].text.title(), "pos")
    return changed(questions, at, distractors=(*q.distractors[:3], fourth))


def gold_among(questions: list[Question], at: int) -> list[Question]:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in questions[at].right)
    return with_ending(questions, at, wide, right=False)


def fourth_is_gold(questions: list[Question], at: int) -> list[Question]:
    q = questions[at]
    return changed(questions, at, distractors=(*q.distractors[:3], Distractor("x", q.right)))


def divided_group(questions: list[Question], at: int) -> list[Question]:
    q = questions[at]
    return [*questions, made(10_000, other_split(q), group=q.group)]


def divided_context(questions: list[Question], at: int) -> list[Question]:
    q = questions[at]
    twin = made(10_000, other_split(q), sent1=q.sent1.upper(), sent2=f" {q.sent2}".strip())
    return [*questions, twin]


def answer_elsewhere(questions: list[Question], at: int) -> list[Question]:
    q = questions[at]
    return [*questions, made(10_000, other_split(q), sent1=f"{q.sent2} {q.right}")]


def gen_in_test(questions: list[Question], at: int) -> list[Question]:
    return [*questions, made(10_000, "test" if at % 2 else "val", gold_source="gen")]


def one_place(questions: list[Question], at: int) -> list[Question]:
    # 12 of 12 at one place of four is (1/4) ** 12 = 6e-8, however many splits are looked at.
    return [*questions, *(made(10_000 + i, "surprising", at % 4) for i in range(12))]


def bare(text: str) -> Fault:
    return lambda questions, at: with_ending(questions, at, text, right=bool(at % 2))


def sentence(suffix: str) -> Fault:
    return lambda questions, at: changed(questions, at, sent1=questions[at].sent1 + suffix)


PLANTED: list[tuple[str, Fault]] = [
    ("duplicate_options", twice),
    ("duplicate_options", fourth_twice),
    ("gold_among_distractors", gold_among),
    ("gold_among_distractors", fourth_is_gold),
    ("empty_ending", bare("")),
    ("empty_ending", bare(" .")),
    ("gen_outside_train", gen_in_test),
    ("group_in_two_splits", divided_group),
    ("context_across_splits", divided_context),
    ("answer_across_splits", answer_elsewhere),
    ("label_imbalance", one_place),
    ("control_characters", bare("stops \x07 here.")),
    ("control_characters", sentence("\u202e")),
    ("control_characters", bare("half \ud800 a pair.")),
    ("stray_space", bare("stops  here.")),
    ("stray_space", bare("stops here. ")),
    ("stray_space", sentence("\u00a0")),
]


def kinds(report: Report) -> set[str]:
    return {problem.kind for problem in report.problems}


@settings(max_examples=30)
@given(st.integers(0, 90), st.randoms(use_true_random=False))
def test_a_clean_set_is_not_blamed(count: int, random: Any) -> None:
    questions = clean_set(count)
    random.shuffle(questions)
    report = check(iter(questions))
    assert (report.problems, report.questions, report.continued) == ((), count, 0)


@pytest.mark.parametrize(("kind", "fault"), PLANTED)
@settings(max_examples=15)
@given(count=st.integers(4, 30), data=st.data())
def test_a_planted_fault_is_found_and_nothing_else(kind: str, fault: Fault, count: int,
                                                   data: st.DataObject) -> None:  # fmt: skip
    at = data.draw(st.integers(0, count - 1))
    planted = fault(clean_set(count), at)
    # An ending " ." has also a stray space.
    expected = {kind} | ({"stray_space"} if any(" ." in q.endings for q in planted) else set())
    order = data.draw(st.permutations(planted))
    report = check(order)
    assert kinds(report) == expected
    (problem,) = (p for p in report.problems if p.kind == kind)
    assert problem.count == len(problem.places) == 1
    assert problem.sentence.startswith("1 ") and problem.sentence.endswith(".")
    if kind not in ("label_imbalance", "group_in_two_splits", "context_across_splits"):
        split, row, context = problem.places[0].replace(",", "").split()
        assert [q for q in order if q.split == split][int(row)].context_id == context


def test_every_kind_is_planted() -> None:
    assert {kind for kind, _ in PLANTED} == set(KINDS)


@settings(max_examples=25)
@given(st.lists(st.sampled_from(PLANTED), unique_by=lambda pair: pair[0], max_size=4))
def test_several_faults_at_once_are_all_found(plants: list[tuple[str, Fault]]) -> None:
    questions = clean_set(40)
    for at, (_, fault) in enumerate(plants):
        questions = fault(questions, 4 * at)
    assert kinds(check(questions)) >= {kind for kind, _ in plants}


def test_the_next_caption_as_context_is_normal_within_a_split() -> None:
    first = made(1, "train", group="g")
    second = made(2, "train", 1, group="g", sent1=f"{first.sent2} {first.right}")
    report = check([first, second])
    assert (report.problems, report.continued) == ((), 1)
    japanese = dataclasses.replace(first, sent2="猫が", endings=("窓を開ける。", "a", "b", "c"))
    report = check([japanese, made(2, "val", 1, sent1="猫が窓を開ける。")])
    assert kinds(report) == {"answer_across_splits"}


def test_a_gen_question_shares_the_context_of_its_found_one() -> None:
    found = made(1)
    made_of_it = dataclasses.replace(found, gold_source="gen", label=1)
    assert check([found, made_of_it]).problems == ()


@settings(max_examples=40)
@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_labels_are_blamed_by_the_exact_binomial_bound(counts: list[int]) -> None:
    labels = [label for label, count in enumerate(counts) for _ in range(count)]
    report = check(made(i, "val", label) for i, label in enumerate(labels))
    # The interval excludes 1/4 where a tail has less than half of what is left for each place.
    bound = FALSE_ALARM / 4 / 2
    n = len(labels)
    tails = [
        binomtest(count, n, 1 / 4, alternative=side).pvalue
        for count in counts
        for side in ("less", "greater")
        if n
    ]
    if all(abs(p - bound) > 1e-9 for p in tails):
        assert ("label_imbalance" in kinds(report)) == any(p < bound for p in tails)


def test_places_are_the_first_ones_and_the_count_is_of_all() -> None:
    questions = [
        dataclasses.replace(q, sent1=q.sent1 + " ") for q in clean_set(2 * 3 * FIRST_PLACES)
    ]
    (problem,) = check(questions).problems
    assert problem.kind == "stray_space" and problem.level == "warning"
    assert problem.count == 6 * FIRST_PLACES
    assert problem.places == ("train 0, c0", "val 0, c1", "test 0, c2", "train 1, c3", "val 1, c4")
    assert check(questions).warnings == (problem,) and check(questions).errors == ()
    assert problem.to_dict()["places"] == list(problem.places)


def test_no_problem_tells_a_text() -> None:
    questions = with_ending(clean_set(6), 0, "secret  \x07", right=False)
    told = str(check(questions).to_dict())
    assert "secret" not in told and "chair" not in told
