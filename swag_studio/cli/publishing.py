"""`release`: the draft that the pipeline makes, or a verified release under a version."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swag_studio.cli.commands import Json, ProjectFolder, app, opened_project, pulled, reporter
from swag_studio.cli.reporting import Reporter
from swag_studio.errors import UserError, quoted

if TYPE_CHECKING:
    from swag_studio.project import Project
    from swag_studio.releases import ReleaseOptions

DRAFT = "This is a draft: nobody has checked the endings yet."


@app.command()
def release(
    project: ProjectFolder,
    version: Annotated[
        str, typer.Option(metavar="1.0.0", help="Write a verified release under this version.")
    ] = "",
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Contexts that nobody judged too, marked as such.")
    ] = False,
    include_simulated: Annotated[
        bool,
        typer.Option("--include-simulated", help="Count simulated annotators; the card says so."),
    ] = False,
    override: Annotated[
        list[str] | None,
        typer.Option(metavar="ERROR", help="Release in spite of this fault; repeatable."),
    ] = None,
    because: Annotated[
        str, typer.Option(metavar="TEXT", help="Why, with --override; it stands on the card.")
    ] = "",
    format: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Beside SWAG's own files only this one; repeatable."),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Of the sources: cc-by-4.0, or words; else the page's."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The dataset's name; else the page's.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Of the texts; else the page's, else en.")
    ] = None,
    cost_per_hour: Annotated[
        float | None,
        typer.Option(min=0, metavar="SUM", help="Of this machine; else that of your settings."),
    ] = None,
    run: Annotated[
        int, typer.Option(metavar="VERSION", help="Which run of the filter; 0: the recipe's.")
    ] = 0,
    out_folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Copy the files to this folder too.")
    ] = None,
    json: Json = False,
) -> None:
    """Write a verified release (--version 1.0.0), or a draft. Runs what a draft needs."""
    from swag_studio.releases import ReleaseOptions, checked_version

    out = reporter(json)
    if out_folder is not None:
        _check_out(out_folder)
    card = {"title": title, "licence": licence, "language": language}
    given = {name: " ".join(text.split()) for name, text in card.items() if text is not None}
    options = ReleaseOptions(
        version, unverified, include_simulated, tuple(dict.fromkeys(override or ())),
        tuple(format or ()), run, cost_per_hour=cost_per_hour,
        override_reason=" ".join(because.split()), **given,
    )  # fmt: skip
    if version:
        checked_version(version)
    elif options != ReleaseOptions(""):
        raise UserError(
            "Only a release with a version can be told what to hold. Add --version 1.0.0, say."
        )
    if because and not override:
        raise UserError("--because says why a check is overridden. Add --override ERROR.")
    with opened_project(project) as opened:
        if version:
            options = _with_kept(opened, options, given, out)
            made, summary = _verified(opened, options, out, project, out_folder)
        else:
            made, summary = _draft(opened, out, project)
        if out_folder is not None:
            _copy(made, out_folder)
    folder = out_folder or made
    sizes = _listed(folder, out)
    if not version:
        out.say(DRAFT)
    told = {"project": str(project), **summary, "folder": str(folder), "files": sizes}
    out.summary("release", told)


def _copy(made: Path, folder: Path) -> None:
    """The release's files in a folder that is new or empty; its manifest comes last.

    Raises UserError where not all of them can be there; then none is.
    """
    from swag_studio.releases import MANIFEST

    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(made.rglob("*"), key=lambda path: path == made / MANIFEST):
            copy = folder / path.relative_to(made)
            copy.mkdir() if path.is_dir() else shutil.copyfile(path, copy)
    except OSError as error:
        for path in [folder] if new else [*folder.iterdir()]:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(True)
        raise UserError(
            f"The release is written, in {made}, but not all of it could be copied to {folder} "
            f"({(error.strerror or 'it failed').lower()}), so nothing is there. Copy it yourself."
        ) from None


def _listed(folder: Path, out: Reporter) -> dict[str, int]:
    """The bytes of each file in a release's folder, shown too."""
    files = {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}
    sizes = {name: path.stat().st_size for name, path in files.items()}
    out.table("", ["file", "bytes"], [[str(p), f"{sizes[n]:,}"] for n, p in files.items()])
    return sizes


def _check_out(folder: Path) -> None:
    """Raises UserError unless it is a folder that is new or empty, and in no project."""
    from swag_studio.project import DATABASE

    place = folder.resolve()
    there = next(p for p in (place, *place.parents) if p.exists())
    if not there.is_dir():
        raise UserError(f"{there} is a file. Choose a new or empty folder for --out.")
    if root := next((p for p in (place, *place.parents) if (p / DATABASE).is_file()), None):
        raise UserError(
            f"{folder} is in the project {root}, which keeps its releases itself. Choose a folder "
            "outside of it for --out."
        )
    if there == place and any(place.iterdir()):
        raise UserError(f"{folder} is not empty. Choose a new or empty folder for --out.")


def _with_kept(
    opened: Project, options: ReleaseOptions, given: Mapping[str, str], out: Reporter
) -> ReleaseOptions:
    """The options, with what the page Release keeps for the card where nothing was given."""
    from swag_studio.releases import KEPT, ON_CARD

    kept = opened.store.people_setting(KEPT, {})
    taken = {name: kept[name] for name in ON_CARD if name not in given and name in kept}
    told = [
        f"{name} {text or 'not said'}"
        for name, text in taken.items()
        if text != getattr(options, name)
    ]
    if told:
        out.say(f"On its card as on the page Release: {', '.join(told)}.")
    return replace(options, **taken)


def _verified(
    opened: Project, options: ReleaseOptions, out: Reporter, project: Path, copy: Path | None
) -> tuple[Path, dict[str, Any]]:
    from swag_studio.engine.publish import Blocked, publish
    from swag_studio.releases import command

    again = command(project, options, copy)
    try:
        (summary,) = pulled(publish(opened, options), out, "release", again).values()
    except Blocked as blocked:
        raise Blocked(blocked.found, project, blocked.allowed, copy) from None
    if "simulation" in summary["verified_by"]:
        out.say("Simulated annotators' answers are in it: it is no benchmark.", level="warning")
    if "simulation" in summary["feedback_by"]:
        out.say("The filter went on with what simulated annotators said.", level="warning")
    if unverified := summary["unverified"]:
        out.say(f"Nobody judged {unverified:,} of its questions.", level="warning")
    return Path(summary["folder"]), summary


def _draft(opened: Project, out: Reporter, project: Path) -> tuple[Path, dict[str, Any]]:
    """The draft; refused once people have verified, since then it is not what is wanted."""
    from swag_studio.engine import pipeline
    from swag_studio.releases import next_version

    if (count := _people_verified(opened)) > 0:
        version = next_version(opened.root)
        raise UserError(
            f"People have verified {count:,} contexts. Release those under a version: "
            f"swag-studio release {quoted(project)} --version {version}. The draft, of endings "
            f"that nobody checked, is made by: swag-studio run {quoted(project)}"
        )
    again = f"swag-studio release {quoted(project)}"
    pulled(pipeline.run(opened.recipe, opened), out, "run", again)
    artifact = opened.current("release")
    assert artifact is not None
    return opened.folder(artifact), dict(artifact.summary)


def _people_verified(opened: Project) -> int:
    """Contexts that people verified in the current run of the filter; 0 before there is one."""
    if not opened.store.judgement_count() or opened.current("filter") is None:
        return 0
    from swag_studio.engine.publish import verified

    return verified(opened)
