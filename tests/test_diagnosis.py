"""Each rule on the curves it is for, and on a healthy run; findings by phase; the words."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from swag_studio import recipe as recipes
from swag_studio.advice import Advice
from swag_studio.diagnosis import Diagnosis, contexts_tested, diagnose
from swag_studio.events import Metric
from swag_studio.evidence import Clue, Evidence
from swag_studio.recipe import Recipe
from swag_studio.series import NEAR
from swag_studio.standings import CHANCE

TESTED = 400
MLP, ALL = 12, 30  # iterations of the phases
MEMBERS = ("mlp", "bow", "cnn", "pos")
RECIPE = recipes.preset("small").with_values(
    {
        "filter.mlp_iterations": MLP,
        "filter.ensemble_iterations": ALL,
        "filter.members": ",".join(MEMBERS),
        "filter.distractors": 9,
    }
)


def drawn(truth: np.ndarray | float, count: int, seed: int) -> list[float]:
    """Shares of TESTED contexts around the true accuracies."""
    rng = np.random.default_rng(seed)
    return (rng.binomial(TESTED, np.broadcast_to(truth, count)) / TESTED).tolist()


def curve(name: str, member: str, values: list[float], start: int = 0) -> list[Metric]:
    tags = {"arm": "main"} | ({"member": member} if member else {})
    return [Metric("filter", name, start + i, v, tags) for i, v in enumerate(values)]


def point(member: str, step: int, value: float, arm: str = "main") -> Metric:
    return Metric("filter", "accuracy_4way", step, value, {"member": member, "arm": arm})


FALLEN = np.concatenate([np.linspace(0.6, 0.25, 8), np.full(ALL - 8, 0.25)])


def run(
    truth: np.ndarray | float = FALLEN,
    exhausted: float = 0.03,
    control: float = 0.6,
    probe: tuple[float, float] = (0.45, 0.26),
    iterations: int = ALL,
    **of_member: np.ndarray | float,
) -> list[Metric]:
    """A run of both phases: the ensemble and its members follow `truth` but where told apart."""
    metrics = curve("accuracy_4way", "mlp", drawn(np.linspace(0.6, 0.4, MLP), MLP, 1))
    for seed, head in enumerate((*MEMBERS, "ensemble"), 2):
        values = np.broadcast_to(of_member.get(head, truth), ALL)[:iterations]
        metrics += curve("accuracy_4way", head, drawn(values, iterations, seed), MLP)
        tenth = 0.1 + (values - 0.25) / 2
        metrics += curve("accuracy", head, drawn(tenth, iterations, seed + 20), MLP)
        metrics += [point(head, step, control, "control") for step in (0, MLP, MLP + ALL)]
    metrics += curve("exhausted_share", "", [exhausted] * (MLP + iterations))
    metrics += curve("replaced_per_context", "", [1.6] * (MLP + iterations))
    return [*metrics, point("probe", 0, probe[0]), point("probe", MLP + ALL, probe[1])]


def words(*clues: tuple[str, float, float, float]) -> Evidence:
    return Evidence(40, "bow", "words", TESTED, tuple(Clue(*c) for c in clues))


def features(*clues: tuple[str, float, float, float]) -> Evidence:
    return Evidence(40, "mlp", "features", 100, tuple(Clue(*c) for c in clues))


EVEN = words(("man", 0.4, 0.3, 0.25), ("the", 0.3, 0.6, 0.5), ("is", -0.3, 0.1, 0.2))
RARE = words(
    ("trapeze", 0.9, 0.02, 0.001),
    ("sudsy", 0.8, 0.015, 0.0),
    ("man", 0.3, 0.3, 0.28),
    ("is", -0.7, 0.1, 0.4),
)
MIXED = features(
    ("v_tokens", 0.06, 9, 9.5), ("last_token", 0.05, 2, 2.1), ("v_backward", 0.04, 3, 3)
)
LENGTH = features(("v_tokens", 0.3, 11, 8), ("last_token", 0.04, 2, 2), ("s_tokens", -0.01, 9, 9))


def judged(metrics: list[Metric], *evidence: Evidence, recipe: Recipe = RECIPE) -> Diagnosis:
    return diagnose(metrics, evidence, recipe, TESTED)


def keys(diagnosis: Diagnosis) -> list[str]:
    """The recipe's keys that the advice names, one for each piece."""
    return [next(key for key in KEYS if key in advice.text) for advice in diagnosis.advice]


