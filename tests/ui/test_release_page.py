"""The Release page as a curator uses it: counted, checked, written, listed and compared."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import shiboken6
from fakes import FakeEngine, FakeJobs, made_outlook, question, write_release
from judged_project import BEST, NEITHER, context, filtered, judge
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from waiting import at_rest

from swag_studio import recipe as recipes
from swag_studio.app import EngineJobs
from swag_studio.errors import ProjectError
from swag_studio.project import Project
from swag_studio.recipe import STAGE_FORMAT, STAGES
from swag_studio.records import SPLITS
from swag_studio.releases import ReleaseError, ReleaseOptions, next_version
from swag_studio.settings import Settings
from swag_studio.ui import release_readings as readings
from swag_studio.ui.bridge import Bridge, Job
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.pages import PAGES
from swag_studio.ui.release_lists import question_html
from swag_studio.ui.release_page import NOT_FILTERED, ReleasePage
from swag_studio.ui.release_shelf import COMPARE, QUESTIONS, RELEASES
from swag_studio.ui.theme import LIGHT
from swag_studio.ui.workspace import Workspace
from swag_studio.views import Outlook

LEFT = Qt.MouseButton.LeftButton
EMPTY = {
    "kind": "empty_ending",
    "level": "error",
    "count": 2,
    "sentence": "2 questions have an ending without a word. Edit it, or leave the context out.",
    "places": ["train 7, c77", "val 1, c88"],
}
STRAY = {
    "kind": "stray_space",
    "level": "warning",
    "count": 1,
    "sentence": "1 question has stray white space in its text.",
    "places": ["train: ending0 is right in 9 of 9"],
}


def filter_done(workspace: Workspace) -> None:
    """All stages up to the filter are done."""
    project = workspace.project
    for stage in STAGES[:-1]:
        project.finish(project.begin(stage, project.recipe), {})


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> ReleasePage:
    """Over a finished filter run, shown and read."""
    filter_done(workspace)
    return shown(qtbot, workspace)


def shown(qtbot: QtBot, workspace: Workspace) -> ReleasePage:
    page = ReleasePage(workspace)
    qtbot.addWidget(page)
    workspace.bridge.changed.connect(page.refresh)
    page.resize(1200, 900)
    page.show()
    page.refresh(frozenset())
    read(qtbot, workspace)
    return page


def read(qtbot: QtBot, workspace: Workspace) -> None:
    """Waits until all is read, and what was asked for because of it too."""
    at_rest(qtbot, workspace.reader)


Settle = Callable[[], None]


def checked(qtbot: QtBot, page: ReleasePage, settle: Settle) -> None:
    qtbot.mouseClick(page.next.check, LEFT)
    settle()
    read(qtbot, page.workspace)


# --- what would be in it -----------------------------------------------------------------------


def test_without_a_filter_run_it_says_what_comes_first(qtbot: QtBot, workspace: Workspace) -> None:
    page = shown(qtbot, workspace)
    assert page.empty.text() == NOT_FILTERED and page.empty_card.isVisible()
    assert not page.tabs.isVisible()
    with qtbot.waitSignal(page.go_to) as gone:
        qtbot.mouseClick(page.action, LEFT)
    assert gone.args == ["Filtering"]


def test_it_says_what_is_done_and_what_waits(page: ReleasePage) -> None:
    assert page.status.text() == "none yet"
    assert page.hint.text() == (
        "312 of 1,000 contexts give a question; 12 ties wait to be settled, 676 are not judged. "
        "Next: check it."
    )
    rows = page.counts.splits.rows_model.rows
    assert [split for split, _ in rows] == [*SPLITS, "all"] and rows[-1][1]["all"] == 312
    assert [row[1:] for row in page.counts.left_out.rows_model.rows] == [
        (12, "Agreement"),
        (676, "Annotate"),
    ]
    assert page.counts.by.text() == "Verified by 2 people with 312 judgements."
    assert not page.counts.banner.isVisible()


def test_simulated_answers_are_told_at_the_top(
    qtbot: QtBot, workspace: Workspace, jobs: FakeJobs
) -> None:
    jobs.simulated = True
    filter_done(workspace)
    page = shown(qtbot, workspace)
    assert "◇ Simulated" in page.counts.banner.text() and page.counts.banner.isVisible()


def test_simulated_words_that_moved_the_filter_are_told_at_the_top(
    qtbot: QtBot, workspace: Workspace, jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = jobs.outlook

    def outlook(project: Project, options: ReleaseOptions) -> Outlook:
        told = counted(project, options)
        return replace(told, people={**told.people, "feedback_by": "people and simulation"})

    monkeypatch.setattr(jobs, "outlook", outlook)
    filter_done(workspace)
    page = shown(qtbot, workspace)
    assert page.counts.banner.text() == (
        "◇ Simulated: the filter went on with what simulated annotators said."
    )
    assert page.counts.banner.isVisible()


def test_nothing_judged_leads_to_the_annotators(
    qtbot: QtBot, workspace: Workspace, jobs: FakeJobs
) -> None:
    jobs.found = 0
    filter_done(workspace)
    page = shown(qtbot, workspace)
    assert page.counts.told.text() == "No question yet."
    assert page.action.text() == "Annotate ›"
    assert "make a draft" in page.hint.text()
    project = workspace.project
    project.finish(project.begin("release", project.recipe), {"questions": 3})
    page.refresh(frozenset({"releases"}))
    read(qtbot, workspace)
    assert "The draft v1 has unchecked ones" in page.hint.text()
    assert page.action.text() == "Annotate ›"


def test_another_choice_is_counted_anew(
    qtbot: QtBot, page: ReleasePage, jobs: FakeJobs, workspace: Workspace
) -> None:
    page.form.unverified.click()
    read(qtbot, workspace)
    assert [o.unverified for o in jobs.counted] == [False, True]
    assert page.hint.text().startswith("412 of 1,000")
    page.form.title.setText("A title")  # no other questions come of it
    read(qtbot, workspace)
    assert len(jobs.counted) == 2


def test_a_count_that_fails_is_told_and_tried_again(
    qtbot: QtBot, page: ReleasePage, jobs: FakeJobs, workspace: Workspace, monkeypatch
) -> None:
    def fails(*_: object) -> None:
        raise ProjectError("The pool is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "outlook", fails)
        page.refresh(frozenset({"judgements"}))
        read(qtbot, workspace)
        assert page.counts.told.text() == "⚠ The pool is gone."
    page.refresh(frozenset({"releases"}))
    read(qtbot, workspace)
    assert page.counts.told.text().startswith("312 questions")


# --- which run it is of ------------------------------------------------------------------------


def change_recipe(project: Project, iterations: int) -> None:
    """From now on no run before belongs to the recipe."""
    recipe = project.recipe
    project.set_recipe(replace(recipe, filter=replace(recipe.filter, mlp_iterations=iterations)))


@pytest.fixture
def told_apart(jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run 1 gives 100 questions, run 2 gives 200."""

    def outlook(project: Project, options: ReleaseOptions) -> Outlook:
        jobs.counted.append(options)
        return made_outlook(100 * options.filter_version)

    monkeypatch.setattr(jobs, "outlook", outlook)


