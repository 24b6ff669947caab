"""The stage "filter": distractors that the classifiers cannot tell from found endings.

k random candidates are assigned to each context; iteration by iteration new classifiers learn to
tell them from the found endings, and the ones that were easy to tell are replaced (METHOD 2). A
phase with the MLP alone comes first, then one with all members. Beside it: a control arm, a probe
and the adversary's strength (`filter_measures`), and at the end scores for every assigned ending
(`filter_results`).

    initial.safetensors, iteration-*.safetensors   the assignment (assignment.py)
    evidence/*.json                                what the members went by (telling.py)
    measures/*.json                                what was measured beside the iterations
    crossfit/                                      the models that score the endings, the scores

Every file is a unit of work that is there or not, and made from the recipe and the files before
it alone; so an interrupted run goes on from the last one and ends with the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

import numpy as np

from swag_studio import evidence
from swag_studio.engine import filter_measures, filter_results, review, runtime
from swag_studio.engine.assignment import Assignment, AssignmentLog, draw_initial
from swag_studio.engine.clues import Names
from swag_studio.engine.crossfit import CrossFit
from swag_studio.engine.ensemble import JOINT, EnsembleSpec, needs_tags
from swag_studio.engine.filter_curves import (
    MAIN,
    STAGE,
    Info,
    Point,
    converged,
    curve,
    measure_summary,
    member_points,
    metrics_of,
    phase_summary,
    swap_points,
)
from swag_studio.engine.filter_items import Assigned, Incoming
from swag_studio.engine.filter_iteration import (
    Note,
    Tested,
    noted,
    remap_tested,
    rule_for,
    train_and_test,
)
from swag_studio.engine.filter_setup import Phase, Setup
from swag_studio.engine.remap import Swaps
from swag_studio.engine.restart import Restart
from swag_studio.engine.telling import tell
from swag_studio.engine.usable import Usable
from swag_studio.errors import StageError
from swag_studio.events import Changed, Event, Finished, Message, Metric, Progress
from swag_studio.files import read_json, write_json
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import Artifact

BEAT = 0.1  # seconds between two Progress events
MIN_CONTEXTS = 10  # below, a test on 20% of them says nothing
EXPLAINED = 5  # iterations from one that is explained to the next

T = TypeVar("T")
Work = Generator[Note, None, T]


def run(recipe: Recipe, project: Project) -> Iterator[Event]:
    """Runs the stage. Raises StageError when too few contexts have k candidates to assign."""
    artifact = project.begin(STAGE, recipe)
    if artifact.done:
        return
    yield Progress(STAGE, 0, 0, "iterations", "loading")
    loop = _Loop(recipe, project, artifact)
    yield from loop.run()
    summary = loop.summary()
    project.finish(artifact, summary)
    yield Changed(("endings", "assignments"))
    yield Finished(STAGE, summary)


class _Loop:
    """The state of a run: what is assigned now, and what has been committed."""

    def __init__(self, recipe: Recipe, project: Project, artifact: Artifact) -> None:
        self.recipe, self.project, self.artifact = recipe, project, artifact
        self.folder = project.folder(artifact)
        for left in self.folder.rglob(".*.tmp"):  # by a kill within a write
            left.unlink()
        self.setup = Setup(recipe, project)
        feedback = recipe.filter.feedback
        self.restart = Restart(project, self.setup, self.folder) if feedback else None
        self.log = AssignmentLog(self.folder)
        self.infos: list[Info] = list(self.log.infos())
        self.measured: dict[str, list[Point]] = {}
        self.worked = 0.0  # seconds in this iteration
        self.assignment: Assignment
        self.assigned: Assigned

    def run(self) -> Iterator[Event]:
        """All that is not done yet. What is done yields its metrics again: they may be lost."""
        yield from self._load()
        for iteration, info in enumerate(self.infos):
            yield from metrics_of(info["points"], iteration)
        yield from self._measures("before", 0)
        for number, phase in enumerate(self.setup.phases):
            if number and self._with_control:
                step = len(self._infos_of(self.setup.phases[0]))
                yield from self._measure_control("between", step)
            while not self._complete(phase):
                yield from self._iterate(phase)
        yield from self._measures("after", len(self.infos))
        yield from self._results()

    # --- loading -------------------------------------------------------------------------

    def _load(self) -> Iterator[Event]:
        """The current assignment and its endings, in memory; the initial one if there is none."""
        if self.restart:
            yield from self._said(self.restart.learn(self._seed("restart")))
            yield from (Message(STAGE, *told) for told in self.restart.told())
        if self.log.initial() is None:
            total = len(self.setup.corpus.context_ids)
            drawing = noted(self._first(), f"drawing distractors {{}}/{total}")
            self.log.begin((yield from self._said(drawing)))
        current = self.log.current()
        assert current is not None
        self.assignment = current
        yield from self._check_contexts()
        if needs_tags(self.setup.members):
            yield self._progress("loading the tagger")
        self.setup.remove_old_tags(self.project, self.folder.parent)
        source = self.setup.source(current.contexts, self.folder.parent)
        gathering = Assigned.gather(source, current)
        self.assigned = yield from self._said(
            noted(gathering, f"reading the pool {{}}/{len(current)}")
        )

    def _first(self) -> Generator[int, None, Assignment]:
        """The assignment that the first iteration meets."""
        if self.restart:
            return self.restart.initial(self._seed("initial"))
        return draw_initial(
            self.setup.pool,
            self.setup.corpus.context_ids,
            self.recipe.filter.distractors,
            Usable.of(self.recipe, self.setup.corpus),
            self._seed("initial"),
        )

    def _check_contexts(self) -> Iterator[Event]:
        k, count = self.recipe.filter.distractors, len(self.assignment)
        left_out = len(self.setup.corpus.context_ids) - count
        if count < MIN_CONTEXTS:
            raise StageError(
                f"only {count} contexts have {k} candidates that may be assigned; the filter needs "
                f"{MIN_CONTEXTS}. Import more captions, lower filter.distractors, or let endings "
                "open with any word (filter.found_openings) and slip (filter.found_slips)."
            )
        if left_out:
            yield Message(
                STAGE,
                f"{left_out} contexts have fewer than {k} candidates that may be assigned: "
                "left out.",
            )
        if names := ", ".join(self.setup.left_out_members):
            yield Message(STAGE, f"Left out, for own candidates are not scored: {names}.")

    # --- iterations ----------------------------------------------------------------------

    def _complete(self, phase: Phase) -> bool:
        return self._is_complete(phase, self._infos_of(phase))

    def _is_complete(self, phase: Phase, infos: Sequence[Info]) -> bool:
        recipe = self.recipe.filter
        return len(infos) >= phase.iterations or (
            recipe.converge
            and converged(curve(infos, "accuracy_4way", phase.head), recipe.converge_window)
        )

    def _infos_of(self, phase: Phase) -> list[Info]:
        return [info for info in self.infos if info["phase"] == phase.name]

    def _iterate(self, phase: Phase) -> Iterator[Event]:
        """One iteration: trained, tested, replaced, committed."""
        iteration, self.worked = len(self.infos), 0.0
        seed = self._seed(iteration)
        may_move = self.restart.may_move(self.assignment) if self.restart else None

        def work() -> Work[tuple[Tested, list[Point], Swaps, Incoming]]:
            tested = yield from train_and_test(
                self._spec(phase.members), self.assigned, self.setup.device, seed
            )
            rule = rule_for(self.recipe.filter, tested)
            swaps, incoming = yield from remap_tested(
                rule, tested, self.assigned, self.assignment, seed, may_move=may_move
            )
            points = member_points(tested.measures, MAIN)
            met = len(tested.test) if may_move is None else int(may_move[tested.test].sum())
            return tested, points + swap_points(rule, swaps, met), swaps, incoming

        tested, points, swaps, incoming = yield from self._fitting(work)
        info = {"phase": phase.name, "points": points}
        before = self._infos_of(phase)
        explained = len(before) % EXPLAINED == 0 or self._is_complete(phase, [*before, info])
        if explained:  # before the commit, so that none is committed without
            yield from self._explain(iteration, tested, seed)
        self.log.commit(iteration, swaps, info)
        self.infos.append(info)
        self.assignment.apply(swaps)
        self.assigned.put(swaps, incoming)
        yield from metrics_of(info["points"], iteration)
        yield Metric(STAGE, "seconds", iteration, self.worked, {"arm": MAIN})
        if explained:
            yield Changed(("evidence",))
        yield self._progress()

    def _explain(self, iteration: int, tested: Tested, seed: int) -> Iterator[Event]:
        """Writes what the members went by. Where memory does not suffice, the run does without."""
        names = Names.of(self.setup.corpus, self.assigned.source)
        try:
            told = yield from self._said(tell(iteration, tested, self.assigned, names, seed))
        except RuntimeError as error:
            if not runtime.is_out_of_memory(error):
                raise
            runtime.free_memory()
            yield Message(STAGE, f"Too little memory to explain iteration {iteration}.", "warning")
        else:
            evidence.write(self.folder, iteration, told)

    # --- beside the iterations -----------------------------------------------------------

    @property
    def _with_control(self) -> bool:
        """Not after feedback: what such a run starts from is no random draw."""
        return self.recipe.filter.control_arm and not self.restart

    def _measures(self, when: str, step: int) -> Iterator[Event]:
        """Control arm, probe and strength, before or after the iterations."""
        recipe, seed = self.recipe.filter, self._seed(when)
        device, folds = self.setup.device, recipe.strength_folds
        if self._with_control:
            yield from self._measure_control(when, step)

        def probe() -> Work[list[Point]]:
            return filter_measures.probe(
                self._spec(), self.assigned, recipe.crossfit_folds, device, seed
            )

        def strength() -> Work[list[Point]]:
            if when == "after" and folds == recipe.crossfit_folds:
                fits = self._cross_fit()  # the models that score the endings do
            else:
                fits = filter_measures.cross_fit(self._spec(), self.assigned, folds, device, seed)
            return filter_measures.strength(fits)

        if recipe.probe:
            yield from self._measure(f"probe-{when}", probe, step)
        if folds:
            yield from self._measure(f"strength-{when}", strength, step)

    def _measure_control(self, when: str, step: int) -> Iterator[Event]:
        """The same classifiers on the distractors that were drawn at first."""
        initial = self.log.initial()
        assert initial is not None
        source, seed = self.assigned.source, self._seed(when)

        def work() -> Work[list[Point]]:
            spec = self._spec()
            return filter_measures.control(spec, source, initial, self.setup.device, seed)

        yield from self._measure(f"control-{when}", work, step)

    def _measure(
        self, name: str, work: Callable[[], Work[list[Point]]], step: int
    ) -> Iterator[Event]:
        """The points that `work` returns, or those that it returned before an interruption."""
        path = self.folder / "measures" / f"{name}.json"
        if not path.exists():
            write_json(path, (yield from self._fitting(work, name)))
        self.measured[name] = read_json(path)
        yield from metrics_of(self.measured[name], step)

    # --- results -------------------------------------------------------------------------

    def _cross_fit(self) -> Work[CrossFit]:
        """The models that score the final endings; each fold is fitted once, whoever asks."""
        return filter_measures.cross_fit(
            self._spec(),
            self.assigned,
            self.recipe.filter.crossfit_folds,
            self.setup.device,
            self._seed("crossfit"),
            self.folder / "crossfit",
        )

    def _results(self) -> Iterator[Event]:
        """The cross-fitted scores of all assigned endings, and the rows of the store."""
        fits = yield from self._fitting(self._cross_fit, "scoring")
        writing = filter_results.write_endings(
            self.project.store,
            self.setup.prepared.version,
            self.artifact.version,
            self.setup.corpus,
            self.assigned,
            fits.scores[JOINT].reshape(self.assigned.rows.shape),
        )
        yield from self._said(noted(writing, f"writing endings {{}}/{len(self.assignment)}"))
        prepared = self.setup.prepared.version
        listing = review.fill(self.project, self.artifact, prepared)
        yield from self._said(noted(listing, f"listing contexts {{}}/{len(self.assignment)}"))
        if self.restart:
            carrying = self.restart.carry_over(self.artifact.version)
            yield from self._said(noted(carrying, "carrying notes over {}"))

    def summary(self) -> dict[str, object]:
        """Counts and figures."""
        last = [info["points"] for info in self.infos[-5:]]
        shares = [
            value for points in last for name, value, _ in points if name == "exhausted_share"
        ]
        return (self.restart.summary() if self.restart else {}) | {
            "contexts": len(self.assignment),
            "left_out": len(self.setup.corpus.context_ids) - len(self.assignment),
            "distractors": self.recipe.filter.distractors,
            "members": list(self.setup.members),
            "iterations": {phase.name: len(self._infos_of(phase)) for phase in self.setup.phases},
            "phases": {
                phase.name: phase_summary(self._infos_of(phase), [*self.setup.members, JOINT])
                for phase in self.setup.phases
            },
            "beside": measure_summary(self.measured),
            "exhausted_share": round(float(np.mean(shares)), 4) if shares else 0.0,
        }

    def _spec(self, members: tuple[str, ...] = ()) -> EnsembleSpec:
        return self.setup.spec(members or self.setup.members, self._halvings)

    def _seed(self, *parts: str | int) -> int:
        after = [self.recipe.filter.feedback] if self.restart else []  # not the parent's draws
        return runtime.seed_for(self.recipe.run.seed, STAGE, *after, *parts)

    # --- events --------------------------------------------------------------------------

    def _progress(self, note: Note = "") -> Progress:
        planned = sum(
            len(self._infos_of(phase)) if self._complete(phase) else phase.iterations
            for phase in self.setup.phases
        )
        return Progress(STAGE, len(self.infos), planned, "iterations", note)

    def _fitting(self, work: Callable[[], Work[T]], prefix: str = "") -> Generator[Event, None, T]:
        """Work that trains; begun anew with half the batch where memory does not suffice.

        How often it was halved is kept: the numbers depend on it, and so an interrupted run must
        go on with it.
        """
        while True:
            try:
                return (yield from self._said(work(), prefix))
            except RuntimeError as error:
                batch = self._spec().recipe.batch
                if not runtime.is_out_of_memory(error) or batch < 4:
                    raise
            write_json(self.folder / "batch.json", {"halvings": self._halvings + 1})
            runtime.free_memory()
            yield Message(
                STAGE,
                f"{batch} endings at once do not fit the device's memory: going on with half.",
                "warning",
            )

    @property
    def _halvings(self) -> int:
        path = self.folder / "batch.json"
        return int(read_json(path)["halvings"]) if path.exists() else 0

    def _said(self, work: Work[T], prefix: str = "") -> Generator[Event, None, T]:
        """`work`, with Progress no more often than a screen can show; adds up its seconds."""
        said = time.monotonic()
        while True:
            resumed = time.monotonic()
            try:
                note = next(work)
            except StopIteration as stop:
                result: T = stop.value
                return result
            finally:
                self.worked += time.monotonic() - resumed
            if time.monotonic() - said >= BEAT:
                yield self._progress(f"{prefix}: {note}" if prefix else note)
                said = time.monotonic()
