"""Verdicts against a slow, literal reading of the rules; draws; workers."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from swag_studio.errors import StageError
from swag_studio.judging import (
    LABELS,
    Adjudication,
    Judged,
    Judgement,
    Label,
    Task,
    Verdict,
    problem,
    shown_order,
)
from swag_studio.policy import VerificationPolicy
from swag_studio.verification import (
    draw_task,
    gold_source,
    next_task,
    ranks_found,
    rejects_found,
    verdict,
    worker_standing,
)

CONTEXT, FOUND_ID, SEED = "c", "found", 7
POLICY = VerificationPolicy()
ASSIGNED = (FOUND_ID, *(f"gen{i}" for i in range(9)))

Answer = tuple[tuple[Label, ...], int, int]


def first_task(assigned: tuple[str, ...] = ASSIGNED) -> Task:
    return draw_task(CONTEXT, assigned, 1, SEED, POLICY)


def letters(text: str) -> tuple[Label, ...]:
    return tuple(next(label for label in LABELS if label[0] == c) for c in text)


def judged(task: Task, answers: list[Answer]) -> list[Judgement]:
    return [
        Judgement(task.id, f"annotator {i}", labels, best, second)
        for i, (labels, best, second) in enumerate(answers)
    ]


def one(text: str, best: int, second: int, **more: object) -> Verdict:
    """The verdict of the first round on one answer, its labels as letters."""
    task = first_task()
    values = {"split": "train", "seed": SEED, "policy": POLICY} | more
    policy = values.pop("policy")
    given_ = judged(task, [(letters(text), best, second)])
    return verdict([task], given_, [], ASSIGNED, policy, **values)  # type: ignore[arg-type]


@st.composite
def answers(draw: st.DrawFn, size: int = 6) -> Answer:
    best, second = draw(st.permutations(range(size)))[:2]
    labels = tuple(
        draw(st.sampled_from(LABELS[:2] if i in (best, second) else LABELS)) for i in range(size)
    )
    if draw(st.integers(0, 4)) == 0:  # nothing but the best one makes sense
        labels = tuple(labels[i] if i == best else "gibberish" for i in range(size))
    assert problem(labels, best, second) == ""
    return labels, best, second


policies = st.builds(
    VerificationPolicy,
    judgements=st.integers(1, 3),
    top_places=st.sampled_from([1, 2, 2, 2]),
    distractors_needed=st.integers(1, 3),
    distractors_most=st.integers(3, 4),
    further_rounds=st.integers(0, 3),
    extra_questions=st.booleans(),
    label_rule=st.sampled_from(["most", "half"]),
    rank_rule=st.sampled_from(["points", "votes"]),
    likely_tie=st.sampled_from(["adjudicate", "likely", "unlikely"]),
)


# --- a slow, literal reading -----------------------------------------------------------------


def literally(task: Task, answer: Answer, unshown: set[str], policy: VerificationPolicy,
              split: str) -> dict[str, object]:  # fmt: skip
    """METHOD's rows "keep", "generated best" and "fewer than 3 usable", sentence by sentence."""
    labels, best, second = answer
    label = dict(zip(task.endings, labels, strict=True))
    rank = {task.endings[best]: 1, task.endings[second]: 2}
    generated = [e for e in task.endings if e != FOUND_ID]

    # "distractors = generated, not gibberish, not best or second best"
    usable = [e for e in generated if label[e] != "gibberish" and e not in rank]
    # "found ending best or second best -> question with it right"
    in_top = rank.get(FOUND_ID, 99) <= policy.top_places
    if in_top and len(usable) >= policy.distractors_needed:
        # "sorted unlikely -> likely"
        ordered = [e for e in usable if label[e] == "unlikely"]
        ordered += [e for e in usable if label[e] == "likely"]
        kept = ordered[: policy.distractors_most]
        result: dict[str, object] = {
            "kind": "found",
            "place": rank[FOUND_ID] - 1,
            "distractors": [(e, "unl" if label[e] == "unlikely" else "pos") for e in kept],
        }
        # "extra TRAINING question with the generated one right ... first round only; its
        # distractors are the remaining non-gibberish generated endings, never the found one"
        right = next((e for e in generated if rank.get(e) == 1), None)
        training = split == "train" and policy.extra_questions
        if right and rank.get(FOUND_ID) == 2 and training and task.round == 0:
            result["generated"] = right
        return result

    # "gibberish and outranking endings replaced from A"
    outranking = [e for e in rank if rank[e] < rank.get(FOUND_ID, 99) and e != FOUND_ID]
    nonsense = [e for e in generated if label[e] == "gibberish"]
    wanted = nonsense + outranking if in_top else outranking + nonsense
    # "at most two further rounds, then surprising"
    if task.round >= policy.further_rounds or not unshown:
        return {"kind": "surprising"}
    count = min(len(wanted), len(unshown))
    return {"kind": "reannotate", "replace": wanted[:count]}


