"""`filter-again`: a filter run that takes up what people said of an earlier one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from swag_studio.cli.commands import Json, ProjectFolder, app, opened_project, pulled, reporter
from swag_studio.errors import UserError, quoted

if TYPE_CHECKING:
    from swag_studio.project import Project
    from swag_studio.views import FeedbackPreview


@app.command("filter-again")
def filter_again(
    project: ProjectFolder,
    preview: Annotated[
        bool, typer.Option("--preview", help="Count what would change; write nothing.")
    ] = False,
    gibberish: Annotated[
        str,
        typer.Option(
            metavar="USE",
            help="What a classifier of gibberish does: off, bar (keep candidates out), member "
            "(join the ensemble), both. If not given: bar, where there are labels enough.",
        ),
    ] = "",
    iterations: Annotated[
        int, typer.Option(metavar="N", help="Iterations; 0: as many as the recipe has.", min=0)
    ] = 0,
    run: Annotated[
        int, typer.Option("--run", metavar="VERSION", help="Which filter run; 0: the recipe's.")
    ] = 0,
    json: Json = False,
) -> None:
    """Filter again with what people said, as a run of its own.

    What they called gibberish or replaced does not come back in it.
    """
    from swag_studio.engine import feedback

    out = reporter(json)
    uses = get_args(feedback.Use)
    if gibberish and gibberish not in uses:
        raise UserError(f"--gibberish is one of {', '.join(uses)}, not {gibberish}.")
    with opened_project(project, readonly=preview) as opened:
        counts = feedback.preview(opened, run)
        columns, rows = _rows(counts)
        out.table(f"What people said of run {counts.parent}", columns, rows)
        if counts.classifier:
            out.say(counts.classifier)
        if counts.simulated:
            out.say("Answers of simulated annotators are counted.", level="warning")
        made = None
        if not preview:
            again = f"swag-studio run {quoted(project)} --until filter"
            use = next((known for known in uses if known == gibberish), None)
            events = feedback.filter_again(opened, run, use, iterations)
            pulled(events, out, "filter-again", again)
            made = _version(opened)
            out.say(f"This is run {made} of the filter; run {counts.parent} is as it was.")
    out.summary("filter-again", {"project": str(project), "run": made, **asdict(counts)})


def _rows(counts: FeedbackPreview) -> tuple[list[str], list[list[str]]]:
    rows = {
        "endings excluded": counts.excluded,
        "contexts that move": counts.affected,
        "of these judged, to be judged again": counts.judged,
        "texts by people that stay behind": counts.edited,
        "contexts that stay as they are": counts.untouched,
        "endings labelled gibberish": counts.gibberish,
        "endings labelled otherwise": counts.sensible,
    }
    return ["", "count"], [[name, f"{value:,}"] for name, value in rows.items()]


def _version(opened: Project) -> int:
    artifact = opened.current("filter")
    assert artifact is not None
    return artifact.version
