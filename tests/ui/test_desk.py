"""Answers in the order shown: what keys may lead to, and the way to the task's order and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swag_studio.judging import LABELS, problem
from swag_studio.ui.desk import Answer
from swag_studio.ui.store_desk import _answer, _shown, _stored

moves = st.tuples(st.sampled_from([*LABELS, "best", "second"]), st.integers(0, 5))


@given(st.lists(moves, max_size=40))
def test_no_sequence_of_keys_gives_an_answer_that_is_not_allowed(
    steps: list[tuple[str, int]],
) -> None:
    answer = Answer.empty(6)
    for what, place in steps:
        if what in LABELS:
            answer, _ = answer.labelled(place, what)  # type: ignore[arg-type]
            assert answer.labels[place] == what
        else:
            answer, refused = answer.ranked(place, what)  # type: ignore[arg-type]
            assert bool(refused) == (answer.labels[place] == "gibberish")
        ranks = [answer.best, answer.second]
        assert ranks[0] is None or ranks[0] != ranks[1]
        assert all(r is None or answer.labels[r] != "gibberish" for r in ranks)
        told = problem(answer.labels, answer.best, answer.second)
        assert "two different" not in told and "gibberish" not in told


labels = st.lists(st.sampled_from([*LABELS, None]), min_size=6, max_size=6).map(tuple)
places = st.none() | st.integers(0, 5)
orders = st.permutations(range(6)).map(tuple)


@given(labels, places, places, orders)
def test_what_is_stored_is_of_the_ending_that_was_shown(
    given_labels: tuple[str | None, ...],
    best: int | None,
    second: int | None,
    order: tuple[int, ...],
) -> None:
    answer = Answer(given_labels, best, second, "c", 1.0)  # type: ignore[arg-type]
    stored = _stored(answer, order)
    assert [stored.labels[place] for place in order] == list(given_labels)
    assert best is None or stored.best == order[best]
    assert _shown(stored, order) == answer


json_like = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers())


@given(
    st.dictionaries(st.sampled_from(["labels", "best", "second", "comment", "seconds"]), json_like)
)
def test_a_damaged_draft_counts_as_not_given(body: dict[str, object]) -> None:
    answer = _answer(body, 6)
    assert answer.labels == (None,) * 6 and answer.seconds >= 0
    assert all(place is None or 0 <= place < 6 for place in (answer.best, answer.second))
