"""The stage: pools that hold what they should, and the same bytes after every interruption."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_lm import model

from swag_studio import recipe as recipes
from swag_studio.engine import generate
from swag_studio.engine.checkpoint import model_path, save_model
from swag_studio.engine.corpus import SPECIALS, UNK, Corpus, Ragged, Vocabulary
from swag_studio.engine.features import FEATURE_NAMES
from swag_studio.errors import StageError
from swag_studio.events import Event, Finished, Message, Progress
from swag_studio.pool import Pool, Rows
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import Context, OwnContext, SourceInfo

WORDS = (*SPECIALS, ".", *(f"word{chr(97 + i)}" for i in range(25)))
MASKED = (9, 10, 11, 12)  # words that fold 1's model does not know
CONTEXTS = 11
OWN = 6  # the context that came with its own candidates
OWN_ENDINGS = (
    "worde wordf .",
    "WordE  wordf.",  # equal to the one before
    "wordb wordc .",  # equal to the found ending
    "stranger worda .",  # a word that the project does not know
    "worda " * 9 + ".",  # cut off at 8 tokens
    "wordd worda .",
    "wordd wordd .",
)


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    return recipes.preset("demo").with_values(
        {
            "prepare.folds": 2,
            "prepare.max_ending_tokens": 8,
            "lm.dim": 8,
            "lm.layers": 2,
            "generate.candidates": 12,
            "generate.floor": 3,
            "generate.draw_budget": 6.0,
            "filter.distractors": 3,
            "generate.max_tokens": 8,
            "generate.contexts_per_block": 4,
            "run.device": "cpu",
            "run.dtype": "float32",
        }
    )


def corpus() -> Corpus:
    rng = np.random.default_rng(2)
    folds = np.arange(CONTEXTS, dtype=np.uint8) % 2
    masked = np.zeros((2, len(WORDS)), np.bool_)
    masked[1, MASKED] = True
    known = np.setdiff1d(np.arange(5, len(WORDS)), MASKED)

    def phrases(low: int, high: int, words: np.ndarray, stop: bool = False) -> Ragged:
        drawn = [rng.choice(words, rng.integers(low, high)) for _ in range(CONTEXTS)]
        if stop:
            drawn = [np.append(ids, 4) for ids in drawn]
            drawn[OWN] = np.array([6, 7, 4])  # "wordb wordc ."
        return Ragged.of([ids.astype(np.uint16) for ids in drawn])

    every = np.arange(5, len(WORDS))
    return Corpus(
        vocabulary=Vocabulary(WORDS, {}),
        context_ids=tuple(f"c{i:02d}" for i in range(CONTEXTS)),
        groups=tuple(f"g{i:02d}" for i in range(CONTEXTS)),
        folds=folds,
        splits=np.zeros(CONTEXTS, np.uint8),
        own=np.arange(CONTEXTS) == OWN,
        s=phrases(3, 7, every),
        n=phrases(1, 4, every),
        v=phrases(2, 7, known, stop=True),
        captions=Ragged.of([]),
        caption_chains=np.zeros(0, np.int32),
        caption_folds=np.zeros(0, np.uint8),
        caption_groups=np.zeros(0, np.int32),
        group_names=(),
        masked=masked,
    )


def prepared(root: Path, recipe: Recipe, stop: float = 3.0) -> Project:
    """A project in which everything before this stage is done."""
    project = Project.create(root, recipe)
    info = SourceInfo("src", "own.jsonl", "own", "0" * 64, 0, 1, 0, 1)
    project.store.stage_source(info)
    own = OwnContext("d1", "g06", "s", "n", "wordb wordc.", OWN_ENDINGS)
    project.store.add_own_contexts("src", [own])
    project.store.publish_source(info)
    artifact = project.begin("prepare", recipe)
    corpus().save(project.folder(artifact))
    row = Context(f"c{OWN:02d}", "g06", "g06", "src", "d1", 0, "s", "n", own.found, 0, "train",
                  "own")  # fmt: skip
    project.store.add_contexts(artifact.version, [row])
    project.finish(artifact, {})
    artifact = project.begin("train_lm", recipe)
    for fold in range(2):
        made = model(fold, vocabulary=len(WORDS), stop=stop)
        save_model(model_path(project.folder(artifact), fold), made, {})
    project.finish(artifact, {})
    return project


def files(project: Project, recipe: Recipe) -> dict[str, bytes]:
    folder = project.folder(project.begin("generate", recipe))
    paths = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths}


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, recipe: Recipe
) -> Iterator[tuple[Project, Pool, list[Event]]]:
    root = tmp_path_factory.mktemp("made") / "p.swag"
    with prepared(root, recipe) as project:
        events = list(generate.run(recipe, project))
        yield project, Pool.open(project.folder(project.require("generate", recipe))), events


def texts(rows: Rows) -> list[str]:
    return ["".join(WORDS[i] for i in t[:n]) for t, n in zip(rows.tokens, rows.lengths,
            strict=True)]  # fmt: skip


# --- what a pool holds -----------------------------------------------------------------------


def test_every_context_has_its_found_ending_and_different_candidates(
    made: tuple[Project, Pool, list[Event]],
) -> None:
    _, pool, _ = made
    expected = corpus()
    assert pool.problems() == []
    assert pool.layout.feature_names == FEATURE_NAMES
    for c in set(range(CONTEXTS)) - {OWN}:
        rows = pool.context(c)
        assert len(rows) == 13
        assert np.array_equal(rows.tokens[0][: rows.lengths[0]], expected.v[c])
        assert len(set(texts(rows))) == 13
        never = {0, 1, 2, 3} | (set(MASKED) if expected.folds[c] else set())
        for tokens, n, complete in zip(rows.tokens[1:], rows.lengths[1:], rows.complete[1:],
                                       strict=True):  # fmt: skip
            assert not never & set(tokens[:n].tolist())
            assert not tokens[n:].any()
            assert 4 not in tokens[: n - 1]
            assert complete == (tokens[n - 1] == 4)
            assert complete or n == 8
        assert rows.complete[0] == 1
        assert not rows.origin.any()
        assert np.isfinite(rows.features).all()
        assert np.array_equal(rows.features[:, 5], rows.lengths)
        assert set(rows.features[:, 6]) == {len(expected.n[c])}
        assert set(rows.features[:, 7]) == {len(expected.s[c])}


def test_own_candidates_are_taken_in_the_order_of_the_source(
    made: tuple[Project, Pool, list[Event]],
) -> None:
    _, pool, _ = made
    rows = pool.context(OWN)
    assert rows.origin.tolist() == [0, 1, 4, 5, 6, 7]  # 2 equals 1, 3 equals the found ending
    assert rows.lengths.tolist() == [3, 3, 3, 8, 3, 3]
    assert rows.complete.tolist() == [1, 1, 1, 0, 1, 1]
    assert texts(rows)[1] == "wordewordf."
    assert rows.tokens[2, 0] == UNK
    assert np.isfinite(rows.features).all()
    assert (rows.features[:, :5] > 0).all()


def test_own_candidates_may_go_unscored(tmp_path: Path, recipe: Recipe) -> None:
    recipe = recipe.with_values({"generate.score_own": False})
    with prepared(tmp_path / "p.swag", recipe) as project:
        list(generate.run(recipe, project))
        pool = Pool.open(project.folder(project.require("generate", recipe)))
        assert len(pool.context(OWN)) == 6
        assert not pool.context(OWN).features.any()
        assert pool.context(0).features.any()


def test_what_a_fold_does_not_know_is_read_as_unknown(
    tmp_path: Path, recipe: Recipe, made: tuple[Project, Pool, list[Event]]
) -> None:
    """Masked words of (s, n) were unknown in training, so they must be here."""
    _, pool, _ = made
    changed = corpus()
    for ids in (changed.s.values, changed.n.values):
        ids[np.isin(ids, MASKED)] = UNK
    assert not np.array_equal(changed.s.values, corpus().s.values)
    with prepared(tmp_path / "other.swag", recipe) as project:
        changed.save(project.folder(project.require("prepare", recipe)))
        list(generate.run(recipe, project))
        other = Pool.open(project.folder(project.require("generate", recipe)))
        holds = [
            bool(np.isin([*corpus().s[c], *corpus().n[c]], MASKED).any()) for c in range(CONTEXTS)
        ]
        same = [
            pool.context(c).features.tobytes() == other.context(c).features.tobytes()
            for c in range(CONTEXTS)
        ]
        knows, not_ = slice(0, None, 2), slice(1, None, 2)  # the contexts of folds 0 and 1
        assert any(holds[knows])
        assert any(holds[not_])
        assert all(same[not_])
        assert not any(a for a, b in zip(same[knows], holds[knows], strict=True) if b)


def test_the_summary_adds_up(made: tuple[Project, Pool, list[Event]]) -> None:
    project, pool, events = made
    finished = events[-1]
    assert isinstance(finished, Finished)
    summary = finished.summary
    counts = pool.counts()
    assert summary["contexts"] == CONTEXTS
    assert summary["left_out"] == 0
    assert summary["candidates"] == counts.sum() - CONTEXTS == 10 * 12 + 5
    every = [pool.context(c) for c in range(CONTEXTS)]
    assert summary["cut_off"] == sum(int((r.complete == 0).sum()) for r in every)
    generated = np.concatenate([r.features[1:] for r in every]).mean(0)
    assert list(summary["generated"].values()) == pytest.approx(generated, abs=1e-3)  # type: ignore[attr-defined]
    found = np.concatenate([r.features[:1] for r in every]).mean(0)
    assert list(summary["found"].values()) == pytest.approx(found, abs=1e-3)  # type: ignore[attr-defined]
    assert dict(project.require("generate", project.recipe).summary) == summary
    done = [e.done for e in events if isinstance(e, Progress)]
    assert done == sorted(done)
    assert done[-1] == CONTEXTS


def test_a_context_with_too_few_candidates_has_no_rows(tmp_path: Path, recipe: Recipe) -> None:
    # A stop 9 nats likelier: many draws are the stop alone, and the budget of 72 is soon spent.
    with prepared(tmp_path / "p.swag", recipe, stop=9.0) as project:
        few = recipe.with_values({"generate.floor": 11})
        events = list(generate.run(few, project))
        counts = Pool.open(project.folder(project.require("generate", few))).counts()
        assert set(np.delete(counts, OWN)) <= {0, 12, 13}
        left_out = int((counts == 0).sum())
        assert 0 < left_out < CONTEXTS
        assert counts[OWN] == 6  # the floor is not for own candidates
        assert events[-1].summary["left_out"] == left_out  # type: ignore[union-attr]
        warnings = [e for e in events if isinstance(e, Message) and e.level == "warning"]
        assert str(left_out) in warnings[0].text


def test_no_context_left_is_an_error(tmp_path: Path, recipe: Recipe) -> None:
    with prepared(tmp_path / "p.swag", recipe, stop=40.0) as project:
        prepare = project.require("prepare", recipe)
        replace(corpus(), own=np.zeros(CONTEXTS, np.bool_)).save(project.folder(prepare))
        with pytest.raises(StageError, match=r"None of 11 contexts has 3 different complete"):
            list(generate.run(recipe, project))


# --- the same bytes --------------------------------------------------------------------------


def test_interrupted_at_any_moment_it_ends_with_the_same_bytes(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "BEAT", 0.0)  # an event at every pause of the work
    with prepared(tmp_path / "whole.swag", recipe) as project:
        moments = len(list(generate.run(recipe, project)))
        expected = files(project, recipe)
        assert list(generate.run(recipe, project)) == []  # done
    assert moments > 50
    with prepared(tmp_path / "broken.swag", recipe) as project:
        for moment in range(1, moments, 5):
            stage = generate.run(recipe, project)
            for _, _event in zip(range(moment), stage, strict=False):
                pass
            stage.close()
            if project.begin("generate", recipe).done:
                break
        else:
            list(generate.run(recipe, project))
        assert files(project, recipe) == expected


def test_out_of_memory_goes_on_smaller_and_remembers(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = generate.BlockMaker.make
    asked: list[int] = []

    def make(self: generate.BlockMaker, contexts: range, limit: int) -> Iterator[None]:
        asked.append(limit)
        if limit > 20:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return (yield from whole(self, contexts, limit))

    monkeypatch.setattr(generate.BlockMaker, "make", make)
    monkeypatch.setattr(generate, "BATCH_ROWS", 64)
    with prepared(tmp_path / "p.swag", recipe) as project:
        events = list(generate.run(recipe, project))
        assert asked == [64, 32, 16, 16, 16]
        assert sum(isinstance(e, Message) and e.level == "warning" for e in events) == 2
        assert isinstance(events[-1], Finished)
        expected = files(project, recipe)
    with prepared(tmp_path / "q.swag", recipe) as project:  # killed right after it halved
        for event in (stage := generate.run(recipe, project)):
            if isinstance(event, Message):
                stage.close()
        list(generate.run(recipe, project))
        assert files(project, recipe) == expected


def test_another_error_is_not_taken_for_a_full_memory(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*_: object) -> Iterator[None]:
        raise RuntimeError("shapes do not match")
        yield

    monkeypatch.setattr(generate.BlockMaker, "make", make)
    with (
        prepared(tmp_path / "p.swag", recipe) as project,
        pytest.raises(RuntimeError, match="shapes"),
    ):
        list(generate.run(recipe, project))