@pytest.fixture
def two_runs(qtbot: QtBot, workspace: Workspace, told_apart: None) -> ReleasePage:
    """The second run belongs to the recipe."""
    filter_done(workspace)
    change_recipe(workspace.project, 7)
    filter_done(workspace)
    return shown(qtbot, workspace)


def pick(qtbot: QtBot, page: ReleasePage, version: int) -> None:
    """As a person does who opens the list."""
    picker = page.run_bar.picker
    qtbot.keyClick(picker, Qt.Key.Key_Down if version < picker.currentData() else Qt.Key.Key_Up)
    assert picker.currentData() == version
    read(qtbot, page.workspace)


def test_with_one_run_there_is_no_choice(page: ReleasePage) -> None:
    assert not page.run_bar.isVisible() and page.options.filter_version == 1


def test_a_changed_recipe_leaves_the_newest_run_to_release(
    qtbot: QtBot, two_runs: ReleasePage, jobs: FakeJobs, settle: Settle
) -> None:
    page, workspace = two_runs, two_runs.workspace
    assert page.run_bar.told.text() == "Of run 2, made with the present recipe."
    change_recipe(workspace.project, 9)
    workspace.bridge.changed.emit(frozenset({"recipe"}))
    read(qtbot, workspace)
    assert page.run_bar.isVisible()
    assert page.run_bar.told.text() == "Of run 2, made with an earlier recipe."
    assert page.hint.text().startswith("200 of 1,000 contexts")
    checked(qtbot, page, settle)
    qtbot.mouseClick(page.next.write, LEFT)
    settle()
    assert [options.filter_version for options in jobs.published] == [2]


