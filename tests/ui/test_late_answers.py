"""Answers of the reading thread that come when another pool, run or context is shown already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes import DrawnWatch, FakeEngine, FakeJobs
from gates import Gate, held
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from test_candidates_page import FakePool, look, sample, words
from test_candidates_page import wait as read_all
from test_filtering_page import begin, iteration, run, wait
from test_watch_panel import RUN, settled, watched

from swag_studio.errors import ProjectError
from swag_studio.events import Finished, Progress
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.ui import filtering_page
from swag_studio.ui.candidates_page import CandidatesPage
from swag_studio.ui.filtering_page import FilteringPage
from swag_studio.ui.pool_panel import ContextIndex
from swag_studio.ui.watch_panel import WatchPanel
from swag_studio.ui.workspace import Workspace
from swag_studio.views import ContextRow, PoolEnding

# --- pools -----------------------------------------------------------------------------------


@pytest.fixture
def pool(project: Project, jobs: FakeJobs) -> FakePool:
    return sample(project, jobs, "dog", "cat", "ship")


@pytest.fixture
def candidates(qtbot: QtBot, workspace: Workspace, pool: FakePool) -> CandidatesPage:
    """The page with the first pool read."""
    page = CandidatesPage(workspace)
    qtbot.addWidget(page)
    page.resize(1200, 800)
    look(qtbot, page)
    return page


def newer(page: CandidatesPage, jobs: FakeJobs) -> FakePool:
    """Another pool, of a changed recipe, in which every context has another place."""
    project = page.workspace.project
    project.set_recipe(project.recipe.with_values({"generate.temperature": 0.7}))
    return sample(project, jobs, "ant", "bee", "dog", "cat", "ship")


def test_endings_of_the_pool_before_are_not_shown_under_the_next_ones_numbers(
    qtbot: QtBot, candidates: CandidatesPage, jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = newer(candidates, jobs)
    other.feature_names = other.feature_names[:2]  # type: ignore[assignment]
    endings = other.endings

    def fewer(place: int) -> list[PoolEnding]:
        return [replace(ending, features=ending.features[:2]) for ending in endings(place)]

    monkeypatch.setattr(other, "endings", fewer)
    with held(candidates.workspace.reader):
        candidates.refresh(frozenset())  # the other pool is to be read
        qtbot.keyClick(candidates.contexts.table, Qt.Key.Key_Down)  # and then these endings
    read_all(qtbot, candidates)
    assert candidates.endings.context.text() == "Cat waits.  The cat …"
    assert candidates.endings.table.rows_model.rows[0].text == "v2 cat 0."


def test_a_context_of_the_pool_before_is_not_looked_up_by_its_old_place(
    qtbot: QtBot, candidates: CandidatesPage, jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, str]] = []
    show_endings, show_contexts = candidates.endings.show_endings, candidates.contexts.show_contexts
    gate, reader = Gate(), candidates.workspace.reader

    def showing(row: ContextRow, endings: Sequence[PoolEnding]) -> None:
        shown.append((row.id.removeprefix("c-"), endings[0].text.split()[1]))
        show_endings(row, endings)

    def opening(index: ContextIndex) -> None:
        reader.ask("gate", gate.before(lambda: None), lambda _: None)
        show_contexts(index)

    monkeypatch.setattr(candidates.endings, "show_endings", showing)
    monkeypatch.setattr(candidates.contexts, "show_contexts", opening)
    newer(candidates, jobs)
    candidates.refresh(frozenset())
    qtbot.waitUntil(gate.begun.is_set)  # the pool is open, its contexts are not listed
    qtbot.keyClick(candidates.contexts.table, Qt.Key.Key_Down)
    candidates.contexts.search.setText("waits")
    gate.open()
    read_all(qtbot, candidates)
    assert shown == [("cat", "cat")]


def test_giveaways_of_the_pool_before_do_not_hide_why_the_next_cannot_be_read(
    qtbot: QtBot, candidates: CandidatesPage, jobs: FakeJobs
) -> None:
    newer(candidates, jobs).refused["contexts"] = ProjectError("block 3 is damaged.")
    with held(candidates.workspace.reader):
        candidates.refresh(frozenset())
        candidates.tabs.setCurrentIndex(1)
    read_all(qtbot, candidates)
    assert words(candidates.giveaways) == "block 3 is damaged."


def test_a_pool_that_comes_when_another_is_to_be_seen_is_not_shown(
    qtbot: QtBot,
    candidates: CandidatesPage,
    pool: FakePool,
    jobs: FakeJobs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[int] = []
    show = candidates.contexts.show_contexts

    def showing(index: ContextIndex) -> None:
        opened.append(len(index.rows))
        show(index)

    gate = Gate()
    monkeypatch.setattr(candidates.contexts, "show_contexts", showing)
    other = newer(candidates, jobs)
    monkeypatch.setattr(other, "contexts", gate.before(other.contexts))
    candidates.refresh(frozenset())
    gate.reached()
    project = candidates.workspace.project
    project.set_recipe(project.recipe.with_values({"generate.temperature": 1.0}))
    jobs.pool_reader = pool
    candidates.refresh(frozenset({"recipe"}))
    gate.open()
    read_all(qtbot, candidates)
    assert opened == [3] and candidates.contexts.counts.text() == "3 contexts"


# --- filter runs -----------------------------------------------------------------------------


@pytest.fixture
def filtering(qtbot: QtBot, workspace: Workspace) -> FilteringPage:
    page = FilteringPage(workspace)
    qtbot.addWidget(page)
    page.resize(1200, 720)
    page.show()
    page.refresh(frozenset())
    wait(qtbot, page)
    return page


def another(recipe: Recipe) -> Recipe:
    return recipe.with_values({"filter.replace": 1})


def end(page: FilteringPage, engine: FakeEngine) -> None:
    """The filter is done, and the window hears of it; the page has not been refreshed yet."""
    engine.events.put(Finished("filter"))
    page.workspace.bridge.drain()


def test_points_of_a_run_do_not_go_to_the_one_that_was_at_work_before(
    qtbot: QtBot, filtering: FilteringPage, project: Project, engine: FakeEngine
) -> None:
    """A page that is not seen is refreshed a while after a job ended: the next one is begun."""
    first = project.begin("filter", project.recipe)
    begin(filtering, project, first.version, 0)
    wait(qtbot, filtering)
    assert filtering.shown is filtering.runs[first.version]
    end(filtering, engine)
    project.finish(first, {})
    second = project.begin("filter", another(project.recipe))
    project.store.put_metrics(second.version, iteration(0, base=0.9))
    filtering.workspace.bridge.stage = "filter"
    filtering.show_progress(Progress("filter", 1, 26, "iterations"))
    filtering.show_metrics(iteration(0, base=0.9))
    wait(qtbot, filtering)
    of_first, of_second = (filtering.runs[run.version].points for run in (first, second))
    assert of_first.values("accuracy_4way", "mlp") == [(0, 0.5)]
    assert of_second.values("accuracy_4way", "mlp") == [(0, 0.9)]
    assert filtering.shown is filtering.runs[second.version]


def test_the_run_at_work_is_found_whatever_is_asked_for_meanwhile(
    qtbot: QtBot, filtering: FilteringPage, project: Project
) -> None:
    run(project, project.recipe)
    running = project.begin("filter", another(project.recipe))
    with held(filtering.workspace.reader):
        begin(filtering, project, running.version, 0)
        filtering.refresh(frozenset())
    wait(qtbot, filtering)
    assert filtering.shown is filtering.runs[running.version]


def test_a_run_that_is_over_when_its_points_are_read_is_not_at_work(
    qtbot: QtBot,
    filtering: FilteringPage,
    project: Project,
    engine: FakeEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = project.begin("filter", project.recipe)
    project.store.put_metrics(first.version, iteration(0))
    filtering.workspace.bridge.stage = "filter"
    filtering.show_progress(Progress("filter", 1, 26, "iterations"))
    wait(qtbot, filtering)
    gate = Gate(after=True)
    monkeypatch.setattr(filtering_page, "read_runs", gate.before(filtering_page.read_runs))
    filtering.show_metrics(iteration(0))
    gate.reached()
    end(filtering, engine)
    project.finish(first, {})
    second = project.begin("filter", another(project.recipe))
    filtering.workspace.bridge.stage = "filter"
    filtering.show_progress(Progress("filter", 0, 0, "iterations", "loading"))
    gate.open()
    wait(qtbot, filtering)
    for step in range(2):
        begin(filtering, project, second.version, step)
        wait(qtbot, filtering)
    assert filtering.runs[first.version].points.iterations == 1
    assert filtering.runs[second.version].points.iterations == 2


def verdicts(page: FilteringPage) -> list[str]:
    return [row.verdict for row in page.curves.table.rows_model.rows if row.member != "probe"]


def test_a_run_that_is_shown_again_is_judged_again(
    qtbot: QtBot, filtering: FilteringPage, project: Project
) -> None:
    run(project, another(project.recipe))
    run(project, project.recipe)
    filtering.refresh(frozenset())
    wait(qtbot, filtering)
    assert all(verdicts(filtering))
    filtering.tabs.setCurrentWidget(filtering.recipe_tab)  # where nothing is judged
    for place in (1, 0):
        filtering.choice.setCurrentIndex(place)
        filtering.choice.activated.emit(place)
    filtering.tabs.setCurrentWidget(filtering.first)
    wait(qtbot, filtering)
    assert all(verdicts(filtering))


def test_a_run_that_could_not_be_judged_is_judged_when_someone_looks_again(
    qtbot: QtBot, filtering: FilteringPage, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise ProjectError("It is gone.")

    monkeypatch.setattr(filtering_page, "diagnose", gone)
    run(project, project.recipe)
    filtering.refresh(frozenset())
    wait(qtbot, filtering)
    assert not any(verdicts(filtering)) and filtering.diagnosis.summary.text() == "It is gone."
    monkeypatch.undo()
    filtering.tabs.setCurrentWidget(filtering.recipe_tab)
    filtering.tabs.setCurrentWidget(filtering.first)
    wait(qtbot, filtering)
    assert all(verdicts(filtering))


# --- sample watch ----------------------------------------------------------------------------


def test_a_run_of_other_contexts_and_iterations_is_shown_after_another(
    qtbot: QtBot, workspace: Workspace, jobs: FakeJobs
) -> None:
    """What is looked at is none of its contexts."""
    jobs.watch_reader = DrawnWatch(RUN)
    panel = WatchPanel(workspace)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_version(1)
    panel.show_context("c3")
    settled(qtbot, panel)
    assert panel.slots_view.sentence.text() == "A boy swims."
    jobs.watch_reader = shorter = DrawnWatch(
        "A man waits. / He / opens the door.\ncat dog owl\ncat fox owl"
    )
    shorter.version = 2
    panel.show_version(2)
    settled(qtbot, panel)
    assert watched(panel) == ["⇄ 1|A man waits. He …|1"] and panel.bar.last.text() == "of 1"
