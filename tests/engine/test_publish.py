"""Verified releases of small projects: which questions, in which bytes, and nothing half done."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from judged_project import BEST, FEW, NEITHER, SECOND, context, filtered, judge, work_of

from swag_studio import recipe as recipes
from swag_studio.curating import Curator
from swag_studio.engine import accounting, release_asked
from swag_studio.engine import publish as publishing
from swag_studio.engine.publish import Blocked, publish, verified
from swag_studio.engine.registry import EXPORTERS
from swag_studio.events import Event, Finished, Message, Progress
from swag_studio.judging import Adjudication, Verdict
from swag_studio.policy import VerificationPolicy
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import Context
from swag_studio.releases import ReleaseError, ReleaseOptions, releases

# By turns; several: by round.
ANSWERS = [[BEST], [SECOND], [NEITHER, BEST], [SECOND], [NEITHER], [FEW], [FEW, SECOND], [BEST]]
FORMATS = ("swag_csv", "swag_full")


@pytest.fixture
def recipe() -> Recipe:
    return recipes.preset("demo")


@dataclass(frozen=True)
class Released:
    """A release of 48 contexts, with what it was made from."""

    project: Project
    events: list[Event]
    made: dict[str, bytes]
    contexts: dict[str, Context]
    verdicts: dict[str, Verdict]

    @property
    def provenance(self) -> list[dict[str, Any]]:
        return lines(self.made["provenance.jsonl"])

    @property
    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self.made["manifest.json"])
        return manifest


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Released]:
    """Not to be changed. The machine has a name that nothing else has."""
    root = tmp_path_factory.mktemp("released") / "p.swag"
    with judged(root, recipes.preset("demo")) as project, pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounting.socket, "gethostname", lambda: "some-host-7f3a")
        events = list(publish(project, options(licence="For research | only", title="Sit | stand")))
        yield Released(
            project,
            events,
            files(project),
            {c.id: c for c in project.store.contexts(1)},
            {v.context_id: v for v in work_of(project).verdicts()},
        )


def options(version: str = "1.0.0", **values: Any) -> ReleaseOptions:
    values.setdefault("formats", FORMATS)
    values.setdefault("cost_per_hour", 0.0)
    return ReleaseOptions(version, **values)


def judged(root: Path, recipe: Recipe, count: int = 48, unjudged: int = 0) -> Project:
    """Contexts whose answers take turns; the last ones are not judged."""
    contexts = [context(i) for i in range(count)]
    project = filtered(root, recipe, contexts)
    answers = {c.video_id: ANSWERS[i // 4 % 8] for i, c in enumerate(contexts[: count - unjudged])}
    judge(project, answers)
    return project


def files(project: Project, version: str = "1.0.0") -> dict[str, bytes]:
    folder = project.root / "releases" / version
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode().split("\n")[:-1]]


# --- which questions -------------------------------------------------------------------------


def test_questions_follow_from_the_verdicts(released: Released) -> None:
    verdicts, provenance = released.verdicts, released.provenance
    assert verified(released.project) == sum(v.kind == "found" for v in verdicts.values())
    expected = Counter[tuple[str, str]]()
    for id, verdict in verdicts.items():
        split = released.contexts[id].split
        expected[split, "gold"] += verdict.kind == "found"
        expected[split, "gen"] += verdict.kind == "found" and bool(verdict.generated)
    assert Counter((p["split"], p["gold_source"]) for p in provenance) == +expected
    assert expected["train", "gen"] > 5 and expected["val", "gold"] > 5 and expected["test", "gold"]
    assert {p["split"] for p in provenance if p["gold_source"] == "gen"} == {"train"}
    last = released.events[-1]
    summary = last.summary if isinstance(last, Finished) else {}
    assert summary["questions"] == len(provenance)
    assert summary["left_out"] == {
        "surprising": Counter(v.kind for v in verdicts.values())["surprising"]
    }
    assert any(isinstance(e, Progress) and e.note == "tracing" for e in released.events)


def test_the_files_say_the_same(released: Released) -> None:
    names = ("train", "val", "test", "test_key", "train_full", "val_full")
    frames = {
        name: pd.read_csv(BytesIO(released.made[f"{name}.csv"]), keep_default_na=False)
        for name in names
    }
    assert ",".join(frames["val_full"]) == (
        "video-id,fold-ind,startphrase,gold-ending,distractor-0,distractor-1,distractor-2,"
        "distractor-3,gold-source,gold-type,distractor-0-type,distractor-1-type,"
        "distractor-2-type,distractor-3-type,sent1,sent2"
    )
    assert "label" not in frames["test"]
    for entry in released.provenance:
        split, index = entry["split"], entry["index"]
        row = frames[split].loc[index]
        found = released.contexts[entry["context"]].found
        label = (frames["test_key"] if split == "test" else frames[split])["label"][index]
        assert label == entry["label"]
        right = row[f"ending{label}"]
        assert (right == found) == (entry["gold_source"] == "gold")
        placed = [e for e in entry["endings"] if e["place"] is not None]
        assert [e["text"] for e in placed] == [row[f"ending{i}"] for i in range(4)]
        if split == "test":
            continue
        full = frames[f"{split}_full"].loc[index]
        assert full["gold-ending"] == right and full["fold-ind"] == row["fold-ind"]
        texts = [full[f"distractor-{i}"] for i in range(4)]
        assert {*texts[:3]} == {row[f"ending{i}"] for i in range(4)} - {right}
        types = [full[f"distractor-{i}-type"] for i in range(4)]
        assert types == sorted(types[:3], reverse=True) + types[3:]  # unl, then pos
        assert (texts[3] == "") == (types[3] == "") == (len(entry["endings"]) == 4)
        assert found not in texts
        round = entry["verdict"]["round"]
        assert full["gold-source"] == (
            "gen-orig"
            if entry["gold_source"] == "gen"
            else f"gold{entry['verdict']['place']}-{'reannot' if round else 'orig'}"
        )
        assert full["gold-type"] == "pos"
    assert "gold0-reannot" in {*frames["val_full"]["gold-source"]} | {
        *frames["train_full"]["gold-source"]
    }


def test_labels_are_balanced_in_each_split(released: Released) -> None:
    for split in ("train", "val", "test"):
        labels = [e["label"] for e in released.provenance if e["split"] == split]
        sizes = [labels.count(place) for place in range(4)]
        assert max(sizes) - min(sizes) <= 1
        # No block of four that holds each label once: the last would follow from the others.
        assert any(len({*labels[i : i + 4]}) < 4 for i in range(0, len(labels) - 3, 4))


@pytest.mark.parametrize("of_the_draft", [3, 4])
def test_the_bytes_of_a_tiny_release(tmp_path: Path, recipe: Recipe, of_the_draft: int) -> None:
    recipe = recipe.with_values({"release.distractors": of_the_draft})
    contexts = [context(4, split="train"), context(6, split="val")]
    with filtered(tmp_path / "p.swag", recipe, contexts) as project:
        judge(project, {"anetv_4": [SECOND], "anetv_6": [BEST]})
        list(publish(project, options()))
        made = files(project)
    assert made["train.csv"].decode() == TRAIN
    assert made["train_full.csv"].decode() == TRAIN_FULL
    assert made["val.csv"].decode() == VAL
    assert made["test.csv"].decode() == VAL.split("\n")[0].removesuffix(",label") + "\n"
    assert made["test_key.csv"] == b",label\n"


AWKWARD = ["None", "NA", "a, b", 'say "no" to it', "猫が窓を開ける。", "=1+1", "nan", "null", "x y"]


def test_texts_survive_exactly(tmp_path: Path, recipe: Recipe) -> None:
    found = "two\nlines"
    contexts = [context(0, found=found, sent1='"NA", None', split="val")]
    with filtered(tmp_path / "p.swag", recipe, contexts, {"anetv_0": AWKWARD}) as project:
        with pytest.raises(ReleaseError, match="--override control_characters"):
            list(publish(project, options(unverified=True)))
        assert not (project.root / "releases/1.0.0").exists()
        kinds = ("control_characters",)
        with pytest.raises(ReleaseError, match=r"control_characters .*--because TEXT"):
            list(publish(project, options(unverified=True, overrides=kinds, override_reason=" ")))
        assert list((project.root / "releases").iterdir()) == []
        why = "The lines | are the author's"
        allowed = options(unverified=True, overrides=kinds, override_reason=why)
        list(publish(project, allowed))
        folder = project.root / "releases/1.0.0"
        val, full = (
            pd.read_csv(folder / f"{name}.csv", keep_default_na=False)
            for name in ("val", "val_full")
        )
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        card = (folder / "README.md").read_text("utf-8")
    assert manifest["overrides"] == [*kinds] and manifest["override_reason"] == why
    assert "in spite of faults that block a release: control_characters." in card
    assert "Released all the same, since: The lines / are the author's\n" in card
    assert val["sent1"][0] == '"NA", None' and full["gold-ending"][0] == found
    texts = [str(val[f"ending{i}"][0]) for i in range(4)]
    assert texts.pop(val["label"][0]) == found
    drawn = [str(full[f"distractor-{i}"][0]) for i in range(4)]
    assert {*texts} == {*drawn[:3]} and {*drawn} < {*AWKWARD} and len({*drawn}) == 4
    assert full["gold-source"][0] == "gold-unverified" and full["gold-type"][0] == ""


# --- who judged ------------------------------------------------------------------------------


def test_nobody_judged(tmp_path: Path, recipe: Recipe) -> None:
    with filtered(tmp_path / "p.swag", recipe, [context(i) for i in range(8)]) as project:
        with pytest.raises(ReleaseError, match=r"8 not judged.*--unverified"):
            list(publish(project, options()))
        assert list((project.root / "releases").iterdir()) == []
        list(publish(project, options(unverified=True)))
        made = files(project)
    manifest = json.loads(made["manifest.json"])
    assert manifest["unverified"] and manifest["verification"]["by"] == "nobody"
    assert b"**Unverified: nobody judged 8 of the 8 questions." in made["README.md"]
    assert {e["verified"] for e in lines(made["provenance.jsonl"])} == {False}


def test_unverified_contexts_join_the_verified_ones_when_asked(
    tmp_path: Path, recipe: Recipe
) -> None:
    with judged(tmp_path / "p.swag", recipe, 24, unjudged=6) as project:
        list(publish(project, options()))
        list(publish(project, options("1.1.0", unverified=True)))
        without, joined = files(project), files(project, "1.1.0")
    before = {e["id"] for e in lines(without["provenance.jsonl"])}
    after = {e["id"]: e for e in lines(joined["provenance.jsonl"])}
    new = [e for id, e in after.items() if id not in before]
    assert before < {*after} and len(new) == 6
    assert not any(e["verified"] or e["verdict"] for e in new)
    assert json.loads(joined["manifest.json"])["verification"]["unverified_questions"] == 6


def test_simulated_answers_count_only_when_asked_and_are_marked(
    tmp_path: Path, recipe: Recipe
) -> None:
    contexts = [context(i) for i in range(8)]
    with filtered(tmp_path / "p.swag", recipe, contexts) as project:
        work_of(project).keep(count_simulated=True)  # what a window shows is another matter
        judge(project, {c.video_id: [BEST] for c in contexts}, ["a9"])
        with pytest.raises(ReleaseError, match="--include-simulated"):
            list(publish(project, options()))
        assert verified(project) == 0 and verified(project, simulated=True) == 8
        list(publish(project, options(include_simulated=True)))
        made = files(project)
    manifest = json.loads(made["manifest.json"])
    assert manifest["simulated"] and manifest["verification"]["by"] == "simulation"
    assert manifest["verification"]["questions_from_simulated"] == 8
    assert b"**Simulated: the answers" in made["README.md"]
    entries = lines(made["provenance.jsonl"])
    assert all(e["simulated"] for e in entries)
    judges = {j["by"] for e in entries for x in e["endings"] for j in x["judgements"]}
    assert judges == {"simulated-1"}


def test_people_are_not_named(tmp_path: Path, recipe: Recipe) -> None:
    contexts = [context(i) for i in range(4)]
    with filtered(tmp_path / "p.swag", recipe, contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts}, ["a1", "a2"])
        Curator(project.store, 1, "Grace Hopper").edit_text(contexts[0].id, 8, "bows.")
        task = next(work_of(project).cases([contexts[1].id])).live[0]
        project.store.adjudicate(Adjudication(task.id, "Alan Turing", *_as_tuple(SECOND)))
        list(publish(project, options()))
        made = files(project)
    for data in made.values():
        for name in (b"Lovelace", b"Pascal", b"Hopper", b"Turing"):
            assert name not in data
    entries = lines(made["provenance.jsonl"])
    judges = {j["by"] for e in entries for x in e["endings"] for j in x["judgements"]}
    assert judges == {"annotator-1", "annotator-2", "adjudicator-1"}
    adjudicated = {e["verdict"]["place"] for e in entries if e["context"] == contexts[1].id}
    assert adjudicated == {1}


def _as_tuple(answer: Any) -> tuple[Any, int, int]:
    return (tuple(answer[0]), answer[1], answer[2])


# --- curators --------------------------------------------------------------------------------


def test_excluded_contexts_are_left_out_and_counted(tmp_path: Path, recipe: Recipe) -> None:
    contexts = [context(i) for i in range(8)]
    with filtered(tmp_path / "p.swag", recipe, contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts})
        Curator(project.store, 1, "me").exclude(contexts[3].id)
        list(publish(project, options(unverified=True)))
        made = files(project)
    manifest = json.loads(made["manifest.json"])
    assert manifest["counts"]["left_out"] == {"excluded": 1}
    assert contexts[3].id not in {e["context"] for e in lines(made["provenance.jsonl"])}


def test_edited_endings_are_wrong_ones_with_their_parents(tmp_path: Path, recipe: Recipe) -> None:
    one = context(0, split="train")
    with filtered(tmp_path / "p.swag", recipe, [one]) as project:
        curator = Curator(project.store, 1, "me")
        for place in range(9):
            curator.edit_text(one.id, place, f"bows {place} times.")
        judge(project, {one.video_id: [SECOND]})
        list(publish(project, options()))
        made = files(project)
    (entry,) = lines(made["provenance.jsonl"])  # no question has an edited ending as its right one
    assert entry["gold_source"] == "gold"
    wrong = [e for e in entry["endings"] if not e["right"]]
    assert {e["kind"] for e in wrong} == {"edited"}
    for ending in wrong:
        assert ending["generator"] is None and ending["score"] is None
        (parent,) = ending["parents"]
        number = ending["text"].split()[1]
        assert (
            parent["text"] == f"wrong {number} of anetv_0." and parent["edited_by"] == "curator-1"
        )
    assert [edit["what"] for edit in entry["edits"]] == ["Edit an ending"] * 9
    assert json.loads(made["manifest.json"])["counts"]["edited_endings"] == 4  # the fourth too
    assert lines(made["preferences.jsonl"]) == []


# --- what stands beside ----------------------------------------------------------------------


def test_provenance_is_complete_for_each_ending(released: Released) -> None:
    rows = [row for _, rows in released.project.store.assigned(1) for row in rows]
    assigned = {ending.id: (ending.row, score) for _, ending, score in rows}
    entries, policy = released.provenance, released.manifest["verification"]["policy_id"]
    assert len({e["id"] for e in entries}) == len(entries)
    for entry in entries:
        assert entry["source"] == {
            "file": "val_1.json", "format": "activitynet", "sha256": "ab" * 32,
        }  # fmt: skip
        assert entry["video"].startswith("anetv_") and entry["sentence"] == 1
        first, second = entry["captions"]
        assert (first["start"], first["end"], second["start"]) == (0.0, 4.0, 5.0)
        assert second["text"].startswith(" THEN SHE STANDS UP")
        assert entry["splitter"] == "spacy" and entry["policy"] == policy
        assert entry["verdict"]["kind"] == "found"
        assert sum(e["right"] for e in entry["endings"]) == 1 and entry["edits"] == []
        for ending in entry["endings"]:
            row, score = assigned[ending["id"]]
            assert (ending["pool_row"], ending["score"]) == (row, score)
            assert (
                [j["by"] for j in ending["judgements"]]
                == ["annotator-1"] * len(ending["judgements"])
                != []
            )
            if ending["kind"] == "found":
                assert ending["generator"] is None and ending["assigned"] == []
                continue
            fold = int(entry["video"].split("_")[1]) % 2
            assert ending["generator"] == {
                "fold": fold, "checkpoint": f"hash of fold {fold}", "seed": 1,
                "temperature": 1.0, "top_k": 0, "top_p": 1.0,
                "max_tokens": 25,
            }  # fmt: skip
            by, came = ("filter", 2) if row == 7 else ("draw", -1)
            assert ending["assigned"] == [{"run": 1, "by": by, "in": came, "out": None}]


def test_surprising_pairs_and_preferences_are_kept_apart(released: Released) -> None:
    made, contexts, verdicts = released.made, released.contexts, released.verdicts
    rows = lines(made["surprising.jsonl"])
    assert (
        {r["context"] for r in rows}
        == {id for id, v in verdicts.items() if v.kind == "surprising" and "neither" in v.reason}
        != set()
    )
    used = {e["context"] for e in released.provenance}
    for row in rows:
        assert row["context"] not in used and row["rounds"] == 3 and row["answers"] == 1
        assert row["endings"][0]["text"] == row["found"] and row["endings"][0]["unlikely"] == 1
        assert [e["best"] for e in row["endings"]] == [0, 1, 0, 0, 0, 0]
    preferred = lines(made["preferences.jsonl"])
    assert preferred and {p["split"] for p in preferred} == {"train"}
    for p in preferred:
        assert p["rejected"] == contexts[p["context"]].found != p["chosen"]
        assert p["prompt"] == f"{contexts[p['context']].sent1} Then she"
    assert {p["verdict"] for p in preferred} == {"found", "surprising"}


def test_the_manifest_describes_every_file(released: Released) -> None:
    made, manifest, recipe = {**released.made}, released.manifest, recipes.preset("demo")
    (listed,) = releases(released.project.root)
    run = json.loads(made.pop("run.json"))
    del made["manifest.json"]
    assert listed.version == "1.0.0" and listed.manifest == manifest
    assert manifest["files"] == {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in made.items()
    }
    assert {"train.csv", "test_key.csv", "val_full.csv", "README.md", "provenance.jsonl"} <= {*made}
    assert manifest["recipe"] == recipe.to_dict() and manifest["gold_unseen"] is True
    assert manifest["verification"]["policy"] == VerificationPolicy().to_dict()
    people = manifest["verification"]
    assert (people["by"], people["annotators"], people["simulated_annotators"]) == ("people", 1, 0)
    assert set(run) >= {"written", "machine", "stages", "compute_hours", "cost_per_hour"}
    assert run["people_hours"] == pytest.approx(people["judgements"] / 60, abs=1e-4)
    for word in ("seconds", str(released.project.root.parent), run["machine"]["host"]):
        assert word not in json.dumps({**manifest, "recipe": {}})


def test_the_card_tells_what_the_manifest_tells(released: Released) -> None:
    made, manifest = released.made, released.manifest
    text = made["README.md"].decode()
    front = text.split("---\n")[1]
    assert 'license: other\nlicense_name: "For research / only"\n' in front
    assert "- multiple-choice\n" in front and "path: train_full.csv\n" in front
    assert "**Simulated" not in text and "**Unverified" not in text
    total = sum(c["all"] for c in manifest["counts"]["questions"].values())
    assert f"| questions | {total} | 113,557 |" in text
    for name in manifest["files"]:
        (row,) = [row for row in text.split("\n") if row.startswith(f"| `{name}` |")]
        assert len(row.split("|")[2]) > 5  # each is explained
    for column in made["val_full.csv"].decode().split("\n")[0].split(","):
        assert column.rstrip("0123") in text or column.startswith("distractor-")
    width = {len(row.split("|")) for row in text.split("\n") if row.startswith("| `")}
    assert width <= {4, 5, 8}


# --- whole or not at all -------------------------------------------------------------------------


def test_two_releases_of_a_project_are_equal(tmp_path: Path, recipe: Recipe) -> None:
    with judged(tmp_path / "a.swag", recipe, 16) as project:
        list(publish(project, options()))
        first = files(project)
        list(publish(project, options("1.0.1")))
        again = files(project, "1.0.1")
    with judged(tmp_path / "b.swag", recipe, 16) as project:
        list(publish(project, options()))
        other = files(project)
    told = {"run.json", "manifest.json", "README.md"}  # the last two name the version
    assert {k: v for k, v in first.items() if k not in told} == {
        k: v for k, v in again.items() if k not in told
    }
    del first["run.json"], other["run.json"]
    assert first == other


def test_nothing_is_overwritten(tmp_path: Path, recipe: Recipe) -> None:
    with judged(tmp_path / "p.swag", recipe, 8) as project:
        list(publish(project, options()))
        before = files(project)
        with pytest.raises(ReleaseError, match="exists already"):
            list(publish(project, options()))
        assert files(project) == before


@pytest.mark.parametrize("events", [1, 2, 4, 6, 9])
def test_stopped_anywhere_it_leaves_no_half_release(
    tmp_path: Path, recipe: Recipe, events: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_AT_ONCE", 4)
    with judged(tmp_path / "p.swag", recipe, 16) as project:
        writing = publish(project, options())
        for _ in range(events):
            next(writing)
        killed = next((project.root / "releases").iterdir())
        assert killed.name == ".1.0.0.partial" and releases(project.root) == []
        left = {p.name: p.read_bytes() for p in killed.iterdir()}
        writing.close()  # type: ignore[attr-defined]
        assert list((project.root / "releases").iterdir()) == []
        killed.mkdir()  # as after a kill, which runs no `finally`
        for name, data in {**left, "junk.csv": b"x"}.items():
            (killed / name).write_bytes(data)
        list(publish(project, options()))
        assert [p.name for p in (project.root / "releases").iterdir()] == ["1.0.0"]
        assert "junk.csv" not in files(project)


@pytest.mark.parametrize(
    "version", ["1.0", "v1.0.0", "01.0.0", "1.0.0+x", "../1.0.0", "1.0.0-", ""]
)
def test_a_version_is_three_numbers(tmp_path: Path, recipe: Recipe, version: str) -> None:
    with (
        filtered(tmp_path / "p.swag", recipe, [context(0)]) as project,
        pytest.raises(ReleaseError, match=r"such as 1\.0\.0"),
    ):
        list(publish(project, options(version)))


def test_options_that_cannot_be(tmp_path: Path, recipe: Recipe) -> None:
    with judged(tmp_path / "p.swag", recipe, 8) as project:
        with pytest.raises(ReleaseError, match="nonsense is no check"):
            list(publish(project, options(overrides=("nonsense",))))
        with pytest.raises(ReleaseError, match="docx is no format"):
            next(publish(project, options(formats=("docx",))))
        work_of(project).keep(policy=VerificationPolicy(distractors_needed=2))
        with pytest.raises(ReleaseError, match="3 wrong endings"):
            list(publish(project, options()))
        assert list((project.root / "releases").iterdir()) == []


def test_a_format_whose_package_is_missing_is_left_out_and_the_manifest_says_so(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_asked, "find_spec", lambda name: None)
    with judged(tmp_path / "p.swag", recipe, 8) as project:
        with pytest.raises(ReleaseError, match="pyarrow"):
            next(publish(project, options(formats=("parquet",))))  # before anything is done
        events = list(publish(project, options(formats=())))
        texts = [e.text for e in events if isinstance(e, Message)]
        assert any("parquet is left out: it needs the package pyarrow" in text for text in texts)
        made = files(project)
    told = json.loads(made["manifest.json"])["formats"]
    assert told["left_out"] == {"parquet": "pyarrow"} and "everything" in told["written"]
    assert "train.parquet" not in made and "everything.jsonl" in made


def test_a_package_that_does_not_load_is_said(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(self: object, questions: object, folder: Path) -> object:
        raise ImportError("no library", name="pyarrow.lib")

    monkeypatch.setattr(EXPORTERS["parquet"], "export", export)
    monkeypatch.setattr(release_asked, "find_spec", lambda name: name)
    with judged(tmp_path / "p.swag", recipe, 8) as project:
        with pytest.raises(ReleaseError, match=r"package pyarrow\.lib is there, but does not load"):
            list(publish(project, options(formats=("parquet",))))
        assert releases(project.root) == []


def test_what_blocks_says_the_whole_command(tmp_path: Path, recipe: Recipe) -> None:
    splits = ("test", "train", "test", "val")
    contexts = [context(i, sent1="Person sits.\x07", split=s) for i, s in enumerate(splits)]
    with filtered(tmp_path / "p.swag", recipe, contexts) as project:
        judge(project, {c.video_id: [BEST] for c in contexts})
        asked = options(
            overrides=("control_characters",), override_reason="a bell", title="Sit | stand"
        )
        with pytest.raises(Blocked) as blocked:
            list(publish(project, asked))
        assert str(blocked.value).endswith(
            f"To release all the same: swag-studio release {shlex.quote(str(project.root))} "
            "--version 1.0.0 "
            "--format swag_csv --format swag_full "
            "--override context_across_splits --override control_characters "
            "--because 'a bell' --title 'Sit | stand' --language en --cost-per-hour 0.0"
        )
        list(publish(project, blocked.value.allowed))
        manifest = json.loads(files(project)["manifest.json"])
    assert manifest["overrides"] == ["context_across_splits", "control_characters"]
    test = [p for problem in manifest["checks"]["problems"] for p in problem["places"]
            if p.startswith("test")]  # fmt: skip
    assert test and not any(c.id in place for c in contexts for place in test)


def test_an_override_of_what_was_not_found_is_said(tmp_path: Path, recipe: Recipe) -> None:
    with judged(tmp_path / "p.swag", recipe, 8) as project:
        asked = options(overrides=("empty_ending",), override_reason="so")
        events = list(publish(project, asked))
        manifest = json.loads(files(project)["manifest.json"])
    texts = [e.text for e in events if isinstance(e, Message)]
    assert any(t.startswith("Not found, so there was nothing to override: empty_e") for t in texts)
    assert (manifest["overrides"], manifest["override_reason"]) == ([], "")
    last = events[-1]
    assert isinstance(last, Finished) and last.summary["unneeded_overrides"] == ["empty_ending"]


def test_what_a_kill_left_of_another_version_is_cleared(tmp_path: Path, recipe: Recipe) -> None:
    with judged(tmp_path / "p.swag", recipe, 8) as project:
        left = project.root / "releases/.0.9.0.partial"
        left.mkdir(parents=True)
        (left / "train.csv").write_text("half", "utf-8")
        list(publish(project, options()))
        assert [p.name for p in left.parent.iterdir()] == ["1.0.0"]


HEADER = (
    ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label"
)
TRAIN = f"""{HEADER}
0,anetv_4,1,Person 4 sits down. Then she,Person 4 sits down.,Then she,gold,stands up 4.,wrong 2 of anetv_4.,wrong 7 of anetv_4.,wrong 8 of anetv_4.,0
1,anetv_4,2,Person 4 sits down. Then she,Person 4 sits down.,Then she,gen,wrong 7 of anetv_4.,wrong 3 of anetv_4.,wrong 8 of anetv_4.,wrong 2 of anetv_4.,1
"""  # noqa: E501
# SECOND's labels: "likely" of the best and of the fourth wrong one, "unlikely" of the others.
TRAIN_FULL = """\
video-id,fold-ind,startphrase,gold-ending,distractor-0,distractor-1,distractor-2,distractor-3,gold-source,gold-type,distractor-0-type,distractor-1-type,distractor-2-type,distractor-3-type,sent1,sent2
anetv_4,1,Person 4 sits down. Then she,stands up 4.,wrong 2 of anetv_4.,wrong 7 of anetv_4.,wrong 8 of anetv_4.,wrong 1 of anetv_4.,gold1-orig,pos,unl,unl,unl,pos,Person 4 sits down.,Then she
anetv_4,2,Person 4 sits down. Then she,wrong 3 of anetv_4.,wrong 2 of anetv_4.,wrong 7 of anetv_4.,wrong 8 of anetv_4.,wrong 1 of anetv_4.,gen-orig,pos,unl,unl,unl,pos,Person 4 sits down.,Then she
"""  # noqa: E501
VAL = f"""{HEADER}
0,anetv_6,0,Person 6 sits down. Then she,Person 6 sits down.,Then she,gold,stands up 6.,wrong 7 of anetv_6.,wrong 2 of anetv_6.,wrong 3 of anetv_6.,0
"""  # noqa: E501
