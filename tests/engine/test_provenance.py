"""When endings came and went, against a replay; and names that do not tell who."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_project import context, filtered

from swag_studio import recipe as recipes
from swag_studio.curating import Curator
from swag_studio.engine.assignment import Assignment, AssignmentLog
from swag_studio.engine.history import History
from swag_studio.engine.provenance import Names, Provenance
from swag_studio.engine.publish import publish
from swag_studio.engine.remap import Swaps
from swag_studio.errors import ProjectError
from swag_studio.judging import Annotator
from swag_studio.lineage import Lineage
from swag_studio.project import Project
from swag_studio.releases import ReleaseOptions

ORIGIN = ("generator", "pool_row", "assigned", "score")


@pytest.mark.parametrize("seed", range(4))
def test_spans_are_what_a_replay_gives(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.array([2, 3, 7, 11])  # of the pool; the others have no assignment
    rows = np.array([rng.choice(np.arange(1, 9), 3, replace=False) for _ in places], np.uint16)
    log = AssignmentLog(tmp_path)
    log.begin(Assignment(places, rows, np.full(8, 255, np.uint8), np.arange(5) * 2))
    held = rows.copy()
    intervals: dict[tuple[int, int], list[list[int | None]]] = {
        (int(place), int(row)): [[-1, None]]
        for place, mine in zip(places, rows, strict=True)
        for row in mine
    }
    for iteration in range(12):
        swaps = []
        for at in np.flatnonzero(rng.random(len(places)) < 0.6):
            slot = int(rng.integers(3))
            new = int(rng.choice(np.setdiff1d(np.arange(1, 9), held[at])))
            old, held[at, slot] = int(held[at, slot]), new
            intervals[int(places[at]), old][-1][1] = iteration
            intervals.setdefault((int(places[at]), new), []).append([iteration, None])
            swaps.append((at, slot, old, new))
        columns = np.array(swaps, np.int64).reshape(-1, 4).T
        scores = np.zeros(columns.shape[1], np.float32)
        log.commit(
            iteration,
            Swaps(
                columns[0], columns[1].astype(np.uint8), columns[2].astype(np.uint16),
                columns[3].astype(np.uint16), scores, scores, scores, 0, 0, 0,
            ),
            {},
        )  # fmt: skip
    history = History(log, 7)
    for place in range(13):
        expected = {
            row: [
                {"run": 7, "by": "draw" if first == -1 else "filter", "in": first, "out": last}
                for first, last in spans
            ]
            for (p, row), spans in intervals.items()
            if p == place
        }
        assert history.spans(place) == expected


def test_a_run_whose_files_are_gone_has_no_history(tmp_path: Path) -> None:
    history = History(AssignmentLog(tmp_path))
    assert not history.known and history.spans(0) == {}


def test_pseudonyms_do_not_follow_the_names(tmp_path: Path) -> None:
    recipe = recipes.preset("demo")
    with filtered(tmp_path / "p.swag", recipe, [context(0)]) as project:
        project.store.put_annotator(Annotator("a0", "Zoe"))
        names = Names(project.store)
        numbers = {a.name: names.annotator(a.id) for a in project.store.annotators()}
    assert numbers == {
        "Zoe": "annotator-1",
        "Blaise Pascal": "annotator-2",
        "Ada Lovelace": "annotator-3",
        "Simulated 1": "simulated-1",
    }


def test_who_settles_something_while_a_release_is_made_has_a_name(tmp_path: Path) -> None:
    with filtered(tmp_path / "p.swag", recipes.preset("demo"), [context(0)]) as project:
        names = Names(project.store)
        assert [names.adjudicator(n) for n in ("Eva", "Max", "Eva")] == [
            *("adjudicator-1", "adjudicator-2", "adjudicator-1")
        ]


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    with filtered(tmp_path / "p.swag", recipes.preset("demo"), [context(0)]) as project:
        assert Lineage.of(project)["prepare"].stage == "prepare"
        with pytest.raises(ProjectError, match="no finished run 5"):
            Lineage.of(project, 5)
        project.set_recipe(project.recipe.with_values({"run.seed": 9}))
        assert Lineage.of(project, 1).recipe.run.seed == 1  # by its own recipe
        with pytest.raises(ProjectError, match="no run with this recipe"):
            Lineage.of(project)


# --- edited endings ------------------------------------------------------------------------------


def wrong_endings(project: Project, version: str) -> list[dict[str, Any]]:
    """What provenance tells of the wrong endings of a project's only question, by their slots."""
    options = ReleaseOptions(version, unverified=True, formats=("swag_csv",), cost_per_hour=0.0)
    list(publish(project, options))
    path = project.root / "releases" / version / "provenance.jsonl"
    (entry,) = map(json.loads, path.read_text("utf-8").splitlines())
    return [e for e in entry["endings"] if not e["right"]]


def root_of(ending: dict[str, Any]) -> dict[str, Any]:
    """The ending that was never edited, behind one of the release."""
    return dict(ending["parents"][-1]) if ending["parents"] else ending


def test_what_an_edited_ending_was_made_from_has_its_origin_as_if_unedited(tmp_path: Path) -> None:
    one = context(0, split="train")
    with filtered(tmp_path / "p.swag", recipes.preset("demo"), [one]) as project:
        unedited = {e["id"]: e for e in wrong_endings(project, "1.0.0")}
        for who in ("Grace", "Alan"):
            for place in range(9):
                Curator(project.store, 1, who).edit_text(one.id, place, f"{who} bows {place}.")
        edited = wrong_endings(project, "1.1.0")
        numbers = Names(project.store)
        editors = [numbers.curator(who) for who in ("Alan", "Grace")]
    assert {root_of(e)["id"] for e in edited} == {*unedited} and len(edited) == 4
    assert {e["assigned"][0]["by"] for e in unedited.values()} >= {"draw"}
    for ending in edited:
        assert ending["kind"] == "edited" and ending["text"].startswith("Alan")
        assert [ending[what] for what in ORIGIN] == [None, None, [], None]
        nearer, root = ending["parents"]
        assert [p["edited_by"] for p in (nearer, root)] == editors
        assert nearer["kind"] == "edited" and nearer["text"].startswith("Grace")
        assert [nearer[what] for what in ORIGIN] == [None, None, [], None]
        for what in ("text", "kind", *ORIGIN):
            assert root[what] == unedited[root["id"]][what]
        assert root["generator"]["checkpoint"] == "hash of fold 0" and root["assigned"]


@pytest.mark.parametrize("row", [40, None])
def test_what_a_curator_took_from_the_pool_and_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: int | None
) -> None:
    monkeypatch.setattr(Provenance, "pool_row", lambda *_: row)
    one = context(0, split="train")
    with filtered(tmp_path / "p.swag", recipes.preset("demo"), [one]) as project:
        curator = Curator(project.store, 1, "me")
        for place in range(9):
            curator.replace(one.id, place, f"comes in {place}.")
            curator.edit_text(one.id, place, f"bows {place}.")
        edited = wrong_endings(project, "1.0.0")
    for ending in edited:
        (parent,) = ending["parents"]
        assert parent["kind"] == "generated" and parent["score"] is None
        assert parent["pool_row"] == row
        if row is None:  # written for another pool: nothing is claimed of it
            assert parent["generator"] is None and parent["assigned"] is None
        else:
            assert parent["generator"]["fold"] == 0
            put_in = {"run": 1, "by": "curator", "in": None, "out": None}
            assert parent["assigned"] == [put_in]
