"""The card says what is so of its release, and leaves out what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judged_project import BEST, context, filtered, judge

from swag_studio import recipe as recipes
from swag_studio.engine.dataset_card import _LOOKED_FOR, card
from swag_studio.engine.publish import publish
from swag_studio.engine.release_checks import KINDS
from swag_studio.releases import ReleaseOptions

Manifest = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The manifest of a small release, as JSON."""
    root = tmp_path_factory.mktemp("card") / "p.swag"
    contexts = [context(i) for i in range(8)]
    with filtered(root, recipes.preset("demo"), contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts})
        options = ReleaseOptions("1.0.0", formats=("swag_csv",), cost_per_hour=0.0)
        list(publish(project, options))
        folder: Path = project.root / "releases" / "1.0.0"
    text = (folder / "manifest.json").read_text("utf-8")
    assert card(json.loads(text)) == (folder / "README.md").read_text("utf-8")
    return text


@pytest.fixture
def manifest(made: str) -> Manifest:
    loaded: Manifest = json.loads(made)
    return loaded


def test_each_check_has_its_words_and_is_told_found_or_not(manifest: Manifest) -> None:
    assert tuple(_LOOKED_FOR) == KINDS
    text = card(manifest)
    assert all(words in text for words in _LOOKED_FOR.values())
    problem = {"kind": "stray_space", "level": "warning", "sentence": "2 questions have it."}
    manifest["checks"]["problems"] = [problem]
    text = card(manifest)
    assert "- warning: 2 questions have it." in text
    told = [words in text for words in _LOOKED_FOR.values()]
    assert told == [kind != "stray_space" for kind in KINDS]


def test_captions_of_videos_are_called_so_and_others_are_not(manifest: Manifest) -> None:
    (source,) = manifest["sources"]
    text = card(manifest)
    assert "describes a video" in text and "were sampled from language models" in text
    manifest["sources"] = [{**source, "format": "csv"}]
    text = card(manifest)
    assert "describes a video" not in text and "were sampled from language models" in text
    manifest["sources"] = [{**source, "format": "own"}]
    text = card(manifest)
    assert "came split, with their candidates" in text
    assert "were sampled from language models" not in text and "noun phrase (" not in text
    assert "the wrong ones came with the source, and were chosen" in text
    assert "come from the generator of the source: some" in text and "language model " not in text
    manifest["sources"] = [{**source, "format": "own"}, source]
    text = card(manifest)
    assert "came split" in text and "were sampled from language models" in text
    assert "ones were written by a language model or came with the source, and" in text
    assert "come from small language models or the generator of the source: some" in text


def test_nothing_is_claimed_that_was_overridden_or_not_looked_at(manifest: Manifest) -> None:
    assert "none is in two of them" in card(manifest)
    assert "none has seen the group" in card(manifest)
    manifest["overrides"], manifest["gold_unseen"] = ["group_in_two_splits"], None
    text = card(manifest)
    assert "none is in two of them" not in text and "none has seen" not in text


def test_what_is_kept_apart_and_what_goes_on_is_counted(manifest: Manifest) -> None:
    manifest["counts"] |= {"surprising": 1234, "preferences": 5, "edited_endings": 2}
    manifest["checks"]["continued"] = 1
    text = card(manifest)
    assert "| contexts in surprising.jsonl | 1,234 |  |" in text
    assert "| pairs in preferences.jsonl | 5 |  |" in text
    assert "or were edited by a person, and were chosen" in text
    assert "In 1 question the found ending goes on as the context of another" in text


def test_answers_that_stand_in_the_test_set_are_a_limit(manifest: Manifest) -> None:
    assert "have their answer in `test.csv`" not in card(manifest)
    manifest["checks"]["continued_in"] = {"train": 9, "val": 0, "test": 1066}
    manifest["counts"]["questions"]["test"]["all"] = 2119
    told = "Of the 2,119 questions of the test set 1,066 have their answer in `test.csv` itself"
    assert told in card(manifest)


JUDGES = {
    "people": "people",
    "simulation": "simulated annotators",
    "people and simulation": "people and simulated annotators",
}


@pytest.mark.parametrize("by", JUDGES)
def test_those_who_judged_are_called_what_they_are(manifest: Manifest, by: str) -> None:
    people = manifest["verification"]
    people |= {"by": by, "judgements": 8 * ("people" in by)}
    people |= {"simulated_judgements": 8 * ("simulation" in by), "simulated_annotators": 1}
    people["agreement"]["tasks"] = 2
    text = card(manifest)
    for told in (
        "generated endings that {} put above the found one",
        "`pos`: {} called the right ending likely",
        "what {} said of it",
        "or what {} preferred",
        "Agreement of {} on 2 tasks",
    ):
        assert told.format(JUDGES[by]) in text
    assert "{judges}" not in text
    warning = "not from people. It shows"
    assert ("people" in text.replace(warning, "")) == ("people" in by)
    assert ("simulated annotators" in text) == ("simulation" in by)


def test_sources_stand_beside_those_of_swag(manifest: Manifest) -> None:
    counts = manifest["counts"]
    assert sum(counts["contexts_by_source"]["val_1.json"].values()) == counts["contexts"] == 8
    counts["by_source"] = {"a.json": 5, "b.json": 1234}
    counts["contexts_by_source"] = {
        "a.json": {"train": 1, "val": 2, "test": 1},
        "b.json": {"train": 1000, "val": 0, "test": 34},
    }
    text = card(manifest)
    assert "| `a.json` | 5 | 4 | 1 | 2 | 1 |\n" in text
    assert "| `b.json` | 1,234 | 1,034 | 1,000 | 0 | 34 |\n" in text
    assert "| SWAG: LSMDC | 62,118 |" in text


def test_versions_are_told_where_they_were_the_same_throughout(manifest: Manifest) -> None:
    assert "Not of every stage is it known" in card(manifest)
    stages = {name: {"made_with": [{"torch": "2.1", "spacy": ""}]} for name in manifest["stages"]}
    manifest["stages"] = stages
    assert "Its stages were made with torch 2.1.\n" in card(manifest)
    stages["filter"]["made_with"].append({"torch": "2.2", "spacy": ""})
    assert "different versions of packages" in card(manifest)
