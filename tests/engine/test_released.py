"""A written release read back: the questions that were put in, and damage said in a sentence."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from judged_project import BEST, context, filtered, judge
from made_questions import any_questions, clean_set, write_release

from swag_studio import recipe as recipes
from swag_studio.engine import release, released
from swag_studio.engine.publish import publish
from swag_studio.engine.release_checks import check
from swag_studio.errors import ProjectError
from swag_studio.records import Question
from swag_studio.releases import ReleaseOptions


def seen(question: Question) -> Question:
    """A question without what a release does not tell of it."""
    return dataclasses.replace(question, fold=-1, source_id="")


@settings(max_examples=40)
@given(any_questions())
def test_what_was_written_is_read(questions: list[Question]) -> None:
    with TemporaryDirectory() as name:
        folder = write_release(Path(name) / "1.0.0", questions)
        assert list(released.questions(folder)) == [seen(q) for q in questions]
        assert released.damaged(folder) == []


def test_a_published_release_and_a_draft_are_read(tmp_path: Path) -> None:
    recipe = recipes.preset("demo")
    contexts = [context(i) for i in range(16)]
    with filtered(tmp_path / "p.swag", recipe, contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts})
        list(publish(project, ReleaseOptions("1.0.0", formats=("swag_csv",), cost_per_hour=0.0)))
        list(release.run(recipe, project))
        folders = [project.root / "releases" / name for name in ("1.0.0", "v1")]
    found = {c.id: c for c in contexts}
    for folder in folders:
        questions = list(released.questions(folder))
        assert {q.context_id: q.right for q in questions} == {c.id: c.found for c in contexts}
        assert all(q.split == found[q.context_id].split for q in questions)
        assert check(questions).errors == ()
    assert all(3 <= len(q.distractors) <= 4 for q in released.questions(folders[0]))
    csv_file = folders[0] / "test.csv"
    csv_file.write_text(csv_file.read_text("utf-8").replace("wrong ", "wring ", 1), "utf-8")
    with pytest.raises(ProjectError, match="does not fit"):
        list(released.questions(folders[0]))


def test_files_that_changed_are_named(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "1.0.0", clean_set(9))
    (folder / "val.csv").write_text("", encoding="utf-8")
    (folder / "train.csv").unlink()
    assert sorted(released.damaged(folder)) == ["train.csv", "val.csv"]


@pytest.mark.parametrize("name", ["val.csv", "test_key.csv", "provenance.jsonl"])
@pytest.mark.parametrize("lines", [1, 2, -1])
def test_files_that_do_not_belong_together_are_refused(
    tmp_path: Path, name: str, lines: int
) -> None:
    """Cut after the header or first question, before the last one."""
    folder = write_release(tmp_path / "1.0.0", clean_set(12))
    kept = (folder / name).read_bytes().splitlines(keepends=True)[:lines]
    (folder / name).write_bytes(b"".join(kept))
    with pytest.raises(ProjectError, match=r"provenance\.jsonl"):
        list(released.questions(folder))


def test_a_row_of_another_question_is_refused(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "1.0.0", clean_set(12))
    text = (folder / "val.csv").read_text("utf-8")
    (folder / "val.csv").write_text(text.replace("\n1,", "\n7,"), "utf-8")
    with pytest.raises(ProjectError, match="line 5: it does not fit"):
        list(released.questions(folder))


@pytest.mark.parametrize("name", ["val.csv", "test_key.csv", "provenance.jsonl"])
@pytest.mark.parametrize("junk", [b"\xff\xfe", b'"', b"\x00" * 3, b"[]\n", b"9" * 140_000])
@pytest.mark.parametrize("at", [0, 60, 10_000])
def test_junk_is_refused_in_a_sentence(tmp_path: Path, name: str, junk: bytes, at: int) -> None:
    folder = write_release(tmp_path / "1.0.0", clean_set(12))
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:at] + junk + data[at:])
    with pytest.raises(ProjectError):
        list(released.questions(folder))


@pytest.mark.parametrize("label", ["4", "-1", "", "x"])
@pytest.mark.parametrize("name", ["val.csv", "test_key.csv"])
def test_a_label_that_names_no_ending_is_refused(tmp_path: Path, name: str, label: str) -> None:
    folder = write_release(tmp_path / "1.0.0", clean_set(12))
    *kept, last, _ = (folder / name).read_text("utf-8").split("\n")
    changed = f"{last.rpartition(',')[0]},{label}"
    (folder / name).write_text("\n".join([*kept, changed, ""]), "utf-8")
    with pytest.raises(ProjectError, match=r"line 1[12]: it does not fit"):
        list(released.questions(folder))


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", '{"files": 3}', '{"files": {"a": {}}}'])
def test_a_folder_that_is_no_release(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_text(text, "utf-8")
    with pytest.raises(ProjectError, match="no release" if text is None else "damaged"):
        released.damaged(tmp_path)


def test_files_that_the_manifest_lacks_are_named(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "1.0.0", clean_set(9))
    (folder / "run.json").write_text("{}", "utf-8")  # differs between equal releases: not listed
    assert released.unlisted(folder) == []
    (folder / "lm_eval").mkdir()
    for name in ("answers.csv", "lm_eval/more.yaml"):
        (folder / name).write_text("", "utf-8")
    assert released.unlisted(folder) == ["answers.csv", "lm_eval/more.yaml"]


def test_what_a_program_leaves_where_it_reads_is_no_file_of_a_release(tmp_path: Path) -> None:
    """The harness imports lm_eval/local_data.py, and Python keeps it beside in its own form."""
    folder = write_release(tmp_path / "1.0.0", clean_set(9))
    for name in ("lm_eval/__pycache__/local_data.cpython-311.pyc", ".DS_Store", "a/Thumbs.db"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    assert released.unlisted(folder) == []


def test_a_manifest_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(ProjectError, match="cannot be read: Is a directory"):
        released.damaged(tmp_path)
