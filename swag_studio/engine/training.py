"""The language model's loss and gradients, fast: the same function as in `lm.py`, other arithmetic.

It knows packed batches of token ids, not corpora, folds, files or events.

Both directions run side by side as a stack of 2: they have the same lengths, so one batched GEMM
a step serves both. Sequences are packed time-major (step t holds the n_t sequences that are still
running, longest first), so padding costs nothing. The input product of all steps is one GEMM, as
is each weight gradient; only the recurrent product is made step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from swag_studio.engine.corpus import BOS, EOS, Ids
from swag_studio.engine.lm import LanguageModel, LmConfig, LstmLayer

# Logits that exist at a time: 16 MB of float32 on a CPU, whose caches are small.
CHUNK_ELEMENTS = {"cpu": 1 << 22}
CHUNK_ELEMENTS_DEFAULT = 1 << 26


@dataclass(frozen=True)
class Batch:
    """B sequences, longest first, packed time-major; N = sum of lengths + 1 predictions each.

    Row r of the packed arrays belongs to sequence `sequence[r]`. The N - n_0 rows after the first
    step continue the rows `previous`. Stack index 0 is the forward, 1 the backward direction.
    """

    sizes: tuple[int, ...]  # sequences that run at each step: n_0 = B >= n_1 >= ...
    inputs: Tensor  # (2, N) int64
    targets: Tensor  # (2, N) int64
    sequence: Tensor  # (N,) int64
    previous: Tensor  # (N - n_0,) int64

    @property
    def tokens(self) -> int:
        """Predictions of one direction."""
        return self.inputs.shape[1]

    def to(self, device: torch.device | str) -> Batch:
        """The same batch with its tensors on `device`."""
        tensors = (self.inputs, self.targets, self.sequence, self.previous)
        return Batch(self.sizes, *(t.to(device) for t in tensors))


def pack(sequences: Sequence[Ids]) -> Batch:
    """Token ids without BOS and EOS -> a batch. The order of equal lengths is kept."""
    lengths = np.array([len(s) for s in sequences], np.int64)
    order = np.argsort(-lengths, kind="stable")
    lengths = lengths[order]
    steps = int(lengths[0]) + 1
    read = np.zeros((2, len(order), steps + 1), np.int64)
    read[0, :, 0], read[1, :, 0] = BOS, EOS
    for row, index in enumerate(order):
        ids, n = sequences[index], int(lengths[row])
        read[0, row, 1 : n + 2] = [*ids, EOS]
        read[1, row, 1 : n + 2] = [*ids[::-1], BOS]
    runs = np.arange(steps)[:, None] <= lengths[None, :]  # (steps, B)
    sizes = runs.sum(axis=1)
    inputs = read[:, :, :-1].transpose(0, 2, 1)[:, runs]
    targets = read[:, :, 1:].transpose(0, 2, 1)[:, runs]
    sequence = np.nonzero(runs)[1]
    previous = np.arange(len(sequence))[sizes[0] :] - sizes[:-1].repeat(sizes[1:])
    arrays = (inputs, targets, sequence, previous)
    return Batch(tuple(int(n) for n in sizes), *(torch.from_numpy(a.copy()) for a in arrays))


class PackedLstm(torch.autograd.Function):
    """One LSTM layer over a packed batch, both directions.

    x (2, N, D), w_ih and w_hh (2, 4D, D), bias (2, 4D), keep (2, B, D) or None -> h (2, N, D).
    `keep` is the variational mask: each h is multiplied by its sequence's, and the product goes
    both up and on to the next step (Gal and Ghahramani 2016; AllenNLP's recurrent dropout).

    Inside, gates stand as output, input, forget, candidate, so that the three sigmoids are
    neighbours in the forward pass and the three that the cell's gradient meets in the backward.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        bias: Tensor,
        keep: Tensor | None,
        batch: Batch,
    ) -> Tensor:
        d, sizes = x.shape[2], list(batch.sizes)
        w_ih, w_hh, bias = (w.roll(d, 1) for w in (w_ih, w_hh, bias))
        recurrent = w_hh.transpose(1, 2).contiguous()
        gates = torch.baddbmm(bias.unsqueeze(1), x, w_ih.transpose(1, 2))  # (2, N, 4D)
        c, tanh_c, h = (torch.empty_like(x) for _ in range(3))
        o, i, f, g = (torch.split(part, sizes, 1) for part in gates.chunk(4, 2))
        sigmoids, pre = torch.split(gates[:, :, : 3 * d], sizes, 1), torch.split(gates, sizes, 1)
        cs, tanh_cs, hs = (torch.split(part, sizes, 1) for part in (c, tanh_c, h))
        for t, n in enumerate(sizes):
            if t:
                pre[t].baddbmm_(hs[t - 1][:, :n], recurrent)
            sigmoids[t].sigmoid_()
            g[t].tanh_()
            torch.mul(i[t], g[t], out=cs[t])
            if t:
                cs[t].addcmul_(f[t], cs[t - 1][:, :n])
            torch.tanh(cs[t], out=tanh_cs[t])
            torch.mul(o[t], tanh_cs[t], out=hs[t])
            if keep is not None:
                hs[t].mul_(keep[:, :n])
        ctx.batch = batch
        ctx.save_for_backward(x, w_ih, w_hh, keep, gates, c, tanh_c, h)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, w_ih, w_hh, keep, gates, c, tanh_c, h = ctx.saved_tensors
        batch: Batch = ctx.batch
        d, sizes, first = x.shape[2], list(batch.sizes), batch.sizes[0]
        d_gates, through_c = _local_gradients(gates, c, tanh_c, keep, batch)
        d_h, d_c = grad.clone(memory_format=torch.contiguous_format), torch.zeros_like(c)
        f = torch.split(gates[:, :, 2 * d : 3 * d], sizes, 1)
        d_hs, d_cs, through = (torch.split(part, sizes, 1) for part in (d_h, d_c, through_c))
        whole, d_o = torch.split(d_gates, sizes, 1), torch.split(d_gates[:, :, :d], sizes, 1)
        d_ifg = torch.split(d_gates.view(2, -1, 4, d)[:, :, 1:], sizes, 1)
        for t in reversed(range(len(sizes))):
            d_cs[t].addcmul_(d_hs[t], through[t])
            d_o[t].mul_(d_hs[t])
            d_ifg[t].mul_(d_cs[t].unsqueeze(2))
            if t:
                n = sizes[t]
                torch.mul(d_cs[t], f[t], out=d_cs[t - 1][:, :n])
                d_hs[t - 1][:, :n].baddbmm_(whole[t], w_hh)
        d_x = torch.bmm(d_gates, w_ih)
        transposed = d_gates.transpose(1, 2)
        d_w_ih = torch.bmm(transposed, x).roll(-d, 1)
        continued = h.index_select(1, batch.previous)
        d_w_hh = torch.bmm(transposed[:, :, first:], continued).roll(-d, 1)
        return d_x, d_w_ih, d_w_hh, d_gates.sum(1).roll(-d, 1), None, None


