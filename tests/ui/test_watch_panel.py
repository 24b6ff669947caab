"""Sample watch: a run drawn as text, stepped through, followed live, searched."""

from __future__ import annotations

import pytest
from fakes import DrawnWatch, FakeJobs
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from waiting import at_rest

from swag_studio.errors import ProjectError
from swag_studio.events import Metric
from swag_studio.ui import iteration_bar, theme
from swag_studio.ui.iteration_bar import IterationBar
from swag_studio.ui.watch_history import Contexts, Held, History
from swag_studio.ui.watch_panel import WatchPanel
from swag_studio.ui.workspace import Workspace
from swag_studio.views import Origin

LEFT = Qt.MouseButton.LeftButton
RUN = """
A man waits. / He / opens the door.
    cat dog owl
    cat fox owl
    cat fox owl
    ant fox bee
A woman runs. / She / stops.
    one two six
    one two six
    one ten six
    one ten six
A dog barks. / The dog / sleeps.
    red tan sky
    red tan sky
    red tan sky
    red tan sky
A boy swims. / The boy / dives.
    up in at
    to in at
    to in of
    to in on
A Girl waits. / The girl / reads.
    p q r
    p q s
    p q t
    p q u
"""


@pytest.fixture
def run(jobs: FakeJobs) -> DrawnWatch:
    drawn = DrawnWatch(RUN)
    jobs.watch_reader = drawn
    return drawn


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace, run: DrawnWatch) -> WatchPanel:
    """The panel of the drawn run, read."""
    panel = WatchPanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(1100, 600)
    panel.show()
    panel.show_version(1)
    settled(qtbot, panel)
    return panel


def settled(qtbot: QtBot, panel: WatchPanel) -> None:
    """Waits for what was asked."""
    at_rest(qtbot, panel.workspace.reader)


def slots(panel: WatchPanel) -> list[str]:
    """The rows as they are seen: mark and place, text, since when, what was displaced."""
    rows = []
    for row in panel.slots_view.rows:
        if row.text.isVisible():
            gone = f" < {row.displaced.text()}" if row.displaced.isVisible() else ""
            rows.append(f"{row.mark.text()} {row.text.text()}, {row.since.text()}{gone}")
    return rows


def watched(panel: WatchPanel) -> list[str]:
    """The watched contexts: what the iteration replaced, the words, all replacements."""
    model = panel.watched.rows_model
    shown = [[c.show(c.value(row)) for c in model.columns] for row in model.rows]
    return ["|".join(line) for line in shown]


# --- what is shown ---------------------------------------------------------------------------


def test_the_first_contexts_are_watched_and_the_latest_iteration_is_shown(
    panel: WatchPanel,
) -> None:
    assert watched(panel) == [
        "⇄ 2|A man waits. He …|3",
        "|A woman runs. She …|1",
        "|A dog barks. The dog …|0",
    ]
    view = panel.slots_view
    assert (view.sentence.text(), view.opening.text()) == ("A man waits.", "He …")
    assert (view.found_mark.text(), view.found.text()) == ("✓ found", "opens the door.")
    assert slots(panel) == [
        "⇄ 1 ant, since iteration 3 < cat",
        "2 fox, since iteration 1 < dog",
        "⇄ 3 bee, since iteration 3 < owl",
    ]
    assert panel.told.text() == "⇄ Iteration 3: 2 of 3 distractors replaced."
    assert view.rows[0].mark.property("role") == "accent"
    assert view.rows[1].mark.property("role") == "muted"


def test_arrow_keys_step_through_the_iterations(qtbot: QtBot, panel: WatchPanel) -> None:
    qtbot.keyClick(panel.bar.slider, Qt.Key.Key_Left)
    assert panel.bar.value == panel.bar.number.value() == 2
    assert slots(panel) == [
        "1 cat, first draw",
        "2 fox, since iteration 1 < dog",
        "3 owl, first draw",
    ]
    assert panel.told.text() == "Iteration 2: nothing replaced in this context."
    assert watched(panel)[:2] == ["|A man waits. He …|3", "⇄ 1|A woman runs. She …|1"]
    qtbot.keyClick(panel.bar.slider, Qt.Key.Key_Home)
    assert slots(panel) == ["1 cat, first draw", "2 dog, first draw", "3 owl, first draw"]
    assert panel.told.text() == "As first drawn, before the first iteration."
    qtbot.keyClick(panel.bar.number, Qt.Key.Key_Up)
    assert slots(panel)[1] == "⇄ 2 fox, since iteration 1 < dog"


