"""The commands. Each opens a project, pulls a generator or reads a state, and tells a reporter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swag_studio import __version__
from swag_studio.cli import figures
from swag_studio.cli.reporting import JsonReporter, Reporter
from swag_studio.errors import RecipeError, UserError, in_words, quoted

if TYPE_CHECKING:
    from datetime import timedelta

    from swag_studio.events import Event
    from swag_studio.project import Project

# What a command needs beyond this is imported in it: `--help` answers at once.

app = typer.Typer(
    name="swag-studio",
    help="Build adversarial multiple-choice datasets from video captions.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

ProjectFolder = Annotated[Path, typer.Argument(metavar="PROJECT", help="A folder named *.swag.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line; the last sums up.")]


def reporter(json: bool) -> Reporter:
    """The reporter for a program or for a person."""
    if json:
        return JsonReporter()
    from swag_studio.cli.terminal import TerminalReporter

    return TerminalReporter()


def _version(wanted: bool) -> None:
    if wanted:
        print(f"SWAG Studio {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Build adversarial multiple-choice datasets from video captions."""


# --- making and filling a project --------------------------------------------------------------


@app.command()
def new(
    project: ProjectFolder,
    recipe: Annotated[
        str, typer.Option(metavar="NAME_OR_FILE", help="demo, small, paper, or a TOML file.")
    ] = "small",
    json: Json = False,
) -> None:
    """Make a project."""
    from swag_studio import recipe as recipes
    from swag_studio.project import Project

    out = reporter(json)
    with Project.create(project, recipes.load(recipe)):
        pass
    out.say(f"Made {project} with the recipe {recipe}.")
    out.say(f"Next: swag-studio import {quoted(project)} FILE")
    out.summary("new", {"project": str(project), "recipe": recipe})


@app.command("import")
def import_(
    project: ProjectFolder,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Caption files.")],
    source: Annotated[
        str | None, typer.Option(metavar="NAME", help="The files' format; recognised if not given.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count and show what would come in.")
    ] = False,
    json: Json = False,
) -> None:
    """Bring caption files into a project."""
    from swag_studio.engine.ingest import run_import

    out = reporter(json)
    summaries = {}
    with opened_project(project, readonly=dry_run) as opened:
        for path in files:
            events = run_import(path, opened, source_name=source, dry_run=dry_run)
            again = f"swag-studio import {quoted(project)} {quoted(path)}"
            (summary,) = pulled(events, out, "import", again).values()
            summaries[str(path)] = summary
            if dry_run:
                _show_preview(summary, out)
    if dry_run:
        out.say("This was a dry run: nothing was written.")
    else:
        out.say(f"Next: swag-studio run {quoted(project)}")
    out.summary("import", {"project": str(project), "dry_run": dry_run, "files": summaries})


@app.command()
def recipe(
    project: ProjectFolder,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Values to set: filter.replace=1"),
    ] = None,
    json: Json = False,
) -> None:
    """Show a project's recipe, or change it. Tells what a change outdates."""
    out = reporter(json)
    wanted = dict(_key_value(text) for text in values or [])
    with opened_project(project, readonly=not wanted) as opened:
        before = opened.recipe
        states = {s.stage: s.state for s in opened.states()}
        after = before.with_values(wanted)
        changes = after.changes(before)
        if changes:
            opened.set_recipe(after)
        stale = [s.stage for s in opened.states() if states[s.stage] == "done" != s.state]
    if not wanted:
        out.say(after.to_toml())
    for key, (new_value, old_value) in changes.items():
        out.say(f"{key}: {old_value} -> {new_value}")
    if wanted and not changes:
        out.say("Nothing changed.")
    if stale:
        out.say(f"To be made anew at the next run: {', '.join(map(figures.title, stale))}")
    out.summary(
        "recipe",
        {
            "project": str(project),
            "recipe": after.to_dict(),
            "changed": {key: list(pair) for key, pair in changes.items()},
            "stale": stale,
        },
    )


# --- running -----------------------------------------------------------------------------------


