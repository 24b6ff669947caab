"""What pages show of releases: what one would hold, what written ones hold, how two differ.

A rehearsal does what `publish` does, but in a temporary folder that is gone afterwards: the
project is only read.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from swag_studio.engine import released
from swag_studio.engine.publish import Publication
from swag_studio.engine.release_diff import ORDER, Change, compare
from swag_studio.events import Event, Finished
from swag_studio.project import Project
from swag_studio.records import SPLITS, Question
from swag_studio.releases import ReleaseError, ReleaseOptions
from swag_studio.views import Comparison, Difference, Outlook, Rehearsal, ShownQuestion

STAGE = "rehearse"
FIRST = 8  # questions of each split that are shown
MOST = 2_000  # differences that are shown

Key = tuple[str, str]  # context and kind: what makes questions of two releases the same


# --- before a release ------------------------------------------------------------------------


class _Rehearsed(Publication):
    """A release that is not going to be written."""

    stage = STAGE

    def chosen(self) -> Iterator[Event]:
        """As `choose`; that there are no questions is told by their number alone."""
        with suppress(ReleaseError):
            yield from self.choose()

    @property
    def outlook(self) -> Outlook:
        apart = {Path(name).stem: number for name, number in self.extras.items()}
        counts = self.figures.counts() | apart  # surprising, preferences
        contexts = self.figures.contexts + self.figures.left_out.total()
        people = self.figures.people() | {"feedback_by": self.feedback["by"]}
        return Outlook(contexts, counts, people)


@contextmanager
def _rehearsed(project: Project, options: ReleaseOptions) -> Iterator[_Rehearsed]:
    with tempfile.TemporaryDirectory(prefix="swag-studio-") as folder:
        yield _Rehearsed(project, options, Path(folder))


def outlook(project: Project, options: ReleaseOptions) -> Outlook:
    """What a release with these options would hold. Goes over all contexts of the run.

    Raises ProjectError without a run of the filter, ReleaseError where its policy does not fit.
    """
    with _rehearsed(project, options) as release:
        for _ in release.chosen():
            pass
        return release.outlook


def rehearse(project: Project, options: ReleaseOptions) -> Iterator[Event]:
    """All that `publish` does before it writes. The summary holds a "rehearsal": Rehearsal."""
    with _rehearsed(project, options) as release:
        yield from release.chosen()
        report = yield from release.look()
        problems = tuple(problem.to_dict() for problem in report.problems)
        first = tuple(first_of(release.spool))
        result = Rehearsal(release.outlook, problems, report.continued, first)
    yield Finished(STAGE, {"rehearsal": result})


# --- after it ------------------------------------------------------------------------------------


def first_of(questions: Iterable[Question], each: int = FIRST) -> list[ShownQuestion]:
    """The first questions of each split, split by split; reads no further than it must."""
    found: dict[str, list[ShownQuestion]] = {split: [] for split in SPLITS}
    for shown in _shown(questions):
        if len(found[shown.split]) < each:
            found[shown.split].append(shown)
            if all(len(rows) == each for rows in found.values()):
                break
    return [shown for rows in found.values() for shown in rows]


def compared(first: Path, second: Path) -> Comparison:
    """Two written releases. Raises ProjectError when one is none, or is damaged."""
    diff = compare(first, second)
    moved = (ORDER,)  # one question more, and the places of all are drawn anew
    changes: list[tuple[Literal["added", "removed", "changed"], Change]] = [
        *(("added", change) for change in diff.added),
        *(("removed", change) for change in diff.removed),
        *(("changed", change) for change in sorted(diff.changed, key=lambda c: c.what == moved)),
    ]
    told = changes[:MOST]
    keys = {_key(change) for _, change in told}
    before, after = (_texts(folder, keys) if keys else {} for folder in (first, second))
    return Comparison(
        names=diff.names,
        words=tuple(diff.words()),
        differences=tuple(
            Difference(how, change.what, before.get(_key(change)), after.get(_key(change)))
            for how, change in told
        ),
        total=len(changes),
    )


def _key(change: Change) -> Key:
    return change.context, change.gold_source


def _texts(folder: Path, keys: Container[Key]) -> dict[Key, ShownQuestion]:
    shown = _shown(released.questions(folder))
    return {key: q for q in shown if (key := (q.context_id, q.gold_source)) in keys}


def _shown(questions: Iterable[Question]) -> Iterator[ShownQuestion]:
    rows: Counter[str] = Counter()
    for q in questions:
        yield ShownQuestion(
            split=q.split,
            row=rows[q.split],
            context_id=q.context_id,
            video_id=q.video_id,
            start=f"{q.sent1} {q.sent2}",
            endings=q.endings,
            label=q.label,
            gold_source=q.gold_source,
            verified=q.verified,
        )
        rows[q.split] += 1
