"""What the Agreement page shows, read from the human work of a filter run in the reading thread.

It knows no widget. What people do elsewhere is seen at the next look: everything is read anew, or,
of the overview, what has changed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from swag_studio import agreement as agreeing
from swag_studio.agreement import Agreement, PairMatrix, Period, WithOthers
from swag_studio.allocation import OverlapPlan, Preview
from swag_studio.cases import Case
from swag_studio.events import Changed, Event, Finished
from swag_studio.judging import Annotator, Verdict
from swag_studio.keeping import keeping_up
from swag_studio.lineage import ancestor, filter_run, filter_runs
from swag_studio.plan import Assumptions, Measured, measure
from swag_studio.policy import VerificationPolicy
from swag_studio.project import Project
from swag_studio.ratings import MEASURES, Frequencies, Measure, Ratings, collect, frequencies
from swag_studio.recipe import from_toml
from swag_studio.records import Artifact, Context
from swag_studio.rounds import Disagreement, HumanWork, Worker

Who = Literal["people", "simulated", "both"]
PERIODS = 10
PULL = 0.2  # seconds of keeping up between other readings
MOST_TIES = 200  # settled ones make room for the next


# --- the work ------------------------------------------------------------------------------------


def human_work(project: Project, run: Artifact) -> HumanWork:
    """The human work of a filter run, with the seed that it was made with."""
    prepared = ancestor(project, run, "prepare")
    seed = from_toml(run.recipe).run.seed
    return HumanWork(project.store, run.version, prepared.version if prepared else 0, seed)


class KeepingUp:
    """Catches up with what follows from answers and edits, in all runs, a moment at a time.

    In the run that people work on edited contexts are dealt anew; of all others the curators'
    rows are kept true. To be pulled in one thread.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._works: dict[int, HumanWork] = {}  # kept: each knows what it read of its contexts
        self._going: Iterator[frozenset[str]] | None = None
        self._changed: frozenset[str] = frozenset()
        self._behind = False

    def pull(self, behind: bool) -> frozenset[str] | None:
        """Goes on for a moment; `behind` says that there may be something new since the last one.

        At the end it returns the tables that changed, and before it None.
        """
        self._behind |= behind
        until = time.monotonic() + PULL
        while self._going is not None or self._behind:
            if self._going is None:
                self._behind, self._going = False, self._all()
            tables = next(self._going, None)
            if tables is None:
                self._going = None
            else:
                self._changed |= tables
            if time.monotonic() > until:
                return None
        changed, self._changed = self._changed, frozenset()
        return changed

    def _all(self) -> Iterator[frozenset[str]]:
        current = filter_run(self._project)
        at_work = current.version if current else 0
        for run in sorted(filter_runs(self._project), key=lambda run: run.version != at_work):
            if run.version not in self._works:
                self._works[run.version] = human_work(self._project, run)
            yield from keeping_up(self._works[run.version], dealing=run.version == at_work)


@dataclass(frozen=True, slots=True)
class Giving:
    """What is to be given out. `contexts` are further ones; `checks` the share of hidden ones."""

    contexts: int
    plan: OverlapPlan
    annotators: tuple[str, ...]
    checks: float
    entry: bool  # the entry test first, for those who have not had it


@dataclass(frozen=True, slots=True)
class Simulation:
    """What is to be simulated. `contexts` have work in the end, as far as there are so many."""

    annotators: int
    skill: float  # 0 to 1
    contexts: int
    plan: OverlapPlan


# --- overview ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Overview:
    """How the verification stands. `kinds`: kind of verdict -> contexts that have work."""

    contexts: int  # with distractors, in the filter run
    judged: int  # whose first round is over
    kinds: Mapping[str, int]
    workers: tuple[Worker, ...]
    measured: Measured
    plan: Assumptions
    simulated: bool  # whether simulated annotators' answers count

    @property
    def begun(self) -> int:
        """Contexts that have work."""
        return self.measured.begun

    @property
    def people(self) -> list[Worker]:
        """Those at work who are not simulated."""
        return [w for w in self.workers if w.annotator.active and w.annotator.kind == "person"]

    @property
    def open(self) -> int:
        """Tasks that wait for people."""
        return sum(w.progress.get("open", 0) for w in self.people)


Part = tuple[Verdict | None, tuple[float, ...]]
"""What one context adds: its verdict, without what is in words, and the seconds of its answers."""
NOTHING: Part = (None, ())


class OverviewReader:
    """Reads the overview again and again: each time only the contexts whose work changed.

    The first look goes over all that have work: half a minute, where there are 100,000.
    """

    def __init__(self, work: HumanWork) -> None:
        self._work = work
        self._rules: object = None  # what every verdict rests on
        self._parts: dict[str, tuple[object, Part]] = {}  # by context: its mark, and what it adds

    def read(self) -> Overview:
        """How the verification stands. To be called in one thread."""
        work, policy = self._work, self._work.policy
        self._catch_up()
        parts = [part for _, part in self._parts.values()]
        verdicts = [verdict for verdict, _ in parts if verdict is not None]
        seconds = [s for verdict, given in parts if verdict is not None for s in given]
        return Overview(
            contexts=len(work.order),
            judged=sum(v.round > 0 or v.kind != "open" for v in verdicts),
            kinds=Counter(v.kind for v in verdicts),
            workers=tuple(work.standings()),
            measured=measure(verdicts, seconds, policy.further_rounds),
            plan=work.plan,
            simulated=work.count_simulated,
        )

    def _catch_up(self) -> None:
        """Judges anew what has another mark than when it was judged."""
        work, policy = self._work, self._work.policy
        count = {(a.id, a.kind) for a in work.store.annotators() if a.active}
        if self._rules != (rules := (policy, work.count_simulated, count)):
            self._rules, self._parts = rules, {}
        marks = dict(work.store.marks_of_work(work.version))  # first: what changes later is read
        kept = {c: part for c, part in self._parts.items() if part[0] == marks.get(c)}
        new = (c for c in marks if c not in kept)
        read = {case.context.id: part_of(case, policy, work.seed) for case in work.cases(new)}
        # In the order of the contexts, as a walk over them would have it.
        self._parts = {c: kept.get(c) or (m, read.get(c, NOTHING)) for c, m in marks.items()}


