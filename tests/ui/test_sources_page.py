"""The Sources page, driven by mouse, keys and drops, with the engine faked at the seam."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from dragging import drop
from fakes import FakeEngine, FakeJobs, captions
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot
from waiting import at_rest

from swag_studio.project import Project
from swag_studio.records import Context, LeftOut, SourceInfo
from swag_studio.ui.forms import Field
from swag_studio.ui.rows_dialog import RowsDialog
from swag_studio.ui.sources_page import SourcesPage
from swag_studio.ui.tables import Table
from swag_studio.ui.workspace import Workspace

Settle = Callable[[], None]
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> SourcesPage:
    page = SourcesPage(workspace)
    qtbot.addWidget(page)
    page.resize(1200, 800)
    page.show()
    page.refresh(frozenset())
    workspace.bridge.ended.connect(lambda _: page.refresh(frozenset()))
    return page


def rows(table: Table) -> list[list[str]]:
    return [
        [c.show(c.value(row)) for c in table.rows_model.columns] for row in table.rows_model.rows
    ]


def double_click(qtbot: QtBot, table: Table, row: int) -> None:
    place = table.visualRect(table.rows_model.index(row, 0)).center()
    qtbot.mouseClick(table.viewport(), LEFT, pos=place)
    qtbot.mouseDClick(table.viewport(), LEFT, pos=place)


def dialog(page: SourcesPage) -> RowsDialog:
    found = [d for d in page.findChildren(RowsDialog) if d.isVisible()]
    assert len(found) == 1
    return found[0]


def test_an_empty_project_says_what_to_do(page: SourcesPage) -> None:
    assert page.status.text() == "no captions yet"
    assert "Bring in captions" in page.hint.text()
    assert not page.action.isVisible() and not page.panel.isVisible()


def test_a_dropped_file_is_shown_before_anything_is_imported(
    page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    jobs.files["a.json"] = {"captions": captions(7)}
    drop(page, Path("/data/a.json"))
    assert page.panel.counts.text() == "Waits for the job that runs now."
    settle()
    assert jobs.asked == [("a.json", None, True)]
    assert page.panel.name.text() == "a.json"
    assert page.panel.counts.text() == (
        "7 captions in 1 document; 6 pairs of captions that follow each other."
    )
    assert page.panel.format.currentText() == "ActivityNet Captions"
    assert [row[2] for row in rows(page.panel.preview)] == [
        f"Sentence {i} of v_one." for i in range(5)
    ]
    assert page.workspace.project.store.sources() == []


def test_import_brings_the_file_in_and_says_what_is_next(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    jobs.files["a.json"] = {"captions": captions(1200)}
    drop(page, Path("/data/a.json"))
    settle()
    qtbot.mouseClick(page.panel.bring_in, LEFT)
    settle()
    assert jobs.asked[-1] == ("a.json", "activitynet", False)
    assert not page.panel.isVisible()
    assert rows(page.table) == [["a.json", "ActivityNet Captions", "1", "1,200", "", "0"]]
    assert page.hint.text().startswith("a.json: 1,200 captions imported. Next: prepare")
    qtbot.mouseClick(page.action, LEFT)
    settle()
    assert jobs.ran == ["prepare"]


def test_files_that_are_chosen_queue_up(
    qtbot: QtBot,
    page: SourcesPage,
    jobs: FakeJobs,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for i, name in enumerate(("a.json", "b.json", "c.json")):
        jobs.files[name] = {"captions": captions(2 + i, f"v_{name}")}
    names = ["/d/a.json", "/d/b.json", "/d/c.json", "/d/a.json"]
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: (names, ""))
    qtbot.mouseClick(page.choose_button, LEFT)
    settle()
    assert (page.panel.name.text(), page.panel.place.text()) == ("a.json", "and 2 more files")
    qtbot.mouseClick(page.panel.skip, LEFT)
    assert (page.panel.name.text(), page.panel.place.text()) == ("b.json", "and 1 more file")
    qtbot.mouseClick(page.panel.all, LEFT)
    settle()
    assert [row[0] for row in rows(page.table)] == ["b.json", "c.json"]
    assert not page.panel.isVisible()


def test_another_format_reads_the_file_again(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    jobs.files["a.json"] = {"captions": captions(3)}
    drop(page, Path("/data/a.json"))
    settle()
    box = page.panel.format
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert page.panel.counts.text() == "Waits for the job that runs now."
    settle()
    assert jobs.asked == [("a.json", None, True), ("a.json", "csv", True)]
    assert box.currentText() == "CSV"
    qtbot.mouseClick(page.panel.bring_in, LEFT)
    settle()
    assert jobs.asked[-1] == ("a.json", "csv", False)


def test_a_refused_file_says_why_in_place_and_can_be_read_otherwise(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    jobs.files["bad.txt"] = {"captions": captions(3), "error": "not text in UTF-8"}
    drop(page, Path("/data/bad.txt"))
    settle()
    panel = page.panel
    assert panel.error.text() == "/data/bad.txt, line 3: not text in UTF-8."
    assert panel.error.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    assert not panel.bring_in.isVisible() and not panel.tables.isVisible()
    panel.format.setFocus()
    qtbot.keyClick(panel.format, Qt.Key.Key_Down)
    settle()
    assert not panel.error.isVisible() and panel.bring_in.isVisible()
    qtbot.mouseClick(panel.skip, LEFT)
    assert not panel.isVisible()


def test_reasons_open_the_places_they_concern(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    left_out = [LeftOut("v_two", i, "empty_sentence", f'"v_two", sentence {i}') for i in range(3)]
    left_out.append(LeftOut("v_three", 0, "no_sentences", '"v_three"'))
    jobs.files["a.json"] = {"captions": captions(3), "left_out": left_out}
    drop(page, Path("/data/a.json"))
    settle()
    assert rows(page.panel.reasons) == [
        ["The sentence is empty", "3"],
        ["The video has no sentences", "1"],
    ]
    double_click(qtbot, page.panel.reasons, 0)
    opened = dialog(page)
    assert opened.note.text() == "a.json: the sentence is empty."
    assert [row[:3] for row in rows(opened.table)] == [
        ["v_two", str(i + 1), f'"v_two", sentence {i}'] for i in range(3)
    ]
    opened.close()


def test_a_file_that_is_there_already_cannot_come_in_twice(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    jobs.files["a.json"] = {"captions": captions(3)}
    for _ in range(2):
        drop(page, Path("/data/a.json"))
        settle()
        if page.panel.bring_in.isVisible():
            qtbot.mouseClick(page.panel.bring_in, LEFT)
            settle()
    assert page.panel.counts.text() == (
        "This file is in the project already. There is nothing to do."
    )
    assert page.panel.skip.text() == "Dismiss" and not page.panel.bring_in.isVisible()


def test_a_double_click_brings_in_one_file(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    """The next file stands under the pointer as soon as the first one is on its way."""
    for name in ("a.json", "b.json"):
        jobs.files[name] = {"captions": captions(3)}
    drop(page, Path("/data/a.json"), Path("/data/b.json"))
    settle()
    button = page.panel.bring_in
    qtbot.mouseClick(button, LEFT)
    place, kind = QPointF(button.rect().center()), QEvent.Type
    none = Qt.KeyboardModifier.NoModifier
    for event in (kind.MouseButtonDblClick, kind.MouseButtonRelease):  # as Qt tells a second click
        QApplication.sendEvent(
            button, QMouseEvent(event, place, button.mapToGlobal(place), LEFT, LEFT, none)
        )
    settle()
    assert [source.file for source in page.workspace.project.store.sources()] == ["a.json"]
    qtbot.mouseClick(page.panel.bring_in, LEFT)
    settle()
    assert len(page.workspace.project.store.sources()) == 2


def test_an_import_that_fails_leaves_its_sentence(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    jobs.files["a.json"] = {"captions": captions(3)}
    drop(page, Path("/data/a.json"))
    settle()
    jobs.files["a.json"] = {"captions": [], "error": "it changed", "only": "activitynet"}
    qtbot.mouseClick(page.panel.bring_in, LEFT)
    settle()
    assert page.panel.error.text() == "/data/a.json, line 3: it changed."
    assert page.panel.isVisible() and page.workspace.project.store.sources() == []


def test_a_cancelled_reading_is_told(
    page: SourcesPage, jobs: FakeJobs, engine: FakeEngine, workspace: Workspace
) -> None:
    jobs.files["a.json"] = {"captions": captions(3)}
    drop(page, Path("/data/a.json"), Path("/data/b.json"))
    engine.step()
    workspace.bridge.drain()
    assert page.panel.counts.text() == "Reading the file; nothing is imported yet …"
    workspace.bridge.cancel()
    workspace.bridge.drain()
    assert page.panel.error.text() == "Cancelled. Nothing of the file was imported."
    assert [f.state for f in page.queue.files] == ["refused", "refused"]


def test_what_was_set_aside_of_an_imported_file_can_be_looked_up(
    qtbot: QtBot, page: SourcesPage, workspace: Workspace
) -> None:
    store = workspace.project.store
    info = SourceInfo("s", "a.json", "activitynet", "0", 1, 1, 3, 0, {"empty_sentence": 1})
    store.stage_source(info)
    store.add_captions("s", captions(3))
    store.add_left_out_of_source("s", [LeftOut("v_one", 3, "empty_sentence", "line 9", "blank")])
    store.publish_source(info)
    page.refresh(frozenset({"sources"}))
    double_click(qtbot, page.table, 0)
    opened = dialog(page)
    assert rows(opened.table) == [["The sentence is empty", "v_one", "line 9", "blank"]]
    opened.close()


def test_prepare_s_result_opens_the_dropped_pairs(
    qtbot: QtBot, page: SourcesPage, workspace: Workspace
) -> None:
    project, store = workspace.project, workspace.project.store
    info = SourceInfo("s", "a.json", "activitynet", "0", 1, 1, 3, 0)
    store.stage_source(info)
    store.add_captions("s", captions(3))
    store.publish_source(info)
    artifact = project.begin("prepare", project.recipe)
    kept = Context("c1", "v_one", "v_one", "s", "v_one", 1, "First.", "He", "runs.", 0, "train")
    store.add_contexts(artifact.version, [kept])
    store.add_dropped_pairs(artifact.version, [LeftOut("v_one", 2, "gap", "s")])
    summary = {"pairs": 2, "contexts": 1, "selected": 1, "dropped": {"gap": 1}, "splits": {}}
    project.finish(artifact, summary)
    page.refresh(frozenset({"contexts"}))
    assert page.prepared.counts.text() == "1 context kept of 2 pairs."
    assert rows(page.prepared.reasons) == [
        ["The pause between the captions is too long", "1", "50.0%"]
    ]
    assert rows(page.examples.table) == [["First.", "He", "runs.", "train", "v_one"]]
    assert page.hint.text() == "1 context ready. Next: train the language models."
    double_click(qtbot, page.prepared.reasons, 0)
    opened = dialog(page)
    assert rows(opened.table) == [["v_one", "3", "Sentence 1 of v_one.", "Sentence 2 of v_one."]]
    opened.close()
    asked: list[str] = []
    page.go_to.connect(asked.append)
    qtbot.mouseClick(page.action, LEFT)
    assert asked == ["Language models"]


# --- the recipe ------------------------------------------------------------------------------


@pytest.fixture
def prepared(project: Project) -> Project:
    """A source, and what Prepare and the language models made of it with the recipe."""
    info = SourceInfo("s", "a.json", "activitynet", "0", 1, 1, 3, 0)
    project.store.stage_source(info)
    project.store.publish_source(info)
    for stage in ("prepare", "train_lm"):
        artifact = project.begin(stage, project.recipe)
        project.finish(artifact, {"pairs": 2, "contexts": 2, "selected": 2})
    return project


def see_recipe(qtbot: QtBot, page: SourcesPage) -> None:
    bar = page.tabs.tabBar()
    qtbot.mouseClick(bar, LEFT, pos=bar.tabRect(1).center())
    assert page.tabs.tabText(page.tabs.currentIndex()) == "Recipe"


def field(page: SourcesPage, key: str) -> Field:
    section, _, name = key.partition(".")
    return page.recipe_panel.forms[section].fields[name]


def enter(qtbot: QtBot, page: SourcesPage, key: str, text: str) -> None:
    """Types over what stands in a setting's line, and presses Enter."""
    editor = field(page, key).editor
    assert isinstance(editor, QLineEdit) and editor.isVisible()
    editor.selectAll()
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)


