"""Filtering again with what people said, on a planted project that people judged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import INDEX, TINY, plant

from swag_studio import cli
from swag_studio import recipe as recipes
from swag_studio.curating import Curator
from swag_studio.engine import adversarial_filter, feedback, said
from swag_studio.engine.assignment import AssignmentLog
from swag_studio.engine.corpus import Corpus
from swag_studio.engine.feedback import filter_again, preview, recipe_with_feedback
from swag_studio.engine.gibberish import Gibberish
from swag_studio.engine.text import TextMaker
from swag_studio.engine.usable import Usable
from swag_studio.errors import ProjectError, RecipeError, StageError
from swag_studio.events import Message
from swag_studio.judging import Adjudication, Annotator, Judgement, Label, Task, task_id
from swag_studio.pool import Pool
from swag_studio.project import Project
from swag_studio.records import SourceInfo

CONTEXTS = 48
RECIPE = recipes.preset("demo").with_values(
    {
        **TINY,
        "filter.members": "mlp",
        "filter.mlp_iterations": 2,
        "filter.ensemble_iterations": 0,
        "filter.epochs": 1,
        "filter.probe": False,
        "filter.strength_folds": 0,
    }
)


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose filter is done; nobody has judged yet."""
    root = tmp_path_factory.mktemp("feedback") / "p.swag"
    with Project.create(root, RECIPE) as project:
        info = SourceInfo("source", "captions.json", "activitynet", "0" * 64, 1, 1, 1, 0)
        project.store.stage_source(info)
        project.store.publish_source(info)
        plant(project, RECIPE, contexts=CONTEXTS)
        list(adversarial_filter.run(RECIPE, project))
        for number, kind in enumerate(("person", "person", "person", "simulated")):
            project.store.put_annotator(Annotator(f"a{number}", f"Name {number}", kind))
    return root


@pytest.fixture
def project(filtered: Path, tmp_path: Path) -> Iterator[Project]:
    shutil.copytree(filtered, tmp_path / "p.swag")
    with Project.open(tmp_path / "p.swag") as opened:
        yield opened


def assigned(project: Project, version: int) -> dict[str, list[tuple[str, str, int]]]:
    """Context -> (id, text, row) by slot, the found ending first."""
    return {
        context: [(e.id, e.text, e.row) for _, e, _ in slots]
        for context, slots in project.store.assigned(version)
    }


def judge(
    project: Project, context: str, by: Mapping[str, Mapping[int, Label]], version: int = 1
) -> Task:
    """Annotator -> slot -> label; all other endings are unlikely, and the found one is likely."""
    endings = tuple(id for id, _, _ in assigned(project, version)[context])
    task = Task(task_id(context, 0, endings), context, version, 0, endings)
    project.store.put_tasks([task])
    project.store.add_judgements(
        Judgement(
            task.id,
            annotator,
            ("likely", *(labels.get(slot, "unlikely") for slot in range(1, len(endings)))),
            0,
            1,
        )
        for annotator, labels in by.items()
    )
    return task


def judge_all(project: Project, gibberish: Callable[[str], bool], version: int = 1) -> None:
    for context, slots in assigned(project, version).items():
        bad: dict[int, Label] = {
            slot: "gibberish" for slot, (_, text, _) in enumerate(slots) if slot and gibberish(text)
        }
        judge(project, context, {"a0": bad}, version)


def ever(project: Project, version: int) -> dict[str, set[int]]:
    """Context -> all pool rows that a run ever assigned to it."""
    folder = project.root / "filter" / f"v{version}"
    first = AssignmentLog(folder).initial()
    assert first is not None
    rows = [set(row.tolist()) for row in first.rows]
    for swaps in AssignmentLog(folder).swaps():
        for place, row in zip(swaps.place, swaps.new.tolist(), strict=True):
            rows[place].add(row)
    ids = Corpus.load(project.root / "prepared" / "v1").context_ids
    return {ids[place]: r for place, r in zip(first.contexts, rows, strict=True)}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def suddenly(text: str) -> bool:
    return "suddenly" in text


# --- what moves ------------------------------------------------------------------------------


