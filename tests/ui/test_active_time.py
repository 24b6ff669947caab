"""Active time against a slow count of the seconds in which someone was at work."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swag_studio.ui.active_time import IDLE, ActiveTime

gaps = st.lists(st.tuples(st.sampled_from(["sign", "stop"]), st.integers(0, 200)), max_size=30)


@given(gaps, st.integers(0, 200), st.integers(0, 90))
def test_a_second_counts_when_a_sign_of_life_was_less_than_a_minute_before(
    steps: list[tuple[str, int]], rest: int, before: int
) -> None:
    active = ActiveTime()
    active.start(1000, before)
    signs, now = {1000: True}, 1000
    for kind, gap in steps:
        now += gap
        (active.sign if kind == "sign" else active.stop)(now)
        signs[now] = kind == "sign"
    end = now + rest
    counted = 0
    for second in range(1000, end):
        last = max(t for t in signs if t <= second)
        counted += signs[last] and second - last < IDLE
    assert active.seconds(end) == before + counted


@given(st.lists(st.integers(0, 200), min_size=1, max_size=20))
def test_asking_changes_nothing(times: list[int]) -> None:
    asked, silent = ActiveTime(), ActiveTime()
    for active in (asked, silent):
        active.start(0)
    for now in sorted(times):
        asked.seconds(now)
        asked.sign(now + 300)
        silent.sign(now + 300)
    assert asked.seconds(900) == silent.seconds(900)


def test_the_next_item_begins_anew() -> None:
    active = ActiveTime()
    active.start(0)
    active.start(50, 7.5)
    assert active.seconds(52) == 9.5
    active.start(60, -1)
    assert active.seconds(60) == 0


def test_a_clock_that_goes_backwards_adds_nothing() -> None:
    active = ActiveTime()
    active.start(100)
    active.sign(90)
    assert active.seconds(95) == 5
