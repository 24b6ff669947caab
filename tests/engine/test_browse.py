"""What people see of a pool: the same rows as the pool's, as text, and what numbers give away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_project import CONTEXTS, OWN, OWN_ENDINGS, RECIPE, WORDS, corpus, prepared

from swag_studio.engine import generate
from swag_studio.engine.browse import PoolBrowser, smaller
from swag_studio.engine.usable import Usable
from swag_studio.errors import ProjectError
from swag_studio.pool import Pool
from swag_studio.project import Project
from swag_studio.views import ContextRow


@pytest.fixture
def sampled(tmp_path: Path) -> Iterator[Project]:
    """A project with a pool."""
    with prepared(tmp_path / "p.swag", RECIPE) as project:
        list(generate.run(RECIPE, project))
        yield project


def pool_of(project: Project) -> Pool:
    return Pool.open(project.folder(project.require("generate", RECIPE)))


def test_there_is_nothing_to_read_before_the_first_pool(tmp_path: Path) -> None:
    with (
        prepared(tmp_path / "p.swag", RECIPE) as project,
        pytest.raises(ProjectError, match="no candidates"),
    ):
        PoolBrowser(project)


def test_rows_are_shown_as_they_stand_in_the_pool(sampled: Project) -> None:
    pool, browser = pool_of(sampled), PoolBrowser(sampled)
    for c in set(range(CONTEXTS)) - {OWN}:
        rows, shown = pool.context(c), browser.endings(c)
        assert [e.found for e in shown] == [True] + [False] * (len(rows) - 1)
        assert [e.features for e in shown] == [tuple(f) for f in rows.features.tolist()]
        may_be = Usable.of(RECIPE, corpus())
        assert [e.usable for e in shown] == may_be(rows).tolist()
        assert [e.barred for e in shown] == ["", *may_be.barred(rows)[1:]]
        found = [WORDS[i] for i in corpus().v[c]]
        assert shown[0].text == " ".join(found[:-1]) + found[-1]  # no space before the stop
    own = [e.text for e in browser.endings(OWN)]
    assert own == ["wordb wordc.", *(OWN_ENDINGS[i] for i in (0, 3, 4, 5, 6))]


def test_contexts_stand_at_their_places_with_their_candidates(sampled: Project) -> None:
    counts = pool_of(sampled).counts()
    assert PoolBrowser(sampled).contexts() == [
        ContextRow(OWN, f"c{OWN:02d}", "s", "n", int(counts[OWN]) - 1)
    ]


def test_a_pool_of_an_older_recipe_is_shown_until_there_is_a_newer_one(sampled: Project) -> None:
    before = PoolBrowser(sampled).endings(2)
    warmer = RECIPE.with_values({"generate.temperature": 1.5})
    sampled.set_recipe(warmer)
    assert (PoolBrowser(sampled).version, PoolBrowser(sampled).endings(2)) == (1, before)
    list(generate.run(warmer, sampled))
    assert PoolBrowser(sampled).version == 2
    sampled.set_recipe(RECIPE)  # and back: the recipe's own pool, not the newest
    assert (PoolBrowser(sampled).version, PoolBrowser(sampled).endings(2)) == (1, before)


# --- damage ----------------------------------------------------------------------------------


def test_a_truncated_block_is_named(sampled: Project) -> None:
    path = pool_of(sampled).path(1)
    path.write_bytes(path.read_bytes()[:-40])
    browser = PoolBrowser(sampled)
    assert browser.endings(0)  # in the block before it
    for read in (browser.contexts, browser.distributions, lambda: browser.endings(5)):
        with pytest.raises(ProjectError, match=r"block-000001\.safetensors .*check PROJECT --mend"):
            read()


@pytest.mark.parametrize(
    ("name", "value"), [("tokens", 60_000), ("features", np.nan), ("origin", 200)]
)
def test_values_that_no_pool_holds_are_damage(sampled: Project, name: str, value: float) -> None:
    pool = pool_of(sampled)
    offsets, rows = pool.block(OWN // 4)
    first = int(offsets[OWN % 4])
    array = getattr(rows, name).copy()
    array[first : first + 1] = value
    changed = {n: getattr(rows, n) for n in ("tokens", "lengths", "complete", "origin", "features")}
    pool.write(OWN // 4, offsets, type(rows)(**(changed | {name: array})))
    with pytest.raises(ProjectError, match=r"block-000001\.safetensors is damaged"):
        PoolBrowser(sampled).endings(OWN)


# --- distributions ---------------------------------------------------------------------------


def test_distributions_hold_what_could_be_assigned_of_the_sampled_contexts(
    sampled: Project,
) -> None:
    pool, browser = pool_of(sampled), PoolBrowser(sampled)
    may_be = Usable.of(RECIPE, corpus())
    whole = [may_be(pool.context(c)).sum() for c in range(CONTEXTS)]
    for i, d in enumerate(browser.distributions()):
        assert d.name == browser.feature_names[i]
        assert d.sizes.tolist() == [n for n in whole if n]
        assert (len(d.found), len(d.generated)) == (len(d.sizes), sum(whole))
        assert d.weights.sum() == pytest.approx(1.0)
    few = browser.distributions(4)
    assert [len(d.found) for d in few] == [4] * len(few)
    lengths = next(d for d in few if d.name == "v_tokens")
    assert np.isin(lengths.found, corpus().v.lengths).all()
    again = PoolBrowser(sampled).distributions(4)
    assert [d.found.tolist() for d in again] == [d.found.tolist() for d in few]


def test_what_all_endings_of_a_context_share_gives_nothing_away(sampled: Project) -> None:
    by_name = {d.name: d for d in PoolBrowser(sampled).distributions()}
    for name in ("s_n_forward", "n_tokens", "s_tokens"):
        assert (by_name[name].smaller, by_name[name].margin, by_name[name].told) == (0.5, 0.0, 0.5)


CONTEXT = st.tuples(st.integers(-3, 3), st.lists(st.integers(-3, 3), min_size=1, max_size=6))


def compare(rows: list[tuple[int, list[int]]]) -> tuple[float, float]:
    return smaller(
        np.array([found for found, _ in rows], np.float32),
        np.array([x for _, candidates in rows for x in candidates], np.float32),
        np.array([len(candidates) for _, candidates in rows], np.int64),
    )


@given(st.lists(CONTEXT, min_size=1, max_size=8))
def test_the_share_is_that_of_all_pairs_of_a_context_ties_halved(
    rows: list[tuple[int, list[int]]],
) -> None:
    shares = []
    for found, candidates in rows:
        pairs = [1.0 if found < x else 0.5 if found == x else 0.0 for x in candidates]
        shares.append(sum(pairs) / len(pairs))
    share, margin = compare(rows)
    assert share == pytest.approx(sum(shares) / len(shares))
    if len(rows) > 1:
        assert margin == pytest.approx(1.96 * np.std(shares, ddof=1) / np.sqrt(len(rows)))


@given(st.lists(CONTEXT, min_size=1, max_size=8))
def test_turning_the_numbers_round_turns_the_share_round(rows: list[tuple[int, list[int]]]) -> None:
    share, margin = compare(rows)
    turned, same = compare([(-found, [-x for x in xs]) for found, xs in rows])
    assert turned == pytest.approx(1.0 - share) and same == pytest.approx(margin)


def test_the_share_of_no_contexts_is_a_half() -> None:
    assert compare([]) == (0.5, 0.5)
