"""The stage: pools that hold what they should, and the same bytes after every interruption."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_project import CONTEXTS, MASKED, OWN, RECIPE, WORDS, corpus, prepared

from swag_studio.engine import generate
from swag_studio.engine.corpus import UNK
from swag_studio.engine.features import FEATURE_NAMES
from swag_studio.errors import ProjectError, StageError
from swag_studio.events import Event, Finished, Message, Progress
from swag_studio.mending import mend
from swag_studio.pool import Pool, Rows
from swag_studio.project import Project


def files(project: Project) -> dict[str, bytes]:
    folder = project.folder(project.begin("generate", RECIPE))
    paths = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths}


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Project, Pool, list[Event]]]:
    root = tmp_path_factory.mktemp("made") / "p.swag"
    with prepared(root, RECIPE) as project:
        events = list(generate.run(RECIPE, project))
        yield project, Pool.open(project.folder(project.require("generate", RECIPE))), events


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


def test_own_candidates_may_go_unscored(tmp_path: Path) -> None:
    recipe = RECIPE.with_values({"generate.score_own": False})
    with prepared(tmp_path / "p.swag", recipe) as project:
        list(generate.run(recipe, project))
        pool = Pool.open(project.folder(project.require("generate", recipe)))
        assert len(pool.context(OWN)) == 6
        assert not pool.context(OWN).features.any()
        assert pool.context(0).features.any()


def test_what_a_fold_does_not_know_is_read_as_unknown(
    tmp_path: Path, made: tuple[Project, Pool, list[Event]]
) -> None:
    """Masked words of (s, n) were unknown in training, so they must be here."""
    _, pool, _ = made
    changed = corpus()
    for ids in (changed.s.values, changed.n.values):
        ids[np.isin(ids, MASKED)] = UNK
    assert not np.array_equal(changed.s.values, corpus().s.values)
    with prepared(tmp_path / "other.swag", RECIPE) as project:
        changed.save(project.folder(project.require("prepare", RECIPE)))
        list(generate.run(RECIPE, project))
        other = Pool.open(project.folder(project.require("generate", RECIPE)))
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


def test_a_context_with_too_few_candidates_has_no_rows(tmp_path: Path) -> None:
    # A stop 9 nats likelier: many draws are the stop alone, and the budget of 72 is soon spent.
    with prepared(tmp_path / "p.swag", RECIPE, stop=9.0) as project:
        few = RECIPE.with_values({"generate.floor": 11})
        events = list(generate.run(few, project))
        counts = Pool.open(project.folder(project.require("generate", few))).counts()
        assert set(np.delete(counts, OWN)) <= {0, 12, 13}
        left_out = int((counts == 0).sum())
        assert 0 < left_out < CONTEXTS
        assert counts[OWN] == 6  # the floor is not for own candidates
        assert events[-1].summary["left_out"] == left_out  # type: ignore[union-attr]
        warnings = [e for e in events if isinstance(e, Message) and e.level == "warning"]
        assert str(left_out) in warnings[0].text


def test_no_context_left_is_an_error(tmp_path: Path) -> None:
    with prepared(tmp_path / "p.swag", RECIPE, stop=40.0) as project:
        prepare = project.require("prepare", RECIPE)
        replace(corpus(), own=np.zeros(CONTEXTS, np.bool_)).save(project.folder(prepare))
        with pytest.raises(StageError, match=r"None of 11 contexts has 3 different complete"):
            list(generate.run(RECIPE, project))


# --- the same bytes --------------------------------------------------------------------------


def test_interrupted_at_any_moment_it_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "BEAT", 0.0)  # an event at every pause of the work
    with prepared(tmp_path / "whole.swag", RECIPE) as project:
        moments = len(list(generate.run(RECIPE, project)))
        expected = files(project)
        assert list(generate.run(RECIPE, project)) == []  # done
    assert moments > 50
    with prepared(tmp_path / "broken.swag", RECIPE) as project:
        for moment in range(1, moments, 5):
            stage = generate.run(RECIPE, project)
            for _, _event in zip(range(moment), stage, strict=False):
                pass
            stage.close()
            if project.begin("generate", RECIPE).done:
                break
        else:
            list(generate.run(RECIPE, project))
        assert files(project) == expected


def test_a_pool_that_was_lost_whole_is_made_anew_and_compared(tmp_path: Path) -> None:
    with prepared(tmp_path / "p.swag", RECIPE) as project:
        list(generate.run(RECIPE, project))
        before = files(project)
        shutil.rmtree(project.root / "pool/v1")
        mend(project, project.checking())
        list(generate.run(RECIPE, project))
        assert files(project) == before
        shutil.rmtree(project.root / "pool/v1")
        mend(project, project.checking())
        (lost,) = project.store.artifacts("generate")
        project.store.put_artifact(replace(lost, summary={**lost.summary, "pool": "another"}))
        with pytest.raises(ProjectError, match="differ from the lost ones"):
            list(generate.run(RECIPE, project))
        assert project.current("generate", RECIPE) is None


def test_out_of_memory_goes_on_smaller_and_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    with prepared(tmp_path / "p.swag", RECIPE) as project:
        events = list(generate.run(RECIPE, project))
        assert asked == [64, 32, 16, 16, 16]
        assert sum(isinstance(e, Message) and e.level == "warning" for e in events) == 2
        assert isinstance(events[-1], Finished)
        expected = files(project)
    with prepared(tmp_path / "q.swag", RECIPE) as project:  # killed right after it halved
        for event in (stage := generate.run(RECIPE, project)):
            if isinstance(event, Message):
                stage.close()
        list(generate.run(RECIPE, project))
        assert files(project) == expected


def test_another_error_is_not_taken_for_a_full_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*_: object) -> Iterator[None]:
        raise RuntimeError("shapes do not match")
        yield

    monkeypatch.setattr(generate.BlockMaker, "make", make)
    with (
        prepared(tmp_path / "p.swag", RECIPE) as project,
        pytest.raises(RuntimeError, match="shapes"),
    ):
        list(generate.run(RECIPE, project))
