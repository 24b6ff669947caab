"""What members go by: planted giveaways come out on top, and every number is counted again."""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from engine.made_items import FEATURES, SIZE, TAGS, VOCABULARY, A, B, fitted, planted, spec
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from planted import TINY, plant

from swag_studio import evidence
from swag_studio import recipe as recipes
from swag_studio.engine import adversarial_filter, filter_iteration, runtime, telling
from swag_studio.engine.assignment import AssignmentLog
from swag_studio.engine.clues import Names
from swag_studio.engine.ensemble import Ensemble, EnsembleSpec
from swag_studio.engine.items import Items, accuracy
from swag_studio.engine.members.base import Member
from swag_studio.engine.members.batches import Batch, Data
from swag_studio.engine.members.cnn import SIZES
from swag_studio.events import Changed, Event, Message
from swag_studio.evidence import Clue, Evidence
from swag_studio.project import Project

CONTEXTS = 60


class Given:
    """Stands for `Assigned`: contexts with SIZE endings each."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self.rows = np.zeros((len(items) // SIZE, SIZE), np.uint16)

    def items(self, places: Any, tags: bool) -> Items:
        return self._items.take((places[:, None] * SIZE + np.arange(SIZE)).ravel())


def names(contexts: int = CONTEXTS) -> Names:
    return Names(
        words=[f"w{i}" for i in range(VOCABULARY)],
        tags=[f"T{i}" for i in range(1, TAGS + 1)],
        features=[f"f{i}" for i in range(FEATURES)],
        contexts=[f"c{i}" for i in range(contexts)],
    )


def told(ensemble: Ensemble, items: Items, seed: int = 5) -> dict[str, Evidence]:
    places, scores = np.arange(len(items) // SIZE), ensemble.score(items)
    tested = filter_iteration.Tested(ensemble, places, scores, {})
    work = telling.tell(3, tested, Given(items), names(), seed)  # type: ignore[arg-type]
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return {e.member: e for e in stop.value}


@functools.cache
def trained(giveaway: str) -> tuple[Ensemble, Items]:
    return fitted(spec(), planted(giveaway, 120)), planted(giveaway, CONTEXTS, seed=50)


@functools.cache
def explained(giveaway: str) -> dict[str, Evidence]:
    return told(*trained(giveaway))


def clue(giveaway: str, member: str, text: str) -> Clue:
    return next(c for c in explained(giveaway)[member].clues if c.text == text)


# --- planted giveaways -----------------------------------------------------------------------


def test_the_planted_words_are_the_most_telling() -> None:
    clues = explained("word")["bow"].clues
    assert {clues[0].text, clues[1].text} == {f"w{A}", f"w{B}"}
    found, other = clue("word", "bow", f"w{A}"), clue("word", "bow", f"w{B}")
    assert found.weight > 0 > other.weight
    assert (found.found, found.assigned, other.found, other.assigned) == (1, 0, 0, 1)
    assert found.contexts == tuple(f"c{i}" for i in range(20))


def test_ngrams_of_the_planted_order_are_the_most_telling() -> None:
    """A B against B A: a bigram "A x" tells as much as the order itself, so either may lead."""
    top = explained("order")["cnn"].clues[:10]
    assert all({f"w{A}", f"w{B}"} & {*c.text.split()} for c in top)
    assert all((c.weight > 0) == (c.found > c.assigned) for c in top)


def test_the_planted_tags_are_the_most_telling() -> None:
    top = explained("tags")["pos"].clues[0]
    pair = "[T1] [T2]" if top.weight > 0 else "[T2] [T1]"
    assert pair in top.text
    assert (top.found > top.assigned) == (top.weight > 0)


def test_the_planted_feature_is_the_most_telling() -> None:
    items = trained("feature")[1]
    top, *others = explained("feature")["mlp"].clues
    assert top.text == "f1" and top.weight > 0.3 > 0.1 > max(c.weight for c in others)
    found = np.arange(len(items)) % SIZE == 0
    assert top.found == pytest.approx(items.features[found, 1].mean(), rel=1e-3)
    assert top.assigned == pytest.approx(items.features[~found, 1].mean(), rel=1e-3)
    assert 0 < len(top.contexts) <= 20


def test_kinds_and_counts() -> None:
    every = explained("word")
    assert {m: e.kind for m, e in every.items()} == {
        "mlp": "features",
        "bow": "words",
        "cnn": "ngrams",
        "pos": "tags",
    }
    assert all(e.iteration == 3 and e.tested == CONTEXTS for e in every.values())
    assert all(0 < len(e.clues) <= 20 for e in every.values())
    assert all(len(c.contexts) <= 20 for e in every.values() for c in e.clues)


# --- counted again, in plain loops -----------------------------------------------------------


def shares(showing: set[int]) -> tuple[float, float]:
    found = sum(row % SIZE == 0 for row in showing)
    return found / CONTEXTS, (len(showing) - found) / (CONTEXTS * (SIZE - 1))


def check(evidence: Evidence, expected: dict[str, tuple[float, set[int]]], least: int) -> None:
    """Every clue has the weight and shares of `expected`; none is shown by too few endings."""
    for c in evidence.clues:
        weight, showing = expected[c.text]
        assert len(showing) >= least
        assert c.weight == pytest.approx(weight, rel=2e-3, abs=1e-5)
        assert (c.found, c.assigned) == pytest.approx(shares(showing), rel=1e-3, abs=1e-4)
        assert {int(i[1:]) for i in c.contexts} <= {row // SIZE for row in showing}


def texts(items: Items) -> list[tuple[list[int], list[int]]]:
    rows = zip(items.n, items.v, items.n_lengths, items.v_lengths, strict=True)
    return [(n[:a].tolist(), v[:b].tolist()) for n, v, a, b in rows]


def test_words_counted_again() -> None:
    ensemble, items = trained("word")
    network = ensemble.network
    vectors: Any = network.members["bow"].embedding.weight.detach()  # type: ignore[union-attr]
    head: Any = network.heads["bow"]
    logits = (vectors @ head.weight[0].detach()).tolist()
    added: dict[int, dict[int, float]] = defaultdict(dict)
    for row, (_, v) in enumerate(texts(items)):
        for word in v:
            added[word][row] = added[word].get(row, 0) + logits[word] / len(v)
    per_row = np.zeros(len(items))
    for rows in added.values():
        for row, value in rows.items():
            per_row[row] += value
    assert np.allclose(per_row + head.bias.item(), ensemble.score(items)["bow"], atol=1e-4)
    mean = np.mean([value for rows in added.values() for value in rows.values()])
    expected = {
        f"w{w}": (float(np.mean([*rows.values()]) - mean), set(rows)) for w, rows in added.items()
    }
    check(explained("word")["bow"], expected, 3)


def test_ngrams_counted_again() -> None:
    ensemble, items = trained("order")
    member, head = ensemble.network.members["cnn"], ensemble.network.heads["cnn"]
    filters = len(head.weight[0]) // len(SIZES)  # type: ignore[index, arg-type]
    showing: dict[str, set[int]] = defaultdict(set)
    total: dict[str, float] = defaultdict(float)
    data = Data(items, False, False, torch.device("cpu"))
    for row, (n, v) in enumerate(texts(items)):
        text = [f"w{i}" for i in [*n, *v]]

        def gram(start: int, size: int, text: list[str] = text, n: list[int] = n) -> str | None:
            whole = len(n) < start + size <= len(text)
            return " ".join(text[start : start + size]) if whole else None

        for size, start in itertools.product(SIZES, range(len(text))):
            if (shown := gram(start, size)) is not None:
                showing[shown].add(row)
        with torch.no_grad():
            table = member.responses(data.batch(np.array([row])))[0]  # type: ignore[operator, union-attr]
        for column in range(table.shape[1]):
            start = int(table[:, column].argmax())
            shown = gram(start, SIZES[column // filters])
            if shown is not None:
                best = max(float(table[start, column]), 0.0)
                total[shown] += best * head.weight[0, column].item()  # type: ignore[index]
    expected = {g: (total[g] / len(rows), rows) for g, rows in showing.items()}
    check(explained("order")["cnn"], expected, 2)


def test_tag_patterns_counted_again() -> None:
    ensemble, items = trained("tags")
    words: Any = ensemble.network.members["pos"].word_symbol  # type: ignore[union-attr]
    table = ensemble.score(items)["pos"].astype(float).reshape(-1, SIZE)
    scores = (table - table.mean(axis=1, keepdims=True)).ravel()
    assert items.tags_n is not None and items.tags_v is not None
    showing: dict[str, set[int]] = defaultdict(set)
    for row, (n, v) in enumerate(texts(items)):
        tags = [*items.tags_n[row][: len(n)], *items.tags_v[row][: len(v)]]
        seen = [f"w{w}" if words[w] else f"[T{t}]" for w, t in zip([*n, *v], tags, strict=True)]
        for start in range(max(0, len(n) - 2), len(seen) - 2):
            showing[" ".join(seen[start : start + 3])].add(row)
    expected = {}
    for pattern, rows in showing.items():
        has = np.isin(np.arange(len(items)), list(rows))
        expected[pattern] = (float(scores[has].mean() - scores[~has].mean()), rows)
    check(explained("tags")["pos"], expected, 5)


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 4), st.integers(4, 8)),
        elements=st.sampled_from([0.0, 1.0, 2.0, 3.0]),
    )
)
def test_four_way_is_the_mean_over_all_triples(scores: np.ndarray) -> None:
    triples = list(itertools.combinations(range(1, scores.shape[1]), 3))
    expected = [
        np.mean([accuracy(row[None, [0, *triple]]) for triple in triples]) for row in scores
    ]
    assert telling.four_way(scores) == pytest.approx(np.array(expected))


# --- manners ---------------------------------------------------------------------------------


def test_telling_is_repeated_to_the_bit_and_leaves_no_trace() -> None:
    ensemble, items = trained("word")
    before = {k: t.clone() for k, t in ensemble.network.state_dict().items()}
    random = torch.get_rng_state()
    assert told(ensemble, items) == told(ensemble, items)
    assert torch.equal(random, torch.get_rng_state())
    after = ensemble.network.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    assert torch.is_grad_enabled()


def test_no_more_contexts_than_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "MOST_ENDINGS", 10 * SIZE)
    monkeypatch.setattr(telling, "MOST_SHUFFLED", 7)
    every = told(*trained("word"))
    assert {m: e.tested for m, e in every.items()} == {"mlp": 7, "bow": 10, "cnn": 10, "pos": 10}
    assert every["bow"].clues[0].text in (f"w{A}", f"w{B}")


class Silent(Member):
    """A member from elsewhere, without a method."""

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        self.width = 1

    def forward(self, batch: Batch) -> torch.Tensor:
        return batch.lengths[:, None].float()


def test_a_member_without_a_method_is_passed_over() -> None:
    items = trained("word")[1]
    shape = spec("bow", "silent")
    parts = {"bow": telling.BagOfWords, "silent": Silent}
    assert list(told(Ensemble(shape, 1, "cpu", parts), items)) == ["bow"]


# --- in the filter ---------------------------------------------------------------------------

ALONE = {
    **TINY,
    "filter.members": "mlp,bow",
    "filter.mlp_iterations": 7,
    "filter.ensemble_iterations": 1,
    "filter.epochs": 1,
    "filter.control_arm": False,
    "filter.probe": False,
    "filter.strength_folds": 0,
}


def filtered(project: Project) -> tuple[Path, list[Event]]:
    """A run; at each event all committed iterations that are to be explained are."""
    recipe = recipes.preset("demo").with_values(ALONE)
    plant(project, recipe, contexts=16)
    folder, events = project.root / "filter" / "v1", []
    for event in adversarial_filter.run(recipe, project):
        events.append(event)
        committed = AssignmentLog(folder).committed()
        if not any(isinstance(e, Message) for e in events):
            assert {i for i in (0, 5, 6, 7) if i < committed} <= set(evidence.iterations(folder))
    return folder, events


def test_the_filter_explains_every_fifth_iteration_and_the_last(project: Project) -> None:
    folder, events = filtered(project)
    assert evidence.iterations(folder) == [0, 5, 6, 7]
    assert [[e.member for e in evidence.read(folder, i)] for i in (5, 7)] == [
        ["mlp"],
        ["mlp", "bow"],
    ]
    assert {e.iteration for i in (0, 5, 6, 7) for e in evidence.read(folder, i)} == {0, 5, 6, 7}
    assert sum(e == Changed(("evidence",)) for e in events) == 4


def test_what_is_filtered_does_not_depend_on_what_is_told(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = filtered(project)

    def short_of_memory(*_: object) -> Any:
        yield "explaining"
        raise RuntimeError("out of memory")

    monkeypatch.setattr(adversarial_filter, "tell", short_of_memory)
    monkeypatch.setattr(runtime, "is_out_of_memory", lambda error: "memory" in str(error))
    with Project.create(tmp_path / "other.swag", recipes.preset("demo")) as silent:
        other, events = filtered(silent)
        assert evidence.iterations(other) == []
        assert sum("explain" in e.text for e in events if isinstance(e, Message)) == 4
        for path in (*folder.glob("*.safetensors"), *folder.rglob("crossfit/*")):
            assert path.read_bytes() == (other / path.relative_to(folder)).read_bytes()


def test_a_bug_in_telling_is_not_hidden(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Any:
        yield "explaining"
        raise RuntimeError("a bug")

    monkeypatch.setattr(adversarial_filter, "tell", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        filtered(project)


def test_names_are_read_from_corpus_and_source(project: Project) -> None:
    made = plant(project, recipes.preset("demo").with_values(TINY), contexts=12)
    tagger = SimpleNamespace(labels=("NN", "VBZ", "XYZ"))
    source: Any = SimpleNamespace(
        pool=made.pool, contexts=np.array([1, 4]), tagging=SimpleNamespace(tagger=tagger)
    )
    found = Names.of(made.corpus, source)
    assert list(found.contexts) == [made.corpus.context_ids[1], made.corpus.context_ids[4]]
    assert "Dog" in found.words and "dog" not in found.words
    assert list(found.tags) == ["noun", "verb -s", "XYZ"]
    assert tuple(found.features) == made.pool.layout.feature_names
