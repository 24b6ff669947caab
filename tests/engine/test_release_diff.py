"""Two releases compared: every kind of difference, in words and as JSON."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_questions import clean_set, made, write_release

from swag_studio.engine.release_diff import Change, ReleaseDiff, compare
from swag_studio.errors import ProjectError
from swag_studio.records import Distractor, Question


def difference(root: Path, before: list[Question], after: list[Question]) -> ReleaseDiff:
    return compare(write_release(root / "1.0.0", before), write_release(root / "1.1.0", after))


def swapped(q: Question) -> Question:
    """The same endings in another order."""
    return dataclasses.replace(q, endings=q.endings[::-1], label=3 - q.label)


def other_wrong(q: Question) -> Question:
    wrong = (Distractor("new", "sings.", "unl"), *q.distractors[1:])
    texts = ["sings." if t == q.distractors[0].text else t for t in q.endings]
    return dataclasses.replace(q, endings=tuple(texts), distractors=wrong)


def other_right(q: Question) -> Question:
    texts = ["sings." if i == q.label else t for i, t in enumerate(q.endings)]
    return dataclasses.replace(q, endings=tuple(texts))


def other_fourth(q: Question) -> Question:
    """Another text of the wrong ending that stands in the full files only."""
    *shown, fourth = q.distractors
    return dataclasses.replace(q, distractors=(*shown, dataclasses.replace(fourth, text="sings.")))


CHANGES: list[tuple[Any, tuple[str, ...]]] = [
    (lambda q: dataclasses.replace(q, split="train"), ("split",)),
    (lambda q: dataclasses.replace(q, sent1=q.sent1.upper()), ("context's text",)),
    (other_right, ("right ending",)),
    (other_wrong, ("wrong endings", "verdict")),
    (other_fourth, ("wrong endings",)),
    (swapped, ("order of the options",)),
    (lambda q: dataclasses.replace(q, full_source="gold1-orig"), ("verdict",)),
    (lambda q: dataclasses.replace(q, right_type="unl"), ("verdict",)),
    (lambda q: q, ()),
]


@pytest.mark.parametrize(("change", "what"), CHANGES)
def test_each_change_is_named(tmp_path: Path, change: Any, what: tuple[str, ...]) -> None:
    before = clean_set(9)
    after = [change(q) if q.context_id == "c4" else q for q in before]
    found = difference(tmp_path, before, after)
    (was,) = (q for q in after if q.context_id == "c4")
    assert found.changed == ((Change("c4", "gold", was.split, what),) if what else ())
    assert (found.added, found.removed, found.unchanged) == ((), (), 8 if what else 9)
    assert found.same == (not what)


@settings(max_examples=25)
@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_added_and_removed_are_sets(first: set[int], second: set[int]) -> None:
    questions = clean_set(21)
    with TemporaryDirectory() as name:
        found = difference(
            Path(name),
            [questions[i] for i in sorted(first)],
            [questions[i] for i in sorted(second)],
        )
    assert {c.context for c in found.added} == {f"c{i}" for i in second - first}
    assert {c.context for c in found.removed} == {f"c{i}" for i in first - second}
    assert found.unchanged == len(first & second) and not found.changed
    assert found.same == (first == second)
    for split, (before, after) in found.counts.items():
        assert before == sum(questions[i].split == split for i in first)
        assert after == sum(questions[i].split == split for i in second)


def test_the_gen_question_of_a_context_is_one_of_its_own(tmp_path: Path) -> None:
    gold = made(1)
    gen = dataclasses.replace(gold, gold_source="gen", label=1)
    found = difference(tmp_path, [gold], [gold, gen])
    assert found.added == (Change("c1", "gen", "train"),) and found.unchanged == 1


def test_files_that_changed_since_are_not_called_equal(tmp_path: Path) -> None:
    first = write_release(tmp_path / "1.0.0", clean_set(9))
    second = write_release(tmp_path / "1.1.0", clean_set(9))
    assert compare(first, second).same
    path = second / "train.csv"
    path.write_text(path.read_text("utf-8").replace("man", "dog"), "utf-8")
    with pytest.raises(ProjectError, match=r"train\.csv is missing, or not as it was written"):
        compare(first, second)


def test_licence_sources_and_overrides_are_settings(tmp_path: Path) -> None:
    questions = clean_set(6)
    told = {"licence": "", "overrides": [], "sources": [{"file": "a.json", "sha256": "1"}]}
    later = {"licence": "cc0-1.0", "overrides": ["stray_space"]}
    first = write_release(tmp_path / "1.0.0", questions, **told)
    second = write_release(tmp_path / "1.1.0", questions, **later, sources=[])
    assert compare(first, second).settings == {
        "licence": ("", "cc0-1.0"),
        "overrides": ([], ["stray_space"]),
        "sources.a.json": ("1", None),
    }


def test_twelve_settings_are_named_and_the_others_counted(tmp_path: Path) -> None:
    recipes = [{"run": dict.fromkeys("abcdefghijklmn", value)} for value in (1, 2)]
    first, second = (
        write_release(tmp_path / f"1.{i}.0", clean_set(6), recipe=recipe)
        for i, recipe in enumerate(recipes)
    )
    told = dataclasses.replace(compare(first, second), files={"README.md": "added"}).words()
    assert told[-13:] == [*(f"recipe.run.{name}: 1 -> 2" for name in "abcdefghijkl"),
                          "and 2 more settings."]  # fmt: skip


def test_five_files_are_named_and_the_others_counted(tmp_path: Path) -> None:
    release = write_release(tmp_path / "1.0.0", clean_set(6))
    told = dataclasses.replace(compare(release, release), files=dict.fromkeys("abcdefg", "added"))
    assert told.words()[-1] == "Files added: a, b, c, d, e and 2 more."


def test_settings_and_files(tmp_path: Path) -> None:
    questions = clean_set(6)
    policy = {"policy": {"distractors_needed": 3}}
    first = write_release(tmp_path / "v1", questions)
    second = write_release(
        tmp_path / "1.0.0", questions[:5], verification=policy, recipe={"run": {"seed": 2}}
    )
    found = compare(first, second)
    assert found.settings == {
        "policy.distractors_needed": (None, 3),
        "recipe.run.seed": (1, 2),
    }
    assert found.files == dict.fromkeys(["provenance.jsonl", "test.csv", "test_key.csv"], "changed")
    assert json.loads(json.dumps(found.to_dict()))["removed"][0]["context"] == "c5"
    assert found.words() == [
        "From v1 to 1.0.0: 0 questions added, 1 removed, 0 changed, 5 as they were.",
        "Removed by split: test 1.",
        "Files changed: provenance.jsonl, test.csv, test_key.csv.",
        "policy.distractors_needed: nothing -> 3",
        "recipe.run.seed: 1 -> 2",
    ]
    assert compare(first, first).words() == ["v1 and v1 are equal, byte for byte."]


def test_what_the_manifests_say_otherwise_is_told_in_words(tmp_path: Path) -> None:
    """Who verified, in which run, with whose word: also where no file differs."""
    stages = [{"filter": {"version": run, "key": "x"}} for run in (1, 2)]
    people = {"by": "people", "judgements": 9, "policy_id": "1", "said": {"found": {}}}
    run = {"run": 1, "by": "simulation", "contexts": 7}
    first = write_release(
        tmp_path / "1.0.0", clean_set(6), stages=stages[0], simulated=False, verification=people,
        feedback={"by": "nobody", "runs": []}, formats={"written": ["swag_csv"], "left_out": {}},
    )  # fmt: skip
    second = write_release(
        tmp_path / "1.1.0", clean_set(6), stages=stages[1], simulated=True,
        verification=people | {"by": "simulation"}, feedback={"by": "simulation", "runs": [run]},
        formats={"written": ["swag_csv"], "left_out": {"parquet": "pyarrow"}},
        checks={"problems": [{"kind": "stray_space", "count": 3}]},
    )  # fmt: skip
    found = compare(first, second)
    assert not found.same and not found.files and not found.to_dict()["same"]
    assert found.words() == [
        "1.0.0 and 1.1.0 are equal, byte for byte, but their manifests tell them apart:",
        "counts simulated annotators: no -> yes",
        "verified by: people -> simulation",
        "filter run: 1 -> 2",
        "the filter went on with the word of: nobody -> simulation",
        "earlier runs that the filter went on from: nothing -> 1 (7 moved by simulation)",
        "formats left out: nothing -> parquet",
        "checks.stray_space: nothing -> 3",
    ]


def test_what_is_left_out_is_told_in_words_and_nothing_is_no_difference(tmp_path: Path) -> None:
    """A draft's manifest has no title, which is as good as an empty one."""
    counts = [{"left_out": {"reannotate": n}, "surprising": 2} for n in (1, 3)]
    questions = clean_set(6)
    first = write_release(tmp_path / "1.0.0", questions, counts=counts[0])
    second = write_release(tmp_path / "1.1.0", questions, counts=counts[1], title="", overrides=[])
    found = compare(first, second)
    assert found.settings["title"] == (None, "") and found.settings["overrides"] == (None, [])
    assert found.words()[1:] == ["left out, waiting for another round: 1 -> 3"]


def test_the_first_that_differ_are_named_and_mere_order_last(tmp_path: Path) -> None:
    before = clean_set(9)
    after = [swapped(before[0]), *before[1:5], other_right(before[5]), *before[6:8], made(20)]
    found = difference(tmp_path, before, after)
    assert [(how, c.context) for how, c in found.first(10)] == [
        ("added", "c20"), ("removed", "c8"), ("changed", "c5"), ("changed", "c0"),
    ]  # fmt: skip
    assert found.first(1) == [("added", Change("c20", "gold", "train"))]
