"""Ancestral sampling: endings drawn word by word from a fold's forward language model.

Per context, N- endings that differ from each other and from the found one, or as many as the
budget of draws gives. Two endings are the same when their letters are, NFKC and case folded, with
spaces left out. It knows contexts as token ids, not where they come from or where endings go.

METHOD section 2, row sampling; section 3, points 2 and 3 (inverse-CDF drawing).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from swag_studio.engine.corpus import PAD, Ids
from swag_studio.engine.reading import PIECE, Drawing, Reader, State, Walk
from swag_studio.recipe import GenerateRecipe
from swag_studio.records import folded

_BELOW_ONE = 1 - 2**-22  # times a float32 is strictly less than it
FIRST_SURPLUS = 16  # the first round draws 1/16 more than is wanted,
LATER_SURPLUS = 1.2  # later ones more than the rate of new endings asks for,
LEAST_DRAWS = 32  # and enough for a product to be worth while

# --- one token -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sampler:
    """Draws columns of a softmax by inverting its cumulative sum, found in two levels.

    `top_k` 0 and `top_p` 1.0 leave the distribution whole. The order is temperature, top-k, top-p.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __call__(self, logits: Tensor, p: Tensor, node: Tensor, u: Tensor) -> Tensor:
        """One column per draw: (r,) from the rows `node` (r,) of (m, K), by `u` (r,) in [0, 1).

        K is a multiple of PIECE; a column of weight 0 is never drawn.
        """
        w = self._weights(logits, p)
        pieces = w.view(len(w), -1, PIECE)  # (m, K / PIECE, PIECE)
        outer = pieces.sum(2).cumsum(1)[node]
        target = u * outer[:, -1]
        piece, before = _invert(outer, target)
        inner = pieces[node, piece].cumsum(1)
        place, _ = _invert(inner, target - before)
        return piece * PIECE + place

    def _weights(self, logits: Tensor, p: Tensor) -> Tensor:
        """The (m, K) weights to draw with, not normalised."""
        w = p
        if self.temperature != 1.0:
            w = torch.softmax(logits.float() / self.temperature, 1)
        if 0 < self.top_k < w.shape[1]:
            values, columns = torch.topk(w, self.top_k, dim=1)
            w = torch.zeros_like(w).scatter_(1, columns, values)
        if self.top_p < 1.0:
            values, columns = torch.sort(w, dim=1, descending=True, stable=True)
            above = values.cumsum(1) - values  # the weight of the likelier words
            values = values * (above < self.top_p * values.sum(1, keepdim=True))
            w = torch.zeros_like(w).scatter_(1, columns, values)
        return w


