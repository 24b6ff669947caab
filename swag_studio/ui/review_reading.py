"""What the detail view shows of one context, as records, and how it is read.

`read` asks the store alone and is quick; `read_beside` asks the pool and the run's files, which a
large project takes longer for, and which may be gone. Both are for the reading thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swag_studio.curating import Where, drafts, order
from swag_studio.errors import ProjectError
from swag_studio.project import Project
from swag_studio.records import Ending, folded
from swag_studio.reviewing import Curated, Edit, ReviewFilter, ReviewRow
from swag_studio.store import Store
from swag_studio.ui.review_table import Ids
from swag_studio.ui.words import count
from swag_studio.ui.workspace import Jobs
from swag_studio.views import PoolReader, Slot, WatchReader

ROWS = 60  # rows that are read with the ids, on each side of the one that is looked at
_COLUMNS = ("status", "verdict", "source", "split", "fold")  # that filters choose from


@dataclass(frozen=True, slots=True)
class Shown:
    """One ending. `place` counts distractors from 0, -1 is the found one; `score` is None where
    the ensemble has not seen the text; `parent` is the text that it was edited from."""

    place: int
    ending: Ending
    score: float | None = None
    parent: str = ""

    @property
    def found(self) -> bool:
        return self.place < 0

    @property
    def name(self) -> str:
        """As lists and the log call it."""
        return "✓ found" if self.found else f"Ending {self.place + 1}"


@dataclass(frozen=True, slots=True)
class Judged:
    """What one annotator said of one ending; `choice` is "best", "second best" or empty."""

    annotator: str
    round: int
    ending: str
    text: str
    label: str
    choice: str


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that a step changed; `place` and `ending` (an id) where that can be put back."""

    at: str
    who: str
    what: str
    before: str
    after: str
    place: int = -1
    ending: str = ""


@dataclass(frozen=True)
class Detail:
    """A context and all that people made of it."""

    row: ReviewRow
    state: Curated
    found: Shown
    endings: tuple[Shown, ...]  # by place
    judged: tuple[Judged, ...] = ()
    log: tuple[Line, ...] = ()  # newest first

    @property
    def ranked(self) -> list[Shown]:
        """The distractors by rank."""
        return [self.endings[place] for place in order(self.state)]


@dataclass(frozen=True)
class Beside:
    """What the pool and the run's files say. `features` are by the folded text of an ending."""

    names: tuple[str, ...] = ()
    features: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    slots: Mapping[int, Slot] = field(default_factory=dict)  # by place
    trouble: str = ""


def read(store: Store, version: int, row: ReviewRow) -> Detail:
    """All of a context that is in the store."""
    assigned = store.assigned_to(version, row.context_id)
    state = store.curated(version, row.context_id)
    edits = store.edits(context_id=row.context_id, version=version)
    answers = store.answers_to(version, row.context_id)
    scores = {ending.id: score for _, ending, score in assigned}
    parents = store.parents_of(state.endings)
    known = {*state.endings, *parents.values()}
    known.update(id for edit in edits for s in (edit.before, edit.after) for id in s.endings)
    known.update(id for task, _ in answers for id in task.endings)
    endings = {e.id: e for _, e, _ in assigned} | store.endings_by_id(sorted(known))
    found = next(ending for slot, ending, _ in assigned if slot == 0)
    names = names_of(store)
    places = {id: place for place, id in enumerate(state.endings)}
    judged = []
    for task, answer in answers:
        for at, (id, label) in enumerate(zip(task.endings, answer.labels, strict=True)):
            choice = {answer.best: "best", answer.second: "second best"}.get(at, "")
            where = "✓ found" if id == found.id else _numbered(places.get(id))
            who = names.get(answer.annotator_id, answer.annotator_id)
            judged.append(Judged(who, task.round, where, endings[id].text, label, choice))
    shown = tuple(
        Shown(
            place,
            endings[id],
            scores.get(id),
            endings[parents[id]].text if id in parents else "",
        )
        for place, id in enumerate(state.endings)
    )
    lines = [line for edit in edits for line in lines_of(edit, endings)]
    first = Shown(-1, found, scores[found.id])
    return Detail(row, state, first, shown, tuple(judged), tuple(reversed(lines)))


def _numbered(place: int | None) -> str:
    return "replaced since" if place is None else f"Ending {place + 1}"


