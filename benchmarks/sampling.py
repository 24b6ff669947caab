"""How fast candidates are sampled and scored, as a share of the machine's fp32 GEMM peak.

    python benchmarks/sampling.py [--dim 512] [--contexts 2] [--candidates 1023] [--threads 2]

The model is random, with a vocabulary, context lengths and ending lengths like ActivityNet's. The
work counted is the matrix products that were needed: of different beginnings only, of rows that
had not ended, without the first layer's input product, which is looked up. The peak is that of
large square products, measured around the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Generator
from typing import Any

os.environ.setdefault("KINETO_LOG_LEVEL", "99")

import numpy as np
import torch
from gemm import Peak

from swag_studio.engine.decoding import LetterKeys, Plan, read_contexts, sample
from swag_studio.engine.features import Spans, features
from swag_studio.engine.lm import LanguageModel, LmConfig, initialised
from swag_studio.engine.reading import Reader
from swag_studio.recipe import GenerateRecipe

STOP = 4
GROUPS = {
    "matrix products": ("aten::addmm", "aten::addmm_", "aten::mm"),
    "softmax": ("aten::_softmax",),
    "gates": ("aten::sigmoid_", "aten::tanh_", "aten::tanh", "aten::mul", "aten::mul_",
              "aten::addcmul_"),
    "drawing": ("aten::sum", "aten::cumsum", "aten::le", "aten::gather", "aten::minimum"),
}  # fmt: skip


def main() -> None:
    """Prints the figures, and as the last line the same as JSON."""
    o = _options()
    torch.set_num_threads(o.threads)
    readers = _readers(_model(o), o.vocabulary)
    plan = Plan(
        GenerateRecipe(candidates=o.candidates),
        LetterKeys([f"w{i}" for i in range(o.vocabulary)]),
        np.arange(o.vocabulary) == STOP,
    )
    run = _Run(readers, plan, np.random.default_rng(1), o.contexts)
    split = _split(run)  # and warms up
    for reader in readers:
        reader.work.read = reader.work.predicted = 0
    peak = Peak(2048)
    tokens, seconds = run.go(peak)
    rows, flop = len(tokens), [_flop(reader) for reader in readers]
    shares = [f / s / peak.flops for f, s in zip(flop, seconds, strict=True)]
    figures: dict[str, Any] = {
        "peak_gflops": round(peak.flops / 1e9, 1),
        "share_of_peak": round(sum(flop) / sum(seconds) / peak.flops, 3),
        "share_sampling": round(shares[0], 3),
        "share_scoring": round(shares[1], 3),
        "gflop_per_ending": round(sum(flop) / rows / 1e9, 3),
        "ms_per_ending": round(1e3 * sum(seconds) / rows, 3),
        "endings": rows,
        "tokens_per_ending": round(float((tokens > 0).sum() / rows), 1),
        "seconds": round(sum(seconds), 1),
    }
    for name, value in figures.items():
        print(f"{name:20} {value}")
    figures["split"] = split
    print("\n".join(f"{name:20} {share:.1%}" for name, share in split.items()))
    print(json.dumps(figures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=6719)
    parser.add_argument("--contexts", type=int, default=2)
    parser.add_argument("--candidates", type=int, default=1023)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def _model(o: argparse.Namespace) -> LanguageModel:
    """Words about as unequal as in English; an ending stops after some twelve tokens."""
    config = LmConfig(o.vocabulary, o.dim, o.layers)
    model = initialised(config, torch.Generator().manual_seed(0)).requires_grad_(False)
    rank = torch.arange(1.0, o.vocabulary + 1)
    p = 1 / (rank + 20)
    p[STOP] = p.sum() / 11
    for direction in (model.forward_lm, model.backward_lm):
        direction.output_bias.copy_(p.log())
    return model


def _readers(model: LanguageModel, vocabulary: int) -> tuple[Reader, Reader]:
    """One word in eight is unknown to the fold."""
    banned = torch.zeros(vocabulary, dtype=torch.bool)
    banned[:4] = banned[-vocabulary // 8 :] = True
    return Reader(model, "forward", banned), Reader(model, "backward", banned)


def _flop(reader: Reader) -> float:
    """Of the products: the output's, and the LSTM's without the first input's."""
    lstm = 8 * reader.dim**2 * (2 * len(reader.layers) - 1)
    return reader.work.predicted * 2 * reader.dim * reader.vocabulary + reader.work.read * lstm


class _Run:
    """The work for some contexts of one fold, as the stage does it."""

    def __init__(
        self, readers: tuple[Reader, Reader], plan: Plan, rng: np.random.Generator, contexts: int
    ) -> None:
        self._forward, self._backward = readers
        self._plan = plan
        ids = range(5, self._forward.vocabulary * 7 // 8)

        def phrase(low: int, high: int) -> np.ndarray:
            return rng.choice(ids, rng.integers(low, high)).astype(np.uint16)

        self._spans = Spans(
            [phrase(8, 20) for _ in range(contexts)], [phrase(1, 4) for _ in range(contexts)]
        )
        self._found = np.zeros((contexts, plan.recipe.max_tokens), np.uint16)
        for row in self._found:
            ending = np.append(phrase(6, 18), np.uint16(STOP))
            row[: len(ending)] = ending

    def go(self, peak: Peak | None = None) -> tuple[np.ndarray, list[float]]:
        """The endings' tokens (R, T); seconds of sampling and of scoring.

        `peak` is sampled between, in pauses that are not counted.
        """
        log_p, states, first = _drive(read_contexts(self._forward, self._spans.forward()), peak)
        endings, _, second = _drive(
            sample(self._forward, states, self._found, self._plan, lambda c, r: 100 * c + r), peak
        )
        numbers, third = _drive(features(self._backward, self._spans, endings, log_p), peak)
        assert np.isfinite(numbers).all()
        return endings.tokens, [first + second, third]


def _drive(work: Generator[None, None, Any], peak: Peak | None) -> Any:
    """The work's result, with the seconds that it took as a last element."""
    seconds = since = 0.0
    while True:
        start = time.perf_counter()
        try:
            next(work)
        except StopIteration as stop:
            seconds += time.perf_counter() - start
            return (*stop.value, seconds) if type(stop.value) is tuple else (stop.value, seconds)
        seconds += time.perf_counter() - start
        if peak and seconds - since > 0.5:
            peak.sample(1)
            since = seconds


def _split(run: _Run) -> dict[str, float]:
    """The share of operations' time that each group takes."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        run.go()
    times = {e.key: e.self_cpu_time_total for e in profile.key_averages()}
    total = sum(times.values())
    split = {n: sum(times.get(op, 0.0) for op in ops) / total for n, ops in GROUPS.items()}
    split["other"] = 1 - sum(split.values())
    return {name: round(share, 3) for name, share in split.items()}


if __name__ == "__main__":
    main()
