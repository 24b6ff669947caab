"""Judging as an annotator does it: with keys alone, interrupted, in Japanese, with a full disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QAction, QInputMethodEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from swag_studio.judging import LABELS, Annotator, Judgement, Task, shown_order, task_id
from swag_studio.project import Project
from swag_studio.records import Artifact, Context, Ending, context_id, ending_id
from swag_studio.ui.annotate_bench import Bench
from swag_studio.ui.annotate_page import AnnotatePage
from swag_studio.ui.desk import Answer
from swag_studio.ui.guidelines import DEFAULT, GuidelinesPanel
from swag_studio.ui.store_desk import StoreDesk
from swag_studio.ui.theme import DARK, LIGHT, Theme, apply
from swag_studio.ui.workspace import Workspace

MINA, OTTO = Annotator("a1b2", "Mina"), Annotator("c3d4", "Otto")
KEYS = {"1": Qt.Key.Key_1, "2": Qt.Key.Key_2, "3": Qt.Key.Key_3, "⏎": Qt.Key.Key_Return}
KEYS |= {c: Qt.Key(ord(c)) for c in "BSJKXCFGQZ"} | {"↓": Qt.Key.Key_Down, "↑": Qt.Key.Key_Up}
KEYS |= {"←": Qt.Key.Key_Backspace, "⎋": Qt.Key.Key_Escape}


def put(
    project: Project,
    count: int,
    who: Annotator = MINA,
    text: Callable[[int, int], str] = lambda i, place: f"walks past door {i} and window {place}.",
    sent1: str = "A man waits.",
) -> list[Task]:
    """Work for an annotator: the found ending of item i goes past window 0."""
    store, tasks = project.store, []
    store.put_artifact(Artifact("prepare", 1, "k", "prepared/v1", True, ""))
    store.put_artifact(Artifact("filter", 1, "k", "filter/v1", True, ""))
    for i in range(count):
        texts = [text(i, place) for place in range(6)]
        ident = context_id("g", i, sent1, "He", texts[0])
        store.add_contexts(
            1,
            [Context(ident, "g", "v", "s", "d", i, sent1, "He", texts[0], 0, "train")],
        )
        kinds = ["found"] + 5 * ["generated"]
        rows = [
            Ending(ending_id(ident, t), ident, t, k, -1)  # type: ignore[arg-type]
            for t, k in zip(texts, kinds, strict=True)
        ]
        store.put_endings(rows)
        ids = tuple(r.id for r in rows)
        tasks.append(Task(task_id(ident, 0, ids), ident, 1, 0, ids))
    store.put_annotator(who)
    store.put_tasks(tasks)
    store.allocate([(t.id, who.id) for t in tasks])
    return tasks


def order(project: Project, task: Task, who: Annotator = MINA) -> tuple[int, ...]:
    return shown_order(project.recipe.run.seed, task.id, who.id)


@pytest.fixture
def page(workspace: Workspace, qtbot: QtBot) -> AnnotatePage:
    page = AnnotatePage(workspace)
    qtbot.addWidget(page)
    page.resize(1240, 700)
    with qtbot.waitActive(page):  # else nothing has the focus
        page.show()
        page.activateWindow()
    page.refresh(frozenset())
    return page


@pytest.fixture
def sit(page: AnnotatePage) -> Callable[..., Bench]:
    def sit(who: Annotator = MINA) -> Bench:
        page.seat(who)
        assert page.bench is not None
        return page.bench

    return sit


def press(qtbot: QtBot, keys: str) -> None:
    """Presses keys on whatever has the focus, one after the other."""
    for key in keys.replace(" ", ""):
        focus = QApplication.focusWidget()
        assert focus is not None
        qtbot.keyClick(focus, KEYS[key])


def answers(project: Project, who: Annotator = MINA) -> dict[str, Judgement]:
    return {j.task_id: j for j in project.store.judgements(annotator_id=who.id)}


# --- keys ------------------------------------------------------------------------------------


def test_three_items_are_judged_with_keys_alone(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    tasks = put(project, 3)
    bench = sit()
    rows = bench.card.rows
    assert bench.heading.text() == "Item 1" and bench.progress.text() == "0 of 3 done"
    assert [r.text.text() for r in rows] == [
        f"walks past door 0 and window {place}." for place in order(project, tasks[0])
    ]
    assert (
        bench.card.context.sentence.text() == "A man waits."
        and bench.card.context.opening.text() == "He …"
    )
    press(qtbot, "B1 S2 3 1 2 1 ⏎")  # nine keys: ranked while reading, each label goes on
    press(qtbot, "1 2 3 1 2 1 B ↓ S ⏎")  # ranked afterwards; after the last comes the first
    press(qtbot, "1 3 3 3 3 2 B K 2 S ⏎")  # a label given again stays where it is
    given = answers(project)
    assert [given[t.id].revision for t in tasks] == [0, 0, 0]
    for task, labels, best, second in (
        (tasks[0], "123121", 0, 1),
        (tasks[1], "123121", 5, 0),
        (tasks[2], "133322", 5, 4),
    ):
        shown, j = order(project, task), given[task.id]
        assert [j.labels[p] for p in shown] == [LABELS[int(c) - 1] for c in labels]
        assert (j.best, j.second) == (shown[best], shown[second])
    assert bench.item is None and "All 3 items are done" in bench.idle.words.text()
    assert project.store.progress_of(MINA.id) == {"done": 3}


def test_the_number_pad_and_shift_make_no_difference(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    bench = sit()
    pad, shift = Qt.KeyboardModifier.KeypadModifier, Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(bench.card.rows[0], Qt.Key.Key_B, shift)
    for row in bench.card.rows:
        qtbot.keyClick(row, Qt.Key.Key_1, pad)
    qtbot.keyClick(bench.card.rows[5], Qt.Key.Key_S)
    qtbot.keyClick(bench.card.rows[5], Qt.Key.Key_Enter, pad)
    assert len(answers(project)) == 1


def test_an_incomplete_answer_is_refused_and_says_what_is_missing(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    bench, submit = sit(), None
    submit = bench.buttons["submit"]
    assert submit.text() == "Submit  Enter" and not submit.isEnabled()
    for keys, missing in (
        ("⏎", "6 of 6 endings have no label yet."),
        ("1 1 1 1 1 ⏎", "1 of 6 endings have no label yet."),
        ("1 ⏎", "No ending is marked as best yet."),
        ("B ⏎", "No ending is marked as second best yet."),
        ("S ⏎", "No ending is marked as best yet."),  # the one that was best
    ):
        press(qtbot, keys)
        assert bench.note.text() == missing and bench.note.property("role") == "warn"
    assert answers(project) == {} and not submit.isEnabled()
    press(qtbot, "↑ B")
    assert submit.isEnabled() and bench.note.text() == ""
    submit.click()
    assert len(answers(project)) == 1


def test_gibberish_has_no_rank(sit: Callable[..., Bench], project: Project, qtbot: QtBot) -> None:
    put(project, 1)
    bench = sit()
    press(qtbot, "3 ↑ B")
    assert bench.card.answer.best is None
    assert bench.note.text() == "Gibberish cannot be best. Change its label first."
    assert not bench.card.rows[0].button["best"].isChecked()
    bench.card.rows[0].button["best"].click()  # a refused click leaves no mark
    assert not bench.card.rows[0].button["best"].isChecked()
    press(qtbot, "2 B")
    assert bench.card.answer.best == 0
    press(qtbot, "3")
    assert bench.card.answer.best is None and "No longer best" in bench.note.text()


def test_a_key_that_is_held_down_only_moves(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    bench = sit()
    for key, char in ((Qt.Key.Key_1, "1"), (Qt.Key.Key_J, "j")):
        event = QKeyEvent(
            QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, char, autorep=True
        )
        QApplication.sendEvent(bench.card.rows[bench.card.here], event)
    assert bench.card.answer.labels == (None,) * 6 and bench.card.here == 1


def test_the_mouse_does_the_same(sit: Callable[..., Bench], project: Project, qtbot: QtBot) -> None:
    put(project, 1)
    bench = sit()
    for row in bench.card.rows:
        qtbot.mouseClick(row.button["likely"], Qt.MouseButton.LeftButton)
        assert row.button["likely"].text() == "1 Likely ✓"
    qtbot.mouseClick(bench.card.rows[2].button["best"], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(bench.card.rows[4], Qt.MouseButton.LeftButton)
    assert bench.card.here == 4 and bench.card.rows[4].hasFocus()
    qtbot.mouseClick(bench.card.rows[3].button["second"], Qt.MouseButton.LeftButton)
    assert (bench.card.answer.best, bench.card.answer.second) == (2, 3)
    assert bench.card.rows[3].accessibleDescription() == "likely, second best"
    qtbot.mouseClick(bench.buttons["submit"], Qt.MouseButton.LeftButton)
    assert len(answers(project)) == 1


# --- writing ---------------------------------------------------------------------------------


def test_no_key_judges_while_a_text_has_the_focus(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    bench = sit()
    press(qtbot, "1 1 1 1 1 1 B ↑ S C")
    assert bench.comment.hasFocus()
    press(qtbot, "1 2 3 B S X ⏎ J")
    assert bench.comment.toPlainText().lower() == "123bsx\nj" and answers(project) == {}
    assert bench.card.answer.labels == ("likely",) * 6 and bench.card.here == 4
    press(qtbot, "⎋ ⏎")
    assert next(iter(answers(project).values())).comment.lower() == "123bsx\nj"


def compose(widget: QWidget, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(widget, event)


def test_composing_never_judges_or_submits(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    bench = sit()
    press(qtbot, "1 1 1 1 1 1 B ↑")
    row = bench.card.rows[4]
    before = bench.card.answer
    assert row.hasFocus() and not row.inputMethodQuery(Qt.InputMethodQuery.ImEnabled)
    compose(row, "3")
    compose(row, "", "3")
    compose(row, "", "s")
    assert bench.card.answer == before
    press(qtbot, "S C")
    compose(bench.comment, "へん")
    press(qtbot, "⏎")  # ends the composing, says the keyboard
    compose(bench.comment, "", "変です。")
    assert answers(project) == {} and "変です。" in bench.comment.toPlainText()
    press(qtbot, "⎋ X")
    compose(bench.strip.line, "いみ")
    press(qtbot, "⏎")
    assert bench.strip.isVisible() and project.store.skips() == []
    compose(bench.strip.line, "", "意味が分からない")
    press(qtbot, "⏎")
    assert [s.reason for s in project.store.skips()] == ["意味が分からない"]
    assert answers(project) == {}


def test_japanese_text_is_shown_and_answered(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    endings = ["窓を開ける。", "歌を歌う。", "海に行く。", "本を読む。", "水を飲む。", "寝る。"]
    (task,) = put(project, 1, text=lambda i, p: endings[p], sent1="男が待っている。")
    bench = sit()
    assert bench.card.context.sentence.text() == "男が待っている。"
    assert [r.text.text() for r in bench.card.rows] == [endings[p] for p in order(project, task)]
    assert {r.accessibleName().split(": ")[1] for r in bench.card.rows} == set(endings)
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    assert answers(project)[task.id].best == order(project, task)[0]


# --- keeping ---------------------------------------------------------------------------------


def test_a_draft_is_kept_and_comes_back(
    sit: Callable[..., Bench], page: AnnotatePage, project: Project, qtbot: QtBot
) -> None:
    (task,) = put(project, 1)
    bench = sit()
    press(qtbot, "B1 3")
    assert bench.saved.text() == "○ Not kept yet"
    assert project.store.draft(task.id, MINA.id) is None
    bench._timer.timeout.emit()  # two seconds later
    assert bench.saved.text().startswith("◐ Draft kept ")
    press(qtbot, "2 C Z")
    page.hide()
    kept = project.store.draft(task.id, MINA.id)
    assert kept is not None and kept["best"] == order(project, task)[0]
    again = Bench(StoreDesk(project, MINA))
    qtbot.addWidget(again)
    assert again.card.answer.labels == ("likely", "gibberish", "unlikely", None, None, None)
    assert again.card.answer.best == 0 and again.comment.toPlainText().lower() == "z"
    assert again.card.here == 3 and "draft is back" in again.saved.text()


def test_closing_the_window_keeps_the_draft(
    sit: Callable[..., Bench], page: AnnotatePage, project: Project, qtbot: QtBot
) -> None:
    (task,) = put(project, 1)
    sit()
    press(qtbot, "1")
    seen: list[Any] = []
    hidden = page.hideEvent
    page.hideEvent = lambda e: (  # type: ignore[method-assign]
        seen.append(project.store.draft(task.id, MINA.id)),
        hidden(e),
    )
    page.close()
    assert seen and seen[0] is not None  # before anything was hidden, or the project closed


def test_what_is_changed_back_waits_for_nothing(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 2)
    bench = sit()
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    saved = bench.saved.text()
    assert saved.startswith("✓ Item 1 saved")
    press(qtbot, "B B")
    assert bench.saved.text() == "○ Not kept yet"
    bench._timer.timeout.emit()
    assert bench.saved.text() == saved


def test_an_item_that_cannot_be_read_has_no_part_in_the_one_on_the_screen(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an answer that says the same as the other's would pass for given."""
    tasks = put(project, 2)
    bench = sit()

    def fails(_: str) -> None:
        raise OSError(5, "Input/output error")

    press(qtbot, "B1 S2 3 1 2 1 ⏎")
    press(qtbot, "B1 S2 3 1 2 1")
    with monkeypatch.context() as patch:
        patch.setattr(bench.desk, "draft", fails)
        press(qtbot, "←")
    assert bench.heading.text() == "Item 2" and "drive" in bench.note.text()
    press(qtbot, "⏎")
    assert set(answers(project)) == {task.id for task in tasks}


