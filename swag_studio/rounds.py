"""The human work of one filter run: who judges what, tests and checks, and how each worker stands.

With judged.py, its first half, it joins the pure rules (verification, dealing, checks, pay) to the
tables. It knows no screen and no model.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import secrets
import statistics
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Literal

from swag_studio import simulation
from swag_studio.allocation import OverlapPlan, Pair, Preview
from swag_studio.allocation import preview as preview_of
from swag_studio.cases import Case
from swag_studio.checks import make_check, passed, passes, strewn
from swag_studio.connections import sliced
from swag_studio.dealing import Given, Wanted, deal
from swag_studio.errors import ProjectError, StageError
from swag_studio.events import Progress
from swag_studio.judged import Change, Disagreement, JudgedRun
from swag_studio.judging import Annotator, Judgement, Task
from swag_studio.pay import account
from swag_studio.records import Ending
from swag_studio.store_people import now
from swag_studio.store_rounds import SLICE_OF_CONTEXTS
from swag_studio.verification import Standing, ranks_found, worker_standing

__all__ = ["Change", "Disagreement", "HumanWork", "Worker"]

ANSWERS = 250  # simulated answers that are written together

CheckKind = Literal["test", "check"]
Check = tuple[Task, list[Ending]]  # with the endings that were made for it


@dataclass(frozen=True, slots=True)
class Worker:
    """How an annotator's work stands. `progress`: state (open, done, skipped, withdrawn) -> tasks.

    `entry` says whether the entry test is passed, None while it is not finished. `seconds` is the
    median active time of a judgement, NaN before the first; `hours` all of it. `earned` and
    `bonus` are money, `per_hour` what both come to in an hour, NaN before the first.
    """

    annotator: Annotator
    progress: Mapping[str, int]
    standing: Standing
    judged: int
    checks: int
    checks_passed: int
    entry: bool | None
    seconds: float
    hours: float
    earned: float
    bonus: float
    per_hour: float


@dataclass(slots=True)
class _Tally:
    """What is counted of one annotator's answers. `outcomes`: kind of check -> passed or not."""

    top2: int = 0
    rated: int = 0
    outcomes: dict[str, list[bool]] = field(default_factory=lambda: {"test": [], "check": []})
    seconds: array[float] = field(default_factory=lambda: array("d"))


