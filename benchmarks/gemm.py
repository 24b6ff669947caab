"""The speed of a plain fp32 matrix product here, which other benchmarks are shares of."""

from __future__ import annotations

import argparse
import statistics
import time

import torch


class Peak:
    """Samples of a square product's speed, taken between the parts of a benchmark.

    On a machine with other work the speed varies from second to second; samples taken in turn
    with what is measured meet the same conditions.
    """

    def __init__(self, size: int = 1024, device: str = "cpu") -> None:
        generator = torch.Generator().manual_seed(0)
        self._a, self._b = (
            torch.randn(size, size, generator=generator).to(device) for _ in range(2)
        )
        self._out = torch.empty_like(self._a)
        self._flops = 2 * size**3
        self._device = device
        self.samples: list[float] = []
        self._product()

    def _product(self) -> float:
        start = time.perf_counter()
        torch.mm(self._a, self._b, out=self._out)
        if self._device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    def sample(self, products: int = 5) -> float:
        """FLOP/s of the fastest of a few products."""
        self.samples.append(self._flops / min(self._product() for _ in range(products)))
        return self.samples[-1]

    @property
    def flops(self) -> float:
        """FLOP/s: the median of the samples."""
        return statistics.median(self.samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    peak = Peak()
    for _ in range(20):
        peak.sample()
    print(
        f"fp32 GEMM, {arguments.threads} threads: "
        f"median {peak.flops / 1e9:.1f}, best {max(peak.samples) / 1e9:.1f} GFLOP/s"
    )


if __name__ == "__main__":
    main()
