"""Import: whole or not at all, in any order, with counts that add up."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swag_studio import recipe as recipes
from swag_studio.engine import ingest
from swag_studio.engine.ingest import guess, run_import
from swag_studio.engine.sources.base import REASONS
from swag_studio.errors import RecipeError, SourceError
from swag_studio.events import Changed, Event, Finished, Message, Progress
from swag_studio.project import Project
from swag_studio.records import Caption, LeftOut, OwnContext

VIDEO = {"timestamps": [[0, 1], [1, 2]], "sentences": ["A man waves.", "He sits down."]}
OWN = {"id": "c1", "sent1": "A.", "sent2": "B", "found": "c.", "endings": ["d.", "e."]}
CLIP = "m_00.00.01.000-00.00.02.000\t00.00.01.000\t00.00.02.000\t\t\tSOMEONE waves.\n"
EXAMPLES = {
    "activitynet": json.dumps({"v_a": VIDEO}),
    "tacos": json.dumps({"a.avi": {**VIDEO, "fps": 25, "num_frames": 90}}),
    "lsmdc": CLIP,
    "csv": 'document,"sentence"\na,"A man, a plan."\n',
    "tsv": "sentence\tdocument\nA man, a plan.\ta\n",
    "jsonl": '{"sentence": "A man waves.", "document": "a"}\n',
    "own": json.dumps(OWN) + "\n",
}
JSON = {"activitynet", "tacos"}  # whole files, which no cut leaves whole


def dump(project: Project) -> list[str]:
    """All that the project's database holds, as SQL."""
    connection = project.store.db.conn
    assert connection is not None
    return list(connection.iterdump())


def written(path: Path, contents: str | bytes) -> Path:
    path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
    return path


def summary(events: Iterator[Event]) -> dict[str, Any]:
    last = list(events)[-1]
    assert isinstance(last, Finished)
    return dict(last.summary)


# --- guessing --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(EXAMPLES))
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n"])
def test_each_format_is_recognised(tmp_path: Path, name: str, mark: str) -> None:
    path = written(tmp_path / "file", mark + EXAMPLES[name])
    assert guess(path) == name


def test_every_registered_source_has_an_example() -> None:
    assert list(ingest.SOURCES) == list(EXAMPLES)


@pytest.mark.parametrize("text", ["hello\n", "{}", "[]", '{"database": {"a": {}}}', "a,b\n1,2\n"])
def test_an_unknown_format_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError, match="--source"):
        guess(written(tmp_path / "file", text))


def test_a_wrong_encoding_is_named_not_guessed(tmp_path: Path) -> None:
    path = written(tmp_path / "file", EXAMPLES["activitynet"].encode("utf-16"))
    with pytest.raises(SourceError, match="not text in UTF-8"):
        guess(path)


# --- importing -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(EXAMPLES))
@pytest.mark.parametrize("named", [True, False])
def test_a_file_is_imported(project: Project, tmp_path: Path, name: str, named: bool) -> None:
    path = written(tmp_path / "file.txt", EXAMPLES[name])
    dry = summary(run_import(path, project, name if named else None, dry_run=True))
    assert project.store.sources() == []
    events = list(run_import(path, project, name if named else None))
    assert events[-1] == Finished("ingest", dry)
    assert Changed(ingest.TABLES) in events
    (info,) = project.store.sources()
    rows = [*project.store.captions(), *project.store.own_contexts()]
    captions = [row for _, row in rows if isinstance(row, Caption)]
    own = [row for _, row in rows if isinstance(row, OwnContext)]
    assert {source for source, _ in rows} == {info.id}
    assert (info.captions, info.own_contexts) == (len(captions), len(own))
    assert info.documents == len({row.document for _, row in rows})
    contents = EXAMPLES[name].encode()
    assert dry == {
        "file": "file.txt",
        "format": name,
        "source_id": info.id,
        "sha256": hashlib.sha256(contents).hexdigest(),
        "bytes": len(contents),
        "documents": 1,
        "captions": len(captions),
        "adjacent_pairs": 1 if name in JSON else 0,
        "own_contexts": len(own),
        "own_endings": 2 if name == "own" else 0,
        "left_out": {},
        "preview": dry["preview"],
        "already_imported": False,
    }
    assert [entry["document"] for entry in dry["preview"]] == [row.document for _, row in rows]
    json.dumps(dry)
    done = [event.done for event in events if isinstance(event, Progress)]
    assert done == sorted(done)
    assert all(e.done <= e.total for e in events if isinstance(e, Progress))


