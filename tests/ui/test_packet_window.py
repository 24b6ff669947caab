"""A packet at another machine: judged, closed, killed, finished; nothing of a project in sight."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packet_project import ANNA, TEXTS, give_out
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from swag_studio.errors import PacketError
from swag_studio.packet_answers import PacketAnswers
from swag_studio.packet_exchange import export, merge
from swag_studio.packets import file_bytes, read
from swag_studio.project import Project
from swag_studio.ui import packet_window
from swag_studio.ui.application import Application
from swag_studio.ui.desk import Answer, Desk
from swag_studio.ui.packet_window import PacketDesk, PacketWindow
from swag_studio.ui.store_desk import StoreDesk

SEED = 7
WHOLE = Answer(("likely",) * 6, 0, 1, "はい", 3.0)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer is given a millisecond after the one before, which is as fine as times are."""
    moments = (datetime(2026, 1, 1) + timedelta(milliseconds=i) for i in count())

    def now() -> str:
        return f"{next(moments).isoformat(timespec='milliseconds')}Z"

    monkeypatch.setattr(packet_window, "now", now)


@pytest.fixture
def path(project: Project, tmp_path: Path) -> Path:
    """A packet with three items."""
    give_out(project)
    path = tmp_path / "Anna.swagpacket"
    path.write_bytes(file_bytes(export(project.store, SEED, ANNA)))
    return path


@pytest.fixture
def window(path: Path, qtbot: QtBot) -> Iterator[PacketWindow]:
    window = PacketWindow(PacketAnswers(path))
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    yield window
    window.leave()


def judge(window: PacketWindow, qtbot: QtBot) -> None:
    """All likely, the first best, the second second best, by keys alone."""
    for key in "1" * 6:
        qtbot.keyClick(window.bench, key)
    window.bench.card.go(0)
    qtbot.keyClick(window.bench, Qt.Key.Key_B)
    window.bench.card.go(1)
    qtbot.keyClick(window.bench, Qt.Key.Key_S)
    qtbot.keyClick(window.bench, Qt.Key.Key_Return)


def test_a_packet_is_judged_with_keys_finished_and_merged(
    window: PacketWindow, project: Project, qtbot: QtBot
) -> None:
    assert "Anna" in window.windowTitle()
    for number in (1, 2, 3):
        assert window.bench.heading.text() == f"Item {number}"
        assert window.bench.card.context.sentence.text() == TEXTS[number - 1]
        assert window.finish_button.property("role") == ""
        judge(window, qtbot)
    assert window.bench.item is None
    assert window.finish_button.property("role") == "primary"
    qtbot.mouseClick(window.finish_button, Qt.MouseButton.LeftButton)
    target = window.path.with_name("Anna-answers.swagpacket")
    assert str(target) in window.told.text() and window.folder.isVisible()
    assert merge(project.store, read(target)).answers == 3
    assert project.store.progress_of(ANNA.id) == {"done": 3}


def test_finishing_before_the_end_says_what_is_open_and_grows_old(
    window: PacketWindow, qtbot: QtBot
) -> None:
    judge(window, qtbot)
    window.finish()
    assert "2 items are still open" in window.told.text()
    judge(window, qtbot)
    assert "finish again" in window.told.text() and not window.folder.isVisible()
    window.finish()
    result = read(window.path.with_name("Anna-answers.swagpacket")).result
    assert result is not None and len(result.answers) == 2


def test_what_was_half_given_is_there_again(path: Path, qtbot: QtBot) -> None:
    for expected in (None, "likely"):
        window = PacketWindow(PacketAnswers(path))
        qtbot.addWidget(window)
        window.show()
        assert window.bench.card.answer.labels[0] == expected
        window.bench.card.label("likely")
        with qtbot.waitSignal(window.closed):
            window.close()


