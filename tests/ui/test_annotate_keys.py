"""The keys of judging: whatever is tried, each action keeps a key of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.ui.annotate_keys import ACTIONS, KeyMap

codes = st.sampled_from([a.code for a in ACTIONS])
some_keys = st.sampled_from(["1", "2", "B", "Q", "Return", "Tab", "Ctrl+A", "", "Down"])


@given(st.lists(st.tuples(codes, some_keys), max_size=12))
def test_whatever_is_tried_every_action_has_a_key_of_its_own(
    changes: list[tuple[str, str]],
) -> None:
    keymap = KeyMap()
    for code, key in changes:
        if keymap.refusal(code, key):
            with pytest.raises(ValueError):
                keymap.changed(code, key)
        else:
            keymap = keymap.changed(code, key)
            assert keymap.keys[code] == key
        assert len(set(keymap.keys.values())) == len(ACTIONS)
        assert not {"", "Tab", "Ctrl+A", "Down"} & set(keymap.keys.values())


def test_damaged_keys_are_the_default_ones() -> None:
    assert KeyMap({"likely": "2"}).keys == KeyMap().keys
    assert KeyMap({"nothing": "Q"}).keys == KeyMap().keys