def _local_gradients(
    gates: Tensor, c: Tensor, tanh_c: Tensor, keep: Tensor | None, batch: Batch
) -> tuple[Tensor, Tensor]:
    """What multiplies dh (gate o) and dc (gates i, f, g), and what carries dh into dc.

    All steps at once: (2, N, 4D) and (2, N, D).
    """
    d, first = c.shape[2], batch.sizes[0]
    local = torch.empty_like(gates)
    s = gates[:, :, : 3 * d]
    torch.addcmul(s, s, s, value=-1, out=local[:, :, : 3 * d])  # s (1 - s)
    o, i, _, g = gates.chunk(4, 2)
    local_o, local_i, local_f, local_g = local.chunk(4, 2)
    local_o.mul_(tanh_c)
    local_i.mul_(g)
    local_f[:, :first] = 0
    local_f[:, first:].mul_(c.index_select(1, batch.previous))
    torch.mul(g, g, out=local_g).neg_().add_(1).mul_(i)
    through_c = (tanh_c * tanh_c).neg_().add_(1).mul_(o)
    if keep is not None:
        kept = keep.index_select(1, batch.sequence)
        local_o.mul_(kept)
        through_c.mul_(kept)
    return local, through_c


class TiedSoftmax(torch.autograd.Function):
    """Cross-entropy over the vocabulary, in chunks of rows, gradients made in the same pass.

    states (2, N, D), embedding (V, D), bias (2, V), targets (2, N) -> the sum over all rows, and
    (2,) the sums by direction on the CPU in float64, which carry no gradient.
    """

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, embedding: Tensor, bias: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        found = states.new_empty(targets.shape)
        d_states, d_embedding = torch.empty_like(states), torch.zeros_like(embedding)
        d_bias = torch.zeros_like(bias)
        for k, rows, log_p in _chunks(states, embedding, bias):
            chosen = targets[k, rows].unsqueeze(1)
            found[k, rows] = log_p.gather(1, chosen).squeeze(1)
            d_logits = log_p.exp_()
            d_logits.scatter_add_(1, chosen, d_logits.new_full((), -1.0).expand(chosen.shape))
            torch.mm(d_logits, embedding, out=d_states[k, rows])
            d_embedding.addmm_(d_logits.T, states[k, rows])
            d_bias[k] += d_logits.sum(0)
        ctx.save_for_backward(d_states, d_embedding, d_bias)
        sums = _sums(found)
        ctx.mark_non_differentiable(sums)
        return -found.sum(), sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        return *(part * grad for part in ctx.saved_tensors), None


