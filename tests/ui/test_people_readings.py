"""The overview of a verification equals a walk over everything; keeping up reaches all runs."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_run import make_project, make_store

from swag_studio import judged
from swag_studio.allocation import OverlapPlan
from swag_studio.judging import LABELS, Adjudication, Annotator, Judgement, Skip, Task, problem
from swag_studio.lineage import filter_runs
from swag_studio.plan import measure
from swag_studio.policy import VerificationPolicy
from swag_studio.project import Project
from swag_studio.recipe import from_toml
from swag_studio.records import Ending, ending_id
from swag_studio.rounds import HumanWork
from swag_studio.store import Store
from swag_studio.ui import people_readings
from swag_studio.ui.people_readings import KeepingUp, Overview, OverviewReader, human_work

WHO = ("a0", "a1", "s0")


def walked(work: HumanWork) -> Overview:
    """The same by a walk over all contexts that have work."""
    policy = work.policy
    cases = [(c, v) for c in work.cases() if (v := c.verdict(policy, work.seed)) is not None]
    seconds = [j.seconds for case, _ in cases for j in case.judgements]
    return Overview(
        contexts=len(work.order),
        judged=sum(v.round > 0 or v.kind != "open" for _, v in cases),
        kinds=Counter(v.kind for _, v in cases),
        workers=tuple(work.standings()),
        measured=measure([v for _, v in cases], seconds, policy.further_rounds),
        plan=work.plan,
        simulated=work.count_simulated,
    )


def same(overview: Overview, expected: Overview) -> bool:
    """By what is written of them: NaN is not equal to itself."""
    return repr(overview) == repr(expected)


def any_answer(task: Task, who: str, rng: random.Random) -> Judgement:
    while True:
        labels = tuple(rng.choices(LABELS, (3, 4, 1), k=6))
        best, second = rng.sample(range(6), 2)
        if not problem(labels, best, second):
            return Judgement(task.id, who, labels, best, second, seconds=rng.uniform(5.0, 90.0))


class People:
    """What people can do to the work, each by chance."""

    def __init__(self, work: HumanWork, rng: random.Random) -> None:
        self.work, self.store, self.rng = work, work.store, rng

    def deeds(self) -> list[Callable[[], object]]:
        return [
            lambda: self.work.open_first_round(self.rng.randrange(1, 5)),
            lambda: self.work.open_further_rounds(),
            lambda: self.work.allocate(OverlapPlan(3, 2, 1), list(WHO)),
            self.answer,
            self.answer,
            self.answer,
            self.skip,
            self.settle,
            self.edit,
            self.exclude,
            lambda: self.work.renew(),
            lambda: self.store.withdraw(self.rng.choice(WHO)),
            self.drop_or_keep,
            lambda: self.work.keep(count_simulated=not self.work.count_simulated),
            self.change_policy,
        ]

    def answer(self) -> None:
        tasks = list(self.store.tasks())
        who = self.rng.choice(WHO)
        for task in self.rng.sample(tasks, min(4, len(tasks))):  # asked of them or not, or again
            self.store.submit(any_answer(task, who, self.rng))

    def skip(self) -> None:
        who = self.rng.choice(WHO)
        if task := self.store.next_task(who):
            self.store.skip(Skip(task.id, who, "It is unclear."))
            if self.rng.random() < 0.5:
                self.store.reopen(task.id, who)

    def settle(self) -> None:
        for tie in list(self.work.disagreements())[:2]:
            a = any_answer(tie.task, "", self.rng)
            self.store.adjudicate(Adjudication(tie.task.id, "C", a.labels, a.best, a.second))

    def edit(self) -> None:
        context = self.rng.choice(list(self.work.order))
        before = self.store.curated(1, context)
        text = f"does {self.rng.random()}."
        ending = Ending(ending_id(context, text), context, text, "edited", -1)
        self.store.put_endings([ending])
        endings = [*before.endings]
        endings[self.rng.randrange(len(endings))] = ending.id
        after = dataclasses.replace(before, endings=tuple(endings))
        self.store.apply_edits(1, "C", "Edit", {context: (before, after)})

    def exclude(self) -> None:
        context = self.rng.choice(list(self.work.order))
        before = self.store.curated(1, context)
        after = dataclasses.replace(before, excluded=not before.excluded)
        self.store.apply_edits(1, "C", "Exclude", {context: (before, after)})

    def drop_or_keep(self) -> None:
        person = self.rng.choice(self.store.annotators())
        self.store.put_annotator(dataclasses.replace(person, active=not person.active))

    def change_policy(self) -> None:
        policy = self.work.policy
        self.work.keep(policy=dataclasses.replace(policy, judgements=3 - policy.judgements))


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_whatever_people_do_it_equals_a_walk(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    rng = random.Random(seed)
    store = make_store(tmp_path_factory.mktemp("overview"), 12)
    try:
        for who in WHO:
            store.put_annotator(Annotator(who, who, "simulated" if who == "s0" else "person"))
        work = HumanWork(store, 1, 1, seed % 5)
        overviews, people = OverviewReader(work), People(work, rng)
        assert same(overviews.read(), walked(work))
        work.open_first_round(6)
        for _ in range(20):
            rng.choice(people.deeds())()
            assert same(overviews.read(), walked(work))
    finally:
        store.close()


def test_only_what_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store: Store = make_store(tmp_path, 12)
    work = HumanWork(store, 1, 1, 3)
    store.put_annotator(Annotator("a0", "Ada"))
    tasks = work.open_first_round(10)
    read: list[str] = []
    cases = HumanWork.cases

    def noting(self: HumanWork, ids: object = None) -> object:
        for case in cases(self, ids):  # type: ignore[arg-type]
            read.append(case.context.id)
            yield case

    monkeypatch.setattr(HumanWork, "cases", noting)
    overviews = OverviewReader(work)
    assert overviews.read().begun == 10 and len(read) == 10
    read.clear()
    overviews.read()
    assert read == []
    store.submit(any_answer(tasks[4], "a0", random.Random(1)))
    assert overviews.read().judged == 1
    assert read == [tasks[4].context_id]
    store.close()


# --- keeping up ----------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Two finished runs of the same endings; people have work on the second one."""
    made = tmp_path / "p.swag"
    make_project(made, 6)
    with Project.open(made) as project:
        store = project.store
        second = project.begin("filter", project.recipe.with_values({"filter.epochs": 9}))
        rows = [
            (context, slot, e.id, e.row, score)
            for context, slots in store.assigned(1)
            for slot, e, score in slots
        ]
        store.put_assignments(second.version, rows)
        list(store.build_review(second.version, 1, {}))
        project.finish(second, {})
        project.set_recipe(from_toml(second.recipe))
        work = human_work(project, second)
        store.put_annotator(Annotator("a0", "Ada"))
        work.open_first_round(6)
        work.allocate(OverlapPlan(), ["a0"])
        yield project


