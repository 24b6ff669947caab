"""What people were asked about one filter run, what follows from their answers, and the next round.

The first half of rounds.py: settings, tasks and verdicts; it does not say who judges. Methods that
go over all contexts read them in slices, so that 113,000 need little memory; they take seconds, so
a window asks for them in the background.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from swag_studio.allocation import OverlapPlan
from swag_studio.cases import Case, CaseReader
from swag_studio.checks import CheckRules
from swag_studio.connections import sliced
from swag_studio.dealing import spread
from swag_studio.judging import Adjudication, Judgement, Task, Verdict
from swag_studio.pay import Pay
from swag_studio.plan import Assumptions, Measured, measure
from swag_studio.policy import VerificationPolicy
from swag_studio.ratings import Ratings, collect
from swag_studio.recipe import checked_section
from swag_studio.records import folded
from swag_studio.store import Store
from swag_studio.verification import draw_task, next_task

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """A context whose verdict, round or count of judgements became another one."""

    context_id: str
    status: str
    verdict: str
    round: int
    judged: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A context for the adjudicator: its undecided task, the judgements of it, and why."""

    task: Task
    judgements: tuple[Judgement, ...]
    verdict: Verdict


class JudgedRun:
    """The tasks and verdicts of one filter run. Methods may be called from any thread."""

    def __init__(self, store: Store, filter_version: int, prepare_version: int, seed: int) -> None:
        self.store, self.version = store, filter_version
        self.prepare, self.seed = prepare_version, seed

    # --- settings ----------------------------------------------------------------------------

    @property
    def policy(self) -> VerificationPolicy:
        """The rules of verification."""
        return self._setting("policy", VerificationPolicy)

    @property
    def overlap(self) -> OverlapPlan:
        """By how many each task is judged: the plan that was allocated last."""
        return self._setting("overlap", OverlapPlan)

    @property
    def plan(self) -> Assumptions:
        """What a forecast rests on."""
        return self._setting("plan", Assumptions)

    @property
    def pay(self) -> Pay:
        """How work is paid."""
        return self._setting("pay", Pay)

    @property
    def checks(self) -> CheckRules:
        """Rules of the entry test and of hidden checks."""
        return self._setting("checks", CheckRules)

    @property
    def guidelines(self) -> str:
        """The annotators' guidelines; "" while nobody has changed the program's own."""
        return str(self.store.people_setting("guidelines", ""))

    @property
    def count_simulated(self) -> bool:
        """Whether answers of simulated annotators count."""
        return bool(self.store.people_setting("count_simulated", False))

    def keep(self, **settings: object) -> None:
        """Keeps settings by their names here: keep(policy=..., count_simulated=True)."""
        for name, value in settings.items():
            if not isinstance(getattr(JudgedRun, name, None), property):
                raise ValueError(f"there is no setting {name}")
            if dataclasses.is_dataclass(value):
                value = dataclasses.asdict(cast(Any, value))
            self.store.set_people_setting(name, value)

    def _setting(self, name: str, cls: type[T]) -> T:
        return cast(T, checked_section(cast(Any, cls), name, self.store.people_setting(name, {})))

    # --- contexts ----------------------------------------------------------------------------

    @cached_property
    def order(self) -> dict[str, int]:
        """Context -> its place in the order of work, by seed: groups are spread out evenly."""
        groups = self.store.filtered_groups(self.version, self.prepare)
        return {context: place for place, context in enumerate(spread(groups, self.seed))}

    @cached_property
    def _reader(self) -> CaseReader:
        texts = self.store.found_texts(self.prepare, ("val", "test"))
        return CaseReader(self.store, self.version, self.prepare, {folded(t) for t in texts})

    def cases(self, context_ids: Iterable[str] | None = None) -> Iterator[Case]:
        """All that people did on these contexts, in this order; on all that have tasks, by id."""
        ids = self.store.contexts_in_work(self.version) if context_ids is None else context_ids
        return self._reader.read(ids, self.count_simulated)

    def assigned(self, context_ids: Sequence[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Context -> (found ending, distractors by slot), as people left them; none if excluded."""
        return {
            case.context.id: (case.endings[0], case.endings[1:])
            for case in self.cases(context_ids)
            if not case.excluded
        }

    # --- tasks -------------------------------------------------------------------------------

    def open_first_round(
        self, count: int | None = None, contexts: Sequence[str] | None = None
    ) -> list[Task]:
        """Draws and keeps tasks for the next `count` contexts, or for these; without both for all.

        Contexts that have work are passed over, so asking again goes on in the order of work.
        """
        tasks = self.first_round(count, contexts)
        self.store.put_tasks(tasks)
        return tasks

    def first_round(
        self, count: int | None = None, contexts: Sequence[str] | None = None
    ) -> list[Task]:
        """The tasks that `open_first_round` would keep."""
        policy, tasks = self.policy, list[Task]()
        if count == 0:
            return tasks
        for case in self.cases(self.order if contexts is None else contexts):
            if not case.live and not case.excluded:
                tasks.append(self._first_task(case, policy))
            if len(tasks) == count:
                break
        return tasks

    def _first_task(self, case: Case, policy: VerificationPolicy) -> Task:
        return draw_task(case.context.id, case.endings, self.version, self.seed, policy)

    def open_further_rounds(self) -> list[Task]:
        """Draws and keeps the next task of each context whose verdict is "reannotate"."""
        policy, tasks = self.policy, list[Task]()
        for case in self.cases():
            found = case.verdict(policy, self.seed)
            if found and found.kind == "reannotate":
                tasks.append(next_task(case.live[found.round], found))
        self.store.put_tasks(tasks)
        return tasks

    # --- what follows ------------------------------------------------------------------------

    def verdict(self, context_id: str) -> Verdict | None:
        """The verdict of a context; None where it has no task that counts, or is excluded."""
        return next(self.verdicts([context_id]), None)

    def verdicts(self, context_ids: Iterable[str] | None = None) -> Iterator[Verdict]:
        """The verdicts of all contexts that have tasks, by context id; or of these."""
        policy = self.policy
        for case in self.cases(context_ids):
            if found := case.verdict(policy, self.seed):
                yield found

    def refresh(self, context_ids: Sequence[str] | None = None) -> list[Change]:
        """Brings the curators' table up to date; returns the rows that changed.

        Rows that the table lacks are left out: it is made before, or brought up to date after.
        Without `context_ids` it is all rows, for what all verdicts rest on became another: then
        those of other runs are `overdue`.
        """
        if context_ids is not None:
            return [row for part in self.refreshing(context_ids) for row in part]
        times = all_due(self.store)
        changed = [row for part in self.refreshing() for row in part]
        self.refreshed(times)
        return changed

    def refreshing(self, context_ids: Iterable[str] | None = None) -> Iterator[list[Change]]:
        """As `refresh`, some hundreds of contexts at a time; the rules may change between."""
        if context_ids is None:
            context_ids = list(self.store.contexts_in_work(self.version))
        for part in sliced(context_ids, _WRITTEN):
            with self.store.deriving:
                policy = self.policy
                changed = self._write([self._change(case, policy) for case in self.cases(part)])
            yield changed

    @property
    def overdue(self) -> int:
        """The number of the last time that all rows of all runs were due; 0 if those here are done.

        They are done once `refreshed` has the number.
        """
        times = self.store.people_setting(_REFRESHED, {})
        due = int(times.get("", 0))
        return due if times.get(str(self.version), 0) != due else 0

    def refreshed(self, number: int) -> None:
        """Notes that all rows are as they were due then."""
        self.store.change_people_setting(
            _REFRESHED, {}, lambda times: {**times, str(self.version): number}
        )

    def _change(self, case: Case, policy: VerificationPolicy) -> Change:
        found = case.verdict(policy, self.seed)
        kind, round = (found.kind, found.round) if found else ("open", 0)
        return Change(case.context.id, case.status(found), kind, round, len(case.judgements))

    def _write(self, rows: Sequence[Change]) -> list[Change]:
        """Writes the rows that differ from the table's; returns them."""
        before = self.store.review_verdicts(self.version, [r.context_id for r in rows])
        new = [r for r in rows if before.get(r.context_id) not in (None, _row(r)[1:])]
        self.store.set_review_verdicts(self.version, [_row(r) for r in new])
        return new

    # --- disagreements -----------------------------------------------------------------------

    def disagreements(self) -> Iterator[Disagreement]:
        """What waits for an adjudicator, by context id."""
        policy = self.policy
        for case in self.cases():
            found = case.verdict(policy, self.seed)
            if found and found.kind == "adjudicate":
                task = case.live[found.round]
                answers = tuple(j for j in case.judgements if j.task_id == task.id)
                yield Disagreement(task, answers, found)

    def settle(self, adjudication: Adjudication) -> Verdict | None:
        """Keeps how a disagreement was settled; returns the verdict that follows.

        Raises ValueError for an answer that is not complete, or a task that is not there.
        """
        task = self.store.task(adjudication.task_id)
        if task is None:
            raise ValueError(f"there is no task {adjudication.task_id}")
        self.store.adjudicate(adjudication)
        self.refresh([task.context_id])
        return self.verdict(task.context_id)

    # --- for agreement and plan --------------------------------------------------------------

    def ratings(self) -> Ratings:
        """The answers that count, as agreement.py and ratings.py take them."""
        people = [a for a in self.store.annotators() if a.active]
        tasks, answers = dict[str, Task](), list[Judgement]()
        for task, judgement in self.store.answers():
            if task.kind == "work" and task.context_id in self.order:
                tasks[task.id] = task
                answers.append(judgement)
        return collect(answers, tasks, people, self.count_simulated)

    def sources(self, context_ids: Iterable[str] | None = None) -> dict[str, str]:
        """Context -> the name of its source file, of these or all that have tasks."""
        files = {source.id: source.file for source in self.store.sources()}
        return {
            case.context.id: files.get(case.context.source_id, case.context.source_id)
            for case in self.cases(context_ids)
        }

    def measured(self) -> Measured:
        """What was counted so far, as a forecast takes it."""
        policy, seconds = self.policy, list[float]()

        def verdicts() -> Iterator[Verdict]:
            for case in self.cases():
                if verdict := case.verdict(policy, self.seed):
                    seconds.extend(j.seconds for j in case.judgements)
                    yield verdict

        # `measure` reads the seconds last, when all verdicts have passed.
        return measure(verdicts(), seconds, policy.further_rounds)


# A setting: how often the rows of all runs were due, under "", and by run which time was done.
_REFRESHED = "refreshed"
_WRITTEN = 500  # rows of the curators' table that are compared and written together


def all_due(store: Store) -> int:
    """Notes that all rows of all runs are due, and which time that is."""
    times = store.change_people_setting(
        _REFRESHED, {}, lambda times: {**times, "": times.get("", 0) + 1}
    )
    return int(times[""])


def _row(change: Change) -> tuple[str, str, str, int, int]:
    c = change
    return c.context_id, c.status, c.verdict, c.round, c.judged
