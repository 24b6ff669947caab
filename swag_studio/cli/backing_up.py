"""`backups`: a project's backups, one made now, one put back."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from swag_studio.cli.commands import Json, ProjectFolder, app, reporter
from swag_studio.errors import ProjectError, UserError

NEWEST = "newest"


@app.command()
def backups(
    project: ProjectFolder,
    restore: Annotated[
        str, typer.Option(metavar="NAME", help=f"Put this one back, or the {NEWEST} whole one.")
    ] = "",
    make: Annotated[bool, typer.Option("--make", help="Make one now.")] = False,
    json: Json = False,
) -> None:
    """List, make or put back backups of a project's database."""
    from swag_studio import backups as copies
    from swag_studio.project import project_folder

    if restore and make:
        raise UserError("Make a backup or restore one, not both: a restore keeps the present one.")
    project = project_folder(project)
    copies.refuse_file(project)
    out = reporter(json)
    done: dict[str, Any] = {}
    if make:
        done["made"] = copies.make(project).name
        out.say(f"Made {project / copies.FOLDER / done['made']}.")
    if restore:
        if restore == NEWEST:
            newest = copies.newest_whole(project)
            done["damaged"] = [backup.name for backup in newest.damaged]
            if newest.backup is None:
                why = newest.skipped() or "None was made yet."
                raise ProjectError(f"{project} has no backup to restore. {why}")
            if newest.damaged:
                out.say(newest.skipped(), level="warning")
            restore = newest.backup.name
        restored = copies.restore(project, restore)
        done["restored"] = restored.backup.name
        done["kept"] = str(restored.replaced or "")
        done["to_be_made_anew"] = list(restored.unknown)
        out.say(f"Restored {restored.backup.name}, made {restored.backup.made:%d %B %Y, %H:%M}.")
        if restored.replaced:
            out.say(f"The database that was there is kept: {restored.replaced}")
        if restored.unknown:
            names = ", ".join(restored.unknown)
            out.say(f"Younger than the backup, and made anew by a run: {names}", level="warning")
    there = copies.found(project)
    rows = [
        [b.name, f"{b.made:%Y-%m-%d %H:%M}", copies.KINDS[b.kind], f"{b.size:,}"] for b in there
    ]
    out.table("", ["name", "made", "kind", "bytes"], rows)
    if not there:
        out.say("There are no backups yet. The next opening makes one.")
    listed = [
        {"name": b.name, "made": b.made.isoformat(), "kind": b.kind, "bytes": b.size} for b in there
    ]
    out.summary("backups", {"project": str(project), **done, "backups": listed})
