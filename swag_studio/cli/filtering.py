"""`diagnose`: how a filter run stands, what its members go by, and what to try."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from swag_studio.cli.commands import Json, ProjectFolder, app, opened_project, reporter
from swag_studio.errors import ProjectError, quoted
from swag_studio.numerals import plain, signed

if TYPE_CHECKING:
    from swag_studio.evidence import Evidence
    from swag_studio.project import Project
    from swag_studio.records import Artifact


@app.command()
def diagnose(
    project: ProjectFolder,
    run: Annotated[
        int, typer.Option(metavar="VERSION", help="Which run of the filter; 0: the newest.")
    ] = 0,
    iteration: Annotated[
        int, typer.Option(metavar="N", help="Whose evidence to show; -1: the newest that has any.")
    ] = -1,
    clues: Annotated[
        int, typer.Option(metavar="N", help="Clues to show of each member.", min=1)
    ] = 5,
    json: Json = False,
) -> None:
    """Say which member stalls the filter, why, and what to try."""
    from swag_studio import evidence as stored
    from swag_studio import recipe as recipes
    from swag_studio.diagnosis import contexts_tested
    from swag_studio.diagnosis import diagnose as judge

    out = reporter(json)
    with opened_project(project, readonly=True) as opened:
        artifact = _run_of(opened, run)
        folder = opened.folder(artifact)
        have = stored.iterations(folder)
        if iteration >= 0 and iteration not in have:
            raise ProjectError(
                f"iteration {iteration} of run {artifact.version} has no evidence; "
                f"there is some of {', '.join(map(str, have)) or 'none'}."
            )
        shown = iteration if iteration >= 0 else (have[-1] if have else -1)
        evidence = stored.read(folder, shown) if shown >= 0 else []
        metrics = opened.store.metrics("filter", artifact.version)
    recipe = recipes.from_toml(artifact.recipe)
    found = judge(metrics, evidence, recipe, contexts_tested(recipe, artifact.summary))
    out.say(f"Run {artifact.version}: {found.summary}")
    rows = [[f.member, "MLP alone" if f.phase == "mlp" else "all", f.words] for f in found.findings]
    if rows:
        out.table("", ["member", "phase", "4-way accuracy"], rows)
    for e in evidence:
        out.table(f"What {e.member} goes by, iteration {e.iteration}", *_clue_table(e, clues))
    for advice in found.advice:
        out.say(f"Try: {advice.text} {advice.why}")
    if not found.advice:
        out.say(found.calm)
    out.summary(
        "diagnose",
        {
            "project": str(project),
            "run": artifact.version,
            **asdict(found),
            "evidence": [asdict(e) for e in evidence],
        },
    )


def _run_of(opened: Project, version: int) -> Artifact:
    runs = {a.version: a for a in opened.store.artifacts("filter")}
    if not runs:
        raise ProjectError(
            f"{opened.root} has no filter run yet: swag-studio run {quoted(opened.root)}"
        )
    if version and version not in runs:
        known = ", ".join(map(str, runs))
        raise ProjectError(f"there is no filter run {version}; there are {known}.")
    return runs[version or max(runs)]


def _clue_table(evidence: Evidence, most: int) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of a member's clues."""
    clues = evidence.clues[:most]
    if evidence.kind == "features":
        columns = ["feature", "accuracy lost", "mean, found", "mean, distractors"]
        return columns, [
            [c.text, signed(c.weight, ".1%"), plain(c.found), plain(c.assigned)] for c in clues
        ]
    columns = ["clue", "speaks for", "weight", "in found", "in distractors"]
    return columns, [
        [
            c.text,
            "found" if c.weight > 0 else "generated",
            signed(c.weight),
            f"{c.found:.1%}",
            f"{c.assigned:.1%}",
        ]
        for c in clues
    ]