def test_a_changed_recipe_makes_the_result_out_of_date(
    page: SourcesPage, workspace: Workspace, prepared: Project
) -> None:
    project = prepared
    project.set_recipe(project.recipe.with_values({"prepare.max_gap": 5.0}))
    page.refresh(frozenset())
    assert page.status.text() == "out of date" and page.action.text() == "Prepare again"
    assert page.prepared.isVisible()


def test_the_recipe_s_part_is_made_when_it_is_seen(qtbot: QtBot, page: SourcesPage) -> None:
    assert not page.recipe_tab.made
    see_recipe(qtbot, page)
    forms = page.recipe_panel.forms
    values = page.workspace.project.recipe.to_dict()
    assert {section: set(form.fields) for section, form in forms.items()} == {
        section: set(values[section]) for section in ("prepare", "run")
    }
    assert "makes everything anew" in page.recipe_panel.consequence.text()


def test_a_setting_of_prepare_is_changed_on_its_tab(
    qtbot: QtBot, page: SourcesPage, prepared: Project
) -> None:
    page.refresh(frozenset())
    see_recipe(qtbot, page)
    with qtbot.waitSignal(page.workspace.bridge.changed) as told:
        enter(qtbot, page, "prepare.max_gap", "5")
    assert told.args == [frozenset({"recipe"})]
    assert prepared.recipe.prepare.max_gap == 5.0
    note = field(page, "prepare.max_gap").note
    assert note.isVisible() and "Out of date with these values: Prepare" in note.text()
    assert page.status.text() == "out of date" and page.action.text() == "Prepare again"
    enter(qtbot, page, "prepare.min_ending_tokens", "26")
    error = field(page, "prepare.min_ending_tokens").error
    assert error.isVisible() and "must not be above “Longest ending”" in error.text()
    assert prepared.recipe.prepare.min_ending_tokens == 5


