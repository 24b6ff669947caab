"""The draft release, from assignments that are put into the store by hand."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from swag_studio import recipe as recipes
from swag_studio.engine import release
from swag_studio.errors import ProjectError, StageError
from swag_studio.events import Finished, Progress
from swag_studio.project import Project
from swag_studio.recipe import STAGES, Recipe
from swag_studio.records import SPLITS, Context, Ending, SourceInfo, context_id, ending_id

K = 9
FILES = ["train.csv", "val.csv", "test.csv", "test_key.csv", "provenance.jsonl", "manifest.json"]


def filled(root: Path, recipe: Recipe, contexts: int = 61, unassigned: int = 2) -> Project:
    """A project whose stages up to the filter are done; the last contexts have no assignments."""
    project = Project.create(root, recipe)
    info = SourceInfo("s1", "f.json", "activitynet", "0" * 64, 1, 1, 1, 0)
    project.store.stage_source(info)
    project.store.publish_source(info)
    made = {stage: project.begin(stage, recipe) for stage in STAGES[:-1]}
    rows = []
    for i in range(contexts):
        text = (f"Person {i} sits, {i}.", "Then she", f"stands up {i}.")
        rows.append(
            Context(
                id=context_id(f"g{i}", 1, *text),
                group=f"g{i}",
                video_id=f"anetv_{i}",
                source_id="s1",
                document=f"v_{i}",
                position=1,
                sent1=text[0],
                sent2=text[1],
                found=text[2],
                fold=i % 2,
                split=SPLITS[min(2, i % 4)],
            )
        )
    project.store.add_contexts(made["prepare"].version, rows)
    for context in rows[: contexts - unassigned]:
        texts = [context.found, *(f"wrong {j} of {context.video_id}." for j in range(K))]
        endings = [
            Ending(ending_id(context.id, t), context.id, t, "generated" if j else "found", j * 7)
            for j, t in enumerate(texts)
        ]
        project.store.put_endings(endings)
        project.store.put_assignments(
            made["filter"].version,
            [(context.id, j, e.id, e.row, -float(j)) for j, e in enumerate(endings)],
        )
    for stage, artifact in made.items():
        project.finish(artifact, {"gold_unseen": True} if stage == "train_lm" else {})
    return project


def bytes_of(project: Project, recipe: Recipe) -> dict[str, bytes]:
    artifact = project.current("release", recipe)
    assert artifact is not None
    folder = project.folder(artifact)
    assert sorted(p.name for p in folder.iterdir()) == sorted([*FILES, "run.json"])
    assert [p.name for p in folder.parent.iterdir()] == [folder.name]  # no partial left
    return {name: (folder / name).read_bytes() for name in FILES}


def release_of(root: Path, recipe: Recipe) -> dict[str, bytes]:
    with filled(root, recipe) as project:
        list(release.run(recipe, project))
        return bytes_of(project, recipe)


@pytest.fixture
def recipe() -> Recipe:
    return recipes.preset("demo")


def test_every_question_has_its_found_ending_right(tmp_path: Path, recipe: Recipe) -> None:
    with filled(tmp_path / "p.swag", recipe) as project:
        events = list(release.run(recipe, project))
        folder = project.root / "releases/v1"
        assigned = dict(project.store.assigned(1))
        contexts = {c.video_id: c for c in project.store.contexts(1)}
    # 61 contexts, splits by i % 4 = 0, 1, 2, 3 -> train, val, test, test: 16, 15, 15, 15.
    # The last two, 59 (test) and 60 (train), have no assignments.
    assert isinstance(events[-1], Finished)
    assert events[-1].summary == {
        "questions": 59, "train": 15, "val": 15, "test": 29, "unverified": True,
    }  # fmt: skip
    assert Progress("release", 59, 59, "questions") in events
    key = pd.read_csv(folder / "test_key.csv")["label"].tolist()
    for split, count in {"train": 15, "val": 15, "test": 29}.items():
        frame = pd.read_csv(folder / f"{split}.csv", keep_default_na=False)
        labels = key if split == "test" else frame["label"].tolist()
        assert len(frame) == len(labels) == count
        sizes = Counter(labels).values()
        assert max(sizes) - min(sizes) <= 1 and len(sizes) == 4
        for label, (_, row) in zip(labels, frame.iterrows(), strict=True):
            context = contexts[row["video-id"]]
            endings = [row[f"ending{i}"] for i in range(4)]
            assert context.split == split
            assert endings.pop(label) == context.found
            wrong = {e.text for slot, e, _ in assigned[context.id] if slot > 0}
            assert len(set(endings)) == 3 and set(endings) <= wrong
            assert row["startphrase"] == f"{context.sent1} {context.sent2}"
            assert row["gold-source"] == "gold"


def test_the_draw_uses_every_slot_about_equally(tmp_path: Path, recipe: Recipe) -> None:
    with filled(tmp_path / "p.swag", recipe, contexts=302) as project:
        list(release.run(recipe, project))
        lines = (project.root / "releases/v1/provenance.jsonl").read_text("utf-8").splitlines()
    rows = Counter(e["pool_row"] // 7 for line in lines for e in json.loads(line)["endings"])
    assert rows.pop(0) == 300
    # 300 draws of 3 out of 9: each slot is expected 100 times, with variance 300 * 2/9 = 67.
    assert set(rows) == set(range(1, 10))
    assert all(abs(n - 100) < 5 * 67**0.5 for n in rows.values())


def test_the_manifest_describes_the_files(tmp_path: Path, recipe: Recipe) -> None:
    files = release_of(tmp_path / "p.swag", recipe)
    manifest = json.loads(files["manifest.json"])
    assert manifest["unverified"] is True and "No person has checked" in manifest["note"]
    assert manifest["gold_unseen"] is True
    assert manifest["counts"] == {"train": 15, "val": 15, "test": 29}
    assert manifest["recipe"] == recipe.to_dict()
    assert set(manifest["stages"]) == set(STAGES)
    assert manifest["files"] == {
        name: {"sha256": hashlib.sha256(files[name]).hexdigest()} for name in FILES[:-1]
    }
    assert list(manifest) == sorted(manifest)
    for word in ("seconds", "host", str(tmp_path)):
        assert word not in files["manifest.json"].decode()


def test_provenance_names_every_ending(tmp_path: Path, recipe: Recipe) -> None:
    files = release_of(tmp_path / "p.swag", recipe)
    entries = [json.loads(line) for line in files["provenance.jsonl"].splitlines()]
    for split in SPLITS:
        assert [e["index"] for e in entries if e["split"] == split] == list(
            range({"train": 15, "val": 15, "test": 29}[split])
        )
    assert len({e["context"] for e in entries}) == 59
    assert all(sum(x["kind"] == "found" for x in e["endings"]) == 1 for e in entries)


def test_equal_runs_give_equal_bytes_and_the_seed_changes_them(
    tmp_path: Path, recipe: Recipe
) -> None:
    first = release_of(tmp_path / "a.swag", recipe)
    assert release_of(tmp_path / "b.swag", recipe) == first
    other = release_of(tmp_path / "c.swag", recipe.with_values({"run.seed": 2}))
    assert other["train.csv"] != first["train.csv"]


@pytest.mark.parametrize("events", [0, 1, 2])
def test_stopped_and_run_again_it_gives_the_same_bytes(
    tmp_path: Path, recipe: Recipe, events: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "_AT_ONCE", 10)
    unbroken = release_of(tmp_path / "a.swag", recipe)
    with filled(tmp_path / "b.swag", recipe) as project:
        stopped = release.run(recipe, project)
        for _ in range(events + 1):
            next(stopped)
        stopped.close()  # type: ignore[attr-defined]
        assert project.current("release", recipe) is None
        list(release.run(recipe, project))
        assert bytes_of(project, recipe) == unbroken
        assert list(release.run(recipe, project)) == []  # done: nothing is touched


def test_four_distractors(tmp_path: Path, recipe: Recipe) -> None:
    files = release_of(tmp_path / "p.swag", recipe.with_values({"release.distractors": 4}))
    assert files["train.csv"].splitlines()[0].endswith(b"ending3,ending4,label")


def test_nothing_assigned_is_said_in_one_sentence(tmp_path: Path, recipe: Recipe) -> None:
    with (
        filled(tmp_path / "p.swag", recipe, contexts=2) as project,
        pytest.raises(StageError, match="nothing to release"),
    ):
        list(release.run(recipe, project))


def test_the_filter_has_to_be_done_first(project: Project, recipe: Recipe) -> None:
    with pytest.raises(ProjectError, match="prepare has not been run"):
        list(release.run(recipe, project))
