"""Agreement against reference matrices, and against slow counting by hand."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio import agreement as ag
from swag_studio.agreement import MEASURES, agreement, collect
from swag_studio.judging import LABELS, Annotator, Judgement, Task, problem
from swag_studio.ratings import VALUES, Ratings

PEOPLE = tuple(Annotator(name, name) for name in "abcd")


def tasks(count: int, size: int = 6, per_context: int = 1) -> dict[str, Task]:
    return {
        f"t{i:03}": Task(
            f"t{i:03}",
            f"c{i // per_context}",
            1,
            i % per_context,
            tuple(f"e{i}-{j}" for j in range(size)),
        )
        for i in range(count)
    }


def answer(task: str, who: str, labels: str, best: int, second: int, **more: object) -> Judgement:
    """`labels` as letters: "lluugu"."""
    names = tuple(next(label for label in LABELS if label[0] == c) for c in labels)
    return Judgement(task, who, names, best, second, **more)  # type: ignore[arg-type]


@st.composite
def judged(draw: st.DrawFn) -> tuple[dict[str, Task], list[Judgement]]:
    """Up to 5 tasks on up to 3 contexts, each judged by some of four people, or none."""
    asked = tasks(draw(st.integers(1, 5)), size=draw(st.integers(2, 6)), per_context=2)
    given = []
    for task in asked.values():
        for person in PEOPLE:
            if not draw(st.booleans()):
                continue
            size = len(task.endings)
            best, second = draw(st.permutations(range(size)))[:2]
            labels = [
                draw(st.sampled_from("lu" if i in (best, second) else "lug")) for i in range(size)
            ]
            given.append(answer(task.id, person.id, "".join(labels), best, second))
    return asked, given


def read(measure: str, judgement: Judgement, place: int) -> str:
    if measure == "labels":
        return judgement.labels[place]
    if measure == "top_two":
        return "in" if place in (judgement.best, judgement.second) else "out"
    return {judgement.best: "best", judgement.second: "second"}.get(place, "neither")


def units(measure: str, asked: dict[str, Task], given: list[Judgement]) -> list[dict[str, str]]:
    """Per ending of a task: annotator -> value."""
    return [
        {j.annotator_id: read(measure, j, i) for j in given if j.task_id == task.id}
        for task in asked.values()
        for i in range(len(task.endings))
    ]


def alpha_by_hand(rated: list[dict[str, str]]) -> float | None:
    """Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", D, by dictionaries."""
    together: Counter[tuple[str, str]] = Counter()
    shared = [list(unit.values()) for unit in rated if len(unit) >= 2]
    for values in shared:
        for a, b in itertools.permutations(range(len(values)), 2):
            together[values[a], values[b]] += 1 / (len(values) - 1)
    totals: Counter[str] = Counter()
    for (a, _), weight in together.items():
        totals[a] += weight
    n = sum(totals.values())
    observed = sum(weight for (a, b), weight in together.items() if a != b)
    expected = sum(totals[a] * totals[b] for a, b in itertools.permutations(totals, 2))
    return None if expected == 0 else 1 - (n - 1) * observed / expected


# --- reference matrices ----------------------------------------------------------------------

# Krippendorff (2011), example C: 4 observers, 12 units, data missing; 0: missing.
EXAMPLE_C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]


def as_ratings(matrix: list[list[int]]) -> Ratings:
    """A matrix (observers, units) of values from 1, as tasks of one ending."""
    cells = [(t, a, v - 1) for t, col in enumerate(zip(*matrix, strict=True)) for a, v in
             enumerate(col) if v]  # fmt: skip
    task, annotator, value = (np.array(column) for column in zip(*cells, strict=True))
    values = value.astype(np.int8)[:, None]
    return Ratings(
        annotators=tuple(str(i) for i in range(len(matrix))),
        contexts=tuple(str(i) for i in range(len(matrix[0]))),
        annotator=annotator,
        task=task,
        context=task,
        labels=values,
        choices=np.zeros_like(values),
        given=np.array([""] * len(task)),
    )


