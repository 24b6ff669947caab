"""The pipeline over fake stages: order, skipping, metrics, closing, accounts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from swag_studio import recipe as recipes
from swag_studio.engine import accounting, pipeline
from swag_studio.errors import StageError
from swag_studio.events import Event, Finished, Message, Metric, Progress
from swag_studio.project import Project
from swag_studio.recipe import STAGES, Recipe
from swag_studio.records import SourceInfo

Stage = Callable[[Recipe, Project], Iterator[Event]]
RECIPE = recipes.preset("demo")


def metric(stage: str, step: int) -> Metric:
    return Metric(stage, "loss", step, 0.5 * step, {"fold": "0"})


def fake(name: str, log: list[str], *, points: int = 3) -> Stage:
    """A stage that tells `log` what happens to it and yields metrics one after another."""

    def run(recipe: Recipe, project: Project) -> Iterator[Event]:
        artifact = project.begin(name, recipe)
        log.append(f"{name} begins")
        try:
            yield Progress(name, 0, 1)
            for step in range(points):
                yield metric(name, step)
            yield Progress(name, 1, 1)
            project.finish(artifact, {"points": points})
            yield Finished(name, {"points": points})
            log.append(f"{name} ends")
        except GeneratorExit:
            log.append(f"{name} closed")
            raise

    return run


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(pipeline, "RUNNERS", {name: fake(name, told) for name in STAGES})
    return told


@pytest.fixture
def sourced(project: Project) -> Project:
    info = SourceInfo("s1", "f.json", "activitynet", "0" * 64, 1, 1, 1, 0)
    project.store.stage_source(info)
    project.store.publish_source(info)
    return project


def stages_told(events: list[Event], kind: type) -> list[str]:
    return [e.stage for e in events if isinstance(e, kind)]  # type: ignore[attr-defined]


def test_all_stages_in_order(sourced: Project, log: list[str]) -> None:
    events = list(pipeline.run(RECIPE, sourced))
    assert log == [f"{stage} {word}" for stage in STAGES for word in ("begins", "ends")]
    assert stages_told(events, Finished) == list(STAGES)
    # Within a stage the order is kept: the metrics stand between the two Progress events.
    mine = [e for e in events if getattr(e, "stage", "") == "generate"]
    points = [metric("generate", i) for i in range(3)]
    assert mine == [
        Progress("generate", 0, 1), *points, Progress("generate", 1, 1),
        Finished("generate", {"points": 3}),
    ]  # fmt: skip


def test_until_stops_and_the_next_run_goes_on(sourced: Project, log: list[str]) -> None:
    list(pipeline.run(RECIPE, sourced, until="train_lm"))
    assert log[-1] == "train_lm ends" and len(log) == 4
    events = list(pipeline.run(RECIPE, sourced, until="generate"))
    assert log[4:] == ["generate begins", "generate ends"]
    assert stages_told(events, Message) == ["prepare", "train_lm"]


def test_a_changed_recipe_runs_only_what_is_stale(sourced: Project, log: list[str]) -> None:
    list(pipeline.run(RECIPE, sourced))
    log.clear()
    changed = RECIPE.with_values({"filter.replace": 1})
    list(pipeline.run(changed, sourced))
    assert [line for line in log if "begins" in line] == ["filter begins", "release begins"]
    assert [a.version for a in sourced.store.artifacts("filter")] == [1, 2]
    log.clear()
    list(pipeline.run(RECIPE, sourced))  # the first versions are still there
    assert log == []


def test_a_metric_is_in_the_store_before_it_is_passed_on(sourced: Project, log: list[str]) -> None:
    seen = 0
    for event in pipeline.run(RECIPE, sourced, until="prepare"):
        if isinstance(event, Metric):
            seen += 1
            assert event in sourced.store.metrics("prepare", 1)
    assert seen == 3


def test_a_flood_of_metrics_is_kept_in_batches(
    sourced: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2 * pipeline._METRICS_AT_ONCE + 7
    monkeypatch.setattr(pipeline, "RUNNERS", {"prepare": fake("prepare", [], points=count)})
    sizes: list[int] = []
    put = sourced.store.put_metrics
    monkeypatch.setattr(
        sourced.store, "put_metrics", lambda v, m: (sizes.append(len(m)), put(v, m))
    )
    events = list(pipeline.run(RECIPE, sourced, until="prepare"))
    assert sizes == [pipeline._METRICS_AT_ONCE] * 2 + [7]
    assert [e.step for e in events if isinstance(e, Metric)] == list(range(count))


def test_closing_closes_the_stage(sourced: Project, log: list[str]) -> None:
    events = pipeline.run(RECIPE, sourced)
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert log == ["prepare begins", "prepare closed"]
    assert [s.state for s in sourced.states()][:2] == ["unfinished", "missing"]


def test_errors_pass_through(sourced: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(recipe: Recipe, project: Project) -> Iterator[Event]:
        project.begin("prepare", recipe)
        yield metric("prepare", 0)
        raise StageError("no pairs.")

    monkeypatch.setattr(pipeline, "RUNNERS", {"prepare": fails})
    with pytest.raises(StageError, match="no pairs"):
        list(pipeline.run(RECIPE, sourced))


def test_a_stage_that_does_not_finish_is_a_fault(
    sourced: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgets(recipe: Recipe, project: Project) -> Iterator[Event]:
        yield Progress("prepare", 1, 1)

    monkeypatch.setattr(pipeline, "RUNNERS", {"prepare": forgets})
    with pytest.raises(RuntimeError, match="without finishing"):
        list(pipeline.run(RECIPE, sourced))


def test_an_unknown_stage(sourced: Project) -> None:
    with pytest.raises(StageError, match="unknown stage filtre"):
        list(pipeline.run(RECIPE, sourced, until="filtre"))


def test_no_captions(project: Project) -> None:
    with pytest.raises(StageError, match="holds no captions yet"):
        list(pipeline.run(RECIPE, project))


def test_seconds_add_up_over_interruptions(
    sourced: Project, log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(0, 100_000, 10))
    monkeypatch.setattr(accounting.time, "monotonic", lambda: float(next(now)))
    events = pipeline.run(RECIPE, sourced, until="prepare")
    next(events)
    events.close()  # type: ignore[attr-defined]
    first = accounting.work(sourced)["prepared/v1"]
    assert first["sessions"] == 1 and first["seconds"] > 0
    list(pipeline.run(RECIPE, sourced, until="prepare"))
    second = accounting.work(sourced)["prepared/v1"]
    assert second["sessions"] == 2 and second["seconds"] > first["seconds"]


def test_a_damaged_account_counts_as_none(project: Project) -> None:
    (project.root / "logs/work.json").write_text("{", encoding="utf-8")
    assert accounting.work(project) == {}


def test_every_stage_has_a_runner() -> None:
    assert list(pipeline.RUNNERS) == list(STAGES)