def test_what_an_earlier_run_left_says_so(qtbot: QtBot, panel: WatchPanel) -> None:
    changes = ((0, 2, "dog", "fox"),)
    history = History(("cat", "dog"), changes, (Origin(1, 4), Origin(1, None, curator=True)))
    panel.slots_view.show_held(history.after(0), 0)
    assert slots(panel) == ["1 cat, run 1, iteration 5", "2 dog, run 1, by a curator"]
    panel.slots_view.show_held(history.after(1), 1)
    assert slots(panel) == [
        "1 cat, run 1, iteration 5",
        "⇄ 2 fox, since iteration 1 < dog",
    ]


def test_another_context_is_shown_at_the_same_iteration(qtbot: QtBot, panel: WatchPanel) -> None:
    panel.bar.go(2)
    qtbot.keyClick(panel.watched, Qt.Key.Key_Down)
    assert panel.slots_view.sentence.text() == "A woman runs."
    assert slots(panel) == [
        "1 one, first draw",
        "⇄ 2 ten, since iteration 2 < two",
        "3 six, first draw",
    ]


def test_the_history_leads_to_its_iterations(qtbot: QtBot, panel: WatchPanel) -> None:
    assert panel.changes.rows_model.rows == [
        (2, 3, "owl", "bee"),
        (2, 1, "cat", "ant"),
        (0, 2, "dog", "fox"),
    ]
    panel.changes.selectRow(2)
    qtbot.keyClick(panel.changes, Qt.Key.Key_Return)
    assert panel.bar.value == 1 and slots(panel)[1].startswith("⇄ 2 fox")
    panel.watched.selectRow(2)
    assert panel.changes.rows_model.rows == []


def test_stepping_reads_nothing(qtbot: QtBot, panel: WatchPanel, run: DrawnWatch) -> None:
    asked = run.asked
    for value in (0, 3, 1):
        panel.bar.go(value)
    panel.watched.selectRow(1)
    settled(qtbot, panel)
    assert run.asked == asked == 3


# --- choosing --------------------------------------------------------------------------------


def test_a_context_is_found_and_watched(qtbot: QtBot, panel: WatchPanel) -> None:
    assert len(panel.hits.rows_model.rows) == 5 and panel.found.text() == "5 contexts"
    qtbot.keyClicks(panel.search, "WAITS girl")
    assert panel.found.text() == "1 of 5 contexts"
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    settled(qtbot, panel)
    assert watched(panel)[3] == "⇄ 1|A Girl waits. The girl …|3"
    assert panel.slots_view.sentence.text() == "A Girl waits."
    qtbot.keyClicks(panel.search, "x")
    assert panel.hits.rows_model.rows == [] and panel.hits.empty


def test_the_button_watches_what_is_chosen(qtbot: QtBot, panel: WatchPanel) -> None:
    assert not panel.watch.isEnabled()
    panel.hits.selectRow(3)
    qtbot.mouseClick(panel.watch, LEFT)
    settled(qtbot, panel)
    assert panel.slots_view.sentence.text() == "A boy swims."
    qtbot.keyClicks(panel.search, "waits")
    assert not panel.watch.isEnabled()


def test_what_changed_is_scrolled_into_view(qtbot: QtBot, panel: WatchPanel) -> None:
    panel.bar.go(0)
    panel.resize(800, 380)
    settled(qtbot, panel)
    panel.area.verticalScrollBar().setValue(0)
    panel.bar.go(1)
    row = panel.slots_view.rows[1]
    for label in (row.text, row.displaced):
        assert label.visibleRegion().boundingRect() == label.rect()


def test_a_double_click_watches(qtbot: QtBot, panel: WatchPanel) -> None:
    at = QPoint(20, panel.hits.rowViewportPosition(3) + 5)
    qtbot.mouseClick(panel.hits.viewport(), LEFT, pos=at)
    qtbot.mouseDClick(panel.hits.viewport(), LEFT, pos=at)
    settled(qtbot, panel)
    assert panel.slots_view.sentence.text() == "A boy swims."
    panel.show_context("c3")  # watched already
    settled(qtbot, panel)
    assert len(watched(panel)) == 4


