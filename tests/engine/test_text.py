"""Cleaning, tokens, and the one function that makes shown text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.cleaning import EDITS, clean
from swag_studio.engine.corpus import SPECIALS, UNK, Vocabulary
from swag_studio.engine.text import (
    SENTENCE_STOPS,
    TextMaker,
    case_unsure,
    encode,
    join,
    tokenise,
    tokens_of,
    write,
)

# --- cleaning --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "cleaned", "edits"),
    [
        ("The man waits.", "The man waits.", []),
        ("  The\tman\nwaits. ", "The man waits.", ["spaces_trimmed"]),
        ("The man waits", "The man waits.", ["final_stop_set"]),
        ("The man waits,", "The man waits.", ["final_stop_set"]),
        ("The man waits...", "The man waits.", ["repeated_stops_joined"]),
        ("Wait!! What?!", "Wait! What?", ["repeated_stops_joined"]),
        ("He… waits.", "He... waits.", ["characters_normalised"]),
        ("the man’s “hat”.", "the man's \"hat\".", ["characters_normalised"]),
        ("Ｔhe man.", "The man.", ["characters_normalised"]),
        ("It reads 'go home'.", 'It reads "go home".', ["quotes_made_plain"]),
        ('It reads "home.', "It reads home.", ["quotes_made_plain"]),
        ('He says "home."', 'He says "home".', ["stop_moved_outside_quotes"]),
        ('He says "home!".', 'He says "home".', ["stop_moved_outside_quotes"]),
        ("red,white and blue.", "red, white and blue.", ["spaces_at_marks_set"]),
        ("red , white .", "red, white.", ["spaces_at_marks_set"]),
        ("- The man waits.", "The man waits.", ["start_trimmed"]),
        ("red — white.", "red - white.", ["dashes_made_plain"]),
        ("a\u200b b\x07.", "a b.", ["control_characters_removed"]),
        ("There's a dog.", "There is a dog.", ["contractions_written_out"]),
        ("He's gone and they're late.", "He has gone and they are late.",
         ["contractions_written_out"]),
        ("The dog wags it's tail.", "The dog wags it's tail.", []),
        ("the dogs' tails and o'clock, don't.", "the dogs' tails and o'clock, don't.", []),
        ("3.5 or 1,000 at 10:30 in a T-shirt.", "3.5 or 1,000 at 10:30 in a T-shirt.", []),
        ("None", "None.", ["final_stop_set"]),
        ("NaN.", "NaN.", []),
    ],
)  # fmt: skip
def test_each_edit(raw: str, cleaned: str, edits: list[str]) -> None:
    result = clean(raw)
    assert (result.text, list(result.edits), result.reason) == (cleaned, edits, "")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [("", "empty"), (" \n", "empty"), ("...", "empty"), ('"" ;', "no_words"), ("(*)", "no_words")],
)
def test_unusable(raw: str, reason: str) -> None:
    assert clean(raw).reason == reason


_CHARACTERS = st.sampled_from(list("aAsé .,!?;:'\"-–—()[]/\\’“`\n\t\x00\u200b…彼。½´*5İ\u0301"))


@given(st.text(_CHARACTERS, max_size=16) | st.text(max_size=12))
def test_cleaning_twice_changes_nothing(raw: str) -> None:
    once = clean(raw)
    if not once.reason:
        assert clean(once.text).text == once.text
        assert once.text == " ".join(once.text.split())
        assert tokenise(once.text)[-1] in SENTENCE_STOPS
    assert set(once.edits) <= {name for name, _ in EDITS}


# --- tokens ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("3.5 inches.", "3.5|inches|."),
        ("a T-shirt, 1/4 of 1,000 at 10:30.", "a|T-shirt|,|1/4|of|1,000|at|10:30|."),
        ("the 2nd of 100m.", "the|2nd|of|100m|."),
        ("man.He walks.", "man|.|He|walks|."),
        ("don't can't he'll the man's.", "do|n't|ca|n't|he|'ll|the|man|'s|."),
        ("DON'T o'clock cannot.", "DO|N'T|o'clock|cannot|."),
        ("the dogs' tails.", "the|dogs|'|tails|."),
        ("Mr. Smith of the U.S. team at 5 p.m.", "Mr.|Smith|of|the|U.S.|team|at|5|p.m|."),
        ('"Go (now)!"', '"|Go|(|now|)|!|"'),
        ("$5 or 20% & #1.", "$|5|or|20|%|&|#|1|."),
        ("a .22 rifle...", "a|.22|rifle|..."),
        ("彼は走る。", "彼|は|走|る|。"),
        ("iPhoneを買う", "iPhone|を|買|う"),
        ("ก็ดี", "ก็|ดี"),
        ("वह दौड़ता है.", "वह|दौड़ता|है|."),
        ("", ""),
    ],
)  # fmt: skip
def test_tokens(text: str, tokens: str) -> None:
    assert "|".join(tokenise(text)) == tokens


def test_lowercased_tokens_of_text_that_is_not_cleaned() -> None:
    assert tokens_of(" The  ＭＡＮ’s hat\n") == ["the", "man", "'s", "hat"]


def test_unknown_tokens_become_unk() -> None:
    ids = encode(["a", "zebra"], {"a": 4})
    assert (ids.tolist(), ids.dtype.name) == ([4, UNK], "uint16")


# --- shown text ------------------------------------------------------------------------------

_PLAIN = [
    "The man's dog doesn't bark.",
    "A boy (the tall one) opens the box, then leaves!",
    'The words "Happy Birthday" appear on screen.',
    "It costs $5 or 20% of it, at 10:30; why not?",
    "The dogs' tails wag and/or hang.",
    "They'd wait - we'll see.",
    "彼は走る。",
]


@pytest.mark.parametrize("text", _PLAIN)
def test_tokens_joined_are_the_text(text: str) -> None:
    assert join(tokenise(text)) == text


_WORDS = (
    "the man i n't 's ' do ca , . ! ? ; : ... \" ( ) [ ] $ # % / & - t-shirt .22 22 berlin "
    "彼 は 。 、 iphone é"
)
_VOCABULARY = Vocabulary(
    (*SPECIALS, *_WORDS.split()),
    {"i": "I", "berlin": "Berlin", "t-shirt": "T-shirt", "iphone": "iPhone"},
)
_IDS = st.lists(st.integers(0, len(_VOCABULARY) - 1), max_size=20)


@given(_IDS)
def test_shown_text_is_well_spaced_whatever_the_ids(ids: list[int]) -> None:
    maker = TextMaker(_VOCABULARY)
    for text in (maker.sentence(ids), maker.phrase(ids), maker.ending(ids)):
        assert not re.search(r"\s[.,!?;:](?!\d)", text)
        assert "  " not in text
        assert text == text.strip()
        assert not re.search(r"[彼は。、] | [彼は。、]", text)
        assert "\x00" not in text


@given(_IDS)
def test_only_casing_and_spaces_are_added(ids: list[int]) -> None:
    maker = TextMaker(_VOCABULARY)
    for text in (maker.sentence(ids), maker.ending(ids)):
        assert text.lower().replace(" ", "") == "".join(maker.tokens(ids))


def _shown(text: str, how: str = "sentence") -> str:
    index = _VOCABULARY.index
    ids = encode(tokens_of(text), index)
    assert UNK not in ids
    return str(getattr(TextMaker(_VOCABULARY), how)(ids))


def test_found_text_shows_no_trace_of_how_it_was_written() -> None:
    written = ["the MAN do n't , i . ", "The man don't, I.", "THE man  DON’T , i."]
    assert {_shown(text, "ending") for text in written} == {"the man don't, I."}


def test_capitals() -> None:
    assert _shown("the man. i berlin") == "The man. I Berlin"
    assert _shown("the man . the man ! do ? the", "ending") == "the man. The man! Do? The"
    assert _shown('the man . " 22 man "') == 'The man. "22 man"'
    assert _shown("the t-shirt", "phrase") == "The T-shirt"
    assert _shown("the man , berlin", "ending") == "the man, Berlin"
    assert _shown("iphone") == "iPhone"
    assert _shown('" the man "') == '"The man"'


def test_special_tokens() -> None:
    assert TextMaker(_VOCABULARY).ending([2, 4, 1, 5, 3, 0]) == "the <unk> man"


def test_where_a_capital_says_nothing() -> None:
    tokens = tokenise('"The Man" sees Berlin. He waits.')
    unsure = [t for t, u in zip(tokens, case_unsure(tokens), strict=True) if u]
    assert unsure == ['"', "The", "Man", '"', "He"]


def test_write_does_not_need_a_vocabulary() -> None:
    assert write(["bernard", "waits", "."], {"bernard": "Bernard"}, sentence=True) == (
        "Bernard waits."
    )
