"""Keeps what follows from people's doings up to date: new tasks after edits, rows after answers.

Edits and answers are written at once and alone. What follows from them is caught up with here, by
whoever has the time, from marks that are kept in the project: so it is not lost with a program that
ends in between. What curators noted in one run is carried over here to a run that goes on from it.
It knows no screen.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from swag_studio.connections import sliced
from swag_studio.reviewing import Curated
from swag_studio.rounds import HumanWork
from swag_studio.store import Store
from swag_studio.store_steps import SLICE_OF_STEP, Changes, Overtaken

PROGRAM = "SWAG Studio"  # who it is that carries notes over
_CARRY = "Carry notes over from run {}"

# By run: the step of the log up to which edited contexts were dealt anew, the moment of the last
# answer or adjudication, and the step up to which rows were brought up to date.
MARKS = "kept_up_to"


def keep_up(work: HumanWork, *, dealing: bool = True) -> frozenset[str]:
    """Deals edited contexts anew and brings the rows of judged ones up to date.

    Returns the tables that changed. Costs time for what is new since the last call only. Without
    `dealing` it is the rows alone: for runs that nobody works on, whose tasks may be another's too.
    """
    return frozenset().union(*keeping_up(work, dealing=dealing))


def keeping_up(work: HumanWork, *, dealing: bool = True) -> Iterator[frozenset[str]]:
    """As `keep_up`, some hundreds of contexts at a time; yields the tables that changed by each."""
    store, name, overdue = work.store, str(work.version), work.overdue
    marks = store.people_setting(MARKS, {})
    dealt, given, *rest = mark = marks.get(name, [0, ""])
    shown = rest[0] if rest else dealt  # older programs did both at once
    edited, step = store.edited_since(work.version, dealt if dealing else shown)
    judged, moment = store.judged_since(work.version, given)
    if dealing and edited:
        for tasks in work.renewing(edited):
            yield frozenset({"tasks", "allocations"} if tasks else ())
    touched = sorted({*edited, *judged})
    if overdue or touched:
        for rows in work.refreshing(None if overdue else touched):
            yield frozenset({"review_rows"} if rows else ())
    if overdue:
        work.refreshed(overdue)
    if mark != (now := [step if dealing else dealt, moment, step]):
        store.change_people_setting(MARKS, {}, lambda marks: {**marks, name: now})


def carry_over(store: Store, parent: int, version: int) -> Generator[int, None, None]:
    """Has what curators noted in run `parent` hold in `version`, which goes on from it: once.

    Flags, comments and exclusions; ranks where the endings are the same. It is one step of the log,
    a slice at a time; yields how many contexts it has seen. Done again after a kill it goes on with
    that step, and where a curator's step came between, with a new one.
    """
    ids, overtaken = store.contexts_changed(parent), True
    while overtaken:
        overtaken = False
        parts = (
            (len(some), _carried(store, parent, version, some))
            for some in sliced(ids, SLICE_OF_STEP)
        )
        try:
            for made in store.apply_parts(version, PROGRAM, _CARRY.format(parent), parts, len(ids)):
                yield made.done
        except Overtaken:
            overtaken = True


def _carried(store: Store, parent: int, version: int, ids: Sequence[str]) -> Changes:
    """What is carried over of these contexts; nothing of those that have notes in `version`."""
    states, there = store.changed_of(parent, ids), store.changed_of(version, ids)
    changes: dict[str, tuple[Curated, Curated]] = {}
    for context, (_, *endings) in store.assigned_of(version, ids).items():
        fresh, state = Curated(tuple(endings)), states[context]
        ranks = state.ranks if state.endings == fresh.endings else ()
        after = replace(state, endings=fresh.endings, ranks=ranks)
        if after != fresh and context not in there:
            changes[context] = fresh, after
    return changes
