"""Keeps what follows from people's doings up to date: new tasks after edits, rows after answers.

Edits and answers are written at once and alone. What follows from them is caught up with here, by
whoever has the time, from marks that are kept in the project: so it is not lost with a program that
ends in between. It knows no screen.
"""

from __future__ import annotations

from swag_studio.rounds import HumanWork

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
