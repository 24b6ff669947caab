"""The Agreement page as whoever leads a verification uses it."""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QInputDialog,
    QMessageBox,
    QPushButton,
)
from pytestqt.qtbot import QtBot
from waiting import at_rest

from swag_studio import agreement, packet_exchange, packets
from swag_studio.allocation import OverlapPlan
from swag_studio.judging import Annotator, Judgement, Task
from swag_studio.plan import Assumptions, Measured
from swag_studio.policy import VerificationPolicy
from swag_studio.ratings import collect
from swag_studio.records import Context, Ending, ending_id
from swag_studio.ui import people_readings as readings
from swag_studio.ui.adjudication_panel import AnswerGrid
from swag_studio.ui.agreement_page import (
    ADJUDICATE,
    AGREEMENT,
    NOT_FILTERED,
    PLAN,
    AgreementPage,
)
from swag_studio.ui.agreement_panel import AGREEMENT_COLUMNS, Line
from swag_studio.ui.merge_dialog import MergeDialog
from swag_studio.ui.people_panel import to_csv
from swag_studio.ui.plan_panel import amounts, basis, told
from swag_studio.ui.policy_dialog import PolicyDialog, SettingsForm
from swag_studio.ui.work_dialog import SimulateDialog, WorkDialog
from swag_studio.ui.workspace import Workspace

CONTEXTS = 24
LEFT = Qt.MouseButton.LeftButton
WORDS = ("walks", "sees", "takes", "drops", "holds", "paints", "moves", "lifts", "cleans", "hits")


def fill(workspace: Workspace) -> None:
    """A done filter run over some contexts with nine distractors each."""
    project = workspace.project
    recipe, store = project.recipe, project.store
    prepared = project.finish(project.begin("prepare", recipe), {})
    contexts, endings, rows = [], [], []
    for n in range(CONTEXTS):
        context = Context(
            id=f"c{n:02d}",
            source_id="s",
            group=f"g{n // 2}",
            document=f"g{n // 2}",
            video_id=f"g{n // 2}",
            position=n % 2,
            sent1=f"A man number {n} waits outside.",
            sent2="He",
            found=f"opens door {n} of the house.",
            split="train",
            fold=0,
        )
        contexts.append(context)
        texts = [context.found] + [f"{w} the red box {n} with care." for w in WORDS[:9]]
        for slot, text in enumerate(texts):
            kind = "generated" if slot else "found"
            ending = Ending(ending_id(context.id, text), context.id, text, kind, slot)  # type: ignore[arg-type]
            endings.append(ending)
            rows.append((context.id, slot, ending.id, slot, 0.0))
    store.put_endings(endings)
    store.add_contexts(prepared.version, contexts)
    run = project.finish(project.begin("filter", recipe), {"contexts": CONTEXTS})
    store.put_assignments(run.version, rows)


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> AgreementPage:
    fill(workspace)
    return opened(qtbot, workspace)


def opened(qtbot: QtBot, workspace: Workspace) -> AgreementPage:
    page = AgreementPage(workspace)
    qtbot.addWidget(page)
    workspace.bridge.changed.connect(page.refresh)
    page.resize(1100, 700)
    page.show()
    page.refresh(frozenset())
    read(qtbot, page)
    return page


def read(qtbot: QtBot, page: AgreementPage) -> None:
    """Until nothing more is read or kept, and all of it is shown."""
    at_rest(qtbot, page.workspace.reader)


def press(qtbot: QtBot, page: AgreementPage, name: str) -> None:
    qtbot.mouseClick(page.people.buttons[name], LEFT)


def add(qtbot: QtBot, page: AgreementPage, name: str) -> None:
    press(qtbot, page, "add")
    dialog = page.deeds.dialog
    assert isinstance(dialog, QInputDialog)
    dialog.setTextValue(name)
    dialog.accept()
    read(qtbot, page)


def give(qtbot: QtBot, page: AgreementPage, contexts: int, plan: OverlapPlan) -> WorkDialog:
    """Gives work out; returns the dialog as it was when that was pressed."""
    press(qtbot, page, "give")
    dialog = page.deeds.dialog
    assert isinstance(dialog, WorkDialog)
    dialog.contexts.setValue(contexts)
    dialog.first.setValue(plan.first)
    dialog.by.setValue(plan.by)
    dialog.rest.setValue(plan.rest)
    dialog.checks.setValue(0)
    qtbot.waitUntil(dialog.give.isEnabled)
    qtbot.mouseClick(dialog.give, LEFT)
    read(qtbot, page)
    return dialog