def all_resolutions(given_: list[Answer], policy: VerificationPolicy) -> list[Answer]:
    """Every answer that the annotators' votes can come to, by trying all possible answers."""
    size = len(given_[0][0])
    per_place = []
    for place in range(size):
        votes = Counter(labels[place] for labels, _, _ in given_)
        top = [x for x in LABELS if votes[x] == max(votes.values())]
        if policy.label_rule == "half" and votes[top[0]] <= len(given_) / 2:
            top = [x for x in LABELS if votes[x]]
        if set(top) == {"likely", "unlikely"} and policy.likely_tie != "adjudicate":
            top = [policy.likely_tie]  # type: ignore[list-item]
        per_place.append(top)

    def marks(place: int, for_best: bool) -> int:
        bests = sum(best == place for _, best, _ in given_)
        seconds = sum(second == place for _, _, second in given_)
        if policy.rank_rule == "points":
            return 2 * bests + seconds
        return bests if for_best else bests + seconds

    found = []
    for labels in product(*per_place):
        sane = [i for i in range(size) if labels[i] != "gibberish"]
        for best in sane:
            for second in sane if len(sane) > 1 else range(size):
                others = [i for i in (sane if len(sane) > 1 else range(size)) if i != best]
                if (
                    second != best
                    and all(marks(best, True) >= marks(i, True) for i in sane)
                    and all(marks(second, False) >= marks(i, False) for i in others)
                ):
                    found.append((labels, best, second))
    return found


def as_told(v: Verdict) -> dict[str, object]:
    """A verdict in the words of `literally`."""
    if v.kind == "found":
        told: dict[str, object] = {
            "kind": "found",
            "place": v.place,
            "distractors": [(d.ending_id, d.type) for d in v.distractors],
        }
        return told | ({"generated": v.generated} if v.generated else {})
    if v.kind == "reannotate":
        return {"kind": v.kind, "replace": list(v.replace)}
    return {"kind": v.kind}


@settings(max_examples=120)
@given(st.data(), policies, st.sampled_from(["train", "val", "test"]), st.integers(4, 12))
def test_verdicts_are_the_literal_reading(
    data: st.DataObject, policy: VerificationPolicy, split: str, size: int
) -> None:
    """Over as many rounds as it takes, with one to three annotators in each."""
    assigned = (FOUND_ID, *(f"gen{i}" for i in range(size)))
    task = first_task(assigned)
    tasks, judgements = [task], []
    for number in range(5):
        unshown = set(assigned).difference(*(t.endings for t in tasks))
        given_ = data.draw(st.lists(answers(len(task.endings)), max_size=3))
        judgements += judged(task, given_)
        result = verdict(tasks, judgements, [], assigned, policy, split=split, seed=SEED)
        assert result.round == number and result.reason
        if len(given_) < policy.judgements:
            assert as_told(result) == {"kind": "open"}
            break
        outcomes = [
            literally(task, answer, unshown, policy, split)
            for answer in all_resolutions(given_, policy)
        ]
        agreed = outcomes and all(outcome == outcomes[0] for outcome in outcomes)
        assert as_told(result) == (outcomes[0] if agreed else {"kind": "adjudicate"})
        if result.kind != "reannotate":
            break
        assert set(result.by) <= unshown and len(set(result.by)) == len(result.replace)
        task = next_task(task, result)
        tasks.append(task)


