"""Seeds of units of work. By itself, since who reads what was drawn need not load torch."""

from __future__ import annotations

import hashlib


def seed_for(seed: int, *parts: str | int) -> int:
    """A seed of 63 bits for one unit of work, from the recipe's seed and what names the unit.

    Units with different parts get independent seeds, whatever order they run in.
    """
    text = "\x1f".join([str(seed), *(str(part) for part in parts)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1