def answer(page: AgreementPage, name: str, answered: Callable[[Task], Judgement]) -> None:
    """An annotator answers all that is open to them."""
    assert page.work is not None
    who = next(a.id for a in page.work.store.annotators() if a.name == name)
    for task in list(page.work.store.open_tasks(who)):
        page.work.store.submit(replace(answered(task), annotator_id=who))
    page.workspace.bridge.changed.emit(frozenset({"judgements"}))


def found_best(task: Task) -> Judgement:
    labels = ("likely", *("unlikely",) * 5)
    return Judgement(task.id, "", labels, 0, 1, seconds=30.0)  # type: ignore[arg-type]


def found_last(task: Task) -> Judgement:
    labels = ("unlikely", "likely", "likely", *("unlikely",) * 3)
    return Judgement(task.id, "", labels, 1, 2, seconds=60.0)  # type: ignore[arg-type]


@pytest.fixture
def held(workspace: Workspace) -> Iterator[threading.Event]:
    """Nothing is read or kept before it is set."""
    turn = threading.Event()
    workspace.reader.ask("held", lambda: turn.wait(60), lambda _: None)
    yield turn
    turn.set()


def lines(page: AgreementPage) -> dict[str, list[str]]:
    """Annotator -> their line as it is shown."""
    model = page.people.workers.rows_model
    return {row.annotator.name: [c.show(c.value(row)) for c in model.columns] for row in model.rows}


# --- which run -----------------------------------------------------------------------------------


def test_an_older_run_with_answers_can_be_shown(
    qtbot: QtBot, page: AgreementPage, workspace: Workspace
) -> None:
    project = workspace.project
    add(qtbot, page, "Anna")
    give(qtbot, page, 3, OverlapPlan(0, 2, 1))
    answer(page, "Anna", found_best)
    read(qtbot, page)
    assert not page.run_bar.isVisible() and page.status.text() == f"3 of {CONTEXTS} contexts judged"
    recipe = project.recipe
    project.set_recipe(replace(recipe, filter=replace(recipe.filter, mlp_iterations=7)))
    newer = project.finish(project.begin("filter", project.recipe), {})
    for context, rows in list(project.store.assigned(1))[:6]:
        kept = [(context, slot, ending.id, slot, 0.0) for slot, ending, _ in rows]
        project.store.put_assignments(newer.version, kept)
    workspace.bridge.changed.emit(frozenset({"filter", "artifacts"}))
    read(qtbot, page)
    assert page.run_bar.told.text() == "Of run 2, made with the present recipe."
    assert page.status.text().endswith("of 6 contexts judged")
    qtbot.keyClick(page.run_bar.picker, Qt.Key.Key_Down)
    assert page.overview is None  # nothing is done by what was read of the other
    page.deeds.do("give", None)
    assert page.deeds.dialog is None
    read(qtbot, page)
    assert page.run_bar.told.text() == "Of run 1, made with an earlier recipe."
    assert page.status.text() == f"3 of {CONTEXTS} contexts judged"


# --- from nothing to verdicts --------------------------------------------------------------------


def test_without_a_filter_run_it_says_what_will_be_here_and_plans_all_the_same(
    qtbot: QtBot, workspace: Workspace
) -> None:
    page = opened(qtbot, workspace)
    assert "filter run" in page.worded[0].words.text()
    with qtbot.waitSignal(page.go_to) as went:
        qtbot.mouseClick(page.action, LEFT)
    assert went.args == ["Filtering"]
    page.tabs.setCurrentIndex(PLAN)
    before = page.plan.told.text()
    field = page.plan.form.fields["questions"]
    field.edited.emit("2000")
    assert page.plan.told.text() != before


