"""The stage "train_lm": one two-way language model per fold, which never sees the fold's groups.

    fold-0.safetensors, fold-0.json   a finished model; the JSON holds its course and figures
    fold-0.state.safetensors          the checkpoint of one in training; removed at its end
    fold-0.samples.json               what its best weights so far write, for people (samples.py)
    pretrained.safetensors            what plain text taught, where all folds begin

A kill costs what was done since the last checkpoint. Curves are told again when a run goes on, so
that no point is lost between a checkpoint and the store.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import torch

from swag_studio import outside, samples
from swag_studio.engine import runtime
from swag_studio.engine.checkpoint import (
    load_state,
    model_meta,
    model_path,
    save_model,
    save_state,
)
from swag_studio.engine.corpus import Corpus, Ids
from swag_studio.engine.learner import Learner, Place, Pools
from swag_studio.engine.lm import DIRECTIONS, LanguageModel, LmConfig, initialised
from swag_studio.engine.lm_samples import HeldOut, sampling_of
from swag_studio.engine.sequences import TextFiles, fold_captions, known_ids, windows
from swag_studio.errors import ProjectError
from swag_studio.events import Changed, Event, Finished, Message, Metric, Progress
from swag_studio.project import Project
from swag_studio.recipe import Recipe

STAGE = "train_lm"
BEAT = 0.1  # s between two Progress events
BYTES_PER_TOKEN = 5  # of plain text, to tell how much remains
POOL_BATCHES = 64  # batches of plain text that are read at a time
STATE = ".state.safetensors"

T = TypeVar("T")
Weights = Mapping[str, torch.Tensor]


def run(recipe: Recipe, project: Project) -> Iterator[Event]:
    """Runs the stage. Raises StageError where there is too little to train on."""
    artifact = project.begin(STAGE, recipe)
    if artifact.done:
        return
    yield Progress(STAGE, 0, 0, "tokens", "loading")
    folder = project.folder(artifact)
    for left in folder.glob(".*.tmp"):  # by a kill within a write
        left.unlink()
    corpus = Corpus.load(project.folder(project.require("prepare", recipe)))
    device = runtime.choose_device(recipe.run.device, recipe.run.dtype).device
    stage = _Stage(recipe, corpus, folder, device)
    summary = yield from stage.run()
    project.finish(artifact, summary)
    yield Finished(STAGE, summary)


class _Stage:
    """What the parts of the stage share: corpus, device, and how far the work is."""

    def __init__(self, recipe: Recipe, corpus: Corpus, folder: Path, device: torch.device) -> None:
        self._lm, self._seed = recipe.lm, runtime.seed_for(recipe.run.seed, STAGE)
        self._sampling = sampling_of(recipe.generate)
        self._corpus, self._folder, self._device = corpus, folder, device
        self._config = LmConfig(len(corpus.vocabulary), recipe.lm.dim, recipe.lm.layers)
        self._parts = [
            fold_captions(corpus, fold, recipe.lm.dev_share, self._seed)
            for fold in range(corpus.n_folds)
        ]
        lengths = corpus.captions.lengths
        self._tokens = [int(lengths[part.train].sum()) for part in self._parts]
        text = outside.named(recipe, STAGE).get("lm.pretrain_folder")
        self._text = TextFiles.of(text) if text else None
        self._text_tokens = self._text.bytes // BYTES_PER_TOKEN if self._text else 0
        self._total = recipe.lm.epochs * sum(self._tokens)
        self._total += recipe.lm.pretrain_epochs * self._text_tokens
        self._before = 0  # tokens of the parts that are done
        self._told = -math.inf

    def run(self) -> Generator[Event, None, dict[str, Any]]:
        """All parts in order; returns the summary."""
        summary: dict[str, Any] = {}
        weights: Weights | None = None
        if self._text is not None:
            weights, summary["pretraining"] = yield from self._pretrained(self._text)
            self._before += self._lm.pretrain_epochs * self._text_tokens
        summary["folds"] = []
        for fold, tokens in enumerate(self._tokens):
            figures = yield from self._fold(fold, weights)
            summary["folds"].append(figures)
            self._before += self._lm.epochs * tokens
        # fold_captions raises where a model would see a group of its fold.
        summary["gold_unseen"] = True
        summary["groups_compared"] = sum(part.groups_compared for part in self._parts)
        summary["parameters"] = LanguageModel(self._config).parameter_count
        return summary

    # --- plain text ----------------------------------------------------------------------

    def _pretrained(
        self, text: TextFiles
    ) -> Generator[Event, None, tuple[Weights, dict[str, Any]]]:
        """What the plain text taught, and what is known of it.

        Once for all folds. Words that a fold masks are taught too, and then never occur for it.
        """
        path = self._folder / "pretrained.safetensors"
        if path.exists():
            weights, kept = load_state(path)
            yield from _metrics("pretrain_", kept["history"])
            return weights, kept["facts"]
        sha256 = ""
        for digest in text.hashes():
            sha256 = digest
            yield Progress(STAGE, 0, self._total, "tokens", "reading the plain text")
        # The hash in the name: there is no going on from a checkpoint of other text.
        state = self._folder / f"pretraining-{sha256[:16]}{STATE}"
        learner = self._learner("plain text", None, state)
        at, index = learner.standing, self._corpus.vocabulary.index
        yield from _metrics("pretrain_", at.history)
        while at.epoch < self._lm.pretrain_epochs:
            pools = text.pools(index, POOL_BATCHES * self._lm.batch, at.place)
            yield from self._paced(learner, learner.epoch(pools), self._text_tokens, "plain text")
            learner.end_epoch([])
            yield from _metrics("pretrain_", at.history, first=at.epoch - 1)
        perplexity = _by_direction(at.history[-1]["train"])
        facts = {"files": len(text.paths), "bytes": text.bytes, "sha256": sha256}
        facts["perplexity"] = perplexity
        save_state(path, learner.best, {"facts": facts, "history": at.history})
        for left in self._folder.glob(f"pretraining-*{STATE}"):
            left.unlink()
        return learner.best, facts

    # --- folds ---------------------------------------------------------------------------

    def _fold(self, fold: int, weights: Weights | None) -> Generator[Event, None, dict[str, Any]]:
        """A fold's model, made or gone on with, and kept; returns its figures."""
        tags, state = {"fold": str(fold)}, self._folder / f"fold-{fold}{STATE}"
        meta = model_meta(self._folder, fold)
        if meta is not None:
            yield from _metrics("", meta["history"], tags)
            figures: dict[str, Any] = meta["figures"]
        else:
            learner = self._learner(f"fold {fold}", weights, state)
            yield from _metrics("", learner.standing.history, tags)
            figures = yield from self._train(fold, learner, tags)
            meta = {"figures": figures, "history": learner.standing.history}
            save_model(model_path(self._folder, fold), learner.model, meta)
            yield Message(STAGE, _sentence(figures))
        state.unlink(missing_ok=True)
        return figures

    def _train(
        self, fold: int, learner: Learner, tags: Mapping[str, str]
    ) -> Generator[Event, None, dict[str, Any]]:
        """Epochs until there is no more progress on the development set; then the figures."""
        part, known, at = self._parts[fold], known_ids(self._corpus, fold), learner.standing
        tokens, note = self._tokens[fold], f"fold {fold}"
        dev = windows(self._corpus, part.dev, known, 0)
        yield from self._sampled(fold, learner)  # where a kill came before it
        while at.epoch < self._lm.epochs and at.stale < self._lm.patience:
            train = windows(self._corpus, part.train, known, at.epoch % 2)
            step = f"{note}, epoch {at.epoch + 1}"
            yield from self._paced(learner, learner.epoch(_one_pool(train, at.place)), tokens, step)
            losses = yield from self._paced(learner, learner.losses(dev), tokens, step)
            learner.end_epoch(losses)
            yield from _metrics("", at.history, tags, first=at.epoch - 1)
            yield from self._sampled(fold, learner)
        learner.take_best()
        held_out = windows(self._corpus, part.held_out, known, 0)
        losses = yield from self._paced(learner, learner.losses(held_out), tokens, note)
        return {
            "fold": fold,
            "best_epoch": at.best_epoch + 1,
            "epochs": at.epoch,
            "dev_perplexity": _by_direction(at.best),
            "held_out_perplexity": _by_direction(losses),
            "captions": int(part.train.sum()),
            "dev_captions": int(part.dev.sum()),
            "held_out_captions": int(part.held_out.sum()),
            "tokens": tokens,
            "masked_words": int(self._corpus.masked[fold].sum()),
        }

    def _sampled(self, fold: int, learner: Learner) -> Iterator[Event]:
        """Keeps what the best weights so far write, unless that is kept already.

        The file follows from weights and recipe, whatever was broken off. It is for people: the
        settings of sampling are no part of the models' key, so they stand in the file.
        """
        at = learner.standing
        if at.best_epoch < 0:
            return
        epoch, perplexity = at.best_epoch + 1, _perplexity(at.best[0])
        if _heading(self._folder, fold) == (epoch, perplexity, self._sampling):
            return
        held_out = HeldOut(self._corpus, fold, runtime.seed_for(self._seed, "samples", fold))
        work = held_out.draw(learner.best_model(), epoch, self._sampling)
        drawn = yield from self._paced(learner, work, self._tokens[fold], f"fold {fold}, samples")
        made = samples.FoldSamples(fold, epoch, perplexity, self._sampling, drawn)
        samples.write(self._folder, made)
        yield Changed(("samples",))

    def _learner(self, name: str, weights: Weights | None, state: Path) -> Learner:
        """A model with fresh or given weights; or as it was at its checkpoint."""
        seed = runtime.seed_for(self._seed, name)
        model = initialised(self._config, runtime.generator(runtime.seed_for(seed, "weights")))
        if weights is not None:
            model.load_state_dict(weights)
        learner = Learner(model, self._lm, self._device, seed, state)
        learner.resume()
        return learner

    def _paced(
        self, learner: Learner, work: Generator[None, None, T], tokens: int, note: str
    ) -> Generator[Event, None, T]:
        """The work, with Progress no more often than a screen can show.

        `tokens` are those of an epoch.
        """
        at = learner.standing
        parts = at.parts
        while True:
            try:
                next(work)
            except StopIteration as stop:
                result: T = stop.value
                return result
            if at.parts != parts:
                parts = at.parts
                yield Message(STAGE, _cut(parts), "warning")
            if monotonic() - self._told >= BEAT:
                self._told = monotonic()
                done = self._before + at.epoch * tokens + min(at.read, tokens)
                yield Progress(STAGE, done, self._total, "tokens", note)


