"""One direction of a language model, laid out for reading many rows of tokens at once.

Rows that have read the same tokens so far share a *node*: its state and its distribution over the
next token are computed once, however many rows stand on it. So the draws of a context start from
one state, a common beginning of several endings is read once, and rows that have ended leave
nothing behind. It knows token ids and weights, not what the rows mean or why they are read.

Shapes: R rows, M nodes, V vocabulary, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from swag_studio.engine.corpus import BOS, EOS
from swag_studio.engine.lm import LanguageModel, LstmLayer

# Rows per matrix product. On a CPU the products run at full speed from here on, and what they
# write is still in the outer cache when softmax reads it.
CHUNK = {"cpu": 1024}
CHUNK_ACCELERATOR = 4096
PIECE = 64  # columns that the two-level search of a draw takes together
TINY = torch.finfo(torch.float32).tiny  # so no log-probability is below -87.4


@dataclass(frozen=True)
class State:
    """What a direction remembers after each of M sequences."""

    h: Tensor  # (layers, M, D)
    c: Tensor  # (layers, M, D) float32

    def take(self, index: Tensor) -> State:
        """The states at `index`, in that order."""
        return State(self.h[:, index], self.c[:, index])


@dataclass(frozen=True)
class Room:
    """Where one chunk's intermediate results are written again and again."""

    gates: Tensor  # (chunk, 4D)
    logits: Tensor  # (chunk, W)
    p: Tensor  # (chunk, W) float32


@dataclass
class Work:
    """Nodes that went through the model: the products that were needed."""

    read: int = 0  # a token read: one LSTM step
    predicted: int = 0  # a distribution over the vocabulary