def test_example_c_of_krippendorff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VALUES, "labels", tuple("12345"))
    found = agreement(as_ratings(EXAMPLE_C), "labels")
    assert found.alpha.value == pytest.approx(0.7434, abs=5e-5)
    assert found.units == 11  # the twelfth has one rating, which pairs with none
    assert found.alpha.low < 0.7434 < found.alpha.high


def test_all_equal_is_undefined_and_not_one() -> None:
    asked = tasks(3)
    given = [answer(t, p.id, "llllll", 0, 1) for t in asked for p in PEOPLE]
    ratings = collect(given, asked, PEOPLE)
    labels = agreement(ratings, "labels")
    assert labels.alpha.value is None
    assert labels.alpha.text() == "undefined (no variation)"
    assert labels.percent.value == 1.0
    # Best and second do vary over endings, and all agree.
    assert agreement(ratings, "choices").alpha.value == 1.0


def test_nothing_shared_is_undefined_too() -> None:
    asked = tasks(2)
    given = [answer("t000", "a", "lugugu", 0, 1), answer("t001", "b", "lugugu", 0, 1)]
    for ratings in (collect(given, asked, PEOPLE), collect([], asked, PEOPLE)):
        found = agreement(ratings, "labels")
        assert (found.alpha.value, found.percent.value, found.pairs) == (None, None, 0)
        assert found.alpha.text() == "undefined (nothing was judged by two annotators)"


# --- against counting by hand ----------------------------------------------------------------


@settings(max_examples=40)
@given(judged(), st.sampled_from(MEASURES))
def test_agreement_is_what_counting_by_hand_gives(
    work: tuple[dict[str, Task], list[Judgement]], measure: ag.Measure
) -> None:
    asked, given = work
    assert all(problem(j.labels, j.best, j.second) == "" for j in given)
    rated = units(measure, asked, given)
    pairs = [p for u in rated for p in itertools.combinations(u.values(), 2)]
    ratings = collect(given, asked, PEOPLE)
    found = agreement(ratings, measure, draws=20)
    assert found.pairs == len(pairs)
    assert found.units == sum(len(u) >= 2 for u in rated)
    if pairs:
        assert found.percent.value == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    expected = alpha_by_hand(rated)
    if expected is None:
        assert found.alpha.value is None
    else:
        assert found.alpha.value == pytest.approx(expected)


@settings(max_examples=40)
@given(judged(), st.sampled_from(MEASURES))
def test_the_pair_matrix_is_what_counting_by_hand_gives(
    work: tuple[dict[str, Task], list[Judgement]], measure: ag.Measure
) -> None:
    asked, given = work
    seen: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for unit in units(measure, asked, given):
        for a, b in itertools.permutations(unit, 2):
            seen[a, b].append(unit[a] == unit[b])
    ratings = collect(given, asked, PEOPLE)
    matrix = ag.pair_matrix(ratings, measure)
    for i, a in enumerate(matrix.annotators):
        for j, b in enumerate(matrix.annotators):
            equal = seen[a, b]
            assert matrix.n[i, j] == len(equal)
            if equal:
                assert matrix.share[i, j] == pytest.approx(sum(equal) / len(equal))
            else:
                assert math.isnan(matrix.share[i, j])
    for row in ag.by_annotator(ratings, measure):
        mine = [e for (a, _), equal in seen.items() if a == row.annotator for e in equal]
        assert row.n == len(mine)
        assert row.judged == sum(j.annotator_id == row.annotator for j in given)
        if mine:
            assert row.share == pytest.approx(sum(mine) / len(mine))