def test_counts_and_reports(project: Project, tmp_path: Path) -> None:
    """Two documents; of the pairs of "b", the one over the empty sentence is none."""
    sentences = ["One.", "", "Three.", "Four."]
    times = [[0, 1], [1, 2], [2, 3], [5, 4]]
    data = {"v_a": VIDEO, "v_b": {"timestamps": times, "sentences": sentences}}
    path = written(tmp_path / "file", "\ufeff" + json.dumps(data))
    events = list(run_import(path, project, preview=2))
    result = summary(iter(events))
    assert (result["documents"], result["captions"], result["adjacent_pairs"]) == (2, 5, 2)
    left_out = {"byte_order_mark": 1, "empty_sentence": 1, "end_before_start": 1}
    assert result["left_out"] == left_out
    assert [entry["text"] for entry in result["preview"]] == VIDEO["sentences"]
    messages = [event for event in events if isinstance(event, Message)]
    assert [(m.level, m.detail) for m in messages] == [
        ("info", "line 1"),
        ("warning", "video v_b, sentence 2"),
        ("warning", "video v_b, sentence 4"),
    ]
    (info,) = project.store.sources()
    assert info.left_out == left_out
    stored = list(project.store.left_out_of_source(info.id))
    assert stored[1:] == [
        LeftOut("v_b", 3, "end_before_start", "video v_b, sentence 4"),
        LeftOut("", 0, "byte_order_mark", "line 1"),
    ]
    assert all(row.reason in REASONS for row in stored)


def test_the_same_file_is_imported_once(project: Project, tmp_path: Path) -> None:
    contents = EXAMPLES["activitynet"]
    first = summary(run_import(written(tmp_path / "a", contents), project))
    before = dump(project)
    events = list(run_import(written(tmp_path / "b", contents), project))
    message, last = events[-2:]
    assert isinstance(message, Message) and "already" in message.text
    assert isinstance(last, Finished) and last.summary["already_imported"]
    assert last.summary["source_id"] == first["source_id"]
    assert dump(project) == before


def test_many_rows_are_staged_in_slices(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_ITEMS", 3)
    data = {f"v_{i}": VIDEO for i in range(10)}
    events = list(run_import(written(tmp_path / "file", json.dumps(data)), project))
    # 20 captions in slices of 3 make 6 Progress events, after one for hashing.
    assert sum(isinstance(event, Progress) for event in events) == 7
    assert len(list(project.store.captions())) == 20


def test_an_unknown_source_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="unknown source pickle"):
        list(run_import(written(tmp_path / "file", "x"), project, "pickle"))


@pytest.mark.parametrize(
    "contents", ["document,sentence\n", 'document,sentence\na," "\n', "document,sentence"]
)
def test_a_file_without_captions_is_refused(
    project: Project, tmp_path: Path, contents: str
) -> None:
    before = dump(project)
    with pytest.raises(SourceError, match="nothing in it can be used"):
        list(run_import(written(tmp_path / "file", contents), project))
    assert dump(project) == before


# --- nothing is half-imported ----------------------------------------------------------------


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_every_prefix_is_refused_or_reported(project: Project, tmp_path: Path, name: str) -> None:
    """Where a line ends, a cut can't be seen; elsewhere it is refused, or said."""
    whole = (EXAMPLES[name] if name in JSON else EXAMPLES[name] * 2).encode()
    if name == "own":
        whole = (EXAMPLES[name] + EXAMPLES[name].replace("c1", "c2")).encode()
    before = dump(project)
    for end in range(len(whole)):
        path = written(tmp_path / "file", whole[:end])
        try:
            result = summary(run_import(path, project, name, dry_run=True))
        except SourceError:
            with pytest.raises(SourceError):
                list(run_import(path, project, name))
            assert dump(project) == before
        else:
            assert name not in JSON
            assert whole[end - 1 : end] == b"\n" or "no_final_newline" in result["left_out"]


