"""What a fold's language model makes of an ending: eight numbers, the MLP's only view of it.

Every ending, found, drawn or from another generator, is read by the same code in the same
products, so that its numbers say nothing of where it came from. The end marks after the last
token are not counted: a candidate that was cut off has none.

METHOD section 2, row MLP features. Perplexities are per token and logarithmic: the mean of
-log p(token | what that direction has read), in nats, over the tokens of the span alone.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from swag_studio.engine.corpus import PAD, Ids
from swag_studio.engine.decoding import Endings
from swag_studio.engine.reading import Reader, Walk

FEATURE_NAMES = (
    "s_n_forward",  # (s, n), read from BOS
    "v_given_s_n_forward",  # v, read on from (s, n)
    "s_n_given_v_backward",  # n and s reversed, read on from v
    "v_backward",  # v reversed, read from EOS
    "last_token",  # -log p of v's last token, forward
    "v_tokens",
    "n_tokens",
    "s_tokens",
)


@dataclass(frozen=True)
class Spans:
    """The contexts of a batch as a fold's language model reads them."""

    s: list[Ids]
    n: list[Ids]

    def __len__(self) -> int:
        return len(self.s)

    def forward(self) -> Ids:
        """(C, L) s, then n, padded."""
        return _padded([np.concatenate(pair) for pair in zip(self.s, self.n, strict=True)])

    def backward(self) -> Ids:
        """(C, L) n reversed, then s reversed, padded."""
        both = zip(self.s, self.n, strict=True)
        return _padded([np.concatenate([s, n])[::-1] for s, n in both])


def _padded(sequences: list[Ids]) -> Ids:
    width = max(map(len, sequences), default=0)
    padded = np.full((len(sequences), width), PAD, np.uint16)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded


def features(
    backward: Reader, spans: Spans, endings: Endings, context_log_p: NDArray[np.float32]
) -> Generator[None, None, NDArray[np.float32]]:
    """(R, 8) the features of the endings, finite always.

    `context_log_p` (C, L) are the forward log-probabilities of (s, n), 0 at padding.
    """
    v, at = endings.lengths, endings.context
    n, s = (np.array([len(x) for x in part])[at] for part in (spans.n, spans.s))
    log_p = yield from _read_backward(backward, spans, endings)
    inside_v = np.arange(log_p.shape[1]) < v[:, None]
    rows = np.arange(len(endings))
    columns = (
        -context_log_p.sum(1, dtype=np.float64)[at] / (n + s),
        -endings.log_p.sum(1, dtype=np.float64) / v,
        -log_p.sum(1, where=~inside_v, dtype=np.float64) / (n + s),
        -log_p.sum(1, where=inside_v, dtype=np.float64) / v,
        -endings.log_p[rows, v - 1],
        v,
        n,
        s,
    )
    return np.stack(columns, axis=1).astype(np.float32)


def _read_backward(
    reader: Reader, spans: Spans, endings: Endings
) -> Generator[None, None, NDArray[np.float32]]:
    """(R, T + L) log p of v, n, s, each reversed, as the backward direction reads on."""
    context = spans.backward()
    lengths = np.array([np.count_nonzero(row) for row in context], np.int64)
    limits = endings.lengths + lengths[endings.context]
    # Column j of a row is v[len - 1 - j] first, then goes on with the context's reversed tokens.
    j = np.arange(limits.max(initial=0))
    in_v = endings.lengths[:, None] - 1 - j
    in_context = np.clip(-1 - in_v, 0, max(context.shape[1] - 1, 0))
    given = np.where(
        in_v >= 0,
        np.take_along_axis(endings.tokens, np.maximum(in_v, 0), 1),
        context[endings.context[:, None], in_context],
    )
    given[j >= limits[:, None]] = PAD
    tokens, ends = (torch.from_numpy(x.astype(np.int64)) for x in (given, limits))
    device, node = reader.device, torch.zeros(len(endings), dtype=torch.long)
    walk = Walk(reader, reader.start(), node.to(device), tokens.to(device), ends.to(device))
    yield from walk.run()
    result: NDArray[np.float32] = walk.log_p.cpu().numpy()
    return result
