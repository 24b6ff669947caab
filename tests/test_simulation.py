"""Simulated annotators: legal, repeatable, marked, and as frequent as the paper's table."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.agreement import agreement
from swag_studio.judging import LABELS, Annotator, Task, problem
from swag_studio.ratings import PAPER, Ratings, collect, frequencies
from swag_studio.simulation import SECONDS, crew, simulate

TASKS = {
    f"t{i}": Task(f"t{i}", f"c{i}", 1, 0, tuple(f"e{i}-{j}" for j in range(6))) for i in range(3000)
}
CREW = crew(2, seed=5)
NAMES = (*LABELS, "best", "second")


def ratings(skill: float) -> Ratings:
    given = [simulate(t, one.annotator, skill, 1) for t in TASKS.values() for one in CREW]
    return collect(given, TASKS, [one.annotator for one in CREW], simulated=True)


@pytest.fixture(scope="module")
def skilled() -> Ratings:
    return ratings(1.0)


@given(st.integers(2, 9), st.floats(0, 1), st.integers(0, 1000), st.text(max_size=5))
def test_every_answer_is_legal_and_repeatable(n: int, skill: float, seed: int, id: str) -> None:
    size = max(n, 3)
    task = Task(f"t{id}", "c", 1, 0, tuple(map(str, range(size))))
    for one in CREW:
        judgement = simulate(task, one.annotator, skill, seed)
        assert len(judgement.labels) == size
        assert problem(judgement.labels, judgement.best, judgement.second) == ""
        assert judgement.seconds > 0
        assert judgement == simulate(task, one.annotator, skill, seed)


def within(share: float, expected: float, n: int, designs: float, rounding: float = 0.0) -> bool:
    """Whether a share of n draws is within 4 standard errors of what is expected: 1 in 15,000.

    `designs`: how much the variance grows because draws come in groups that are not independent.
    """
    error = math.sqrt(expected * (1 - expected) * designs / n)
    return abs(share - expected) <= 4 * error + rounding


def test_skill_1_answers_as_the_papers_table(skilled: Ratings) -> None:
    """Two share some answers, so n tasks by two are worth at least n independent ones: designs 2.

    The table is rounded to .001 and its second places sum to .997, so .001 is allowed besides.
    """
    table = frequencies(skilled)
    for name in NAMES:
        found, generated = getattr(PAPER.found, name), getattr(PAPER.generated, name)
        assert within(getattr(table.found, name), found, table.found.n, 2, 0.001), name
        assert within(getattr(table.generated, name), generated, table.generated.n, 2, 0.001), name


def test_skill_0_knows_nothing() -> None:
    table = frequencies(ratings(0.0))
    for shares in (table.found, table.generated):
        assert within(shares.best, 1 / 6, shares.n, 1)
        assert within(shares.second, 1 / 6, shares.n, 1)
        # A third of those that are neither best nor second, which are two thirds.
        assert within(shares.gibberish, 2 / 9, shares.n, 1)
        assert within(shares.likely, 7 / 18, shares.n, 1)


def test_skill_between_is_a_mixture() -> None:
    table = frequencies(ratings(0.5))
    top = table.found.best + table.found.second
    assert within(top, (0.737 + 1 / 3) / 2, table.found.n, 2)


def test_two_skilled_ones_agree_about_as_people_do(skilled: Ratings) -> None:
    assert agreement(skilled, "choices", draws=0).percent.value == pytest.approx(0.72, abs=0.03)
    assert agreement(skilled, "labels", draws=0).percent.value == pytest.approx(0.64, abs=0.03)


def test_the_time_has_the_papers_median() -> None:
    seconds = sorted(simulate(t, CREW[0].annotator, 1, 1).seconds for t in TASKS.values())
    # The median's standard error is 1.25 * .4 / sqrt(3000) of it: 0.9%.
    assert seconds[len(seconds) // 2] == pytest.approx(SECONDS, rel=0.037)


def test_all_of_them_are_marked() -> None:
    assert {one.annotator.kind for one in CREW} == {"simulated"}
    assert len({one.annotator.id for one in crew(50, seed=1) + crew(50, seed=2)}) == 100
    assert crew(2, seed=5) == CREW
    judgement = simulate(TASKS["t0"], CREW[0].annotator, 1, 1)
    assert judgement.via == "simulation"
    assert len(collect([judgement], TASKS, [CREW[0].annotator])) == 0


def test_people_are_never_simulated() -> None:
    with pytest.raises(ValueError, match="is a person"):
        simulate(TASKS["t0"], Annotator("a", "Ann"), 1, 1)
    with pytest.raises(ValueError, match="skill"):
        simulate(TASKS["t0"], CREW[0].annotator, 1.1, 1)
