"""What the models are given, against the pool's own rows and a tagger that counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import TINY, Planted, plant

from swag_studio import recipe as recipes
from swag_studio.engine.assignment import Assignment, draw_initial
from swag_studio.engine.filter_items import Assigned, Candidates, Source
from swag_studio.engine.filter_iteration import noted
from swag_studio.engine.items import Items
from swag_studio.engine.remap import Swaps
from swag_studio.engine.tagging import TagCache
from swag_studio.engine.usable import Usable
from swag_studio.project import Project

K = 4


class CountingTagger:
    """Tags a token by its id + 1, so that a tag tells the token; counts the endings it tagged."""

    def __init__(self) -> None:
        self.tagged = 0

    def phrases(self, n: Any, n_lengths: Any) -> Any:
        return np.where(np.arange(n.shape[1]) < n_lengths[:, None], n + 1, 0).astype(np.uint8)

    def endings(self, n: Any, n_lengths: Any, v: Any, v_lengths: Any) -> Any:
        self.tagged += len(v)
        return self.phrases(v, v_lengths)


def ended(work: Any) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value


@pytest.fixture
def planted(project: Project) -> Planted:
    return plant(project, recipes.preset("demo").with_values(TINY), contexts=12)


@pytest.fixture
def assignment(planted: Planted) -> Assignment:
    return ended(draw_initial(planted.pool, planted.corpus.context_ids, K, Usable(1), 1))


@pytest.fixture
def source(planted: Planted, assignment: Assignment, tmp_path: Path) -> Source:
    source = Source(planted.corpus, planted.pool, assignment.contexts)
    source.tag_with(CountingTagger(), TagCache(tmp_path / "tags", planted.pool))  # type: ignore[arg-type]
    return source


def test_the_rule_of_openings_is_what_found_endings_open_with(planted: Planted) -> None:
    corpus, recipe = planted.corpus, planted.recipe.with_values({"prepare.min_ending_tokens": 4})
    assert Usable.of(recipe, corpus) == Usable(4)
    rule = Usable.of(recipe.with_values({"filter.found_openings": True}), corpus)
    assert rule.shortest == 4 and rule.openings is not None
    opens = {int(corpus.v[place][0]) for place in range(len(planted.contexts))}
    assert set(np.flatnonzero(rule.openings).tolist()) == opens
    assert len(rule.openings) == len(corpus.vocabulary)


def check(items: Items, planted: Planted, places: list[int], rows: list[int]) -> None:
    """Each row of `items` is that row of the pool, after its context's noun phrase."""
    assert len(items) == len(rows)
    for i, (place, row) in enumerate(zip(places, rows, strict=True)):
        n, pool_rows = planted.corpus.n[place], planted.pool.context(place)
        v = pool_rows.tokens[row][: pool_rows.lengths[row]]
        assert items.n[i][: items.n_lengths[i]].tolist() == n.tolist()
        assert items.v[i][: items.v_lengths[i]].tolist() == v.tolist()
        assert not items.v[i][items.v_lengths[i] :].any()
        assert np.array_equal(items.features[i], pool_rows.features[row])
        if items.tags_v is not None and items.tags_n is not None:
            assert items.tags_n[i][: len(n)].tolist() == (n + 1).tolist()
            assert items.tags_v[i][: len(v)].tolist() == (v + 1).tolist()
            assert np.count_nonzero(items.tags_v[i]) == len(v)


def test_assigned_items_are_the_pools_rows(
    planted: Planted, assignment: Assignment, source: Source
) -> None:
    assigned = ended(Assigned.gather(source, assignment))
    ended(assigned.fill_tags())
    places = np.array([7, 2, 11])
    expected = [0, *assignment.rows[7], 0, *assignment.rows[2], 0, *assignment.rows[11]]
    for tags in (True, False):
        items = assigned.items(places, tags)
        assert (items.tags_v is not None) == tags
        check(items, planted, np.repeat(places, K + 1).tolist(), expected)


def test_what_is_put_in_is_read_as_if_gathered_anew(
    planted: Planted, assignment: Assignment, source: Source
) -> None:
    assigned = ended(Assigned.gather(source, assignment))
    ended(assigned.fill_tags())
    few = Candidates(source, np.array([3, 8]), tags=True)
    new = np.array([int(assignment.candidates(p)[i]) for p, i in ((3, 0), (3, 5), (8, 2))])
    which, slot = np.array([0, 0, 1]), np.array([1, 3, 0], np.uint8)
    place, scores = few.places[which], np.zeros(3, np.float32)
    old = assignment.rows[place, slot]
    swaps = Swaps(place, slot, old, new.astype(np.uint16), scores, scores, scores, 2, 0, 3)
    assigned.put(swaps, few.incoming(which, swaps.new))
    assignment.apply(swaps)
    ended(assigned.fill_tags())
    anew = ended(Assigned.gather(source, assignment))
    ended(anew.fill_tags())
    for name in ("rows", "v", "v_lengths", "features", "tags"):
        assert np.array_equal(getattr(assigned, name), getattr(anew, name))


def test_each_ending_is_tagged_once_however_often_it_is_asked_for(
    planted: Planted, assignment: Assignment, source: Source
) -> None:
    assert source.tagging is not None
    tagger: Any = source.tagging.tagger
    assigned = ended(Assigned.gather(source, assignment))
    ended(assigned.fill_tags())
    assert tagger.tagged == 12 * (K + 1)
    few = Candidates(source, np.array([3, 8]), tags=True)
    which, rows = np.array([0, 1, 1, 0]), np.array([int(assignment.rows[3, 0]), 5, 6, 7])
    asked = {(p, r) for p, r in zip(few.places[which].tolist(), rows.tolist(), strict=True)}
    held = {(p, int(r)) for p in (3, 8) for r in (0, *assignment.rows[p])}
    for _ in range(2):
        ended(few.fill_tags(which, rows))
        check(few.items(which, rows), planted, few.places[which].tolist(), rows.tolist())
    assert tagger.tagged == 12 * (K + 1) + len(asked - held)
    few.keep_tags()
    tagged = tagger.tagged
    later = Candidates(source, np.array([8, 3]), tags=True)
    ended(later.fill_tags(1 - which, rows))
    check(later.items(1 - which, rows), planted, few.places[which].tolist(), rows.tolist())
    anew = ended(Assigned.gather(source, assignment))
    ended(anew.fill_tags())
    assert tagger.tagged == tagged


def test_noted() -> None:
    def work() -> Any:
        yield 1
        yield 2
        return "result"

    notes = noted(work(), "seen {}/2")
    assert [next(notes), next(notes)] == ["seen 1/2", "seen 2/2"]
    with pytest.raises(StopIteration) as stop:
        next(notes)
    assert stop.value.value == "result"
