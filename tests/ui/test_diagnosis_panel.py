"""What a run's members go by, on the Filtering page: verdicts, clues, contexts, advice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gates import Gate, held
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot
from test_filtering_page import iteration, run, wait
from waiting import leave

from swag_studio import evidence as clues
from swag_studio.advice import Advice
from swag_studio.diagnosis import Diagnosis
from swag_studio.errors import ProjectError
from swag_studio.evidence import Clue, Evidence
from swag_studio.project import Project
from swag_studio.records import Context
from swag_studio.series import Verdict
from swag_studio.standings import Finding
from swag_studio.ui import diagnosis_panel
from swag_studio.ui.diagnosis_panel import (
    DiagnosisPanel,
    exhausted_words,
    member_rows,
    recipe_keys,
)
from swag_studio.ui.filtering_page import FilteringPage
from swag_studio.ui.forms import readable
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.pages import PAGES
from swag_studio.ui.tables import Table
from swag_studio.ui.workspace import Workspace

LEFT = Qt.MouseButton.LeftButton


def found(iteration: int, weight: float = 1.25) -> list[Evidence]:
    words = (
        Clue("and", weight, 0.41, 0.22, ("c2", "c1", "gone")),
        Clue("then", -0.5, 0.03, 0.14),
    )
    figures = (Clue("v_given_s_n_forward", 0.14, 3.2, 2.7), Clue("v_tokens", 0.03, 11.0, 9.5))
    return [
        Evidence(iteration, "mlp", "features", 72, figures),
        Evidence(iteration, "bow", "words", 72, words),
    ]


def context(context_id: str) -> Context:
    sentences = (f"First {context_id}.", "She", f"ends {context_id}.")
    return Context(context_id, "g", "v", "s", "d", 1, *sentences, fold=0, split="train")


@pytest.fixture
def folder(project: Project) -> Path:
    """A finished run with evidence, and the contexts that it names."""
    prepared = project.begin("prepare", project.recipe)
    project.store.add_contexts(prepared.version, [context("c1"), context("c2")])
    project.finish(prepared, {})
    folder = project.folder(run(project, project.recipe, iterations=12))
    clues.write(folder, 4, found(4, weight=0.75))
    clues.write(folder, 11, found(11))
    return folder


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, folder: Path) -> FilteringPage:
    page = FilteringPage(workspace)
    qtbot.addWidget(page)
    page.resize(1200, 760)
    page.show()
    page.refresh(frozenset())
    wait(qtbot, page)
    page.tabs.setCurrentWidget(page.diagnosis_tab)
    wait(qtbot, page)
    return page


def texts(table: Table) -> list[list[str]]:
    model = table.rows_model
    return [[c.show(c.value(row)) for c in model.columns] for row in model.rows]


def click(qtbot: QtBot, table: Table, row: int) -> None:
    place = table.visualRect(table.rows_model.index(row, 0)).center()
    qtbot.mouseClick(table.viewport(), LEFT, pos=place)


def member(page: FilteringPage, name: str) -> int:
    return [row.member for row in page.diagnosis.members.rows_model.rows].index(name)


def test_each_member_has_verdict_and_evidence(qtbot: QtBot, page: FilteringPage) -> None:
    panel = page.diagnosis
    assert panel.summary.text()
    rows = {row[0]: row for row in texts(panel.members)}
    assert {"MLP", "bag of words", "ensemble"} <= set(rows)
    assert rows["bag of words"][2] == "“and”, “then”"
    assert rows["MLP"][2] == "surprise at the ending after its context, length of the ending"
    click(qtbot, panel.members, member(page, "bow"))
    assert texts(panel.clues) == [
        ["and", "found", "+1.25", "41.0%", "22.0%"],
        ["then", "generated", "-0.50", "3.0%", "14.0%"],
    ]
    assert panel.kind.text() == (
        "What the bag of words goes by: words, iteration 11, 72 contexts tested"
    )
    click(qtbot, panel.members, member(page, "mlp"))
    assert panel.tables.currentWidget() is panel.features
    assert texts(panel.features)[0] == [
        "surprise at the ending after its context", "+14.0%", "3.20", "2.70",
    ]  # fmt: skip
    click(qtbot, panel.members, member(page, "cnn"))  # it left no evidence
    assert panel.tables.currentWidget() is panel.clues and texts(panel.clues) == []


def test_a_clue_opens_the_contexts_that_show_it(
    qtbot: QtBot, page: FilteringPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = page.diagnosis
    click(qtbot, panel.members, member(page, "bow"))
    assert not panel.watch.isEnabled()
    click(qtbot, panel.clues, 0)
    wait(qtbot, page)
    assert panel.contexts_heading.text() == "Contexts with “and”"
    assert texts(panel.contexts) == [
        ["First c2.", "She", "ends c2."],
        ["First c1.", "She", "ends c1."],
    ]
    watched: list[str] = []
    monkeypatch.setattr(page.watch, "show_context", watched.append)
    click(qtbot, panel.contexts, 1)
    qtbot.mouseClick(panel.watch, LEFT)
    assert watched == ["c1"] and page.tabs.currentWidget() is page.watch_tab
    page.tabs.setCurrentWidget(panel)
    click(qtbot, panel.clues, 1)
    assert texts(panel.contexts) == [] and not panel.watch.isEnabled()
    assert panel.contexts.empty == "No contexts were noted for this clue."


def test_the_evidence_of_another_iteration(qtbot: QtBot, page: FilteringPage, folder: Path) -> None:
    panel = page.diagnosis
    assert [panel.choice.itemText(i) for i in range(3)] == ["latest", "11", "4"]
    click(qtbot, panel.members, member(page, "bow"))
    panel.choice.setFocus()
    qtbot.keyClick(panel.choice, Qt.Key.Key_End)
    wait(qtbot, page)
    assert texts(panel.clues)[0][2] == "+0.75" and "iteration 4" in panel.kind.text()
    clues.write(folder, 12, found(12, weight=2.0))
    page.refresh(frozenset({"evidence"}))
    wait(qtbot, page)
    assert "iteration 4" in panel.kind.text()  # it was chosen
    qtbot.keyClick(panel.choice, Qt.Key.Key_Home)
    wait(qtbot, page)
    assert texts(panel.clues)[0][2] == "+2.00"


def test_the_latest_evidence_is_followed(qtbot: QtBot, page: FilteringPage, folder: Path) -> None:
    panel = page.diagnosis
    click(qtbot, panel.members, member(page, "bow"))
    click(qtbot, panel.clues, 0)
    wait(qtbot, page)
    clues.write(folder, 12, found(12, weight=2.0))
    page.refresh(frozenset({"evidence"}))
    wait(qtbot, page)
    assert "iteration 12" in panel.kind.text() and texts(panel.clues)[0][2] == "+2.00"
    assert panel.clues.current().text == "and"  # still chosen
    assert len(texts(panel.contexts)) == 2


def test_a_run_is_judged_once_an_iteration_and_only_when_seen(
    qtbot: QtBot, page: FilteringPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = page.workspace.reader.ask

    def counted(key: str, *rest: object) -> None:
        asked.append(key)
        ask(key, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(page.workspace.reader, "ask", counted)
    version = page.runs[1].version
    page._live = version
    for step in (12, 12, 12, 13):
        page.show_metrics(iteration(step))
    assert asked == ["filter diagnosis"] * 2
    page.tabs.setCurrentWidget(page.recipe_tab)
    page.show_metrics(iteration(14))
    page.refresh(frozenset({"evidence"}))
    assert asked.count("filter diagnosis") == 2
    page.tabs.setCurrentWidget(page.first)
    assert asked.count("filter diagnosis") == 3
    wait(qtbot, page)


def test_advice_leads_to_the_recipe(qtbot: QtBot, workspace: Workspace) -> None:
    panel = DiagnosisPanel(workspace)
    qtbot.addWidget(panel)
    panel.show()
    verdict = Verdict("stalled", 30, 0.41, 0.01)
    finding = Finding("bow", "ensemble", verdict, "stalled at 41% since iteration 30")
    text = "Replace more (filter.replace), or draw bolder candidates (generate.temperature)."
    advice = Advice(text, "The bag of words is stalled.")
    panel.show_diagnosis(Diagnosis((finding,), (advice,), 0.34, "It stalls. So it is."), ())
    assert (panel.summary.text(), panel.more.text()) == (
        "It stalls.",
        "So it is. Of the contexts with an easy distractor, 34% have no harder candidate left.",
    )
    assert texts(panel.members) == [["bag of words", "■ stalled at 41% since iteration 30", ""]]
    asked: list[str] = []
    panel.recipe_requested.connect(asked.append)
    for button in panel.advice_box.findChildren(QPushButton):
        button.click()
    assert asked == ["filter.replace", "generate.temperature"]
    panel.show_diagnosis(Diagnosis((finding,), (), None, "It stalls."), ())
    shown = [w for w in panel.advice_box.findChildren(QPushButton) if w.isVisible()]
    assert shown == []


@pytest.fixture
def window(qtbot: QtBot, workspace: Workspace, folder: Path) -> Iterator[MainWindow]:
    window = MainWindow(workspace, PAGES[:4])
    window.show()
    window.make_pages()
    yield window
    leave(qtbot, window)


@pytest.mark.parametrize(
    ("key", "title"),
    [
        ("prepare.max_contexts", "Sources"),
        ("lm.checkpoint_steps", "Language models"),
        ("generate.contexts_per_block", "Candidates"),
        ("filter.embeddings_file", "Filtering"),
    ],
)
def test_advice_leads_to_the_field_on_whichever_page(
    qtbot: QtBot, window: MainWindow, key: str, title: str
) -> None:
    window.show_titled("Filtering")
    page = window.page(window.stack.currentIndex())
    assert isinstance(page, FilteringPage)
    wait(qtbot, page)
    page.tabs.setCurrentWidget(page.diagnosis_tab)
    wait(qtbot, page)
    advice = Advice(f"Look at {key}.", "It may help.")
    page.diagnosis.show_diagnosis(Diagnosis((), (advice,), None, "It stalls."), ())
    (button,) = page.diagnosis.advice_box.findChildren(QPushButton)
    qtbot.mouseClick(button, LEFT)
    assert window.step_list[window.stack.currentIndex()].title == title
    editor = window.focusWidget()
    assert editor.accessibleName() == readable(key.partition(".")[2])
    QApplication.processEvents()
    assert editor.visibleRegion().boundingRect() == editor.rect()  # scrolled to, the whole of it


def test_rules() -> None:
    def finding(member: str, phase: str) -> Finding:
        return Finding(member, phase, Verdict("falling", 1, 0.4, 0.0), "falling")

    evidence = [Evidence(5, "mlp", "features", 9, ()), Evidence(5, "new", "words", 9, ())]
    findings = [finding("mlp", "mlp"), finding("mlp", "ensemble"), finding("bow", "ensemble")]
    rows = member_rows(findings, evidence)
    assert [(r.name, r.evidence) for r in rows] == [
        ("MLP", evidence[0]), ("bag of words", None), ("MLP alone", None), ("new", evidence[1]),
    ]  # fmt: skip
    assert member_rows(findings[:1], evidence)[0].evidence is evidence[0]  # still alone
    assert member_rows([], []) == []
    assert exhausted_words(None) == ""
    assert exhausted_words(0.02).endswith("2% have no harder candidate left.")
    assert recipe_keys("lm.epochs, filter.nothing, e.g. this, lm.epochs and run.seed") == [
        "lm.epochs"
    ]


def test_contexts_stand_under_the_clue_that_they_are_of(
    qtbot: QtBot, page: FilteringPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = page.diagnosis
    click(qtbot, panel.members, member(page, "bow"))
    with held(page.workspace.reader):
        click(qtbot, panel.clues, 0)
        assert panel.contexts_heading.text() == "Contexts" and texts(panel.contexts) == []
    wait(qtbot, page)
    assert panel.contexts_heading.text() == "Contexts with “and”" and texts(panel.contexts)


def test_contexts_that_cannot_be_read_are_not_told_of_under_another_clue(
    qtbot: QtBot, page: FilteringPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> list[Context]:
        raise ProjectError("They are gone.")

    gate, panel = Gate(), page.diagnosis
    monkeypatch.setattr(diagnosis_panel, "contexts_of", gate.before(gone))
    click(qtbot, panel.members, member(page, "bow"))
    click(qtbot, panel.clues, 0)
    gate.reached()
    click(qtbot, panel.clues, 1)  # which has none
    gate.open()
    wait(qtbot, page)
    assert panel.contexts.empty == "No contexts were noted for this clue."
    assert panel.contexts_heading.text() == "Contexts with “then”"