def _chunks(states: Tensor, embedding: Tensor, bias: Tensor) -> Iterator[tuple[int, slice, Tensor]]:
    """(direction, rows, (rows, V) log-probabilities) over all states, a bounded part at a time."""
    elements = CHUNK_ELEMENTS.get(states.device.type, CHUNK_ELEMENTS_DEFAULT)
    height = max(1, elements // len(embedding))
    for k in range(2):
        for start in range(0, states.shape[1], height):
            rows = slice(start, min(start + height, states.shape[1]))
            logits = torch.addmm(bias[k], states[k, rows], embedding.T)
            yield k, rows, logits.log_softmax(1)


def packed_states(model: LanguageModel, batch: Batch, keep: Sequence[Tensor] = ()) -> Tensor:
    """(2, N, D) top states of both directions.

    `keep` holds one (2, B, D) mask for the embedded input, then one for each layer; none: no
    dropout.
    """
    x = torch.nn.functional.embedding(batch.inputs, model.embedding)
    if keep:
        x = x * keep[0].index_select(1, batch.sequence)
    for index in range(model.config.layers):
        pair = [model.forward_lm.layers[index], model.backward_lm.layers[index]]
        assert all(isinstance(layer, LstmLayer) for layer in pair)
        w_ih, w_hh, bias = (
            torch.stack([getattr(layer, name) for layer in pair])
            for name in ("w_ih", "w_hh", "bias")
        )
        mask = keep[index + 1] if keep else None
        x = PackedLstm.apply(x, w_ih, w_hh, bias, mask, batch)  # type: ignore[no-untyped-call]
    return x


def loss(model: LanguageModel, batch: Batch, keep: Sequence[Tensor] = ()) -> tuple[Tensor, Tensor]:
    """The sum of -log p over both directions, with gradient; and the sums (2,) by direction."""
    bias = torch.stack([model.forward_lm.output_bias, model.backward_lm.output_bias])
    result: tuple[Tensor, Tensor] = TiedSoftmax.apply(  # type: ignore[no-untyped-call]
        packed_states(model, batch, keep), model.embedding, bias, batch.targets
    )
    return result


@torch.no_grad()
def evaluate(model: LanguageModel, batch: Batch) -> Tensor:
    """(2,) sums of -log p by direction, on the CPU in float64; no dropout, no gradients."""
    bias = torch.stack([model.forward_lm.output_bias, model.backward_lm.output_bias])
    states = packed_states(model, batch)
    found = states.new_empty(batch.targets.shape)
    for k, rows, log_p in _chunks(states, model.embedding, bias):
        found[k, rows] = log_p.gather(1, batch.targets[k, rows].unsqueeze(1)).squeeze(1)
    return _sums(found)


def _sums(log_p: Tensor) -> Tensor:
    """(2, N) log-probabilities -> (2,) sums of their negatives, where float64 is always there."""
    return -log_p.cpu().double().sum(1)


def dropout_masks(
    config: LmConfig, sequences: int, embedding: float, recurrent: float, generator: torch.Generator
) -> list[Tensor]:
    """The masks that `loss` takes, on the CPU: 0, or 1/(1 - share), (2, sequences, D) each.

    Drawn on the CPU wherever the model runs, so that devices drop the same values.
    """
    masks = []
    for share in [embedding] + [recurrent] * config.layers:
        drawn = torch.rand(2, sequences, config.dim, generator=generator)
        masks.append((drawn >= share).float() / (1 - share))
    return masks


def batches(
    lengths: NDArray[np.int64], size: int, generator: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Indices of sequences, cut into batches of `size` of similar length, in a random order.

    Sequences are shuffled, sorted by length within pools of 64 batches, and the batches shuffled:
    little is padded, and no epoch's batches are another's.
    """
    order = generator.permutation(len(lengths))
    result = []
    for start in range(0, len(order), 64 * size):
        pool = order[start : start + 64 * size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        result += [pool[i : i + size] for i in range(0, len(pool), size)]
    return [result[i] for i in generator.permutation(len(result))]


def training_flops(config: LmConfig, batch: Batch) -> int:
    """Floating-point operations of one training step's GEMMs: forward, and twice that backward.

    The first step has no recurrent product, as h starts at 0. Padding is not counted.
    """
    gates = 2 * 4 * config.dim * config.dim
    n, continued = batch.tokens, batch.tokens - batch.sizes[0]
    forward = config.layers * gates * (n + continued) + 2 * n * config.vocabulary * config.dim
    return 2 * 3 * forward
