"""The filter runs that a run goes on from, and whose word moved each of them on.

It knows what stands in the project of each run, not the run's files.
"""

from __future__ import annotations

from typing import Any

from swag_studio.engine.said import NAME
from swag_studio.judging import whose
from swag_studio.project import Project
from swag_studio.recipe import from_toml
from swag_studio.records import Artifact


def before(project: Project, run: Artifact) -> Artifact | None:
    """The filter run that `run` goes on from; None where it began with a draw."""
    match = NAME.fullmatch(from_toml(run.recipe).filter.feedback)
    parent = int(match[1]) if match else 0
    return next((a for a in project.store.artifacts("filter") if a.version == parent), None)


def feedback_told(project: Project, run: Artifact) -> dict[str, Any]:
    """With whose word a done run was made, JSON-ready for a manifest.

    `by` is "people", "simulation", "people and simulation", or "nobody" where the run began with a
    draw. `runs` are the earlier runs, the first one first: whose word it was that the next one went
    on with, how many contexts moved by it, and the labels that people or simulation agreed on.
    """
    runs: list[dict[str, Any]] = []
    at: Artifact | None = run
    while at is not None and (told := at.summary.get("feedback")):
        assert isinstance(told, dict)
        gibberish, other = told["labels"]
        by = told.get("by") or whose(not told["simulated"], told["simulated"])
        runs.insert(
            0,
            {
                "run": told["parent"],
                "by": by,
                "contexts": told["affected"],
                "gibberish": gibberish,
                "not_gibberish": other,
            },
        )
        at = before(project, at)
    people, simulation = (any(k in r["by"] for r in runs) for k in ("people", "simulation"))
    return {"by": whose(people, simulation), "runs": runs}
