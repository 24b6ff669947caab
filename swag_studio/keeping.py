"""Keeps what follows from people's doings up to date: new tasks after edits, rows after answers.

Edits and answers are written at once and alone. What follows from them is caught up with here, by
whoever has the time, from marks that are kept in the project: so it is not lost with a program that
ends in between. What curators noted in one run is carried over here to a run that goes on from it.
It knows no screen.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from swag_studio.connections import sliced
from swag_studio.reviewing import Curated
from swag_studio.rounds import HumanWork
from swag_studio.store import Store
from swag_studio.store_steps import SLICE_OF_STEP, Changes, Overtaken

PROGRAM = "SWAG Studio"  # who it is that carries notes over
_CARRY = "Carry notes over from run {}"

MARKS = "kept_up_to"  # [step of the log, moment of the last answer or adjudication] by run


def keep_up(work: HumanWork) -> frozenset[str]:
    """Deals edited contexts anew and brings the rows of judged ones up to date.

    Returns the tables that changed. Costs time for what is new since the last call only.
    """
    store, name = work.store, str(work.version)
    marks = store.people_setting(MARKS, {})
    batch, given = marks.get(name, [0, ""])
    edited, newest_batch = store.edited_since(work.version, batch)
    judged, newest_given = store.judged_since(work.version, given)
    changed: set[str] = set()
    if edited and work.renew(edited):
        changed |= {"tasks", "allocations"}
    touched = sorted({*edited, *judged})
    if touched and work.refresh(touched):
        changed.add("review_rows")
    if [newest_batch, newest_given] != [batch, given]:
        store.set_people_setting(MARKS, {**marks, name: [newest_batch, newest_given]})
    return frozenset(changed)


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