# --- the rules one by one --------------------------------------------------------------------


def test_found_best_is_a_question_sorted_unlikely_to_likely() -> None:
    ids = first_task().endings
    result = one("lllugu", 0, 1)
    assert result == Verdict(
        CONTEXT,
        "found",
        0,
        "The found ending is best; 3 wrong endings can be used.",
        place=0,
        distractors=(Judged(ids[3], "unl"), Judged(ids[5], "unl"), Judged(ids[2], "pos")),
    )
    assert gold_source(result) == "gold0-orig"


def test_found_second_in_training_makes_an_extra_question_too() -> None:
    ids = first_task().endings
    result = one("luuull", 4, 0)
    assert (result.kind, result.place, result.generated) == ("found", 1, ids[4])
    assert result.generated_distractors == result.distractors
    assert FOUND_ID not in {d.ending_id for d in result.generated_distractors}
    assert "extra training question" in result.reason
    assert gold_source(result) == "gold1-orig"
    for split in ("val", "test"):
        assert one("luuull", 4, 0, split=split).generated == ""
    assert one("luuull", 4, 0, barred={ids[4]}).generated == ""
    assert one("luuull", 4, 0, policy=VerificationPolicy(extra_questions=False)).generated == ""


def test_few_usable_endings_are_judged_again_without_the_gibberish() -> None:
    ids = first_task().endings
    result = one("llgugu", 0, 1)
    assert (result.kind, result.replace) == ("reannotate", (ids[2], ids[4]))
    assert result.reason == (
        "Only 2 wrong endings can be used, 3 needed; 2 endings to be replaced for another round."
    )
    following = next_task(first_task(), result)
    assert following.round == 1
    assert following.endings[0] == FOUND_ID
    assert not set(following.endings) & set(result.replace)
    assert set(result.by) <= set(following.endings) & set(ASSIGNED)
    assert not set(result.by) & set(ids)
    assert len(set(following.endings)) == 6


def test_what_outranks_the_found_ending_goes_first() -> None:
    """Four are left for five: both that outrank, then gibberish in the task's order."""
    ids = first_task().endings
    result = one("ullggg", 2, 1)
    assert result.replace == (ids[2], ids[1], ids[3], ids[4])


def rounds_of(answer: tuple[str, int, int], assigned: tuple[str, ...]) -> list[Verdict]:
    """The verdicts round after round when each is answered alike."""
    text, best, second = answer
    task, found = first_task(assigned), list[Verdict]()
    tasks, given_ = [task], list[Judgement]()
    while not found or found[-1].kind == "reannotate":
        if found:
            task = next_task(task, found[-1])
            tasks.append(task)
        given_ += judged(task, [(letters(text), best, second)])
        found.append(verdict(tasks, given_, [], assigned, POLICY, split="val", seed=SEED))
    return found


def test_after_two_further_rounds_it_is_surprising() -> None:
    found = rounds_of(("ulluuu", 1, 2), ASSIGNED)
    assert [v.kind for v in found] == ["reannotate", "reannotate", "surprising"]
    assert found[-1].reason == (
        "The found ending is neither best nor second best, and there were 3 rounds."
    )
    used = [e for v in found for e in v.by]
    assert len(set(used)) == 4


def test_with_nothing_left_to_put_in_it_is_surprising_at_once() -> None:
    found = rounds_of(("ulluuu", 1, 2), ASSIGNED[:6])
    assert [v.kind for v in found] == ["surprising"]
    assert "no assigned ending is left" in found[0].reason


def test_a_later_round_is_named_as_such() -> None:
    first = first_task()
    given_ = judged(first, [(letters("ulluuu"), 1, 2)])
    again = verdict([first], given_, [], ASSIGNED, POLICY, split="train", seed=SEED)
    second = next_task(first, again)
    given_ += judged(second, [(letters("lluuuu"), 1, 0)])
    result = verdict([second, first], given_, [], ASSIGNED, POLICY, split="train", seed=SEED)
    assert (result.kind, result.round, result.generated) == ("found", 1, "")
    assert gold_source(result) == "gold1-reannot"
    with pytest.raises(ValueError, match="no further round"):
        next_task(second, result)
    with pytest.raises(ValueError, match="no question"):
        gold_source(again)