def part_of(case: Case, policy: VerificationPolicy, seed: int) -> Part:
    """What a context adds to the overview."""
    found = case.verdict(policy, seed)
    if found is None:
        return NOTHING
    kept = Verdict(found.context_id, found.kind, found.round, "", generated=found.generated)
    return kept, tuple(j.seconds for j in case.judgements)


# --- agreement -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """Agreement in all measures, and how found and generated endings were judged."""

    who: Who
    ratings: Ratings
    names: Mapping[str, str]  # annotator's id -> name
    sources: Mapping[str, str]  # context -> source
    agreement: Mapping[Measure, Agreement]
    table: Frequencies


@dataclass(frozen=True, slots=True)
class Parts:
    """Agreement in one measure, by pair, annotator, source and time."""

    measure: Measure
    pairs: PairMatrix
    annotators: list[WithOthers]
    sources: Mapping[str, Agreement]
    periods: list[Period]


def ratings_of(work: HumanWork, who: Who) -> Ratings:
    """The answers of those at work: of people, of simulated annotators, or of both."""
    annotators = [a for a in work.store.annotators() if a.active and _asked_for(a, who)]
    answers = [(t, answer) for t, answer in work.store.answers() if t.context_id in work.order]
    tasks = {task.id: task for task, _ in answers}
    return collect((answer for _, answer in answers), tasks, annotators, simulated=True)


def _asked_for(annotator: Annotator, who: Who) -> bool:
    return who == "both" or (annotator.kind == "person") == (who == "people")


def read_figures(work: HumanWork, who: Who) -> Figures:
    """Alpha and percent with their intervals: the bootstrap takes a second for 10,000 contexts."""
    ratings = ratings_of(work, who)
    return Figures(
        who=who,
        ratings=ratings,
        names={a.id: a.name for a in work.store.annotators()},
        sources=work.sources(ratings.contexts),
        agreement={m: agreeing.agreement(ratings, m, seed=work.seed) for m in MEASURES},
        table=frequencies(ratings),
    )


def read_parts(figures: Figures, measure: Measure) -> Parts:
    """The same answers by pair, annotator, source and time."""
    ratings = figures.ratings
    return Parts(
        measure=measure,
        pairs=agreeing.pair_matrix(ratings, measure),
        annotators=agreeing.by_annotator(ratings, measure),
        sources=agreeing.by_source(
            ratings, measure, {c: figures.sources.get(c, "") for c in ratings.contexts}
        ),
        periods=agreeing.over_time(ratings, measure, PERIODS),
    )


# --- adjudication --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tie:
    """A context for the adjudicator, with its texts. `endings` by place in the task."""

    case: Disagreement
    context: Context | None
    endings: tuple[str, ...]


def read_ties(work: HumanWork) -> list[Tie]:
    """What waits for an adjudicator, by context: the first of them."""
    cases = list(islice(work.disagreements(), MOST_TIES))
    ids = [d.task.context_id for d in cases]
    contexts = {c.id: c for c in work.store.contexts_by_id(work.prepare, ids)}
    texts = work.store.endings_by_id(sorted({e for d in cases for e in d.task.endings}))
    return [
        Tie(
            case=d,
            context=contexts.get(d.task.context_id),
            endings=tuple(texts[e].text if e in texts else "" for e in d.task.endings),
        )
        for d in cases
    ]


# --- giving out ----------------------------------------------------------------------------------


def preview_giving(work: HumanWork, giving: Giving) -> Preview:
    """What giving out would mean; nothing is written."""
    more = work.first_round(giving.contexts)
    return work.allocate(giving.plan, giving.annotators, preview=True, more=more)


def give_out(work: HumanWork, giving: Giving) -> Preview:
    """Opens the contexts and deals them; entry tests stand before the work."""
    work.keep(checks=replace(work.checks, share=giving.checks))
    for annotator in giving.annotators if giving.entry else ():
        if work.passed_entry(annotator) is None:
            work.give_entry_test(annotator)
    work.open_first_round(giving.contexts)
    return work.allocate(giving.plan, giving.annotators)


def open_next_round(work: HumanWork) -> int:
    """Opens the next round of whatever wants one, for the people at work; returns how many."""
    tasks = work.open_further_rounds()
    people = [a.id for a in work.store.annotators() if a.active and a.kind == "person"]
    at_work = [who for who in people if work.store.progress_of(who)]
    work.allocate(work.overlap, at_work or people)
    work.refresh()
    return len(tasks)


def simulating(work: HumanWork, simulation: Simulation) -> Iterator[Event]:
    """Opens contexts where too few have work, and has simulated annotators answer: a job."""
    begun = sum(1 for _ in work.store.contexts_in_work(work.version))
    work.keep(overlap=simulation.plan)
    work.open_first_round(max(0, simulation.contexts - begun))
    done = 0
    for progress in work.simulate(simulation.annotators, simulation.skill):
        done = progress.done
        yield progress
    yield Changed(("annotators", "tasks", "allocations", "judgements", "review_rows"))
    yield Finished("simulate", {"judgements": done, "annotators": simulation.annotators})
