"""What people see of a pool: the same rows as the pool's, as text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_project import CONTEXTS, OWN, OWN_ENDINGS, RECIPE, WORDS, corpus, prepared

from swag_studio.engine import generate
from swag_studio.engine.browse import PoolBrowser
from swag_studio.errors import ProjectError
from swag_studio.pool import Pool


def test_rows_are_shown_as_they_stand_in_the_pool(tmp_path: Path) -> None:
    with prepared(tmp_path / "p.swag", RECIPE) as project:
        with pytest.raises(ProjectError, match="no candidates"):
            PoolBrowser(project)
        list(generate.run(RECIPE, project))
        pool = Pool.open(project.folder(project.require("generate", RECIPE)))
        browser = PoolBrowser(project)
        for c in set(range(CONTEXTS)) - {OWN}:
            rows, shown = pool.context(c), browser.endings(c)
            assert [e.found for e in shown] == [True] + [False] * (len(rows) - 1)
            assert [e.complete for e in shown] == (rows.complete == 1).tolist()
            assert [e.features for e in shown] == [tuple(f) for f in rows.features.tolist()]
            found = [WORDS[i] for i in corpus().v[c]]
            assert shown[0].text == " ".join(found[:-1]) + found[-1]  # no space before the stop
        own = [e.text for e in browser.endings(OWN)]
        assert own == ["wordb wordc.", *(OWN_ENDINGS[i] for i in (0, 3, 4, 5, 6))]


def test_distributions_hold_every_row_of_the_sampled_contexts(tmp_path: Path) -> None:
    with prepared(tmp_path / "p.swag", RECIPE) as project:
        list(generate.run(RECIPE, project))
        browser = PoolBrowser(project)
        counts = Pool.open(project.folder(project.require("generate", RECIPE))).counts()
        for d in browser.distributions():
            assert (len(d.found), len(d.generated)) == (CONTEXTS, counts.sum() - CONTEXTS)
        lengths = next(d for d in browser.distributions(4) if d.name == "v_tokens")
        assert len(lengths.found) == 4
        assert np.isin(lengths.found, corpus().v.lengths).all()