def test_all_speaks_of_the_run_that_was_picked(
    qtbot: QtBot, two_runs: ReleasePage, jobs: FakeJobs, settle: Settle
) -> None:
    page = two_runs
    picker = page.run_bar.picker
    items = [picker.itemText(i) for i in range(picker.count())]
    assert items == ["Filter run 2, the newest", "Filter run 1"]
    checked(qtbot, page, settle)
    assert page.next.write.isEnabled() and page.questions.of.count() == 1
    pick(qtbot, page, 1)
    assert page.run_bar.told.text() == "Of run 1, made with an earlier recipe."
    assert page.counts.told.text().startswith("100 questions")
    assert page.hint.text().startswith("100 of 1,000 contexts")
    assert page.checks.told.text() == "↻ These are checks of other questions. Check again."
    assert not page.next.write.isEnabled() and page.questions.of.count() == 0
    jobs.problems = (EMPTY,)
    checked(qtbot, page, settle)
    with qtbot.waitSignal(page.context_wanted) as wanted:
        qtbot.mouseClick(page.checks.places[0], LEFT)
    assert wanted.args == ["c77", 1]


def test_a_picked_run_stays_and_the_recipes_goes_with_the_recipe(
    qtbot: QtBot, two_runs: ReleasePage
) -> None:
    page, workspace = two_runs, two_runs.workspace

    def another_run(iterations: int) -> None:
        change_recipe(workspace.project, iterations)
        filter_done(workspace)
        workspace.bridge.changed.emit(frozenset({"filter", "artifacts"}))
        read(qtbot, workspace)

    pick(qtbot, page, 1)
    another_run(9)
    assert page.run_bar.told.text() == "Of run 1, made with an earlier recipe."
    pick(qtbot, page, 2)
    pick(qtbot, page, 3)
    another_run(11)
    assert page.run_bar.told.text() == "Of run 4, made with the present recipe."


