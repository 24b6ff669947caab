"""Work on a packet: what was acknowledged is there after a kill, and goes back whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swag_studio.errors import PacketError
from swag_studio.packet_answers import PacketAnswers
from swag_studio.packets import (
    Packet,
    PacketAnswer,
    PacketDraft,
    PacketItem,
    PacketSkip,
    Result,
    file_bytes,
    read,
)

SIX = ("一", "two", "three", "four", "five", "six")
IDS = tuple(c * 32 for c in "abc")
PACKET = Packet("f" * 32, "anna-id", "Anna", "", tuple(PacketItem(i, "s", "o", SIX) for i in IDS))


def answer(item: int, second: int, comment: str = "") -> PacketAnswer:
    time = f"2030-01-01T00:00:{second:02}.000Z"
    return PacketAnswer(IDS[item], ("likely",) * 6, 0, 1, comment, 2.0, time)


SKIP = PacketSkip(IDS[1], "unclear", "2030-01-01T00:00:00.000Z")
DRAFT = PacketDraft(IDS[2], ("likely", *(None,) * 5), 0, None, "半分", 1.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "Anna.swagpacket"
    path.write_bytes(file_bytes(PACKET))
    return path


def journal(path: Path) -> Path:
    return path.with_name(path.name + ".answers")


def done(path: Path) -> Result:
    """What is there, opened anew."""
    work = PacketAnswers(path)
    try:
        return work.result()
    finally:
        work.close()


def test_what_was_done_is_there_again(path: Path) -> None:
    work = PacketAnswers(path)
    work.answer(answer(0, 1))
    work.answer(answer(0, 2, "直した"))
    work.skip(SKIP)
    work.draft(DRAFT)
    work.setting("keys", {"best": "X"})
    found = work.result()
    work.close()
    assert found == Result((answer(0, 1), answer(0, 2, "直した")), (SKIP,), (DRAFT,))
    assert done(path) == found
    again = PacketAnswers(path)
    assert again.settings == {"keys": {"best": "X"}}
    again.reopen(IDS[1])
    again.forget(IDS[2])
    again.close()
    assert done(path) == Result(found.answers)
    assert read(path).packet == PACKET and path.read_bytes() == file_bytes(PACKET)


def test_an_answer_ends_the_draft_and_the_skip(path: Path) -> None:
    work = PacketAnswers(path)
    work.skip(SKIP)
    work.draft(DRAFT)
    work.answer(answer(1, 1))
    work.answer(answer(2, 2))
    assert work.result() == Result((answer(1, 1), answer(2, 2)))
    work.close()


def test_the_file_to_send_back_has_it_all_and_can_be_gone_on_with(path: Path) -> None:
    work = PacketAnswers(path)
    work.answer(answer(0, 1))
    target = work.finish()
    assert target.name == "Anna-answers.swagpacket"
    assert read(target).result == work.result()
    first = target.read_bytes()
    assert work.finish().read_bytes() == first
    work.close()
    onward = PacketAnswers(target)
    onward.answer(answer(1, 2))
    assert onward.finish() == target
    assert read(target).result == Result((answer(0, 1), answer(1, 2)))
    onward.close()
    assert done(target) == Result((answer(0, 1), answer(1, 2)))  # the journal says it once more


@given(cut=st.integers(0, 10_000))
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_journal_cut_anywhere_has_what_was_whole_and_goes_on(path: Path, cut: int) -> None:
    journal(path).unlink(missing_ok=True)
    work = PacketAnswers(path)
    ends = [journal(path).stat().st_size]
    for i in range(3):
        work.answer(answer(i, i))
        ends.append(journal(path).stat().st_size)
    work.close()
    cut %= ends[-1] + 1
    os.truncate(journal(path), cut)
    whole = max(sum(end <= cut for end in ends) - 1, 0)
    assert done(path).answers == tuple(answer(i, i) for i in range(whole))
    again = PacketAnswers(path)
    again.answer(answer(2, 50))
    again.close()
    assert done(path).answers[-1] == answer(2, 50)


KILLED = """
import sys
from pathlib import Path
from test_packet_answers import answer
from swag_studio.packet_answers import PacketAnswers
work = PacketAnswers(Path(sys.argv[1]))
for second in range(60):
    work.answer(answer(second % 3, second))
    print(second, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL")
@pytest.mark.parametrize("after", [1, 7, 20])
def test_a_kill_loses_nothing_that_was_acknowledged(path: Path, after: int) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    told = [int(child.stdout.readline()) for _ in range(after)]
    child.send_signal(signal.SIGKILL)
    told += [int(line) for line in child.stdout.read().split()]
    child.wait()
    child.stdout.close()
    kept = [int(a.given[17:19]) for a in done(path).answers]
    assert kept[: len(told)] == told
    assert kept == list(range(len(kept)))


def test_a_packet_is_open_once(path: Path) -> None:
    work = PacketAnswers(path)
    with pytest.raises(PacketError, match="open in another window"):
        PacketAnswers(path)
    work.close()
    PacketAnswers(path).close()


def test_the_journal_of_another_packet_is_not_taken(path: Path) -> None:
    PacketAnswers(path).close()
    path.write_bytes(file_bytes(Packet("e" * 32, "anna-id", "Anna", "", PACKET.items)))
    with pytest.raises(PacketError, match="another packet of this name"):
        PacketAnswers(path)


@pytest.mark.parametrize("line", ["{}", '{"do": "run"}', "[]", "no", '{"do": "answer"}', "{}\n{}"])
def test_a_damaged_line_is_named(path: Path, line: str) -> None:
    PacketAnswers(path).close()
    with journal(path).open("a") as file:
        file.write(line + "\n")
    held = []  # with what failed and its frames, so that nothing is let go by being forgotten
    for _ in range(2):
        with pytest.raises(PacketError, match="line 2") as raised:
            PacketAnswers(path)
        held.append(raised)


def test_what_could_not_be_read_again_is_not_written(path: Path) -> None:
    work = PacketAnswers(path)
    before = journal(path).read_bytes()
    for bad in (answer(0, 1, "x" * 20_001), PacketAnswer(IDS[0], ("likely",), 0, 1, "", 1, "")):
        with pytest.raises(PacketError):
            work.answer(bad)
    assert journal(path).read_bytes() == before
    work.answer(answer(0, 1, "half a pair: \ud800"))
    work.close()
    assert done(path).answers == (answer(0, 1, "half a pair: ?"),)


def test_a_full_disk_is_told_and_leaves_no_half_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = PacketAnswers(path)
    work.answer(answer(0, 1))
    before = journal(path).read_bytes()

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as raised:
        work.answer(answer(1, 2))
    monkeypatch.undo()
    assert str(raised.value.filename) == str(journal(path))
    assert journal(path).read_bytes() == before
    assert work.result() == Result((answer(0, 1),))
    work.answer(answer(1, 3))
    work.close()
    assert done(path) == Result((answer(0, 1), answer(1, 3)))


def test_a_folder_where_nothing_can_be_kept_is_told(path: Path) -> None:
    journal(path).mkdir()
    for _ in range(2):
        with pytest.raises(PacketError, match="Copy the packet to a folder"):
            PacketAnswers(path)