@settings(max_examples=40)
@given(judged())
def test_frequencies_are_what_counting_by_hand_gives(
    work: tuple[dict[str, Task], list[Judgement]],
) -> None:
    asked, given = work
    table = ag.frequencies(collect(given, asked, PEOPLE))
    for shares, own in ((table.found, lambda i: i == 0), (table.generated, lambda i: i > 0)):
        rated = [(j, i) for j in given for i in range(len(j.labels)) if own(i)]
        assert shares.n == len(rated)
        for name in (*LABELS, "best", "second"):
            measure = "labels" if name in LABELS else "choices"
            count = sum(read(measure, j, i) == name for j, i in rated)
            value = getattr(shares, name)
            assert math.isnan(value) if not rated else value == pytest.approx(count / len(rated))


def test_the_papers_table_adds_up() -> None:
    """Of six endings one is best and one second: what found and generated ones come to."""
    for row in (ag.PAPER.found, ag.PAPER.generated):
        assert row.likely + row.unlikely + row.gibberish == pytest.approx(1, abs=0.0015)
    assert ag.PAPER.found.best + 5 * ag.PAPER.generated.best == pytest.approx(1, abs=0.003)
    assert ag.PAPER.found.second + 5 * ag.PAPER.generated.second == pytest.approx(1, abs=0.003)


@pytest.mark.parametrize("measure", ["labels", "choices"])
def test_the_papers_agreement_follows_from_its_table(measure: ag.Measure) -> None:
    """Alpha is 1 - (1 - P) / (1 - E) in all but small samples, with P the share of equal pairs and
    E what two get by chance: the sum of squares of how often each value is given, by Table 2."""
    found, generated = ag.PAPER.found, ag.PAPER.generated
    given = [(getattr(found, name) + 5 * getattr(generated, name)) / 6 for name in
             (LABELS if measure == "labels" else ("best", "second"))]  # fmt: skip
    given += [] if measure == "labels" else [4 / 6]  # of six, four are neither
    chance = sum(share**2 for share in given)  # .436 of labels, .5 of choices
    alpha = 1 - (1 - ag.PAPER_PERCENT[measure]) / (1 - chance)
    assert alpha == pytest.approx(ag.PAPER_ALPHA[measure], abs=0.03)
    assert ag.PAPER_PERCENT["choices"] < ag.PAPER_PERCENT["top_two"] < 1


# --- what enters -----------------------------------------------------------------------------


def test_only_the_latest_answers_of_people_to_work_enter() -> None:
    asked = tasks(1) | {
        "test": Task("test", "c9", 1, 0, tuple("fedcba"), "test", {"top": [0]}),
        "check": Task("check", "c8", 1, 0, tuple("fedcba"), "check", {"top": [0]}),
    }
    people = (*PEOPLE, Annotator("robot", "Robot", "simulated"))
    given = [
        answer("t000", "a", "uuuuuu", 0, 1, revision=0),
        answer("t000", "b", "llluuu", 0, 1),
        answer("t000", "a", "llluuu", 0, 1, revision=1),
        answer("t000", "robot", "gggggl", 4, 5),
        answer("test", "a", "gllggg", 1, 2),
        answer("check", "b", "gllggg", 1, 2),
        answer("t000", "nobody", "gllggg", 1, 2),
    ]
    people_only = collect(given, asked, people)
    assert people_only.annotators == ("a", "b")
    assert people_only.contexts == ("c0",) and len(people_only) == 2  # neither test nor check
    assert agreement(people_only, "labels").percent.value == 1.0
    with_simulated = collect(given, asked, people, simulated=True)
    assert with_simulated.annotators == ("a", "b", "robot")
    assert agreement(with_simulated, "labels").pairs == 18


def test_a_missing_rating_is_no_category() -> None:
    """Contexts that one person judged alone change nothing."""
    asked = tasks(40)
    both = [answer(f"t{i:03}", p, "lulugu", i % 2, 2) for i in range(10) for p in "ab"]
    both[0] = answer("t000", "a", "uuuugu", 3, 2)
    alone = [answer(f"t{i:03}", "ab"[i % 2], "gguulu", 4, 5) for i in range(10, 40)]
    for measure in MEASURES:
        less = agreement(collect(both, asked, PEOPLE), measure)
        more = agreement(collect(both + alone, asked, PEOPLE), measure)
        assert less.alpha == more.alpha
        assert less.percent == more.percent