def test_a_closed_import_leaves_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_ITEMS", 2)
    list(run_import(written(tmp_path / "first", EXAMPLES["csv"]), project))
    before = dump(project)
    path = written(tmp_path / "file", json.dumps({f"v_{i}": VIDEO for i in range(5)}))
    total = sum(1 for _ in run_import(path, project, dry_run=True))
    for pulled in range(1, total):
        events = run_import(path, project)
        with closing(events):  # type: ignore[type-var]
            for _ in range(pulled):
                last = next(events)
        assert not isinstance(last, Changed | Finished)
        assert dump(project) == before
    list(run_import(path, project))
    assert len(project.store.sources()) == 2


def test_what_a_killed_import_staged_is_gone_when_the_project_is_opened(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.swag", recipes.preset("demo")) as project:
        before = dump(project)
        path = written(tmp_path / "file", EXAMPLES["activitynet"])
        result = summary(run_import(path, project, dry_run=True))
        info = ingest.SourceInfo(result["source_id"], "file", "activitynet", "", 1, 0, 0, 0)
        project.store.stage_source(info)  # and then the process dies
        project.store.add_captions(info.id, [Caption("d", "g", "v", 0, "text")])
        assert project.store.sources() == list(project.store.captions()) == []
    with Project.open(tmp_path / "p.swag") as project:
        assert dump(project) == before


def test_a_file_that_changes_meanwhile_is_refused(project: Project, tmp_path: Path) -> None:
    path = written(tmp_path / "file", EXAMPLES["csv"])
    before = dump(project)
    events = run_import(path, project)
    assert isinstance(next(events), Progress)  # hashed
    written(path, EXAMPLES["csv"].replace("plan", "clan"))
    with pytest.raises(SourceError, match="changed while it was read"):
        list(events)
    assert dump(project) == before


# --- order -----------------------------------------------------------------------------------

annotations = st.dictionaries(
    st.sampled_from(["v_a", "v_b", "c"]),
    st.lists(st.sampled_from(["A man waves.", "He sits down.", " "]), min_size=1, max_size=3),
    min_size=1,
)


def as_file(data: dict[str, list[str]]) -> str:
    return json.dumps(
        {
            key: {"sentences": texts, "timestamps": [[i, i + 1] for i in range(len(texts))]}
            for key, texts in data.items()
        }
    )


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(annotations, min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_the_order_of_import_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory,
    data: list[dict[str, list[str]]],
    rng: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("order")
    paths = [
        written(folder / f"{i}.json", as_file({**d, "v_z": ["A man waves."]}))
        for i, d in enumerate(data)
    ]
    results = []
    for name in ("one", "other"):
        with Project.create(folder / f"{name}.swag", recipes.preset("demo")) as project:
            for path in paths:
                list(run_import(path, project))
            sources = [(s.id, s.captions, s.left_out) for s in project.store.sources()]
            keys = [project.key(stage) for stage in recipes.STAGES]
            results.append((list(project.store.captions()), sources, keys))
        rng.shuffle(paths)
    assert results[0] == results[1]


def test_real_videos_import_in_either_order(real_data: Path, tmp_path: Path) -> None:
    """val_1 and val_2 annotate the same videos: one group each, whatever comes first."""
    paths = []
    for name in ("val_1", "val_2"):
        text = (real_data / "activitynet_captions" / f"{name}.json").read_text(encoding="utf-8")
        some = {key: video for key, video in json.loads(text).items() if key.startswith("v_a")}
        paths.append(written(tmp_path / f"{name}.json", json.dumps(some)))
    seen = []
    for order in (paths, paths[::-1]):
        with Project.create(tmp_path / f"{order[0].stem}.swag", recipes.preset("demo")) as project:
            for path in order:
                list(run_import(path, project))
            seen.append(list(project.store.captions()))
    assert seen[0] == seen[1]
    groups = [{c.group for s, c in seen[0] if s == source} for source in {s for s, _ in seen[0]}]
    assert len(groups) == 2 and len(groups[0] & groups[1]) > 50
