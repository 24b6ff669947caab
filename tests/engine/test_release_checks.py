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

from swag_studio.engine.release_checks import (
    ERRORS,
    FALSE_ALARM,
    FIRST_PLACES,
    KINDS,
    Report,
    check,
)
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


def unseen_twin(questions: list[Question], at: int) -> list[Question]:
    """A twin of the right ending that differs by a joiner, which the checks let stand."""
    q = questions[at]
    return with_ending(questions, at, "\u200d".join(q.right), right=False)


def found_is_wrong(questions: list[Question], at: int) -> list[Question]:
    """The found ending as the fourth wrong one of a question whose right one is generated."""
    wrong = (*made(10_000).distractors[:3], Distractor("x", "sings.", "pos", "found"))
    return [*questions, made(10_000, "train", at % 4, gold_source="gen", distractors=wrong)]


def divided_video(questions: list[Question], at: int) -> list[Question]:
    q = questions[at]
    return [*questions, made(10_000, other_split(q), video_id=q.video_id)]


def alike_group(name: str) -> Fault:
    def planted(questions: list[Question], at: int) -> list[Question]:
        q = questions[at]
        twin = made(10_000, other_split(q), group=name)
        return [*changed(questions, at, group="Movie One"), twin]

    return planted


def no_context(questions: list[Question], at: int) -> list[Question]:
    return changed(questions, at, sent1="", sent2="...")


def label(value: int) -> Fault:
    return lambda questions, at: changed(questions, at, label=value)


def bare(text: str) -> Fault:
    return lambda questions, at: with_ending(questions, at, text, right=bool(at % 2))


def sentence(suffix: str) -> Fault:
    return lambda questions, at: changed(questions, at, sent1=questions[at].sent1 + suffix)


PLANTED: list[tuple[str, Fault]] = [
    ("duplicate_options", twice),
    ("duplicate_options", fourth_twice),
    ("gold_among_distractors", gold_among),
    ("gold_among_distractors", fourth_is_gold),
    ("gold_among_distractors", unseen_twin),
    ("gold_among_distractors", found_is_wrong),
    ("empty_ending", bare("")),
    ("empty_ending", bare("\u3164\u200d!")),
    ("empty_ending", bare(" .")),
    ("gen_outside_train", gen_in_test),
    ("empty_context", no_context),
    ("label_out_of_range", label(4)),
    ("label_out_of_range", label(-1)),
    ("group_in_two_splits", divided_group),
    ("group_in_two_splits", divided_video),
    ("groups_alike", alike_group("movie ONE")),
    ("groups_alike", alike_group(" Ｍovie\u200bOne ".replace("\u200b", " "))),
    ("context_across_splits", divided_context),
    ("answer_across_splits", answer_elsewhere),
    ("label_imbalance", one_place),
    ("control_characters", bare("stops \x07 here.")),
    ("control_characters", sentence("\u202e")),
    ("control_characters", bare("half \ud800 a pair.")),
    ("control_characters", bare("ends\r\nhere.")),
    ("control_characters", bare("\ufeffbegins here.")),
    ("control_characters", bare("hy\u00adphen.")),
    ("control_characters", sentence("\u2028.")),
    ("stray_space", bare("stops  here.")),
    ("stray_space", bare("stops here. ")),
    ("stray_space", sentence("\u00a0")),
    ("long_text", bare("on and " * 200 + "on.")),
    ("long_text", sentence(" And so on." * 100)),
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
    texts = [text for q in planted for text in (q.sent1, *q.endings)]
    spaced = any(text != " ".join(text.split()) for text in texts)
    expected = {kind} | ({"stray_space"} if spaced else set())  # a line end is one, say
    order = data.draw(st.permutations(planted))
    report = check(order)
    assert kinds(report) == expected
    (problem,) = (p for p in report.problems if p.kind == kind)
    assert problem.count == len(problem.places) == 1
    assert problem.sentence.startswith("1 ") and problem.sentence.endswith(".")
    two = ("label_imbalance", "group_in_two_splits", "groups_alike", "context_across_splits")
    if kind not in two:
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
    assert report.continued_in == {"train": 1, "val": 0, "test": 0}
    japanese = dataclasses.replace(first, sent2="猫が", endings=("窓を開ける。", "a", "b", "c"))
    report = check([japanese, made(2, "val", 1, sent1="猫が窓を開ける。")])
    assert kinds(report) == {"answer_across_splits"}


def test_a_movie_has_many_videos_and_is_one_group() -> None:
    """Divided, it is one fault, however many of its videos are told apart or divided with it."""
    clips = [made(i, "train", i % 4, group="movie") for i in range(4)]
    assert check(clips).problems == ()
    others = [made(9 + i, "val", i % 4, group="movie", video_id=f"anetv_{i}") for i in range(4)]
    (problem,) = check([*clips, *others]).problems
    assert (problem.kind, problem.count) == ("group_in_two_splits", 1)


def test_what_scripts_need_is_not_blamed() -> None:
    """Joiners, marks of direction, variation selectors; ids that differ by case in one split."""
    texts = ("می\u200cخواهم بروم.", "\u200fשלום.", "ok\ufe0f go.", "क\u094d\u200dष.")
    first = made(1, "train", 0, endings=texts, distractors=(), group="a")
    assert check([first, made(2, "train", 1, group="A")]).problems == ()


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
    assert check(questions).to_dict() == {
        "questions": 6 * FIRST_PLACES,
        "continued": 0,
        "continued_in": {"train": 0, "val": 0, "test": 0},
        "problems": [dataclasses.asdict(problem) | {"places": list(problem.places)}],
    }


def test_no_problem_tells_a_text() -> None:
    questions = with_ending(clean_set(6), 0, "secret  \x07", right=False)
    told = str(check(questions).to_dict())
    assert "secret" not in told and "chair" not in told


def test_what_anyone_may_read_names_no_context_of_the_test_split() -> None:
    """Its id follows from the right ending: whoever has the four endings could try them."""
    questions = [dataclasses.replace(q, sent1=f"{q.sent1} ") for q in clean_set(6)]
    (problem,) = (told := check(questions).public())["problems"]
    assert problem["places"] == ["train 0, c0", "val 0, c1", "test 0", "train 1, c3", "val 1, c4"]
    assert told | {"problems": []} == check(questions).to_dict() | {"problems": []}
    skewed = [made(i, "test", 2) for i in range(60)]
    (place,) = check(skewed).public()["problems"][0]["places"]
    assert place == "test" and "ending2 is right" in check(skewed).problems[0].places[0]


def test_errors_are_the_kinds_that_block() -> None:
    assert {*ERRORS} < {*KINDS}
    assert "empty_ending" in ERRORS and "answer_across_splits" not in ERRORS
