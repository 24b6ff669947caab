"""The Candidates page as it is used: search, walk, sort, compare, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from fakes import FakeEngine, FakeJobs
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from waiting import at_rest

from swag_studio.errors import ProjectError
from swag_studio.events import Progress
from swag_studio.project import Project
from swag_studio.records import SourceInfo
from swag_studio.ui.candidates_page import CandidatesPage, Worded
from swag_studio.ui.histogram import bin_edges, shares
from swag_studio.ui.pool_panel import ContextIndex
from swag_studio.ui.tables import Table
from swag_studio.ui.theme import DARK, LIGHT
from swag_studio.ui.workspace import Workspace
from swag_studio.views import ContextRow, Distribution, PoolEnding

LEFT = Qt.MouseButton.LeftButton
NAMES = ("s_n_forward", "v_given_s_n_forward", "v_tokens", "home_made")
SUMMARY = {
    "contexts": 3,
    "left_out": 1,
    "candidates": 12,
    "candidates_per_context": 4.0,
    "cut_off": 3,
    "cut_off_share": 0.25,
    "drawn": 20,
    "repeated": 5,
    "repeated_share": 0.25,
}


class FakePool:
    """Contexts of which the last is left out; each has a found ending and four candidates."""

    feature_names = NAMES

    def __init__(self, version: int, texts: tuple[str, ...]) -> None:
        self.version, self.texts = version, texts
        self.asked: list[int] = []
        self.refused: dict[int | str, Exception] = {}
        self.told = dict.fromkeys(NAMES, (0.5, 0.1))

    def contexts(self) -> list[ContextRow]:
        if "contexts" in self.refused:
            raise self.refused["contexts"]
        last = len(self.texts) - 1
        return [
            ContextRow(i, f"c-{text}", f"{text.title()} waits.", f"The {text}", 4 * (i < last) + i)
            for i, text in enumerate(self.texts)
        ]

    def endings(self, place: int) -> list[PoolEnding]:
        self.asked.append(place)
        if place in self.refused:
            raise self.refused[place]
        words = f"v{self.version} {self.texts[place]}"
        numbers, barred = [3.0, 1.0, 4.0, 2.0, 5.0], ["", "", "cut_off", "opening", ""]
        return [
            PoolEnding(i, f"{words} {i}.", i == 0, (2.5, x, 10 * x, -x), why)
            for i, (x, why) in enumerate(zip(numbers, barred, strict=True))
        ]

    def distributions(self, contexts: int) -> list[Distribution]:
        if "distributions" in self.refused:
            raise self.refused["distributions"]
        found, generated = np.array([3, 4], np.float32), np.array([1, 2, 3], np.float32)
        sizes = np.array([2, 1], np.int64)
        return [
            Distribution(name, found, generated, sizes, *self.told[name])
            for name in self.feature_names
        ]


@pytest.fixture
def source(project: Project) -> None:
    """Captions, so that there is something to sample for."""
    info = SourceInfo("s1", "a.json", "activitynet", "0", 10, 1, 2, 0, {})
    project.store.stage_source(info)
    project.store.publish_source(info)


@pytest.fixture
def pool(project: Project, source: None, jobs: FakeJobs) -> FakePool:
    return sample(project, jobs, "dog", "cat", "ship")


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> CandidatesPage:
    page = CandidatesPage(workspace)
    qtbot.addWidget(page)
    page.resize(1200, 800)
    workspace.bridge.ended.connect(lambda _: page.refresh(frozenset()))
    return page


def sample(project: Project, jobs: FakeJobs, *texts: str) -> FakePool:
    """A finished pool of the present recipe."""
    artifact = project.finish(project.begin("generate", project.recipe), SUMMARY)
    made = jobs.pool_reader = FakePool(artifact.version, texts)
    return made


def wait(qtbot: QtBot, page: CandidatesPage) -> None:
    """Until all is read and shown."""
    at_rest(qtbot, page.workspace.reader)


def look(qtbot: QtBot, page: CandidatesPage) -> None:
    page.show()
    page.refresh(frozenset())
    wait(qtbot, page)


def compare(qtbot: QtBot, page: CandidatesPage) -> None:
    page.tabs.setCurrentIndex(1)
    wait(qtbot, page)


def texts(table: Table, column: int = 0) -> list[str]:
    model = table.rows_model
    return [model.data(model.index(r, column)) for r in range(model.rowCount())]


def click_head(qtbot: QtBot, table: Table, column: int) -> None:
    header = table.horizontalHeader()
    at = QPoint(header.sectionViewportPosition(column) + 5, header.height() // 2)
    qtbot.mouseClick(header.viewport(), LEFT, pos=at)


def words(stack: Worded) -> str | None:
    """What stands in the place of the content, or None where the content is shown."""
    return stack.words.text() if stack.words.isVisibleTo(stack) else None


# --- states ----------------------------------------------------------------------------------


def test_a_project_without_captions_says_what_comes_first(
    qtbot: QtBot, page: CandidatesPage
) -> None:
    look(qtbot, page)
    assert "Bring in captions first" in page.hint.text()
    assert page.action.text() == "Sources ›"
    with qtbot.waitSignal(page.go_to, check_params_cb=lambda title: title == "Sources"):
        page.act()
    assert "the found ending first" in (words(page.pool) or "")


def test_before_the_first_pool_the_button_samples_one(
    qtbot: QtBot, page: CandidatesPage, source: None, jobs: FakeJobs, settle: Callable[[], None]
) -> None:
    look(qtbot, page)
    assert (page.status.text(), page.action.text()) == ("not yet", "Sample candidates")
    assert words(page.pool) == words(page.giveaways) != ""
    qtbot.mouseClick(page.action, LEFT)
    settle()
    assert jobs.ran == ["generate"]


def test_a_done_pool_is_told_in_numbers_and_leads_on(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    look(qtbot, page)
    assert page.status.text() == "done"
    assert page.hint.text().startswith(
        "3 contexts with 4 candidates on average; 1 left out with too few; 25.0% of the"
    )
    assert "20, of which 25.0% repeated" in page.figures.text()
    with qtbot.waitSignal(page.go_to) as went:
        qtbot.mouseClick(page.action, LEFT)
    assert went.args == ["Filtering"]


def test_progress_is_told_while_sampling(
    qtbot: QtBot,
    page: CandidatesPage,
    source: None,
    jobs: FakeJobs,
    engine: FakeEngine,
    workspace: Workspace,
    settle: Callable[[], None],
) -> None:
    look(qtbot, page)
    workspace.bridge.progress.connect(page.show_progress)
    qtbot.mouseClick(page.action, LEFT)
    engine.step()
    workspace.bridge.drain()
    page.show_progress(Progress("filter", 7, 8, "iterations"))  # of another page
    assert page.hint.text().startswith("0 of 10 contexts have candidates.")
    assert page.status.text() == "running" and not page.action.isVisible()
    settle()
    assert page.status.text() == "not yet" and page.action.isVisible()


def test_another_recipe_makes_the_pool_stale_and_keeps_it_in_sight(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    look(qtbot, page)
    page.tabs.setCurrentIndex(2)
    editor = page.form.fields["temperature"].editor
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, "1.5")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert page.workspace.project.recipe.generate.temperature == 1.5
    assert (page.status.text(), page.action.text()) == ("out of date", "Sample again")
    assert words(page.pool) is None and len(texts(page.contexts.table)) == 3


def test_the_form_follows_a_recipe_that_was_changed_elsewhere(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    look(qtbot, page)
    project = page.workspace.project
    changed = project.recipe.with_values({"lm.dim": 96, "generate.candidates": 77})
    project.set_recipe(changed)
    page.refresh(frozenset({"recipe"}))
    assert page.form.recipe == changed
    assert page.form.fields["candidates"].editor.text() == "77"


# --- contexts and endings --------------------------------------------------------------------


def test_a_context_is_shown_with_its_endings_the_found_one_first_and_marked(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    look(qtbot, page)
    assert page.contexts.counts.text() == "3 contexts"
    assert texts(page.contexts.table) == ["Dog waits.", "Cat waits.", "Ship waits."]
    assert texts(page.contexts.table, 2) == ["4", "5", "2"]
    panel = page.endings
    assert panel.context.text() == "Dog waits.  The dog …"
    assert "2.5 nats per token" in panel.numbers.text()  # what all of them share
    kinds = ["★ found", "candidate", "… cut off", "– odd opening", "candidate"]
    assert texts(panel.table) == kinds
    assert texts(panel.table, 1) == [f"v1 dog {i}." for i in range(5)]
    assert [c.title for c in panel.table.rows_model.columns][2:] == [
        "Forward",
        "Tokens",
        "home made",
    ]
    assert texts(panel.table, 3) == ["30", "10", "40", "20", "50"]
    model, role = panel.table.rows_model, Qt.ItemDataRole.FontRole
    assert model.data(model.index(0, 1), role).bold()
    assert model.data(model.index(1, 1), role) is None


def test_sorting_tells_where_the_found_ending_stands(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    look(qtbot, page)
    panel = page.endings
    assert panel.place.text().startswith("The found ending and 4 candidates, 2 of them never")
    click_head(qtbot, panel.table, 3)
    assert texts(panel.table, 3) == ["10", "20", "30", "40", "50"]
    assert texts(panel.table)[2] == "★ found"
    assert panel.place.text().startswith("By “Tokens” the found ending is number 3 of 5;")
    qtbot.mouseClick(panel.to_found, LEFT)
    assert panel.table.current().found
    qtbot.keyClick(page.contexts.table, Qt.Key.Key_Down)  # the order stays for the next context
    wait(qtbot, page)
    assert texts(panel.table, 1)[2] == "v1 cat 0."


def test_search_filters_as_it_is_typed(qtbot: QtBot, page: CandidatesPage, pool: FakePool) -> None:
    look(qtbot, page)
    page.contexts.search.setFocus()
    qtbot.keyClicks(page.contexts.search, "WAITS c")
    wait(qtbot, page)
    assert texts(page.contexts.table) == ["Cat waits."]
    assert page.contexts.counts.text() == "1 of 3 contexts"
    assert page.endings.context.text() == "Cat waits.  The cat …"
    qtbot.keyClicks(page.contexts.search, "zz")
    wait(qtbot, page)
    assert texts(page.contexts.table) == [] and page.contexts.current is None
    assert page.endings.numbers.text() == "No context is chosen."
    page.contexts.search.clear()
    wait(qtbot, page)
    assert len(texts(page.contexts.table)) == 3 and page.contexts.current is not None


def test_up_and_down_walk_the_contexts_from_the_search_field_too(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    look(qtbot, page)
    shown = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up):
        qtbot.keyClick(page.contexts.search, key)
        wait(qtbot, page)
        shown.append(page.endings.context.text().split()[0])
    assert shown == ["Cat", "Ship", "Ship", "Cat"]
    qtbot.keyClick(page.contexts.table, Qt.Key.Key_Up)
    wait(qtbot, page)
    assert page.endings.context.text().startswith("Dog")


def test_contexts_sort_by_their_candidates_and_keep_the_choice(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    look(qtbot, page)
    click_head(qtbot, page.contexts.table, 2)
    wait(qtbot, page)
    assert texts(page.contexts.table, 2) == ["2", "4", "5"]
    click_head(qtbot, page.contexts.table, 2)
    wait(qtbot, page)
    assert texts(page.contexts.table, 2) == ["5", "4", "2"]
    assert page.contexts.table.current() == page.contexts.current
    assert page.contexts.current.id == "c-dog"
    assert pool.asked == [0]  # the chosen context was not read anew


def test_a_context_that_was_left_out_says_so(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "endings", lambda place: [])
    look(qtbot, page)
    assert page.endings.numbers.text().startswith("Left out:")
    assert texts(page.endings.table) == [] and not page.endings.to_found.isVisible()


def test_rows_are_copied(qtbot: QtBot, page: CandidatesPage, pool: FakePool) -> None:
    look(qtbot, page)
    page.endings.table.selectRow(0)
    qtbot.keyClick(page.endings.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == (
        "Kind\tEnding\tForward\tTokens\thome made\n★ found\tv1 dog 0.\t3.00\t30\t-3.00"
    )


@given(st.lists(st.text("ab Å", max_size=6)), st.text("ab å", max_size=4))
def test_search_finds_what_holds_every_word(sentences: list[str], text: str) -> None:
    rows = [ContextRow(i, str(i), s, "", 1) for i, s in enumerate(sentences)]
    found = ContextIndex(rows).arranged(text)
    wanted = [r for r in rows if all(w in r.sent1.lower() for w in text.lower().split())]
    assert found == wanted


# --- reading ---------------------------------------------------------------------------------


def test_nothing_is_read_before_the_page_is_seen(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    page.refresh(frozenset())
    wait(qtbot, page)
    assert pool.asked == []
    page.show()
    wait(qtbot, page)
    assert pool.asked == [0]


def test_a_new_pool_is_shown_at_the_same_context(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool, jobs: FakeJobs
) -> None:
    look(qtbot, page)
    qtbot.keyClick(page.contexts.table, Qt.Key.Key_Down)
    wait(qtbot, page)
    project = page.workspace.project
    compare(qtbot, page)
    project.set_recipe(project.recipe.with_values({"generate.temperature": 0.7}))
    newer = sample(project, jobs, "ant", "bee", "cat", "dog", "ship")
    newer.told["v_tokens"] = (0.1, 0.01)
    page.refresh(frozenset())
    wait(qtbot, page)
    assert texts(page.panel.table, 3)[0] == "90.0%"
    assert page.contexts.counts.text() == "5 contexts"
    assert texts(page.endings.table, 1)[0] == "v2 cat 0."
    project.set_recipe(project.recipe.with_values({"generate.temperature": 1.0}))
    jobs.pool_reader = pool
    page.refresh(frozenset({"recipe"}))  # and back to the pool of the recipe before
    wait(qtbot, page)
    assert texts(page.endings.table, 1)[0] == "v1 cat 0."


def test_a_pool_that_cannot_be_read_says_why_and_is_tried_again_after_a_job(
    qtbot: QtBot,
    page: CandidatesPage,
    pool: FakePool,
    workspace: Workspace,
    settle: Callable[[], None],
) -> None:
    said = "block-000007.safetensors is missing or damaged."
    pool.refused["contexts"] = ProjectError(said)
    look(qtbot, page)
    assert words(page.pool) == words(page.giveaways) == said
    assert page.pool.words.property("role") == "bad"
    page.refresh(frozenset({"metrics"}))
    wait(qtbot, page)
    assert words(page.pool) == said
    pool.refused.clear()
    workspace.check()
    settle()
    wait(qtbot, page)
    assert words(page.pool) is None and len(texts(page.contexts.table)) == 3


def test_a_damaged_context_leaves_the_others_in_sight_until_it_is_mended(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    pool.refused |= {1: ProjectError("block 1 is damaged."), "distributions": KeyError("secret")}
    look(qtbot, page)
    compare(qtbot, page)
    assert (words(page.giveaways) or "").startswith("A fault of the program (KeyError)")
    qtbot.keyClick(page.contexts.table, Qt.Key.Key_Down)
    wait(qtbot, page)
    assert page.endings.numbers.text() == "block 1 is damaged."
    assert page.endings.numbers.property("role") == "bad"
    assert texts(page.endings.table) == []
    qtbot.keyClick(page.contexts.table, Qt.Key.Key_Up)
    wait(qtbot, page)
    assert texts(page.endings.table, 1)[0] == "v1 dog 0."
    assert page.endings.numbers.property("role") == "muted"
    pool.refused.clear()
    page.refresh(frozenset())  # a job is over
    wait(qtbot, page)
    assert words(page.giveaways) is None


# --- giveaways -------------------------------------------------------------------------------


def test_the_worst_giveaway_stands_first_and_each_is_put_in_words(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    pool.told |= {"v_given_s_n_forward": (0.63, 0.04), "v_tokens": (0.24, 0.05)}
    look(qtbot, page)
    compare(qtbot, page)
    table = page.panel.table
    assert texts(table)[:2] == ["Length of the ending", "Surprise at the ending after its context"]
    assert texts(table, 2) == ["▲▲▲ strong", "▲▲ clear", "none", "none"]
    assert texts(table, 3) == ["76.0%", "63.0%", "50.0%", "50.0%"]
    length, surprise = page.panel.panels
    told = "Knowing only this number, one would tell the found ending from a generated one "
    assert length.words.text() == (
        f"{told}76% of the time (50% = no giveaway): found endings tend to be longer."
    )
    assert surprise.words.text() == (
        f"{told}63% of the time (50% = no giveaway): found endings tend to be less surprising."
    )
    length.chooser.setFocus()
    qtbot.keyClick(length.chooser, Qt.Key.Key_Home)
    assert length.words.text() == (
        "All endings of a context share this number: it gives nothing away."
    )
    table.selectRow(1)
    assert length.words.text() == surprise.words.text()
    assert length.chooser.currentText() == "Surprise at the ending after its context"


def test_both_kinds_are_drawn_with_an_area_of_one(
    qtbot: QtBot, page: CandidatesPage, pool: FakePool
) -> None:
    look(qtbot, page)
    compare(qtbot, page)
    length = page.panel.panels[0].histogram
    found, generated = (curve.getData() for curve in length.curves)
    assert found[0].tolist() == generated[0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert found[1].tolist() == [0, 0, 0.5, 0.5]
    assert generated[1].tolist() == [0.25, 0.25, 0.5, 0]  # each context counts alike
    styles = [curve.opts["pen"].style() for curve in length.curves]
    assert styles == [Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine]


def test_a_change_of_the_look_is_drawn(qtbot: QtBot, page: CandidatesPage, pool: FakePool) -> None:
    look(qtbot, page)
    compare(qtbot, page)
    histogram = page.panel.panels[0].histogram

    def colours() -> list[str]:
        curves = [curve.opts["pen"].color().name() for curve in histogram.curves]
        return [histogram.plot.backgroundBrush().color().name(), *curves]

    assert colours() == [LIGHT.surface, *LIGHT.series[:2]]
    page.show_theme(DARK)
    assert colours() == [DARK.surface, *DARK.series[:2]]


@given(
    st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=30),
    st.booleans(),
)
def test_every_value_falls_into_a_bin(values: list[float], whole: bool) -> None:
    numbers = np.array([round(v) for v in values] if whole else values, np.float32)
    edges = bin_edges(numbers, whole=whole)
    assert (np.diff(edges) > 0).all()
    weights = np.arange(1, len(numbers) + 1, dtype=np.float64)
    for part in (shares(numbers, edges), shares(numbers, edges, weights)):
        assert part.sum() == pytest.approx(1.0) and len(part) == len(edges) - 1