def _heading(folder: Path, fold: int) -> tuple[int, float, samples.Sampling] | None:
    """What the kept samples of a fold are of; None where there are none that can be read."""
    try:
        kept = samples.read(folder, fold)
    except ProjectError:
        return None
    return (kept.epoch, kept.perplexity, kept.sampling) if kept else None


def _one_pool(sequences: list[Ids], place: Place) -> Pools:
    """All sequences as the pool of an epoch; none once it is read."""
    if place == (0, 0):
        yield sequences, (1, 0)


# --- telling ---------------------------------------------------------------------------------


def _perplexity(loss: float) -> float:
    return math.exp(min(loss, 700.0))  # a float ends at exp(709)


def _by_direction(losses: Sequence[float]) -> dict[str, float]:
    return {name: _perplexity(x) for name, x in zip(DIRECTIONS, losses, strict=True)}


def _metrics(
    prefix: str,
    history: Sequence[Mapping[str, list[float]]],
    tags: Mapping[str, str] | None = None,
    first: int = 0,
) -> Iterator[Metric]:
    """The curves from epoch `first` on: perplexity on the development set, and in training."""
    for epoch in range(first, len(history)):
        for kind, name in (("dev", "perplexity"), ("train", "train_perplexity")):
            if kind in history[epoch]:
                for direction, value in _by_direction(history[epoch][kind]).items():
                    point = {**(tags or {}), "direction": direction}
                    yield Metric(STAGE, prefix + name, epoch, value, point)


def _sentence(figures: Mapping[str, Any]) -> str:
    dev, held_out = figures["dev_perplexity"], figures["held_out_perplexity"]
    return (
        f"Fold {figures['fold']}: best after epoch {figures['best_epoch']} of {figures['epochs']}; "
        f"perplexity forward {dev['forward']:.1f}, backward {dev['backward']:.1f}; on the fold it "
        f"never saw {held_out['forward']:.1f} and {held_out['backward']:.1f}."
    )


def _cut(parts: int) -> str:
    return (
        f"A batch does not fit the device's memory: going on in {parts} pieces a batch. The "
        "gradients are the same but for their last bits."
    )
