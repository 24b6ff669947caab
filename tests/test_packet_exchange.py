"""A project's packets: blind, the same again, and merged once however often."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packet_project import ANNA, BEN, TEXTS, give_out

from swag_studio.errors import PacketError
from swag_studio.judging import Annotator, Judgement, Skip, shown_order
from swag_studio.packet_exchange import MOST_ACTIVE, Keep, again, export, merge, preview
from swag_studio.packets import (
    Packet,
    PacketAnswer,
    PacketDraft,
    PacketFile,
    PacketSkip,
    Result,
    file_bytes,
    parse,
)
from swag_studio.project import Project

SEED = 7


def time(second: int) -> str:
    return f"2020-01-01T00:00:{second:02}.000Z"


def answered(
    packet: Packet, item: int = 0, second: int = 10, best: str = "", **more: object
) -> PacketAnswer:
    """An answer whose best ending is the first shown, or the one with the text `best`."""
    shown = packet.items[item].endings
    first = shown.index(best) if best else 0
    other = (first + 1) % len(shown)
    labels = tuple("unlikely" if i == other else "likely" for i in range(len(shown)))
    values = {"comment": "", "seconds": 4.5, "given": time(second)} | more
    return PacketAnswer(packet.items[item].id, labels, first, other, **values)  # type: ignore[arg-type]


def back(packet: Packet, *answers: PacketAnswer, **more: object) -> PacketFile:
    """What comes back with these answers, through its bytes."""
    return parse(file_bytes(packet, Result(answers, **more)), "Anna.swagpacket")  # type: ignore[arg-type]


def state_of(project: Project) -> tuple[object, ...]:
    """All human work of a project."""
    store = project.store
    return (
        list(store.judgements(all_revisions=True)),
        store.skips(),
        store.allocations(),
        [store.draft(t.id, ANNA.id) for t in store.tasks()],
    )


# --- out -------------------------------------------------------------------------------------


def test_a_packet_has_the_open_work_in_its_order_as_its_annotator_sees_it(project: Project) -> None:
    tasks = give_out(project)
    project.store.submit(Judgement(tasks[0].id, ANNA.id, ("likely",) * 6, 0, 1))
    packet = export(project.store, SEED, ANNA)
    assert [item.sent1 for item in packet.items] == list(TEXTS[1:])
    for task, item in zip(tasks[1:], packet.items, strict=True):
        texts = project.store.endings_by_id(task.endings)
        order = shown_order(SEED, task.id, ANNA.id)
        assert list(item.endings) == [texts[task.endings[i]].text for i in order]


def test_the_same_work_gives_the_same_bytes_and_so_does_asking_again_later(
    project: Project,
) -> None:
    give_out(project)
    packet = export(project.store, SEED, ANNA)
    data = file_bytes(packet)
    assert file_bytes(export(project.store, SEED, ANNA)) == data
    assert len(project.store.packets()) == 1
    merge(project.store, back(packet, answered(packet)))
    assert file_bytes(again(project.store, packet.id)) == data
    assert file_bytes(export(project.store, SEED, ANNA)) != data
    assert file_bytes(parse(data, "x").packet) == data


def test_nothing_in_a_packet_says_what_is_what(project: Project) -> None:
    """No id of the project, no key, no kind; items differ by their texts alone."""
    project.store.set_people_setting("guidelines", "Judge *well*.")
    tasks = give_out(project)
    packet = export(project.store, SEED, ANNA)
    data = file_bytes(packet)
    contexts = list(project.store.contexts(1))
    hidden = [t.id for t in tasks] + [e for t in tasks for e in t.endings]
    hidden += [c.id for c in contexts] + [c.video_id for c in contexts]
    hidden += [c.document for c in contexts] + [c.source_id for c in contexts]
    hidden += [project.store.people_setting("packet_key", ""), BEN.id, BEN.name, "gold", 'found"']
    for text in hidden:
        assert text and text.encode() not in data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        (entry,) = archive.namelist()
        value = json.loads(archive.read(entry))
    assert {tuple(sorted(item)) for item in value["items"]} == {
        ("endings", "id", "opening", "sent1")
    }
    assert set(value) == {"annotator", "format", "guidelines", "id", "items", "kind"}
    assert value["guidelines"] == "Judge *well*."


def test_two_annotators_packets_share_no_id_and_no_order(project: Project) -> None:
    give_out(project, [f"Sentence {i}." for i in range(40)])
    anna, ben = (export(project.store, SEED, who) for who in (ANNA, BEN))
    assert not {i.id for i in anna.items} & {i.id for i in ben.items}
    assert anna.id != ben.id
    assert [i.sent1 for i in anna.items] == [i.sent1 for i in ben.items]
    # 40 chances of 1 in 720 each.
    assert sum(a.endings == b.endings for a, b in zip(anna.items, ben.items, strict=True)) < 5
    # Ids say nothing of the order: neither it nor its reverse is sorted.
    ids = [i.id for i in anna.items]
    assert sorted(ids) not in (ids, ids[::-1])


def test_the_found_ending_is_in_every_place(project: Project) -> None:
    give_out(project, [f"Sentence {i}." for i in range(60)], [ANNA])
    packet = export(project.store, SEED, ANNA)
    places = {i for item in packet.items for i, t in enumerate(item.endings) if "found" in t}
    assert places == set(range(6))


def test_there_must_be_work_for_a_person(project: Project) -> None:
    give_out(project)
    with pytest.raises(PacketError, match="no open work"):
        export(project.store, SEED, Annotator("c" * 16, "Cleo"))
    with pytest.raises(PacketError, match="simulated"):
        export(project.store, SEED, replace(ANNA, kind="simulated"))
    with pytest.raises(PacketError, match="No packet"):
        again(project.store, "0" * 32)


# --- in --------------------------------------------------------------------------------------


def test_answers_come_in_in_the_tasks_own_order(project: Project) -> None:
    tasks = give_out(project)
    packet = export(project.store, SEED, ANNA)
    given = [answered(packet, i, 10 + i, best=f"found one {i}", comment="はい") for i in range(3)]
    merged = merge(project.store, back(packet, *given))
    assert (merged.answers, merged.same, merged.conflicts) == (3, 0, ())
    for task, answer in zip(tasks, given, strict=True):
        (judgement,) = project.store.judgements(task_id=task.id)
        order = shown_order(SEED, task.id, ANNA.id)
        assert judgement.best == 0 and judgement.second == order[answer.second]
        assert judgement.labels == tuple(answer.labels[order.index(p)] for p in range(6))
        assert judgement.via == packet.id and judgement.annotator_id == ANNA.id
        assert (judgement.comment, judgement.seconds, judgement.given) == (
            *("はい", 4.5),
            answer.given,
        )
    assert project.store.progress_of(ANNA.id) == {"done": 3}
    assert project.store.progress_of(BEN.id) == {"open": 3}


def test_twice_is_once(project: Project) -> None:
    tasks = give_out(project)
    packet = export(project.store, SEED, ANNA)
    file = back(
        packet,
        answered(packet, 0, 10),
        answered(packet, 0, 20, best="found one 0", comment="corrected"),
        skips=(PacketSkip(packet.items[1].id, "unclear", time(30)),),
        drafts=(PacketDraft(packet.items[2].id, ("likely",) * 6, 0, None, "half", 2.0),),
    )
    first = merge(project.store, file)
    assert (first.answers, len(first.skips)) == (2, 1)
    state = state_of(project)
    assert [j.revision for j in project.store.judgements(all_revisions=True)] == [0, 1]
    assert project.store.skips() == [Skip(tasks[1].id, ANNA.id, "unclear", time(30))]
    draft = project.store.draft(tasks[2].id, ANNA.id)
    assert draft and draft["comment"] == "half"
    for keep in ("later", "project", "packet"):
        second = merge(project.store, file, keep)  # type: ignore[arg-type]
        assert (second.answers, second.new, second.skips, second.same) == (0, (), (), 2)
        assert state_of(project) == state


def test_a_packet_may_come_back_half_done_and_again_whole(project: Project) -> None:
    give_out(project)
    packet = export(project.store, SEED, ANNA)
    given = [
        answered(packet, 0, 10),
        answered(packet, 1, 20),
        answered(packet, 0, 30, "found one 0"),
    ]
    merge(project.store, back(packet, *given[:2]))
    whole = merge(project.store, back(packet, *given))
    assert (whole.answers, whole.same, whole.conflicts) == (1, 2, ())
    rows = {(j.revision, j.given) for j in project.store.judgements(all_revisions=True)}
    assert rows == {(0, time(10)), (0, time(20)), (1, time(30))}


@pytest.mark.parametrize(
    ("keep", "ours", "packet_counts"),
    [
        ("later", 5, True),
        ("later", 15, False),
        ("project", 5, False),
        ("packet", 15, True),
    ],
)
def test_where_the_project_says_otherwise_both_stay_and_one_counts(
    project: Project, keep: Keep, ours: int, packet_counts: bool
) -> None:
    tasks = give_out(project)
    packet = export(project.store, SEED, ANNA)
    own = project.store.submit(
        Judgement(tasks[0].id, ANNA.id, ("unlikely",) * 6, 2, 3, given=time(ours))
    )
    file = back(packet, answered(packet, 0, 10, best="found one 0"))
    seen = preview(project.store, file, keep)
    assert list(project.store.judgements(all_revisions=True)) == [own]
    (conflict,) = seen.conflicts
    assert (conflict.project, conflict.packet_counts) == (own, packet_counts)
    assert merge(project.store, file, keep) == seen
    rows = list(project.store.judgements(task_id=tasks[0].id, all_revisions=True))
    assert rows[0] == own and rows[1] == conflict.packet
    assert [j.revision for j in rows] == list(range(len(rows)))
    (counts,) = project.store.judgements(task_id=tasks[0].id)
    assert replace(counts, revision=0) == replace(
        conflict.packet if packet_counts else own, revision=0
    )
    state = state_of(project)
    assert merge(project.store, file, "packet").answers == 0
    assert state_of(project) == state


def test_each_conflict_can_be_decided_by_itself(project: Project) -> None:
    tasks = give_out(project)
    packet = export(project.store, SEED, ANNA)
    for task in tasks[:2]:
        project.store.submit(Judgement(task.id, ANNA.id, ("unlikely",) * 6, 2, 3, given=time(5)))
    file = back(packet, answered(packet, 0), answered(packet, 1))
    merge(project.store, file, "later", {tasks[0].id: "project"})
    counting = {j.task_id: j.via for j in project.store.judgements()}
    assert counting == {tasks[0].id: "app", tasks[1].id: packet.id}


def test_the_same_said_twice_is_no_conflict(project: Project) -> None:
    tasks = give_out(project)
    packet = export(project.store, SEED, ANNA)
    file = back(packet, answered(packet, 0))
    (theirs,) = preview(project.store, file).new
    project.store.submit(replace(theirs, via="app", given=time(40), seconds=1.0))
    merged = merge(project.store, file)
    assert merged.conflicts == () and merged.answers == 1
    assert project.store.progress_of(ANNA.id)["done"] == 1
    assert tasks[0].id == theirs.task_id


def test_a_skip_closes_only_what_is_open_and_stays_put_back(project: Project) -> None:
    tasks = give_out(project)
    packet = export(project.store, SEED, ANNA)
    file = back(packet, skips=tuple(PacketSkip(i.id, "unclear", time(9)) for i in packet.items[:2]))
    project.store.submit(Judgement(tasks[0].id, ANNA.id, ("likely",) * 6, 0, 1))
    merge(project.store, file)
    assert project.store.progress_of(ANNA.id) == {"done": 1, "open": 1, "skipped": 1}
    project.store.reopen(tasks[1].id, ANNA.id)
    merge(project.store, file)
    assert project.store.progress_of(ANNA.id) == {"done": 1, "open": 2}


def test_no_time_is_paid_that_nobody_believes(project: Project) -> None:
    give_out(project)
    packet = export(project.store, SEED, ANNA)
    file = back(packet, answered(packet, 0, seconds=80_000.0), answered(packet, 1))
    merged = merge(project.store, file)
    assert sorted(j.seconds for j in merged.new) == [4.5, MOST_ACTIVE]
    assert "30 minutes" in merged.notes[0] and "clock" in merged.notes[1]
    assert merge(project.store, file).answers == 0
    future = back(packet, answered(packet, 2, given="2999-01-01T00:00:00.000Z"))
    assert "future" in preview(project.store, future).notes[0]


def test_work_that_was_taken_back_is_kept_and_told(project: Project) -> None:
    give_out(project)
    packet = export(project.store, SEED, ANNA)
    project.store.withdraw(ANNA.id)
    merged = merge(project.store, back(packet, answered(packet, 0)))
    assert "taken back" in merged.notes[-1]
    assert project.store.judgement_count() == 1


def refused(project: Project, file: PacketFile, reason: str) -> None:
    state = state_of(project)
    for act in (preview, merge):
        with pytest.raises(PacketError, match=reason):
            act(project.store, file)
    assert state_of(project) == state


def test_what_the_project_did_not_send_is_refused(project: Project) -> None:
    give_out(project)
    packet = export(project.store, SEED, ANNA)
    refused(project, back(replace(packet, id="0" * 32), answered(packet)), "not made by this")
    items = (replace(packet.items[0], sent1="another"), *packet.items[1:])
    refused(project, back(replace(packet, items=items), answered(packet)), "were changed")
    refused(project, back(replace(packet, annotator_id=BEN.id), answered(packet)), "were changed")
    refused(project, parse(file_bytes(packet), "x"), "no answers in it yet")


def test_a_merge_that_fails_leaves_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_out(project)
    packet = export(project.store, SEED, ANNA)
    file = back(
        packet,
        *(answered(packet, i) for i in range(2)),
        skips=(PacketSkip(packet.items[2].id, "unclear", time(9)),),
    )
    state = state_of(project)
    add = project.store.add_rows

    def then_full(*given: object) -> int:
        add(*given)  # type: ignore[arg-type]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(project.store, "add_rows", then_full)
    with pytest.raises(OSError, match="No space"):
        merge(project.store, file)
    assert state_of(project) == state
    monkeypatch.undo()
    assert merge(project.store, file).answers == 2


steps = st.lists(
    st.tuples(
        st.sampled_from(["app", "packet", "merge"]),
        st.integers(0, 1),  # item
        st.integers(0, 5),  # best
        st.sampled_from(["later", "project", "packet"]),
    ),
    max_size=8,
)


@given(steps)
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_the_order_nothing_is_lost_and_merging_again_changes_nothing(
    project: Project, steps: list[tuple[str, int, int, Keep]]
) -> None:
    """Each answer ever given is among the revisions once, but for repeats of the project's."""
    number = len(list(project.store.tasks()))
    tasks = give_out(project, [f"{number} a", f"{number} b"], [ANNA])
    fresh = [t.id for t in tasks]
    packet = export(project.store, SEED, ANNA)
    place = {i.sent1: k for k, i in enumerate(packet.items)}
    theirs: list[PacketAnswer] = []
    wanted: set[tuple[str, str]] = set()
    moves = [*steps, ("merge", 0, 0, "later")]
    for second, (kind, item, best, keep) in enumerate(moves):
        labels = ("likely",) * 6
        if kind == "app":
            project.store.submit(
                Judgement(fresh[item], ANNA.id, labels, best, (best + 1) % 6, given=time(second))
            )
            wanted.add((fresh[item], time(second)))
        elif kind == "packet":
            shown = packet.items[place[f"{number} {'ab'[item]}"]]
            row = (shown.id, labels, best, (best + 1) % 6, "", 1.0, time(second))
            theirs.append(PacketAnswer(*row))
        else:
            wanted |= {(fresh["ab".index(_sent1(packet, a)[-1])], a.given) for a in theirs}
            merge(project.store, back(packet, *theirs), keep)
            state = state_of(project)
            assert merge(project.store, back(packet, *theirs)).new == ()
            assert state_of(project) == state
    rows = [j for j in project.store.judgements(all_revisions=True) if j.task_id in fresh]
    assert {(j.task_id, j.given) for j in rows} == wanted
    for task in fresh:
        of_task = [j.revision for j in rows if j.task_id == task]
        assert of_task == list(range(len(of_task)))


def _sent1(packet: Packet, answer: PacketAnswer) -> str:
    return next(i.sent1 for i in packet.items if i.id == answer.item)


def test_a_japanese_packet_goes_out_and_comes_back(project: Project) -> None:
    give_out(project, ["女の子がケーキを切る。"])
    project.store.set_people_setting("guidelines", "よく読んでください。")
    packet = parse(file_bytes(export(project.store, SEED, ANNA)), "x").packet
    assert packet.items[0].sent1 == "女の子がケーキを切る。"
    assert packet.guidelines == "よく読んでください。"
    merge(project.store, back(packet, answered(packet, comment="どちらも自然です。")))
    (judgement,) = project.store.judgements()
    assert asdict(judgement)["comment"] == "どちらも自然です。"
