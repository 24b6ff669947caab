"""Language-model training as a share of the machine's fp32 GEMM peak, measured in turn with it.

    python benchmarks/lm_training.py                     the paper's sizes
    python benchmarks/lm_training.py --dim 96 --layers 1 --vocabulary 1200

Whole steps are timed (dropout, loss, gradients, clipping, Adam) on batches with the lengths of real
pairs of captions; only the GEMMs' operations on real tokens are counted.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import torch
from gemm import Peak

from swag_studio.engine import training
from swag_studio.engine.lm import LmConfig, initialised


def synthetic(count: int, vocabulary: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Pairs of captions: the lengths' mean and spread are those of ActivityNet (13.5 +- 6.3)."""
    lengths = np.clip(rng.lognormal(2.5, 0.45, (count, 2)).round(), 3, 80).sum(1).astype(int)
    ranks = np.arange(1, vocabulary - 3)
    share = 1 / (ranks + 2.7)
    words = rng.choice(ranks + 3, size=int(lengths.sum()), p=share / share.sum())
    return np.split(words.astype(np.uint16), np.cumsum(lengths)[:-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=7000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    rng = np.random.default_rng(0)
    config = LmConfig(arguments.vocabulary, arguments.dim, arguments.layers)
    sequences = synthetic(64 * arguments.batch, config.vocabulary, rng)
    lengths = np.array([len(s) for s in sequences])
    generator = torch.Generator().manual_seed(0)
    model = initialised(config, generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-6, fused=True)
    peak, rates, tokens, seconds = Peak(), [], 0, 0.0
    chosen = training.batches(lengths, arguments.batch, rng)[: arguments.steps + 1]
    for number, index in enumerate(chosen):
        peak.sample(3)
        start = time.perf_counter()
        batch = training.pack([sequences[i] for i in index])
        keep = training.dropout_masks(config, batch.sizes[0], 0.2, 0.2, generator)
        total, _ = training.loss(model, batch, keep)
        optimizer.zero_grad()
        (total / batch.tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        elapsed = time.perf_counter() - start
        if number:  # the first one warms up
            rates.append(training.training_flops(config, batch) / elapsed)
            tokens, seconds = tokens + batch.tokens, seconds + elapsed
    rate = statistics.median(rates)
    print(
        f"{config.dim}-d, {config.layers} layers, vocabulary {config.vocabulary}, "
        f"batch {arguments.batch}, {arguments.threads} threads: {rate / 1e9:.1f} GFLOP/s, "
        f"GEMM peak {peak.flops / 1e9:.1f} GFLOP/s, share {rate / peak.flops:.0%}, "
        f"{tokens / seconds:.0f} tokens/s both ways"
    )


if __name__ == "__main__":
    main()