# --- intervals, sources, time ----------------------------------------------------------------


def noisy(count: int, seed: int) -> tuple[dict[str, Task], list[Judgement]]:
    """Two people who give the same labels in seven of ten contexts, else random ones."""
    rng = np.random.default_rng(seed)
    asked, given = tasks(count), []
    for task in asked:
        letters = ["".join(rng.choice(list("lu"), 6)) for _ in range(2)]
        if rng.random() < 0.7:
            letters[1] = letters[0]
        for who, labels in zip("ab", letters, strict=True):
            given.append(answer(task, who, labels, 0, 1, given=f"2026-01-{1 + int(task[1:]) % 9}"))
    return asked, given


def test_the_bootstrap_is_seeded_and_draws_whole_contexts() -> None:
    asked, given = noisy(100, seed=1)
    ratings = collect(given, asked, PEOPLE)
    one, again = agreement(ratings, "labels", seed=3), agreement(ratings, "labels", seed=3)
    assert one == again
    assert one != agreement(ratings, "labels", seed=4)
    # Endings of a context agree together, so independent draws of endings would be too sure:
    # the standard error of a share of 100 contexts, each .85 +- .23 agreed, is .023; for 600
    # independent endings it would be .015.
    shares = [np.mean([a == b for a, b in zip(x.labels, y.labels, strict=True)])
              for x, y in zip(given[::2], given[1::2], strict=True)]  # fmt: skip
    error = np.std(shares) / math.sqrt(100)
    width = one.percent.high - one.percent.low
    assert width == pytest.approx(2 * 1.96 * error, rel=0.15)
    assert one.percent.low < one.percent.value < one.percent.high
    assert one.alpha.low < one.alpha.value < one.alpha.high


def test_the_bootstrap_draws_as_often_as_it_is_asked_to() -> None:
    """An interval of one draw is a point, and a further draw moves an end of it."""
    asked, given = noisy(30, seed=4)
    ratings = collect(given, asked, PEOPLE)
    found = {n: agreement(ratings, "labels", draws=n).percent for n in (0, 1, 2, 50, 51)}
    assert math.isnan(found[0].low) and math.isnan(found[0].high)
    assert found[1].low == found[1].high
    # 30 contexts of six endings, each drawn whole: a share of 180.
    assert found[1].low * 180 == pytest.approx(round(found[1].low * 180)) and found[1].low > 0.5
    assert found[2].low < found[2].high
    assert found[50] != found[51]


def test_every_source_has_its_own_agreement() -> None:
    asked, given = noisy(40, seed=2)
    ratings = collect(given, asked, PEOPLE)
    sources = {task.context_id: "even" if i % 2 else "odd" for i, task in enumerate(asked.values())}
    found = ag.by_source(ratings, "labels", sources)
    for name in ("even", "odd"):
        mine = [j for j in given if sources[asked[j.task_id].context_id] == name]
        assert found[name] == agreement(collect(mine, asked, PEOPLE), "labels", draws=0)


def test_time_is_cut_into_equal_stretches() -> None:
    asked, given = noisy(45, seed=3)
    late = answer("t000", "a", "llllll", 0, 1, revision=1, given="2026-02-01")
    periods = ag.over_time(collect([*given, late], asked, PEOPLE), "labels", periods=5)
    assert [p.agreement.pairs for p in periods] == [9 * 6] * 5
    starts = [p.start for p in periods]
    assert starts == sorted(starts)
    assert all(p.start <= p.end for p in periods)
    assert periods[-1].end == "2026-02-01"
    assert ag.over_time(collect([], asked, PEOPLE), "labels") == []