KEYS = (
    "generate.candidates",
    "filter.ensemble_iterations",
    "filter.mlp_iterations",
    "prepare.min_count",
    "generate.max_tokens",
    "generate.temperature",
    "filter.epochs",
    "filter.members",
    "filter.cnn_filters",
)
ENDED_EARLY = "filter.mlp_iterations"  # what `run` has the first phase do


def states(diagnosis: Diagnosis, phase: str) -> dict[str, str]:
    return {f.member: f.verdict.state for f in diagnosis.findings if f.phase == phase}


# --- findings --------------------------------------------------------------------------------


def test_a_healthy_run_asks_for_nothing_but_what_the_first_phase_lacked() -> None:
    healthy = judged(run(), EVEN, MIXED)
    assert states(healthy, "ensemble") == dict.fromkeys((*MEMBERS, "ensemble"), "at_chance")
    assert keys(healthy) == [ENDED_EARLY]
    assert healthy.exhausted == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("truth", "state"),
    [
        (np.full(ALL, 0.41), "stalled"),
        (np.linspace(0.7, 0.3, ALL), "falling"),
        (np.concatenate([np.full(15, 0.30), np.full(15, 0.60)]), "stalled"),  # a late jump
        (np.linspace(0.25, 0.6, ALL), "rising"),
        (np.full(ALL, 0.25), "at_chance"),
        (np.full(ALL, 0.28), "near_chance"),
    ],
)
def test_each_state_is_found(truth: np.ndarray, state: str) -> None:
    diagnosis = judged(run(truth))
    assert states(diagnosis, "ensemble")["ensemble"] == state
    late = next(f for f in diagnosis.findings if f.member == "ensemble")
    if truth[0] == 0.30:  # level since the jump, counted in the run's iterations
        assert MLP + 15 <= late.verdict.since <= MLP + 20
        assert late.verdict.level == pytest.approx(0.6, abs=0.02)


def test_each_phase_is_judged_by_its_own_iterations() -> None:
    """The MLP falls alone; among all members it stays where it is."""
    diagnosis = judged(run(mlp=0.4))
    assert [f.member for f in diagnosis.findings] == ["mlp", *MEMBERS, "ensemble"]
    assert states(diagnosis, "mlp") == {"mlp": "falling"}
    assert states(diagnosis, "ensemble")["mlp"] == "stalled"
    assert diagnosis.findings[1].verdict.since >= MLP


def test_the_words_say_both_accuracies() -> None:
    found = {f.member: f.words for f in judged(run(0.45)).findings if f.phase == "ensemble"}
    assert found["bow"].startswith("stalled at 4") and "(chance 25%)" in found["bow"]
    assert "10-way 2" in found["bow"] and "(chance 10%)" in found["bow"]
    few = judged(run(0.45, iterations=5))
    assert "too early" in few.findings[-1].words and "so far" in few.findings[-1].words
    assert "too early" in few.summary


def test_the_order_of_metrics_and_other_stages_do_not_matter() -> None:
    metrics = run(0.41, exhausted=0.4)
    mixed = [*metrics, *metrics[:50], Metric("train_lm", "accuracy_4way", 3, 0.9, {"member": "x"})]
    random.Random(3).shuffle(mixed)
    assert judged(mixed) == judged(metrics)


def test_nothing_measured_yet() -> None:
    for metrics in ([], [point("probe", 0, 0.4), point("ensemble", 0, 0.5, "control")]):
        empty = diagnose(metrics, [], RECIPE)
        assert (empty.findings, empty.advice, empty.exhausted) == ((), (), None)
        assert empty.summary == "Nothing has been measured yet."


def test_a_single_member_decides_by_itself() -> None:
    recipe = RECIPE.with_values({"filter.members": "bow", "filter.mlp_iterations": 0})
    diagnosis = judged(curve("accuracy_4way", "bow", drawn(0.5, ALL, 1)), recipe=recipe)
    assert states(diagnosis, "ensemble") == {"bow": "stalled"}
    assert "The bag of words is stalled" in diagnosis.summary


def test_the_summary_tells_the_arms() -> None:
    text = judged(run(0.41, control=0.62, probe=(0.45, 0.31))).summary
    for part in ("ensemble is stalled at 4", "never filtered it is 62%", "from 45% to 31%", "1.6"):
        assert part in text
    assert "probe" not in judged(run(iterations=20)[:-1]).summary  # only measured before