def test_a_setting_for_all_steps_makes_everything_out_of_date_and_goes_back(
    qtbot: QtBot, page: SourcesPage, prepared: Project
) -> None:
    page.refresh(frozenset())
    see_recipe(qtbot, page)
    enter(qtbot, page, "prepare.max_gap", "5")
    device = field(page, "run.device").editor
    assert isinstance(device, QComboBox)
    device.setCurrentText("cpu")
    assert (prepared.recipe.run.device, prepared.recipe.prepare.max_gap) == ("cpu", 5.0)
    assert not field(page, "prepare.max_gap").note.isVisible()  # of the last change alone
    qtbot.mouseClick(field(page, "prepare.max_gap").reset, LEFT)
    assert page.status.text() == "out of date"
    qtbot.mouseClick(field(page, "run.device").reset, LEFT)
    note = field(page, "run.device").note.text()
    assert note == "✓ Up to date with these values: Prepare, Language models."
    enter(qtbot, page, "run.seed", "7")
    note = field(page, "run.seed").note.text()
    assert note.startswith("↻ Out of date with these values: Prepare, Language models.")


def test_the_forms_follow_what_another_page_changed(
    qtbot: QtBot, page: SourcesPage, project: Project
) -> None:
    see_recipe(qtbot, page)
    project.set_recipe(project.recipe.with_values({"lm.epochs": 3, "run.threads": 4}))
    page.refresh(frozenset({"recipe"}))
    enter(qtbot, page, "prepare.folds", "3")
    assert project.recipe.lm.epochs == 3
    assert (project.recipe.run.threads, project.recipe.prepare.folds) == (4, 3)


