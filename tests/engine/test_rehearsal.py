"""A rehearsal says what a release then holds, and leaves no trace; written ones are read back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from judged_project import BEST, NEITHER, SECOND, context, filtered, judge
from made_questions import clean_set, made, write_release

from swag_studio import recipe as recipes
from swag_studio.engine import rehearsal
from swag_studio.engine.publish import publish
from swag_studio.events import Finished, Progress
from swag_studio.project import Project
from swag_studio.records import SPLITS
from swag_studio.releases import ReleaseOptions
from swag_studio.views import Rehearsal

OPTIONS = ReleaseOptions("1.0.0", formats=("swag_csv",), cost_per_hour=0.0)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """24 contexts, 20 of them judged."""
    root = tmp_path_factory.mktemp("rehearsed") / "p.swag"
    contexts = [context(i) for i in range(24)]
    with filtered(root, recipes.preset("demo"), contexts) as project:
        turns = ([BEST], [SECOND], [NEITHER], [BEST], [BEST])
        judge(project, {c.video_id: turns[i // 4] for i, c in enumerate(contexts[:20])})
        yield project


def rehearsed(project: Project, options: ReleaseOptions) -> Rehearsal:
    *events, last = rehearsal.rehearse(project, options)
    assert {e.stage for e in events if isinstance(e, Progress)} == {"rehearse"}
    assert isinstance(last, Finished)
    result = last.summary["rehearsal"]
    assert isinstance(result, Rehearsal)
    return result


def test_it_says_what_the_release_then_holds(project: Project) -> None:
    result = rehearsed(project, OPTIONS)
    assert result.outlook == rehearsal.outlook(project, OPTIONS)
    assert list((project.root / "releases").iterdir()) == []
    list(publish(project, OPTIONS))
    folder = project.root / "releases" / "1.0.0"
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert result.outlook.counts == manifest["counts"]
    people = {**result.outlook.people}
    assert people.pop("feedback_by") == manifest["feedback"]["by"] == "nobody"
    assert {**manifest["verification"], **people} == manifest["verification"]
    assert (result.outlook.contexts, result.outlook.questions) == (24, len(_all(folder)))
    assert list(result.problems) == manifest["checks"]["problems"]
    assert result.first == tuple(rehearsal.first_of(rehearsal.released.questions(folder)))


def _all(folder: Path) -> list[str]:
    return (folder / "provenance.jsonl").read_text("utf-8").splitlines()


def test_without_a_question_there_are_only_numbers(project: Project) -> None:
    with filtered(
        project.root.with_name("empty.swag"), recipes.preset("demo"), [context(0)]
    ) as empty:
        result = rehearsed(empty, OPTIONS)
    assert result.outlook.questions == 0 and result.first == ()
    assert result.outlook.counts["left_out"] == {"not judged": 1}


def test_the_first_of_each_split_and_no_more_is_read() -> None:
    questions = iter([*clean_set(9), *clean_set(300)])
    shown = rehearsal.first_of(questions, each=2)
    assert [(q.split, q.row) for q in shown] == [(s, row) for s in SPLITS for row in (0, 1)]
    assert len(list(questions)) > 250


def test_differences_have_their_texts_and_the_telling_ones_come_first(tmp_path: Path) -> None:
    same, gone, turned = made(1), made(2), made(3)
    mended = made(4)
    new = made(5)
    before = write_release(tmp_path / "1.0.0", [same, gone, turned, mended])
    after = write_release(
        tmp_path / "1.1.0",
        [same, made(3, label=2), made(4, endings=("sits.", *mended.endings[1:])), new],
    )
    comparison = rehearsal.compared(before, after)
    assert comparison.names == ("1.0.0", "1.1.0") and comparison.total == 4
    told = [(d.how, d.what, d.before is None, d.after is None) for d in comparison.differences]
    assert told == [
        ("added", (), True, False),
        ("removed", (), False, True),
        ("changed", ("right ending",), False, False),
        ("changed", ("order of the options",), False, False),
    ]
    right = comparison.differences[2]
    assert right.before is not None and right.before.endings == mended.endings
    assert right.after is not None and right.after.endings[0] == "sits."
    assert rehearsal.compared(before, before).differences == ()
