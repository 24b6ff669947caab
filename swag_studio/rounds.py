"""The human work of one filter run: tasks, who judges them, what follows, and the next round.

It joins the pure rules (verification, allocation, checks, pay) to the tables. It knows no screen
and no model. Methods that go over all contexts read them in slices, so that 113,000 need little
memory; they take seconds, so a window asks for them in the background.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from swag_studio.allocation import OverlapPlan, Preview
from swag_studio.events import Progress
from swag_studio.judging import Adjudication, Annotator, Judgement, Task, Verdict
from swag_studio.plan import Assumptions
from swag_studio.policy import VerificationPolicy
from swag_studio.ratings import Ratings
from swag_studio.store import Store
from swag_studio.verification import Standing


@dataclass(frozen=True, slots=True)
class Worker:
    """How an annotator's work stands. `progress`: state (open, done, skipped, withdrawn) -> tasks.

    `entry` says whether the entry test is passed, None while it is not finished. `seconds` is the
    median active time of a judgement, NaN before the first; `hours` all of it. `earned` and
    `bonus` are money, `per_hour` what both come to in an hour (NaN before the first).
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
    """A context for the adjudicator: its undecided task, the judgements, and why."""

    task: Task
    judgements: tuple[Judgement, ...]
    verdict: Verdict


class HumanWork:
    """The human work of one filter run. Methods may be called from any thread."""

    def __init__(self, store: Store, filter_version: int, prepare_version: int, seed: int) -> None:
        self.store, self.version, self.prepare, self.seed = (
            store,
            filter_version,
            prepare_version,
            seed,
        )

    # --- settings: attributes that are read from the store and kept by `keep` ----------------
    # policy: VerificationPolicy, overlap: OverlapPlan, plan: Assumptions, pay: pay.Pay,
    # checks: checks.CheckRules, guidelines: str, count_simulated: bool

    @property
    def policy(self) -> VerificationPolicy:
        raise NotImplementedError

    @property
    def plan(self) -> Assumptions:
        raise NotImplementedError

    def keep(self, **settings: object) -> None:
        """Keeps settings by name: keep(policy=..., count_simulated=True)."""
        raise NotImplementedError

    # --- tasks -------------------------------------------------------------------------------

    def assigned(self, context_ids: Sequence[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Context -> (found ending, distractors by slot), as people left them; none if excluded."""
        raise NotImplementedError

    def open_first_round(
        self, count: int | None = None, contexts: Sequence[str] | None = None
    ) -> list[Task]:
        """Draws tasks for the next `count` contexts, or for these, and keeps them.

        Contexts that have work are passed over, so asking again goes on. None, None: all.
        """
        raise NotImplementedError

    def open_further_rounds(self) -> list[Task]:
        """Draws and keeps the next task of each context whose verdict is "reannotate"."""
        raise NotImplementedError

    def renew(self, context_ids: Sequence[str] | None = None) -> list[Task]:
        """After edits: new tasks for contexts whose tasks show an ending that is gone.

        The old tasks' open work is taken back; their judgements are kept and do not count. Work of
        excluded contexts is taken back too. New tasks are dealt to whoever has work, by the kept
        overlap plan.
        """
        raise NotImplementedError

    # --- who judges what ---------------------------------------------------------------------

    def allocate(
        self, plan: OverlapPlan, annotators: Sequence[str], preview: bool = False
    ) -> Preview:
        """Deals all tasks that want judges to these annotators (ids), and hidden checks to people.

        Returns what it means; with `preview` nothing is written. The plan is kept.
        """
        raise NotImplementedError

    def drop(self, annotator_id: str) -> int:
        """Drops an annotator; open and judged work goes to the others. Returns new allocations."""
        raise NotImplementedError

    def give_entry_test(self, annotator_id: str) -> list[Task]:
        """Puts the entry test into an annotator's queue, before any work; the same for all."""
        raise NotImplementedError

    def passed_entry(self, annotator_id: str) -> bool | None:
        """Whether the entry test is passed; None while it is not finished or was not given."""
        raise NotImplementedError

    def standings(self) -> list[Worker]:
        """How each annotator's work stands, by name."""
        raise NotImplementedError

    # --- what follows ------------------------------------------------------------------------

    def verdict(self, context_id: str) -> Verdict | None:
        """The verdict of a context; None where it has no task that counts, or is excluded."""
        raise NotImplementedError

    def verdicts(self, context_ids: Iterable[str] | None = None) -> Iterator[Verdict]:
        """The verdicts of all contexts that have tasks (or of these), by context id."""
        raise NotImplementedError

    def refresh(self, context_ids: Sequence[str] | None = None) -> list[Change]:
        """Brings the curators' table up to date; returns the rows that changed."""
        raise NotImplementedError

    def disagreements(self) -> Iterator[Disagreement]:
        """What waits for an adjudicator, by context id."""
        raise NotImplementedError

    def settle(self, adjudication: Adjudication) -> Verdict | None:
        """Keeps how a disagreement was settled; returns the verdict that follows."""
        raise NotImplementedError

    def ratings(self) -> Ratings:
        """The answers that count, as agreement.py and ratings.py take them."""
        raise NotImplementedError

    def sources(self) -> dict[str, str]:
        """Context -> its source file, of the contexts that were judged: for `by_source`."""
        raise NotImplementedError

    # --- simulated annotators ----------------------------------------------------------------

    def simulate(self, count: int, skill: float = 1.0) -> Iterator[Progress]:
        """Simulated annotators answer all that is open to them, round after round, to the end.

        They are made if they are not there, and get the tasks that are kept by the overlap plan.
        What they say counts only while the setting `count_simulated` is on.
        """
        raise NotImplementedError


__all__ = ["Change", "Disagreement", "HumanWork", "Worker"]
