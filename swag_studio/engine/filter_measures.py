"""What is measured beside the iterations of the filter: each is one unit of work.

control    the same classifiers on random distractors that are never filtered: what a fall of the
           main arm is to be compared with
probe      a word biLSTM over the ending that never filters: whether the distractors became hard
           for a model that had no say
strength   I(D, f), the adversary's mean held-out loss on the current assignment, by K folds

They know no project: they get arrays and return points of series.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import numpy as np
import torch

from swag_studio.engine.assignment import Assignment
from swag_studio.engine.crossfit import CrossFit
from swag_studio.engine.ensemble import EnsembleSpec, needs_tags
from swag_studio.engine.filter_curves import CONTROL, MAIN, Point, member_points
from swag_studio.engine.filter_items import Assigned, Source
from swag_studio.engine.filter_iteration import Note, noted, train_and_test
from swag_studio.engine.probe import Probe
from swag_studio.engine.runtime import seed_for

Points = Generator[Note, None, list[Point]]


def control(
    spec: EnsembleSpec, source: Source, initial: Assignment, device: torch.device, seed: int
) -> Points:
    """Trains and tests the ensemble on the initial assignment."""
    gathering = Assigned.gather(source, initial)
    random = yield from noted(gathering, f"reading the pool {{}}/{len(initial)}")
    tested = yield from train_and_test(spec, random, device, seed_for(seed, CONTROL))
    return member_points(tested.measures, CONTROL)


def probe(
    spec: EnsembleSpec, assigned: Assigned, folds: int, device: torch.device, seed: int
) -> Points:
    """Cross-fits the probe to the current assignment."""
    probe = Probe(spec, folds, seed_for(seed, "probe"), device)
    every = assigned.items(np.arange(len(assigned.rows)), tags=False)
    for step in probe.fit(every, assigned.rows.shape[1]):
        yield f"{step.done}/{step.total}"
    return member_points({"probe": probe.accuracies}, MAIN)


def cross_fit(
    spec: EnsembleSpec,
    assigned: Assigned,
    folds: int,
    device: torch.device,
    seed: int,
    folder: Path | None = None,
) -> Generator[Note, None, CrossFit]:
    """Cross-fits the ensemble to the current assignment; keeps the folds in `folder`."""
    tags = needs_tags(spec.members)
    if tags:
        yield from noted(assigned.fill_tags(), f"tagging {{}}/{len(assigned.rows)}")
    fits = CrossFit(spec, folds, seed, device, folder)
    every = assigned.items(np.arange(len(assigned.rows)), tags)
    for step in fits.fit(every, assigned.rows.shape[1]):
        yield f"{step.done}/{step.total}"
    return fits


def strength(fitting: Generator[Note, None, CrossFit]) -> Points:
    """I(D, f) of the joint head and of each member, of what `cross_fit` fits."""
    fits = yield from fitting
    points: list[Point] = []
    for head in sorted(fits.scores):  # in the same order whether fitted now or read
        found, tags = fits.strength(head), {"member": head, "arm": MAIN}
        points.append(("strength_log_loss", found.log_loss, tags))
        points.append(("strength_error_rate", found.error_rate, tags))
    return points
