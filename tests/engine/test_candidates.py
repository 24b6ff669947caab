"""What is made for a context does not depend on what it is worked on with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_lm import drive
from tiny_project import CONTEXTS, OWN, RECIPE, corpus, prepared

from swag_studio.engine.candidates import BlockMaker, Made, join
from swag_studio.recipe import Recipe
from swag_studio.records import OwnContext

OWN_CONTEXT = OwnContext("d", "g", "s", "n", "wordb wordc.", ("worda .", "worde .", "wordf ."))


def make(root: Path, recipe: Recipe, contexts: range, limit: int) -> list[Made]:
    with prepared(root, recipe) as project:
        models = project.folder(project.require("train_lm", recipe))
        maker = BlockMaker(
            recipe, corpus(), models, torch.device("cpu"), torch.float32, lambda _: OWN_CONTEXT
        )
        return drive(maker.make(contexts, limit))


@pytest.mark.parametrize(("contexts", "limit"), [(range(CONTEXTS), 1), (range(3, 8), 30)])
def test_batches_do_not_change_what_is_drawn(
    tmp_path: Path,
    contexts: range,
    limit: int,
) -> None:
    together = make(tmp_path / "a.swag", RECIPE, range(CONTEXTS), 10_000)
    apart = make(tmp_path / "b.swag", RECIPE, contexts, limit)
    for c, one in zip(contexts, apart, strict=True):
        other = together[c]
        assert np.array_equal(one.rows.tokens, other.rows.tokens)
        assert (one.drawn, one.repeated) == (other.drawn, other.repeated)
        # The products have other numbers of rows, so their last bits differ.
        assert one.rows.features == pytest.approx(other.rows.features, abs=1e-4)


def test_an_own_context_needs_three_complete_candidates(tmp_path: Path) -> None:
    with prepared(tmp_path / "p.swag", RECIPE) as project:
        models = project.folder(project.require("train_lm", RECIPE))
        for endings, rows in ((OWN_CONTEXT.endings, 4), (OWN_CONTEXT.endings[:2], 0)):
            own = OwnContext("d", "g", "s", "n", "wordb wordc.", endings)
            maker = BlockMaker(
                RECIPE, corpus(), models, torch.device("cpu"), torch.float32, lambda _, o=own: o
            )
            (made,) = drive(maker.make(range(OWN, OWN + 1)))
            assert len(made.rows) == rows
            assert made.kept == (rows > 0)


def test_a_block_may_hold_contexts_without_rows(tmp_path: Path) -> None:
    recipe = RECIPE.with_values({"generate.floor": 12, "generate.draw_budget": 1.0})
    made = make(tmp_path / "p.swag", recipe, range(CONTEXTS), 100)
    offsets, rows = join(made)
    counts = np.diff(offsets)
    assert 0 in counts and counts[OWN] == 4
    assert len(rows) == offsets[-1] == sum(len(m.rows) for m in made)