def _invert(cumulative: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The first place (r,) of (r, n) sums above `target` (r,), and the sum before that place.

    The target is held under the last sum, which rounding may have made smaller than what it was
    drawn for, so the place always has a positive weight.
    """
    target = torch.minimum(target, cumulative[:, -1] * _BELOW_ONE)
    place = (cumulative <= target[:, None]).sum(1).clamp_max_(cumulative.shape[1] - 1)
    before = cumulative.gather(1, (place - 1).clamp_min(0)[:, None]).squeeze(1)
    return place, torch.where(place > 0, before, 0)


# --- equality --------------------------------------------------------------------------------


def letters(text: str) -> str:
    """`text` as endings are compared: NFKC, case folded, without spaces."""
    return folded(text).replace(" ", "")


class LetterKeys:
    """64-bit keys of token sequences that are equal when their letters are.

    A polynomial hash modulo 2^64 can be joined: key(ab) = key(a) * base^len(b) + key(b), so a
    token needs only its own key and power, wherever the boundaries between tokens are.
    """

    _BASE = 0x9E3779B97F4A7C15  # odd, so that no power of it is 0

    def __init__(self, tokens: Sequence[str]) -> None:
        keys, powers = [], []
        for i, token in enumerate(tokens):
            key, power = 0, 1
            for letter in "" if i == PAD else letters(token):
                key = (key * self._BASE + ord(letter)) % 2**64
                power = power * self._BASE % 2**64
            keys.append(key)
            powers.append(power)
        self._keys, self._powers = np.array(keys, np.uint64), np.array(powers, np.uint64)

    def of(self, sequences: Ids) -> NDArray[np.uint64]:
        """(R,) keys of (R, T) token ids padded with PAD, which adds no letters."""
        key = np.zeros(len(sequences), np.uint64)
        for column in sequences.T:
            key = key * self._powers[column] + self._keys[column]
        return key


# --- endings ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Endings:
    """R endings of several contexts, with the forward direction's view of them."""

    context: NDArray[np.int64]  # (R,) place of the context in the batch, rising
    tokens: Ids  # (R, T) padded with PAD
    lengths: NDArray[np.int64]  # (R,)
    log_p: NDArray[np.float32]  # (R, T) log p(token | s, n, what stands before); 0 at padding

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, index: NDArray[np.int64]) -> Endings:
        """The endings at `index`, in that order."""
        return Endings(
            self.context[index], self.tokens[index], self.lengths[index], self.log_p[index]
        )

    @classmethod
    def none(cls, width: int) -> Endings:
        """No endings, of at most `width` tokens."""
        no = np.zeros(0, np.int64)
        return cls(no, np.zeros((0, width), np.uint16), no, np.zeros((0, width), np.float32))

    @classmethod
    def join(cls, parts: Sequence[Endings]) -> Endings:
        """All endings of `parts`, by context; those of one context in the order of the parts."""
        context = np.concatenate([p.context for p in parts])
        order = np.argsort(context, kind="stable")
        return cls(
            context,
            np.concatenate([p.tokens for p in parts]),
            np.concatenate([p.lengths for p in parts]),
            np.concatenate([p.log_p for p in parts]),
        ).take(order)


class Search:
    """One context's search for `wanted` endings that differ, within a budget of draws."""

    def __init__(self, found: int, wanted: int, budget: int) -> None:
        """`found` is the key of the found ending, which no candidate may equal."""
        self._wanted, self._budget, self._seen = wanted, budget, {found}
        self.drawn, self.repeated = 0, 0

    @property
    def ask(self) -> int:
        """How many draws to make next; 0 when there are enough, or the budget is spent."""
        missing = self._wanted + 1 - len(self._seen)
        if missing == 0:
            return 0
        if self.drawn == 0:
            draws = missing + missing // FIRST_SURPLUS
        else:
            rate = (self.drawn - self.repeated) / self.drawn
            draws = max(int(missing / max(rate, 0.01) * LATER_SURPLUS), LEAST_DRAWS)
        return min(draws, self._budget - self.drawn)

    def keep(self, keys: NDArray[np.uint64]) -> list[bool]:
        """Which of the drawn endings are new and still wanted, in the order they were drawn."""
        kept = []
        for key in keys.tolist():
            new = key not in self._seen
            kept.append(new and len(self._seen) <= self._wanted)
            if kept[-1]:
                self._seen.add(key)
            self.repeated += not new
        self.drawn += len(kept)
        return kept


@dataclass(frozen=True)
class Plan:
    """What to draw for each context of a batch, and how; the same for all batches of a fold."""

    recipe: GenerateRecipe
    keys: LetterKeys
    stops: NDArray[np.bool_]  # (V,) the tokens that end an ending

    @property
    def sampler(self) -> Sampler:
        return Sampler(self.recipe.temperature, self.recipe.top_k, self.recipe.top_p)

    def searches(self, found: NDArray[np.uint64]) -> list[Search]:
        """A search for each context with the key of its found ending."""
        wanted = self.recipe.candidates
        budget = int(wanted * self.recipe.draw_budget)
        return [Search(key, wanted, budget) for key in found.tolist()]


