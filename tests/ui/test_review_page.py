"""The Review page as curators use it: find, walk, rank, edit, replace, note, many at once, undo."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from fakes import FakeEngine, FakeJobs
from gates import Gate, held
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from test_store_review import CONTEXTS, VERSION, K, fill
from waiting import at_rest

from swag_studio import curating
from swag_studio.curating import Change, Curator
from swag_studio.errors import ProjectError
from swag_studio.judging import Annotator, Judgement, Task, task_id
from swag_studio.project import Project
from swag_studio.records import Artifact
from swag_studio.reviewing import Curated, ReviewFilter, ReviewRow
from swag_studio.ui import review_making, review_page
from swag_studio.ui.review_dialogs import BulkDialog, EditDialog, NameDialog, ReplaceDialog
from swag_studio.ui.review_page import NOTHING_YET, ReviewPage
from swag_studio.ui.review_table import AROUND, COLUMNS, KEPT, ReviewTable
from swag_studio.ui.undo import Undo
from swag_studio.ui.workspace import Workspace
from swag_studio.views import ContextRow, Origin, PoolEnding, Slot

LEFT, ALT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier
FEATURES = ("v_given_s_n_forward", "s_n_forward")


class FakePool:
    """Of every context the found ending, its four distractors and three further candidates."""

    version, feature_names = 1, FEATURES

    def __init__(self, project: Project) -> None:
        self.rows = list(project.store.assigned(VERSION))

    def contexts(self) -> list[ContextRow]:
        raise AssertionError("reads the head of every block: too much for one context")

    def place_of(self, context_id: str) -> int | None:
        return next((i for i, (id, _) in enumerate(self.rows) if id == context_id), None)

    def endings(self, place: int) -> list[PoolEnding]:
        texts = [e.text for _, e, _ in self.rows[place][1]]
        texts += ["falls far away.", "FALLS far away.", "sits near by.", "cut off at the"]
        near = [0.0, 1.0, 1.0, 1.0, 1.0, 9.0, 8.0, 2.0, 0.0]
        return [
            PoolEnding(i, text, i == 0, (near[i], 5.0), "cut_off" if i == 8 else "")
            for i, text in enumerate(texts)
        ]


class FakeWatch:
    """A run in which every slot came in at iteration 4 but the first."""

    version = VERSION

    def place_of(self, context_id: str) -> int | None:
        return 7

    def iterations(self) -> int:
        return 9

    def slots(self, place: int, iterations: int) -> list[Slot]:
        assert (place, iterations) == (7, 9)
        return [
            Slot(i, i + 1, f"text {i}", 4 if i else -1, f"was {i}" if i else "") for i in range(K)
        ]


def done(project: Project, version: int) -> None:
    recipe = project.recipe.to_toml()
    project.store.put_artifact(
        Artifact("filter", version, f"k{version}", f"filter/v{version}", True, recipe,
                 {"contexts": CONTEXTS})
    )  # fmt: skip


@pytest.fixture
def filtered(project: Project, jobs: FakeJobs) -> Project:
    fill(project.store)
    done(project, VERSION)
    jobs.pool_reader = FakePool(project)
    jobs.watch_reader = FakeWatch()  # type: ignore[assignment]
    return project


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, filtered: Project) -> Iterator[ReviewPage]:
    """The page, read, with a curator whose name is known."""
    curating.set_who(filtered.store, "Ann")
    yield opened(qtbot, workspace)


def opened(qtbot: QtBot, workspace: Workspace) -> ReviewPage:
    page = ReviewPage(workspace)
    qtbot.addWidget(page)
    page.resize(1200, 800)
    workspace.bridge.changed.connect(page.refresh)
    page.refresh(frozenset())
    page.show()
    settle(qtbot, workspace)
    return page


def settle(qtbot: QtBot, workspace: Workspace) -> None:
    """Until nothing is read any more, and the page has heard of it."""
    at_rest(qtbot, workspace.reader)


def shown_ids(page: ReviewPage) -> list[str]:
    return page.store.review_context_ids(page.table.rows_model.ids)


def cells(page: ReviewPage, place: int = 0) -> dict[str, str]:
    model = page.table.rows_model
    return {c.field: model.data(model.index(place, i)) for i, c in enumerate(COLUMNS)}


def state(page: ReviewPage) -> Curated:
    assert page.curation.detail is not None
    return page.store.curated(VERSION, page.curation.detail.row.context_id)


def listed(page: ReviewPage) -> list[str]:
    table = page.detail.endings
    return [table.item(i, 2).text() for i in range(table.rowCount())]


def steps(page: ReviewPage) -> list[str]:
    return [b.name for b in page.store.batches()]


def open_ones(page: ReviewPage, kind: type) -> list[object]:
    return [d for d in page.findChildren(kind) if d.isVisible()]


def dialog(page: ReviewPage, kind: type) -> object:
    found = open_ones(page, kind)
    assert len(found) == 1, f"{len(found)} {kind.__name__}"
    return found[0]


# --- opening --------------------------------------------------------------------------------


def test_before_the_filter_it_says_what_will_be_here(qtbot: QtBot, workspace: Workspace) -> None:
    page = opened(qtbot, workspace)
    assert page.words.text() == NOTHING_YET and page.stack.shown is page.worded
    with qtbot.waitSignal(page.go_to) as went:
        qtbot.mouseClick(page.action, LEFT)
    assert went.args == ["Filtering"]


def test_a_run_of_before_gets_its_table(page: ReviewPage) -> None:
    assert page.store.review_ready(VERSION) and page.stack.shown is page.content
    assert page.filters.counts.text() == f"{CONTEXTS} contexts"
    first = page.store.review_rows([int(page.table.rows_model.ids[0])])[0]
    shown = cells(page)
    assert (shown["sent1"], shown["found"]) == (first.sent1, first.found)
    assert shown["newest"] == "first draw" and shown["margin"] == f"{first.margin:+.2f}"


def test_a_table_that_cannot_be_made_says_why(
    qtbot: QtBot, workspace: Workspace, filtered: Project, jobs: FakeJobs
) -> None:
    def gone(project: Project, version: int) -> Iterator[int]:
        raise ProjectError("The contexts are gone. Run the filter again.")
        yield 0

    jobs.review = gone  # type: ignore[method-assign]
    page = opened(qtbot, workspace)
    assert page.words.text() == "The contexts are gone. Run the filter again."


def test_a_table_is_made_once_however_often_the_page_is_told(
    qtbot: QtBot,
    workspace: Workspace,
    filtered: Project,
    jobs: FakeJobs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second making takes the rows of the first away, and the chosen one with them."""
    made, told = [], threading.Event()

    def slowly(project: Project, version: int) -> Iterator[int]:
        made.append(version)
        told.wait(60)
        yield 0
        yield from project.store.build_review(version, 1, {})

    monkeypatch.setattr(jobs, "review", slowly)
    monkeypatch.setattr(review_making, "PULL", -1.0)  # a look at what else waits after each step
    page = ReviewPage(workspace)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: bool(made))
    page.refresh(frozenset({"artifacts"}))
    told.set()
    settle(qtbot, workspace)
    assert made == [VERSION] and page.filters.counts.text() == f"{CONTEXTS} contexts"