def test_a_count_that_comes_late_is_not_shown_as_that_of_the_picked_run(
    qtbot: QtBot, two_runs: ReleasePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, counted = two_runs, list[int]()
    show = page.counts.show_outlook

    def shown(outlook: Outlook) -> None:
        counted.append(outlook.questions)
        show(outlook)

    monkeypatch.setattr(page.counts, "show_outlook", shown)
    page.refresh(frozenset({"judgements"}))  # has run 2 counted once more
    reader = page.workspace.reader
    while reader._at_work or reader._waiting:  # no event is heard: the answer waits
        time.sleep(0.001)
    qtbot.keyClick(page.run_bar.picker, Qt.Key.Key_Down)
    assert page.outlook is None and page.counts.told.text() == "Counting what people decided …"
    read(qtbot, page.workspace)
    assert counted == [100]


@pytest.fixture
def turn() -> Iterator[threading.Event]:
    """What a test holds up goes on when it is set."""
    turn = threading.Event()
    yield turn
    turn.set()


def test_a_count_of_another_choice_that_comes_late_is_not_shown(
    qtbot: QtBot,
    page: ReleasePage,
    jobs: FakeJobs,
    turn: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, counts, shown = threading.Event(), jobs.outlook, list[int]()

    def late(project: Project, options: ReleaseOptions) -> Outlook:
        begun.set()
        assert turn.wait(60)
        return counts(project, options)

    monkeypatch.setattr(jobs, "outlook", late)
    monkeypatch.setattr(page.counts, "show_outlook", lambda o: shown.append(o.questions))
    page.refresh(frozenset({"judgements"}))
    assert begun.wait(60)
    page.form.unverified.click()
    turn.set()
    read(qtbot, page.workspace)
    assert shown == [412] and page.hint.text().startswith("412 of 1,000")


def test_an_update_is_told_from_a_changed_recipe(
    qtbot: QtBot, page: ReleasePage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STAGE_FORMAT, "filter", STAGE_FORMAT["filter"] + 1)
    page.refresh(frozenset())
    read(qtbot, workspace)
    assert page.run_bar.isVisible()
    assert page.run_bar.told.text() == (
        "Of run 1, made with other captions or an earlier version of the program."
    )
    assert page.counts.told.text().startswith("312 questions")


# --- checking and writing ----------------------------------------------------------------------


def test_it_is_checked_before_it_is_written(
    qtbot: QtBot, page: ReleasePage, jobs: FakeJobs, settle: Settle
) -> None:
    assert not page.next.write.isEnabled()
    assert page.next.lacking.text() == "Check it before it is written."
    checked(qtbot, page, settle)
    assert page.checks.told.text().startswith("✓ 312 questions checked, no fault found. In 3 the")
    assert page.next.write.isEnabled() and page.action.text() == "Write release 1.0.0"
    page.form.title.setText("Small  set")
    page.form.licence.setText("cc-by-4.0")
    qtbot.mouseClick(page.action, LEFT)
    assert page.status.text() == "running" and not page.next.check.isEnabled()
    settle()
    read(qtbot, page.workspace)
    assert jobs.published == [
        ReleaseOptions("1.0.0", formats=("swag_csv", "swag_full", "hellaswag"),
                       filter_version=1, title="Small set", licence="cc-by-4.0")
    ]  # fmt: skip
    assert page.tabs.currentIndex() == RELEASES
    assert page.status.text() == "1 release, newest 1.0.0"
    assert "Release 1.0.0 holds this." in page.hint.text()
    assert page.form.version.text() == "1.1.0"


def test_new_work_asks_for_another_check(qtbot: QtBot, page: ReleasePage, settle: Settle) -> None:
    checked(qtbot, page, settle)
    page.workspace.bridge.changed.emit(frozenset({"judgements"}))
    assert not page.next.write.isEnabled()
    assert page.checks.told.text().startswith("↻ Something changed")
    checked(qtbot, page, settle)
    page.form.simulated.click()
    assert not page.next.write.isEnabled()


def test_work_that_goes_on_during_the_checks_makes_them_void(
    page: ReleasePage, engine: FakeEngine, settle: Settle
) -> None:
    page.next.check.click()
    engine.step()
    page.workspace.bridge.changed.emit(frozenset({"adjudications"}))
    settle()
    assert page.checks.told.text().startswith("↻ Something changed during the checks")
    assert not page.next.write.isEnabled()


def test_errors_are_overridden_one_by_one_and_with_a_reason(
    qtbot: QtBot, page: ReleasePage, jobs: FakeJobs, settle: Settle
) -> None:
    jobs.problems = (EMPTY, STRAY)
    checked(qtbot, page, settle)
    assert [p["level"] for p in page.checks.problems.rows_model.rows] == ["error", "warning"]
    assert "1 kind of error and 1 kind of warning" in page.checks.told.text()
    assert page.next.lacking.text().startswith("Errors block it: empty ending.")
    (box,) = page.form.overrides.values()
    box.setChecked(True)
    assert page.next.lacking.text() == "Say why it is released with these errors."
    assert not page.next.write.isEnabled()
    page.form.reason.setText(" to  compare ")
    qtbot.mouseClick(page.next.write, LEFT)
    settle()
    (options,) = jobs.published
    assert options.overrides == ("empty_ending",) and options.override_reason == "to compare"


def test_the_places_of_a_fault_open_in_review(
    qtbot: QtBot, page: ReleasePage, jobs: FakeJobs, settle: Settle
) -> None:
    jobs.problems = (EMPTY, STRAY)
    checked(qtbot, page, settle)
    assert [b.text() for b in page.checks.places] == ["train 7 ›", "val 1 ›"]
    with qtbot.waitSignal(page.context_wanted) as wanted:
        qtbot.mouseClick(page.checks.places[1], LEFT)
    assert wanted.args == ["c88", 1]
    page.checks.problems.selectRow(1)
    assert [b.isEnabled() for b in page.checks.places] == [False]  # a place without a context


def test_a_version_is_never_taken_twice(
    qtbot: QtBot, page: ReleasePage, settle: Settle, workspace: Workspace
) -> None:
    write_release(workspace.project.root / "releases" / "2.0.0", ReleaseOptions("2.0.0"))
    page.refresh(frozenset({"releases"}))
    read(qtbot, workspace)
    checked(qtbot, page, settle)
    assert page.form.version.text() == next_version(workspace.project.root) == "2.1.0"
    for version, fault in (("2.0.0", "never changed"), ("2", "no version"), ("", "needs a")):
        page.form.version.setText(version)
        assert fault in page.form.fault.text() and not page.next.write.isEnabled()
    page.form.version.setText("2.0.1")
    assert not page.form.fault.isVisible() and page.next.write.isEnabled()


def test_a_job_that_is_cancelled_has_written_nothing(
    qtbot: QtBot, page: ReleasePage, jobs: FakeJobs, engine: FakeEngine, settle: Settle
) -> None:
    checked(qtbot, page, settle)
    jobs.endless = True
    qtbot.mouseClick(page.next.write, LEFT)
    engine.step()
    page.workspace.bridge.drain()
    page.workspace.bridge.cancel()
    settle()
    assert "Nothing was written" in page.message.text()
    assert page.next.check.isEnabled() and page.next.write.isEnabled()


def test_a_refusal_is_told_on_the_page(
    qtbot: QtBot, page: ReleasePage, jobs: FakeJobs, settle: Settle
) -> None:
    checked(qtbot, page, settle)
    jobs.error = ReleaseError("1.0.0 exists already.")
    qtbot.mouseClick(page.next.write, LEFT)
    settle()
    assert page.message.text() == "⚠ 1.0.0 exists already."


def test_a_refusal_that_comes_at_once_is_told_too(
    page: ReleasePage, jobs: FakeJobs, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine may be through before the window has said that it is at work."""

    def at_once(job: Job) -> None:
        engine.jobs.append(job())
        engine.work()

    jobs.error = ReleaseError("1.0.0 exists already.")
    monkeypatch.setattr(engine, "submit", at_once)
    page.start("publish")
    page.workspace.bridge.drain()
    assert page.message.text() == "⚠ 1.0.0 exists already."
    assert page.jobs.errand is None


def test_a_version_that_someone_is_about_to_type_is_not_filled_in(
    qtbot: QtBot, page: ReleasePage, workspace: Workspace
) -> None:
    assert page.form.version.text() == "1.0.0"
    page.form.version.selectAll()
    qtbot.keyClick(page.form.version, Qt.Key.Key_Delete)
    page.refresh(frozenset({"releases"}))
    read(qtbot, workspace)
    qtbot.keyClicks(page.form.version, "2.0.0")
    assert page.form.version.text() == "2.0.0"


def test_what_the_card_says_is_kept(
    qtbot: QtBot, page: ReleasePage, settle: Settle, workspace: Workspace
) -> None:
    page.form.licence.setText("For research only")
    checked(qtbot, page, settle)
    qtbot.mouseClick(page.next.write, LEFT)
    settle()
    read(qtbot, workspace)
    again = shown(qtbot, workspace)
    assert again.form.options.licence == "For research only"


def test_a_format_that_lacks_its_package_says_so(page: ReleasePage) -> None:
    box = page.form.formats["parquet"]
    assert not box.isEnabled() and not box.isChecked()
    assert "pyarrow, which is not installed" in box.accessibleDescription()
    assert not page.form.formats["swag_csv"].isEnabled() and "swag_csv" in page.form.options.formats


def test_the_draft_is_the_pipelines(
    qtbot: QtBot, page: ReleasePage, jobs: FakeJobs, settle
) -> None:
    page.next.draft.recipe.fields["distractors"].edited.emit("4")
    assert page.workspace.project.recipe.release.distractors == 4
    qtbot.mouseClick(page.next.draft.button, LEFT)
    settle()
    assert jobs.ran == ["release"] and jobs.published == []


# --- what is written ---------------------------------------------------------------------------


@pytest.fixture
def two(qtbot: QtBot, page: ReleasePage, workspace: Workspace) -> Iterator[ReleasePage]:
    """With two releases."""
    for version in ("1.0.0", "1.10.0"):
        folder = workspace.project.root / "releases" / version
        write_release(folder, ReleaseOptions(version, title="Small {set}"))
    page.refresh(frozenset({"releases"}))
    read(qtbot, workspace)
    yield page


def test_the_releases_and_their_files(qtbot: QtBot, two: ReleasePage) -> None:
    two.tabs.setCurrentIndex(RELEASES)
    read(qtbot, two.workspace)
    assert [w.name for w in two.releases.list.rows_model.rows] == ["1.10.0", "1.0.0"]
    newest = two.releases.release
    assert newest is not None and (newest.date, newest.questions) == ("2026-05-04 03:02", 3)
    files = {f.name: f for f in two.releases.files.rows_model.rows}
    assert files["train.csv"].rows == 3 and files["train.csv"].sha256 == "ab" * 32
    assert files["README.md"].rows is None
    qtbot.mouseClick(two.releases.buttons["citation"], LEFT)
    text = QApplication.clipboard().text()
    assert "title = {{Small set}}" in text and "Version 1.10.0" in text and "zellers" in text
    qtbot.mouseClick(two.releases.buttons["card"], LEFT)
    assert QApplication.clipboard().text() == "# The card\n"


def test_first_questions_as_a_reader_sees_them(
    qtbot: QtBot, two: ReleasePage, settle: Settle
) -> None:
    two.tabs.setCurrentIndex(QUESTIONS)
    read(qtbot, two.workspace)
    text = two.questions.text.toPlainText()
    assert "A man of 1.10.0. He …" in text
    assert "<b>eats</b> it." in text  # a text is a text
    lines = text.split("\n")
    assert lines[lines.index("leaves.") - 2 :][:2] == ["✓", "2"]
    checked(qtbot, two, settle)
    assert two.questions.of.currentText() == "As checked now"
    assert "A man waits. He …" in two.questions.text.toPlainText()


def test_a_release_is_chosen_once_it_is_listed(
    qtbot: QtBot,
    two: ReleasePage,
    jobs: FakeJobs,
    settle: Settle,
    turn: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A list that was read before it was written comes after it."""
    checked(qtbot, two, settle)
    made, real = threading.Event(), readings.read_written

    def late(project: Project) -> list[readings.Written]:
        found = real(project)
        made.set()
        assert turn.wait(60)
        return found

    monkeypatch.setattr(readings, "read_written", late)
    two.refresh(frozenset({"releases"}))
    assert made.wait(60)
    qtbot.mouseClick(two.next.write, LEFT)
    settle()
    turn.set()
    read(qtbot, two.workspace)
    (written,) = jobs.published
    assert two.releases.release is not None
    assert two.releases.release.name == written.version and two.releases.files.rows_model.rows


def test_questions_that_cannot_be_read_do_not_take_the_place_of_others(
    qtbot: QtBot,
    two: ReleasePage,
    jobs: FakeJobs,
    settle: Settle,
    turn: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(_: Path) -> None:
        assert turn.wait(60)
        raise ReleaseError("The release is damaged.")

    def pick(name: str) -> None:
        two.questions.of.setCurrentIndex(two.questions.of.findText(name))
        two.questions.of.activated.emit(two.questions.of.currentIndex())

    checked(qtbot, two, settle)
    two.tabs.setCurrentIndex(QUESTIONS)
    monkeypatch.setattr(jobs, "release_questions", fails)
    pick("1.0.0")
    assert two.questions.text.toPlainText() == "Reading …"
    pick("As checked now")
    turn.set()
    read(qtbot, two.workspace)
    assert "A man waits. He …" in two.questions.text.toPlainText()
    pick("1.0.0")
    read(qtbot, two.workspace)
    assert two.questions.text.toPlainText() == "⚠ The release is damaged."


def test_two_releases_are_compared(qtbot: QtBot, two: ReleasePage) -> None:
    two.tabs.setCurrentIndex(COMPARE)
    read(qtbot, two.workspace)
    panel = two.compare
    assert panel.told.text() == (
        "From 1.0.0 to 1.10.0: one added, one changed.\nThe first 2 differences are shown."
    )
    assert "A new one. She" in panel.text.toPlainText()
    panel.differences.selectRow(1)
    text = panel.text.toPlainText()
    assert text.index("Before") < text.index("sat.") < text.index("After") < text.index("leaves.")
    panel.choose(panel.second.currentData())
    assert panel.told.text() == "Choose two different releases."


def test_a_release_is_compared_with_the_one_before_it(qtbot: QtBot, two: ReleasePage) -> None:
    two.tabs.setCurrentIndex(RELEASES)
    qtbot.mouseClick(two.releases.buttons["compare"], LEFT)
    pair = two.compare.pair
    assert pair is not None and [w.name for w in pair] == ["1.0.0", "1.10.0"]


# --- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1_400_000, "1.4 MB"), (3 * 10**9, "3.0 GB")]
)
def test_sizes(size: int, text: str) -> None:
    assert readings.size_in_words(size) == text


def test_what_waits() -> None:
    left = {"adjudicate": 1, "reannotate": 2, "not judged": 1, "excluded": 4}
    assert readings.what_waits(left) == (
        "1 tie waits to be settled, 2 contexts need another round, 1 is not judged"
    )
    assert readings.what_waits({"excluded": 4}) == ""


def test_a_release_with_a_damaged_manifest_stands_among_the_others(workspace: Workspace) -> None:
    folder = workspace.project.root / "releases"
    for version in ("1.0.0", "1.1.0"):
        write_release(folder / version, ReleaseOptions(version))
    (folder / "1.1.0/manifest.json").write_text('{"files": {"train.csv": null}}', "utf-8")
    damaged, whole = readings.read_written(workspace.project)
    assert (damaged.version, damaged.questions, damaged.by) == ("1.1.0", 0, "")
    assert "damaged" in readings.BY[damaged.by] and (whole.questions, whole.by) == (3, "people")
    rows = {row.name: row.sha256 for row in readings.read_files(damaged)}
    assert rows["train.csv"] == "" and "verified" not in readings.citation(damaged)


def test_a_text_that_turns_the_direction_of_reading_turns_no_words_of_ours(qtbot: QtBot) -> None:
    document = QTextDocument()
    document.setHtml(question_html(question("A man \u202esits. He", "\u202eleaves.")))
    blocks = [document.findBlockByNumber(i).text() for i in range(document.blockCount())]
    (ours,) = [text for text in blocks if "ending is right" in text]
    assert "\u202e" not in ours and sum("\u202e" in text for text in blocks) == 2


def test_a_citation_says_who_verified(tmp_path: Path) -> None:
    written = readings.Written("1.0.0", tmp_path, False, "2026-01-02 03:04", 1, "people", 1, {})
    assert "verified by" not in readings.citation(written)
    told = readings.citation(replace(written, by="simulation"))
    assert "verified by simulation" in told and "year = {2026}" in told


# --- with the engine ---------------------------------------------------------------------------


@pytest.fixture
def real(qtbot: QtBot, tmp_path: Path, engine: FakeEngine) -> Iterator[Workspace]:
    """A project of 24 contexts, 20 judged by people, with the engine's own work."""
    contexts = [context(i) for i in range(24)]
    project = filtered(tmp_path / "p.swag", recipes.preset("demo"), contexts)
    answers = {c.video_id: [NEITHER if i % 5 == 4 else BEST] for i, c in enumerate(contexts[:20])}
    judge(project, answers)
    workspace = Workspace(project, Bridge(engine), EngineJobs(), LIGHT, Settings())
    yield workspace
    workspace.reader.close()
    if shiboken6.isValid(workspace.bridge):  # a window takes its bridge with it
        workspace.bridge.stop()
    project.close()


def test_a_release_of_people_from_count_to_comparison(
    qtbot: QtBot, real: Workspace, engine: FakeEngine
) -> None:
    def settle() -> None:
        while engine.busy:
            engine.work()
            real.bridge.drain()
        real.bridge.drain()
        read(qtbot, real)

    page = ReleasePage(real)
    qtbot.addWidget(page)
    real.bridge.changed.connect(page.refresh)
    page.resize(1200, 900)
    page.show()
    page.refresh(frozenset())
    settle()
    assert page.hint.text().startswith("16 of 24 contexts give a question; 4 are not judged.")
    tables = [f for f in page.form.formats if f not in ("swag_csv", "swag_full", "hellaswag")]
    for name in tables:
        page.form.formats[name].setChecked(False)
    for unverified in (False, True):
        page.form.unverified.setChecked(unverified)
        page.next.check.click()
        settle()
        assert page.rehearsal is not None and page.rehearsal.problems == ()
        page.next.write.click()
        settle()
        assert "is written" in page.message.text(), page.message.text()
    assert [(w.version, w.questions, w.by) for w in page.written] == [
        ("1.1.0", 20, "people"),
        ("1.0.0", 16, "people"),
    ]
    files = {f.name: f.rows for f in page.releases.files.rows_model.rows}
    assert sum(files[f"{split}.csv"] or 0 for split in SPLITS) == 20
    page.tabs.setCurrentIndex(COMPARE)
    settle()
    rows = page.compare.differences.rows_model.rows
    assert [d.how for d in rows].count("added") == 4 and rows[0].how == "added"
    page.tabs.setCurrentIndex(QUESTIONS)
    settle()
    assert page.questions.text.toPlainText().count("✓") >= 3


def test_an_earlier_run_is_released_after_the_recipe_changed(
    qtbot: QtBot, real: Workspace, engine: FakeEngine
) -> None:
    change_recipe(real.project, real.project.recipe.filter.mlp_iterations + 1)
    page = shown(qtbot, real)
    assert page.run_bar.told.text() == "Of run 1, made with an earlier recipe."
    assert page.hint.text().startswith("16 of 24 contexts give a question; 4 are not judged.")
    for name, box in page.form.formats.items():
        box.setChecked(name in ("swag_csv", "swag_full"))
    for button in (page.next.check, page.next.write):
        button.click()
        while engine.busy:
            engine.work()
            real.bridge.drain()
        read(qtbot, real)
    assert [(w.version, w.questions) for w in page.written] == [("1.0.0", 16)]


def test_review_shows_the_context_of_a_fault(
    qtbot: QtBot, real: Workspace, engine: FakeEngine
) -> None:
    window = MainWindow(real, [s for s in PAGES if s.title in ("Review", "Release")])
    window.show()
    window.make_pages()
    window.show_titled("Release")
    wanted = sorted(c.id for c in real.project.store.contexts(1))[7]
    window.pages[1].context_wanted.emit(wanted, 1)
    review = window.pages[0]

    def looked_at() -> bool:
        detail = review.curation.detail
        return detail is not None and detail.row.context_id == wanted

    qtbot.waitUntil(looked_at, timeout=20_000)
    assert window.stack.currentIndex() == 0
    window.close()


def test_a_language_is_a_code(qtbot: QtBot, page: ReleasePage, settle: Settle) -> None:
    checked(qtbot, page, settle)
    page.form.language.setText("english")
    assert not page.next.write.isEnabled()
    assert "english is no code of a language" in page.next.lacking.text()
    page.form.language.setText("EN")
    assert page.next.write.isEnabled() and page.options.language == "EN"
    page.form.language.setText("")
    assert page.next.write.isEnabled() and page.options.language == ""  # nobody says which
