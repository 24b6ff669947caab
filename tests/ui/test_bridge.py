"""What the window hears of the engine: batches, ends, the queue."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fakes import FakeEngine
from pytestqt.qtbot import QtBot

from swag_studio.events import Changed, Event, Finished, Message, Metric, Progress
from swag_studio.ui.bridge import Bridge
from swag_studio.ui.eta import Eta, in_words, range_in_words


@pytest.fixture
def bridge(qtbot: QtBot, engine: FakeEngine) -> Iterator[Bridge]:
    bridge = Bridge(engine)
    yield bridge
    bridge.stop()


def heard(bridge: Bridge) -> list[tuple[str, object]]:
    """Everything that the bridge tells from now on."""
    log: list[tuple[str, object]] = []
    for name in ("progress", "metrics", "messages", "changed", "ended", "idle_changed"):
        getattr(bridge, name).connect(lambda value, name=name: log.append((name, value)))
    return log


def job(*events: Event) -> Iterator[Event]:
    yield from events


def test_a_flood_is_one_batch(bridge: Bridge, engine: FakeEngine) -> None:
    log = heard(bridge)
    points = [Metric("filter", "loss", i, 0.5) for i in range(5000)]
    events = [Progress("filter", i, 10) for i in range(4000)]
    ends = [Message("filter", "a"), Changed(("x",)), Changed(("y", "x")), Message("filter", "b")]
    bridge.submit(lambda: job(*points, *events, *ends, Finished("filter")))
    engine.work()
    bridge.drain()
    assert log == [
        ("idle_changed", False),
        ("progress", Progress("filter", 3999, 10)),
        ("metrics", points),
        ("messages", [Message("filter", "a"), Message("filter", "b")]),
        ("changed", frozenset({"x", "y"})),
        ("ended", Finished("filter")),
        ("idle_changed", True),
    ]


def test_more_than_a_beat_s_events_come_in_the_next_beat(
    bridge: Bridge, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swag_studio.ui.bridge.MOST", 3)
    log = heard(bridge)
    bridge.submit(lambda: job(*[Message("s", str(i)) for i in range(5)]))
    engine.work()
    bridge.drain()
    assert [name for name, _ in log] == ["idle_changed", "messages"]
    bridge.drain()
    assert log[2:] == [
        ("messages", [Message("s", "3"), Message("s", "4")]),
        ("idle_changed", True),
    ]


def test_who_hears_of_an_end_can_submit_the_next_job(bridge: Bridge, engine: FakeEngine) -> None:
    log = heard(bridge)
    left = [Finished("b")]
    bridge.ended.connect(lambda _: left and bridge.submit(lambda: job(left.pop())))
    bridge.submit(lambda: job(Finished("a")))
    engine.work()
    bridge.drain()
    assert log == [("idle_changed", False), ("ended", Finished("a"))] and not bridge.idle
    engine.work()
    bridge.drain()
    assert log[2:] == [("ended", Finished("b")), ("idle_changed", True)]


def test_the_queue_has_names_and_a_run_waits_once(bridge: Bridge, engine: FakeEngine) -> None:
    told: list[list[str]] = []
    bridge.queue_changed.connect(lambda tasks: told.append([t.name for t in tasks]))
    bridge.submit(lambda: job(Progress("a", 0, 0)), "first", until="filter")
    engine.step()
    again = bridge.submit(lambda: job(), "second", until="filter")
    assert bridge.submit(lambda: job(), "third", until="filter") is again
    bridge.drain()
    assert told == [["first"], ["second"]]
    bridge.cancel()
    assert told[-1] == [] and engine.cancelled == 1


def test_the_stage_at_work_is_known(bridge: Bridge, engine: FakeEngine) -> None:
    bridge.submit(lambda: job(Progress("a", 0, 0), Finished("a"), Progress("b", 0, 0)))
    engine.step()
    bridge.drain()
    assert bridge.stage == "a"
    engine.step()
    engine.step()
    bridge.drain()
    assert bridge.stage == "b"
    engine.work()
    bridge.drain()
    assert bridge.stage == ""


def test_a_stage_that_the_next_job_is_in_already_is_at_work(
    bridge: Bridge, engine: FakeEngine
) -> None:
    stages: list[str] = []
    bridge.ended.connect(lambda _: stages.append(bridge.stage))
    bridge.submit(lambda: job(Progress("a", 0, 0), Finished("a")))
    bridge.submit(lambda: job(Progress("a", 0, 0), Finished("a")))
    for _ in range(4):  # the end of the first job, and the second in the same stage
        engine.step()
    bridge.drain()
    assert stages == [bridge.stage] == ["a"]
    engine.work()
    bridge.drain()
    assert bridge.stage == ""


def test_the_stage_that_is_told_last_is_the_one_at_work(bridge: Bridge, engine: FakeEngine) -> None:
    log = heard(bridge)
    events = [Progress(stage, i, 9) for i, stage in enumerate(("a", "b", "a"))]
    bridge.submit(lambda: job(*events, Finished("a")))
    for _ in events:
        engine.step()
    bridge.drain()
    assert [value for name, value in log if name == "progress"] == events[1:]
    assert bridge.stage == "a"


def test_a_run_with_another_recipe_waits_beside_the_one_that_waits(bridge: Bridge) -> None:
    first = bridge.submit(lambda: job(), "first", "filter", recipe=1)
    second = bridge.submit(lambda: job(), "second", "filter", recipe=2)
    assert second is not first
    assert bridge.submit(lambda: job(), "third", "filter", recipe=1) is first
    assert bridge.tasks() == [first, second]


def test_a_steady_pace_gives_one_figure_and_a_varying_one_a_range() -> None:
    steady, varying = Eta(), Eta()
    for i in range(10):
        steady.put(2.0 * i, i)
        varying.put(2.0 * i + (i % 2), i)
    assert steady.remaining(19) == pytest.approx((20.0, 20.0))  # 10 units at 2 s
    low, high = varying.remaining(19) or (0.0, 0.0)
    assert low < 20.0 < high
    assert steady.remaining(0) is None and Eta().remaining(5) is None


def test_time_is_told_in_words() -> None:
    assert [in_words(s) for s in (0.2, 89, 90, 5000, 7800)] == [
        *("1 s", "89 s", "2 min", "83 min", "2 h 10 min"),
    ]
    assert range_in_words((60.0, 60.2)) == "60 s left"
    assert range_in_words((200.0, 300.0)) == "3 min to 5 min left"
    assert range_in_words(None) == ""