def test_work_is_previewed_given_out_judged_and_agreed_on(
    qtbot: QtBot, page: AgreementPage
) -> None:
    assert page.status.text() == f"0 of {CONTEXTS} contexts judged"
    add(qtbot, page, "Anna")
    add(qtbot, page, "Björn")
    assert set(lines(page)) == {"Anna", "Björn"}
    dialog = give(qtbot, page, 10, OverlapPlan(4, 2, 1))
    shown = dialog.preview.rows_model.rows
    assert [row.new for row in shown] == [7, 7]  # 4 by two and 6 by one
    assert page.work is not None
    progress = {w.annotator.name: w.progress for w in page.work.standings()}
    assert progress == {"Anna": {"open": 7}, "Björn": {"open": 7}}
    assert "14 tasks wait" in page.hint.text()

    answer(page, "Anna", found_best)
    answer(page, "Björn", found_best)
    read(qtbot, page)
    assert page.status.text() == f"10 of {CONTEXTS} contexts judged"
    assert lines(page)["Anna"][3:5] == ["7", "0"]
    assert lines(page)["Anna"][6].startswith("100% (")
    page.tabs.setCurrentIndex(AGREEMENT)
    read(qtbot, page)
    rows = page.agreement.headline.rows_model.rows
    assert [row.found.percent.value for row in rows] == [1.0, 1.0, 1.0]
    assert rows[0].found.units == 24  # six endings of four contexts
    table = page.agreement.table.rows_model.rows
    assert table[0].shares.best == 1.0 and table[1].shares.best == 0.535
    assert page.agreement.pairs.rows_model.columns[2].value(0) == "100% of 24"


def test_nothing_is_written_by_a_preview_that_is_cancelled(
    qtbot: QtBot, page: AgreementPage
) -> None:
    add(qtbot, page, "Anna")
    press(qtbot, page, "give")
    dialog = page.deeds.dialog
    assert isinstance(dialog, WorkDialog) and page.work is not None
    qtbot.waitUntil(dialog.give.isEnabled)
    assert sum(row.new for row in dialog.preview.rows_model.rows) == CONTEXTS
    dialog.reject()
    assert list(page.work.store.tasks()) == [] and page.work.store.allocations() == []


def test_too_few_annotators_are_told_before_work_is_given(
    qtbot: QtBot, page: AgreementPage
) -> None:
    add(qtbot, page, "Anna")
    press(qtbot, page, "give")
    dialog = page.deeds.dialog
    assert isinstance(dialog, WorkDialog)
    dialog.contexts.setValue(3)
    dialog.first.setValue(3)
    dialog.by.setValue(2)
    qtbot.waitUntil(lambda: "would lack" in dialog.note.text())
    assert dialog.note.text().startswith("⚠ 3 contexts")
    dialog.boxes[next(iter(dialog.boxes))].setChecked(False)
    assert not dialog.give.isEnabled() and "at least one" in dialog.note.text()


def test_the_entry_test_stands_before_the_work(qtbot: QtBot, page: AgreementPage) -> None:
    add(qtbot, page, "Anna")
    assert page.work is not None
    page.work.keep(checks=replace(page.work.checks, items=3))
    press(qtbot, page, "give")
    dialog = page.deeds.dialog
    assert isinstance(dialog, WorkDialog)
    dialog.contexts.setValue(4)
    dialog.entry.setChecked(True)
    qtbot.waitUntil(dialog.give.isEnabled)
    qtbot.mouseClick(dialog.give, LEFT)
    read(qtbot, page)
    who = page.work.store.annotators()[0].id
    kinds = [task.kind for task in page.work.store.open_tasks(who)]
    assert kinds[:3] == ["test"] * 3 and kinds.count("work") == 4


def test_two_of_one_name_are_refused(qtbot: QtBot, page: AgreementPage) -> None:
    add(qtbot, page, "Anna")
    add(qtbot, page, " anna ")
    assert list(lines(page)) == ["Anna"]
    assert page.message.isVisible() and "name" in page.message.text()


# --- ties ----------------------------------------------------------------------------------------


@pytest.fixture
def tied(qtbot: QtBot, page: AgreementPage) -> AgreementPage:
    """Two annotators who see two contexts differently."""
    add(qtbot, page, "Anna")
    add(qtbot, page, "Björn")
    give(qtbot, page, 2, OverlapPlan(2, 2, 1))
    answer(page, "Anna", found_best)
    answer(page, "Björn", found_last)
    read(qtbot, page)
    return page