def lines_of(edit: Edit, endings: Mapping[str, Ending]) -> list[Line]:
    """What a step changed of a context, thing by thing."""
    before, after, batch = edit.before, edit.after, edit.batch
    back = " (undo or redo)" if batch.undoes else ""
    lines = [
        Line(
            batch.at,
            batch.who,
            f"Ending {place + 1}{back}",
            endings[old].text,
            endings[new].text,
            place,
            old,
        )
        for place, (old, new) in enumerate(zip(before.endings, after.endings, strict=True))
        if old != new
    ]
    for what, old, new in (
        ("Order", _order(before), _order(after)),
        ("Flags", ", ".join(before.flags), ", ".join(after.flags)),
        ("Comment", before.comment, after.comment),
        ("Excluded", _yes(before.excluded), _yes(after.excluded)),
    ):
        if old != new:
            lines.append(Line(batch.at, batch.who, what + back, old, new))
    return lines


def _order(state: Curated) -> str:
    return " ".join(str(place + 1) for place in order(state))


def _yes(value: bool) -> str:
    return "yes" if value else "no"


@dataclass(frozen=True)
class About:
    """What is read of a version beside its rows: what its filters can offer, and what waits."""

    values: Mapping[str, list[tuple[Any, int]]]  # column -> (value, contexts)
    files: Mapping[str, str]  # source -> file
    people: tuple[tuple[str, str], ...]  # annotator, name
    work: Mapping[int, tuple[int, int]]  # version -> contexts changed, judged
    drafts: Mapping[Where, str]

    @property
    def total(self) -> int:
        """All contexts of the version."""
        return sum(contexts for _, contexts in self.values["split"])


def read_about(store: Store, version: int) -> About:
    """What the store says of a version as a whole."""
    return About(
        {name: store.review_values(version, name) for name in _COLUMNS},
        {source.id: source.file for source in store.sources()},
        tuple(names_of(store).items()),
        store.human_work(),
        drafts(store),
    )


@dataclass(frozen=True)
class Listed:
    """Rows that a filter shows: all their ids in order, and those around the one to look at."""

    ids: Ids
    around: list[ReviewRow]
    looked_at: int  # an id; -1 for none


def read_listed(
    store: Store,
    version: int,
    narrow: ReviewFilter,
    order: tuple[str, bool],
    look_at: tuple[str, int, int],
) -> Listed:
    """`order` is a field and whether it descends; `look_at` a context that is wanted or "", else
    the id of a row, else a place."""
    wanted, looked_at, place = look_at
    if wanted:
        looked_at = store.review_id(version, wanted) or -1
    ids = store.review_ids(version, narrow, *order)
    there = (ids == looked_at).nonzero()[0]
    at = int(there[0]) if len(there) else min(place, max(0, len(ids) - 1))
    around = store.review_rows(ids[max(0, at - ROWS) : at + ROWS].tolist())
    return Listed(ids, around, looked_at)


def names_of(store: Store) -> dict[str, str]:
    """Annotator -> name; who is simulated is marked so."""
    return {
        a.id: a.name + (" (simulated)" if a.kind == "simulated" else "") for a in store.annotators()
    }


def human_work_of(work: Mapping[int, tuple[int, int]]) -> str:
    """What people did on older runs, in words; a newer run begins without it."""
    parts = [
        f"run {version} has {count(changed, 'context')} changed and {judged:,} judged"
        for version, (changed, judged) in sorted(work.items())
    ]
    told = "; ".join(parts)
    return f"Human work stands on older runs of the filter and stays there: {told}."


class Readers:
    """The readers of a project's pool and of one run at a time; for the reading thread."""

    def __init__(self, jobs: Jobs, project: Project) -> None:
        self._jobs, self._project = jobs, project
        self._pool: PoolReader | None = None
        self._watch: WatchReader | None = None

    def pool(self) -> PoolReader:
        """The pool; ProjectError where there is none any more."""
        if self._pool is None:
            self._pool = self._jobs.pool(self._project)
        return self._pool

    def watch(self, version: int) -> WatchReader:
        """A filter version's files; ProjectError where they are gone."""
        if self._watch is None or self._watch.version != version:
            self._watch = self._jobs.watch(self._project, version)
        return self._watch


def read_beside(readers: Readers, version: int, context_id: str) -> Beside:
    """Features from the pool and history from the run, each where it is there."""
    names: tuple[str, ...] = ()
    features: dict[str, tuple[float, ...]] = {}
    slots: dict[int, Slot] = {}
    troubles = []
    try:
        pool = readers.pool()
        names, place = pool.feature_names, pool.place_of(context_id)
        if place is not None:
            features = {folded(e.text): e.features for e in reversed(pool.endings(place))}
    except ProjectError as error:
        troubles.append(str(error))
    try:
        watch = readers.watch(version)
        place = watch.place_of(context_id)
        if place is not None:
            slots = {slot.slot: slot for slot in watch.slots(place, watch.iterations())}
    except ProjectError as error:
        troubles.append(str(error))
    return Beside(names, features, slots, " ".join(dict.fromkeys(troubles)))