def test_a_context_can_be_asked_for_before_there_are_rows(
    qtbot: QtBot, workspace: Workspace, filtered: Project
) -> None:
    wanted = sorted(c.id for c in filtered.store.contexts(1))[7]
    page = ReviewPage(workspace)
    qtbot.addWidget(page)
    page.show()
    page.show_context(wanted, VERSION)
    page.refresh(frozenset({"assignments"}))  # told of something meanwhile
    settle(qtbot, workspace)
    assert page.curation.detail.row.context_id == wanted


def test_a_context_that_is_asked_for_is_shown_whatever_was_just_typed(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    wanted = shown_ids(page)[-1]
    page.filters.text.setText("no such words")  # and not yet searched for
    page.show_context(wanted)
    settle(qtbot, workspace)
    assert page.curation.detail.row.context_id == wanted
    assert page.filters.text.text() == "" and len(shown_ids(page)) == CONTEXTS


def test_a_click_on_a_head_sorts(qtbot: QtBot, page: ReviewPage, workspace: Workspace) -> None:
    for i, column in enumerate(COLUMNS):
        descending = bool(i % 2)
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        page.table.sortByColumn(i, order)
        settle(qtbot, workspace)
        expected = page.store.review_ids(VERSION, None, column.field, descending)
        assert page.table.rows_model.ids.tolist() == expected.tolist()
    qtbot.keyClick(page.table, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert page.table.rows_model.sort_field == COLUMNS[-2].field


# --- many rows ------------------------------------------------------------------------------


def row(id: int) -> ReviewRow:
    return ReviewRow(id, f"c{id}", f"s{id}", "He", "runs.", "f", "v", "val", 0, "not judged",
                     "open", 0, 0, 0.5, 0.25, 3, "", False, False)  # fmt: skip


def test_only_rows_near_the_screen_are_read(qtbot: QtBot) -> None:
    table = ReviewTable()
    qtbot.addWidget(table)
    table.resize(600, 300)
    table.show()
    ids = np.arange(113_000)[::-1]
    asked: list[tuple[int, int]] = []

    def answer(first: int, last: int) -> None:
        lacking = table.rows_model.lacking(first, last)
        asked.append((first, last))
        table.rows_model.put_rows([row(id) for id in lacking], first, last)

    table.wanted.connect(answer)
    table.show_ids(ids, [], -1, 0)
    seen = 0
    for place in (0, 500, 112_999, 60_000, 3):
        table.go(place)
        qtbot.waitUntil(lambda p=place: table.rows_model.row(p) is not None)
        at = table.rows_model.row(place)
        assert at is not None and at.id == ids[place]
        seen = max(seen, len(ids) - len(table.rows_model.lacking(0, len(ids))))
    assert seen <= KEPT
    assert all(last - first <= 2 * AROUND + 40 for first, last in asked)
    qtbot.keyClick(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert table.chosen_ids().tolist() == ids.tolist()


# --- filters ----------------------------------------------------------------------------------


def test_search_narrows_as_one_types(qtbot: QtBot, page: ReviewPage, workspace: Workspace) -> None:
    asked: list[ReviewFilter] = []
    page.filters.changed.connect(asked.append)
    qtbot.keyClicks(page.filters.text, "runs")
    assert asked == []  # not at each key
    qtbot.waitUntil(lambda: bool(asked))
    settle(qtbot, workspace)
    assert asked == [ReviewFilter(text="runs")]
    expected = page.store.review_ids(VERSION, asked[0]).tolist()
    assert 0 < len(expected) < CONTEXTS and page.table.rows_model.ids.tolist() == expected
    assert page.filters.counts.text() == f"{len(expected)} of {CONTEXTS} contexts"
    page.filters.text.setText("zzz")
    qtbot.keyClick(page.filters.text, Qt.Key.Key_Return)  # at once
    settle(qtbot, workspace)
    assert page.filters.counts.text() == f"0 of {CONTEXTS} contexts"
    assert page.detail.detail is None and not page.detail.edit.isEnabled()
    qtbot.mouseClick(page.filters.clear, LEFT)
    settle(qtbot, workspace)
    assert page.filters.counts.text() == f"{CONTEXTS} contexts"


def test_choices_offer_what_there_is_and_meet(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    split, fold = page.filters.choices["split"], page.filters.choices["fold"]
    assert [split.itemText(i) for i in range(split.count())] == [
        "Split: any", "test (7)", "train (8)", "val (8)",
    ]  # fmt: skip
    split.choose("val")
    fold.choose(1)
    page.filters.newest_to.setValue(-1)
    settle(qtbot, workspace)
    narrow = ReviewFilter(split="val", fold=1, newest_to=-1)
    assert page.filters.filter == narrow
    assert page.table.rows_model.ids.tolist() == page.store.review_ids(VERSION, narrow).tolist()


def test_filters_are_kept_in_the_project(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    page.filters.choices["excluded"].choose(False)
    page.filters.choices["fold"].choose(0)
    qtbot.mouseClick(page.filters.save, LEFT)
    asked = dialog(page, NameDialog)
    assert isinstance(asked, NameDialog) and asked.name.text() == "Fold 0, Not excluded"
    asked.name.setText("Mine")
    asked.yes.click()
    other = opened(qtbot, workspace)
    assert other.filters.filter == ReviewFilter()
    other.filters.saved.setCurrentIndex(other.filters.saved.findText("Mine"))
    other.filters.saved.activated.emit(1)
    settle(qtbot, workspace)
    assert other.filters.filter == ReviewFilter(fold=0, excluded=False)
    qtbot.mouseClick(other.filters.forget, LEFT)
    assert page.store.people_setting("review_filters", None) == {}


# --- one context ------------------------------------------------------------------------------


def test_a_context_is_shown_in_full(qtbot: QtBot, page: ReviewPage, workspace: Workspace) -> None:
    context = shown_ids(page)[2]
    assigned = page.store.assigned_to(VERSION, context)
    endings = tuple(e.id for _, e, _ in assigned[:3])
    for n, (kind, best) in enumerate((("person", 0), ("simulated", 1))):
        task = Task(task_id(context, 0, endings), context, VERSION, 0, endings)
        page.store.put_tasks([task])
        page.store.put_annotator(Annotator(f"a{n}", f"Bo {n}", kind))  # type: ignore[arg-type]
        page.store.submit(
            Judgement(task.id, f"a{n}", ("likely", "unlikely", "gibberish"), best, 1 - best)
        )
    page.table.go(2)
    settle(qtbot, workspace)
    found = assigned[0][1].text
    assert found in page.detail.found.text() and "✓ found" in page.detail.found.text()
    assert listed(page) == [e.text for slot, e, _ in assigned if slot]
    table = page.detail.endings
    assert [table.item(i, 4).text() for i in range(K)] == ["first draw"] + ["iteration 5"] * 3
    numbers = page.detail.numbers.rows_model
    assert [c.title for c in numbers.columns] == ["Ending", "Score", "Forward", "Text"]
    assert [numbers.columns[2].value(r) for r in numbers.rows] == [0.0, 1.0, 1.0, 1.0, 1.0]
    assert [pair[1].displaced for pair in page.detail.history.rows_model.rows] == [
        "", "was 1", "was 2", "was 3",
    ]  # fmt: skip
    judged = [
        (j.annotator, j.ending, j.label, j.choice) for j in page.detail.judged.rows_model.rows
    ]
    assert judged[:3] == [
        ("Bo 0", "✓ found", "likely", "best"),
        ("Bo 0", "Ending 1", "unlikely", "second best"),
        ("Bo 0", "Ending 2", "gibberish", ""),
    ]
    assert {j[0] for j in judged[3:]} == {"Bo 1 (simulated)"}
    assert "Not judged yet" in page.detail.verdict.text()


def test_what_an_earlier_run_left_says_so(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    origins = [Origin(1, -1), Origin(2, 11), Origin(1, None, curator=True), None]

    def slots(self: FakeWatch, place: int, iterations: int) -> list[Slot]:
        return [
            Slot(i, i + 1, f"text {i}", -1 if origin else 2, "", origin)
            for i, origin in enumerate(origins)
        ]

    monkeypatch.setattr(FakeWatch, "slots", slots)
    page.table.go(2)
    settle(qtbot, workspace)
    told = ["run 1, first draw", "run 2, iteration 12", "run 1, by a curator", "iteration 3"]
    assert [page.detail.endings.item(i, 4).text() for i in range(K)] == told
    history = page.detail.history.rows_model
    column = [c.title for c in history.columns].index("Came in")
    history.sort(column, Qt.SortOrder.AscendingOrder)
    shown = [history.data(history.index(i, column)) for i in range(K)]
    assert shown == [told[0], told[2], told[1], told[3]]


def test_without_a_pool_the_rest_is_there(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, jobs: FakeJobs
) -> None:
    jobs.pool_reader = None
    page.refresh(frozenset())
    settle(qtbot, workspace)
    assert listed(page) and "no candidates" in page.detail.numbers.toolTip()
    assert len(page.detail.numbers.rows_model.rows) == K + 1
    page.detail.replace.click()
    settle(qtbot, workspace)
    asked = dialog(page, ReplaceDialog)
    assert isinstance(asked, ReplaceDialog) and "no candidates" in asked.note.text()
    asked.reject()


def test_a_name_is_asked_for_once(qtbot: QtBot, workspace: Workspace, filtered: Project) -> None:
    page = opened(qtbot, workspace)
    page.detail.notes.flags["typo"].click()
    asked = dialog(page, NameDialog)
    assert isinstance(asked, NameDialog) and asked.name.text() == curating.login()
    asked.reject()  # then nothing is changed, and nothing is shown as changed
    settle(qtbot, workspace)
    assert steps(page) == [] and not page.detail.notes.flags["typo"].isChecked()
    page.detail.notes.flags["typo"].click()
    asked = dialog(page, NameDialog)
    assert isinstance(asked, NameDialog)
    asked.name.setText("Ann")
    asked.yes.click()
    page.detail.notes.flags["check"].click()
    settle(qtbot, workspace)
    assert [(b.who, b.name) for b in page.store.batches()] == [
        ("Ann", "Flag a context as “typo”"),
        ("Ann", "Flag a context as “check”"),
    ]
    assert page.who.text() == "You are Ann …" and cells(page)["flags"] == "check, typo"


def test_keys_flag_and_exclude(qtbot: QtBot, page: ReviewPage, workspace: Workspace) -> None:
    for view in (page.table, page.detail.endings):
        view.setFocus()
        qtbot.keyClick(view, Qt.Key.Key_5)
        qtbot.keyClick(view, Qt.Key.Key_X)
        settle(qtbot, workspace)
    assert steps(page) == [
        "Flag a context as “typo”",
        "Exclude a context",
        "Take the flag “typo” off a context",
        "Include a context again",
    ]


def test_no_key_acts_while_a_text_has_the_focus(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    for field in (page.filters.text, page.detail.notes.comment):
        field.setFocus()
        before = listed(page)
        qtbot.keyClicks(field, "x15rR")
        for key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            qtbot.keyClick(field, key, ALT)
        qtbot.keyClick(field, Qt.Key.Key_F2)
        assert steps(page) == [] and listed(page) == before
        assert not open_ones(page, EditDialog)
    page.detail.notes.comment.clear()
    page.filters.text.clear()
    qtbot.keyClick(page.filters.text, Qt.Key.Key_Return)
    settle(qtbot, workspace)


def test_ranks_by_keys_and_by_dragging(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    table, first = page.detail.endings, listed(page)
    table.setFocus()
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Up, ALT)  # it is the first already
    assert steps(page) == []
    qtbot.keyClick(table, Qt.Key.Key_Down, ALT)
    settle(qtbot, workspace)
    assert listed(page) == [first[1], first[0], first[2], first[3]] and state(page).ranks
    assert table.currentRow() == 1  # the ending that was moved stays chosen
    table.selectRow(3)
    over = QPointF(table.visualItemRect(table.item(0, 2)).center())
    keys = Qt.KeyboardModifier.NoModifier
    drop = QDropEvent(over, Qt.DropAction.MoveAction, QMimeData(), LEFT, keys)
    table.dropEvent(drop)
    settle(qtbot, workspace)
    assert listed(page) == [first[3], first[1], first[0], first[2]]
    assert steps(page) == ["Rank the endings"] * 2


def test_an_edit_is_checked_in_place_and_written(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    page.detail.endings.setFocus()
    page.detail.endings.selectRow(2)
    old, found = listed(page)[2], page.detail.detail.row.found  # type: ignore[union-attr]
    qtbot.keyClick(page.detail.endings, Qt.Key.Key_F2)
    asked = dialog(page, EditDialog)
    assert isinstance(asked, EditDialog) and asked.text.toPlainText() == old
    for text, words in ((found.upper(), "right ending"), ("a  b.", "space"), ("", "empty")):
        asked.text.setPlainText(text)
        assert words in asked.trouble.text() and not asked.yes.isEnabled()
        qtbot.keyClick(asked.text, Qt.Key.Key_Return)  # neither a line break nor a way around
        assert asked.text.toPlainText() == text and steps(page) == []
    asked.text.setPlainText("走って行く。")
    asked.yes.click()
    settle(qtbot, workspace)
    assert listed(page)[2] == "走って行く。" and not open_ones(page, EditDialog)
    assert cells(page)["edited"] == "✎ edited"
    assert page.detail.endings.item(2, 4).text() == "✎ edited"
    lines = page.detail.log.rows_model.rows
    assert [(x.who, x.what, x.before, x.after) for x in lines] == [
        ("Ann", "Ending 3", old, "走って行く。")
    ]
    page.detail.log.selectRow(0)
    page.detail.restore.click()
    settle(qtbot, workspace)
    assert listed(page)[2] == old and steps(page) == ["Edit an ending", "Restore an ending"]


def test_an_edit_that_is_refused_keeps_what_was_typed(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.detail.edit.click()
    asked = dialog(page, EditDialog)
    assert isinstance(asked, EditDialog)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "project.db")

    monkeypatch.setattr(page.store, "apply_edits", full)
    asked.text.setPlainText("sings a song.")
    asked.yes.click()
    assert asked.isVisible() and asked.text.toPlainText() == "sings a song."
    assert "disk is full" in asked.trouble.text()
    monkeypatch.undo()
    asked.yes.click()
    settle(qtbot, workspace)
    assert "sings a song." in listed(page) and not open_ones(page, EditDialog)


def test_an_edit_is_not_of_an_ending_that_came_to_its_place_meanwhile(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    """As by an Undo that was asked for before, and waited while others were read."""
    page.detail.endings.selectRow(2)
    page.detail.edit.click()
    asked = dialog(page, EditDialog)
    assert isinstance(asked, EditDialog) and page.curation.shown is not None
    version, context = page.curation.shown
    Curator(page.store, version, "Bob").edit_text(context, 2, "came in before.")
    asked.text.setPlainText("sings a song.")
    asked.yes.click()
    settle(qtbot, workspace)
    assert asked.isVisible() and "changed elsewhere" in asked.trouble.text()
    assert listed(page)[2] == "came in before." and len(steps(page)) == 1
    assert asked.text.toPlainText() == "sings a song."  # it is not lost


def test_a_half_written_edit_comes_back(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    page.table.go(4)
    settle(qtbot, workspace)
    context = page.curation.detail.row.context_id  # type: ignore[union-attr]
    page.detail.endings.selectRow(1)
    page.detail.edit.click()
    asked = dialog(page, EditDialog)
    assert isinstance(asked, EditDialog)
    asked.text.setPlainText("half a sen")
    asked.keep_draft()  # as the beat does, before the power goes
    asked._beat.stop()
    again = opened(qtbot, workspace)
    again.filters.text.setText("nothing has this")
    qtbot.keyClick(again.filters.text, Qt.Key.Key_Return)
    settle(qtbot, workspace)
    assert again.unfinished.isVisible()
    again.unfinished.click()
    settle(qtbot, workspace)
    assert again.curation.detail is not None
    assert again.curation.detail.row.context_id == context
    restored = dialog(again, EditDialog)
    assert isinstance(restored, EditDialog) and restored.restored.isVisible()
    assert restored.text.toPlainText() == "half a sen"
    restored.reject()  # given up: it is kept no more
    assert curating.drafts(page.store) == {}


def test_a_comment_is_kept_when_one_goes_on(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    notes, first = page.detail.notes, shown_ids(page)[0]
    notes.comment.setFocus()
    qtbot.keyClicks(notes.comment, "see video")
    assert notes.saved.text() == "not saved yet"
    notes._keep_draft()
    assert list(curating.drafts(page.store).values()) == ["see video"]
    page.table.go(1)
    settle(qtbot, workspace)
    assert page.store.curated(VERSION, first).comment == "see video"
    assert notes.comment.toPlainText() == "" and state(page).comment == ""
    assert curating.drafts(page.store) == {} and steps(page) == ["Comment on a context"]


def test_a_replacement_is_offered_by_likeness(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    page.detail.endings.setFocus()
    qtbot.keyClick(page.detail.endings, Qt.Key.Key_R)
    settle(qtbot, workspace)
    asked = dialog(page, ReplaceDialog)
    assert isinstance(asked, ReplaceDialog)
    assert [e.text for e, _ in asked.table.rows_model.rows] == ["sits near by.", "falls far away."]
    assert "most like the found ending" in asked.note.text()
    asked.yes.click()
    settle(qtbot, workspace)
    assert listed(page)[0] == "sits near by." and steps(page) == ["Replace an ending"]
    assert page.detail.endings.item(0, 4).text() == "⇄ replaced"


# --- many contexts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "narrow",
    [
        ReviewFilter(),
        ReviewFilter(text="runs"),
        ReviewFilter(split="val", fold=1),
        ReviewFilter(excluded=False),
    ],
)
def test_all_shown_is_what_a_bulk_change_changes(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, narrow: ReviewFilter
) -> None:
    everyone = shown_ids(page)
    Curator(page.store, VERSION, "Bo").bulk(everyone[:4], Change("exclude"))
    page.filters.show_filter(narrow)
    settle(qtbot, workspace)
    expected = set(page.store.review_context_ids(page.store.review_ids(VERSION, narrow)))
    already = sum(page.store.curated(VERSION, id).excluded for id in expected)
    before = {id: page.store.curated(VERSION, id) for id in everyone}
    page.panel.choose_all.click()
    assert page.panel.chosen.text() == f"{len(expected)} contexts chosen"
    page.panel.exclude.click()
    settle(qtbot, workspace)
    asked = dialog(page, BulkDialog)
    assert isinstance(asked, BulkDialog)
    assert f"{len(expected)} contexts" in asked.note.text()
    assert (f"{already} are already excluded" in asked.note.text()) == (already > 1)
    assert steps(page) == ["Exclude 4 contexts"]  # nothing yet
    asked.yes.click()
    settle(qtbot, workspace)
    for id in everyone:
        wanted = replace(before[id], excluded=True) if id in expected else before[id]
        assert page.store.curated(VERSION, id) == wanted
    assert steps(page)[1:] == [f"Exclude {len(expected) - already} contexts"]
    assert not open_ones(page, BulkDialog)


def test_a_context_that_no_longer_fits_leaves_the_table(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    page.filters.show_filter(ReviewFilter(excluded=False))
    settle(qtbot, workspace)
    before = shown_ids(page)
    page.table.go(3)
    settle(qtbot, workspace)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_X)
    settle(qtbot, workspace)
    assert shown_ids(page) == before[:3] + before[4:]
    assert page.table.currentIndex().row() == 3  # the one below came up
    assert page.curation.detail is not None and page.curation.detail.row.context_id == before[4]


# --- undo -------------------------------------------------------------------------------------


@pytest.fixture
def undo(qtbot: QtBot, page: ReviewPage, workspace: Workspace) -> Callable[[], Undo]:
    menus: list[QMenu] = []

    def make() -> Undo:
        menus.append(QMenu())
        qtbot.addWidget(menus[-1])
        made = Undo(workspace, menus[-1])
        settle(qtbot, workspace)
        return made

    return make


def test_undo_and_redo_are_named_and_outlive_a_restart(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, undo: Callable[[], Undo]
) -> None:
    menu = undo()
    assert not menu.undo_action.isEnabled() and menu.undo_action.text() == "Undo"
    page.detail.notes.flags["typo"].click()
    page.detail.notes.exclude.click()
    settle(qtbot, workspace)
    assert menu.undo_action.text() == "Undo Exclude a context"
    menu.undo_action.trigger()
    settle(qtbot, workspace)
    assert not state(page).excluded and not page.detail.notes.exclude.isChecked()
    later = undo()  # as after a restart: it knows the log alone
    assert later.undo_action.text() == "Undo Flag a context as “typo”"
    assert later.redo_action.text() == "Redo Exclude a context"
    later.redo_action.trigger()
    settle(qtbot, workspace)
    assert state(page).excluded and page.detail.notes.exclude.isChecked()
    assert not later.redo_action.isEnabled()
    shown = page.curation.show_log()
    assert len(shown.table.rows_model.rows) == 4
    shown.close()


# --- versions ---------------------------------------------------------------------------------


def test_a_newer_run_says_where_human_work_stands(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, filtered: Project, engine: FakeEngine
) -> None:
    page.detail.notes.flags["typo"].click()
    settle(qtbot, workspace)
    assert not page.warning.isVisible()
    store, newer = filtered.store, VERSION + 1
    for context, rows in list(store.assigned(VERSION))[:9]:
        store.put_assignments(newer, [(context, s, e.id, s, 0.0) for s, e, _ in rows])
    done(filtered, newer)
    page.refresh(frozenset({"assignments", "artifacts"}))
    settle(qtbot, workspace)
    assert page.version == VERSION  # who works on one is not taken away from it
    page.versions.setCurrentIndex(page.versions.findData(newer))
    page.versions.activated.emit(0)
    settle(qtbot, workspace)
    assert page.filters.counts.text() == "9 contexts"
    assert f"run {VERSION} has 1 context changed and 0 judged" in page.warning.text()
    looked_at = list(store.assigned(VERSION))[20][0]  # which the newer run has not
    page.show_context(looked_at, VERSION)
    settle(qtbot, workspace)
    assert page.version == VERSION and page.curation.detail is not None
    assert page.curation.detail.row.context_id == looked_at
    page.show_version(newer)
    settle(qtbot, workspace)
    page.other.click()
    settle(qtbot, workspace)
    assert page.version == VERSION and page.filters.counts.text() == f"{CONTEXTS} contexts"
    assert not page.warning.isVisible()


def test_a_refused_change_is_told_under_the_table(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    detail = page.curation.detail
    assert detail is not None
    first, second = detail.state.endings[:2]
    page.detail.restore_asked.emit(0, second)  # it stands in another place already
    settle(qtbot, workspace)
    assert "Another ending of this context" in page.panel.told.text()
    assert state(page).endings[0] == first and steps(page) == []


# --- answers that meet --------------------------------------------------------------------------


def changed(page: ReviewPage) -> list[str]:
    """The contexts that anyone changed."""
    return [id for id in shown_ids(page) if page.store.edits(context_id=id, version=VERSION)]


def test_a_key_acts_on_the_row_that_is_looked_at_before_it_is_read_in_full(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    page.table.setFocus()
    with held(workspace.reader):
        qtbot.keyClick(page.table, Qt.Key.Key_Down)
        qtbot.keyClick(page.table, Qt.Key.Key_X)
    settle(qtbot, workspace)
    assert changed(page) == [shown_ids(page)[1]]


def test_who_walks_on_while_rows_are_read_anew_stays_there(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    page.table.setFocus()
    with held(workspace.reader):
        qtbot.keyClick(page.table, Qt.Key.Key_X)  # has the rows read anew
        for _ in range(3):
            qtbot.keyClick(page.table, Qt.Key.Key_Down)
    settle(qtbot, workspace)
    assert page.table.currentIndex().row() == 3 and changed(page) == shown_ids(page)[:1]
    assert page.curation.detail.row.context_id == shown_ids(page)[3]  # type: ignore[union-attr]


def test_rows_of_a_filter_that_was_taken_back_are_not_shown(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.table.go(5)
    settle(qtbot, workspace)
    gate, told = Gate(), []
    monkeypatch.setattr(page.store, "review_ids", gate.before(page.store.review_ids))
    monkeypatch.setattr(page.filters, "show_count", lambda shown, total: told.append(shown))
    page.filters.show_filter(ReviewFilter(text="no such words"))
    gate.reached()
    page.filters.show_filter(ReviewFilter())
    gate.open()
    settle(qtbot, workspace)
    assert 0 not in told and page.table.currentIndex().row() == 5


@pytest.mark.parametrize("kind", [EditDialog, ReplaceDialog])
def test_what_a_dialog_was_opened_for_is_changed_whatever_is_shown_behind_it(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, kind: type
) -> None:
    first, second = shown_ids(page)[:2]
    (page.detail.edit if kind is EditDialog else page.detail.replace).click()
    settle(qtbot, workspace)
    asked = dialog(page, kind)
    Curator(page.store, VERSION, "Bo").exclude(first, True)
    page.filters.show_filter(ReviewFilter(excluded=False))  # it fits no longer
    settle(qtbot, workspace)
    assert page.curation.detail.row.context_id == second  # type: ignore[union-attr]
    if isinstance(asked, EditDialog):
        asked.text.setPlainText("sings a song.")
        asked.keep_draft()
    asked.yes.click()  # type: ignore[attr-defined]
    settle(qtbot, workspace)
    assert len(page.store.edits(context_id=first, version=VERSION)) == 2
    assert page.store.edits(context_id=second, version=VERSION) == []
    assert not open_ones(page, kind) and curating.drafts(page.store) == {}


def test_an_edit_is_written_once_the_name_is_known_and_its_dialog_closes(
    qtbot: QtBot, workspace: Workspace, filtered: Project
) -> None:
    page = opened(qtbot, workspace)
    page.detail.edit.click()
    asked = dialog(page, EditDialog)
    assert isinstance(asked, EditDialog)
    asked.text.setPlainText("sings a song.")
    asked.yes.click()
    name = dialog(page, NameDialog)
    assert isinstance(name, NameDialog) and asked.isVisible()
    name.yes.click()
    settle(qtbot, workspace)
    assert "sings a song." in listed(page) and not open_ones(page, EditDialog)


def test_a_context_that_cannot_be_read_is_not_changed_in_place_of_the_one_before(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise ProjectError("It is gone.")

    monkeypatch.setattr(review_page, "read", gone)
    page.table.go(1)
    settle(qtbot, workspace)
    assert page.detail.sentence.text() == "It is gone."
    page.curation.do(lambda c, id: c.exclude(id, True))  # as each control of the detail does
    assert steps(page) == []
    monkeypatch.undo()
    page.refresh(frozenset({"judgements"}))
    settle(qtbot, workspace)
    assert page.curation.detail.row.context_id == shown_ids(page)[1]  # type: ignore[union-attr]


def test_a_comment_is_kept_when_no_row_is_left(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    first = shown_ids(page)[0]
    page.detail.notes.comment.setPlainText("see video")
    page.filters.show_filter(ReviewFilter(text="no such words"))
    settle(qtbot, workspace)
    assert page.store.curated(VERSION, first).comment == "see video"


def test_what_is_typed_while_drafts_are_read_is_not_forgotten(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.curation.keep_draft(0, "given up")
    gate = Gate(after=True)
    monkeypatch.setattr(review_page, "read_about", gate.before(review_page.read_about))
    page.refresh(frozenset({"judgements"}))
    gate.reached()
    page.curation.keep_draft(0, "")
    page.curation.keep_draft(1, "half a sen")
    gate.open()
    settle(qtbot, workspace)
    assert [page.curation.draft(place) for place in (0, 1)] == ["", "half a sen"]
    assert page.unfinished.text() == "Go on with 1 unfinished edit …"


def test_a_saved_edit_is_no_draft_when_the_page_hears_of_it(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    """Else what the page reads at once still has it, and offers to go on with it."""
    drafts: list[dict[curating.Where, str]] = []
    page.curation.done.connect(lambda: drafts.append(curating.drafts(page.store)))
    page.detail.edit.click()
    asked = dialog(page, EditDialog)
    assert isinstance(asked, EditDialog)
    asked.text.setPlainText("sings a song.")
    asked.keep_draft()
    asked.yes.click()
    settle(qtbot, workspace)
    assert drafts == [{}] and not page.unfinished.isVisible()


def test_an_edit_that_was_to_be_gone_on_with_does_not_open_later(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.table.go(4)
    settle(qtbot, workspace)
    page.curation.keep_draft(1, "half a sen")
    page.table.go(0)
    settle(qtbot, workspace)
    gate = Gate()
    monkeypatch.setattr(review_page, "read", gate.before(review_page.read))
    page._go_on()
    qtbot.waitUntil(lambda: page.table.currentIndex().row() == 4)
    page.table.go(2)  # before it is read in full
    gate.open()
    settle(qtbot, workspace)
    page.table.go(4)
    settle(qtbot, workspace)
    assert not open_ones(page, EditDialog)


def test_two_quick_moves_move_an_ending_two_ranks(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace
) -> None:
    table, first = page.detail.endings, listed(page)
    table.setFocus()
    table.selectRow(0)
    with held(workspace.reader):
        qtbot.keyClick(table, Qt.Key.Key_Down, ALT)
        qtbot.keyClick(table, Qt.Key.Key_Down, ALT)
    settle(qtbot, workspace)
    assert listed(page) == [first[1], first[2], first[0], first[3]]
    assert steps(page) == ["Rank the endings"] * 2


def test_nothing_is_done_to_rows_of_the_run_before(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, filtered: Project
) -> None:
    newer = VERSION + 1
    for context, rows in list(filtered.store.assigned(VERSION))[:9]:
        filtered.store.put_assignments(newer, [(context, s, e.id, s, 0.0) for s, e, _ in rows])
    done(filtered, newer)
    page.table.setFocus()
    with held(workspace.reader):
        page.show_version(newer)
        for view in (page.table, page.detail.endings):
            qtbot.keyClick(view, Qt.Key.Key_X)
        page.panel.choose_all.click()
        page.bulk(Change("exclude"))
        assert not open_ones(page, BulkDialog)
    settle(qtbot, workspace)
    assert steps(page) == [] and page.filters.counts.text() == "9 contexts"


def test_what_could_not_be_read_of_another_run_is_not_told_of_this_one(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.table.show_ids(page.table.rows_model.ids[::-1], (), -1, 0)  # no row is in memory
    gate, rows = Gate(), page.store.review_rows
    errors = [ProjectError("It is gone.")]

    def gone_once(ids: list[int]) -> list[ReviewRow]:
        if errors:
            raise errors.pop()
        return rows(ids)

    monkeypatch.setattr(page.store, "review_rows", gate.before(gone_once))
    page._ask_missing(0, 9)
    gate.reached()
    page.version = VERSION + 1  # another run was chosen
    gate.open()
    settle(qtbot, workspace)
    assert page.stack.shown is page.content
