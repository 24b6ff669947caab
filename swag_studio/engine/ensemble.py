"""The ensemble that tells found endings from distractors: members, heads, training, scores.

It sees `Items` (arrays) and knows nothing of the pool, the filter loop or the project.

Each member has its own head and loss, and so its own curve; a joint head reads all
representations. Loss = the members' losses + the joint one's (METHOD 2, "ensemble"). A loss is
binary cross-entropy over single endings, as batches are counted in endings; the classes are
weighted to the same total, so that one found ending among k distractors is not learned as
"never found": whatever k is, a scorer that knows nothing has loss log 2.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from swag_studio.engine.items import Items, accuracy
from swag_studio.engine.members.base import EnsembleSpec, Member
from swag_studio.engine.members.batches import Data
from swag_studio.engine.members.network import Network, Parts
from swag_studio.engine.registry import MEMBERS
from swag_studio.errors import ProjectError, StageError
from swag_studio.files import read_json, write_bytes, write_json
from swag_studio.recipe import FilterRecipe

__all__ = [
    "JOINT",
    "Ensemble",
    "EnsembleSpec",
    "FitStep",
    "dev_contexts",
    "member_accuracies",
    "needs_features",
    "needs_tags",
]

JOINT = "ensemble"  # the joint head's name among the scores
SCORE_BATCH = 512  # fixed: a row's bits depend on how many rows share its matrix product
YIELD_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class FitStep:
    """Where a fit stands: `done` of at most `total` batches. Losses are the joint head's.

    `train_loss` is the mean over the epoch so far, with dropout; `dev_loss` is there at an
    epoch's end only.
    """

    epoch: int
    done: int
    total: int
    train_loss: float
    dev_loss: float | None = None


@dataclass
class _Place:
    """How far a fit has come, and whether it is time to say so."""

    total: int
    epoch: int = 0
    done: int = 0
    train_loss: float = math.nan
    said: float = field(default_factory=time.monotonic)

    def due(self) -> bool:
        return time.monotonic() - self.said >= YIELD_SECONDS

    def step(self, dev_loss: float | None = None) -> FitStep:
        self.said = time.monotonic()
        return FitStep(self.epoch, self.done, self.total, self.train_loss, dev_loss)


def needs_tags(members: Sequence[str]) -> bool:
    """Whether any of these members reads POS tags."""
    return any(MEMBERS[name].needs_tags for name in members)


def needs_features(members: Sequence[str]) -> bool:
    """Whether any of these members reads the language models' features."""
    return any(MEMBERS[name].needs_features for name in members)


