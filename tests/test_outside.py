"""Files outside a project: what is in them counts, and a look at the project reads none."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio import outside
from swag_studio import recipe as recipes
from swag_studio.errors import RecipeError
from swag_studio.lineage import ancestor
from swag_studio.outside import UNKNOWN, Outside, named
from swag_studio.project import Project
from swag_studio.recipe import STAGES, Recipe, preset

DEMO = preset("demo")
KEYS = ("lm.pretrain_folder", "filter.embeddings_file")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "text"
    folder.mkdir()
    (folder / "a.txt").write_text("One.")
    (folder / "b.txt").write_text("Two.")
    return folder


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("man 0.5 1\n")
    return path


@pytest.fixture
def recipe(folder: Path, vectors: Path) -> Recipe:
    return DEMO.with_values(dict(zip(KEYS, (str(folder), str(vectors)), strict=True)))


def states(project: Project, recipe: Recipe) -> str:
    """The first letters of the states: (d)one, (s)tale, (u)nfinished, (m)issing."""
    return "".join(s.state[0] for s in project.states(recipe))


def run_all(project: Project, recipe: Recipe) -> list[int]:
    """Every stage made, as if by its engine module; returns the versions."""
    made = []
    for stage in STAGES:
        artifact = project.begin(stage, recipe)
        made.append(artifact if artifact.done else project.finish(artifact, {}))
    return [artifact.version for artifact in made]


def rewritten(path: Path, text: str) -> None:
    """Other contents of equal length, at a later time, also where a drive counts in seconds."""
    before = path.stat()
    assert len(text) == before.st_size
    path.write_text(text)
    later = max(before.st_mtime_ns, path.stat().st_mtime_ns) + 2_000_000_000
    os.utime(path, ns=(later, later))


def test_what_a_stage_reads(recipe: Recipe, folder: Path, vectors: Path) -> None:
    found = {stage: named(recipe, stage) for stage in STAGES}
    assert {stage: paths for stage, paths in found.items() if paths} == {
        "train_lm": {KEYS[0]: folder},
        "filter": {KEYS[1]: vectors},
    }
    assert not any(named(DEMO, stage) for stage in STAGES)


def test_a_stage_waits_for_its_own_files_and_those_before(recipe: Recipe, tmp_path: Path) -> None:
    memory = Outside(tmp_path / "outside.json")
    assert list(memory.reading(recipe, "prepare")) == []
    assert list(memory.reading(recipe, "train_lm")) == ["a.txt", "b.txt"]
    assert list(memory.reading(recipe, "generate")) == []
    assert list(memory.reading(recipe, "filter")) == ["vectors.txt"]
    fresh = Outside(tmp_path / "other.json")
    assert list(fresh.reading(recipe, "filter")) == ["a.txt", "b.txt", "vectors.txt"]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_name_can_be_looked_at(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    recipe = DEMO.with_values({KEYS[1]: "~" + name})
    memory = Outside(tmp_path_factory.getbasetemp() / "none.json")
    assert memory.digests(recipe, "filter") == {KEYS[1]: UNKNOWN}


# --- stages ------------------------------------------------------------------------------------


def test_a_changed_file_is_noticed_and_a_restored_one_reruns_nothing(
    project: Project, recipe: Recipe, folder: Path, vectors: Path
) -> None:
    assert states(project, recipe) == "mmmmm"
    assert run_all(project, recipe) == [1, 1, 1, 1, 1]
    assert states(project, recipe) == "ddddd"
    rewritten(vectors, "man 0.5 2\n")
    assert states(project, recipe) == "dddss"
    assert run_all(project, recipe) == [1, 1, 1, 2, 2]
    assert states(project, recipe) == "ddddd"
    rewritten(folder / "b.txt", "Owt.")
    assert states(project, recipe) == "dssss"
    assert run_all(project, recipe) == [1, 2, 2, 3, 3]
    rewritten(vectors, "man 0.5 1\n")
    rewritten(folder / "b.txt", "Two.")
    assert states(project, recipe) == "dssss"  # not read yet
    assert run_all(project, recipe) == [1, 1, 1, 1, 1]
    assert states(project, recipe) == "ddddd"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda f: (f / "c.txt").write_text("Three."), "dssss"),
        (lambda f: (f / "a.txt").unlink(), "dssss"),
        (lambda f: (f / "a.txt").rename(f / "c.txt"), "dssss"),  # another order
        (lambda f: (f / "notes.md").write_text("Mine."), "ddddd"),
    ],
)
def test_the_texts_of_a_folder_count(
    project: Project, recipe: Recipe, folder: Path, change: Callable[[Path], object], expected: str
) -> None:
    run_all(project, recipe)
    change(folder)
    assert states(project, recipe) == expected


def test_a_place_does_not_count(
    project: Project, recipe: Recipe, folder: Path, vectors: Path, tmp_path: Path
) -> None:
    run_all(project, recipe)
    (tmp_path / "new").mkdir()
    moved = {
        KEYS[0]: str(folder.rename(tmp_path / "new" / "corpus")),
        KEYS[1]: str(vectors.rename(tmp_path / "new" / "glove.txt")),
    }
    assert run_all(project, recipe.with_values(moved)) == [1, 1, 1, 1, 1]


def test_a_look_reads_no_contents(
    project: Project, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all(project, recipe)
    read: list[str] = []
    reading = outside._reading

    def watched(path: Path) -> Generator[str, None, str]:
        read.append(path.name)
        return reading(path)

    monkeypatch.setattr(outside, "_reading", watched)
    project.states(recipe)
    run_all(project, recipe)
    assert read == []
    (project.root / "outside.json").write_text("damaged")
    assert states(project, recipe) == "dssss"
    run_all(project, recipe)
    assert read == ["text", "vectors.txt"]
    assert states(project, recipe) == "ddddd"


def test_what_was_made_stays_done_when_the_file_is_gone(
    project: Project, recipe: Recipe, folder: Path, vectors: Path
) -> None:
    run_all(project, recipe)
    (folder / "a.txt").unlink()
    (folder / "b.txt").unlink()
    folder.rmdir()
    vectors.unlink()
    assert states(project, recipe) == "ddddd"
    assert run_all(project, recipe) == [1, 1, 1, 1, 1]
    other = recipe.with_values({"filter.replace": 1})
    with pytest.raises(RecipeError, match=r"filter\.embeddings_file: .*vectors\.txt is not there"):
        project.begin("filter", other)
    assert len(project.store.artifacts("filter")) == 1  # and nothing is begun


@pytest.mark.parametrize("resumed", [True, False])
def test_a_file_that_is_gone_is_told_before_a_stage_begins(
    project: Project, recipe: Recipe, vectors: Path, resumed: bool
) -> None:
    if resumed:
        project.begin("filter", recipe)
    vectors.unlink()
    before = len(project.store.artifacts("filter"))
    for _ in range(2):
        with pytest.raises(RecipeError, match="is not there"):
            project.begin("filter", recipe)
    assert len(project.store.artifacts("filter")) == before
    assert states(project, recipe)[3] == ("u" if resumed else "m")


def test_what_is_no_file_is_not_read(project: Project, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RecipeError, match="pipe is not there"):
        project.begin("filter", DEMO.with_values({KEYS[1]: str(pipe)}))


def test_a_file_that_grows_meanwhile_is_refused(
    project: Project, recipe: Recipe, vectors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = outside._reading

    def slow(path: Path) -> Generator[str, None, str]:
        digest = yield from reading(path)
        with open(path, "a") as file:
            file.write("dog 1 1\n")
        return digest

    project.begin("train_lm", recipe)
    with monkeypatch.context() as patched:
        patched.setattr(outside, "_reading", slow)
        with pytest.raises(RecipeError, match="changed while it was read"):
            project.begin("filter", recipe)
    assert project.store.artifacts("filter") == []
    assert project.begin("filter", recipe).version == 1


def test_large_files_are_read_in_pieces(
    project: Project, recipe: Recipe, vectors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "_PIECE", 4)
    told = list(project.outside.reading(recipe, "filter"))
    assert told == ["a.txt", "b.txt", *["vectors.txt"] * 3]
    assert list(project.outside.reading(recipe, "filter")) == []


def test_compressed_vectors_count_by_their_bytes(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "v.txt.gz"
    path.write_bytes(gzip.compress(b"man 1 2\n", mtime=0))
    recipe = DEMO.with_values({KEYS[1]: str(path)})
    first = project.begin("filter", recipe)
    assert outside.recorded(first) == project.outside.digests(recipe, "filter")
    assert project.store.artifacts("filter")[0] == first


# --- keys --------------------------------------------------------------------------------------


def test_contents_stand_in_the_key_and_names_do_not() -> None:
    first, second = (DEMO.with_values({KEYS[1]: name}) for name in ("one", "other"))
    same = {r.stage_key("filter", ["s"], outside={KEYS[1]: "d1"}) for r in (first, second)}
    other = first.stage_key("filter", ["s"], outside={KEYS[1]: "d2"})
    assert len(same) == 1 and other not in same
    assert DEMO.stage_key("filter", ["s"], outside={}) == DEMO.stage_key("filter", ["s"])


def test_ancestors_are_found_whatever_became_of_the_files(
    project: Project, recipe: Recipe, folder: Path, vectors: Path
) -> None:
    for text in ("man 0.5 1\n", "man 0.5 2\n"):
        rewritten(vectors, text)
        run_all(project, recipe)
    rewritten(folder / "a.txt", "Eno.")
    run_all(project, recipe)
    (project.root / "outside.json").unlink()
    vectors.unlink()
    found = []
    for run in project.store.artifacts("filter"):
        made = (ancestor(project, run, stage) for stage in recipes.STAGES[:3])
        found.append([a.version if a else 0 for a in made])
    assert found == [[1, 1, 1], [1, 1, 1], [1, 2, 2]]


def test_runs_from_before_contents_counted_keep_their_ancestors(
    project: Project, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as then:
        then.setattr(project.outside, "digests", lambda recipe, stage: {})
        then.setattr(project.outside, "check", lambda recipe, stage: None)
        run_all(project, recipe)
    (run,) = project.store.artifacts("filter")
    assert states(project, recipe) == "dssss"
    assert ancestor(project, run, "prepare") == project.current("prepare", recipe)
