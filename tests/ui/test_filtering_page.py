"""The Filtering page: runs that are kept and one that is at work, driven as a person does."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pyqtgraph as pg
import pytest
from fakes import FakeEngine
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from pytestqt.qtbot import QtBot
from waiting import at_rest

from swag_studio.advice import Advice
from swag_studio.diagnosis import Diagnosis
from swag_studio.events import Metric, Progress
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import Artifact, SourceInfo
from swag_studio.series import verdict
from swag_studio.standings import Finding
from swag_studio.ui import filter_curves_panel as panel
from swag_studio.ui.charts import Chart
from swag_studio.ui.filtering_page import FilteringPage, plan_words, progress_words
from swag_studio.ui.runs_panel import FilterRun, RunPoints, differences
from swag_studio.ui.theme import DARK, LIGHT, apply
from swag_studio.ui.workspace import Workspace

LEFT = Qt.MouseButton.LeftButton
MEMBERS = ("mlp", "bow", "cnn", "pos", "ensemble")


def iteration(step: int, joined: int = 4, base: float = 0.5) -> list[Metric]:
    """What the filter tells after an iteration: the MLP alone, and from `joined` on all members."""

    def metric(name: str, value: float, **tags: str) -> Metric:
        return Metric("filter", name, step, value, {"arm": "main", **tags})

    heads = MEMBERS if step >= joined else ("mlp",)
    found = [
        metric(name, (base - 0.01 * step) * scale, member=head)
        for head in heads
        for name, scale in (("accuracy_4way", 1.0), ("accuracy", 0.5), ("loss", 4.0))
    ]
    return [
        *found,
        metric("replaced_per_context", 1.5),
        metric("exhausted_share", 0.1),
        metric("seconds", 2.0),
    ]


def beside(step: int) -> list[Metric]:
    """Control arm and probe, as measured at a step."""
    control = {"arm": "control", "member": "ensemble"}
    probe = {"arm": "main", "member": "probe"}
    return [
        Metric("filter", name, step, value, tags)
        for tags in (control, probe)
        for name, value in (("accuracy_4way", 0.6), ("accuracy", 0.4))
    ]


def run(project: Project, recipe: Recipe, iterations: int = 8, base: float = 0.5) -> Artifact:
    """A finished run in the project."""
    artifact = project.begin("filter", recipe)
    points = [m for step in range(iterations) for m in iteration(step, base=base)]
    project.store.put_metrics(artifact.version, [*points, *beside(0), *beside(iterations)])
    return project.finish(artifact, {})


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> FilteringPage:
    page = FilteringPage(workspace)
    qtbot.addWidget(page)
    page.resize(1200, 720)
    page.show()
    return page


@pytest.fixture
def read(qtbot: QtBot, page: FilteringPage) -> Callable[[], None]:
    """Has the page read all, as when the project is opened."""

    def read() -> None:
        page.refresh(frozenset())
        wait(qtbot, page)

    return read


def wait(qtbot: QtBot, page: FilteringPage) -> None:
    """Until nothing is read any more, and its answer is told."""
    at_rest(qtbot, page.workspace.reader)


def lines(chart: Chart, angle: int) -> list[float]:
    """Where the reference lines (angle 0) or the marks (90) of a chart stand."""
    items = chart.plot.getPlotItem().items
    straight = [i for i in items if isinstance(i, pg.InfiniteLine) and i.isVisible()]
    return [line.value() for line in straight if line.angle == angle]


def source(project: Project) -> None:
    info = SourceInfo("s", "a.json", "activitynet", "0", 1, 1, 2, 0, {})
    project.store.stage_source(info)
    project.store.publish_source(info)


def test_an_empty_project_says_what_to_do(page: FilteringPage, read: Callable[[], None]) -> None:
    read()
    assert page.status.text() == "no captions yet"
    assert page.first.shown is page.empty and not page.curves.isVisible()
    assert "2 iterations with the MLP alone, then 24 iterations" in page.empty_words.text()
    assert "up to 3 of the 9 distractors" in page.empty_words.text()
    assert [page.tabs.isTabEnabled(i) for i in range(4)] == [True, False, False, True]
    went: list[str] = []
    page.go_to.connect(went.append)
    page.action.click()
    assert went == ["Sources"]


def test_the_first_run_is_asked_for(
    page: FilteringPage, read: Callable[[], None], project: Project, engine: FakeEngine
) -> None:
    source(project)
    read()
    assert page.status.text() == "not yet" and page.action.text() == "Run the filter"
    page.action.click()
    assert engine.busy


def test_a_kept_run_is_drawn_and_told(
    page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    source(project)
    run(project, project.recipe)
    read()
    assert page.status.text() == "done"
    assert page.hint.text().startswith(
        "The ensemble solves 44% of 4-way questions, 60% of unfiltered ones; chance 25%."
    )
    assert page.first.shown is page.curves
    chart = page.curves.main
    assert [s.label for s in chart.plot.series.values()] == [
        "ensemble", "MLP", "bag of words", "CNN", "POS biLSTM", "ensemble, unfiltered",
        "held-out probe",
    ]  # fmt: skip
    assert list(chart.plot.series["1 main mlp"].curve.y) == pytest.approx(
        [0.5 - 0.01 * i for i in range(8)]
    )
    assert list(chart.plot.series["1 control ensemble"].curve.x) == [0, 8]
    assert lines(chart, 0) == [0.25]
    assert lines(chart, 90) == [4]
    for small in page.curves.small.values():
        assert [s.curve.n for s in small.plot.series.values()] == [8]
    table = page.curves.table.rows_model
    assert [row.member for row in table.rows] == [
        *("ensemble", "mlp", "bow", "cnn", "pos"),
        "probe",
    ]
    assert [c.show(c.value(table.row(1))) for c in table.columns[::2]] == ["MLP", "50% → 45%"]


def test_ten_way_and_four_way(
    qtbot: QtBot, page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    run(project, project.recipe)
    read()
    ten = page.curves.way_buttons["accuracy"]
    assert ten.text() == "10-way (chance 10%)"
    qtbot.mouseClick(ten, LEFT)
    chart = page.curves.main
    assert lines(chart, 0) == [0.1]
    assert chart.plot.series["1 main mlp"].curve.y[0] == pytest.approx(0.25)
    assert page.curves.table.rows_model.row(1).first == pytest.approx(0.25)
    qtbot.mouseClick(page.curves.way_buttons["accuracy_4way"], LEFT)
    assert chart.plot.series["1 main mlp"].curve.y[0] == pytest.approx(0.5)


def begin(page: FilteringPage, project: Project, version: int, step: int) -> None:
    """The filter gets to `step`: kept in the store, then told, as the pipeline does."""
    project.store.put_metrics(version, iteration(step))
    page.workspace.bridge.stage = "filter"
    page.show_progress(Progress("filter", step + 1, 26, "iterations"))
    page.show_metrics(iteration(step))


def test_live_points_appear(
    qtbot: QtBot, page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    read()
    artifact = project.begin("filter", project.recipe)
    begin(page, project, artifact.version, 0)
    wait(qtbot, page)
    assert page.status.text() == "running"
    assert page.hint.text() == "Iteration 2 of 26, the MLP alone; you may go on working."
    assert page.curves.main.plot.series["1 main mlp"].curve.n == 1
    for step in (1, 2, 3, 4):
        begin(page, project, artifact.version, step)
    assert page.curves.main.plot.series["1 main mlp"].curve.n == 5
    assert page.curves.main.plot.series["1 main ensemble"].curve.n == 1
    assert lines(page.curves.main, 90) == [4]
    assert page.curves.table.rows_model.row(0).member == "ensemble"
    assert page.hint.text() == "Iteration 6 of 26, all members; you may go on working."


def test_a_resumed_run_has_no_point_twice(
    qtbot: QtBot, page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    artifact = project.begin("filter", project.recipe)
    for step in range(6):
        project.store.put_metrics(artifact.version, iteration(step))
    read()
    source(project)  # of no matter to the run, which is found by its points
    page.workspace.bridge.stage = "filter"
    page.show_progress(Progress("filter", 0, 0, "iterations", "loading"))
    for step in range(7):  # what is done is told again
        begin(page, project, artifact.version, step)
    wait(qtbot, page)
    begin(page, project, artifact.version, 7)
    curve = page.curves.main.plot.series["1 main mlp"].curve
    assert list(curve.x) == list(range(8))
    assert page.curves.to_csv().count("1,accuracy_4way,main,mlp,") == 8


def test_points_go_to_the_run_at_work(
    qtbot: QtBot, page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    """Also where another was interrupted, and where the recipe has been changed meanwhile."""
    old = project.begin("filter", project.recipe.with_values({"filter.replace": 1}))
    project.store.put_metrics(old.version, iteration(0, base=0.7))
    new = project.begin("filter", project.recipe)
    read()
    project.set_recipe(project.recipe.with_values({"filter.epochs": 3}))
    begin(page, project, new.version, 0)
    wait(qtbot, page)
    begin(page, project, new.version, 1)
    assert page.runs[new.version].points.iterations == 2
    assert page.runs[old.version].points.iterations == 1
    assert page.shown is page.runs[new.version]


def test_runs_are_overlaid_with_what_sets_them_apart(
    qtbot: QtBot, page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    other = {"filter.replace": 1, "generate.temperature": 0.8}
    run(project, project.recipe.with_values(other), base=0.6)
    run(project, project.recipe)
    read()
    listed = page.curves.runs
    assert list(listed.boxes) == [1]
    words = (
        "Done, 8 iterations, ensemble 54%. "
        "Temperature 0.8 instead of 1; replaced at most 1 instead of 3."
    )
    assert listed.boxes[1].accessibleDescription() == words
    assert words in [label.text() for label in listed.findChildren(QLabel)]
    before = list(page.curves.main.plot.series)
    listed.boxes[1].click()
    after = page.curves.main.plot.series
    added = [after[key] for key in after if key not in before]
    assert [s.label for s in added[:2]] == ["ensemble, run 1", "MLP, run 1"]
    assert all(s.faint for s in added)
    assert [s.label for s in added if s.visible] == ["ensemble, run 1"]
    assert after["1 main mlp"].look == after["2 main mlp"].look
    assert "\n1,accuracy,main,bow," in page.curves.to_csv()
    listed.boxes[1].click()
    assert list(page.curves.main.plot.series) == before


def test_runs_that_are_overlaid_look_different(
    page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    for replaced in (1, 2, 3):
        run(project, project.recipe.with_values({"filter.replace": replaced}))
    read()
    for box in page.curves.runs.boxes.values():
        box.click()
    for chart in (page.curves.main, *page.curves.small.values()):
        seen = [s for s in chart.plot.series.values() if s.visible and s.faint]
        assert len({s.dash() for s in seen}) == len(seen) == 2


def test_another_run_can_be_shown(
    qtbot: QtBot, page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    run(project, project.recipe.with_values({"filter.replace": 1}))
    run(project, project.recipe)
    read()
    assert page.choice.currentText() == "Run 2" and page.choice.isVisible()
    page.choice.setFocus()
    qtbot.keyClick(page.choice, Qt.Key.Key_Down)
    assert page.curves.run is page.runs[1] and list(page.curves.runs.boxes) == [2]
    assert "1 main mlp" in page.curves.main.plot.series


def test_the_theme_reaches_the_charts(
    page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    run(project, project.recipe)
    read()
    page.show_theme(DARK)
    for chart in (page.curves.main, *page.curves.small.values()):
        assert chart.theme is DARK
        assert chart.plot.backgroundBrush().color().name() == DARK.surface


def test_all_values_are_saved(
    page: FilteringPage,
    read: Callable[[], None],
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    artifact = run(project, project.recipe)
    read()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "all.csv"), ""))
    page.curves.save_button.click()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text())))
    kept = project.store.metrics("filter", artifact.version)
    assert len(rows) == len(kept)
    got = {(r["series"], r["arm"], r["member"], int(r["step"])): float(r["value"]) for r in rows}
    assert got == {
        (m.name, m.tags.get("arm", ""), m.tags.get("member", ""), m.step): m.value for m in kept
    }


def test_the_recipe_is_changed_on_its_tab(
    page: FilteringPage, read: Callable[[], None], project: Project
) -> None:
    source(project)
    run(project, project.recipe)
    read()
    page.show_setting("filter.replace")
    assert page.tabs.currentWidget() is page.recipe_tab
    editor = page.form.fields["replace"].editor
    assert editor.hasFocus()
    editor.setText("1")  # type: ignore[attr-defined]
    editor.editingFinished.emit()  # type: ignore[attr-defined]
    assert project.recipe.filter.replace == 1
    assert page.status.text() == "out of date" and page.action.text() == "Filter again"


def test_words() -> None:
    recipe = Recipe()
    assert progress_words(None, recipe).startswith("Loading")
    progress = Progress("filter", 100, 150, "iterations", "control-between: 3/5")
    assert progress_words(progress, recipe) == (
        "Measuring the classifiers on random distractors, 100 of 150 iterations done"
    )
    assert progress_words(Progress("filter", 99, 150), recipe).endswith("the MLP alone")
    assert progress_words(Progress("filter", 100, 150), recipe).endswith("all members")
    early = Progress("filter", 30, 80)  # the first phase ended after 30
    assert progress_words(early, recipe) == "Iteration 31 of 80, all members"
    assert "with the MLP alone" not in plan_words(recipe.with_values({"filter.mlp_iterations": 0}))


def test_differences_are_told_where_the_filter_sees_them() -> None:
    def of(**changes: object) -> FilterRun:
        values = {key.replace("__", "."): value for key, value in changes.items()}
        toml = Recipe().with_values(values).to_toml()
        return FilterRun.of(Artifact("filter", 1, "", "", True, toml), [])

    changed = of(lm__epochs=3, filter__members="mlp,bow", filter__probe=False, filter__epochs=4)
    assert differences(changed, of()) == (
        "language model epochs at most 3 instead of 15; members mlp, bow instead of mlp, bow, cnn, "
        "pos; epochs at most 4 instead of 10; probe off instead of on"
    )
    assert (
        differences(of(release__distractors=4), of())
        == "the same recipe, on other captions or by another version of the program"
    )
    assert differences(of(filter__mlp_width=64), of()) == "MLP width 64 instead of 2048"
    unreadable = FilterRun.of(Artifact("filter", 1, "", "", True, "[new]\nx = 1"), [])
    assert "another version" in differences(unreadable, of())


def test_a_run_of_one_member_has_a_head() -> None:
    points = RunPoints(
        [Metric("filter", "accuracy_4way", 0, 0.4, {"arm": "main", "member": "bow"})]
    )
    assert points.head == "bow" and points.joined is None and points.iterations == 1
    assert RunPoints().head == "ensemble"
    assert set(panel.LOOKS) == {"ensemble", "mlp", "bow", "cnn", "pos", "probe"}


def test_what_to_try_first_stands_beside_the_curves(page: FilteringPage, qtbot: QtBot) -> None:
    advice = Advice("Raise filter.replace.", "Few are replaced.")
    finding = Finding("mlp", "", verdict([0.5] * 40, 0.25, 100), "stalled at 50%")
    page.curves.show_diagnosis(Diagnosis((finding,), (advice,), None, "It is stalled. More."))
    assert page.curves.summary.text() == "It is stalled."
    assert page.curves.advice.text() == "To try first: Raise “Replaced at most”."
    assert page.curves.why.text() == advice.why and not page.curves.told.isHidden()
    page.curves.more_button.click()
    assert page.tabs.currentWidget() is page.diagnosis_tab
    page.curves.show_diagnosis(Diagnosis((), (), None, "Nothing yet."))
    assert page.curves.told.isHidden()


@pytest.mark.parametrize("size", [(1024, 534), (1240, 654)])
def test_with_large_text_the_members_table_needs_no_scrolling_sideways(
    page: FilteringPage,
    read: Callable[[], None],
    project: Project,
    qapp: QApplication,
    qtbot: QtBot,
    size: tuple[int, int],
) -> None:
    source(project)
    run(project, project.recipe)
    apply(qapp, LIGHT, 150, 9.0)
    page.resize(*size)
    read()
    table, columns = page.curves.table, range(len(panel.STANDING_COLUMNS))
    verdict = "■ stalled since 117"
    table.set_rows([row._replace(verdict=verdict) for row in table.rows_model.rows])
    wait(qtbot, page)
    assert table.rows_model.rowCount() == 6 and not table.isColumnHidden(3)
    assert table.horizontalScrollBar().maximum() == 0
    assert table.columnWidth(2) >= table.sizeHintForColumn(2)  # no number is elided
    assert table.columnWidth(3) >= table.sizeHintForColumn(3)
    model, tip = table.rows_model, Qt.ItemDataRole.ToolTipRole
    assert verdict in [model.index(0, column).data(tip) for column in columns]
    heads = [model.headerData(column, Qt.Orientation.Horizontal, tip) for column in columns]
    assert all(heads[1:])


def test_parts_that_a_person_sized_stay_so(page: FilteringPage) -> None:
    above = page.curves.above
    words = above.sizes()[1]
    page.resize(page.width() - 100, page.height())
    assert above.sizes()[1] == words
    above.moveSplitter(above.sizes()[0] - 60, 1)
    chosen = above.sizes()[1]
    assert chosen == words + 60
    page.resize(page.width() + 100, page.height())
    assert above.sizes()[1] == chosen


def test_what_was_measured_once_is_told_without_an_arrow() -> None:
    column = panel.STANDING_COLUMNS[2]
    shown = [
        column.show(column.value(panel.Standing("probe", first, now, None, "")))
        for first, now in ((0.36, None), (0.36, 0.29), (None, None))
    ]
    assert shown == ["36%", "36% → 29%", ""]