def verdicts(project: Project, version: int) -> Counter[str]:
    store = project.store
    return Counter(row.verdict for row in store.review_rows(store.review_ids(version)))


def pulled(keeping: KeepingUp, behind: bool = True) -> tuple[frozenset[str], int]:
    """The tables that changed, and how many pulls it took."""
    pulls = 1
    while (tables := keeping.pull(behind)) is None:
        behind, pulls = False, pulls + 1
    return tables, pulls


def answer_one(project: Project) -> Task:
    task = project.store.next_task("a0")
    assert task is not None
    labels = ("likely", *["unlikely"] * 5)
    project.store.submit(Judgement(task.id, "a0", labels, 0, 1))  # type: ignore[arg-type]
    return task


def test_answers_reach_the_rows_of_all_runs(project: Project) -> None:
    keeping = KeepingUp(project)
    pulled(keeping)
    answer_one(project)
    assert pulled(keeping)[0] == {"review_rows"}
    for version in (1, 2):
        assert verdicts(project, version) == {"found": 1, "open": 5}
    assert pulled(keeping) == (frozenset(), 1)
    work = human_work(project, filter_runs(project)[1])
    work.keep(policy=VerificationPolicy(judgements=2))  # as Agreement does it, for the run it shows
    work.refresh()
    assert pulled(keeping)[0] == {"review_rows"}
    for version in (1, 2):
        assert verdicts(project, version) == {"open": 6}


def test_it_goes_on_a_moment_at_a_time(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes in between is caught up with in the same go."""
    monkeypatch.setattr(judged, "_WRITTEN", 2)
    monkeypatch.setattr(people_readings, "PULL", -1.0)  # seconds: a slice each time
    keeping = KeepingUp(project)
    for _ in range(5):
        answer_one(project)
    assert keeping.pull(True) is None
    answer_one(project)
    tables, pulls = pulled(keeping)
    assert tables == {"review_rows"} and pulls > 3
    assert verdicts(project, 1) == verdicts(project, 2) == {"found": 6}