def test_a_draft_that_cannot_be_kept_keeps_the_window(
    window: PacketWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr(PacketAnswers, "draft", full)
    window.bench.card.label("likely")
    window.close()
    assert window.isVisible()
    monkeypatch.undo()
    window.close()
    assert not window.isVisible()


def test_a_file_that_cannot_be_written_is_told(
    window: PacketWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr("swag_studio.packet_answers.write_bytes", full)
    window.finish()
    assert "disk is full" in window.told.text() and not window.folder.isVisible()


def test_nothing_in_the_window_tells_which_ending_was_found(
    window: PacketWindow, project: Project
) -> None:
    shown = [window.windowTitle()]
    for label in window.findChildren(QLabel):
        shown += [label.text(), label.toolTip(), label.accessibleName(), label.objectName()]
    for button in window.findChildren(QAbstractButton):
        shown += [button.text(), button.toolTip(), button.accessibleName(), button.objectName()]
    hidden = [
        t for task in project.store.tasks() for t in (task.id, task.context_id, *task.endings)
    ]
    assert not [text for text in shown for word in hidden if word in text]
    assert not window.bench.guidelines.edit.isVisibleTo(window)


# --- the desk ------------------------------------------------------------------------------

acts = st.lists(
    st.tuples(
        st.sampled_from(["submit", "skip", "reopen", "draft", "forget", "again"]),
        st.integers(0, 2),
        st.integers(0, 5),
    ),
    max_size=12,
)


@given(acts)
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_packets_desk_does_as_a_projects(
    path: Path, project: Project, acts: list[tuple[str, int, int]]
) -> None:
    """Whatever is done, both say the same of it: the project's desk is the oracle."""
    path.with_name(path.name + ".answers").unlink(missing_ok=True)
    with project.store.write() as connection:
        for table in ("judgements", "drafts", "skips"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("UPDATE allocations SET state = 'open'")
    work = PacketAnswers(path)
    theirs, ours = PacketDesk(work), StoreDesk(project, ANNA)
    tasks = [t for t, *_ in project.store.allocations(ANNA.id)]
    pairs = list(zip(tasks, [i.id for i in work.packet.items], strict=True))
    skipped: set[int] = set()
    for act, item, best in acts:
        if act == "skip" and ours.given(tasks[item]) is not None:
            continue  # as the bench has it
        if act == "reopen" and item not in skipped:
            continue
        if act == "skip":
            skipped.add(item)
        elif act in ("submit", "reopen"):
            skipped.discard(item)
        answer = Answer(("likely",) * 6, best, (best + 1) % 6, f"{best}", 2.0)
        for desk, key in zip((ours, theirs), pairs[item], strict=True):
            _act(desk, act, key, answer)
        if act == "again":
            work.close()
            work = PacketAnswers(path)
            theirs = PacketDesk(work)
            ours.reload()
        assert ours.standing() == theirs.standing()
        assert [_seen(ours, a) for a, _ in pairs] == [_seen(theirs, b) for _, b in pairs]
    work.close()


def _act(desk: Desk, act: str, key: str, answer: Answer) -> None:
    if act == "submit":
        desk.submit(key, answer)
    elif act == "skip":
        desk.skip(key, "unclear")
    elif act == "reopen":
        desk.reopen(key)
    elif act == "draft":
        desk.keep_draft(key, answer)
    elif act == "forget":
        desk.keep_draft(key, None)


def _seen(desk: Desk, key: str) -> list[object]:
    """What a desk says of an item, without what it is called and in which order it is shown."""
    draft, given = desk.draft(key), desk.given(key)
    ways = [desk.next(), desk.before(key), desk.before(""), desk.after(key)]
    return [
        [(w.number, w.state, sorted(w.endings)) if w else None for w in ways],
        (draft is not None and draft.comment, given is not None and given.comment),
        desk.holds(key),
    ]


def test_the_last_thing_done_can_be_undone(path: Path) -> None:
    work = PacketAnswers(path)
    desk = PacketDesk(work)
    one, two, three = (item.id for item in work.packet.items)
    assert desk.last("") is None and desk.undoable("") == (0, "open")
    desk.submit(two, WHOLE)
    desk.skip(one, "unclear")
    assert desk.undoable("") == (1, "skipped")
    last = desk.last(one)
    assert last is not None and last.key == two
    desk.reopen(one)
    assert desk.undoable("") == (2, "done")
    assert desk.given(two) == WHOLE and desk.given(three) is None
    work.close()


def test_guidelines_come_with_the_packet_and_keys_stay_here(path: Path, project: Project) -> None:
    work = PacketAnswers(path)
    desk = PacketDesk(work)
    assert desk.setting("guidelines", "the usual") == "the usual"
    assert desk.setting("keys", {}) == {}
    desk.keep_setting("keys", {"best": "X"})
    work.close()
    again = PacketAnswers(path)
    assert PacketDesk(again).setting("keys", {}) == {"best": "X"}
    for damaged in (7, ["a"], {"a": 1}, "x"):
        again.setting("keys", damaged)
        assert PacketDesk(again).setting("keys", {}) == {}
    again.close()
    project.store.set_people_setting("guidelines", "Read *well*.")
    path.with_name("Other.swagpacket").write_bytes(file_bytes(export(project.store, SEED, ANNA)))
    other = PacketAnswers(path.with_name("Other.swagpacket"))
    assert PacketDesk(other).setting("guidelines", "the usual") == "Read *well*."
    other.close()


# --- the application -------------------------------------------------------------------------


def test_a_packet_opens_alone_once_and_ends_the_program(
    application: Application, path: Path, qtbot: QtBot
) -> None:
    application.start([path])
    (window,) = application.packets.windows
    assert application.windows == [] and application.start_window is None
    application.open(path)
    assert application.packets.windows == [window]
    with qtbot.waitSignal(application.over):
        window.close()
    assert application.packets.windows == []


def test_a_refused_packet_is_told_in_the_start_window(
    application: Application, tmp_path: Path
) -> None:
    path = tmp_path / "x.swagpacket"
    path.write_bytes(b"#!/bin/sh")
    application.start([path])
    assert application.start_window is not None and application.packets.windows == []
    assert application.start_window.problem.text().startswith("x.swagpacket is refused")


def test_the_start_window_asks_for_a_packet(
    application: Application, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    application.start([])
    assert application.start_window is not None
    application.start_window.packet_button.click()
    assert len(application.packets.windows) == 1 and application.start_window is None
    application.quit()
    assert application.packets.windows == []
    PacketAnswers(path).close()  # it was given back


def test_a_packet_that_is_open_elsewhere_is_not_opened(
    application: Application, path: Path
) -> None:
    work = PacketAnswers(path)
    with pytest.raises(PacketError, match="open in another window"):
        application.packets.open(path)
    work.close()
