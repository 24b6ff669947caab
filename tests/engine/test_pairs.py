"""The rules that drop a pair, at their bounds: METHOD's 6 to 100 tokens, 5 to 25 in an ending."""

from __future__ import annotations

import pytest

from swag_studio.engine.pairs import LONGEST_SENTENCE, Line, badly_cut, own_unfit, unfit, unlinked
from swag_studio.recipe import PrepareRecipe

RULES = PrepareRecipe()


def words(count: int) -> list[str]:
    """A sentence of `count` tokens, its stop among them."""
    return [*("w" for _ in range(count - 1)), "."]


@pytest.mark.parametrize(
    ("first", "reason"),
    [(5, "context_too_short"), (6, ""), (100, ""), (101, "context_too_long")],
)
def test_a_first_sentence_has_6_to_100_tokens(first: int, reason: str) -> None:
    assert unfit(words(first), words(10), RULES) == reason


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (5, "ending_too_short"),  # with no token left for a noun phrase
        (6, ""),
        (LONGEST_SENTENCE, ""),
        (LONGEST_SENTENCE + 1, "ending_too_long"),
    ],
)
def test_a_second_sentence_can_hold_a_phrase_and_an_ending(second: int, reason: str) -> None:
    assert unfit(words(6), words(second), RULES) == reason


def test_a_stop_inside_makes_several_sentences() -> None:
    for stop in (".", "!", "?", "。"):
        assert unfit(words(6), ["w", stop, *words(5)], RULES) == "several_sentences"
    assert unfit(["w", ".", *words(5)], words(6), RULES) == ""  # the first one may


@pytest.mark.parametrize(
    ("ending", "reason"), [(4, "ending_too_short"), (5, ""), (25, ""), (26, "ending_too_long")]
)
def test_an_ending_has_5_to_25_tokens(ending: int, reason: str) -> None:
    for phrase in (1, 3):
        assert badly_cut(["n"] * phrase + words(ending), phrase, RULES) == reason


def test_a_cut_parts_no_word_and_no_quotes() -> None:
    assert badly_cut(["Bob", "'s", *words(5)], 1, RULES) == "cut_within_word"
    assert badly_cut(["Bob", "'S", *words(5)], 1, RULES) == "cut_within_word"
    assert badly_cut(['"', "Bob", *words(5)], 2, RULES) == "cut_within_quotes"
    assert badly_cut(['"', "Bob", '"', *words(5)], 3, RULES) == ""


def test_an_own_context_has_all_parts_and_fits_the_arrays() -> None:
    for missing in range(3):
        parts = [[] if i == missing else ["w"] for i in range(3)]
        assert own_unfit(parts[0], parts[1], parts[2], RULES) == "empty_part"
    assert own_unfit(["w"], ["w"], ["w"], RULES) == ""
    for phrase, ending, reason in (
        (LONGEST_SENTENCE, 25, ""),
        (LONGEST_SENTENCE + 1, 25, "phrase_too_long"),
        (1, 26, "ending_too_long"),
    ):
        assert own_unfit(["w"], words(phrase), words(ending), RULES) == reason


def line(position: int, start: float | None, end: float | None, **values: object) -> Line:
    fields = {"source": "s", "document": "d", "row": position} | values
    return Line(group="g", video_id="v", position=position, start=start, end=end, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("end", "start", "reason"),
    [(0.0, 25.0, ""), (0.0, 25.5, "gap"), (9.0, 3.0, ""), (None, 99.0, ""), (0.0, None, "")],
)
def test_a_pause_is_25_seconds_at_most(end: float | None, start: float | None, reason: str) -> None:
    pair = line(0, 0.0, end), line(1, start, 200.0)
    assert unlinked(pair, RULES.max_gap) == reason


def test_both_captions_of_a_pair_are_usable_and_follow_each_other() -> None:
    first, second = line(0, 0.0, 1.0), line(1, 2.0, 3.0)
    for pair in ((line(0, 0.0, 1.0, row=-1), second), (first, line(1, 2.0, 3.0, row=-1))):
        assert unlinked(pair, RULES.max_gap) == "unusable_caption"
    assert second.follows(first) and not first.follows(second)
    assert not line(2, 2.0, 3.0).follows(first)
    assert not line(1, 2.0, 3.0, document="e").follows(first)
    assert not line(1, 2.0, 3.0, source="t").follows(first)