def test_ties_are_settled_one_after_the_other(qtbot: QtBot, tied: AgreementPage) -> None:
    page, panel = tied, tied.adjudication
    assert page.tabs.tabText(ADJUDICATE) == "Adjudicate (2)"
    assert "2 ties wait" in page.hint.text()
    qtbot.mouseClick(page.action, LEFT)
    assert page.tabs.currentIndex() == ADJUDICATE
    read(qtbot, page)
    first = panel.context.text()
    assert first.startswith("A man number") and not panel.settle.isEnabled()
    takers = {b.text(): b for b in panel.form.findChildren(QPushButton)}
    assert set(takers) == {"Anna", "Björn"}
    qtbot.mouseClick(takers["Anna"], LEFT)
    assert panel.form.answer == (("likely", *("unlikely",) * 5), 0, 1)
    assert panel.settle.isEnabled()
    panel.comment.setText("He does open it.")
    qtbot.mouseClick(panel.settle, LEFT)
    assert panel.context.text() != first  # the next one is there at once
    read(qtbot, page)
    assert page.work is not None
    (record,) = page.work.store.adjudications().values()
    assert (record.best, record.comment) == (0, "He does open it.")
    assert page.tabs.tabText(ADJUDICATE) == "Adjudicate (1)"
    assert page.overview is not None and page.overview.kinds["found"] == 1
    assert page.agreement.headline is not None


def test_what_is_settled_does_not_enter_agreement(qtbot: QtBot, tied: AgreementPage) -> None:
    assert tied.work is not None
    before = readings.read_figures(tied.work, "people").agreement
    tied.tabs.setCurrentIndex(ADJUDICATE)
    read(qtbot, tied)
    tied.adjudication.form.take(found_best(Task("", "", 1, 0, ())))
    qtbot.mouseClick(tied.adjudication.settle, LEFT)
    read(qtbot, tied)
    assert len(tied.work.store.adjudications()) == 1
    assert readings.read_figures(tied.work, "people").agreement == before


def test_gibberish_cannot_be_settled_as_best(qtbot: QtBot, tied: AgreementPage) -> None:
    tied.tabs.setCurrentIndex(ADJUDICATE)
    read(qtbot, tied)
    panel = tied.adjudication
    panel.form.take(found_best(Task("", "", 1, 0, ())))
    best = next(i for i, button in enumerate(panel.form.best) if button.isChecked())
    panel.form.labels[best].setCurrentText("gibberish")
    assert not panel.settle.isEnabled() and "gibberish" in panel.trouble.text()


def test_what_all_said_alike_is_chosen_and_the_found_ending_is_not_told(
    qtbot: QtBot, tied: AgreementPage
) -> None:
    assert tied.work is not None
    tie = readings.read_ties(tied.work)[0]
    grid = AnswerGrid()
    qtbot.addWidget(grid)
    grid.show_tie(tie, (3, 0, 5, 1, 2, 4), {})
    labels, best, second = grid.answer
    assert labels == (None, None, None, *("unlikely",) * 3) and (best, second) == (None, None)


def test_another_round_is_opened_for_what_needs_it(qtbot: QtBot, page: AgreementPage) -> None:
    add(qtbot, page, "Anna")
    add(qtbot, page, "Björn")
    give(qtbot, page, 3, OverlapPlan(0, 2, 1))
    answer(page, "Anna", found_last)
    answer(page, "Björn", found_last)
    read(qtbot, page)
    assert "3 contexts need another round" in page.hint.text()
    assert page.people.round_button.text() == "Open the next round: 3 contexts need it"
    qtbot.mouseClick(page.people.round_button, LEFT)
    read(qtbot, page)
    assert page.work is not None
    assert sorted(t.round for t in page.work.store.tasks()) == [0, 0, 0, 1, 1, 1]
    assert page.overview is not None and page.overview.open == 3


# --- dropping, time and pay ----------------------------------------------------------------------


def test_a_dropped_annotators_work_goes_to_the_others(qtbot: QtBot, page: AgreementPage) -> None:
    for name in ("Anna", "Björn"):
        add(qtbot, page, name)
    give(qtbot, page, 8, OverlapPlan(0, 2, 1))
    answer(page, "Björn", found_best)
    read(qtbot, page)
    page.people.workers.selectRow(1)
    assert page.people.name.text() == "Björn, person"
    press(qtbot, page, "drop")
    box = page.deeds.dialog
    assert isinstance(box, QMessageBox) and "4 judged ones" in box.informativeText()
    drop = next(b for b in box.buttons() if b.text() == "Drop")
    qtbot.mouseClick(drop, LEFT)
    read(qtbot, page)
    assert "4 tasks went to the others" in page.message.text()
    assert lines(page)["Björn"][2] == "✗ dropped"
    assert lines(page)["Anna"][4] == "8"


