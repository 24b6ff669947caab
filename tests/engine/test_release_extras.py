"""Preference pairs: each round in which a generated ending was best, and nothing that gives away
the right endings of another split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judged_project import BEST, FEW, NEITHER, SECOND, Answer, context, filtered, judge, work_of

from swag_studio import recipe as recipes
from swag_studio.curating import Curator
from swag_studio.engine.questions import Outcome, QuestionMaker
from swag_studio.engine.release_extras import preferences
from swag_studio.judging import FOUND, Adjudication, Judgement
from swag_studio.policy import VerificationPolicy
from swag_studio.project import Project
from swag_studio.records import Context

RECIPE = recipes.preset("demo")
POLICY = VerificationPolicy()


def outcomes(project: Project) -> Iterator[Outcome]:
    maker = QuestionMaker(project.store, POLICY, RECIPE.run.seed, False, frozenset())
    return maker.outcomes(work_of(project).cases([c.id for c in project.store.contexts(1)]))


def pairs(project: Project) -> list[dict[str, Any]]:
    return [pair for outcome in outcomes(project) for pair in preferences(outcome, POLICY)]


def of_one(
    root: Path, answers: Sequence[Answer], split: str = "train", beside: Sequence[Context] = ()
) -> list[dict[str, Any]]:
    """The pairs of a context that was judged so, round by round."""
    with filtered(root, RECIPE, [context(0, split=split), *beside]) as project:
        judge(project, {"anetv_0": answers})
        return pairs(project)


def test_every_round_in_which_a_generated_ending_was_best_gives_a_pair(tmp_path: Path) -> None:
    ways = [[BEST], [SECOND], [NEITHER, BEST], [NEITHER, SECOND], [NEITHER], [FEW, SECOND], [FEW]]
    contexts = [context(i, split="train") for i in range(len(ways))]
    answers = {c.video_id: way for c, way in zip(contexts, ways, strict=True)}
    with filtered(tmp_path / "p.swag", RECIPE, contexts) as project:
        judge(project, answers)
        expected = {
            (case.context.id, task.round, outcome.endings[task.endings[judgement.best]].text)
            for outcome in outcomes(project)
            for case in [outcome.case]
            for task in case.live
            for judgement in case.judgements
            if judgement.task_id == task.id and judgement.best != FOUND
        }
        made = pairs(project)
    assert {(p["context"], p["round"], p["chosen"]) for p in made} == expected
    assert len(made) == len(expected) == 8  # 0, 1, 1, 2, 3, 1 and 0, in the order of `ways`


def test_a_found_ending_that_is_second_in_a_later_round(tmp_path: Path) -> None:
    first, later = of_one(tmp_path / "p.swag", [NEITHER, SECOND])
    assert (first["round"], first["rejected_rank"]) == (0, "neither")
    assert (later["round"], later["rejected_rank"]) == (1, "second")
    assert first["chosen"] != later["chosen"]
    assert {p["rejected"] for p in (first, later)} == {"stands up 0."}
    assert {p["verdict"] for p in (first, later)} == {"found"}


def test_an_unfinished_context_gives_what_was_decided(tmp_path: Path) -> None:
    with filtered(tmp_path / "p.swag", RECIPE, [context(0, split="train")]) as project:
        judge(project, {"anetv_0": [NEITHER]}, rounds=1)  # the second round is open
        (pair,) = pairs(project)
    assert (pair["round"], pair["verdict"], pair["answers"]) == (0, "open", 1)


def test_nothing_of_validation_and_test_is_told(tmp_path: Path) -> None:
    assert of_one(tmp_path / "v.swag", [NEITHER, SECOND], split="val") == []
    assert of_one(tmp_path / "t.swag", [NEITHER], split="test") == []
    alike = [context(10 + j, found=f"wrong {j} of anetv_0.", split="val") for j in range(9)]
    assert of_one(tmp_path / "b.swag", [NEITHER, SECOND], beside=alike) == []


def test_what_a_person_wrote_is_not_passed_off_as_generated(tmp_path: Path) -> None:
    one = context(0, split="train")
    with filtered(tmp_path / "p.swag", RECIPE, [one]) as project:
        for place in range(9):
            Curator(project.store, 1, "me").edit_text(one.id, place, f"bows {place} times.")
        judge(project, {one.video_id: [NEITHER, SECOND]})
        assert pairs(project) == []


def test_tied_annotators_prefer_nothing_until_it_is_settled(tmp_path: Path) -> None:
    one = context(0, split="train")
    with filtered(tmp_path / "p.swag", RECIPE, [one]) as project:
        judge(project, {one.video_id: [BEST]}, ["a1"], rounds=1)
        (task,) = next(iter(work_of(project).cases([one.id]))).live
        project.store.add_judgements([Judgement(task.id, "a2", *_settled(SECOND))])
        (outcome,) = outcomes(project)
        assert len(outcome.case.judgements) == 2 and pairs(project) == []
        project.store.adjudicate(Adjudication(task.id, "me", *_settled(SECOND)))
        (pair,) = pairs(project)
    assert (pair["answers"], pair["rejected_rank"], pair["verdict"]) == (1, "second", "found")


def _settled(answer: Answer) -> tuple[Any, int, int]:
    return tuple(answer[0]), answer[1], answer[2]
