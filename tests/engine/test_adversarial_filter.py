"""The stage "filter" on a planted project: it falls, it resumes, it keeps its rules."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import INDEX, TINY, TOKENS, Planted, plant

from swag_studio import recipe as recipes
from swag_studio.engine import adversarial_filter, runtime
from swag_studio.engine.adversarial_filter import run
from swag_studio.engine.assignment import AssignmentLog
from swag_studio.engine.filter_curves import converged
from swag_studio.engine.filter_iteration import split
from swag_studio.engine.filter_setup import phases, pos_words
from swag_studio.errors import StageError
from swag_studio.events import Event, Finished, Message, Metric, Progress
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import ending_id

MLP_ONLY = {"filter.members": "mlp", "filter.ensemble_iterations": 0}
BARE = {"filter.control_arm": False, "filter.probe": False, "filter.strength_folds": 0}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tiny(**values: Any) -> Recipe:
    """The planted project's recipe; `filter__policy` stands for "filter.policy"."""
    given = {key.replace("__", "."): value for key, value in values.items()}
    return recipes.preset("demo").with_values({**TINY, **given})


def made(project: Project, recipe: Recipe, **options: Any) -> tuple[Planted, list[Event]]:
    planted = plant(project, recipe, **options)
    return planted, list(run(recipe, project))


def metrics(events: list[Event], name: str, member: str = "", arm: str = "main") -> list[float]:
    return [
        e.value
        for e in events
        if isinstance(e, Metric)
        and e.name == name
        and e.tags.get("member", "") == member
        and e.tags["arm"] == arm
    ]


def log_of(planted: Planted) -> AssignmentLog:
    artifact = planted.project.require("filter", planted.recipe)
    return AssignmentLog(planted.project.folder(artifact))


# --- what it is for --------------------------------------------------------------------------


def test_the_giveaway_is_filtered_out(project: Project) -> None:
    """Three quarters of the candidates give themselves away, and so do the first distractors."""
    recipe = tiny(
        **MLP_ONLY,
        filter__mlp_iterations=12,
        filter__mlp_width=32,
        filter__mlp_batch=64,
        filter__epochs=10,
        filter__probe=False,
        filter__strength_folds=0,
    )
    planted, events = made(project, recipe, contexts=120, candidates=40)

    def share(rows: Any) -> float:
        return float(np.mean([planted.given[c][r] for c, r in enumerate(rows)]))

    log = log_of(planted)
    initial, current = log.initial(), log.current()
    assert initial is not None and current is not None
    assert share(initial.rows) == pytest.approx(0.75, abs=0.08)
    assert share(current.rows) < 0.3
    fallen = metrics(events, "accuracy_2way", "mlp")
    assert np.mean(fallen[-3:]) < np.mean(fallen[:2]) - 0.15
    before, after = metrics(events, "accuracy_2way", "mlp", arm="control")
    assert min(before, after) > np.mean(fallen[-3:]) + 0.1


def test_no_distractor_opens_as_no_found_ending_does(project: Project) -> None:
    recipe = tiny(**MLP_ONLY, filter__found_openings=True, filter__probe=False)
    planted, _ = made(project, recipe, contexts=60, candidates=60)
    openings = {int(v[0]) for v in (planted.corpus.v[i] for i in range(60))}
    log, pool = log_of(planted), planted.pool
    every = {int(t) for c in range(60) for t in pool.context(c).tokens[1:, 0]}
    assert every - openings  # or this would show nothing
    for assignment in (log.initial(), log.current()):
        assert assignment is not None
        for context, rows in zip(assignment.contexts.tolist(), assignment.rows, strict=True):
            assert openings >= {int(t) for t in pool.context(context).tokens[rows, 0]}