@app.command()
def run(
    project: ProjectFolder,
    until: Annotated[str, typer.Option(metavar="STAGE", help="The last stage to run.")] = "release",
    json: Json = False,
) -> None:
    """Run what is not done yet; go on where it stopped."""
    out = reporter(json)
    with opened_project(project) as opened:
        _run(opened, out, until, f"swag-studio run {quoted(project)}")
        _report_states(opened, out)
        out.summary("run", {"project": str(project), "stages": _states(opened)})


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to make demo.swag.")
    ] = Path(),
    headless: Annotated[
        bool, typer.Option("--headless", help="Stay in the terminal where there is a display too.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a dataset from the program's own captions."""
    from importlib.resources import as_file, files

    from swag_studio import recipe as recipes
    from swag_studio.engine.ingest import run_import
    from swag_studio.project import Project

    out = reporter(json)
    root = folder / "demo.swag"
    again = f"swag-studio demo {quoted(folder)}"
    made = not (root.exists() and any(root.glob("*.swagproj")))
    opened = Project.create(root, recipes.preset("demo")) if made else Project.open(root)
    with opened:
        if not opened.store.sources():
            captions = files("swag_studio.resources") / "demo" / "captions.json"
            with as_file(captions) as path:
                pulled(run_import(path, opened), out, "demo", again)
        _run(opened, out, "release", again)
        _report_states(opened, out)
        artifact = opened.current("release")
        assert artifact is not None
        out.say(f"The draft release is in {opened.folder(artifact)}")
        out.summary("demo", {"project": str(root), "stages": _states(opened)})


# --- looking -----------------------------------------------------------------------------------


@app.command()
def status(project: ProjectFolder, json: Json = False) -> None:
    """Show where every stage stands. Works beside a running program."""
    out = reporter(json)
    with opened_project(project, readonly=True) as opened:
        sources = opened.store.sources()
        _report_states(opened, out)
        out.summary(
            "status",
            {
                "project": str(project),
                "sources": [{"file": s.file, "captions": s.captions} for s in sources],
                "stages": _states(opened),
            },
        )


@app.command()
def check(
    project: ProjectFolder,
    mend: Annotated[
        bool, typer.Option("--mend", help="Have what is damaged made anew at the next run.")
    ] = False,
    json: Json = False,
) -> None:
    """Verify the database, what the steps made, and the releases."""
    from swag_studio import integrity, mending

    out = reporter(json)
    with opened_project(project, readonly=not mend) as opened:
        looks = list(opened.checking())
        mended = mending.mend(opened, looks) if mend else []
        mendable = mending.mendable(opened, looks)
    problems = [look for look in looks if look.problem]
    for look in problems:
        out.say(look.told, level="error")
    if any(look.kind == "database" for look in problems):
        out.say(f"Go back to a good copy: swag-studio backups {quoted(project)} --restore newest")
    elif not mend and mendable:
        out.say(f"Have it made anew: swag-studio check {quoted(project)} --mend")
    for sentence in figures.mended_lines(mended, str(project)):
        out.say(sentence)
    if not problems:
        out.say(f"{project}: {integrity.whole(looks)}.")
    out.summary(
        "check",
        {
            "project": str(project),
            "problems": [look.told for look in problems],
            "looked_at": Counter(look.kind for look in looks if look.kind),
            "unsummed": sum(look.unsummed for look in looks if look.kind),
            "mended": [m.name for m in mended if m.how != "earlier"],
            "left": [m.name for m in mended if m.how == "earlier"],
        },
    )
    raise typer.Exit(1 if problems else 0)


@app.command()
def doctor(json: Json = False) -> None:
    """Look at the machine: device, models, disk, versions."""
    from swag_studio.engine.doctor import examine

    out = reporter(json)
    findings = list(examine(Path.cwd()))
    rows = [[f.name, f.value, "" if f.ok else f.remedy] for f in findings]
    out.table("", ["", "found", "what to do"], rows)
    wrong = [f.name for f in findings if not f.ok]
    out.summary("doctor", {"findings": [asdict(f) for f in findings], "wrong": wrong})
    raise typer.Exit(1 if wrong else 0)


# --- shared ------------------------------------------------------------------------------------


@contextmanager
def opened_project(path: Path, *, readonly: bool = False) -> Iterator[Project]:
    """An open project. One that may be written to is backed up before, and after a while's work."""
    from swag_studio import backups
    from swag_studio.project import Project

    with Project.open(path, readonly=readonly) as project:
        if not readonly:
            _back_up(project, backups.DAILY)
        yield project
        if not readonly:
            _back_up(project, backups.HOURLY)


def _back_up(project: Project, every: timedelta) -> None:
    """A backup if one is due. That there is none is no reason not to work: it is said on stderr."""
    from swag_studio import backups

    try:
        backups.keep(project.root, every)
    except (UserError, OSError) as error:
        typer.echo(in_words(error, f"No backup could be made: {error}."), err=True)


def pulled(events: Iterator[Event], out: Reporter, command: str, again: str) -> dict[str, Any]:
    """Pulls to the end; after a signal says how to go on and sums up. Raises Interrupted then."""
    from swag_studio.cli.pulling import Interrupted, pull

    try:
        return pull(events, out)
    except Interrupted:
        out.say(f"Paused. Go on with: {again}", level="warning")
        out.summary(command, {"interrupted": True, "go_on": again})
        raise


def _run(opened: Project, out: Reporter, until: str, again: str) -> None:
    from swag_studio.engine import pipeline

    pulled(pipeline.run(opened.recipe, opened, until), out, "run", again)


def _key_value(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise RecipeError(f"{text} is not KEY=VALUE, such as filter.replace=1.")
    return key.strip(), value.strip()


def _states(opened: Project) -> dict[str, dict[str, Any]]:
    """Stage -> state, version, summary, as JSON can hold it; without the sums of files."""
    from swag_studio.integrity import SUMS

    return {
        s.stage: {
            "state": s.state,
            "lost": s.artifact is not None and opened.lost(s.artifact),
            "version": s.artifact.version if s.artifact else None,
            "folder": s.artifact.folder if s.artifact else None,
            "summary": {k: v for k, v in s.artifact.summary.items() if k != SUMS}
            if s.artifact
            else {},
        }
        for s in opened.states()
    }


def _report_states(opened: Project, out: Reporter) -> None:
    """The table of stages, with the captions that they start from, and what to do next."""
    from swag_studio.engine.accounting import work
    from swag_studio.recipe import STAGES
    from swag_studio.records import STATE_WORDS

    account, states, sources = work(opened), opened.states(), opened.store.sources()
    amount = sum(source.captions + source.own_contexts for source in sources)
    begun = STATE_WORDS["done" if sources else "missing"]
    rows = [["Captions", begun, "", "", f"{amount:,} captions"]]
    for s in states:
        row = [figures.title(s.stage), STATE_WORDS[s.state], "", "", ""]
        if s.artifact:
            spent = account.get(s.artifact.folder, {}).get("seconds")
            row[2] = f"v{s.artifact.version}"
            row[3] = figures.duration(spent) if spent else ""
            row[4] = figures.summary_text(s.stage, s.artifact.summary)
        rows.append(row)
    out.table(str(opened.root), ["stage", "state", "version", "time", "key figures"], rows)
    filtered = states[STAGES.index("filter")]
    if filtered.state == "done" and filtered.artifact:
        columns = ["4-way accuracy", "MLP alone", "all members", "unfiltered"]
        if rows := figures.curve_rows(filtered.artifact.summary):
            out.table("", columns, rows)
    if stale := [figures.title(s.stage) for s in states if s.state == "stale"]:
        out.say(f"Out of date, for the recipe or the captions have changed: {', '.join(stale)}.")
    lost = [s.artifact for s in states if s.artifact and opened.lost(s.artifact)]
    for artifact in lost:
        out.say(opened.what_lost(artifact), level="error")
    if lost:
        return
    if not sources:
        out.say(f"Next: swag-studio import {quoted(opened.root)} FILE")
    elif any(s.state != "done" for s in states):
        out.say(f"Next: swag-studio run {quoted(opened.root)}")


def _show_preview(summary: dict[str, Any], out: Reporter) -> None:
    """The first rows of a file as they would come in."""
    rows = [
        [str(item.get("document", "")), str(item.get("text") or item.get("sent1", ""))]
        for item in summary.get("preview", [])
    ]
    if rows:
        out.table("", ["document", "first sentences"], rows)