@pytest.mark.parametrize("further_rounds", [0, 2])
def test_a_found_ending_is_rejected_by_its_rank_alone(further_rounds: int) -> None:
    """Too few usable wrong endings lead on as well, and say nothing against the found one."""
    policy = VerificationPolicy(further_rounds=further_rounds)
    answers_ = {"ranked": ("ulluuu", 1, 2), "few": ("llgugu", 0, 1)}
    found = {name: one(*answer, policy=policy) for name, answer in answers_.items()}
    assert {v.kind for v in found.values()} == {"reannotate" if further_rounds else "surprising"}
    assert {name: rejects_found(v) for name, v in found.items()} == {"ranked": True, "few": False}
    assert not rejects_found(one("lluuuu", 0, 1)) and not rejects_found(one("luuull", 4, 0))
    best_only = VerificationPolicy(top_places=1, further_rounds=further_rounds)
    assert rejects_found(one("luuull", 4, 0, policy=best_only))


def test_a_corrected_answer_counts() -> None:
    task = first_task()
    before = judged(task, [(letters("ulluuu"), 1, 2)])
    after = dataclasses.replace(before[0], revision=1, labels=letters("lluuuu"), best=0, second=1)
    for order in ([before[0], after], [after, before[0]]):
        assert verdict([task], order, [], ASSIGNED, POLICY, split="val", seed=1).kind == "found"


def test_a_tie_that_changes_nothing_is_no_tie() -> None:
    """Whether the endings ranked best and second are likely concerns nobody."""
    task = first_task()
    given_ = judged(task, [(letters("lluuuu"), 0, 1), (letters("uuuuuu"), 0, 1)])
    assert verdict([task], given_, [], ASSIGNED, POLICY, split="val", seed=SEED).kind == "found"


def test_a_tie_of_likely_and_unlikely_can_be_settled_by_the_policy() -> None:
    task = first_task()
    given_ = judged(task, [(letters("lluuuu"), 0, 1), (letters("llluuu"), 0, 1)])
    policy = VerificationPolicy(likely_tie="likely")
    result = verdict([task], given_, [], ASSIGNED, policy, split="val", seed=SEED)
    assert [d.type for d in result.distractors] == ["unl", "unl", "unl", "pos"]


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ([("llluuu", 1, 0), ("llluuu", 1, 2)], "on it depends whether this becomes a question"),
        ([("lluuuu", 0, 1), ("lluuuu", 1, 0)], "whether the found ending is best or second best"),
        ([("lluuuu", 0, 1), ("llluuu", 0, 1)], "on the wrong endings"),
        ([("ulluuu", 1, 2), ("ulluug", 1, 2)], "on which endings to replace"),
        (
            [("llgggg", 0, 1), ("ggllgg", 2, 3), ("ggggll", 4, 5)],
            "no ending that is not gibberish",
        ),
    ],
)
def test_a_tie_goes_to_adjudication_with_its_reason(
    texts: list[tuple[str, int, int]], reason: str
) -> None:
    task = first_task()
    given_ = judged(task, [(letters(t), b, s) for t, b, s in texts])
    result = verdict([task], given_, [], ASSIGNED, POLICY, split="train", seed=SEED)
    assert result.kind == "adjudicate"
    assert reason in result.reason


@settings(max_examples=40)
@given(st.lists(answers(), min_size=1, max_size=3), answers(), answers())
def test_an_adjudication_decides_alone(given_: list[Answer], early: Answer, late: Answer) -> None:
    task = first_task()
    settled = [
        Adjudication(task.id, "curator", *answer, given=when)
        for answer, when in ((late, "2026-02-02"), (early, "2026-02-01"))
    ]
    result = verdict(
        [task], judged(task, given_), settled, ASSIGNED, POLICY, split="train", seed=SEED
    )
    alone = judged(task, [late])
    assert result == verdict([task], alone, [], ASSIGNED, POLICY, split="train", seed=SEED)