def test_a_person_who_is_kept_is_kept(qtbot: QtBot, page: AgreementPage) -> None:
    add(qtbot, page, "Anna")
    press(qtbot, page, "drop")  # the only one needs not be chosen
    box = page.deeds.dialog
    assert isinstance(box, QMessageBox)
    qtbot.mouseClick(next(b for b in box.buttons() if b.text() == "Keep"), LEFT)
    read(qtbot, page)
    assert page.work is not None and page.work.store.annotators()[0].active


def test_time_and_pay_are_saved_as_a_table(
    qtbot: QtBot, page: AgreementPage, tmp_path: Path
) -> None:
    add(qtbot, page, "=Anna")
    give(qtbot, page, 2, OverlapPlan())
    answer(page, "=Anna", found_best)
    read(qtbot, page)
    press(qtbot, page, "save")
    dialog = page.deeds.dialog
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "pay.csv"))
    (row,) = csv.DictReader((tmp_path / "pay.csv").read_text(encoding="utf-8").splitlines())
    assert row["annotator"] == "'=Anna"  # no formula
    assert (row["judged"], float(row["median_seconds"])) == ("2", 30.0)
    assert float(row["hours"]) == pytest.approx(60 / 3600, abs=1e-4)
    assert page.overview is not None
    assert "opens door" not in to_csv(page.overview.workers)


# --- simulated annotators ------------------------------------------------------------------------


def simulate(qtbot: QtBot, page: AgreementPage, settle: Callable[[], None]) -> None:
    press(qtbot, page, "simulate")
    dialog = page.deeds.dialog
    assert isinstance(dialog, SimulateDialog)
    dialog.number.setValue(2)
    dialog.contexts.setValue(12)
    dialog.first.setValue(12)
    qtbot.mouseClick(dialog.run, LEFT)
    settle()
    read(qtbot, page)


def test_simulated_annotators_are_marked_and_do_not_count_unless_asked(
    qtbot: QtBot, page: AgreementPage, settle: Callable[[], None]
) -> None:
    simulate(qtbot, page, settle)
    shown = lines(page)
    assert {row[1] for row in shown.values()} == {"◇ simulated"} and len(shown) == 2
    assert page.status.text() == f"0 of {CONTEXTS} contexts judged"
    page.tabs.setCurrentIndex(AGREEMENT)
    read(qtbot, page)
    assert not page.agreement.banner.text()
    assert page.agreement.stack.currentIndex() == 0  # words: no person has answered
    panel = page.agreement
    panel.who.setCurrentIndex(panel.who.findData("simulated"))
    panel.who.activated.emit(panel.who.currentIndex())
    read(qtbot, page)
    assert "Simulated" in panel.banner.text() and panel.stack.currentIndex() == 1
    assert panel.headline.rows_model.rows[0].found.raters == 2

    page.tabs.setCurrentIndex(0)
    qtbot.mouseClick(page.people.simulated, LEFT)
    read(qtbot, page)
    assert page.status.text() == f"12 of {CONTEXTS} contexts judged"
    assert page.hint.text().startswith("◇ Simulated")


# --- plan and rules ------------------------------------------------------------------------------


def test_the_plan_follows_its_assumptions_and_is_kept(
    qtbot: QtBot, workspace: Workspace, page: AgreementPage
) -> None:
    page.tabs.setCurrentIndex(PLAN)
    assert "⚠" in page.plan.enough.text() and "24 contexts" in page.plan.enough.text()
    field = page.plan.form.fields["questions"]
    field.editor.setText("10")  # type: ignore[attr-defined]
    field.editor.editingFinished.emit()  # type: ignore[attr-defined]
    assert page.plan.told.text().startswith("10 questions take")
    assert page.plan.enough.text().startswith("✓ This project has 24 contexts")
    assert page.work is not None and page.work.plan.questions == 10


