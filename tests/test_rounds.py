"""The human work of a filter run: tasks, dealing, verdicts, rounds, checks."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_run import fill, make_store

from swag_studio import verification
from swag_studio.allocation import OverlapPlan
from swag_studio.checks import CheckRules
from swag_studio.errors import ProjectError, StageError
from swag_studio.judging import (
    LABELS,
    Adjudication,
    Annotator,
    Judgement,
    Label,
    Skip,
    Task,
    Verdict,
)
from swag_studio.policy import VerificationPolicy
from swag_studio.records import Ending, ending_id, folded
from swag_studio.reviewing import Curated, ReviewRow
from swag_studio.rounds import HumanWork
from swag_studio.store import Store

CONTEXTS = 24
GOOD: tuple[Label, ...] = ("likely", *["unlikely"] * 5)
BAD: tuple[Label, ...] = ("unlikely", "likely", "likely", *["gibberish"] * 3)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = make_store(tmp_path, CONTEXTS)
    yield store
    store.close()


@pytest.fixture
def work(store: Store) -> HumanWork:
    """Without hidden checks, which have tests of their own."""
    work = HumanWork(store, 1, 1, seed=7)
    work.keep(checks=CheckRules(share=0.0))
    return work


def good(task: Task, who: str) -> Judgement:
    """An answer that makes a question with the found ending right."""
    return Judgement(task.id, who, GOOD, best=0, second=1, seconds=60.0)


def bad(task: Task, who: str) -> Judgement:
    """An answer that misses the found ending."""
    return Judgement(task.id, who, BAD, best=1, second=2, seconds=60.0)


def edit(store: Store, context: str, place: int, text: str = "is somewhere else by now.") -> str:
    """Replaces a distractor, by its place in the curated state, with an edited one."""
    before = store.curated(1, context)
    new = ending_id(context, text)
    store.put_endings([Ending(new, context, text, "edited", -1)])
    endings = [*before.endings]
    endings[place] = new
    change = {context: (before, dataclasses.replace(before, endings=tuple(endings)))}
    store.apply_edits(1, "Cura", "Edit", change)
    return new


def open_pairs(store: Store, who: str) -> set[tuple[str, str]]:
    return {(task, who) for task, _, _, state in store.allocations(who) if state == "open"}


def exclude(store: Store, context: str, excluded: bool = True) -> None:
    before = store.curated(1, context)
    after = dataclasses.replace(before, excluded=excluded)
    store.apply_edits(1, "Cura", "Exclude", {context: (before, after)})


def row(store: Store, context: str) -> ReviewRow:
    rows = store.review_rows(store.review_ids(1))
    return next(r for r in rows if r.context_id == context)


# --- tasks -----------------------------------------------------------------------------------


def test_the_order_of_work_keeps_groups_apart(work: HumanWork, store: Store) -> None:
    groups = {c.id: c.group for c in store.contexts(1)}
    order = [groups[c] for c in work.order]
    for group in set(order):
        places = [i for i, g in enumerate(order) if g == group]
        assert all(b - a > 1 for a, b in pairwise(places))
    assert HumanWork(store, 1, 1, seed=7).order == work.order
    assert list(HumanWork(store, 1, 1, seed=8).order) != list(work.order)


def test_asking_for_more_contexts_goes_on_in_the_order_of_work(work: HumanWork) -> None:
    ids = [t.context_id for n in (5, 0, 4) for t in work.open_first_round(n)]
    assert ids == list(work.order)[:9]
    assert len(work.open_first_round()) == CONTEXTS - 9
    assert work.open_first_round() == []


def test_excluded_contexts_have_no_work(work: HumanWork, store: Store) -> None:
    first, second, *_ = work.order
    exclude(store, first)
    assert [t.context_id for t in work.open_first_round(1)] == [second]
    assert work.assigned([first, second]).keys() == {second}
    assert work.verdict(first) is None


def test_tasks_are_made_of_what_people_left(work: HumanWork, store: Store) -> None:
    context = next(iter(work.order))
    news = {edit(store, context, place, f"has text {place}.") for place in range(9)}
    (task,) = work.open_first_round(contexts=[context])
    assert set(task.endings[1:]) < news
    assert work.assigned([context])[context][1] == store.curated(1, context).endings


def test_an_edit_makes_a_task_obsolete_and_asks_again(work: HumanWork, store: Store) -> None:
    ann = work.add("Ann")
    work.open_first_round(3)
    work.allocate(OverlapPlan(), [ann.id])
    task = store.next_task(ann.id)
    assert task is not None
    store.submit(good(task, ann.id))
    assert work.verdict(task.context_id).kind == "found"  # type: ignore[union-attr]
    place = store.curated(1, task.context_id).endings.index(task.endings[1])
    edit(store, task.context_id, place)
    assert work.verdict(task.context_id) is None
    (new,) = work.renew([task.context_id])
    assert task.endings[1] not in new.endings and new.round == 0
    assert work.verdict(task.context_id).kind == "open"  # type: ignore[union-attr]
    assert list(store.judgements(task_id=task.id)) != []  # kept, and does not count
    assert new.id in {t for t, _, _, state in store.allocations(ann.id) if state == "open"}
    assert work.renew() == []
    store.undo("Cura")
    assert work.verdict(task.context_id).kind == "found"  # type: ignore[union-attr]
    assert row(store, task.context_id).verdict == "open"  # not before it is refreshed
    assert [c.verdict for c in work.refresh([task.context_id])] == ["found"]
    assert row(store, task.context_id).verdict == "found"


def test_an_edit_of_an_ending_that_was_not_shown_changes_nothing(
    work: HumanWork, store: Store
) -> None:
    (task,) = work.open_first_round(1)
    hidden = [e not in task.endings for e in store.curated(1, task.context_id).endings]
    edit(store, task.context_id, hidden.index(True))
    assert work.renew() == [] and work.verdict(task.context_id) is not None


def test_what_is_excluded_leaves_the_queue_and_comes_back(work: HumanWork, store: Store) -> None:
    ann = work.add("Ann")
    (task,) = work.open_first_round(1)
    work.allocate(OverlapPlan(), [ann.id])
    exclude(store, task.context_id)
    work.renew([task.context_id])
    assert store.next_task(ann.id) is None
    exclude(store, task.context_id, excluded=False)
    work.allocate(OverlapPlan(), [ann.id])
    assert store.next_task(ann.id) == task


def test_what_comes_back_is_dealt_though_nobody_had_anything_left(
    work: HumanWork, store: Store
) -> None:
    """All contexts excluded by mistake, and the mistake undone."""
    ann, bob, eve = (work.add(name).id for name in ("Ann", "Bob", "Eve"))
    work.open_first_round(4)
    work.allocate(OverlapPlan(), [ann, bob, eve])
    work.drop(eve)
    before = {pair for who in (ann, bob) for pair in open_pairs(store, who)}
    contexts = list(work.order)[:4]
    for context in contexts:
        exclude(store, context)
    work.renew(contexts)
    assert not any(open_pairs(store, who) for who in (ann, bob, eve))
    for context in contexts:
        exclude(store, context, excluded=False)
    work.renew(contexts)
    after = {pair for who in (ann, bob) for pair in open_pairs(store, who)}
    assert {task for task, _ in after} == {task for task, _ in before} != set()
    assert not open_pairs(store, eve)  # who was dropped stays dropped


def test_judgements_stay_with_the_text_across_filter_runs(work: HumanWork, store: Store) -> None:
    """A second run with the same endings is judged by what was said in the first."""
    ann = work.add("Ann")
    (task,) = work.open_first_round(1)
    store.submit(good(task, ann.id))
    rows = [
        (context, slot, ending.id, slot, 0.0)
        for context, slots in store.assigned(1)
        for slot, ending, _ in slots
    ]
    store.put_assignments(2, rows)
    other = HumanWork(store, 2, 1, seed=7)
    assert other.verdict(task.context_id) == work.verdict(task.context_id)


# --- rounds ----------------------------------------------------------------------------------


def test_rounds_go_on_to_surprising(work: HumanWork, store: Store) -> None:
    ann = work.add("Ann")
    (task,) = work.open_first_round(1)
    shown = [set(task.endings)]
    for round in range(3):
        work.allocate(OverlapPlan(), [ann.id])
        task = store.next_task(ann.id)  # type: ignore[assignment]
        assert task is not None and task.round == round
        store.submit(bad(task, ann.id))
        work.refresh([task.context_id])
        shown.append(set(task.endings))
        new = work.open_further_rounds()
        assert len(new) == (1 if round < 2 and len(set.union(*shown)) < 10 else 0)
        if not new:
            break
    verdict = work.verdict(task.context_id)
    assert verdict is not None and verdict.kind == "surprising"
    assert row(store, task.context_id).status == "judged"
    assert row(store, task.context_id).verdict == "surprising"


def test_a_further_round_goes_to_someone_else_where_there_is_one(
    work: HumanWork, store: Store
) -> None:
    people = [work.add(name).id for name in ("Ann", "Bob")]
    (task,) = work.open_first_round(1)
    work.allocate(OverlapPlan(), people)
    (who,) = [a for a in people if store.next_task(a)]
    store.submit(bad(task, who))
    work.open_further_rounds()
    work.allocate(OverlapPlan(), people)
    (next_one,) = [a for a in people if store.next_task(a)]
    assert next_one != who


def test_a_context_waits_for_all_who_were_asked(work: HumanWork, store: Store) -> None:
    people = [work.add(name).id for name in ("Ann", "Bob")]
    (task,) = work.open_first_round(1)
    work.allocate(OverlapPlan(rest=2), people)
    store.submit(good(task, people[0]))
    assert work.verdict(task.context_id).kind == "open"  # type: ignore[union-attr]
    store.submit(good(task, people[1]))
    assert work.verdict(task.context_id).kind == "found"  # type: ignore[union-attr]


def test_a_tie_is_settled_by_an_adjudicator(work: HumanWork, store: Store) -> None:
    people = [work.add(name).id for name in ("Ann", "Bob")]
    (task,) = work.open_first_round(1)
    work.allocate(OverlapPlan(rest=2), people)
    store.submit(good(task, people[0]))
    store.submit(bad(task, people[1]))
    (tie,) = work.disagreements()
    assert tie.task == task and {j.annotator_id for j in tie.judgements} == set(people)
    verdict = work.settle(Adjudication(task.id, "Cura", GOOD, 0, 1))
    assert verdict is not None and verdict.kind == "found"
    assert list(work.disagreements()) == []
    assert row(store, task.context_id).verdict == "found"
    assert len(work.ratings()) == 2  # the adjudication is no rating
    with pytest.raises(ValueError, match="no task"):
        work.settle(Adjudication("t0", "Cura", GOOD, 0, 1))


# --- who judges ------------------------------------------------------------------------------


def test_dropping_requeues_open_and_judged_work(work: HumanWork, store: Store) -> None:
    people = [work.add(name).id for name in ("Ann", "Bob", "Cy")]
    tasks = {t.id: t for t in work.open_first_round()}
    work.allocate(OverlapPlan(), people)
    ann = people[0]
    theirs = [t for t, _, _, _ in store.allocations(ann)]
    for task in theirs[:3]:
        store.submit(good(tasks[task], ann))
    assert work.drop(ann) == len(theirs)
    left = [t for who in people[1:] for t, _, _, _ in store.allocations(who)]
    assert sorted(left) == sorted(tasks)
    assert store.next_task(ann) is None
    assert work.verdict(tasks[theirs[0]].context_id).kind == "open"  # type: ignore[union-attr]
    assert [w.annotator.active for w in work.standings()] == [False, True, True]


def test_a_skipped_task_goes_to_another_one_too(work: HumanWork, store: Store) -> None:
    people = [work.add(name).id for name in ("Ann", "Bob")]
    (task,) = work.open_first_round(1)
    work.allocate(OverlapPlan(), people[:1])
    store.skip(Skip(task.id, people[0], "unsure"))
    work.allocate(OverlapPlan(), people)
    work.allocate(OverlapPlan(), people)  # and not twice
    assert [state for _, _, _, state in store.allocations()].count("open") == 1
    assert store.next_task(people[1]) == task


def test_a_preview_writes_nothing_and_tells_the_truth(work: HumanWork, store: Store) -> None:
    people = [work.add(name).id for name in ("Ann", "Bob", "Cy")]
    work.open_first_round()
    plan = OverlapPlan(first=10, by=2)
    told = work.allocate(plan, people, preview=True)
    assert store.allocations() == [] and work.overlap == OverlapPlan()
    assert work.allocate(plan, people) == told
    assert Counter(who for _, who, _, _ in store.allocations()) == told.new
    assert work.overlap == plan and sum(told.new.values()) == CONTEXTS + 10
    shared = Counter(t for t, _, _, _ in store.allocations())
    several = {t.context_id for t in store.tasks() if shared[t.id] == 2}
    assert several == set(list(work.order)[:10])


def test_names_of_annotators_are_different_and_not_empty(work: HumanWork) -> None:
    work.add("Ann")
    for name in ("ann ", "  "):
        with pytest.raises(ProjectError):
            work.add(name)


# --- checks ----------------------------------------------------------------------------------


def test_an_entry_test_is_scored_by_its_key(work: HumanWork, store: Store) -> None:
    work.keep(checks=CheckRules(items=4, pass_mark=0.5, share=0.0))
    people = [work.add(name).id for name in ("Ann", "Bob")]
    tests = [work.give_entry_test(who) for who in people]
    assert tests[0] == tests[1] and len(tests[0]) == 4
    labels: tuple[Label, ...] = (*["likely"] * 4, "gibberish", "gibberish")
    for number, task in enumerate(tests[0]):
        assert work.passed_entry(people[0]) is None
        known = Judgement(task.id, people[0], labels, 0, 1)
        store.submit(known if number < 2 else dataclasses.replace(known, best=2))
        store.submit(Judgement(task.id, people[1], GOOD, 0, 1))  # marks no gibberish
    assert [work.passed_entry(who) for who in people] == [True, False]
    assert list(work.verdicts()) == [] and len(work.ratings()) == 0
    assert [w.entry for w in work.standings()] == [True, False]


def test_a_test_that_finds_no_contexts_says_so(work: HumanWork) -> None:
    ann = work.add("Ann")
    work.open_first_round()
    work.allocate(OverlapPlan(), [ann.id])
    with pytest.raises(StageError, match="Only 0 contexts"):
        work.give_entry_test(ann.id)


def test_hidden_checks_are_strewn_among_peoples_work(work: HumanWork, store: Store) -> None:
    work.keep(checks=CheckRules(share=0.5))
    ann = Annotator("a0", "Ann")  # not by `add`: after which tasks one comes is drawn by id
    store.put_annotator(ann)
    work.open_first_round(12)
    work.allocate(OverlapPlan(), [ann.id])
    tasks = {t.id: t for t in store.tasks()}
    queue = [tasks[t] for t, _, _, _ in store.allocations(ann.id)]
    checks = [t for t in queue if t.kind == "check"]
    assert 1 <= len(checks) <= 12 and len(queue) == 12 + len(checks)
    assert len({t.context_id for t in queue}) == len(queue)  # nobody sees a context twice
    texts = {e.id: e for e in store.endings_by_id([e for t in checks for e in t.endings]).values()}
    for task in checks:
        kinds = [texts[e].kind for e in task.endings]
        assert kinds == ["found", *["generated"] * 3, *["scrambled"] * 2]
        assert not set(task.endings[4:]) & set(work.assigned([task.context_id])[task.context_id][1])
    store.submit(Judgement(checks[0].id, ann.id, (*["likely"] * 4, *["gibberish"] * 2), 0, 1))
    (standing,) = work.standings()
    assert (standing.checks, standing.checks_passed, standing.standing.n) == (1, 1, 0)


def test_a_workers_standing_goes_by_the_newest_answers_to_first_rounds(
    work: HumanWork, store: Store
) -> None:
    ann, bob = work.add("Ann"), work.add("Bob")
    first, second = work.open_first_round(2)
    store.submit(good(first, ann.id))
    store.submit(bad(second, ann.id))
    store.submit(bad(first, bob.id))
    store.submit(good(first, bob.id))  # a correction
    for task in work.open_further_rounds():
        store.submit(bad(task, ann.id))
    stand = {w.annotator.name: (w.judged, w.standing.n, w.standing.rate) for w in work.standings()}
    assert stand == {"Ann": (3, 2, 0.5), "Bob": (1, 1, 1.0)}


# --- simulated annotators ----------------------------------------------------------------------


def test_simulated_annotators_work_to_the_end(work: HumanWork, store: Store) -> None:
    work.open_first_round()
    work.keep(count_simulated=True, overlap=OverlapPlan(first=6, by=2))
    events = list(work.simulate(3))
    assert events[-1].done == events[-1].total == store.judgement_count()
    kinds = Counter(v.kind for v in work.verdicts())
    assert kinds["open"] == kinds["reannotate"] == 0 and kinds.total() == CONTEXTS
    assert {r.verdict for r in store.review_rows(store.review_ids(1))} == set(kinds)
    assert all(w.annotator.kind == "simulated" for w in work.standings())
    assert work.refresh() == []
    measured = work.measured()
    assert measured.questions == kinds["found"] and measured.begun == CONTEXTS


def test_what_simulated_annotators_say_counts_only_where_asked(
    work: HumanWork, store: Store
) -> None:
    ann = work.add("Ann")
    work.open_first_round(6)
    work.allocate(OverlapPlan(), [ann.id])
    list(work.simulate(2))
    assert store.judgement_count() == 6  # one round: nothing follows from it
    assert {v.kind for v in work.verdicts()} == {"open"} and len(work.ratings()) == 0
    assert store.progress_of(ann.id) == {"open": 6}  # they took no work from people
    work.keep(count_simulated=True)
    assert len(work.ratings()) == 6


def test_a_simulation_that_is_stopped_goes_on(work: HumanWork, store: Store) -> None:
    work.open_first_round()
    work.keep(count_simulated=True)
    events = work.simulate(2)
    next(events)
    next(events)
    events.close()  # type: ignore[attr-defined]
    list(work.simulate(2))
    assert "open" not in {v.kind for v in work.verdicts()}


# --- settings ----------------------------------------------------------------------------------


def test_settings_are_kept(work: HumanWork, store: Store) -> None:
    policy = VerificationPolicy(judgements=3, rank_rule="votes")
    work.keep(policy=policy, guidelines="Mark what *happens*. 日本語", count_simulated=True)
    other = HumanWork(store, 1, 1, seed=7)
    assert (other.policy, other.guidelines) == (policy, "Mark what *happens*. 日本語")
    assert other.count_simulated and other.checks == work.checks
    with pytest.raises(ValueError, match="no setting"):
        work.keep(colour="red")


# --- verdicts, against a slow reading ----------------------------------------------------------


def slow_verdicts(store: Store, work: HumanWork) -> dict[str, Verdict]:
    """As `HumanWork.verdicts`, from plain lists of all rows."""
    active = {a.id for a in store.annotators() if a.active and a.kind == "person"}
    tasks, judgements = list(store.tasks()), list(store.judgements())
    contexts = {c.id: c for c in store.contexts(1)}
    eval_found = {folded(c.found) for c in contexts.values() if c.split != "train"}
    texts = {e.id: e.text for _, slots in store.assigned(1) for _, e, _ in slots}
    found = {}
    for context, slots in store.assigned(1):
        state = store.curated(1, context)
        endings = [slots[0][1].id, *state.endings]
        live: list[Task] = []
        for task in tasks:  # by context and round
            current = task.context_id == context and set(task.endings) <= set(endings)
            shown = live[-1].endings if live else task.endings
            kept = [e for e in task.endings if e in shown]
            in_place = all(task.endings.index(e) == shown.index(e) for e in kept)
            if current and in_place and task.round == len(live):
                live.append(task)
        if state.excluded or not live:
            continue
        found[context] = verification.verdict(
            live,
            [j for j in judgements if j.annotator_id in active],
            store.adjudications().values(),
            endings,
            work.policy,
            split=contexts[context].split,
            seed=work.seed,
            barred={e for e in endings if folded(texts.get(e, "")) in eval_found},
            needed={
                t.id: sum(
                    task == t.id and who in active and how in ("open", "done")
                    for task, who, _, how in store.allocations()
                )
                for t in live
            },
        )
    return found


def random_answer(task: Task, who: str, rng: random.Random) -> Judgement:
    best, second = rng.sample(range(6), 2) if rng.random() < 0.5 else (rng.choice((1, 2)), 0)
    labels: list[Label] = [rng.choice(LABELS) for _ in range(6)]
    labels[best], labels[second] = rng.choice(LABELS[:2]), rng.choice(LABELS[:2])
    return Judgement(task.id, who, tuple(labels), best, second)


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), judges=st.integers(1, 2))
def test_verdicts_equal_a_slow_reading_of_all_rows(
    tmp_path_factory: pytest.TempPathFactory, seed: int, judges: int
) -> None:
    rng = random.Random(seed)
    store = make_store(tmp_path_factory.mktemp("slow"), 12)
    try:
        work = HumanWork(store, 1, 1, seed % 5)
        people = ["a0", "a1", "a2"]
        for who in people:  # not by `add`, whose ids are random
            store.put_annotator(Annotator(who, who))
        work.open_first_round(rng.randrange(6, 13))
        barred = rng.choice(list(store.tasks()))  # an ending that a val context has found
        text = store.endings_by_id([barred.endings[1]])[barred.endings[1]].text
        with store.write() as connection:
            connection.execute(
                "UPDATE contexts SET found = ? WHERE split = 'val' AND id != ?",
                [text, barred.context_id],
            )
        work = HumanWork(store, 1, 1, seed % 5)
        for _ in range(3):
            work.allocate(OverlapPlan(first=4, by=2, rest=judges), people)
            for who in people:
                while (task := store.next_task(who)) and rng.random() < 0.9:
                    store.submit(random_answer(task, who, rng))
            for tie in list(work.disagreements()):
                if rng.random() < 0.7:
                    a = random_answer(tie.task, "", rng)
                    work.settle(Adjudication(tie.task.id, "C", a.labels, a.best, a.second))
            if rng.random() < 0.4:
                exclude(store, rng.choice(list(work.order)))
            if rng.random() < 0.6:
                edit(store, rng.choice(list(work.order)), rng.randrange(9), f"{rng.random()}.")
                work.renew()
            work.open_further_rounds()
        if rng.random() < 0.5:
            work.drop(people[0])
        expected = slow_verdicts(store, work)
        assert {v.context_id: v for v in work.verdicts()} == expected
        work.refresh()
        for r in store.review_rows(store.review_ids(1)):
            verdict = expected.get(r.context_id)
            assert (r.verdict, r.round) == (
                (verdict.kind, verdict.round) if verdict else ("open", 0)
            )
    finally:
        store.close()


def test_the_filter_must_have_assigned_enough(tmp_path: Path) -> None:
    store = Store(tmp_path / "project.db")
    store.migrate()
    fill(store, 3, k=3)
    with pytest.raises(StageError, match=r"filter\.distractors"):
        HumanWork(store, 1, 1, 1).open_first_round()
    store.close()


def test_curated_states_survive_json() -> None:
    state = Curated(("a", "b"), (1, 0), ("check",), "日本語", True)
    assert Curated.from_json(state.to_json()) == state