def test_what_is_excluded_never_returns_and_all_else_stays(project: Project) -> None:
    before, files = assigned(project, 1), bytes_of(project.root / "filter" / "v1")
    ids = list(before)
    for context in ids[:12]:  # two of three
        judge(project, context, {"a0": {1: "gibberish"}, "a1": {1: "gibberish"}, "a2": {}})
    judge(project, ids[12], {"a0": {1: "gibberish"}, "a1": {}})  # a tie
    judge(project, ids[13], {"a3": {1: "gibberish"}})  # simulated, and not counted
    task = judge(project, ids[14], {"a0": {1: "gibberish"}, "a1": {}})  # a tie that was settled
    labels: tuple[Label, ...] = ("likely", "gibberish", *["unlikely"] * 3)  # type: ignore[assignment]
    project.store.adjudicate(Adjudication(task.id, "Ada", labels, 0, 2))
    curator = Curator(project.store, 1, "Ada")
    curator.edit_text(ids[15], 1, "a text that a person wrote .")
    moving = {*ids[:12], ids[14], ids[15]}
    slot = dict.fromkeys(moving, 1) | {ids[15]: 2}

    counts = preview(project)
    assert (counts.excluded, counts.affected, counts.untouched) == (14, 14, CONTEXTS - 14)
    assert (counts.judged, counts.edited, counts.gibberish, counts.simulated) == (13, 1, 13, False)
    assert counts.classifier.startswith("A classifier of gibberish needs 50")
    list(filter_again(project, iterations=6))

    after, rows = assigned(project, 2), ever(project, 2)
    assert project.recipe.filter.ensemble_iterations == 6
    assert list(after) == ids
    for context in ids:
        if context in moving:
            assert before[context][slot[context]][2] not in rows[context]
        else:
            assert after[context] == before[context]
            assert rows[context] == {row for _, _, row in before[context][1:]}
    first = AssignmentLog(project.root / "filter" / "v2").initial()
    assert first is not None
    for context, start in zip(ids, first.rows.tolist(), strict=True):
        kept = [row for _, _, row in before[context][1:]]
        changed = [place for place in range(4) if start[place] != kept[place]]
        assert changed == ([slot[context] - 1] if context in moving else [])
    assert sum(len(s.place) for s in AssignmentLog(project.root / "filter" / "v2").swaps()) > 0
    assert assigned(project, 1) == before
    assert bytes_of(project.root / "filter" / "v1") == files
    current = project.current("filter")
    assert current is not None and current.version == 2
    assert current.summary["feedback"]["affected"] == 14  # type: ignore[index]


def test_where_all_is_gibberish_as_many_others_come_in(project: Project) -> None:
    before = assigned(project, 1)
    everything: dict[int, Label] = dict.fromkeys(range(1, 5), "gibberish")
    for context in before:
        judge(project, context, {"a0": everything})
    list(filter_again(project, iterations=1))
    first = AssignmentLog(project.root / "filter" / "v2").initial()
    assert first is not None and len(first) == CONTEXTS
    for context, rows in zip(before, first.rows.tolist(), strict=True):
        assert len({*rows}) == 4 and {*rows}.isdisjoint(row for _, _, row in before[context])


def test_what_a_curator_took_from_the_pool_is_where_the_run_starts(project: Project) -> None:
    context, slots = next(iter(assigned(project, 1).items()))
    pool, corpus = Pool.open(project.root / "pool/v1"), Corpus.load(project.root / "prepared/v1")
    every, maker = pool.context(0), TextMaker(corpus.vocabulary)
    taken = {row for _, _, row in slots}
    usable = np.flatnonzero(Usable.of(project.recipe, corpus)(every)).tolist()
    row, again = [r for r in usable if r not in taken][:2]
    curator = Curator(project.store, 1, "Ada")
    curator.replace(context, 0, maker.ending(every.tokens[again]))
    curator.replace(context, 0, maker.ending(every.tokens[row]))
    curator.flag(context, "check", True)
    list(filter_again(project, iterations=1))
    first = AssignmentLog(project.root / "filter" / "v2").initial()
    assert first is not None
    assert first.rows[0].tolist() == [row, *(r for _, _, r in slots[2:])]
    assert not {slots[1][2], again} & set(first.candidates(0).tolist())
    state = project.store.curated(2, context)
    assert state.flags == ("check",) and state.endings == tuple(
        id for id, _, _ in assigned(project, 2)[context][1:]
    )