def test_a_live_forecast_stands_beside_the_plan() -> None:
    from swag_studio.plan import forecast, live_forecast

    plan = Assumptions(questions=100)
    measured = Measured(20, 15, begun=20, seconds=(30.0, 40.0))
    live, whole = live_forecast(plan, measured), forecast(plan)
    rows = amounts(whole, live)
    assert [r.name for r in rows][:2] == ["Contexts", "Judgements"]
    hours = rows[2]
    assert hours.low is not None and hours.left is not None and hours.high is not None
    assert hours.low < hours.left < hours.high and hours.left < hours.whole
    assert basis(plan, measured)[0].measured == "75.0%"
    assert "still take" in told(plan, whole, live)
    assert amounts(whole, None)[0].left is None


def test_rules_are_checked_explained_and_kept(qtbot: QtBot, page: AgreementPage) -> None:
    press(qtbot, page, "rules")
    dialog = page.deeds.dialog
    assert isinstance(dialog, PolicyDialog) and not dialog.save.isEnabled()
    form = dialog.forms["policy"]
    form.fields["worker_threshold"].edited.emit("2")
    error = form.fields["worker_threshold"].error
    assert "Found among the best two" in error.text() and "stays 0.55" in error.text()
    form.fields["worker_threshold"].edited.emit("0.6")
    assert dialog.save.isEnabled()
    qtbot.mouseClick(dialog.save, LEFT)
    read(qtbot, page)
    assert page.work is not None and page.work.policy.worker_threshold == 0.6


def test_rules_that_contradict_each_other_are_refused(qtbot: QtBot) -> None:
    form = SettingsForm(VerificationPolicy(), "policy")
    qtbot.addWidget(form)
    form.fields["distractors_most"].edited.emit("2")
    assert form.values == VerificationPolicy()
    assert "Wrong endings needed" in form.fields["distractors_most"].error.text()


# --- packets -------------------------------------------------------------------------------------


def test_a_packet_goes_out_and_comes_back(
    qtbot: QtBot, page: AgreementPage, tmp_path: Path
) -> None:
    add(qtbot, page, "Anna")
    give(qtbot, page, 3, OverlapPlan())
    press(qtbot, page, "export")
    out, back = tmp_path / "anna.swagpacket", tmp_path / "back.swagpacket"
    assert isinstance(page.deeds.dialog, QFileDialog)
    page.deeds.dialog.fileSelected.emit(str(out))
    read(qtbot, page)
    assert "3 items for Anna" in page.message.text()
    packet = packets.read(out).packet
    given = tuple(
        packets.PacketAnswer(item.id, ("likely",) * 6, 0, 1, "", 20.0, "2026-01-01T00:00:00.000Z")
        for item in packet.items
    )
    back.write_bytes(packets.file_bytes(packet, packets.Result(given)))
    page.deeds.preview_merge(back)
    qtbot.waitUntil(lambda: isinstance(page.deeds.dialog, MergeDialog))
    dialog = page.deeds.dialog
    assert isinstance(dialog, MergeDialog)
    qtbot.mouseClick(dialog.bring, LEFT)
    read(qtbot, page)
    assert "3 answers of Anna" in page.message.text()
    assert page.work is not None and page.work.store.judgement_count() == 3
    merged = packet_exchange.preview(page.work.store, packets.read(back))
    assert merged.new == () and merged.same == 3