def dev_contexts(contexts: int, share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The sorted places of the contexts kept aside to stop early: at least 1, never all."""
    count = min(max(1, round(contexts * share)), contexts - 1)
    if count < 1:
        raise StageError(
            "the filter needs at least two contexts to train on. Import more captions."
        )
    return np.sort(rng.choice(contexts, count, replace=False)).astype(np.int64)


class _OwnRandomness:
    """torch's global generators, which dropout draws from, swapped for ours while inside `use`.

    A fit is suspended between batches, so it may hold no global state across a yield.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self._seed, self._device = seed, device
        self._states: tuple[Tensor, Tensor | None] | None = None

    @contextmanager
    def use(self) -> Iterator[None]:
        outer = self._get()
        if self._states is None:
            torch.manual_seed(self._seed)
        else:
            self._set(self._states)
        try:
            yield
        finally:
            self._states = self._get()
            self._set(outer)

    def _get(self) -> tuple[Tensor, Tensor | None]:
        kind = self._device.type
        accelerator = None if kind == "cpu" else torch.get_device_module(kind).get_rng_state()
        return torch.get_rng_state(), accelerator

    def _set(self, states: tuple[Tensor, Tensor | None]) -> None:
        torch.set_rng_state(states[0])
        if states[1] is not None:
            torch.get_device_module(self._device.type).set_rng_state(states[1])


# --- ensemble --------------------------------------------------------------------------------


class Ensemble:
    """One set of classifiers, trained once by `fit` and then asked by `score`.

    The same spec, seed, items, device and thread count give the same bytes. `parts` maps the
    members' names to their classes.
    """

    def __init__(
        self, spec: EnsembleSpec, seed: int, device: torch.device | str, parts: Parts | None = None
    ) -> None:
        self.spec, self.seed, self.device = spec, seed, torch.device(device)
        self._random = _OwnRandomness(seed, self.device)
        with self._random.use():  # made on the CPU, so that all devices start from the same weights
            self.network = Network(spec, MEMBERS if parts is None else parts)
        self.network.to(self.device)
        members = [m for m in self.network.members.values() if isinstance(m, Member)]
        self._tags = any(m.needs_tags for m in members)
        self._features = any(m.needs_features for m in members)

    @property
    def heads(self) -> tuple[str, ...]:
        """The members, then the joint head where there is one: the rows of the network's logits."""
        return self.spec.members + ((JOINT,) if len(self.spec.members) > 1 else ())

    # --- training ------------------------------------------------------------------------

    def fit(
        self, items: Items, endings_per_context: int, dev_contexts: NDArray[np.int64]
    ) -> Iterator[FitStep]:
        """Trains, pausing between batches; afterwards the weights are those of the best epoch.

        `items` are contexts * endings_per_context rows, the found ending first in each context;
        `dev_contexts` are the places of the contexts kept aside: their loss under the last head
        ends the training and chooses the epoch. Raises StageError when no epoch had a finite
        loss.
        """
        recipe, rows = self.spec.recipe, np.arange(len(items))
        is_dev = np.isin(rows // endings_per_context, dev_contexts)
        if is_dev.all() or not is_dev.any():
            raise ValueError("both training and development contexts are needed")
        data = self._data(items)
        if self._features:
            self.network.standardise(items.features[~is_dev])
        size, decay = recipe.batch, recipe.weight_decay
        if self.spec.members == ("mlp",):
            size, decay = recipe.mlp_batch, recipe.mlp_weight_decay
        optimiser = torch.optim.Adam(
            self.network.parameters(), lr=recipe.learning_rate, weight_decay=decay, fused=True
        )
        order = np.random.default_rng(self.seed)
        at = _Place(total=recipe.epochs * -(-int((~is_dev).sum()) // size))
        best, best_weights, waited = math.inf, None, 0
        for at.epoch in range(recipe.epochs):
            parts = _parts(order.permutation(rows[~is_dev]), size)
            yield from self._epoch(at, data, parts, endings_per_context, optimiser)
            dev_loss = yield from self._loss(at, data, rows[is_dev], endings_per_context)
            if dev_loss < best:  # never so for NaN
                best, waited = dev_loss, 0
                best_weights = {k: t.clone() for k, t in self.network.state_dict().items()}
            else:
                waited += 1
            yield at.step(dev_loss)
            if waited >= recipe.patience:
                break
        if best_weights is None:
            raise StageError(
                "the training of the ensemble diverged. Lower filter.learning_rate and run again."
            )
        self.network.load_state_dict(best_weights)

    def _epoch(
        self,
        at: _Place,
        data: Data,
        parts: list[NDArray[np.int64]],
        endings_per_context: int,
        optimiser: torch.optim.Optimizer,
    ) -> Iterator[FitStep]:
        """One pass over the batches `parts`."""
        self.network.train()
        total = torch.zeros((), device=self.device)
        for number, rows in enumerate(parts, 1):
            with self._random.use():
                losses = self._losses(data, rows, endings_per_context)
                optimiser.zero_grad(set_to_none=True)
                losses.mean(dim=1).sum().backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            total += losses[-1].detach().mean()
            at.done += 1
            if at.due():
                at.train_loss = total.item() / number
                yield at.step()
        at.train_loss = total.item() / len(parts)

    def _loss(
        self, at: _Place, data: Data, rows: NDArray[np.int64], endings_per_context: int
    ) -> Generator[FitStep, None, float]:
        """The last head's mean loss over `rows`, without dropout."""
        self.network.eval()
        total = 0.0
        for part in _parts(rows, SCORE_BATCH):
            with torch.no_grad():
                total += self._losses(data, part, endings_per_context)[-1].sum().item()
            if at.due():
                yield at.step()
        return total / len(rows)

    def _losses(self, data: Data, rows: NDArray[np.int64], endings_per_context: int) -> Tensor:
        """(heads, B) weighted binary cross-entropy."""
        logits = self.network(data.batch(rows))
        found = torch.from_numpy(rows % endings_per_context == 0).to(self.device)
        half = endings_per_context / 2
        weight = torch.where(found, half, half / (endings_per_context - 1))
        return nn.functional.binary_cross_entropy_with_logits(
            logits, found.to(logits.dtype).expand_as(logits), weight, reduction="none"
        )

    def _data(self, items: Items) -> Data:
        return Data(items, self._tags, self._features, self.device)

    # --- scores --------------------------------------------------------------------------

    def score(self, items: Items) -> dict[str, NDArray[np.float32]]:
        """Head -> (E,) logits, "ensemble" always among them; higher is more like found.

        The order of the rows does not matter but for rounding. Raises ValueError when a score
        is not finite.
        """
        self.network.eval()
        result = np.empty((len(self.heads), len(items)), np.float32)
        lengths = items.n_lengths.astype(np.int64) + items.v_lengths
        by_length = np.argsort(lengths, kind="stable")  # so that a batch has little padding
        for start in range(0, len(items), SCORE_BATCH):
            rows = by_length[start : start + SCORE_BATCH]
            with torch.no_grad():
                data = self._data(items.take(rows))
                result[:, rows] = self.network(data.batch(np.arange(len(rows)))).cpu().numpy()
        for name, row in zip(self.heads, result, strict=True):
            if not np.isfinite(row).all():
                raise ValueError(f"the head {name} gave a score that is not finite")
        scores = dict(zip(self.heads, result, strict=True))
        return scores | {JOINT: result[-1]}

    # --- files ---------------------------------------------------------------------------

    def save(self, folder: Path, name: str) -> None:
        """Writes NAME.safetensors, then NAME.json."""
        spec, given = self.spec, self.spec.embeddings
        weights = {k: t.cpu().contiguous() for k, t in self.network.state_dict().items()}
        write_bytes(folder / f"{name}.safetensors", save_tensors(weights))
        write_json(
            folder / f"{name}.json",
            {
                "members": spec.members,
                "recipe": dataclasses.asdict(spec.recipe),
                "vocabulary": spec.vocabulary,
                "n_tags": spec.n_tags,
                "pos_words": spec.pos_words.tolist(),
                "feature_count": spec.feature_count,
                "embedding_width": None if given is None else given.shape[1],
            },
        )

    @classmethod
    def load(cls, folder: Path, name: str, device: torch.device | str) -> Ensemble:
        """What `save` wrote, ready to score. Raises ProjectError when it is not whole."""
        try:
            d = read_json(folder / f"{name}.json")
            width, vocabulary = d["embedding_width"], d["vocabulary"]
            recipe: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in d["recipe"].items()
            }
            spec = EnsembleSpec(
                members=tuple(d["members"]),
                recipe=FilterRecipe(**recipe),
                vocabulary=vocabulary,
                n_tags=d["n_tags"],
                pos_words=np.array(d["pos_words"], np.uint16),
                feature_count=d["feature_count"],
                embeddings=None if width is None else np.zeros((vocabulary, width), np.float32),
            )
            ensemble = cls(spec, 0, device)
            weights = load_tensors((folder / f"{name}.safetensors").read_bytes())
            ensemble.network.load_state_dict(weights)
        except Exception as error:  # safetensors and torch raise many types
            raise ProjectError(
                f"{folder / name}.safetensors is missing or damaged ({type(error).__name__}). "
                "Run the filter again."
            ) from error
        return ensemble


def _parts(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """`rows` in order, in parts of nearly equal size of at most `size`.

    A short last batch would make an Adam step of full length from a few endings.
    """
    return np.array_split(rows, -(-len(rows) // size))


# --- measures --------------------------------------------------------------------------------


def member_accuracies(
    scores: Mapping[str, NDArray[np.float32]], endings_per_context: int, rng: np.random.Generator
) -> dict[str, dict[str, float]]:
    """Head -> accuracy (k+1-way), accuracy_4way, accuracy_2way, loss.

    4-way is the found ending against 3 of the k, drawn once for all heads; 2-way is its expected
    accuracy against one of the k; loss is the mean log loss of the softmax over all k+1. Chance
    is 1/(k+1), 1/4, 1/2 and log(k+1). Raises ValueError on a score that is not finite.
    """
    first = next(iter(scores.values()))
    contexts, k = len(first) // endings_per_context, endings_per_context - 1
    drawn = 1 + np.argsort(rng.random((contexts, k)), axis=1)[:, :3]  # (contexts, 3)
    columns = np.concatenate([np.zeros((contexts, 1), np.int64), drawn], axis=1)
    result = {}
    for name, flat in scores.items():
        table = flat.reshape(contexts, endings_per_context)
        pairs = np.stack([np.repeat(table[:, 0], k), table[:, 1:].ravel()], axis=1)
        result[name] = {
            "accuracy": accuracy(table),
            "accuracy_4way": accuracy(np.take_along_axis(table, columns, axis=1)),
            "accuracy_2way": accuracy(pairs),
            "loss": log_loss(table),
        }
    return result


def log_loss(scores: NDArray[np.floating]) -> float:
    """Mean -log p(found) under the softmax over each context's endings; `scores` (C, k+1)."""
    if not np.isfinite(scores).all():
        raise ValueError("a score is not finite")
    table = scores.astype(np.float64)
    table -= table.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(table).sum(axis=1)) - table[:, 0]))