def test_an_edit_that_was_undone_excludes_nothing(project: Project) -> None:
    context = next(iter(assigned(project, 1)))
    Curator(project.store, 1, "Ada").edit_text(context, 0, "a text that a person wrote .")
    assert preview(project).affected == 1
    project.store.undo("Ada")
    assert preview(project).affected == 0
    with pytest.raises(StageError, match="Nothing changes in run 1"):
        recipe_with_feedback(project)
    project.store.redo("Ada")
    assert preview(project).affected == 1


def test_a_third_run_keeps_out_what_the_second_did(project: Project) -> None:
    context, slots = next(iter(assigned(project, 1).items()))
    Curator(project.store, 1, "Ada").edit_text(context, 0, "a text that a person wrote .")
    list(filter_again(project, iterations=1))
    second = assigned(project, 2)[context]
    judge(project, context, {"a0": {2: "gibberish"}}, version=2)
    list(filter_again(project, iterations=1))
    current = project.current("filter")
    assert current is not None and current.version == 3
    first = AssignmentLog(project.root / "filter" / "v3").initial()
    assert first is not None
    gone = {slots[1][2], second[2][2]}
    assert not gone & {*first.candidates(0).tolist(), *first.rows[0].tolist()}


# --- versions --------------------------------------------------------------------------------


def test_the_same_words_make_the_same_run_and_new_ones_a_new_one(project: Project) -> None:
    ids = list(assigned(project, 1))
    judge(project, ids[0], {"a0": {1: "gibberish"}})
    once = recipe_with_feedback(project)
    assert recipe_with_feedback(project) == once
    judge(project, ids[1], {"a0": {}})
    more = recipe_with_feedback(project)
    assert more.filter.feedback != once.filter.feedback
    keys = {project.key("filter", r) for r in (RECIPE, once, more)}
    assert len(keys) == 3
    list(filter_again(project, iterations=1))
    project.set_recipe(RECIPE)
    current = project.current("filter")
    assert current is not None and current.version == 1


def test_a_run_after_feedback_goes_on_the_same_whatever_is_said_meanwhile(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adversarial_filter, "BEAT", 0.0)
    judge_all(project, suddenly)
    recipe = recipe_with_feedback(project, gibberish="both", iterations=2)
    copies: list[Path] = []
    seen: set[tuple[str, ...]] = set()
    for _ in adversarial_filter.run(recipe, project):
        state = tuple(sorted(map(str, (project.root / "filter").rglob("*"))))
        if state not in seen:
            seen.add(state)
            copies.append(tmp_path / f"{len(copies)}" / "p.swag")
            shutil.copytree(project.root, copies[-1])
    expected, rows = bytes_of(project.root / "filter"), assigned(project, 2)
    assert {"v2/feedback.json", "v2/gibberish.json", "v2/iteration-0001.safetensors"} <= set(
        expected
    )
    assert len(copies) >= 6
    for copy in copies:
        with Project.open(copy) as again:
            judge(again, next(iter(rows)), {"a1": {2: "gibberish"}, "a2": {2: "gibberish"}})
            list(adversarial_filter.run(recipe, again))
            assert bytes_of(copy / "filter") == expected
            assert assigned(again, 2) == rows


# --- the classifier --------------------------------------------------------------------------