def test_a_packet_that_cannot_be_written_leaves_the_one_that_was_there(
    qtbot: QtBot, page: AgreementPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which may hold someone's answers."""
    add(qtbot, page, "Anna")
    give(qtbot, page, 3, OverlapPlan())
    out = tmp_path / "anna.swagpacket"
    out.write_bytes(b"answers")
    press(qtbot, page, "export")
    assert isinstance(page.deeds.dialog, QFileDialog)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    page.deeds.dialog.fileSelected.emit(str(out))
    read(qtbot, page)
    assert "disk is full" in page.message.text()
    assert out.read_bytes() == b"answers" and list(tmp_path.glob(".*.tmp")) == []


def test_a_file_that_is_no_packet_is_told(
    qtbot: QtBot, page: AgreementPage, tmp_path: Path
) -> None:
    (tmp_path / "x.swagpacket").write_bytes(b"no packet")
    page.deeds.preview_merge(tmp_path / "x.swagpacket")
    qtbot.waitUntil(page.message.isVisible)
    assert page.message.text().startswith("⚠ x.swagpacket")


# --- figures -------------------------------------------------------------------------------------


def test_agreement_without_variation_is_undefined_in_words(qtbot: QtBot) -> None:
    tasks = {f"t{n}": Task(f"t{n}", f"c{n}", 1, 0, tuple("abcdef")) for n in range(3)}
    answers = [Judgement(t, who, ("likely",) * 6, 0, 1) for t in tasks for who in ("one", "other")]
    people = [Annotator("one", "One"), Annotator("other", "Other")]
    ratings = collect(answers, tasks, people)
    found = agreement.agreement(ratings, "labels", draws=10)
    assert AGREEMENT_COLUMNS[1].value(Line("labels", found)) == "undefined (no variation)"
    assert np.isnan(found.alpha.low)


def test_figures_that_cannot_be_read_are_told_and_tried_again(
    qtbot: QtBot, page: AgreementPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(readings, "read_figures", fails)
        page.tabs.setCurrentIndex(AGREEMENT)
        read(qtbot, page)
        assert page.worded[AGREEMENT].shown is not page.agreement_tab
    page.tabs.setCurrentIndex(0)
    page.tabs.setCurrentIndex(AGREEMENT)
    read(qtbot, page)
    assert page.worded[AGREEMENT].shown is page.agreement_tab


def test_nothing_is_read_while_the_page_is_not_seen(
    qtbot: QtBot, page: AgreementPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.hide()
    page.refresh(frozenset({"judgements"}))
    assert not page.workspace.reader.busy
    page.show()
    assert page.workspace.reader.busy or page.overview is not None
    read(qtbot, page)


# --- what comes late -----------------------------------------------------------------------------


def held_up(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> tuple[threading.Event, threading.Event]:
    """(a reading was made, it may be told) of the next call of a reader."""
    made, turn, real = threading.Event(), threading.Event(), getattr(owner, name)

    def late(*given: object) -> object:
        found = real(*given)
        made.set()
        assert turn.wait(60)
        return found

    monkeypatch.setattr(owner, name, late)
    return made, turn


def test_whose_answers_count_may_be_known_after_their_agreement_was_asked_for(
    qtbot: QtBot, workspace: Workspace
) -> None:
    fill(workspace)
    work = readings.human_work(workspace.project, workspace.project.store.artifacts("filter")[0])
    work.keep(count_simulated=True, overlap=OverlapPlan(0, 2, 2))
    work.open_first_round(4)
    assert [*work.simulate(2)]
    turn = threading.Event()
    workspace.reader.ask("held", lambda: turn.wait(60), lambda _: None)
    page = AgreementPage(workspace)
    qtbot.addWidget(page)
    page.show()
    page.refresh(frozenset())
    page.tabs.setCurrentIndex(AGREEMENT)
    turn.set()
    read(qtbot, page)
    assert page.agreement.who.currentData() == "simulated"
    assert page.agreement.headline.rows_model.rows[0].found.raters == 2


def test_a_choice_of_answers_is_not_taken_back_by_what_was_read_before(
    qtbot: QtBot, page: AgreementPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, turn = held_up(monkeypatch, readings, "read_figures")
    shown: list[str] = []
    page.tabs.setCurrentIndex(AGREEMENT)
    panel = page.agreement
    monkeypatch.setattr(panel, "set_who", shown.append)
    assert made.wait(60)
    panel.who.setCurrentIndex(panel.who.findData("both"))
    panel.who.activated.emit(panel.who.currentIndex())
    turn.set()
    read(qtbot, page)
    assert shown == ["both"]


def test_an_assumption_that_is_edited_early_leaves_the_others_as_they_were_kept(
    qtbot: QtBot, workspace: Workspace, held: threading.Event
) -> None:
    """The overview, with the plan in it, may take half a minute."""
    fill(workspace)
    run = workspace.project.store.artifacts("filter")[0]
    readings.human_work(workspace.project, run).keep(plan=Assumptions(pay=11.0))
    page = AgreementPage(workspace)
    qtbot.addWidget(page)
    page.show()
    page.refresh(frozenset())
    page.tabs.setCurrentIndex(PLAN)
    page.plan.form.fields["questions"].edited.emit("3000")
    assert page.work is not None
    assert page.work.plan == Assumptions(pay=11.0, questions=3000)
    held.set()
    read(qtbot, page)
    assert page.plan.form.values == page.work.plan == Assumptions(pay=11.0, questions=3000)


def test_an_assumption_that_is_edited_while_all_is_read_anew_stays(
    qtbot: QtBot, page: AgreementPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.tabs.setCurrentIndex(PLAN)
    made, turn = held_up(monkeypatch, readings.OverviewReader, "read")
    page.refresh(frozenset({"judgements"}))
    assert made.wait(60)
    page.plan.form.fields["questions"].edited.emit("3000")
    turn.set()
    read(qtbot, page)
    assert page.plan.form.values.questions == 3000


def test_a_tie_does_not_come_back_while_its_settling_is_kept(
    qtbot: QtBot, tied: AgreementPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, panel = tied, tied.adjudication
    page.tabs.setCurrentIndex(ADJUDICATE)
    read(qtbot, page)
    waiting: list[int] = []
    show = panel.show_ties
    monkeypatch.setattr(panel, "show_ties", lambda *a: (waiting.append(len(a[0])), show(*a)))
    made, turn = held_up(monkeypatch, readings, "read_ties")
    page.refresh(frozenset({"judgements"}))
    assert made.wait(60)
    (taker,) = [b for b in panel.form.findChildren(QPushButton) if b.text() == "Anna"]
    qtbot.mouseClick(taker, LEFT)
    qtbot.mouseClick(panel.settle, LEFT)
    turn.set()
    read(qtbot, page)
    assert waiting == [1, 1] and page.tabs.tabText(ADJUDICATE) == "Adjudicate (1)"


def test_a_round_is_opened_once_however_often_it_is_asked_for(
    qtbot: QtBot, page: AgreementPage
) -> None:
    add(qtbot, page, "Anna")
    give(qtbot, page, 3, OverlapPlan(0, 1, 1))
    answer(page, "Anna", found_last)
    read(qtbot, page)
    turn = threading.Event()
    page.workspace.reader.ask("held", lambda: turn.wait(60), lambda _: None)
    qtbot.mouseClick(page.action, LEFT)
    page.people.workers.selectRow(0)
    assert not page.people.round_button.isEnabled() and not page.action.isEnabled()
    assert not page.people.buttons["drop"].isEnabled()
    qtbot.mouseClick(page.action, LEFT)
    qtbot.mouseClick(page.people.round_button, LEFT)
    turn.set()
    read(qtbot, page)
    assert page.message.text() == "3 contexts went into another round."
    assert page.action.isEnabled() and page.people.buttons["drop"].isEnabled()


def test_one_dialog_at_a_time_also_while_a_packet_is_read(
    qtbot: QtBot, page: AgreementPage, tmp_path: Path
) -> None:
    """A second one would be told in the first one's place, which then dealt for ever."""
    add(qtbot, page, "Anna")
    give(qtbot, page, 3, OverlapPlan())
    assert page.work is not None
    anna = page.work.store.annotators()[0]
    packet = packet_exchange.export(page.work.store, page.work.seed, anna)
    path = tmp_path / "anna.swagpacket"
    path.write_bytes(packets.file_bytes(packet, packets.Result(())))
    turn = threading.Event()
    page.workspace.reader.ask("held", lambda: turn.wait(60), lambda _: None)
    page.deeds.preview_merge(path)
    press(qtbot, page, "give")
    assert page.deeds.dialog is None
    turn.set()
    qtbot.waitUntil(lambda: page.deeds.dialog is not None)
    assert isinstance(page.deeds.dialog, MergeDialog)
    page.deeds.dialog.reject()
    press(qtbot, page, "give")
    assert isinstance(page.deeds.dialog, WorkDialog)
    page.deeds.dialog.reject()


def test_what_could_not_be_read_of_another_run_is_not_told_of_this_one(
    qtbot: QtBot, page: AgreementPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = threading.Event()

    def fails(_: object) -> None:
        assert turn.wait(60)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(readings.OverviewReader, "read", fails)
    page.refresh(frozenset({"judgements"}))
    monkeypatch.setattr(page.run_bar, "look", lambda: None)
    page.refresh(frozenset({"filter"}))
    turn.set()
    read(qtbot, page)
    assert [w.words.text() for w in page.worded] == [NOT_FILTERED] * 3