class Reader:
    """One direction with its weights arranged for inference.

    The output's columns are not in the order of ids: words that may be drawn stand first, then
    empty columns of probability 0 up to a multiple of PIECE, then the banned words. So a draw
    looks at a leading slice, and a score at any column, of one softmax over the whole vocabulary.
    """

    @torch.inference_mode()
    def __init__(self, model: LanguageModel, name: str, banned: Tensor) -> None:
        """`name` is "forward" or "backward"; `banned` (V,) is True for what is never drawn."""
        direction, embedding = model.direction(name), model.embedding
        self.vocabulary, self.dim = embedding.shape
        self.device, self.dtype = embedding.device, embedding.dtype
        self.first_token = {"forward": BOS, "backward": EOS}[name]
        self.layers: list[LstmLayer] = list(direction.layers)  # type: ignore[arg-type]
        # Layer 0 sees one of V inputs: their products are looked up instead of computed.
        self.table = torch.addmm(self.layers[0].bias, embedding, self.layers[0].w_ih.T)  # (V, 4D)

        banned = banned.to(self.device)
        allowed = torch.nonzero(~banned).squeeze(1)
        self.drawable = -(-len(allowed) // PIECE) * PIECE  # K
        width = self.drawable + self.vocabulary - len(allowed)  # W
        self.column_of = torch.empty(self.vocabulary, dtype=torch.long, device=self.device)
        self.column_of[allowed] = torch.arange(len(allowed), device=self.device)
        self.column_of[banned] = torch.arange(self.drawable, width, device=self.device)
        self.token_of = torch.zeros(width, dtype=torch.long, device=self.device)
        self.token_of[self.column_of] = torch.arange(self.vocabulary, device=self.device)
        self.output = embedding.new_zeros(width, self.dim)
        self.output[self.column_of] = embedding
        self.output_bias = embedding.new_full((width,), -torch.inf)
        self.output_bias[self.column_of] = direction.output_bias

        self.chunk = CHUNK.get(self.device.type, CHUNK_ACCELERATOR)
        self.work = Work()

    def room(self, nodes: int) -> Room:
        """Room for what is computed on the way with at most `nodes` nodes."""
        rows, width = min(nodes, self.chunk), len(self.output)
        empty = partial(torch.empty, dtype=self.dtype, device=self.device)
        p = torch.empty(rows, width, dtype=torch.float32, device=self.device)
        return Room(empty(rows, 4 * self.dim), empty(rows, width), p)

    def empty(self, nodes: int) -> State:
        """Room for the states of some nodes."""
        shape = (len(self.layers), nodes, self.dim)
        return State(
            torch.empty(shape, dtype=self.dtype, device=self.device),
            torch.empty(shape, dtype=torch.float32, device=self.device),
        )

    @torch.inference_mode()
    def start(self) -> State:
        """The state of one node that has read the direction's first token."""
        zero, one = self.empty(1), self.empty(1)
        zero.h.zero_(), zero.c.zero_()
        at = torch.zeros(1, dtype=torch.long, device=self.device)
        self.read(zero, at, at + self.first_token, one, self.room(1))
        return one

    def read(self, state: State, parents: Tensor, tokens: Tensor, out: State, room: Room) -> None:
        """Node m of `out` becomes node parents[m] (M,) of `state` after reading tokens[m] (M,)."""
        self.work.read += len(tokens)
        for a in range(0, len(tokens), self.chunk):
            b = min(a + self.chunk, len(tokens))
            gates = torch.index_select(self.table, 0, tokens[a:b], out=room.gates[: b - a])
            for i, layer in enumerate(self.layers):
                if i > 0:
                    torch.addmm(layer.bias, out.h[i - 1, a:b], layer.w_ih.T, out=gates)
                gates.addmm_(state.h[i].index_select(0, parents[a:b]), layer.w_hh.T)
                c = state.c[i].index_select(0, parents[a:b])
                _cell(gates.float(), c, out.h[i, a:b], out.c[i, a:b])

    def predict(self, h: Tensor, room: Room) -> tuple[Tensor, Tensor]:
        """(m <= chunk, D) top states -> logits and probabilities (m, W), which stand in `room`.

        Probabilities are float32 over the whole vocabulary, at temperature 1.
        """
        self.work.predicted += len(h)
        logits = torch.addmm(self.output_bias, h, self.output.T, out=room.logits[: len(h)])
        p = torch.softmax(logits, 1, dtype=torch.float32, out=room.p[: len(h)])
        return logits, p


def _cell(gates: Tensor, c: Tensor, h_out: Tensor, c_out: Tensor) -> None:
    """The LSTM's nonlinearities, in place: gates (m, 4D) are input, forget, new, output."""
    d = c.shape[1]
    gates[:, : 2 * d].sigmoid_()
    gates[:, 2 * d : 3 * d].tanh_()
    gates[:, 3 * d :].sigmoid_()
    i, f, g, o = gates.chunk(4, dim=1)
    torch.mul(f, c, out=c_out)
    c_out.addcmul_(i, g)
    torch.mul(torch.tanh(c_out, out=c), o, out=h_out)


Chooser = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""(logits (m, K), probabilities (m, K), node of each draw (r,), uniforms (r,)) -> columns (r,)."""


@dataclass(frozen=True)
class Drawing:
    """How the rows that are not given find their tokens."""

    free: Tensor  # (R,) bool: the rows that draw
    uniforms: Tensor  # (R, T) in [0, 1), one for each draw, so that no draw depends on another row
    stops: Tensor  # (V,) bool: the tokens that end a drawn row
    choose: Chooser


class Walk:
    """R rows that read, token by token, from the nodes of a state.

    Given rows read their tokens; with a `Drawing`, its free rows read what they draw, until a stop
    or their limit. Drive it with `run`.
    """

    def __init__(
        self,
        reader: Reader,
        start: State,
        node: Tensor,
        given: Tensor,
        limits: Tensor,
        *,
        drawing: Drawing | None = None,
        keep_ends: bool = False,
    ) -> None:
        """`node` (R,) where each row starts; `given` (R, T) int64 ids, padded; `limits` (R,) >= 1
        the tokens of each row. `keep_ends`: the rows' states after their last token are wanted."""
        self._reader, self._drawing, self._limits, self._t = reader, drawing, limits, 0
        node, self._rows = torch.sort(node, stable=True)
        used, self._node = torch.unique_consecutive(node, return_inverse=True)
        self._state, self._nodes = start.take(used), len(used)
        self._room = reader.room(len(node))
        self._spare = [reader.empty(len(node)), reader.empty(len(node))]
        self.tokens = given.clone()  # (R, T)
        self.log_p = torch.zeros(given.shape, dtype=torch.float32, device=given.device)  # (R, T)
        self.lengths = limits.clone()  # (R,)
        self.ends = reader.empty(len(node)) if keep_ends else None

    def run(self) -> Generator[None, None, None]:
        """Reads to the end, pausing after each token."""
        while self._step():
            yield

    @torch.inference_mode()
    def _step(self) -> bool:
        """Every row finds its next token, and reads it if another follows. False at the end."""
        if self.ends is not None:
            self._keep_ends(self.ends)
        if len(self._rows) == 0:
            return False
        tokens = self._predict()
        self._t += 1
        rows = self._rows
        last = torch.eq(self._limits[rows], self._t)
        if self._drawing is not None:
            stopped = self._drawing.free[rows] & self._drawing.stops[tokens]
            last |= stopped
            self.lengths[rows[stopped]] = self._t
        going = ~last if self.ends is None else torch.ones_like(last)
        self._read(rows[going], self._node[going], tokens[going])
        return True

    def _keep_ends(self, ends: State) -> None:
        """Rows that have read all they had leave their state and go."""
        ended = self._limits[self._rows] == self._t
        rows, node = self._rows[ended], self._node[ended]
        ends.h[:, rows], ends.c[:, rows] = self._state.h[:, node], self._state.c[:, node]
        self._rows, self._node = self._rows[~ended], self._node[~ended]

    def _predict(self) -> Tensor:
        """The next token of every row (rows,), given or drawn, and its log-probability."""
        reader, rows, node, t = self._reader, self._rows, self._node, self._t
        tokens = self.tokens[rows, t]
        p_token = torch.empty(len(rows), device=rows.device)
        starts = range(0, self._nodes, reader.chunk)
        edges = torch.tensor([*starts, self._nodes], device=rows.device)
        cuts = torch.searchsorted(node, edges).tolist()
        for a, lo, hi in zip(starts, cuts, cuts[1:], strict=False):
            logits, p = reader.predict(
                self._state.h[-1, a : min(a + reader.chunk, self._nodes)], self._room
            )
            here, k = node[lo:hi] - a, reader.drawable
            if self._drawing is not None:
                free = self._drawing.free[rows[lo:hi]]
                u = self._drawing.uniforms[rows[lo:hi][free], t]
                columns = self._drawing.choose(logits[:, :k], p[:, :k], here[free], u)
                tokens[lo:hi][free] = reader.token_of[columns]
            p_token[lo:hi] = p[here, reader.column_of[tokens[lo:hi]]]
        self.tokens[rows, t] = tokens
        self.log_p[rows, t] = p_token.clamp_min_(TINY).log_()
        return tokens

    def _read(self, rows: Tensor, node: Tensor, tokens: Tensor) -> None:
        """The rows read their tokens; those on one node with one token stay together."""
        if len(rows):
            v = self._reader.vocabulary
            key, order = torch.sort(node * v + tokens, stable=True)
            nodes, node = torch.unique_consecutive(key, return_inverse=True)
            out = self._spare[self._t % 2]
            self._reader.read(self._state, nodes // v, nodes % v, out, self._room)
            self._state, self._nodes, rows = out, len(nodes), rows[order]
        self._rows, self._node = rows, node
