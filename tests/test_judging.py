"""The rows of human work: ids, the order shown, what may be answered, which answer counts."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from swag_studio.judging import (
    LABELS,
    Annotator,
    Judgement,
    counting,
    latest,
    problem,
    shown_order,
    task_id,
)


def answer(task: str, who: str, revision: int = 0, comment: str = "") -> Judgement:
    return Judgement(task, who, ("likely",) * 6, 0, 1, revision, comment)


def test_a_tasks_id_is_what_is_asked() -> None:
    same = task_id("c", 0, ("a", "b"))
    assert same == task_id("c", 0, ("a", "b"), "work")
    others = [
        task_id("d", 0, ("a", "b")),
        task_id("c", 1, ("a", "b")),
        task_id("c", 0, ("b", "a")),
        task_id("c", 0, ("a",)),
        task_id("c", 0, ("a", "b"), "check"),
    ]
    assert len({same, *others}) == 6


@given(st.integers(0, 2**31), st.text(max_size=8), st.text(max_size=8), st.integers(1, 9))
def test_the_order_shown_is_a_permutation_that_stays(s: int, task: str, who: str, n: int) -> None:
    order = shown_order(s, task, who, n)
    assert sorted(order) == list(range(n))
    assert order == shown_order(s, task, who, n)


def test_the_found_ending_is_shown_in_every_place_equally_often() -> None:
    places = Counter(shown_order(1, f"t{i}", "a").index(0) for i in range(6000))
    # 1000 each; 4 standard errors are 115.
    assert all(abs(places[i] - 1000) < 115 for i in range(6))
    assert shown_order(1, "t", "a") != shown_order(1, "t", "b")


optional_labels = st.lists(st.sampled_from([*LABELS, None]), min_size=6, max_size=6)
optional_place = st.none() | st.integers(0, 5)


@given(optional_labels, optional_place, optional_place)
def test_an_answer_may_be_given_exactly_when_it_is_whole_and_allowed(
    labels: list[str | None], best: int | None, second: int | None
) -> None:
    whole = None not in labels and best is not None and second is not None
    allowed = whole and best != second and labels[best] != "gibberish"  # type: ignore[index]
    if allowed and labels[second] == "gibberish":  # type: ignore[index]
        allowed = labels.count("gibberish") == 5  # all but the best one
    assert (problem(tuple(labels), best, second) == "") == bool(allowed)  # type: ignore[arg-type]


def test_a_problem_is_said_in_words() -> None:
    labels = ("likely", "gibberish", "likely")
    assert problem(("likely", None, None), None, None) == "2 of 3 endings have no label yet."
    assert problem(labels, None, 0) == "No ending is marked as best yet."
    assert problem(labels, 0, None) == "No ending is marked as second best yet."
    assert problem(labels, 0, 0) == "Best and second best must be two different endings."
    refused = "An ending that is gibberish cannot be second best while another one is not."
    assert problem(labels, 0, 1) == refused
    assert problem(("likely", "gibberish", "gibberish"), 0, 1) == ""
    assert problem(labels, 1, 0) == "An ending that is gibberish cannot be best."


@given(
    st.lists(
        st.tuples(st.sampled_from("st"), st.sampled_from("ab"), st.integers(0, 3)), unique=True
    )
)
def test_the_highest_revision_counts(keys: list[tuple[str, str, int]]) -> None:
    kept = {(j.task_id, j.annotator_id): j.revision for j in latest(answer(*k) for k in keys)}
    assert kept == {k[:2]: max(r for t, a, r in keys if (t, a) == k[:2]) for k in keys}


def test_only_people_count_unless_others_are_asked_for() -> None:
    people = [Annotator("a", "Ann"), Annotator("b", "Bob", active=False)]
    robot = Annotator("r", "Simulated 1", "simulated")
    given_ = [answer("t", "a"), answer("t", "r"), answer("t", "b"), answer("t", "stranger")]
    assert [j.annotator_id for j in counting(given_, [*people, robot])] == ["a", "b"]
    both = counting(given_, [*people, robot], simulated=True)
    assert [j.annotator_id for j in both] == ["a", "r", "b"]


def test_a_judgements_id_tells_its_revision() -> None:
    assert answer("t", "a").id == answer("t", "a", comment="as before").id
    assert len({answer("t", "a", r).id for r in range(3)}) == 3
