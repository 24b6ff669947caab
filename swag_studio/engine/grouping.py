"""Folds, splits and the sample, all by group: what belongs together is never divided.

Everything follows from the seed and the groups' names, never from the order of import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swag_studio.engine.runtime import seed_for
from swag_studio.errors import StageError


def folds(seed: int, sizes: Mapping[str, int], n_folds: int) -> dict[str, int]:
    """Group -> fold: in the order of their keyed hashes each goes to the smallest fold so far.

    `sizes` are the groups' captions; folds differ by at most the largest group.
    """
    if len(sizes) < n_folds:
        raise StageError(
            f"The captions come from {len(sizes)} groups (videos or movies), fewer than the "
            f"{n_folds} folds of the recipe. Import more, or lower prepare.folds."
        )
    totals, result = [0] * n_folds, {}
    for group in hashed_order(seed, "fold", list(sizes)):
        fold = min(range(n_folds), key=lambda f: (totals[f], f))
        totals[fold] += max(1, sizes[group])
        result[group] = fold
    return result


def split(seed: int, group: str, val_share: float, test_share: float) -> int:
    """0 train, 1 val, 2 test; a group stays in its split whatever is imported later."""
    place = seed_for(seed, "split", group) / 2**63
    return 2 if place < test_share else 1 if place < test_share + val_share else 0


def hashed_order(seed: int, purpose: str, names: Sequence[str]) -> list[str]:
    """The names in the order of their keyed hashes."""
    return sorted(names, key=lambda name: (seed_for(seed, purpose, name), name))


def sample(seed: int, contexts: Sequence[tuple[str, str]], most: int) -> set[str]:
    """The ids among (id, group) that a sample of `most` contexts takes; 0 takes all.

    Whole groups in the order of their keyed hashes; of the last one only the first ids that fit.
    """
    if not most or len(contexts) <= most:
        return {id for id, _ in contexts}
    members: dict[str, list[str]] = {}
    for id, group in sorted(contexts):
        members.setdefault(group, []).append(id)
    order = hashed_order(seed, "sample", list(members))
    return set([id for group in order for id in members[group]][:most])