def test_a_file_may_be_dropped_on_the_recipe_s_tab_too(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, settle: Settle
) -> None:
    see_recipe(qtbot, page)
    editors = [f.editor for form in page.recipe_panel.forms.values() for f in form.fields.values()]
    assert not any(editor.acceptDrops() for editor in editors)  # else its path would stand there
    jobs.files["a.json"] = {"captions": captions(3)}
    drop(page, Path("/data/a.json"))
    settle()
    assert page.tabs.currentWidget() is page.captions and page.panel.bring_in.isVisible()


def test_all_settings_for_all_steps_can_be_pointed_at(
    qtbot: QtBot, page: SourcesPage, project: Project
) -> None:
    for section in ("prepare", "run"):
        for name in project.recipe.to_dict()[section]:
            page.tabs.setCurrentIndex(0)
            page.show_setting(f"{section}.{name}")
            at_rest(qtbot, page.workspace.reader)
            editor = field(page, f"{section}.{name}").editor
            assert editor.hasFocus() and editor.visibleRegion().boundingRect() == editor.rect()


# --- what is cancelled -------------------------------------------------------------------------


def test_a_cancelled_file_says_so_while_the_next_job_is_at_work(
    page: SourcesPage, jobs: FakeJobs, engine: FakeEngine
) -> None:
    """The window is not told of an idle engine in between, and the next job takes hours."""
    jobs.files |= {name: {"captions": captions(3, name)} for name in ("a.json", "b.json")}
    drop(page, Path("/data/a.json"))
    drop(page, Path("/data/b.json"))
    engine.step()
    page.workspace.bridge.cancel()
    page.workspace.run_until("filter")
    page.workspace.bridge.drain()
    assert not page.workspace.bridge.idle
    assert [file.state for file in page.queue.files] == ["refused", "refused"]
    assert page.panel.error.text() == "Cancelled. Nothing of the file was imported."
    assert page.panel.skip.isVisible()


def test_a_file_that_was_imported_when_its_job_was_cancelled_is_imported(
    qtbot: QtBot, page: SourcesPage, jobs: FakeJobs, engine: FakeEngine, settle: Settle
) -> None:
    jobs.files["a.json"] = {"captions": captions(7)}
    drop(page, Path("/data/a.json"))
    settle()
    qtbot.mouseClick(page.panel.bring_in, LEFT)
    while not page.workspace.project.store.sources():
        engine.step()
    page.workspace.bridge.cancel()
    settle()
    assert page.queue.files == [] and not page.panel.isVisible()
    assert page.hint.text().startswith("a.json: 7 captions imported.")
