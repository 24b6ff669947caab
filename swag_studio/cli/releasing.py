"""`release-check` and `release-diff`: is a written release sound, and what differs between two."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swag_studio.cli.commands import Json, ProjectFolder, app, opened_project, reporter
from swag_studio.errors import ProjectError, quoted

if TYPE_CHECKING:
    from swag_studio.project import Project

_NAMED = 10  # questions that a comparison names; all of them with --json

Version = Annotated[str, typer.Argument(metavar="VERSION", help="1.0.0, or v1 for a draft.")]


@app.command("release-check")
def release_check(
    project: ProjectFolder,
    version: Annotated[
        str,
        typer.Argument(metavar="VERSION", help="1.0.0, or v1 for a draft; the newest if left."),
    ] = "",
    json: Json = False,
) -> None:
    """Verify a release's files and its questions. Exit code 1 if there are faults."""
    from swag_studio.engine import manifests, released
    from swag_studio.engine.release_checks import check
    from swag_studio.releases import MANIFEST

    out = reporter(json)
    with opened_project(project, readonly=True) as opened:
        folder = _folder(opened, version)
        manifest, state = released.manifest_of(folder), manifests.state(opened.store, folder)
    damaged, unlisted = released.damaged(folder), released.unlisted(folder)
    faults = [f"{folder / name} is missing, or not as it was written." for name in damaged]
    faults += [
        f"{folder / name} is not of the release: its manifest lacks it." for name in unlisted
    ]
    if state == "changed":
        faults.append(f"{folder / MANIFEST} is not as it was written: what it says may be untrue.")
    if (told := manifest.get("version", folder.name)) != folder.name:
        faults.append(f"{folder} says of itself that it is {told}: it is no release of that name.")
    for fault in faults:
        out.say(fault, level="error")
    # Of damaged files it cannot be told which question is which.
    report = check(()) if damaged else check(released.questions(folder))
    for problem in report.problems:
        out.say(f"{problem.sentence} First: {'; '.join(problem.places)}", level=problem.level)
    if not damaged:
        out.say(
            f"{folder}: {report.questions:,} questions, {len(report.errors)} kinds of error, "
            f"{len(report.warnings)} of warning. In {report.continued:,} the found ending goes on "
            "as the context of another question of its split, which is normal."
        )
    overridden = manifest.get("overrides", [])
    if overridden:
        out.say(f"Released all the same: {', '.join(overridden)}.", level="warning")
    out.summary(
        "release-check",
        {
            "project": str(project),
            "release": folder.name,
            "damaged": damaged,
            "unlisted": unlisted,
            "manifest": state,
            "version": told,
            "overrides": overridden,
            **report.to_dict(),
        },
    )
    raise typer.Exit(1 if faults or report.errors else 0)


@app.command("release-diff")
def release_diff(
    project: ProjectFolder, first: Version, second: Version, json: Json = False
) -> None:
    """Compare two releases: their questions, files and settings."""
    from swag_studio.engine import manifests
    from swag_studio.engine.release_diff import compare
    from swag_studio.releases import MANIFEST

    out = reporter(json)
    with opened_project(project, readonly=True) as opened:
        folders = _folder(opened, first), _folder(opened, second)
        difference = compare(*folders)
        edited = [f for f in folders if manifests.state(opened.store, f) == "changed"]
    for folder in edited:
        out.say(f"{folder / MANIFEST} is not as it was written.", level="warning")
    for line in difference.words():
        out.say(line)
    if not difference.same:
        rows = [
            [split, f"{before:,}", f"{after:,}"]
            for split, (before, after) in difference.counts.items()
        ]
        out.table("", ["questions", *difference.names], rows)
    for how, change in difference.first(_NAMED):
        what = f": {', '.join(change.what)}" if change.what else ""
        out.say(f"{how} {change.context} ({change.split}, {change.gold_source}){what}")
    out.summary("release-diff", {"project": str(project), **difference.to_dict()})


def _folder(opened: Project, version: str) -> Path:
    """The folder of a release; without a version the newest verified one, else the last draft."""
    from swag_studio.releases import FOLDER, releases

    drafts = [a.folder.split("/")[-1] for a in opened.store.artifacts("release") if a.done]
    known = [*drafts, *(r.version for r in releases(opened.root))]
    if not known:
        raise ProjectError(
            f"{opened.root} has no release yet: swag-studio release {quoted(opened.root)}"
        )
    if version and version not in known:
        raise ProjectError(f"there is no release {version}; there are {', '.join(known)}.")
    return opened.root / FOLDER / (version or known[-1])
