"""The reading thread: order, what is dropped, where answers arrive, and what errors say."""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from swag_studio.errors import ProjectError
from swag_studio.ui.background import Background

WITHIN = 60  # seconds: for a machine that does much else


@pytest.fixture
def background(qapp: QApplication) -> Iterator[Background]:
    background = Background()
    yield background
    background.close()


class Gate:
    """Work that waits to be let through, so that what is asked meanwhile has to queue."""

    def __init__(self) -> None:
        self.begun, self.open = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.open.wait(WITHIN)
        return "gate"


def test_work_is_done_beside_the_window_and_answered_in_it(
    qtbot: QtBot, background: Background
) -> None:
    seen: list[tuple[str, str]] = []

    def work() -> str:
        return threading.current_thread().name

    background.ask("a", work, lambda name: seen.append((name, threading.current_thread().name)))
    qtbot.waitUntil(lambda: len(seen) == 1)
    assert seen == [("reader", threading.main_thread().name)]


def test_of_what_waits_under_a_key_the_newest_is_done_last(
    qtbot: QtBot, background: Background
) -> None:
    gate, done, answers = Gate(), [], []

    def work(name: str) -> str:
        done.append(name)
        return name

    background.ask("gate", gate, answers.append)
    assert gate.begun.wait(WITHIN)
    for key, name in (("a", "a1"), ("b", "b1"), ("a", "a2"), ("a", "a3")):
        background.ask(key, lambda name=name: work(name), answers.append)
    assert background.busy
    gate.open.set()
    qtbot.waitUntil(lambda: len(answers) == 3)
    assert answers == ["gate", "b1", "a3"] and done == ["b1", "a3"]
    qtbot.waitUntil(lambda: not background.busy)


def test_it_is_busy_until_the_last_answer_is_told(qtbot: QtBot, background: Background) -> None:
    """Also while one is on its way to the window, and where an answer asks for more."""
    busy: list[bool] = []

    def more(left: int) -> None:
        busy.append(background.busy)
        if left:
            background.ask("a", lambda: left - 1, more)

    background.ask("a", lambda: 3, more)
    while background._at_work or background._waiting:  # no event is heard: the answer waits
        time.sleep(0.001)
    assert busy == [] and background.busy
    qtbot.waitUntil(lambda: not background.busy)
    assert busy == [True] * 4


def test_an_answer_that_is_no_good_is_told_all_the_same(
    qtbot: QtBot, background: Background
) -> None:
    def fails(_: object) -> None:
        raise RuntimeError("a bug of a page")

    with qtbot.captureExceptions() as faults:
        background.ask("a", lambda: 1, fails)
        qtbot.waitUntil(lambda: not background.busy)
    assert len(faults) == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ProjectError("There is no pool."), "There is no pool."),
        (OSError(errno.ENOSPC, "No space left", "/p/x"), "The disk is full."),
        (KeyError("a secret caption"), "KeyError"),
    ],
)
def test_an_error_is_told_in_words_and_logged(
    qtbot: QtBot,
    background: Background,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    said: str,
) -> None:
    def work() -> None:
        raise error

    told: list[str] = []
    with caplog.at_level(logging.WARNING):
        background.ask("a", work, lambda _: told.append("an answer"), told.append)
        background.ask("b", lambda: 1, told.append)  # the thread has survived
        qtbot.waitUntil(lambda: len(told) == 2)
    assert said in told[0] and "secret" not in told[0]
    assert told[1] == 1
    assert [r.exc_info[1] for r in caplog.records if r.exc_info] == [error]


def test_closing_drops_what_waits_and_what_comes(qtbot: QtBot, background: Background) -> None:
    gate, answers = Gate(), []
    background.ask("gate", gate, answers.append)
    assert gate.begun.wait(WITHIN)
    background.ask("a", lambda: "a", answers.append)
    assert not background.close(0)  # it is at work
    gate.open.set()
    assert background.close(WITHIN)
    background.ask("b", lambda: "b", answers.append)
    QApplication.processEvents()
    assert answers == [] and not background.busy
    assert "reader" not in [t.name for t in threading.enumerate()]