def test_a_context_may_need_more_judgements_than_the_policy_asks() -> None:
    task = first_task()
    given_ = judged(task, [(letters("lluuuu"), 0, 1)] * 2)
    call = {"split": "val", "seed": SEED}
    result = verdict([task], given_, [], ASSIGNED, POLICY, needed=3, **call)  # type: ignore[arg-type]
    assert (result.kind, result.reason) == ("open", "2 of 3 judgements are given.")
    with pytest.raises(ValueError, match="needs a task"):
        verdict([], [], [], ASSIGNED, POLICY, **call)  # type: ignore[arg-type]


# --- drawing ---------------------------------------------------------------------------------


@given(st.integers(0, 2**31), st.permutations(range(9)))
def test_a_draw_depends_on_the_seed_and_not_on_the_slots(seed: int, order: list[int]) -> None:
    shuffled = (FOUND_ID, *(ASSIGNED[1 + i] for i in order))
    task = draw_task(CONTEXT, ASSIGNED, 1, seed, POLICY)
    assert task == draw_task(CONTEXT, shuffled, 1, seed, POLICY)
    assert task.endings[0] == FOUND_ID
    assert len(set(task.endings)) == 6 and set(task.endings) <= set(ASSIGNED)


def test_each_distractor_is_drawn_equally_often() -> None:
    drawn = Counter(
        e for i in range(3600) for e in draw_task(str(i), ASSIGNED, 1, 1, POLICY).endings
    )
    # Five of nine: 2000 each; 4 standard errors are 119.
    assert all(abs(drawn[e] - 2000) < 119 for e in ASSIGNED[1:])
    places = {shown_order(1, first_task().id, who).index(0) for who in "abcdefghijklmnop"}
    assert len(places) > 1  # the found ending is first in the task alone, not on the screen


def test_too_few_assigned_is_said_before_anyone_is_asked() -> None:
    assert len(draw_task(CONTEXT, ASSIGNED[:5], 1, SEED, POLICY).endings) == 5
    with pytest.raises(StageError, match="at least 4 distractors, and the filter assigned 3"):
        draw_task(CONTEXT, ASSIGNED[:4], 1, SEED, POLICY)


# --- workers ---------------------------------------------------------------------------------


def test_a_worker_is_warned_first_and_dropped_when_it_is_beyond_luck() -> None:
    def state(hits: int, n: int) -> str:
        return worker_standing(hits, n, POLICY).state

    assert state(0, 9) == "ok"  # too few to tell
    assert (state(6, 10), state(5, 10), state(2, 10), state(1, 10)) == (
        "ok", "warned", "warned", "dropped",
    )  # fmt: skip
    assert state(47, 100) == "warned" and state(40, 100) == "dropped"
    assert worker_standing(0, 0, POLICY).state == "ok"
    standing = worker_standing(737, 1000, POLICY)
    assert standing.low < standing.rate == 0.737 < standing.high


@pytest.mark.parametrize("n", [10, 11, 23, 60])
def test_who_is_at_the_threshold_is_dropped_by_luck_in_2_5_of_100_at_most(n: int) -> None:
    dropped = [k for k in range(n + 1) if worker_standing(k, n, POLICY).state == "dropped"]
    assert dropped == list(range(len(dropped)))
    assert stats.binom.cdf(len(dropped) - 1, n, POLICY.worker_threshold) <= 0.025
    # One hit more, and the bound would be broken: it is no stricter than it has to be.
    assert stats.binom.cdf(len(dropped), n, POLICY.worker_threshold) > 0.025


def test_only_first_rounds_of_work_tell_of_a_worker() -> None:
    assert [ranks_found("work", 0, *ranks) for ranks in ((0, 3), (4, 0), (2, 1))] == [
        *(True, True, False)
    ]
    assert ranks_found("work", 1, 0, 3) is None
    assert ranks_found("test", 0, 0, 3) is None and ranks_found("check", 0, 2, 1) is None