def test_a_full_disk_keeps_the_answer_on_the_screen(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project, 2)
    bench = sit()

    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    press(qtbot, "B1 S1 1 1 1 2")
    before = bench.answer()
    with monkeypatch.context() as broken:
        broken.setattr(project.store, "submit", full)
        broken.setattr(project.store, "put_draft", full)
        press(qtbot, "⏎")
        assert bench.saved.text() == (
            "✗ Not saved: The disk is full. Make room and do it again: nothing on the screen is "
            "lost."
        )
        assert bench.saved.property("role") == "bad"
        press(qtbot, "←")  # nothing is left before it is kept
        assert bench.saved.text().startswith("✗ Draft not kept: The disk is full.")
    assert bench.heading.text() == "Item 1" and bench.answer().same_as(before)
    assert answers(project) == {}
    press(qtbot, "⏎")
    assert len(answers(project)) == 1 and bench.saved.text().startswith("✓ Item 1 saved ")


# --- going back ------------------------------------------------------------------------------


def test_an_answer_is_corrected_as_a_new_revision(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    tasks = put(project, 3)
    bench = sit()
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    press(qtbot, "B2 S2 2 2 2 2 ⏎")
    press(qtbot, "1")
    press(qtbot, "← ←")
    assert bench.heading.text() == "Item 1, answered" and bench.note.text() == ""
    press(qtbot, "⏎")  # nothing changed: nothing is written
    assert bench.heading.text() == "Item 3"
    assert bench.card.answer.labels[0] == "likely"  # its draft
    press(qtbot, "← ←")
    press(qtbot, "↓ ↓ 3")
    assert "counts until you submit this one" in bench.note.text()
    press(qtbot, "⏎")
    rows = list(project.store.judgements(annotator_id=MINA.id, all_revisions=True))
    assert sorted((r.task_id == tasks[0].id, r.revision) for r in rows) == [
        (False, 0),
        (True, 0),
        (True, 1),
    ]
    assert answers(project)[tasks[0].id].labels[order(project, tasks[0])[2]] == "gibberish"
    assert bench.heading.text() == "Item 3"
    press(qtbot, "←")
    assert bench.heading.text() == "Item 2, answered"
    press(qtbot, "← F")
    assert bench.heading.text() == "Item 2, answered"
    qtbot.keyClick(bench.card.rows[0], Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert bench.heading.text() == "Item 1, answered"


def test_undo_is_named_and_opens_the_last_one_again(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 3)
    bench = sit()
    undo = bench.buttons["undo"]
    assert not undo.isEnabled()
    press(qtbot, "B1 S1 1 1 1 1 ⏎ B2 S2 2 2 2 2 ⏎")
    assert undo.text() == "Undo submit of item 2  Ctrl+Z"
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(bench.card.rows[0], Qt.Key.Key_Z, control)
    assert bench.heading.text() == "Item 2, answered"
    assert bench.card.answer.labels == ("unlikely",) * 6 and "counts until" in bench.note.text()
    assert undo.text() == "Undo submit of item 1  Ctrl+Z"
    qtbot.keyClick(bench.card.rows[0], Qt.Key.Key_Z, control)
    assert bench.heading.text() == "Item 1, answered" and not undo.isEnabled()


def test_a_menus_undo_does_not_come_before_the_items(
    sit: Callable[..., Bench], page: AnnotatePage, project: Project, qtbot: QtBot
) -> None:
    put(project, 2)
    bench = sit()
    taken: list[bool] = []
    action = QAction("Undo an edit", page)
    action.setShortcut(QKeySequence("Ctrl+Z"))
    action.triggered.connect(lambda: taken.append(True))
    page.addAction(action)
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(bench.card.rows[0], Qt.Key.Key_Z, control)
    assert bench.heading.text() == "Item 1, answered" and taken == []
    qtbot.keyClick(bench.guide_button, Qt.Key.Key_Z, control)
    assert taken == []
    page.unseat()
    qtbot.keyClick(page.picker.list, Qt.Key.Key_Z, control)
    assert taken == [True]  # elsewhere the menu's key is the menu's


def test_a_skip_has_a_reason_and_can_be_undone(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 2)
    bench = sit()
    press(qtbot, "X ⏎")
    assert bench.strip.trouble.isVisible() and project.store.skips() == []
    press(qtbot, "⎋")
    assert not bench.strip.isVisible() and bench.card.rows[0].hasFocus()
    press(qtbot, "X Q ⏎")
    assert project.store.progress_of(MINA.id) == {"open": 1, "skipped": 1}
    assert bench.progress.text() == "0 of 2 done, 1 skipped"
    bench.buttons["undo"].click()
    assert bench.heading.text() == "Item 1"
    assert project.store.progress_of(MINA.id) == {"open": 2}
    bench.ask_skip()
    bench.strip.reasons[2].click()
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    assert "1 was skipped" in bench.idle.words.text()
    press(qtbot, "← ←")  # a skipped one can still be answered
    assert bench.heading.text() == "Item 1, skipped"
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    assert project.store.progress_of(MINA.id) == {"done": 2}
    press(qtbot, "←")
    press(qtbot, "X")  # an answered one cannot be skipped
    assert not bench.strip.isVisible() and "is answered" in bench.note.text()


# --- who -------------------------------------------------------------------------------------


def test_who_judges_is_asked_shown_and_forgotten(
    page: AnnotatePage, project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    put(project, 1, OTTO, sent1="A boy waits.")
    project.store.put_annotator(Annotator("s", "Simulated 1", "simulated"))
    page.refresh(frozenset({"annotators"}))
    names = [page.picker.list.item(i).text() for i in range(page.picker.list.count())]
    assert names == ["Mina", "Otto"] and page.bench is None
    assert not page.picker.list.selectedItems()
    page.picker.start.click()
    assert page.picker.trouble.text() == "Choose a name from the list first."
    page.picker.list.setCurrentRow(0)
    page.picker.start.click()
    assert page.status.text() == "Judging as Mina"
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    switch = [b for b in page.findChildren(QPushButton) if b.text().startswith("Switch")]
    switch[0].click()
    assert page.bench is None and page.status.text() == ""
    assert not page.picker.list.selectedItems() and page.picker.isVisible()
    page.picker.list.setCurrentRow(1)
    page.picker.start.click()
    assert page.bench.card.answer == Answer.empty(6)  # type: ignore[union-attr]
    assert not page.bench.buttons["back"].text().startswith("Undo")  # type: ignore[union-attr]
    assert page.bench.desk.before("") is None  # type: ignore[union-attr]


def test_an_annotator_is_added_under_a_name_of_their_own(
    page: AnnotatePage, project: Project, qtbot: QtBot
) -> None:
    assert "Write your name" in page.picker.heading.text() and not page.picker.list.isVisible()
    page.picker.new.click()
    assert page.picker.trouble.text() == "Write a name first."
    compose(page.picker.name, "みな")
    qtbot.keyClick(page.picker.name, Qt.Key.Key_Return)
    assert page.bench is None
    compose(page.picker.name, "", " 美奈  K ")
    qtbot.keyClick(page.picker.name, Qt.Key.Key_Return)
    assert page.status.text() == "Judging as 美奈 K"
    page.unseat()
    page.picker.name.setText("美奈 k")
    page.picker.new.click()
    assert "Another annotator has this name" in page.picker.trouble.text()
    assert [a.name for a in project.store.annotators()] == ["美奈 K"]


def test_a_name_that_is_being_written_or_chosen_stays(page: AnnotatePage, project: Project) -> None:
    """Also while a job at work tells of what it changed."""
    put(project, 1)
    page.refresh(frozenset({"annotators"}))
    page.picker.list.setCurrentRow(0)
    page.picker.name.setText("Ott")
    put(project, 1, OTTO, sent1="A boy waits.")
    page.refresh(frozenset({"annotators", "assignments"}))
    assert page.picker.name.text() == "Ott"
    assert [item.text() for item in page.picker.list.selectedItems()] == ["Mina"]
    page.picker.start.click()
    assert page.status.text() == "Judging as Mina"
    page.unseat()
    assert page.picker.name.text() == "" and not page.picker.list.selectedItems()


def test_without_work_the_page_says_why_and_where_to_go(
    page: AnnotatePage, sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    project.store.put_annotator(MINA)
    bench = sit()
    assert "before the filter has finished" in bench.idle.words.text()
    with qtbot.waitSignal(page.go_to) as gone:
        bench.idle.way.click()
    assert gone.args == ["Filtering"]
    project.store.put_artifact(Artifact("filter", 1, "k", "filter/v1", True, ""))
    page.refresh(frozenset({"filter"}))
    assert "Give work out on the Agreement page" in bench.idle.words.text()
    assert bench.idle.way.text() == "Go to Agreement"
    put(project, 1)
    page.refresh(frozenset({"allocations"}))
    assert bench.heading.text() == "Item 1" and bench.card.rows[0].hasFocus()


def test_work_that_is_taken_back_leaves_the_screen(
    page: AnnotatePage, sit: Callable[..., Bench], project: Project
) -> None:
    put(project, 2)
    bench = sit()
    page.refresh(frozenset({"allocations"}))
    assert bench.heading.text() == "Item 1"
    project.store.withdraw(MINA.id)
    page.refresh(frozenset({"allocations"}))
    assert bench.item is None and "No work has been given out to Mina" in bench.idle.words.text()


def test_what_was_half_given_comes_again_with_the_work(
    page: AnnotatePage, sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    first, second = put(project, 2)
    bench = sit()
    press(qtbot, "B1 3")
    project.store.withdraw_tasks([first.id])
    page.refresh(frozenset({"allocations"}))
    assert bench.item is not None and bench.item.key == second.id
    assert bench.saved.text().startswith("◐ Draft kept")
    project.store.allocate([(first.id, MINA.id)])
    page.refresh(frozenset({"allocations"}))
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    assert bench.item.key == first.id
    assert bench.card.answer.labels[:3] == ("likely", "gibberish", None)


def test_a_text_that_is_gone_is_told(sit: Callable[..., Bench], project: Project) -> None:
    put(project, 1)
    project.store.clear_contexts(1)
    assert "item 1 is no longer in the project" in sit().idle.words.text()


def test_other_pages_hear_of_answers_once_they_are_looked_at(
    page: AnnotatePage, sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    heard: list[frozenset[str]] = []
    page.workspace.bridge.changed.connect(heard.append)
    holder = QWidget()
    qtbot.addWidget(holder)
    page.setParent(holder)
    page.show()
    with qtbot.waitActive(holder):
        holder.show()
        holder.activateWindow()
    sit()
    press(qtbot, "B1 S1 1 1 1 1 ⏎")
    assert heard == []
    page.hide()
    assert heard == [frozenset({"judgements", "allocations"})]
    page.setParent(None)  # the holder must not take it along


# --- blind -----------------------------------------------------------------------------------


def told(top: QWidget) -> str:
    """Everything that the tree of widgets could tell to a person or to a program."""
    words: list[str] = []
    for w in [top, *top.findChildren(QWidget)]:
        words += [w.objectName(), w.toolTip(), w.whatsThis(), w.statusTip(), w.windowTitle()]
        words += [w.accessibleName(), w.accessibleDescription()]
        names = [bytes(name).decode() for name in w.dynamicPropertyNames()]
        words += [f"{n} {w.property(n)}" for n in names if not n.startswith("_")]  # not Qt's own
        words += [w.text()] if isinstance(w, QLabel | QAbstractButton | QLineEdit) else []
    return "\n".join(map(str, words))


def test_nothing_on_the_screen_tells_which_ending_was_found(
    page: AnnotatePage,
    sit: Callable[..., Bench],
    project: Project,
    qtbot: QtBot,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = put(project, 2, text=lambda i, place: f"goes to shop {'pqrstu'[place]} {i}.")
    QApplication.clipboard().setText("")
    bench = sit()
    secrets = {t.id for t in tasks} | {t.context_id for t in tasks}
    secrets |= {e for t in tasks for e in t.endings}
    for keys in ("", "B1 S1", "1 1 1 1 ⏎", "1", "←"):
        press(qtbot, keys)
        text = told(page)
        assert "goes to shop" in text and bench.card.rows[0].accessibleName() in text
        assert [s for s in secrets if s in text] == []
        words = text.lower().replace("guidelines", "")
        assert [w for w in ("found", "gold", "generated", "distractor", "slot") if w in words] == []
    assert caplog.text == "" and QApplication.clipboard().text() == ""


def test_rows_differ_in_nothing_but_their_place_and_text(
    sit: Callable[..., Bench], project: Project
) -> None:
    put(project, 1)
    bench = sit()
    shapes = []
    for row in bench.card.rows[1:]:  # the first has the focus
        text = told(row).replace(row.text.text(), "TEXT")
        shapes.append(text.replace(f"Ending {row.place + 1}", "Ending N"))
    numbers = [s.replace(f"\n{i + 2}\n", "\nN\n") for i, s in enumerate(shapes)]
    assert len(set(numbers)) == 1


# --- keys of one's own -----------------------------------------------------------------------


def test_keys_are_changed_shown_and_remembered(
    sit: Callable[..., Bench], page: AnnotatePage, project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    bench = sit()
    dialog = bench.ask_keys()
    edit = dialog.edits["likely"]
    qtbot.keyClick(edit, Qt.Key.Key_Q)
    edit.editingFinished.emit()
    assert bench.keymap.keys["likely"] == "Q"
    edit = dialog.edits["unlikely"]
    for key, words in (
        (Qt.Key.Key_Q, "Q is the key of “Likely” already."),
        (Qt.Key.Key_Down, "moves about the window"),
    ):
        edit.clear()
        qtbot.keyClick(edit, key)
        edit.editingFinished.emit()
        assert words in dialog.trouble.text() and bench.keymap.keys["unlikely"] == "2"
        assert edit.keySequence().toString() == "2"
    dialog.close()
    bench.card.go(0)
    press(qtbot, "1 Q")
    assert bench.card.answer.labels == ("likely", None, None, None, None, None)
    assert bench.card.rows[3].button["likely"].text() == "Q Likely"
    assert Bench(StoreDesk(project, MINA)).keymap.keys["likely"] == "Q"
    assert Bench(StoreDesk(project, OTTO)).keymap.keys["likely"] == "1"


# --- time --------------------------------------------------------------------------------


def test_the_time_left_comes_from_ones_own_median(
    sit: Callable[..., Bench], project: Project
) -> None:
    tasks = put(project, 8)
    for task, seconds in zip(tasks, (10.0, 40.0, 600.0), strict=False):
        project.store.submit(Judgement(task.id, MINA.id, ("likely",) * 6, 0, 1, seconds=seconds))
    assert sit().progress.text() == "3 of 8 done, about 3 min left"  # 5 x 40 s


def test_active_seconds_go_with_the_answer(project: Project, qtbot: QtBot) -> None:
    put(project, 2)
    now = [100.0]
    bench = Bench(StoreDesk(project, MINA), clock=lambda: now[0])
    qtbot.addWidget(bench)
    bench.resize(1000, 600)
    bench.show()
    for key, wait in zip("B1S21111⏎", (5, 500, 1, 1, 1, 1, 1, 1, 1), strict=True):
        now[0] += wait
        qtbot.keyClick(bench.card.rows[bench.card.here], KEYS[key])
    (judgement,) = answers(project).values()
    assert judgement.seconds == 5 + 60 + 7


# --- guidelines ------------------------------------------------------------------------------


def test_guidelines_are_edited_for_everyone(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    panel = sit().guidelines
    assert panel.text == DEFAULT and "Example 2" in panel.view.toPlainText()
    panel.edit.click()
    assert panel.editor.hasFocus()
    panel.editor.setPlainText("# 手引き\n\nJudge <b>well</b>.")
    press(qtbot, "1")
    panel.keep.click()
    assert "手引き" in panel.view.toPlainText() and not panel.keep.isVisible()
    again = Bench(StoreDesk(project, OTTO))
    qtbot.addWidget(again)
    assert "手引き" in again.guidelines.text
    panel.edit.click()
    panel.default.click()
    panel.leave.click()
    assert "手引き" in panel.text


def test_guidelines_load_nothing(qtbot: QtBot) -> None:
    panel = GuidelinesPanel("![x](file:///etc/hostname) <img src='a.png'> [link](https://x)", False)
    qtbot.addWidget(panel)
    panel.show()
    assert not panel.edit.isVisible() and not panel.view.openLinks()
    assert panel.view.loadResource(2, "file:///etc/hostname") is None
    assert "<img" in panel.view.toPlainText()


def test_g_hides_the_guidelines(sit: Callable[..., Bench], project: Project, qtbot: QtBot) -> None:
    put(project, 1)
    bench = sit()
    assert bench.guidelines.isVisible() and bench.guide_button.text() == "Hide guidelines  G"
    press(qtbot, "G")
    assert not bench.guidelines.isVisible() and bench.guide_button.text() == "Show guidelines  G"


def test_where_one_ending_makes_sense_some_gibberish_is_second(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    (task,) = put(project, 1)
    sit()
    press(qtbot, "3 3 B 1 3 3 3 S ⏎")  # after the last label the focus stays
    (judgement,) = answers(project).values()
    shown = order(project, task)
    assert (judgement.best, judgement.second) == (shown[2], shown[5])


def test_a_small_screen_with_large_text_clips_nothing(
    sit: Callable[..., Bench], page: AnnotatePage, project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    font = page.font()
    font.setPointSizeF(1.5 * font.pointSizeF())
    page.setFont(font)
    page.resize(1000, 480)
    bench = sit()
    qtbot.waitUntil(lambda: bench.card.width() == bench.area.viewport().width())
    assert bench.area.verticalScrollBar().value() == 0
    for row in bench.card.rows:
        for button in row.button.values():
            right = button.mapTo(bench.card, button.rect().bottomRight())
            assert bench.card.rect().contains(right) and button.width() >= button.sizeHint().width()


# --- room ------------------------------------------------------------------------------------

FOUR_LINES = (
    "A woman with a grey coat and a red umbrella walks along the crowded platform of the station, "
    "looks up at the clock above the ticket office and then puts her two suitcases down beside a "
    "bench in the pale light."
)
THREE_LINES = (
    "takes the smaller suitcase, opens it on the bench and searches among the folded shirts and "
    "letters for ticket {} of last week."
)
SMALL, MIDDLE = (1024, 534), (1240, 654)  # what the page has in a window of 1024 x 700, 1240 x 820


def seen(label: QLabel) -> bool:
    """Whether all of a text can be seen, none of it scrolled away or below something else."""
    return label.visibleRegion().boundingRect() == label.rect() != QRect()


@pytest.fixture
def look(page: AnnotatePage, qapp: QApplication) -> Callable[[Theme, int, tuple[int, int]], None]:
    def look(theme: Theme, percent: int, size: tuple[int, int]) -> None:
        apply(qapp, theme, percent, 9.0)
        page.resize(*size)

    return look


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize(("size", "percent"), [(SMALL, 150), (MIDDLE, 100), (MIDDLE, 150)])
def test_the_context_stands_above_whatever_ending_is_judged(
    look: Callable[[Theme, int, tuple[int, int]], None],
    sit: Callable[..., Bench],
    project: Project,
    qtbot: QtBot,
    theme: Theme,
    size: tuple[int, int],
    percent: int,
) -> None:
    put(project, 2, text=lambda i, place: THREE_LINES.format(place + i), sent1=FOUR_LINES)
    look(theme, percent, size)
    bench = sit()
    context, bar = bench.card.context, bench.area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    shown = bench.whole.visibleRegion().boundingRect()
    for key in "↓↓↓↓↓":
        press(qtbot, key)
        row = bench.card.rows[bench.card.here]
        assert row.hasFocus() and seen(row.text)
        assert context.visibleRegion().boundingRect() == context.rect()
        assert seen(context.opening) and not context.sentence.visibleRegion().isEmpty()
        assert shown.contains(context.geometry())
        assert bench.buttons["submit"].visibleRegion().boundingRect().isValid()
        assert all(not b.visibleRegion().isEmpty() for b in row.button.values())
    assert bench.card.here == 5 and bar.value() == bar.maximum()
    press(qtbot, "B 1 S 1 1 1 1 1 ⏎")
    assert len(answers(project)) == 1 and bench.card.here == 0 and bar.value() == 0


def test_a_context_that_is_too_long_scrolls_by_itself(
    look: Callable[[Theme, int, tuple[int, int]], None],
    sit: Callable[..., Bench],
    project: Project,
    qtbot: QtBot,
) -> None:
    put(project, 2, text=lambda i, place: THREE_LINES.format(place), sent1=3 * FOUR_LINES)
    look(LIGHT, 150, SMALL)
    bench = sit()
    context = bench.card.context
    bar, line = context.area.verticalScrollBar(), context.sentence.fontMetrics().lineSpacing()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    assert context.area.viewport().height() % line == 0  # no line is cut in two
    assert context.area.viewport().height() >= 2 * line and seen(context.opening)
    bench.card.go(5)
    assert seen(bench.card.rows[5].text)
    context.area.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(context.area, Qt.Key.Key_PageDown)
    assert bar.value() > 0 and bench.card.here == 5
    press(qtbot, "3")  # keys mean the ending all the same
    assert bench.card.answer.labels[5] == "gibberish"
    bench.ask_skip()
    bench.strip.reasons[0].click()
    assert bar.value() == 0  # the next one is read from its beginning


def test_a_short_context_takes_no_more_room_than_it_needs(
    sit: Callable[..., Bench], project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    context = sit().card.context
    qtbot.waitUntil(lambda: context.opening.height() > 0)
    assert context.height() < 3 * context.sentence.fontMetrics().lineSpacing()
    assert context.area.focusPolicy() == Qt.FocusPolicy.NoFocus  # Tab has nothing to do there


def test_a_word_longer_than_its_line_is_broken(sit: Callable[..., Bench], project: Project) -> None:
    put(project, 1)
    row = sit().card.rows[0]
    line = row.text.fontMetrics().lineSpacing()
    word = "www.example.org/" + "letters" * 9
    row.show_text(f"opens {word}.")
    assert row.text.heightForWidth(200) > 3 * line
    assert row.text.text().replace("\u200b", "") == f"opens {word}."
    row.show_text("opens a nondescript but straightforward door.")
    assert row.text.text() == "opens a nondescript but straightforward door."


def test_where_there_is_room_an_ending_and_its_buttons_are_one_line(
    sit: Callable[..., Bench], page: AnnotatePage, project: Project, qtbot: QtBot
) -> None:
    put(project, 1)
    page.resize(1400, 700)
    bench = sit()
    qtbot.waitUntil(lambda: bench.card.width() == bench.area.viewport().width())
    for row in bench.card.rows:
        tops = {
            button.mapTo(bench.card, button.rect().topLeft()).y() for button in row.button.values()
        }
        assert len(tops) == 1 and row.text.geometry().right() < row.buttons.x()


def test_before_a_filter_run_the_page_says_what_it_waits_for(
    page: AnnotatePage, qtbot: QtBot
) -> None:
    assert "Run the filter first" in page.hint.text()
    with qtbot.waitSignal(page.go_to, check_params_cb=lambda title: title == "Filtering"):
        page.action.click()