def test_random_contexts_are_the_same_every_time(
    qtbot: QtBot, panel: WatchPanel, workspace: Workspace
) -> None:
    other = WatchPanel(workspace)
    qtbot.addWidget(other)
    other.show()
    other.show_version(1)
    chosen = []
    for each in (panel, other):
        settled(qtbot, each)
        for _ in range(4):  # only two are left
            each.add_random()
            settled(qtbot, each)
        chosen.append(watched(each))
    assert chosen[0] == chosen[1] and len(set(chosen[0])) == 5


def test_watched_contexts_are_removed_to_the_last(qtbot: QtBot, panel: WatchPanel) -> None:
    panel.watched.setFocus()
    for _ in range(2):
        qtbot.keyClick(panel.watched, Qt.Key.Key_Delete)
    assert watched(panel) == ["|A dog barks. The dog …|0"]
    qtbot.mouseClick(panel.remove, LEFT)
    assert watched(panel) == [] and slots(panel) == [] and not panel.remove.isEnabled()
    panel.refresh(frozenset())
    settled(qtbot, panel)
    assert watched(panel) == [], "what was removed came back"


def test_what_is_watched_stays_for_another_version(
    qtbot: QtBot, panel: WatchPanel, jobs: FakeJobs
) -> None:
    panel.show_context("c4")
    settled(qtbot, panel)
    jobs.watch_reader = shorter = DrawnWatch(RUN.partition("A Girl")[0])
    shorter.version = 2
    panel.show_version(2)
    settled(qtbot, panel)
    assert [line.split("|")[1][:5] for line in watched(panel)] == ["A man", "A wom", "A dog"]
    panel.show_context("c4")
    settled(qtbot, panel)
    assert panel.found.text() == "That context has no distractors in this run."
    jobs.watch_reader = DrawnWatch(RUN)
    panel.show_version(1)
    settled(qtbot, panel)
    assert len(watched(panel)) == 4


def test_a_context_can_be_asked_for_before_the_run_is_read(
    qtbot: QtBot, workspace: Workspace, run: DrawnWatch
) -> None:
    panel = WatchPanel(workspace)
    qtbot.addWidget(panel)
    panel.show_context("c3")
    panel.show_version(1)
    settled(qtbot, panel)
    assert run.asked == 0, "it reads although nobody looks"
    panel.show()
    settled(qtbot, panel)
    assert panel.slots_view.sentence.text() == "A boy swims." and len(watched(panel)) == 4
    assert slots(panel)[2] == "⇄ 3 on, since iteration 3 < of"


# --- a run at work ---------------------------------------------------------------------------


def test_latest_follows_a_run_at_work(qtbot: QtBot, panel: WatchPanel, run: DrawnWatch) -> None:
    grow(qtbot, panel, run, 1)
    assert panel.bar.last.text() == "of 1" and slots(panel)[1].startswith("⇄ 2 fox")
    grow(qtbot, panel, run, 2)
    assert panel.bar.value == 2 and watched(panel)[1] == "⇄ 1|A woman runs. She …|1"
    panel.bar.go(1)
    grow(qtbot, panel, run, 3)
    assert panel.bar.value == 1 and panel.bar.last.text() == "of 3"
    assert not panel.bar.latest.isChecked()
    qtbot.mouseClick(panel.bar.latest, LEFT)
    assert panel.bar.value == 3 and slots(panel)[0].startswith("⇄ 1 ant")


def test_what_is_chosen_stays_while_the_run_goes_on(
    qtbot: QtBot, panel: WatchPanel, run: DrawnWatch
) -> None:
    panel.watched.selectRow(1)
    grow(qtbot, panel, run, 2)
    assert panel.slots_view.sentence.text() == "A woman runs."
    assert panel.watched.current().id == "c1"


def grow(qtbot: QtBot, panel: WatchPanel, run: DrawnWatch, iterations: int) -> None:
    """The run has so many iterations now, and says so."""
    run.after = iterations
    panel.workspace.bridge.metrics.emit([Metric("filter", "seconds", iterations - 1, 1.0)])
    settled(qtbot, panel)


