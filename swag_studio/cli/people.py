"""The human work from a terminal: `annotators`, `agreement`, `plan`, `verdicts`, `simulate`."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swag_studio.cli import people_figures as words
from swag_studio.cli.commands import Json, ProjectFolder, app, opened_project, pulled, reporter
from swag_studio.cli.reporting import Reporter
from swag_studio.errors import ProjectError, UserError, quoted

if TYPE_CHECKING:
    from swag_studio.allocation import OverlapPlan, Preview
    from swag_studio.rounds import HumanWork

Run = Annotated[
    int, typer.Option("--run", metavar="VERSION", help="Which filter run; 0: the recipe's.")
]
Contexts = Annotated[
    int, typer.Option("--contexts", metavar="N", help="Put the next N contexts to work.", min=0)
]
First = Annotated[int | None, typer.Option(metavar="N", help="Contexts that several judge.", min=0)]
By = Annotated[int | None, typer.Option(metavar="N", help="How many judge each of those.", min=1)]
Rest = Annotated[
    int | None, typer.Option(metavar="N", help="How many judge each other context.", min=1)
]


# --- annotators ----------------------------------------------------------------------------------


@app.command()
def annotators(
    project: ProjectFolder,
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="NAME", help="Add an annotator.")
    ] = None,
    drop: Annotated[
        str, typer.Option(metavar="NAME", help="Drop one; the others get the work.")
    ] = "",
    entry_test: Annotated[
        str, typer.Option(metavar="NAME", help="Give the entry test to one.")
    ] = "",
    allocate: Annotated[
        bool, typer.Option("--allocate", help="Deal all work, further rounds too, to the people.")
    ] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="With --allocate: show what it means, write nothing.")
    ] = False,
    contexts: Contexts = 0,
    first: First = None,
    by: By = None,
    rest: Rest = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write time and pay of each.")
    ] = None,
    run: Run = 0,
    json: Json = False,
) -> None:
    """Show annotators, add or drop them, and deal work to them."""
    out = reporter(json)
    if preview and (contexts or not allocate):
        raise UserError("--preview writes nothing: it goes with --allocate, not with --contexts.")
    writes = bool(add or drop or entry_test or (allocate and not preview) or contexts)
    with _work(project, run, readonly=not writes) as work:
        for name in add or []:
            out.say(f"Added {work.add(name).name}.")
        if drop:
            out.say(f"Dropped {drop}; {work.drop(_id_of(work, drop)):,} tasks go to others.")
        if entry_test:
            count = len(work.give_entry_test(_id_of(work, entry_test)))
            out.say(f"{entry_test} has an entry test of {count} items.")
        if contexts:
            out.say(f"{len(work.open_first_round(contexts)):,} contexts were put to work.")
        dealt = _allocate(work, out, _overlap(work, first, by, rest), preview) if allocate else None
        if writes:
            work.refresh()
        workers = work.standings()
    columns, rows = words.worker_rows(workers)
    out.table("", columns, rows)
    if not workers:
        out.say(f"Nobody annotates yet: swag-studio annotators {quoted(project)} --add NAME")
    if csv_file:
        _write_csv(csv_file, *words.pay_rows(workers))
        out.say(f"Time and pay are in {csv_file}.")
    out.summary(
        "annotators",
        {
            "project": str(project),
            "annotators": [asdict(worker) for worker in workers],
            "allocation": asdict(dealt) if dealt else None,
        },
    )


def _allocate(work: HumanWork, out: Reporter, plan: OverlapPlan, preview: bool) -> Preview:
    people = {a.id: a.name for a in work.store.annotators() if a.active and a.kind == "person"}
    if not people:
        raise ProjectError("There is nobody to deal work to. Add people with --add NAME.")
    if not preview:
        work.renew()
        work.open_further_rounds()
    dealt = work.allocate(plan, list(people), preview)
    if not any(dealt.total.values()):
        raise ProjectError("No context is put to work yet. Say how many with --contexts N.")
    rows = [[people[who], f"{dealt.new[who]:,}", f"{dealt.total[who]:,}"] for who in people]
    out.table("", ["annotator", "new tasks", "all tasks"], rows)
    if dealt.short:
        out.say(f"{len(dealt.short):,} tasks have fewer judges than planned.", level="warning")
    if preview:
        out.say("This was a preview: nothing was written.")
    return dealt


# --- agreement -----------------------------------------------------------------------------------


@app.command()
def agreement(
    project: ProjectFolder,
    draws: Annotated[
        int, typer.Option(metavar="N", help="Bootstrap draws for intervals; 0: none.", min=0)
    ] = 1000,
    run: Run = 0,
    json: Json = False,
) -> None:
    """Show how far annotators agree, beside the paper. Works beside a running program."""
    from swag_studio import agreement as rules

    out = reporter(json)
    with _work(project, run, readonly=True) as work:
        ratings, seed = work.ratings(), work.seed
        sources = work.sources(ratings.contexts)
        names = {a.id: a.name for a in work.store.annotators()}
        simulated = work.count_simulated
    measured = {m: rules.agreement(ratings, m, draws=draws, seed=seed) for m in rules.MEASURES}
    table = rules.frequencies(ratings)
    by_source = {m: rules.by_source(ratings, m, sources) for m in rules.MEASURES}
    with_others = rules.by_annotator(ratings, "choices")
    if not len(ratings):
        out.say("Nothing was judged yet that counts.")
    if simulated:
        out.say("Answers of simulated annotators are counted.", level="warning")
    for title, columns, rows in (
        ("Agreement", *words.agreement_rows(measured)),
        ("By source", *words.source_rows(by_source)),
        ("By annotator, best / second / neither", *words.others_rows(with_others, names)),
        ("How endings were judged (the paper's Table 2)", *words.table2_rows(table)),
    ):
        if rows:
            out.table(title, columns, rows)
    out.summary(
        "agreement",
        {
            "project": str(project),
            "simulated": simulated,
            "agreement": {m: asdict(a) for m, a in measured.items()},
            "sources": {m: {s: asdict(a) for s, a in d.items()} for m, d in by_source.items()},
            "annotators": [{**asdict(w), "name": names[w.annotator]} for w in with_others],
            "frequencies": asdict(table),
            "paper": {
                "alpha": rules.PAPER_ALPHA,
                "percent": rules.PAPER_PERCENT,
                "frequencies": asdict(rules.PAPER),
            },
        },
    )


# --- plan ----------------------------------------------------------------------------------------


@app.command()
def plan(
    project: ProjectFolder,
    questions: Annotated[
        int | None, typer.Option(metavar="N", help="Questions wanted.", min=1)
    ] = None,
    people: Annotated[
        int | None, typer.Option("--annotators", metavar="N", help="Annotators at work.", min=1)
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option("--hours", metavar="N", help="Hours that each judges on a day.", min=0.1),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="N", help="Seconds for one judgement, if none is measured.", min=1),
    ] = None,
    pay: Annotated[float | None, typer.Option(metavar="N", help="Pay per hour.", min=0)] = None,
    first: First = None,
    by: By = None,
    rest: Rest = None,
    run: Run = 0,
    json: Json = False,
) -> None:
    """Forecast people-hours, days and cost. Works beside a running program; keeps nothing."""
    from swag_studio.plan import forecast, live_forecast

    out = reporter(json)
    wanted: dict[str, Any] = {
        "questions": questions,
        "annotators": people,
        "hours_per_day": hours,
        "seconds": seconds,
        "pay": pay,
        "first": first,
        "by": by,
        "rest": rest,
    }
    with _work(project, run, readonly=True) as work:
        policy = work.policy
        assumed = replace(
            work.plan,
            further_rounds=policy.further_rounds,
            **{key: value for key, value in wanted.items() if value is not None},
        )
        measured = work.measured()
    whole, live = forecast(assumed), live_forecast(assumed, measured)
    out.say(f"{assumed.questions:,} questions wanted; {measured.questions:,} found so far.")
    out.table("", *words.forecast_rows(whole, live, begun=measured.begun > 0))
    out.say(words.rests_on(live.plan, measured))
    out.summary(
        "plan",
        {
            "project": str(project),
            "assumed": asdict(assumed),
            "whole": asdict(whole),
            "begun": measured.begun,
            "questions": measured.questions,
            "left": {name: asdict(getattr(live, name)) for name in ("low", "expected", "high")},
            "measured": asdict(live.plan),
        },
    )


# --- verdicts ------------------------------------------------------------------------------------


@app.command()
def verdicts(
    project: ProjectFolder,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write every context's verdict.")
    ] = None,
    run: Run = 0,
    json: Json = False,
) -> None:
    """Count what follows from the judgements. Works beside a running program."""
    out = reporter(json)
    counts: Counter[tuple[str, int]] = Counter()
    extra, rows = 0, list[list[str]]()
    with _work(project, run, readonly=True) as work:
        for verdict in work.verdicts():
            counts[verdict.kind, verdict.round] += 1
            extra += bool(verdict.generated)
            if csv_file:
                rows.append(words.verdict_row(verdict))
    out.table("", *words.verdict_counts(counts))
    if extra:
        out.say(f"{extra:,} extra training questions, whose right ending is generated.")
    if not counts:
        allocate = f"swag-studio annotators {quoted(project)} --allocate --contexts N"
        out.say(f"No context is at work: {allocate}")
    if csv_file:
        _write_csv(csv_file, words.VERDICT_COLUMNS, rows)
        out.say(f"{len(rows):,} verdicts are in {csv_file}.")
    kinds: Counter[str] = Counter()
    for (kind, _), n in counts.items():
        kinds[kind] += n
    out.summary(
        "verdicts",
        {
            "project": str(project),
            "verdicts": dict(kinds),
            "rounds": [{"verdict": k, "round": r, "contexts": n} for (k, r), n in counts.items()],
            "extra": extra,
        },
    )


# --- simulate ------------------------------------------------------------------------------------


@app.command()
def simulate(
    project: ProjectFolder,
    people: Annotated[
        int, typer.Option("--annotators", metavar="N", help="How many.", min=1, max=50)
    ] = 3,
    skill: Annotated[
        float, typer.Option(metavar="SHARE", help="Of answers that are not random.", min=0, max=1)
    ] = 1.0,
    contexts: Contexts = 0,
    overlap: Annotated[
        int | None, typer.Option(metavar="N", help="All contexts by N; as --rest N.", min=1)
    ] = None,
    first: First = None,
    by: By = None,
    rest: Rest = None,
    count: Annotated[
        bool | None,
        typer.Option(
            "--count/--no-count",
            help="Whether their answers count. If not said: as long as no person has judged.",
        ),
    ] = None,
    run: Run = 0,
    json: Json = False,
) -> None:
    """Have simulated annotators judge all open work. For trying the way to a release."""
    out = reporter(json)
    with _work(project, run) as work:
        judged = any(w.judged for w in work.standings() if w.annotator.kind == "person")
        work.keep(count_simulated=not judged if count is None else count)
        work.keep(overlap=_overlap(work, first, by, rest or overlap))
        opened = work.open_first_round(contexts) if contexts else []
        if not opened and next(work.cases(), None) is None:
            opened = work.open_first_round()
        out.say(f"{len(opened):,} contexts were put to work.")
        again = f"swag-studio simulate {quoted(project)} --annotators {people}"
        pulled(work.simulate(people, skill), out, "simulate", again)
        counts = Counter(v.kind for v in work.verdicts())
        counted = work.count_simulated
        workers = [w for w in work.standings() if w.annotator.kind == "simulated"]
    out.table("", *words.worker_rows(workers))
    if not counted:
        out.say("People have judged here, so what simulated annotators say does not count.")
    out.say(f"Next: swag-studio verdicts {quoted(project)}")
    out.summary(
        "simulate",
        {
            "project": str(project),
            "simulated": True,
            "counted": counted,
            "judged": sum(w.judged for w in workers),
            "verdicts": dict(counts),
        },
    )


# --- shared --------------------------------------------------------------------------------------


@contextmanager
def _work(path: Path, version: int, *, readonly: bool = False) -> Iterator[HumanWork]:
    """The human work of a filter run: of this version, or the recipe's, else the newest done."""
    from swag_studio.lineage import ancestor
    from swag_studio.recipe import from_toml
    from swag_studio.rounds import HumanWork

    with opened_project(path, readonly=readonly) as project:
        runs = {a.version: a for a in project.store.artifacts("filter") if a.done}
        if not runs:
            raise ProjectError(
                f"{path} has no finished filter run yet: swag-studio run {quoted(path)}"
            )
        if version and version not in runs:
            known = ", ".join(map(str, runs))
            raise ProjectError(f"there is no finished filter run {version}; there are {known}.")
        current = project.current("filter")
        run = runs[version or (current.version if current else max(runs))]
        prepared = ancestor(project, run, "prepare")
        if prepared is None:
            raise ProjectError(f"the contexts of filter run {run.version} are gone. Run it again.")
        seed = from_toml(run.recipe).run.seed
        yield HumanWork(project.store, run.version, prepared.version, seed)


def _overlap(work: HumanWork, first: int | None, by: int | None, rest: int | None) -> OverlapPlan:
    """The kept overlap plan with what was asked for instead."""
    asked = {"first": first, "by": by, "rest": rest}
    return replace(work.overlap, **{k: v for k, v in asked.items() if v is not None})


def _id_of(work: HumanWork, name: str) -> str:
    from swag_studio.records import folded

    known = work.store.annotators()
    for annotator in known:
        if folded(annotator.name) == folded(name):
            return annotator.id
    raise ProjectError(
        f"there is no annotator {name}; there are {', '.join(a.name for a in known) or 'none'}."
    )


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from swag_studio.files import write_text

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    write_text(path, text.getvalue())
