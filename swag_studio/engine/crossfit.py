"""The cross-fitted ensemble: every ending scored by a model that never saw its context.

It gives the endings' final scores, and the adversary's strength. It knows arrays and a folder for
its models, not the pool or the filter loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from swag_studio.engine.ensemble import (
    JOINT,
    Ensemble,
    EnsembleSpec,
    FitStep,
    dev_contexts,
    log_loss,
)
from swag_studio.engine.items import Items, accuracy
from swag_studio.engine.members.network import Parts
from swag_studio.engine.runtime import seed_for
from swag_studio.errors import ProjectError, StageError
from swag_studio.files import write_bytes


@dataclass(frozen=True, slots=True)
class Strength:
    """I(D, f), the adversary's strength: its mean loss on contexts that it never saw (METHOD 2).

    `log_loss` is that of the softmax over a context's k+1 endings, `error_rate` 1 - accuracy; at
    chance they are log(k+1) and k/(k+1). The lower, the stronger the adversary.
    """

    log_loss: float
    error_rate: float
    folds: int


class CrossFit:
    """K ensembles, each fitted without one fold of contexts, which it then scores.

    With a folder, each fold's model and scores are kept in it (fold-0.json, fold-0.safetensors,
    fold-0.scores.safetensors), and a fold whose scores are there is not fitted again.
    """

    def __init__(
        self,
        spec: EnsembleSpec,
        folds: int,
        seed: int,
        device: torch.device | str,
        folder: Path | None = None,
        parts: Parts | None = None,
    ) -> None:
        self.spec, self.folds, self.seed, self.device = spec, folds, seed, device
        self.folder, self.parts = folder, parts
        self.scores: dict[str, NDArray[np.float32]] = {}  # head -> (E,), complete after `fit`
        self._endings_per_context = 0

    def fit(self, items: Items, endings_per_context: int) -> Iterator[FitStep]:
        """Fits and scores fold by fold; `done` and `total` of the steps count all folds' batches.

        `items` are contexts * endings_per_context rows, the found ending first in each context.
        """
        contexts = len(items) // endings_per_context
        if contexts < 2 * self.folds:
            raise StageError(
                f"{contexts} contexts are too few for {self.folds} folds. "
                "Import more captions or lower filter.crossfit_folds and filter.strength_folds."
            )
        self._endings_per_context = endings_per_context
        fold_of = self.fold_of(contexts)
        for fold in range(self.folds):
            held_out = np.flatnonzero(np.repeat(fold_of == fold, endings_per_context))
            kept = self._kept(fold, len(held_out))
            if kept is None:
                train = np.flatnonzero(np.repeat(fold_of != fold, endings_per_context))
                ensemble = self._ensemble(fold)
                for step in self._fit_one(ensemble, fold, items.take(train), endings_per_context):
                    yield self._overall(step, fold)
                kept = ensemble.score(items.take(held_out))
                self._keep(fold, ensemble, kept)
            for head, scores in kept.items():
                every = self.scores.setdefault(head, np.zeros(len(items), np.float32))
                every[held_out] = scores

    def fold_of(self, contexts: int) -> NDArray[np.int64]:
        """(contexts,) the fold that holds each context out; sizes differ by at most 1."""
        order = np.random.default_rng(seed_for(self.seed, "folds")).permutation(contexts)
        return order % self.folds

    def strength(self, head: str = JOINT) -> Strength:
        """The strength of one head over all contexts."""
        table = self.scores[head].reshape(-1, self._endings_per_context)
        return Strength(log_loss(table), 1.0 - accuracy(table), self.folds)

    def _ensemble(self, fold: int) -> Ensemble:
        return Ensemble(self.spec, seed_for(self.seed, "fold", fold), self.device, self.parts)

    def _fit_one(
        self, ensemble: Ensemble, fold: int, items: Items, endings_per_context: int
    ) -> Iterator[FitStep]:
        rng = np.random.default_rng(seed_for(self.seed, "dev", fold))
        contexts = len(items) // endings_per_context
        dev = dev_contexts(contexts, self.spec.recipe.dev_share, rng)
        return ensemble.fit(items, endings_per_context, dev)

    def _overall(self, step: FitStep, fold: int) -> FitStep:
        done, total = fold * step.total + step.done, self.folds * step.total
        return FitStep(step.epoch, done, total, step.train_loss, step.dev_loss)

    def _scores_path(self, fold: int) -> Path:
        assert self.folder is not None
        return self.folder / f"fold-{fold}.scores.safetensors"

    def _keep(self, fold: int, ensemble: Ensemble, scores: dict[str, NDArray[np.float32]]) -> None:
        if self.folder is not None:
            ensemble.save(self.folder, f"fold-{fold}")
            write_bytes(self._scores_path(fold), save_arrays(scores))  # last: it marks the fold

    def _kept(self, fold: int, count: int) -> dict[str, NDArray[np.float32]] | None:
        if self.folder is None or not self._scores_path(fold).exists():
            return None
        path = self._scores_path(fold)
        try:
            scores: dict[str, NDArray[np.float32]] = load_arrays(path.read_bytes())
            if {len(s) for s in scores.values()} != {count} or JOINT not in scores:
                raise ValueError("not the scores of this fold")
        except Exception as error:  # safetensors raises its own, undocumented types
            raise ProjectError(
                f"{path} is damaged ({type(error).__name__}). Remove it and run the filter again: "
                "it is made anew with the same contents."
            ) from error
        return scores
