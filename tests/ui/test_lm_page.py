"""The language models' page as a curator uses it, with samples and points put there by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from swag_studio import samples
from swag_studio.events import Changed, Metric, Progress
from swag_studio.project import Project
from swag_studio.recipe import preset
from swag_studio.records import Artifact
from swag_studio.samples import FoldSamples, Sample, Sampling
from swag_studio.ui.lm_page import LanguageModelsPage
from swag_studio.ui.samples_panel import caption_of
from swag_studio.ui.workspace import Workspace

PLAIN = Sampling(1.0, 0, 1.0, 25)


def made(fold: int, epoch: int, word: str = "waits", sampling: Sampling = PLAIN) -> FoldSamples:
    rows = tuple(
        Sample(f"c{i}", f"She opens door {i}.", "She", f"walks in {i}.", f"{word} {i}.", i != 1)
        for i in range(3)
    )
    return FoldSamples(fold, epoch, 61.04, sampling, rows)


def summary(**held_out: float) -> dict[str, Any]:
    return {
        "folds": [
            {"fold": int(fold[1:]), "held_out_perplexity": {"forward": p, "backward": p + 1}}
            for fold, p in held_out.items()
        ]
    }


@pytest.fixture
def page(workspace: Workspace, qtbot: QtBot) -> LanguageModelsPage:
    page = LanguageModelsPage(workspace)
    qtbot.addWidget(page)
    workspace.bridge.changed.connect(page.refresh)
    workspace.bridge.metrics.connect(page.show_metrics)
    workspace.bridge.progress.connect(page.show_progress)
    page.resize(1240, 700)
    page.show()
    page.refresh(frozenset())
    return page


@pytest.fixture
def tell(page: LanguageModelsPage) -> Callable[..., None]:
    """Has the window hear of events, as from a run."""

    def tell(*events: Any) -> None:
        bridge = page.workspace.bridge
        for event in events:
            bridge.engine.events.put(event)
        bridge.drain()

    return tell


def begun(project: Project) -> tuple[Artifact, Path]:
    artifact = project.begin("train_lm", project.recipe)
    return artifact, project.folder(artifact)


def column(page: LanguageModelsPage, number: int) -> list[str]:
    model = page.samples.table.rows_model
    return [model.data(model.index(row, number)) for row in range(model.rowCount())]


# --- before, during and after training -------------------------------------------------------


def test_an_empty_page_says_what_will_be_there(page: LanguageModelsPage) -> None:
    assert page.action.text() == "Sources ›"
    assert not page.chart.isVisible() and page.samples.table.rows_model.rowCount() == 0
    assert "appears here" in page.samples.table.empty
    assert not page.samples.caption.isVisible() and not page.samples.folds.isVisible()
    assert "words the model hesitates" in page.hint.toolTip()


def test_samples_come_while_training_in_the_same_order(
    page: LanguageModelsPage, tell: Callable[..., None], project: Project
) -> None:
    _, folder = begun(project)
    tell(Progress("train_lm", 1, 10, "tokens"))
    assert page.status.text() == "running" and not page.action.isVisible()
    tell(Metric("train_lm", "perplexity", 0, 80.0, {"fold": "0", "direction": "forward"}))
    assert page.chart.isVisible()
    samples.write(folder, made(0, 1, "sleeps"))
    tell(Changed(("samples",)))
    assert column(page, 0) == [f"She opens door {i}. She\u00a0…" for i in range(3)]
    assert column(page, 1) == [f"walks in {i}." for i in range(3)]
    assert column(page, 2) == ["sleeps 0.", "sleeps 1.\u00a0…", "sleeps 2."]  # one is cut off
    assert page.samples.caption.text().startswith("Fold 0, after epoch 1, perplexity 61.0;")
    samples.write(folder, made(0, 2, "walks"))
    tell(Changed(("samples",)))
    assert column(page, 2)[0] == "walks 0."
    assert "after epoch 2" in page.samples.caption.text()


def test_the_panel_follows_the_fold_in_training_until_one_is_chosen(
    page: LanguageModelsPage, tell: Callable[..., None], project: Project, qtbot: QtBot
) -> None:
    _, folder = begun(project)
    tell(Progress("train_lm", 1, 10, "tokens"))
    panel = page.samples
    samples.write(folder, made(0, 4, "first"))
    tell(Changed(("samples",)))
    samples.write(folder, made(1, 1, "second"))
    tell(Changed(("samples",)))
    assert panel.folds.currentText() == "Fold 1" and column(page, 2)[0] == "second 0."
    qtbot.keyClick(panel.folds, Qt.Key.Key_Up)
    samples.write(folder, made(2, 1, "third"))
    tell(Changed(("samples",)))
    assert panel.folds.currentText() == "Fold 0" and column(page, 2)[0] == "first 0."
    assert [panel.folds.itemText(i) for i in range(3)] == ["Fold 0", "Fold 1", "Fold 2"]


def test_a_change_of_the_recipe_leaves_the_version_at_work_in_view(
    page: LanguageModelsPage, tell: Callable[..., None], project: Project
) -> None:
    _, folder = begun(project)
    tell(Progress("train_lm", 1, 10, "tokens"))
    project.set_recipe(project.recipe.with_values({"lm.dim": 128}))
    samples.write(folder, made(0, 1))
    tell(Changed(("samples",)), Changed(("recipe",)))
    assert column(page, 2)[0] == "waits 0." and page.status.text() == "running"


def test_finished_models_show_how_good_they_are(page: LanguageModelsPage, project: Project) -> None:
    artifact, folder = begun(project)
    samples.write(folder, made(0, 3))
    samples.write(folder, made(1, 5))
    project.finish(artifact, summary(f0=63.11, f1=58.0))
    page.refresh(frozenset())
    assert "perplexity 58.0 to 63.1 on captions that it never saw" in page.hint.text()
    assert page.samples.folds.currentText() == "Fold 0"
    assert "63.1 forward and 64.1 backward" in page.samples.caption.text()


def test_models_without_samples_and_damaged_samples_are_told(
    page: LanguageModelsPage, project: Project
) -> None:
    artifact, folder = begun(project)
    project.finish(artifact, summary(f0=63.0))
    page.refresh(frozenset())
    assert page.samples.caption.text() == "These models were trained before samples were kept."
    samples.path_of(folder, 0).write_text("{")
    page.refresh(frozenset())
    assert "cannot be read" in page.samples.caption.text() and column(page, 2) == []


def test_the_caption_names_only_the_settings_that_narrow_the_draw() -> None:
    every = caption_of(made(0, 1, sampling=Sampling(0.8, 40, 0.95, 25)), None)
    assert "temperature 0.8, top-k 40, top-p 0.95." in every
    assert "top-" not in caption_of(made(0, 1), None)


def test_long_texts_wrap(page: LanguageModelsPage, project: Project) -> None:
    _, folder = begun(project)
    long = Sample("c", "A man " + "walks on and on " * 20, "He", "sits.", "runs.", True)
    samples.write(folder, FoldSamples(0, 1, 9.0, PLAIN, (long,)))
    page.refresh(frozenset())
    table = page.samples.table
    assert table.rowHeight(0) > 4 * table.fontMetrics().height()


# --- the recipe ------------------------------------------------------------------------------


def test_a_change_in_the_form_is_the_project_s_and_makes_models_out_of_date(
    page: LanguageModelsPage, project: Project, qtbot: QtBot
) -> None:
    artifact, _ = begun(project)
    project.finish(artifact, summary(f0=63.0))
    page.refresh(frozenset())
    field = page.form.fields["epochs"]
    assert isinstance(field.editor, QLineEdit)
    field.editor.setText("3")
    field.editor.editingFinished.emit()
    assert project.recipe.lm.epochs == 3
    assert "Out of date with these values: Language models." in field.note.text()
    assert page.status.text() == "out of date" and page.action.text() == "Train again"


def test_what_another_page_changed_is_kept(page: LanguageModelsPage, project: Project) -> None:
    project.set_recipe(preset("demo").with_values({"generate.temperature": 0.7}))
    page.refresh(frozenset({"recipe"}))
    field = page.form.fields["epochs"]
    assert isinstance(field.editor, QLineEdit)
    field.editor.setText("3")
    field.editor.editingFinished.emit()
    assert (project.recipe.generate.temperature, project.recipe.lm.epochs) == (0.7, 3)


def test_points_of_a_run_are_not_drawn_among_those_of_one_that_was_broken_off(
    page: LanguageModelsPage, tell: Callable[..., None]
) -> None:
    """Also where the page hears of the run before its version is there."""
    project = page.workspace.project
    tags = {"fold": "0", "direction": "forward", "set": "dev"}
    old, _ = begun(project)
    points = [Metric("train_lm", "perplexity", epoch, 90.0, tags) for epoch in range(5)]
    project.store.put_metrics(old.version, points)
    project.set_recipe(project.recipe.with_values({"lm.dim": 64}))
    tell(Progress("train_lm", 0, 0, "bytes", "reading the plain text"))
    new, _ = begun(project)
    assert new.version != old.version
    tell(Progress("train_lm", 10, 100, "tokens"))
    tell(Metric("train_lm", "perplexity", 0, 70.0, tags))
    assert list(page.chart.plot.series["0 forward"].curve.y) == [70.0]