def test_play_steps_to_the_end_and_begins_anew(
    qtbot: QtBot, panel: WatchPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    panel.bar.moved.connect(seen.append)
    panel.bar._timer.setInterval(1)
    qtbot.mouseClick(panel.bar.play, LEFT)
    assert panel.bar.play.text() == "Stop" and panel.bar.value == 0
    qtbot.waitUntil(lambda: not panel.bar.play.isChecked(), timeout=10_000)
    assert seen == [0, 1, 2, 3] and panel.bar.play.text() == "Play"
    panel.bar._timer.setInterval(iteration_bar.BEAT)
    qtbot.mouseClick(panel.bar.play, LEFT)
    panel.hide()
    assert not panel.bar._timer.isActive()


# --- nothing, and worse ----------------------------------------------------------------------


def test_without_a_run_it_says_what_will_be_here(qtbot: QtBot, workspace: Workspace) -> None:
    panel = WatchPanel(workspace)
    qtbot.addWidget(panel)
    panel.show()
    panel.refresh(frozenset())
    panel.show_version(None)
    assert panel.words.text().startswith("The filter has not run yet.")
    assert panel.words.isVisible() and not panel.again.isVisible()


def test_before_the_first_draw_it_waits(qtbot: QtBot, workspace: Workspace, jobs: FakeJobs) -> None:
    jobs.watch_reader = DrawnWatch("")
    panel = WatchPanel(workspace)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_version(1)
    settled(qtbot, panel)
    assert panel.words.text().startswith("This run has no distractors yet.")
    jobs.watch_reader = DrawnWatch(RUN)
    panel.refresh(frozenset({"assignments"}))
    settled(qtbot, panel)
    assert len(watched(panel)) == 3


def test_what_cannot_be_read_is_told_and_tried_again(
    qtbot: QtBot, panel: WatchPanel, run: DrawnWatch
) -> None:
    run.error = ProjectError("p.swag/filter/v1/initial.safetensors is damaged.")
    panel.refresh(frozenset())
    settled(qtbot, panel)
    assert panel.words.text() == str(run.error) and panel.words.isVisible()
    run.error = None
    qtbot.mouseClick(panel.again, LEFT)
    settled(qtbot, panel)
    assert not panel.words.isVisible() and len(slots(panel)) == 3


def test_a_late_answer_of_another_version_is_dropped(
    qtbot: QtBot, panel: WatchPanel, jobs: FakeJobs
) -> None:
    panel.show_version(2)
    panel.show_version(None)
    settled(qtbot, panel)
    assert panel.words.isVisible() and panel.words.text().startswith("The filter has not run")


# --- look ------------------------------------------------------------------------------------


def test_nothing_is_cut_at_larger_text(qtbot: QtBot, qapp: QApplication, panel: WatchPanel) -> None:
    points = qapp.font().pointSizeF()
    theme.apply(qapp, theme.LIGHT, 100, points)
    theme.apply(qapp, theme.DARK, 150, points)
    panel.resize(900, 600)
    settled(qtbot, panel)
    for label in (panel.told, panel.slots_view.sentence, *(r.text for r in panel.slots_view.rows)):
        assert label.height() >= label.heightForWidth(label.width())
    for button in (panel.bar.play, panel.bar.latest, panel.remove):
        assert button.width() >= button.minimumSizeHint().width()
    assert panel.slots_view.rows[0].text.fontInfo().pointSizeF() > points


# --- rules -----------------------------------------------------------------------------------

words = st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=3, unique=True)


@given(st.lists(words, min_size=1, max_size=8))
def test_replaying_gives_what_the_reader_gives(states: list[list[str]]) -> None:
    lines = "\n".join(" ".join(state) for state in states)
    reader = DrawnWatch(f"S. / N / f.\n{lines}")
    history = History.of(reader, 0, reader.iterations())
    for iterations in range(len(states)):
        expected = [
            Held(slot.slot + 1, slot.text, slot.since, slot.displaced)
            for slot in reader.slots(0, iterations)
        ]
        assert history.after(iterations) == expected
        new = sum(held.since == iterations - 1 for held in expected) if iterations else 0
        assert history.changed_in(iterations - 1) == new


def test_a_search_wants_all_words() -> None:
    contexts = Contexts(DrawnWatch(RUN).contexts())
    for text, expected in {
        "waits": ["c0", "c4"],
        "WAITS man": ["c0"],
        "boy dog": [],
        " ": ["c0", "c1", "c2", "c3", "c4"],
    }.items():
        assert [row.id for row in contexts.holding(text)] == expected


def test_a_bar_that_loses_iterations_stays_within(qtbot: QtBot) -> None:
    bar = IterationBar()
    qtbot.addWidget(bar)
    bar.set_last(9)
    assert bar.value == 9
    bar.go(7)
    bar.set_last(4)
    assert (bar.value, bar.number.value(), bar.slider.value()) == (4, 4, 4)
    bar.set_last(12)
    assert bar.value == 4