def test_every_rule_is_kept(project: Project) -> None:
    planted, events = made(project, tiny(), short=3)
    log, pool = log_of(planted), planted.pool
    initial = log.initial()
    assert initial is not None
    assert len(initial) == 37  # three contexts have two candidates only
    for place, context in enumerate(initial.contexts.tolist()):
        rows = pool.context(context)
        texts = [row.tobytes() for row in rows.tokens]
        allowed = {
            row for row in range(1, 31) if rows.complete[row] and texts[row] not in texts[:row]
        }
        assert allowed.isdisjoint([9, 19, 29, 30])  # every tenth is cut off, 30 repeats 1
        assert set(initial.candidates(place).tolist()) == allowed - set(initial.rows[place])
        history = log.history(context)
        assigned = initial.rows[place].tolist()
        for iteration, slot, out, into in history:
            assert assigned[slot] == out and into in allowed and into not in assigned
            assert rows.complete[into] == 1
            assigned[slot] = into
            assert 0 <= iteration < 4
        current = log.current()
        assert current is not None and current.rows[place].tolist() == assigned
    for swaps in log.swaps():
        assert len(swaps.place) and (np.bincount(swaps.place) <= 2).all()
        assert (swaps.old_score < swaps.gold_score).all()
        assert (swaps.new_score > swaps.gold_score).all()
    assert any(isinstance(e, Message) and "3 contexts" in e.text for e in events)
    summary = project.require("filter", planted.recipe).summary
    assert summary["contexts"] == 37 and summary["left_out"] == 3


def test_what_is_told(project: Project) -> None:
    planted, events = made(project, tiny())
    assert isinstance(events[-1], Finished)
    heads = ("mlp", "bow", "cnn", "pos", "ensemble")
    for name in ("accuracy", "accuracy_4way", "accuracy_2way", "loss"):
        assert len(metrics(events, name, "mlp")) == 4
        for head in heads[1:]:
            assert len(metrics(events, name, head)) == 2
        for head in heads:  # before, between the phases, after
            assert len(metrics(events, name, head, arm="control")) == 3
        assert len(metrics(events, name, "probe")) == 2
    for name in ("replaced_per_context", "scanned_per_context", "exhausted_share", "seconds"):
        assert len(metrics(events, name)) == 4
    for head in heads:
        assert len(metrics(events, "strength_log_loss", head)) == 2
    assert all(0 <= v <= 2 for v in metrics(events, "replaced_per_context"))
    assert isinstance(events[0], Progress)
    summary = project.require("filter", planted.recipe).summary
    first = summary["phases"]["ensemble"]["ensemble"]["accuracy_4way"]["first"]  # type: ignore[index]
    curve = metrics(events, "accuracy_4way", "ensemble")
    assert first == pytest.approx(curve[0], abs=1e-4)  # of two iterations, the first half


def test_what_is_left_in_the_store(project: Project) -> None:
    planted, _ = made(project, tiny())
    version = project.require("filter", planted.recipe).version
    current = log_of(planted).current()
    assert current is not None
    stored = dict(project.store.assigned(version))
    assert list(stored) == list(planted.corpus.context_ids)
    for place, context in enumerate(planted.contexts):
        slots = stored[context.id]
        assert [slot for slot, _, _ in slots] == [0, 1, 2, 3, 4]
        assert slots[0][1].text == context.found and slots[0][1].kind == "found"
        assert [e.row for _, e, _ in slots[1:]] == current.rows[place].tolist()
        rows = planted.pool.context(place)
        for _, ending, score in slots[1:]:
            ids = rows.tokens[ending.row][: rows.lengths[ending.row]]
            words = " ".join(TOKENS[i] for i in ids).replace(" .", ".").replace("dog", "Dog")
            assert ending.text == words and ending.kind == "generated"
            assert ending.id == ending_id(context.id, ending.text) and np.isfinite(score)


# --- resuming --------------------------------------------------------------------------------


def contents(project: Project, recipe: Recipe) -> dict[str, Any]:
    """All that a run leaves and that must repeat."""
    folder = project.root / "filter"
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    artifact = project.require("filter", recipe)
    rows = list(project.store.assigned(artifact.version))
    return {"files": files, "rows": rows, "summary": artifact.summary}


def points(events: list[Event]) -> dict[tuple[str, int], float]:
    return {
        (e.series, e.step): e.value for e in events if isinstance(e, Metric) and e.name != "seconds"
    }


def interrupted(project: Project, recipe: Recipe, target: Path) -> tuple[list[Path], list[Event]]:
    """A run, and a copy of the project at each yield at which its files differ from before."""
    copies: list[Path] = []
    events: list[Event] = []
    seen: set[tuple[str, ...]] = set()
    for event in run(recipe, project):
        events.append(event)
        state = tuple(sorted(str(p) for p in (project.root / "filter").rglob("*")))
        if state not in seen:
            seen.add(state)
            copies.append(target / f"copy-{len(copies)}.swag")
            shutil.copytree(project.root, copies[-1])
            swagproj = copies[-1] / f"{project.root.stem}.swagproj"
            swagproj.rename(copies[-1] / f"{copies[-1].stem}.swagproj")
    return copies, events