def read_contexts(
    reader: Reader, contexts: Ids
) -> Generator[None, None, tuple[NDArray[np.float32], State]]:
    """Reads (C, L) token ids of (s, n), padded with PAD, from the direction's first token on.

    Returns log p (C, L) of each token, 0 at padding, and the states after the last ones.
    """
    given = torch.from_numpy(contexts.astype(np.int64)).to(reader.device)
    node = torch.zeros(len(given), dtype=torch.long, device=reader.device)
    walk = Walk(reader, reader.start(), node, given, (given != PAD).sum(1), keep_ends=True)
    yield from walk.run()
    assert walk.ends is not None
    return walk.log_p.cpu().numpy(), walk.ends


def read_endings(
    reader: Reader, states: State, context: NDArray[np.int64], tokens: Ids
) -> Generator[None, None, Endings]:
    """Given endings as the forward direction reads them after their contexts' states.

    `context` (R,) rises; `tokens` (R, T) holds at least one token a row, padded with PAD.
    """
    return (yield from _walk(reader, states, context, tokens))


def sample(
    reader: Reader, states: State, found: Ids, plan: Plan, seeds: Callable[[int, int], int]
) -> Generator[None, None, tuple[Endings, list[Search]]]:
    """The found ending of each context, then its candidates in the order they were drawn.

    `states` (layers, C, D) after (s, n); `found` (C, T) endings, read in the same products as the
    candidates; `seeds(context, round)` starts the draws of a context.
    """
    searches = plan.searches(plan.keys.of(found))
    places = np.arange(len(found))
    given, parts = found, [Endings.none(found.shape[1])]
    for number in itertools.count():
        asks = [one.ask for one in searches]
        if not any(asks):
            break
        uniforms = [
            np.random.default_rng(seeds(c, number)).random((n, found.shape[1]), np.float32)
            for c, n in enumerate(asks)
        ]
        context = np.concatenate([places[: len(given)], np.repeat(places, asks)])
        drawing = _drawing(reader, plan, len(given), np.concatenate(uniforms))
        tokens = np.zeros((len(context), found.shape[1]), np.uint16)
        tokens[: len(given)] = given
        endings = yield from _walk(reader, states, context, tokens, drawing)
        keys = plan.keys.of(endings.tokens)[len(given) :]
        kept = [True] * len(given)
        for search, part in zip(searches, np.split(keys, np.cumsum(asks)[:-1]), strict=True):
            kept += search.keep(part)
        parts.append(endings.take(np.flatnonzero(kept)))
        given = found[:0]
    return Endings.join(parts), searches


def _drawing(reader: Reader, plan: Plan, given: int, uniforms: NDArray[np.float32]) -> Drawing:
    """The first `given` rows are given, the others draw by the rows of `uniforms`."""
    device, (rows, width) = reader.device, uniforms.shape
    free = torch.arange(given + rows, device=device) >= given
    padded = np.concatenate([np.zeros((given, width), np.float32), uniforms])
    stops = torch.from_numpy(plan.stops).to(device)
    return Drawing(free, torch.from_numpy(padded).to(device), stops, plan.sampler)


def _walk(
    reader: Reader,
    states: State,
    context: NDArray[np.int64],
    tokens: Ids,
    drawing: Drawing | None = None,
) -> Generator[None, None, Endings]:
    """Rows that go on from their contexts' states, given or drawn."""
    given = torch.from_numpy(tokens.astype(np.int64)).to(reader.device)
    limits = (given != PAD).sum(1)
    if drawing is not None:
        limits = torch.where(drawing.free, tokens.shape[1], limits)
    start = torch.from_numpy(context).to(reader.device)
    walk = Walk(reader, states, start, given, limits, drawing=drawing)
    yield from walk.run()
    return Endings(
        context,
        walk.tokens.cpu().numpy().astype(np.uint16),
        walk.lengths.cpu().numpy(),
        walk.log_p.cpu().numpy(),
    )
