"""`packets`: work for annotators at other machines goes out as a file, and its answers come in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from swag_studio.cli.commands import Json, ProjectFolder, app, opened_project, reporter
from swag_studio.errors import PacketError, quoted

if TYPE_CHECKING:
    from swag_studio.cli.reporting import Reporter
    from swag_studio.judging import Annotator
    from swag_studio.packet_exchange import Merge

packets = typer.Typer(help="Work packets for annotators at other machines.", no_args_is_help=True)
app.add_typer(packets, name="packets")


@packets.command()
def export(
    project: ProjectFolder,
    annotator: Annotated[str, typer.Option(metavar="NAME", help="Whose open work.")] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; NAME.swagpacket here if not.")
    ] = None,
    packet: Annotated[
        str, typer.Option(metavar="ID", help="A packet that went out before, once more.")
    ] = "",
    json: Json = False,
) -> None:
    """Write an annotator's open work to a file. They open it on another machine."""
    from swag_studio import packet_exchange as exchange
    from swag_studio.files import write_bytes
    from swag_studio.packets import SUFFIX, file_bytes

    told = reporter(json)
    if bool(annotator) == bool(packet):
        raise PacketError("Give either --annotator NAME or --packet ID.")
    with opened_project(project) as opened:
        if packet:
            made = exchange.again(opened.store, packet)
        else:
            who = _named(opened.store.annotators(), annotator)
            made = exchange.export(opened.store, opened.recipe.run.seed, who)
    target = out or Path(re.sub(r"[^\w\- ]", "_", made.annotator) + SUFFIX)
    if target.suffix != SUFFIX:
        raise PacketError(f"{target}: a packet is a file named *{SUFFIX}.")
    data = file_bytes(made)
    if target.exists() and target.read_bytes() != data:
        raise PacketError(f"{target} exists already. Choose another name with --out.")
    write_bytes(target, data)
    told.say(f"Wrote {len(made.items):,} items of {made.annotator} to {target}.")
    told.say(f"They open it with: swag-studio {quoted(target)}")
    values = {"id": made.id, "annotator": made.annotator, "items": len(made.items)}
    told.summary("packets export", {"project": str(project), "file": str(target), **values})


@packets.command()
def merge(
    project: ProjectFolder,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Packets that came back.")],
    keep: Annotated[
        Literal["later", "project", "packet"],
        typer.Option(help="Which answer counts where the project has another one."),
    ] = "later",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would come in, and write nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Bring the answers of packets in. All files are checked before the first is merged."""
    from swag_studio import packet_exchange as exchange
    from swag_studio.packets import read

    told = reporter(json)
    read_in = [read(path) for path in files]
    with opened_project(project, readonly=dry_run) as opened:
        found = [exchange.preview(opened.store, file, keep) for file in read_in]
        if not dry_run:
            found = [exchange.merge(opened.store, file, keep) for file in read_in]
    for path, one in zip(files, found, strict=True):
        _tell(path, one, told)
    if dry_run:
        told.say("This was a dry run: nothing was written.")
    values = {str(path): _values(one) for path, one in zip(files, found, strict=True)}
    told.summary("packets merge", {"project": str(project), "dry_run": dry_run, "files": values})


@packets.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A *.swagpacket file.")],
    json: Json = False,
) -> None:
    """Read a packet to the last field, and say what is in it."""
    from swag_studio.packets import read

    told = reporter(json)
    found = read(file)
    packet, result = found.packet, found.result
    told.say(f"{file} is whole: {len(packet.items):,} items of {packet.annotator}.")
    values: dict[str, Any] = {"id": packet.id, "annotator": packet.annotator}
    values |= {"items": len(packet.items), "sha256": found.sha256, "result": result is not None}
    if result is None:
        told.say("It has no answers in it yet.")
    else:
        done = len({answer.item for answer in result.answers})
        told.say(f"{done:,} are answered, {len(result.skips):,} skipped.")
        values |= {"answered": done, "skipped": len(result.skips)}
    told.summary("packets check", {"file": str(file), **values})


def _named(annotators: Iterable[Annotator], name: str) -> Annotator:
    from swag_studio.records import folded

    found = [a for a in annotators if folded(a.name) == folded(name) or a.id == name]
    if not found:
        raise PacketError(f"No annotator is named {name} in this project.")
    return found[0]


def _tell(path: Path, found: Merge, told: Reporter) -> None:
    told.say(
        f"{path}: {found.answers:,} new answers of {found.annotator}, {found.same:,} were there "
        f"already, {len(found.skips):,} newly skipped."
    )
    if found.conflicts:
        rows = [
            [c.project.task_id, c.project.given, c.packet.given, _counts(c.packet_counts)]
            for c in found.conflicts
        ]
        columns = ["task", "given in the project", "given in the packet", "which counts"]
        told.table(f"{len(rows):,} were answered otherwise in the project", columns, rows)
    for note in found.notes:
        told.say(note, level="warning")


def _counts(packet: bool) -> str:
    return "packet" if packet else "project"


def _values(found: Merge) -> dict[str, Any]:
    conflicts = [
        {"task": c.project.task_id, "counts": _counts(c.packet_counts)} for c in found.conflicts
    ]
    return {
        "packet": found.packet_id,
        "annotator": found.annotator,
        "answers": found.answers,
        "same": found.same,
        "skips": len(found.skips),
        "conflicts": conflicts,
        "notes": list(found.notes),
    }
