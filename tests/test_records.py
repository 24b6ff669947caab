"""Ids come from content, and texts are compared as people read them."""

from __future__ import annotations

import hashlib
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swag_studio.records import content_id, context_id, ending_id, folded

parts = st.lists(st.text(), max_size=4)


@given(parts, parts)
def test_different_parts_have_different_ids(one: list[str], other: list[str]) -> None:
    assert (content_id("context", *one) == content_id("context", *other)) == (one == other)


def test_an_id_is_the_kind_and_the_hash() -> None:
    """Ids stand in projects, so the way to them is fixed. Half a character is text as well."""
    data = b"\1\0\0\0\0\0\0\0" + b"a" + b"\2\0\0\0\0\0\0\0" + "ñ".encode()
    digest = hashlib.blake2b(data, digest_size=12, person=b"context").hexdigest()
    assert content_id("context", "a", "ñ") == "c" + digest[:23]
    assert content_id("caption", "a", "b")[0] == "c" != content_id("ending", "a", "b")[0]
    assert content_id("caption", "a", "b") != content_id("context", "a", "b")
    assert content_id("context", "ab") != content_id("context", "a", "b")
    assert len(content_id("ending", "\ud800")) == 24


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("He  waves.", "he waves. "),
        ("STRASSE", "straße"),
        ("ﬁlm", "film"),
        ("cafe\u0301", "café"),
        ("a\u00a0b\tc\nd", "a b c d"),
        ("Ⅸ", "ix"),
        ("\u3000", ""),
    ],
)
def test_folded_equal(text: str, same: str) -> None:
    assert folded(text) == folded(same)


@pytest.mark.parametrize("other", ["He waves", "She waves.", "He wavés."])
def test_folded_different(other: str) -> None:
    assert folded("He waves.") != folded(other)


def test_folding_every_character_twice_is_folding_once() -> None:
    for code in range(0x20000):  # no case and no compatible forms of other scripts beyond
        once = folded(chr(code))
        assert folded(once) == once, hex(code)


@given(st.text(), st.text())
@example("\u1f87\u0306", "")  # an iota below that comes to stand before the accent
@example("\u0130\U0001d180", "")  # a dot above before a sign that stands below
def test_folded_is_stable_under_case_space_and_form(text: str, other: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert folded(f"  {text}\n") == folded(text)
    assert folded(unicodedata.normalize("NFD", text)) == folded(text)
    assert folded(f"{text} {other}") == " ".join([folded(text), folded(other)]).strip()


def test_ids_do_not_hang_on_case_but_on_place() -> None:
    one = context_id("g", 1, "He waves.", "She", "nods.")
    assert one == context_id("g", 1, "he  waves.", "SHE", "Nods.")
    assert one != context_id("g", 2, "He waves.", "She", "nods.")
    assert one != context_id("h", 1, "He waves.", "She", "nods.")
    assert ending_id(one, "nods.") == ending_id(one, "Nods. ") != ending_id(one, "nods")
    assert ending_id("other", "nods.") != ending_id(one, "nods.")


def test_the_order_of_contexts_does_not_tell_their_found_endings() -> None:
    asked = [(f"g{i}", i, f"He waves {i} times.", "She") for i in range(50)]
    orders = {
        tuple(sorted(range(50), key=[context_id(*a, f"{word} {a[1]}.") for a in asked].__getitem__))
        for word in ("nods", "smiles", "runs")
    }
    assert len(orders) == 1
    assert context_id(*asked[0], "nods.") != context_id(*asked[0], "smiles.")
