"""The background thread, with fake generators. Every wait has an end, so a fault fails a test."""

from __future__ import annotations

import errno
import sqlite3
import threading
from collections.abc import Iterator

import pytest

from swag_studio.engine.engine import Engine
from swag_studio.errors import StageError
from swag_studio.events import Cancelled, Event, Failed, Finished, Progress

WAIT = 60.0  # seconds; the end of a wait for what should come at once


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    assert made.close(WAIT)


def drained(engine: Engine) -> list[Event]:
    events = []
    while not engine.events.empty():
        events.append(engine.events.get())
    return events


class Gate:
    """A job that yields one Progress each time it is let through, and notes that it was closed."""

    def __init__(self, steps: int = 1_000_000) -> None:
        self.steps, self.closed_in = steps, None
        self._go = threading.Semaphore(0)
        self.asked = threading.Semaphore(0)  # released each time the engine pulls

    def let(self, count: int = 1) -> None:
        self._go.release(count)

    def __call__(self) -> Iterator[Event]:
        try:
            for step in range(self.steps):
                self.asked.release()
                assert self._go.acquire(timeout=WAIT)
                yield Progress("s", step, self.steps)
            yield Finished("s")
        finally:
            self.closed_in = threading.current_thread().name


def test_jobs_run_one_after_another_in_a_thread_of_their_own(engine: Engine) -> None:
    def job(name: str) -> Iterator[Event]:
        yield Progress(name, 0, 1, note=threading.current_thread().name)
        yield Finished(name)

    for name in ("a", "b", "c"):
        engine.submit(lambda name=name: job(name))
    assert engine.join(WAIT)
    assert not engine.busy
    expected = []
    for name in ("a", "b", "c"):
        expected += [Progress(name, 0, 1, note="engine"), Finished(name)]
    assert drained(engine) == expected


def test_cancel_closes_the_generator_and_tells(engine: Engine) -> None:
    gate = Gate()
    engine.submit(gate)
    engine.submit(gate)  # queued: dropped by cancel
    gate.let(2)
    for _ in range(3):
        assert gate.asked.acquire(timeout=WAIT)  # the third pull is under way
    engine.cancel()
    gate.let()
    assert engine.join(WAIT)
    assert drained(engine) == [*(Progress("s", i, gate.steps) for i in range(3)), Cancelled("s")]
    assert gate.closed_in == "engine"


def test_pause_stops_pulling_and_resume_goes_on(engine: Engine) -> None:
    gate = Gate(steps=3)
    engine.submit(gate)
    assert gate.asked.acquire(timeout=WAIT)
    engine.pause()
    gate.let(3)
    assert engine.events.get(timeout=WAIT) == Progress("s", 0, 3)
    assert not gate.asked.acquire(timeout=0.05)  # no further pull while paused
    assert engine.paused and engine.busy
    engine.resume()
    assert engine.join(WAIT)
    assert drained(engine) == [Progress("s", 1, 3), Progress("s", 2, 3), Finished("s")]


def test_a_paused_job_can_be_cancelled_and_the_next_runs(engine: Engine) -> None:
    gate = Gate(steps=3)
    engine.submit(gate)
    assert gate.asked.acquire(timeout=WAIT)
    engine.pause()
    gate.let(3)
    assert engine.events.get(timeout=WAIT) == Progress("s", 0, 3)
    engine.cancel()
    assert engine.join(WAIT)
    assert drained(engine) == [Cancelled("s")]
    engine.submit(lambda: iter([Finished("next")]))
    assert engine.join(WAIT)
    assert drained(engine) == [Finished("next")]


def test_cancel_with_nothing_at_hand_does_not_touch_the_next_job(engine: Engine) -> None:
    engine.cancel()
    engine.submit(lambda: iter([Finished("s")]))
    assert engine.join(WAIT)
    engine.cancel()
    engine.submit(lambda: iter([Finished("t")]))
    assert engine.join(WAIT)
    assert drained(engine) == [Finished("s"), Finished("t")]


def test_a_users_error_becomes_one_sentence(engine: Engine) -> None:
    def job() -> Iterator[Event]:
        yield Progress("prepare", 0, 1)
        raise StageError("no contexts are left.")

    engine.submit(job)
    assert engine.join(WAIT)
    assert drained(engine)[-1] == Failed("prepare", "no contexts are left.")


@pytest.mark.parametrize("error", [ValueError("secret text"), SystemExit(3)])
def test_a_fault_keeps_its_traceback_and_the_thread_lives(
    engine: Engine, error: BaseException
) -> None:
    def fails_at_once() -> Iterator[Event]:
        raise error

    engine.submit(fails_at_once)
    engine.submit(lambda: iter([Finished("after")]))
    assert engine.join(WAIT)
    failed, after = drained(engine)
    assert isinstance(failed, Failed)
    assert type(error).__name__ in failed.error and "secret" not in failed.error
    assert "fails_at_once" in failed.detail
    assert after == Finished("after")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full."),
        (sqlite3.OperationalError("database or disk is full"), "The disk is full."),
        (MemoryError(), "The memory is full."),
    ],
)
def test_a_full_machine_is_told_as_such(engine: Engine, error: Exception, said: str) -> None:
    def job() -> Iterator[Event]:
        yield Progress("generate", 0, 1)
        raise error

    engine.submit(job)
    assert engine.join(WAIT)
    failed = drained(engine)[-1]
    assert isinstance(failed, Failed) and failed.error.startswith(said)


def test_join_gives_up_in_time_and_close_ends_the_thread() -> None:
    engine, gate = Engine(), Gate()
    engine.submit(gate)
    assert gate.asked.acquire(timeout=WAIT)
    assert not engine.join(0.01)
    assert not engine.close(0.01)  # the job is inside a step
    gate.let()
    assert engine.close(WAIT)
    assert drained(engine)[-1] == Cancelled("s")
    with pytest.raises(RuntimeError):
        engine.submit(gate)


def test_closing_an_engine_that_never_worked() -> None:
    assert Engine().close(WAIT)
