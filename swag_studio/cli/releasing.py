"""`release-check` and `release-diff`: is a written release sound, and what differs between two."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swag_studio.cli.commands import Json, ProjectFolder, app, opened_project, reporter
from swag_studio.errors import ProjectError

if TYPE_CHECKING:
    from swag_studio.project import Project

Version = Annotated[str, typer.Argument(metavar="VERSION", help="1.0.0, or v1 for a draft.")]


@app.command("release-check")
def release_check(
    project: ProjectFolder,
    version: Annotated[
        str,
        typer.Argument(metavar="[VERSION]", help="1.0.0, or v1 for a draft; the newest if left."),
    ] = "",
    json: Json = False,
) -> None:
    """Verify a release's files, and look for faults in its questions. Exit 1 if there are any."""
    from swag_studio.engine import released
    from swag_studio.engine.release_checks import check

    out = reporter(json)
    with opened_project(project, readonly=True) as opened:
        folder = _folder(opened, version)
    damaged = released.damaged(folder)
    for name in damaged:
        out.say(f"{folder / name} is missing, or not as it was written.", level="error")
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
    overridden = released.manifest_of(folder).get("overrides", [])
    if overridden:
        out.say(f"Released all the same: {', '.join(overridden)}.", level="warning")
    out.summary(
        "release-check",
        {
            "project": str(project),
            "release": folder.name,
            "damaged": damaged,
            "overrides": overridden,
            **report.to_dict(),
        },
    )
    raise typer.Exit(1 if damaged or report.errors else 0)


@app.command("release-diff")
def release_diff(
    project: ProjectFolder, first: Version, second: Version, json: Json = False
) -> None:
    """Compare two releases: questions added, removed and changed, files, settings."""
    from swag_studio.engine.release_diff import compare

    out = reporter(json)
    with opened_project(project, readonly=True) as opened:
        folders = _folder(opened, first), _folder(opened, second)
    difference = compare(*folders)
    for line in difference.words():
        out.say(line)
    if not difference.same:
        rows = [
            [split, f"{before:,}", f"{after:,}"]
            for split, (before, after) in difference.counts.items()
        ]
        out.table("", ["questions", *difference.names], rows)
    out.summary("release-diff", {"project": str(project), **difference.to_dict()})


def _folder(opened: Project, version: str) -> Path:
    """The folder of a release; without a version the newest verified one, else the last draft."""
    from swag_studio.releases import FOLDER, releases

    drafts = [a.folder.split("/")[-1] for a in opened.store.artifacts("release") if a.done]
    known = [*drafts, *(r.version for r in releases(opened.root))]
    if not known:
        raise ProjectError(f"{opened.root} has no release yet: swag-studio release {opened.root}")
    if version and version not in known:
        raise ProjectError(f"there is no release {version}; there are {', '.join(known)}.")
    return opened.root / FOLDER / (version or known[-1])
