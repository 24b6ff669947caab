"""Endings as the ensemble sees them: arrays, one row per ending, grouped by context.

The one currency between the pool, the members and the filter. It knows nothing of training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Items:
    """E endings. Token ids are corpus ids, 0 pads. Tag ids count from 1, 0 pads.

    `tags_n` and `tags_v` are None where no member asks for tags.
    """

    n: NDArray[np.uint16]  # (E, Tn) opening noun phrase of the ending's context
    v: NDArray[np.uint16]  # (E, T) the ending
    n_lengths: NDArray[np.uint8]  # (E,)
    v_lengths: NDArray[np.uint8]  # (E,)
    features: NDArray[np.float32]  # (E, F) as in the pool, not standardised
    tags_n: NDArray[np.uint8] | None = None  # (E, Tn) of the noun phrase tagged by itself
    tags_v: NDArray[np.uint8] | None = None  # (E, T) of the ending tagged after it

    def __len__(self) -> int:
        return len(self.v_lengths)

    def take(self, index: NDArray[np.int64]) -> Items:
        """The chosen rows, in that order."""
        return Items(
            self.n[index],
            self.v[index],
            self.n_lengths[index],
            self.v_lengths[index],
            self.features[index],
            None if self.tags_n is None else self.tags_n[index],
            None if self.tags_v is None else self.tags_v[index],
        )


def accuracy(scores: NDArray[np.floating]) -> float:
    """The share of contexts whose right ending scores highest; a tie of n earns 1/n.

    `scores` is (contexts, endings) with the right ending in column 0; by the tie rule a constant
    scorer gets chance, whatever the column. Raises ValueError on NaN, which would compare as
    "not higher" and so look like success.
    """
    if np.isnan(scores).any():
        raise ValueError("a score is NaN")
    if len(scores) == 0:
        return float("nan")
    best = scores.max(axis=1, keepdims=True)
    at_top = scores == best
    return float(np.mean(at_top[:, 0] / at_top.sum(axis=1)))