def test_the_classifier_keeps_out_what_it_calls_gibberish(project: Project) -> None:
    judge_all(project, suddenly)
    counts = preview(project)
    assert min(counts.gibberish, counts.sensible) >= 50 and counts.classifier == ""
    events = list(filter_again(project, gibberish="both", iterations=3))
    folder = project.root / "filter" / "v2"
    model = Gibberish.load(folder / "gibberish.json")
    assert model.report.area > 0.9
    assert model.words[INDEX["suddenly"]] > 0
    told = [e.text for e in events if isinstance(e, Message)]
    assert any(model.report.words() == text for text in told)
    before, pool = assigned(project, 1), Pool.open(project.root / "pool/v1")
    barred = 0
    ids = list(before)
    for context, rows in ever(project, 2).items():  # without those that have too few left
        every = pool.context(ids.index(context))
        bad = set(np.flatnonzero(model.barred(every.tokens, every.features)).tolist())
        assert not bad & (rows - {row for _, _, row in before[context]})
        barred += len(bad)
    assert barred > CONTEXTS
    summary: Any = project.require("filter", project.recipe).summary
    assert summary["members"] == ["mlp", "gibberish"]
    assert summary["feedback"]["classifier"]["gibberish"] == counts.gibberish


def test_too_few_labels_are_refused(project: Project) -> None:
    judge(project, next(iter(assigned(project, 1))), {"a0": {1: "gibberish"}})
    with pytest.raises(StageError, match=r"needs 50 .* there are 1 and 3\. Judge more"):
        recipe_with_feedback(project, gibberish="member")
    recipe = recipe_with_feedback(project)
    assert not recipe.filter.bar_gibberish and "gibberish" not in recipe.filter.members


# --- refusals --------------------------------------------------------------------------------


def test_a_feedback_that_is_not_there_is_refused(project: Project) -> None:
    for name, words in (("v1:../../../etc", "names no feedback"), ("v1:0123456789ab", "missing")):
        recipe = RECIPE.with_values({"filter.feedback": name})
        with pytest.raises(StageError, match=words):
            list(adversarial_filter.run(recipe, project))


def test_a_damaged_feedback_is_refused(project: Project) -> None:
    judge(project, next(iter(assigned(project, 1))), {"a0": {1: "gibberish"}})
    recipe = recipe_with_feedback(project)
    path = said.frozen_path(project, recipe.filter.feedback)
    d = json.loads(path.read_text())
    d["contexts"] = {}
    path.write_text(json.dumps(d))
    with pytest.raises(StageError, match="damaged"):
        list(adversarial_filter.run(recipe, project))


def test_a_recipe_needs_feedback_for_the_classifier(project: Project) -> None:
    for values in ({"filter.bar_gibberish": True}, {"filter.members": "mlp,gibberish"}):
        with pytest.raises(RecipeError, match="filter-again"):
            RECIPE.with_values(values)
    with pytest.raises(ProjectError, match="no finished run 7"):
        preview(project, 7)


def test_another_number_of_distractors_is_refused(project: Project) -> None:
    judge(project, next(iter(assigned(project, 1))), {"a0": {1: "gibberish"}})
    recipe = recipe_with_feedback(project).with_values({"filter.distractors": 5})
    with pytest.raises(StageError, match="Run 1 assigned 4 distractors"):
        list(adversarial_filter.run(recipe, project))


# --- from a terminal -------------------------------------------------------------------------


def test_a_recipe_that_was_changed_while_people_were_heard_is_left_so(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(project, next(iter(assigned(project, 1))), {"a0": {1: "gibberish"}})
    changed = project.recipe.with_values({"filter.epochs": 2})

    def heard(*asked: Any) -> said.Feedback:
        project.set_recipe(changed)  # as a page does, in the window's thread
        return said.collect(*asked)

    monkeypatch.setattr(feedback, "collect", heard)
    with pytest.raises(StageError, match="changed meanwhile"):
        list(filter_again(project))
    assert project.recipe == changed


def test_from_a_terminal(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    judge(project, next(iter(assigned(project, 1))), {"a0": {1: "gibberish"}})
    root = project.root
    project.close()
    capsys.readouterr()
    assert cli.main(["filter-again", str(root), "--preview", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["run"], told["parent"], told["excluded"], told["affected"]) == (None, 1, 1, 1)
    assert cli.main(["filter-again", str(root), "--gibberish", "often"]) == 1
    assert "off, bar, member, both" in capsys.readouterr().err.replace("\n", " ")
    assert cli.main(["filter-again", str(root), "--iterations", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["run"] == 2