@pytest.mark.parametrize("members", ["mlp,bow", "mlp,pos"])
def test_a_run_closed_at_any_yield_ends_the_same(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: str
) -> None:
    """What is on disk is all that a run goes on from, so one resume for each state of the disk."""
    monkeypatch.setattr(adversarial_filter, "BEAT", 0.0)
    recipe = tiny(
        filter__members=members,
        filter__mlp_iterations=1,
        filter__ensemble_iterations=2,
        filter__epochs=1,
    )
    plant(project, recipe, contexts=16)
    copies, events = interrupted(project, recipe, tmp_path)
    expected = contents(project, recipe)
    # initial, 3 iterations, 7 measures and more: the folders, crossfit's files, tags
    assert len(copies) >= 12
    for copy in copies if members == "mlp,bow" else copies[:: len(copies) // 4]:
        (copy / "filter" / "v1" / ".iteration-0000.safetensors.7.tmp").write_bytes(b"torn")
        with Project.open(copy) as again:
            resumed = list(run(recipe, again))
            result = contents(again, recipe)
            assert [n for n, d in result["files"].items() if d != expected["files"].get(n)] == []
            assert result == expected
            assert points(resumed) == points(events)
            assert list(run(recipe, again)) == []
        shutil.rmtree(copy)


def test_writing_the_endings_again_changes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tiny(**MLP_ONLY, **BARE, filter__mlp_iterations=1)
    plant(project, recipe, contexts=16)
    stopped = run(recipe, project)
    monkeypatch.setattr(project, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        list(stopped)
    monkeypatch.undo()
    once = list(project.store.assigned(1))
    assert len(once) == 16
    list(run(recipe, project))
    assert list(project.store.assigned(1)) == once


# --- choices ---------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["random", "hardest", "softmax"])
def test_policies(project: Project, policy: str) -> None:
    recipe = tiny(**MLP_ONLY, **BARE, filter__policy=policy, filter__mlp_iterations=2)
    planted, _ = made(project, recipe, contexts=20)
    log = log_of(planted)
    scanned = sum(info["scanned"] for info in log.infos())
    # A full scan scores the 26 usable candidates but the 4 assigned of each context with an easy
    # distractor; the lazy one stops sooner.
    full = 22 * sum(info["with_easy"] for info in log.infos())
    assert scanned < full if policy == "random" else scanned == full
    assert sum(len(s.place) for s in log.swaps()) > 0


def test_adaptive_count_replaces_nothing_at_chance(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from swag_studio.engine import filter_iteration

    measures = {"accuracy": 0.2, "accuracy_4way": 0.25, "accuracy_2way": 0.52, "loss": 1.0}
    monkeypatch.setattr(filter_iteration, "member_accuracies", lambda *_: {"mlp": measures})
    recipe = tiny(**MLP_ONLY, **BARE, filter__adaptive=True, filter__mlp_iterations=1)
    _, events = made(project, recipe, contexts=16)
    assert metrics(events, "replaced_per_context") == [0]
    assert metrics(events, "scanned_per_context") == [0]
    assert metrics(events, "exhausted_share") == []


def test_own_candidates_without_features(project: Project) -> None:
    """The MLP is left out, and the texts are the ones that were given."""
    recipe = tiny(generate__score_own=False, filter__ensemble_iterations=1)
    planted, events = made(project, recipe, contexts=20, own=True)
    assert any(isinstance(e, Message) and "mlp" in e.text for e in events)
    assert not metrics(events, "accuracy", "mlp")
    assert len(metrics(events, "accuracy", "bow")) == 1
    summary = project.require("filter", recipe).summary
    assert summary["members"] == ["bow", "cnn", "pos"]
    for context, (_, slots) in zip(planted.contexts, project.store.assigned(1), strict=True):
        given = project.store.own_context("source", context.document)
        assert given is not None
        for _, ending, _ in slots[1:]:
            assert ending.kind == "own" and ending.text == given.endings[ending.row - 1]


def test_nothing_is_tagged_where_no_member_reads_tags(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from swag_studio.engine import filter_setup

    monkeypatch.delattr(filter_setup, "Tagger")
    recipe = tiny(filter__members="mlp,bow,cnn", filter__epochs=1)
    made(project, recipe, contexts=16)
    assert sorted(p.name for p in (project.root / "filter").iterdir()) == ["v1"]


def test_too_few_contexts(project: Project) -> None:
    recipe = tiny()
    plant(project, recipe, contexts=12, short=4)
    with pytest.raises(StageError, match="only 8 contexts have 4 candidates that may be assigned"):
        list(run(recipe, project))


def test_own_candidates_and_no_other_member(project: Project) -> None:
    recipe = tiny(generate__score_own=False, filter__members="mlp")
    plant(project, recipe, contexts=12, own=True)
    with pytest.raises(StageError, match=r"generate\.score_own"):
        list(run(recipe, project))


def test_half_the_batch_where_memory_does_not_suffice(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    real = adversarial_filter.train_and_test

    def short_of_memory(spec: Any, *rest: Any) -> Any:
        batches.append(spec.recipe.batch)
        if spec.recipe.batch > 40:
            raise RuntimeError("out of memory")
        return (yield from real(spec, *rest))

    monkeypatch.setattr(adversarial_filter, "train_and_test", short_of_memory)
    monkeypatch.setattr(runtime, "is_out_of_memory", lambda error: "memory" in str(error))
    recipe = tiny(**MLP_ONLY, **BARE, filter__batch=128, filter__mlp_iterations=2)
    _, events = made(project, recipe, contexts=16)
    assert batches == [128, 64, 32, 32]
    told = [e.text for e in events if isinstance(e, Message)]
    assert [t.split()[0] for t in told] == ["128", "64"]


# --- pieces ----------------------------------------------------------------------------------


def test_converged() -> None:
    falling = [0.60, 0.58, 0.52, 0.50, 0.44, 0.43]
    flat = [0.31, 0.29, 0.30, 0.31, 0.29, 0.30]
    assert not converged(falling, 6)
    assert converged(flat, 6)
    assert not converged(flat, 8)  # too few yet
    assert converged(falling + flat, 6)
    assert converged([0.3, 0.3, 0.4, 0.4], 4)  # risen
    # Means 0.30 and 0.28, both halves of variance 0.0002 (ddof 1), and so a standard error of
    # sqrt((0.0002 + 0.0002) / 2) = 0.0141 < 0.02: still falling.
    assert not converged([0.31, 0.29, 0.29, 0.27], 4)


def test_a_phase_ends_when_its_curve_has(project: Project) -> None:
    recipe = tiny(
        **MLP_ONLY,
        **BARE,
        filter__mlp_iterations=30,
        filter__converge=True,
        filter__converge_window=4,
        filter__epochs=1,
    )
    planted, events = made(project, recipe, contexts=16)
    curve = metrics(events, "accuracy_4way", "mlp")
    assert 4 <= len(curve) < 30
    assert converged(curve, 4) and not any(converged(curve[:n], 4) for n in range(len(curve)))
    assert log_of(planted).committed() == len(curve)


def test_phases() -> None:
    both = tiny().filter
    names = ("mlp", "bow")
    assert [(p.name, p.members, p.head) for p in phases(both, names)] == [
        ("mlp", ("mlp",), "mlp"),
        ("ensemble", names, "ensemble"),
    ]
    assert [p.name for p in phases(both, ("bow",))] == ["ensemble"]
    assert phases(both, ("bow",))[0].head == "bow"
    assert [p.name for p in phases(tiny(filter__mlp_iterations=0).filter, names)] == ["ensemble"]


def test_pos_words_are_the_most_frequent_words(project: Project) -> None:
    planted = plant(project, tiny(), contexts=12)
    words = pos_words(planted.corpus.vocabulary, 3)
    assert words.tolist() == [INDEX["the"], INDEX["a"], INDEX["man"]]  # no "." and no <unk>


@pytest.mark.parametrize(("contexts", "share"), [(10, 0.8), (3, 0.8), (100, 0.1), (7, 0.95)])
def test_split(contexts: int, share: float) -> None:
    train, test = split(contexts, share, np.random.default_rng(0))
    assert sorted([*train, *test]) == list(range(contexts))
    assert len(train) == min(max(2, round(contexts * share)), contexts - 1)
    assert (np.diff(train) > 0).all() and (np.diff(test) > 0).all()
