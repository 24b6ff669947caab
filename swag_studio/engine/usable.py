"""Which candidates of a context may become distractors. It knows the pool's rows, and no models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swag_studio.pool import Rows


def usable_rows(rows: Rows, shortest: int) -> NDArray[np.bool_]:
    """(rows,) which rows of one context may be assigned.

    Never the found ending (row 0), a text equal to it or to an earlier row, one that was cut off,
    or a sampled one of fewer than `shortest` tokens: found endings are not that short, so length
    alone would tell it.
    """
    tokens = np.ascontiguousarray(rows.tokens)
    texts = tokens.view(np.dtype((np.void, 2 * tokens.shape[1]))).ravel()
    usable = np.zeros(len(rows), np.bool_)
    usable[np.unique(texts, return_index=True)[1]] = True  # of equal ones the first
    usable[:1] = False
    usable &= rows.complete == 1
    usable &= (rows.lengths >= shortest) | (rows.origin > 0)
    return usable
