"""A language model in training: its weights, its optimizer, where it stands, and its checkpoints.

It knows sequences of token ids, not where they come from, nor folds, stages or events. What it
does is a function of its seed and its place in the work: dropout and order are drawn anew for
each step and pool, so no state of a random generator is kept, and a run that goes on from a
checkpoint gives the same bytes as an unbroken one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from swag_studio.engine import training
from swag_studio.engine.checkpoint import load_state, save_state
from swag_studio.engine.corpus import Ids
from swag_studio.engine.lm import LanguageModel
from swag_studio.engine.runtime import generator, in_parts, seed_for
from swag_studio.errors import StageError
from swag_studio.recipe import LmRecipe

EVALUATED_AT_ONCE = 64  # sequences

Place = tuple[int, int]
Pools = Iterator[tuple[list[Ids], Place]]  # sequences, and the place of the next ones


@dataclass
class Standing:
    """Where training stands; JSON-ready. Sums are over the epoch so far."""

    learning_rate: float
    epoch: int = 0
    place: Place = (0, 0)  # of the pool that is being read
    step: int = 0  # steps done in that pool
    steps: int = 0  # steps done in all
    read: int = 0  # tokens read
    predicted: int = 0  # predictions of each direction: tokens and ends of sequences
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0])  # -log p by direction
    parts: int = 1  # pieces that a batch is cut into so that it fits the device's memory
    stale: int = 0  # epochs without progress
    best_epoch: int = -1
    best: list[float] = field(default_factory=list)  # its development losses by direction
    history: list[dict[str, list[float]]] = field(default_factory=list)  # losses of each epoch

    def end_epoch(self, dev: list[float], decay: float) -> bool:
        """Takes the epoch's losses into account; True when it is the best so far.

        Progress is a lower development loss, both directions together. Without progress the step
        of the optimizer shrinks. Where there is no development set, `dev` is empty.
        """
        train = [s / self.predicted for s in self.sums]
        self.history.append({"train": train, "dev": dev} if dev else {"train": train})
        better = not dev or not self.best or sum(dev) < sum(self.best)
        if better:
            self.best, self.best_epoch, self.stale = dev, self.epoch, 0
        else:
            self.stale += 1
            self.learning_rate *= decay
        self.epoch, self.place, self.step = self.epoch + 1, (0, 0), 0
        self.read, self.predicted, self.sums = 0, 0, [0.0, 0.0]
        return better


class Learner:
    """A model with its optimizer. `seed` is that of the fold's training."""

    def __init__(
        self, model: LanguageModel, recipe: LmRecipe, device: torch.device, seed: int, path: Path
    ) -> None:
        self.model = model.to(device)
        self.best = self._weights()
        self.standing = Standing(recipe.learning_rate)
        self._recipe, self._device, self._seed, self._path = recipe, device, seed, path
        self._optimizer = torch.optim.Adam(
            model.parameters(),
            lr=recipe.learning_rate,
            weight_decay=recipe.weight_decay,
            fused=True,
        )

    def _weights(self) -> dict[str, Tensor]:
        return {name: p.detach().cpu().clone() for name, p in self.model.named_parameters()}

    # --- learning ------------------------------------------------------------------------

    def epoch(self, pools: Pools) -> Generator[None, None, None]:
        """Reads the pools from where it stands, a pause after each step, and checkpoints.

        `pools` begins at `standing.place` and gives with each pool the place of the next.
        Raises StageError when the loss is no longer a number.
        """
        at = self.standing
        for sequences, next_place in pools:
            lengths = np.array([len(s) for s in sequences], np.int64)
            order = training.batches(
                lengths,
                self._recipe.batch,
                np.random.default_rng(seed_for(self._seed, "order", at.epoch, *at.place)),
            )
            while at.step < len(order):
                self._step([sequences[i] for i in order[at.step]])
                at.step += 1
                if at.steps % self._recipe.checkpoint_steps == 0:
                    self.save()
                yield
            at.place, at.step = next_place, 0

    def _step(self, sequences: list[Ids]) -> None:
        at, recipe, config = self.standing, self._recipe, self.model.config
        ordered = sorted(sequences, key=len, reverse=True)  # as `pack` does, to cut masks alike
        read = sum(map(len, ordered))
        predicted = read + len(ordered)
        keep = training.dropout_masks(
            config,
            len(ordered),
            recipe.dropout_embedding,
            recipe.dropout_recurrent,
            generator(seed_for(self._seed, "dropout", at.steps)),
        )

        def learn(rows: Sequence[int]) -> Tensor:
            batch = training.pack([ordered[i] for i in rows]).to(self._device)
            masks = [mask[:, rows[0] : rows[-1] + 1].to(self._device) for mask in keep]
            total, sums = training.loss(self.model, batch, masks)
            (total / (2 * predicted)).backward()  # type: ignore[no-untyped-call]
            return sums

        results, at.parts = in_parts(
            range(len(ordered)), at.parts, learn, self._optimizer.zero_grad
        )
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
        self._optimizer.param_groups[0]["lr"] = at.learning_rate
        self._optimizer.step()
        sums = [math.fsum(float(r[k]) for r in results) for k in range(2)]
        if not math.isfinite(sum(sums)):
            raise StageError(
                f"The language model's loss is no longer a number (epoch {at.epoch + 1}). Lower "
                "lm.learning_rate or lm.clip."
            )
        at.sums = [a + b for a, b in zip(at.sums, sums, strict=True)]
        at.steps, at.read, at.predicted = at.steps + 1, at.read + read, at.predicted + predicted

    def end_epoch(self, dev: list[float]) -> None:
        """Ends the epoch with its development losses, keeps the best weights, checkpoints."""
        if self.standing.end_epoch(dev, self._recipe.decay):
            self.best = self._weights()
        self.save()

    def take_best(self) -> None:
        """Goes back to the weights of the best epoch."""
        self.model.load_state_dict(self.best)

    def best_model(self) -> LanguageModel:
        """A copy of the model with the weights of the best epoch so far, to be read only."""
        model = LanguageModel(self.model.config)
        model.load_state_dict(self.best)
        return model.requires_grad_(False).eval().to(self._device)

    # --- evaluation ----------------------------------------------------------------------

    def losses(self, sequences: Sequence[Ids]) -> Generator[None, None, list[float]]:
        """The mean -log p per prediction by direction; a pause after each batch.

        Predictions are the tokens and the end of each sequence. NaN where there are none.
        """
        ordered = sorted(sequences, key=len, reverse=True)
        sums, predicted = np.zeros(2), sum(map(len, ordered)) + len(ordered)
        for start in range(0, len(ordered), EVALUATED_AT_ONCE):
            part = ordered[start : start + EVALUATED_AT_ONCE]
            results, self.standing.parts = in_parts(
                part, self.standing.parts, self._evaluate, lambda: None
            )
            sums += torch.stack(results).sum(0).numpy()
            yield
        return [float(s) / predicted if predicted else math.nan for s in sums]

    def _evaluate(self, sequences: Sequence[Ids]) -> Tensor:
        return training.evaluate(self.model, training.pack(sequences).to(self._device))

    # --- checkpoints ---------------------------------------------------------------------

    def save(self) -> None:
        """Writes everything that going on needs, as one file."""
        tensors = {f"best.{name}": tensor for name, tensor in self.best.items()}
        for name, parameter in self.model.named_parameters():
            tensors[f"model.{name}"] = parameter
            for key, value in self._optimizer.state[parameter].items():
                tensors[f"adam.{key}.{name}"] = value
        save_state(self._path, tensors, dataclasses.asdict(self.standing))

    def resume(self) -> bool:
        """Goes on from the checkpoint, where there is one."""
        if not self._path.exists():
            return False
        tensors, state = load_state(self._path)
        self.standing = Standing(**{**state, "place": tuple(state["place"])})
        self.best = {name: tensors[f"best.{name}"] for name in self.best}
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(tensors[f"model.{name}"])
        for name, parameter in self.model.named_parameters():
            self._optimizer.state[parameter] = {
                key: tensors[f"adam.{key}.{name}"].to(self._device)
                for key in ("step", "exp_avg", "exp_avg_sq")
            }
        return True
