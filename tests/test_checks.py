"""Entry tests and hidden checks: known gibberish, keys, and when they are passed."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.checks import LEAST, CheckRules, make_check, passed, passes, scrambled, strewn
from swag_studio.judging import Judgement, Label
from swag_studio.records import Ending, ending_id

JAPANESE = "男は静かに部屋を出て行く。"


def endings(texts: list[str]) -> list[Ending]:
    kinds = ["found", *["generated"] * len(texts)]
    return [
        Ending(ending_id("c1", t), "c1", t, kind, -1)  # type: ignore[arg-type]
        for t, kind in zip(texts, kinds, strict=False)
    ]


DISTRACTORS = [f"walks number {n} over to the old red door." for n in range(7)] + ["runs.", "sits."]
MADE = endings(["opens the door.", *DISTRACTORS])


@given(st.lists(st.text("abcdef", min_size=1, max_size=3), max_size=12), st.integers(0, 99))
def test_no_two_words_still_follow_each_other(words: list[str], seed: int) -> None:
    text = " ".join(words) + "."
    mixed = scrambled(text, random.Random(seed))
    if mixed:
        assert mixed.endswith(".") and sorted(mixed[:-1].split()) == sorted(words)
        assert set(pairwise(mixed[:-1].split())).isdisjoint(pairwise(words))
    elif len(set(words)) == len(words):
        assert len(words) < LEAST  # different words can always be parted


def test_text_without_spaces_is_shuffled_by_character() -> None:
    mixed = scrambled(JAPANESE, random.Random(1))
    assert sorted(mixed) == sorted(JAPANESE) and mixed.endswith("。") and mixed != JAPANESE


def test_a_check_has_its_key_and_endings_that_no_question_can_have() -> None:
    made = make_check("check", MADE, filter_version=2, seed=1)
    assert made is not None
    task, new = made
    assert task.kind == "check" and task.key == {"top": [0], "gibberish": [4, 5]}
    assert task.endings[0] == MADE[0].id and len(set(task.endings)) == 6
    assert [e.kind for e in new] == ["scrambled", "scrambled"]
    assert task.endings[4:] == tuple(e.id for e in new)
    assert set(task.endings[1:4]) < {e.id for e in MADE[1:]}
    assert {e.id for e in new}.isdisjoint(e.id for e in MADE)
    assert make_check("check", MADE, 2, seed=1) == made != make_check("check", MADE, 2, seed=2)


@given(st.permutations(range(5, 11)))
def test_the_longest_distractors_are_shuffled(lengths: list[int]) -> None:
    """The more words, the less sense is left; the others are shown as they are."""
    texts = {n: " ".join(f"w{n}x{i}" for i in range(n)) + "." for n in lengths}
    given_ = endings(["opens the door.", *texts.values()])
    made = make_check("check", given_, 1, 1)
    assert made is not None
    task, new = made
    words = sorted(sorted(e.text.rstrip(".").split()) for e in new)
    assert words == sorted(sorted(texts[n].rstrip(".").split()) for n in (9, 10))
    shown = {e.id: e.text for e in given_}
    assert {shown[id] for id in task.endings[1:4]} < {texts[n] for n in range(5, 9)}


@pytest.mark.parametrize("texts", [["opens it.", *["runs.", "sits.", "goes."] * 3], ["a.", "b."]])
def test_a_context_whose_endings_are_too_short_makes_none(texts: list[str]) -> None:
    assert make_check("test", endings(texts), 1, 1) is None


KEY = {"top": [0], "gibberish": [4, 5]}
FOUND: tuple[Label, ...] = ("likely", "unlikely", "unlikely", "likely", "gibberish", "gibberish")
MISSED: tuple[Label, ...] = (*FOUND[:5], "unlikely")


@pytest.mark.parametrize(
    ("labels", "best", "second", "expected"),
    [
        (FOUND, 0, 1, {"both": True, "found": True, "gibberish": True}),
        (FOUND, 3, 0, {"both": True, "found": True, "gibberish": True}),
        (FOUND, 1, 2, {"both": False, "found": False, "gibberish": True}),
        (MISSED, 0, 1, {"both": False, "found": True, "gibberish": False}),
    ],
)
def test_the_rule_says_what_passes(
    labels: tuple[Label, ...], best: int, second: int, expected: dict[str, bool]
) -> None:
    answer = Judgement("t1", "a1", labels, best, second)
    assert {rule: passes(answer, KEY, rule) for rule in expected} == expected


def test_the_pass_mark_is_reached_exactly() -> None:
    rules = CheckRules(items=10, pass_mark=0.6)
    assert passed([True] * 6 + [False] * 4, rules)
    assert not passed([True] * 5 + [False] * 5, rules)
    assert not passed([], rules)


def test_checks_are_strewn_at_their_rate_and_by_seed() -> None:
    tasks = [f"t{n}" for n in range(4000)]
    places = list(strewn(0.05, 1, "a1", tasks))
    assert 150 < len(places) < 250  # 200 expected, with a standard deviation of 14
    assert places == list(strewn(0.05, 1, "a1", tasks)) != list(strewn(0.05, 1, "a2", tasks))
    assert list(strewn(0.0, 1, "a1", tasks)) == []