def test_evidence_says_how_many_contexts_were_tested() -> None:
    """Few contexts leave open what many settle."""
    metrics = curve("accuracy_4way", "bow", [0.27, 0.28] * 6)
    of = {n: Evidence(0, "bow", "words", n, ()) for n in (50, 5000)}
    states_ = {n: diagnose(metrics, [e], RECIPE).findings[0].verdict.state for n, e in of.items()}
    assert states_ == {50: "at_chance", 5000: "near_chance"}


def test_the_tested_contexts_are_those_that_an_iteration_leaves_aside() -> None:
    assert contexts_tested(Recipe(), {"contexts": 359}) == 72  # it trains on four of five
    assert contexts_tested(Recipe(), {}) == 0


# --- advice ----------------------------------------------------------------------------------


def advised(diagnosis: Diagnosis, key: str) -> list[Advice]:
    return [a for a in diagnosis.advice if key in a.text]


def test_exhausted_and_stalled_asks_for_candidates() -> None:
    (advice,) = advised(judged(run(0.41, exhausted=0.35)), "generate.candidates")
    assert (
        "generate.temperature" in advice.text and f"{RECIPE.generate.candidates:,}" in advice.text
    )
    assert advice.why.startswith("35% of the contexts") and "stalled at 4" in advice.why
    assert not advised(judged(run(0.41, exhausted=0.15)), "generate.candidates")
    assert not advised(judged(run(exhausted=0.35)), "generate.candidates")  # at chance: done
    falling = run(np.linspace(0.7, 0.3, ALL), exhausted=0.35)
    assert not advised(judged(falling), "generate.candidates")


def test_exhausted_counts_the_last_iterations_only() -> None:
    metrics = [m for m in run(0.41) if m.name != "exhausted_share"]
    metrics += curve("exhausted_share", "", [0.9] * (MLP + ALL - 10) + [0.1] * 10)
    assert judged(metrics).exhausted == pytest.approx(0.1)


def test_still_falling_at_the_end_asks_for_iterations() -> None:
    key = "filter.ensemble_iterations"
    steadily = np.linspace(0.7, 0.3, ALL)
    assert advised(judged(run(steadily)), key)
    assert not advised(judged(run(steadily, iterations=20)), key)  # still at work
    assert not advised(judged(run()), key)


def test_rare_words_ask_for_bolder_language_models() -> None:
    (advice,) = advised(judged(run(bow=0.4), RARE), "prepare.min_count")
    assert "“trapeze”, “sudsy”" in advice.why and "man" not in advice.why
    assert "top_k" not in advice.text
    narrow = RECIPE.with_values({"generate.top_k": 50})
    assert "generate.top_k" in advised(judged(run(bow=0.4), RARE, recipe=narrow), "top_k")[0].text
    assert not advised(judged(run(bow=0.4), EVEN), "prepare.min_count")
    assert not advised(judged(run(), RARE), "prepare.min_count")
    assert not advised(judged(run(bow=0.4)), "prepare.min_count")  # no evidence yet


def test_one_dominating_feature_is_named() -> None:
    (advice,) = advised(judged(run(mlp=0.4), LENGTH), "generate.max_tokens")
    assert "the length of the ending: 11 on average in found endings, 8" in advice.why
    for quiet in (judged(run(mlp=0.4), MIXED), judged(run(), LENGTH), judged(run(mlp=0.4))):
        assert not any("The MLP is stalled" in a.why for a in quiet.advice)


@pytest.mark.parametrize(("found", "assigned", "way"), [(4, 3, "above"), (3, 4, "below")])
def test_likelihoods_ask_for_another_temperature(found: float, assigned: float, way: str) -> None:
    evidence = features(("v_backward", 0.2, found, assigned), ("v_tokens", 0.01, 9, 9))
    (advice,) = advised(judged(run(mlp=0.4), evidence), f"generate.temperature {way}")
    assert "without the surprise at the ending alone, read backward: " in advice.why


def test_a_feature_that_is_not_known_by_name_is_named_by_its_own() -> None:
    diagnosis = judged(run(mlp=0.4), features(("made_up", 0.2, 1, 2)))
    assert any("without made_up" in a.why for a in diagnosis.advice)


