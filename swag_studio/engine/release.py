"""The stage `release`: a draft release from the current filter run.

Nobody has checked the endings yet, and the manifest says so. It knows the assignments and the
exporter, not how distractors were found. The folder appears whole, by one rename.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np

from swag_studio import __version__
from swag_studio.engine import accounting
from swag_studio.engine.earlier import feedback_told
from swag_studio.engine.questions import labels
from swag_studio.engine.registry import EXPORTERS
from swag_studio.engine.runtime import seed_for
from swag_studio.errors import StageError
from swag_studio.events import Changed, Event, Finished, Message, Progress
from swag_studio.files import sha256_of, sync, write_json, writing
from swag_studio.project import Project
from swag_studio.recipe import STAGES, Recipe
from swag_studio.records import SPLITS, Artifact, Context, Ending, Question
from swag_studio.releases import MANIFEST, PROVENANCE, RUN

STAGE = "release"
FORMAT = 1
UNVERIFIED = (
    "Draft. No person has checked these endings: some distractors may be as good as the found "
    "ending, or make no sense."
)
_AT_ONCE = 200  # questions between two events

Chosen = tuple[Question, Context, list[Ending]]


def run(recipe: Recipe, project: Project) -> Iterator[Event]:
    """Writes the draft release that belongs to `recipe`: data files, provenance, manifest."""
    artifact = project.begin(STAGE, recipe)
    if artifact.done:
        return
    sources = {stage: project.require(stage, recipe) for stage in STAGES[:-1]}
    folder = project.folder(artifact)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)

    counts = _split_counts(project, sources)
    total = sum(counts.values())
    if total == 0:
        raise StageError(
            "no context has an assigned distractor, so there is nothing to release. Look at what "
            "Prepare and Generate left out with: swag-studio status"
        )
    yield Progress(STAGE, 0, total, "questions")
    exporter = EXPORTERS["swag_csv"](endings=1 + recipe.release.distractors)
    with writing(partial / PROVENANCE) as provenance:
        chosen = _questions(recipe, project, sources, counts)
        for done in exporter.export(_noted(chosen, provenance), partial):
            if done % _AT_ONCE == 0 or done == total:
                yield Progress(STAGE, done, total, "questions")

    names = [*exporter.files, PROVENANCE]
    hashes = {name: sha256_of(partial / name) for name in names}
    manifest = _manifest(recipe, artifact, sources, counts, hashes)
    manifest["feedback"] = feedback_told(project, sources["filter"])
    write_json(partial / MANIFEST, manifest)
    write_json(partial / RUN, _run_account(project, list(sources.values())))
    for name in names:
        sync(partial / name)
    shutil.rmtree(folder, ignore_errors=True)
    partial.replace(folder)

    summary: dict[str, object] = {"questions": total, **counts, "unverified": True}
    project.finish(artifact, summary)
    yield Message(STAGE, f"Draft release in {folder}. {UNVERIFIED}")
    yield Changed(("artifacts",))
    yield Finished(STAGE, summary)


# --- questions -------------------------------------------------------------------------------


def _questions(
    recipe: Recipe, project: Project, sources: dict[str, Artifact], counts: dict[str, int]
) -> Iterator[Chosen]:
    """Every context with assignments as a question, by context id, with its endings in order.

    The distractors kept are a seeded draw from the k assigned: taking the highest scored would
    pick those that are likeliest to be right, and the people who verify see a draw as well.
    """
    seed, places = recipe.run.seed, 1 + recipe.release.distractors
    right = {split: iter(labels(seed, split, counts[split], places)) for split in SPLITS}
    contexts = project.store.contexts(sources["prepare"].version, selected_only=True)
    for context_id, assigned in project.store.assigned(sources["filter"].version):
        context = next((c for c in contexts if c.id == context_id), None)
        if context is None:
            raise RuntimeError(f"assignments for {context_id}, which Prepare did not select")
        endings = {slot: ending for slot, ending, _ in assigned}
        if 0 not in endings or len(endings) <= recipe.release.distractors:
            raise RuntimeError(f"{context_id} has assignments for slots {sorted(endings)} only")
        rng = np.random.default_rng(seed_for(seed, STAGE, "endings", context_id))
        slots = rng.permutation(sorted(endings.keys() - {0}))[: recipe.release.distractors]
        label = int(next(right[context.split]))
        order = [endings[int(slot)] for slot in slots]
        order.insert(label, endings[0])
        question = Question(
            context_id=context_id,
            video_id=context.video_id,
            fold=context.fold,
            split=context.split,
            sent1=context.sent1,
            sent2=context.sent2,
            endings=tuple(ending.text for ending in order),
            label=label,
            gold_source="gold",
        )
        yield question, context, order


def _split_counts(project: Project, sources: dict[str, Artifact]) -> dict[str, int]:
    """Questions per split: contexts that have assignments."""
    with_assignments = {c for c, _ in project.store.assigned(sources["filter"].version)}
    counts = dict.fromkeys(SPLITS, 0)
    for context in project.store.contexts(sources["prepare"].version, selected_only=True):
        counts[context.split] += context.id in with_assignments
    return counts


def _noted(chosen: Iterator[Chosen], file: Any) -> Iterator[Question]:
    """Passes the questions on, and writes one line of provenance for each."""
    rows = dict.fromkeys(SPLITS, 0)
    for question, context, order in chosen:
        entry = {
            "split": question.split,
            "index": rows[question.split],
            "context": context.id,
            "source": context.source_id,
            "document": context.document,
            "position": context.position,
            "endings": [{"id": e.id, "kind": e.kind, "pool_row": e.row} for e in order],
        }
        file.write(json.dumps(entry, sort_keys=True, ensure_ascii=False) + "\n")
        rows[question.split] += 1
        yield question


# --- what stands beside the questions ----------------------------------------------------------


def _manifest(
    recipe: Recipe,
    artifact: Artifact,
    sources: dict[str, Artifact],
    counts: dict[str, int],
    files: dict[str, str],
) -> dict[str, Any]:
    """Everything that tells how the release was made and whether it is whole."""
    made = [*sources.values(), artifact]
    return {
        "format": FORMAT,
        "unverified": True,
        "note": UNVERIFIED,
        "package": {"name": "swag-studio", "version": __version__},
        "files": {name: {"sha256": digest} for name, digest in sorted(files.items())},
        "counts": counts,
        "recipe": recipe.to_dict(),
        "stages": {a.stage: {"version": a.version, "key": a.key} for a in made},
        "gold_unseen": sources["train_lm"].summary.get("gold_unseen"),
    }


def _run_account(project: Project, made: list[Artifact]) -> dict[str, Any]:
    """When, where and how long; what differs between equal runs."""
    account = accounting.account(project, made)
    total = sum(float(s.get("cpu_seconds", 0.0)) for s in account["stages"].values())
    return {**account, "cpu_seconds": round(total, 2)}
