"""The stage: what it learns, what it keeps, and the same bytes however often it is broken off."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_corpus import RARE, STOP, WORDS, corpus, prepare

from swag_studio import recipe as recipes
from swag_studio import samples
from swag_studio.engine import learner, train_lm
from swag_studio.engine.checkpoint import load_fold_model, model_meta
from swag_studio.engine.corpus import BOS, EOS
from swag_studio.engine.learner import Standing
from swag_studio.errors import RecipeError, StageError
from swag_studio.events import Changed, Event, Finished, Message, Metric, Progress
from swag_studio.project import Project
from swag_studio.recipe import Recipe

TINY = {
    "run.threads": 1,
    "run.device": "cpu",
    "run.dtype": "float32",
    "lm.dim": 8,
    "lm.layers": 2,
    "lm.epochs": 3,
    "lm.batch": 2,
    "lm.learning_rate": 0.02,
    "lm.checkpoint_steps": 3,
    "lm.dev_share": 0.2,
}


@pytest.fixture(autouse=True)
def every_step_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_lm, "BEAT", 0.0)


RECIPE = recipes.preset("demo").with_values(TINY)


def made(root: Path, recipe: Recipe, documents: int = 12) -> Project:
    project = Project.create(root, recipe)
    prepare(project, recipe, corpus(documents))
    return project


def files(project: Project, recipe: Recipe) -> dict[str, bytes]:
    folder = project.folder(project.begin("train_lm", recipe))
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def points(events: list[Event]) -> dict[tuple[str, int], float]:
    return {(e.series, e.step): e.value for e in events if isinstance(e, Metric)}


def unbroken(tmp_path: Path, recipe: Recipe) -> tuple[dict[str, bytes], list[Event]]:
    """The files and events of a run that nothing disturbs."""
    with made(tmp_path / "unbroken.swag", recipe) as project:
        events = list(train_lm.run(recipe, project))
        return files(project, recipe), events


Plain = tuple[dict[str, bytes], list[Event]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_lm, "BEAT", 0.0)
        return unbroken(tmp_path_factory.mktemp("plain"), RECIPE)


# --- what it makes ---------------------------------------------------------------------------


def test_a_run_leaves_a_model_per_fold_and_says_how_good_it_is(plain: Plain) -> None:
    found, events = plain
    kinds = ("json", "safetensors", "samples.json")
    assert sorted(found) == sorted(f"fold-{k}.{s}" for k in (0, 1) for s in kinds)
    last = events[-1]
    assert isinstance(last, Finished)
    summary: Any = last.summary
    assert summary["gold_unseen"] is True and summary["groups_compared"] == 12
    # 20 words of 8; each way 2 layers of 32 x 8 + 32 x 8 + 32, and 20 output biases.
    assert summary["parameters"] == 160 + 2 * (2 * 544 + 20)
    made_of = corpus()
    for fold, figures in enumerate(summary["folds"]):
        counts = [figures[f"{name}captions"] for name in ("", "dev_", "held_out_")]
        assert sum(counts) == len(made_of.captions) and figures["fold"] == fold
        assert counts[2] == int((made_of.caption_folds == fold).sum())
        assert figures["masked_words"] == fold  # one word, for fold 1
        assert 1 <= figures["best_epoch"] <= figures["epochs"] == 3
    assert {(m.name, tuple(sorted(m.tags.items()))) for m in events if isinstance(m, Metric)} == {
        (name, (("direction", direction), ("fold", fold)))
        for name in ("perplexity", "train_perplexity")
        for direction in ("forward", "backward")
        for fold in ("0", "1")
    }


def test_progress_only_rises_and_knows_its_end(plain: Plain) -> None:
    _, events = plain
    told = [e for e in events if isinstance(e, Progress) and e.total]
    assert [e.done for e in told] == sorted(e.done for e in told)
    assert {e.total for e in told} == {told[-1].done}


def test_the_kept_figures_are_those_of_the_kept_weights(tmp_path: Path) -> None:
    """Held-out perplexity computed anew from the files, sequence by sequence."""
    with made(tmp_path / "p.swag", RECIPE) as project:
        list(train_lm.run(RECIPE, project))
        folder = project.folder(project.require("train_lm", RECIPE))
        model = load_fold_model(folder, 1, "cpu", torch.float32)
        meta = model_meta(folder, 1)
    assert meta is not None
    made_of, sums, count = corpus(), {"forward": 0.0, "backward": 0.0}, 0
    for document in range(1, 12, 2):
        mine = np.flatnonzero(made_of.caption_groups == document)
        for start in range(0, len(mine), 2):
            ids = [int(i) for k in mine[start : start + 2] for i in made_of.captions[k]]
            ids = [1 if i == RARE else i for i in ids]
            for name, read in (
                ("forward", [BOS, *ids, EOS]),
                ("backward", [EOS, *ids[::-1], BOS]),
            ):
                every = torch.ones(1, len(read), dtype=torch.bool)
                log_p = model.log_probabilities(torch.tensor([read]), every, name)
                sums[name] -= float(log_p.sum())
            count += len(ids) + 1
    for name, value in meta["figures"]["held_out_perplexity"].items():
        assert value == pytest.approx(math.exp(sums[name] / count), rel=1e-5)


def test_it_learns_what_follows_what(tmp_path: Path) -> None:
    """Within a caption the next word is known: only its start and length are not."""
    recipe = RECIPE.with_values(
        {"lm.epochs": 8, "lm.dim": 24, "lm.layers": 1, "lm.batch": 4, "lm.learning_rate": 0.03}
    )
    with made(tmp_path / "p.swag", recipe, documents=60) as project:
        events = list(train_lm.run(recipe, project))
        folder = project.folder(project.require("train_lm", recipe))
        model = load_fold_model(folder, 0, "cpu", torch.float32)
    finished = events[-1]
    assert isinstance(finished, Finished)
    every = torch.ones(1, 3, dtype=torch.bool)
    for word in range(6, 18):
        read = torch.tensor([[BOS, word, word + 1]])
        # A caption has 2 to 6 words: after the first one never the stop.
        assert float(model.log_probabilities(read, every, "forward")[0, 1].exp()) > 0.5
        read = torch.tensor([[EOS, STOP, word]])
        assert float(model.log_probabilities(read, every, "backward")[0, 0].exp()) > 0.9
    folds: Any = finished.summary["folds"]
    assert all(f["held_out_perplexity"]["forward"] < len(WORDS) / 4 for f in folds)


# --- samples ---------------------------------------------------------------------------------


def test_each_best_epoch_leaves_what_it_writes_for_held_out_contexts(tmp_path: Path) -> None:
    with made(tmp_path / "p.swag", RECIPE) as project:
        told: list[tuple[int, int]] = []
        folder = project.root / "models/v1"
        for event in train_lm.run(RECIPE, project):
            if event == Changed(("samples",)):
                newest = max(samples.folds(folder))
                kept = samples.read(folder, newest)
                assert kept is not None
                told.append((newest, kept.epoch))
        for fold in (0, 1):
            meta, kept = model_meta(folder, fold), samples.read(folder, fold)
            assert meta is not None and kept is not None
            figures = meta["figures"]
            assert (fold, 1) in told and told.count((fold, figures["best_epoch"])) == 1
            assert kept.epoch == figures["best_epoch"]
            assert kept.perplexity == figures["dev_perplexity"]["forward"]
            assert kept.sampling.temperature == RECIPE.generate.temperature
            # Documents d with d % 2 == fold: the groups that the fold's model never sees.
            assert [s.context_id for s in kept.samples] == [f"g{d:02d}" for d in range(fold, 12, 2)]


def test_looking_at_a_model_changes_nothing_of_it(
    tmp_path: Path, plain: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = plain
    monkeypatch.setattr(train_lm._Stage, "_sampled", lambda *_: iter(()))
    found, _ = unbroken(tmp_path, RECIPE)
    assert found == {name: data for name, data in expected.items() if "samples" not in name}


def test_samples_of_other_settings_or_in_pieces_are_made_anew(tmp_path: Path, plain: Plain) -> None:
    expected, _ = plain
    other = RECIPE.with_values({"generate.temperature": 0.5, "generate.top_k": 3})
    with made(tmp_path / "p.swag", other) as project:
        run = train_lm.run(other, project)
        while next(run) != Changed(("samples",)):
            pass
        run.close()  # type: ignore[attr-defined]
        folder = project.root / "models/v1"
        assert (folder / "fold-0.samples.json").read_bytes() != expected["fold-0.samples.json"]
        (folder / "fold-1.samples.json").write_text("half a fi")
        list(train_lm.run(RECIPE, project))
        assert files(project, RECIPE) == expected


# --- stopping --------------------------------------------------------------------------------


def test_epochs_without_progress_shrink_the_step_and_then_end_the_training() -> None:
    at = Standing(1.0)
    for losses, better in [([3.0, 4.0], True), ([2.0, 5.0], False), ([2.5, 4.4], True)]:
        at.predicted, at.sums = 10, [30.0, 20.0]
        assert at.end_epoch(losses, 0.5) is better
    assert (at.learning_rate, at.best_epoch, at.best, at.stale) == (0.5, 2, [2.5, 4.4], 0)
    assert at.history[0] == {"train": [3.0, 2.0], "dev": [3.0, 4.0]}
    assert (at.sums, at.predicted, at.epoch) == ([0.0, 0.0], 0, 3)


def test_training_stops_early_and_keeps_the_best_weights(tmp_path: Path) -> None:
    values = {"lm.epochs": 30, "lm.patience": 2, "lm.learning_rate": 0.3, "lm.decay": 0.9}
    recipe = RECIPE.with_values(values)
    with made(tmp_path / "p.swag", recipe) as project:
        events = list(train_lm.run(recipe, project))
    finished = events[-1]
    assert isinstance(finished, Finished)
    folds: Any = finished.summary["folds"]
    for fold, figures in enumerate(folds):
        assert figures["epochs"] == figures["best_epoch"] + 2 < 30
        curve = points(events)
        for direction in ("forward", "backward"):
            at_best = (f"perplexity direction={direction} fold={fold}", figures["best_epoch"] - 1)
            assert curve[at_best] == figures["dev_perplexity"][direction]


def test_a_loss_that_is_no_number_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = learner.training.loss

    def broken(*arguments: Any) -> Any:
        total, sums = plain(*arguments)
        return total, sums * math.nan

    monkeypatch.setattr(learner.training, "loss", broken)
    with (
        made(tmp_path / "p.swag", RECIPE) as project,
        pytest.raises(StageError, match=r"epoch 1.*Lower lm\.learning_rate"),
    ):
        list(train_lm.run(RECIPE, project))


# --- broken off ------------------------------------------------------------------------------


def broken_at_every_event(project: Project, recipe: Recipe) -> tuple[list[Event], int]:
    """Events of runs that are closed after their first, second, third ... event, to the end."""
    events: list[Event] = []
    for count in range(1, 10_000):
        run: Iterator[Event] = train_lm.run(recipe, project)
        for _ in range(count):
            event = next(run)
            events.append(event)
            if isinstance(event, Finished):
                return events, count
        run.close()  # type: ignore[attr-defined]
    raise AssertionError("it never ends")


def test_a_run_that_is_broken_again_and_again_gives_the_same_bytes(
    tmp_path: Path, plain: Plain
) -> None:
    expected, events = plain
    with made(tmp_path / "broken.swag", RECIPE) as project:
        told, runs = broken_at_every_event(project, RECIPE)
        assert files(project, RECIPE) == expected
    assert runs > 5
    assert points(told) == points(events)


@pytest.mark.parametrize("steps", [1, 1000])
def test_bytes_do_not_depend_on_when_checkpoints_are_made(
    tmp_path: Path, plain: Plain, steps: int
) -> None:
    expected, _ = plain
    other = RECIPE.with_values({"lm.checkpoint_steps": steps})
    with made(tmp_path / "other.swag", other) as project:
        list(train_lm.run(other, project))
        assert files(project, other) == expected


def test_what_a_kill_leaves_behind_is_cleared(tmp_path: Path, plain: Plain) -> None:
    expected, _ = plain
    with made(tmp_path / "p.swag", RECIPE) as project:
        run = train_lm.run(RECIPE, project)
        for event in run:
            if isinstance(event, Message):  # fold 0 is kept, its checkpoint not yet removed
                break
        run.close()  # type: ignore[attr-defined]
        folder = project.folder(project.begin("train_lm", RECIPE))
        assert (folder / "fold-0.state.safetensors").exists()
        (folder / ".fold-1.state.safetensors.99.tmp").write_bytes(b"half a file")
        list(train_lm.run(RECIPE, project))
        assert files(project, RECIPE) == expected


def test_a_finished_stage_is_not_run_again(tmp_path: Path) -> None:
    with made(tmp_path / "p.swag", RECIPE) as project:
        assert list(train_lm.run(RECIPE, project)) != []
        assert list(train_lm.run(RECIPE, project)) == []


# --- short memory ----------------------------------------------------------------------------


def test_a_batch_that_does_not_fit_is_cut_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = RECIPE.with_values({"lm.batch": 4, "lm.epochs": 1})
    with made(tmp_path / "whole.swag", recipe) as project:
        list(train_lm.run(recipe, project))
        whole = load_fold_model(project.root / "models/v1", 0, "cpu", torch.float32)
    plain = learner.training.loss

    def small(model: Any, batch: Any, keep: Any = ()) -> Any:
        if batch.sizes[0] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return plain(model, batch, keep)

    monkeypatch.setattr(learner.training, "loss", small)
    with made(tmp_path / "cut.swag", recipe) as project:
        events = list(train_lm.run(recipe, project))
        cut = load_fold_model(project.root / "models/v1", 0, "cpu", torch.float32)
    told = [e for e in events if isinstance(e, Message) and e.level == "warning"]
    assert [e.text.split(": ")[1][:24] for e in told] == ["going on in 2 pieces a b"] * 2
    for name, tensor in whole.state_dict().items():
        torch.testing.assert_close(cut.state_dict()[name], tensor, rtol=1e-3, atol=1e-4)


# --- plain text ------------------------------------------------------------------------------


def with_text(recipe: Recipe, folder: Path) -> Recipe:
    folder.mkdir()
    (folder / "a.txt").write_text("w7 w8 w9 . w8 w9 .\n" * 9 + "\nw5 w6 unheard .\n")
    (folder / "b.txt").write_text("w9 w10 w11 .\n" * 5)
    return recipe.with_values(
        {"lm.pretrain_folder": str(folder), "lm.pretrain_epochs": 2, "lm.epochs": 1}
    )


def test_plain_text_comes_first_and_is_resumed_like_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_lm, "POOL_BATCHES", 3)  # several pools a file
    recipe = with_text(RECIPE, tmp_path / "text")
    expected, events = unbroken(tmp_path, recipe)
    assert "pretrained.safetensors" in expected and not any("pretraining" in n for n in expected)
    curve = points(events)
    forward = [curve["pretrain_train_perplexity direction=forward", e] for e in (0, 1)]
    assert forward[1] < forward[0]
    finished = events[-1]
    assert isinstance(finished, Finished)
    facts: Any = finished.summary["pretraining"]
    assert facts["files"] == 2 and facts["perplexity"]["forward"] == forward[1]
    with made(tmp_path / "broken.swag", recipe) as project:
        told, _ = broken_at_every_event(project, recipe)
        assert files(project, recipe) == expected
    assert points(told) == curve


def test_text_that_changed_meanwhile_is_begun_anew(tmp_path: Path) -> None:
    recipe = with_text(RECIPE, tmp_path / "text")
    more = "w12 w13 w14 .\n" * 5
    with made(tmp_path / "p.swag", recipe) as project:
        run = train_lm.run(recipe, project)
        while not list((project.root / "models/v1").glob("pretraining-*")):
            next(run)
        run.close()  # type: ignore[attr-defined]
        (tmp_path / "text" / "c.txt").write_text(more)
        list(train_lm.run(recipe, project))
        found = files(project, recipe)
    assert found == unbroken(tmp_path, recipe)[0]


def test_a_missing_folder_of_text_is_told_in_a_sentence(tmp_path: Path) -> None:
    recipe = replace(RECIPE, lm=replace(RECIPE.lm, pretrain_folder=str(tmp_path / "none")))
    with (
        made(tmp_path / "p.swag", recipe) as project,
        pytest.raises(RecipeError, match=r"lm\.pretrain_folder: .*none is not there"),
    ):
        list(train_lm.run(recipe, project))


def test_a_folder_without_text_is_told_in_a_sentence(tmp_path: Path) -> None:
    recipe = replace(RECIPE, lm=replace(RECIPE.lm, pretrain_folder=str(tmp_path)))
    with (
        made(tmp_path / "p.swag", recipe) as project,
        pytest.raises(StageError, match="holds no text"),
    ):
        list(train_lm.run(recipe, project))