@pytest.mark.parametrize(("truth", "control"), [(0.4, 0.41), (0.25, 0.27)])
def test_a_control_arm_no_better_asks_for_more_to_learn(truth: float, control: float) -> None:
    assert advised(judged(run(truth, control=control)), "filter.epochs")


def test_a_control_arm_that_is_better_does_not() -> None:
    assert not advised(judged(run(0.41, control=0.6)), "filter.epochs")
    falling = run(np.linspace(0.7, 0.4, ALL), control=0.4)
    assert not advised(judged(falling), "filter.epochs")  # not settled yet
    without = [m for m in run(0.4) if m.tags.get("arm") != "control"]
    assert not advised(judged(without), "filter.epochs")


def test_a_probe_that_sees_more_asks_for_a_member() -> None:
    high = run(probe=(0.5, 0.4))
    few = RECIPE.with_values({"filter.members": "mlp,bow"})
    assert "CNN, POS biLSTM" in advised(judged(high, recipe=few), "filter.members")[0].text
    assert advised(judged(high), "filter.cnn_filters")  # all that there are take part
    assert not advised(judged(run(probe=(0.5, 0.28))), "filter.cnn_filters")
    assert not advised(judged(run(bow=0.4, probe=(0.5, 0.4))), "filter.cnn_filters")


def test_stalled_for_no_known_reason_asks_for_other_candidates() -> None:
    (advice,) = advised(judged(run(0.41)), "lm.epochs")
    assert advice.text.startswith("Make candidates") and "stalled 16 points above" in advice.why
    assert not advised(judged(run(0.41, exhausted=0.35)), "lm.epochs")  # a known one
    assert not advised(judged(run(0.28)), "lm.epochs")


def test_a_member_that_stalls_alone_is_spoken_of_beside_who_decides() -> None:
    (advice,) = advised(judged(run(0.28, cnn=0.33, pos=0.36)), "lm.epochs")
    assert advice.text.startswith("To bring down the CNN and the POS biLSTM, make candidates")
    assert "By itself the POS biLSTM is" in advice.why and "ensemble, which decides, is near" in (
        advice.why
    )


def test_still_rising_at_the_end_asks_for_more_at_a_time() -> None:
    rising = np.linspace(0.25, 0.6, ALL)
    (advice,) = advised(judged(run(rising)), "filter.replace")
    assert "filter.ensemble_iterations" in advice.text and "was still rising" in advice.why
    assert not advised(judged(run(rising, iterations=20)), "filter.replace")  # still at work


@pytest.mark.parametrize("control", [0.3, 0.6])
@pytest.mark.parametrize("exhausted", [0.03, 0.4])
@pytest.mark.parametrize("member", ["ensemble", "cnn"])
@pytest.mark.parametrize("level", [0.25, 0.28, 0.33, 0.41])
def test_what_is_stalled_has_advice_and_what_ended_near_chance_is_done(
    level: float, member: str, exhausted: float, control: float
) -> None:
    """The two that are seen beside each other, verdicts and advice, never contradict."""
    late = [m for m in run(0.25, exhausted, control, **{member: level}) if m.step >= MLP]
    diagnosis = judged(late)
    stalled = any(f.verdict.state == "stalled" for f in diagnosis.findings)
    assert stalled == (level > CHANCE + NEAR)
    if stalled:
        assert diagnosis.advice
    elif control == 0.6:  # else what is near chance is so because nothing was learned
        assert not diagnosis.advice and "chance: nothing asks for a change" in diagnosis.calm


def test_why_there_is_no_advice() -> None:
    metrics = [m for m in run(0.28) if m.step >= MLP]
    done = judged(metrics)
    assert (done.advice, done.calm) == (
        (),
        "The ensemble is near chance: nothing asks for a change.",
    )
    falling = [m for m in run(np.linspace(0.7, 0.3, ALL), iterations=20) if m.step >= MLP]
    assert judged(falling).calm == "Nothing in the curves asks for a change so far."
    assert judged([]).calm.startswith("Advice stands here once")


def test_not_a_number_is_passed_over() -> None:
    metrics = [
        *run(),
        Metric("filter", "exhausted_share", MLP + ALL - 1, math.nan, {"arm": "main"}),
    ]
    assert judged(metrics).exhausted == pytest.approx(0.03)