class HumanWork(JudgedRun):
    """The human work of one filter run. Methods may be called from any thread."""

    # --- who judges what ---------------------------------------------------------------------

    def allocate(
        self,
        plan: OverlapPlan,
        annotators: Sequence[str],
        preview: bool = False,
        more: Sequence[Task] = (),
    ) -> Preview:
        """Deals all tasks that want judges to these annotators (ids), and hidden checks to people.

        Returns what it means, hidden checks not counted; with `preview` nothing is written. The
        plan is kept. People and simulated annotators stand in for each other only where both
        count. `more` are first tasks that are not kept yet, for a preview that has them as well.
        """
        with nullcontext() if preview else self.store.deriving:
            given = self._given({a.kind for a in self.store.annotators() if a.id in annotators})
            wanted = [w for case in self.cases() for w in self._wanted(case)]
            wanted += [Wanted(0, self.order[t.context_id], t.id, t.context_id) for t in more]
            wanted.sort()
            new = deal(wanted, annotators, plan, self.seed, given)
            if not preview:
                self.keep(overlap=plan)
                self._hand_out(new, wanted, given)
        firsts = sum(w.round == 0 for w in wanted)
        plan = dataclasses.replace(plan, first=min(plan.first, firsts))
        return preview_of(
            [w.task_id for w in wanted], annotators, plan, [g.pair for g in given], new
        )

    def drop(self, annotator_id: str) -> int:
        """Drops an annotator: open and judged work goes to the others who are at work.

        Returns how much was dealt anew. What they answered is kept, and counts again once they
        are made active.
        """
        with self.store.deriving:
            annotator = self.annotator(annotator_id)
            given = self._given({annotator.kind})
            self.store.put_annotator(dataclasses.replace(annotator, active=False))
            self.store.withdraw(annotator_id)
            wanted = [w for case in self.cases() for w in self._wanted(case)]
            others = self._at_work(given)
            new = deal(wanted, others, self.overlap, self.seed, given, annotator_id)
            return self._hand_out(new, wanted, given)

    def renew(self, context_ids: Sequence[str] | None = None) -> list[Task]:
        """After edits: new tasks for contexts whose task shows an ending that is gone.

        Open work on what is obsolete or excluded is taken back; its judgements are kept and do not
        count. Where work had been given out, the new tasks, and those of contexts that are no
        longer excluded, are dealt to whoever is at work, by the kept plan. Returns the new tasks.
        """
        return [task for part in self.renewing(context_ids) for task in part]

    def renewing(self, context_ids: Sequence[str] | None = None) -> Iterator[list[Task]]:
        """As `renew`; yields nothing after each some hundreds of contexts, and all at the end."""
        tasks, gone, back = list[Task](), list[str](), list[Wanted]()
        for place, case in enumerate(self.cases(context_ids)):
            if place % SLICE_OF_CONTEXTS == 0:
                yield []
                policy = self.policy
            gone += [task.id for task in case.obsolete]
            if case.excluded:
                gone += [task.id for task in case.live]
                continue
            if case.obsolete and not case.live:
                case = dataclasses.replace(case, live=(self._first_task(case, policy),))
                tasks += case.live
            if case.asked:
                back += [w for w in self._wanted(case) if not case.waited.get(w.task_id)]
        with self.store.deriving:
            self.store.put_tasks(tasks)
            self.store.withdraw_tasks(gone)
            if back:
                given = self._given()
                # All of it may have been taken back, as when everything was excluded by mistake.
                workers = self._at_work(given) or self._at_work(self._given(withdrawn=True))
                new = deal(back, workers, self.overlap, self.seed, given)
                self._hand_out(new, back, given)
        yield tasks

    def add(self, name: str) -> Annotator:
        """A new annotator, a person. Raises ProjectError for a name that is empty or taken."""
        if not (name := " ".join(name.split())):
            raise ProjectError("An annotator needs a name.")
        person = Annotator(f"a{secrets.token_hex(11)}", name, created=now())
        self.store.put_annotator(person)
        return person

    def annotator(self, annotator_id: str) -> Annotator:
        """An annotator by id. Raises ProjectError where there is none."""
        for annotator in self.store.annotators():
            if annotator.id == annotator_id:
                return annotator
        raise ProjectError("This project has no such annotator. Add them first.")

    def _wanted(self, case: Case) -> Iterator[Wanted]:
        """The tasks of a case that may want judges."""
        for task in () if case.excluded else case.live:
            seen = task.round > 0 or bool(case.obsolete)
            yield Wanted(task.round, self.order[task.context_id], task.id, task.context_id, seen)

    def _given(self, kinds: Set[str] = frozenset(), withdrawn: bool = False) -> list[Given]:
        """What annotators of these kinds, or of all, have; what was taken back only if asked."""
        active = {
            a.id
            for a in self.store.annotators()
            if a.active and (a.kind in kinds or not kinds or self.count_simulated)
        }
        rows = (Given(*row) for row in self.store.given_out())
        return [
            g for g in rows if g.annotator_id in active and (withdrawn or g.state != "withdrawn")
        ]

    def _at_work(self, given: Iterable[Given]) -> list[str]:
        """The annotators who have work and were not dropped."""
        active = {a.id for a in self.store.annotators() if a.active}
        return sorted({g.annotator_id for g in given} & active)

    def _hand_out(
        self, new: Sequence[Pair], wanted: Iterable[Wanted], given: Iterable[Given]
    ) -> int:
        """Keeps new work, with hidden checks strewn among that of people; returns how much."""
        people = {a.id for a in self.store.annotators() if a.kind == "person"}
        contexts = {w.task_id: w.context_id for w in wanted}
        known: dict[str, set[str]] = {}
        for g in given:
            known.setdefault(g.annotator_id, set()).add(g.context_id)
        for task, who in new:
            known.setdefault(who, set()).add(contexts[task])
        pairs: list[Pair] = []
        for who in dict.fromkeys(who for _, who in new):
            own = [task for task, other in new if other == who]
            share = self.checks.share if who in people else 0.0
            after = set(strewn(share, self.seed, who, own))
            checks = itertools.islice(self._checks("check", known[who]), len(after))
            for place, task in enumerate(own):
                pairs.append((task, who))
                if place in after and (check := next(checks, None)):
                    pairs.append((self._keep_check(check), who))
        return self.store.allocate(pairs)

    # --- tests and checks --------------------------------------------------------------------

    def give_entry_test(self, annotator_id: str) -> list[Task]:
        """Puts the entry test at the end of an annotator's queue; all get the same items.

        So it is given before work is. Raises StageError where too few contexts are left for it.
        """
        self.annotator(annotator_id)
        tests = self.store.test_tasks(self.version)
        if not tests:
            count = self.checks.items
            used = {context for _, context, _, _ in self.store.given_out()}
            made = list(itertools.islice(self._checks("test", used), count))
            if len(made) < count:
                raise StageError(
                    f"Only {len(made)} contexts are left for an entry test of {count} items. Ask "
                    "for fewer items, or give the test before the work."
                )
            for check in made:
                self._keep_check(check)
            tests = self.store.test_tasks(self.version)
        self.store.allocate((task.id, annotator_id) for task in tests)
        return tests

    def passed_entry(self, annotator_id: str) -> bool | None:
        """Whether the entry test is passed; None while it is not finished or was not given."""
        answers = self.store.answers(annotator_id)
        rule = self.checks.rule
        return self._entry([passes(j, t.key, rule) for t, j in answers if t.kind == "test"])

    def _entry(self, outcomes: Sequence[bool]) -> bool | None:
        items = len(self.store.test_tasks(self.version))
        return passed(outcomes, self.checks) if items and len(outcomes) >= items else None

    def _checks(self, kind: CheckKind, known: Set[str]) -> Iterator[Check]:
        """Checks from contexts that are not `known`, the last in the order of work first."""
        ids = (context for context in reversed(self.order) if context not in known)
        for case in self.cases(ids):
            endings = self.store.endings_by_id(case.endings)
            made = make_check(kind, [endings[e] for e in case.endings], self.version, self.seed)
            if made and not case.excluded:
                yield made

    def _keep_check(self, check: Check) -> str:
        task, endings = check
        self.store.put_endings(endings)
        self.store.put_tasks([task])
        return task.id

    # --- how they stand ----------------------------------------------------------------------

    def standings(self) -> list[Worker]:
        """How each annotator's work stands, by name, dropped ones too."""
        tallies: dict[str, _Tally] = {}
        rule = self.checks.rule
        for who, kind, round, best, second, seconds in self.store.answer_figures():
            tally = tallies.setdefault(who, _Tally())
            tally.seconds.append(seconds)
            if (hit := ranks_found(kind, round, best, second)) is not None:
                tally.top2, tally.rated = tally.top2 + hit, tally.rated + 1
        for task, judgement in self.store.answers(checks=True):
            outcomes = tallies.setdefault(judgement.annotator_id, _Tally()).outcomes
            outcomes[task.kind].append(passes(judgement, task.key, rule))
        people = self.store.annotators()
        return [self._worker(person, tallies.get(person.id, _Tally())) for person in people]

    def _worker(self, annotator: Annotator, tally: _Tally) -> Worker:
        standing = worker_standing(tally.top2, tally.rated, self.policy)
        judged, seconds = len(tally.seconds), math.fsum(tally.seconds)
        money = account(judged, seconds, standing.rate, standing.n, self.pay)
        checks = tally.outcomes["check"]
        return Worker(
            annotator=annotator,
            progress=self.store.progress_of(annotator.id),
            standing=standing,
            judged=judged,
            checks=len(checks),
            checks_passed=sum(checks),
            entry=self._entry(tally.outcomes["test"]),
            seconds=statistics.median(tally.seconds) if judged else math.nan,
            hours=seconds / 3600,
            earned=money.earned,
            bonus=money.bonus,
            per_hour=money.per_hour,
        )

    # --- simulated annotators ----------------------------------------------------------------

    def simulate(self, count: int, skill: float = 1.0) -> Iterator[Progress]:
        """Simulated annotators answer all that is open to them, round after round.

        They are made if they are not there, and get tasks by the kept overlap plan. Further rounds
        follow only while the setting `count_simulated` is on, since nothing follows from answers
        that do not count. Each Progress tells of what is on the disk.
        """
        crew = simulation.crew(count, self.seed, skill, now())
        there = {a.id for a in self.store.annotators()}
        for member in crew:
            if member.annotator.id not in there:
                self.store.put_annotator(member.annotator)
        ids = [member.annotator.id for member in crew]
        done, further = 0, True
        while further:
            self.allocate(self.overlap, ids)
            total = done + sum(self.store.progress_of(who).get("open", 0) for who in ids)
            yield Progress("simulate", done, total, "judgements")
            for member in crew:
                for tasks in sliced(self.store.open_tasks(member.annotator.id), ANSWERS):
                    self.store.add_judgements(self._simulated(member, task) for task in tasks)
                    done += len(tasks)
                    yield Progress("simulate", done, total, "judgements")
            further = self.count_simulated and bool(self.open_further_rounds())
        self.refresh()

    def _simulated(self, member: simulation.Simulated, task: Task) -> Judgement:
        return simulation.simulate(task, member.annotator, member.skill, self.seed)
