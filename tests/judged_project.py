"""A small project whose contexts were filtered and judged, by answers that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from swag_studio.engine.assignment import Assignment, AssignmentLog
from swag_studio.engine.remap import Swaps
from swag_studio.files import write_json
from swag_studio.judging import Annotator, Judgement, Label, Task
from swag_studio.lineage import Lineage
from swag_studio.project import Project
from swag_studio.recipe import STAGES, Recipe
from swag_studio.records import (
    SPLITS,
    Caption,
    Context,
    Ending,
    SourceInfo,
    context_id,
    ending_id,
)
from swag_studio.rounds import HumanWork

K = 9
PEOPLE = (
    Annotator("a2", "Ada Lovelace"),
    Annotator("a1", "Blaise Pascal"),
    Annotator("a9", "Simulated 1", "simulated"),
)
Answer = tuple[Sequence[Label], int, int]  # labels, best, second; the found ending in place 0

# The found ending best; the found ending second, then the generated one in place 1 is best;
# neither; the found one best, but only two wrong endings can be used.
BEST: Answer = (("likely", "likely", "unlikely", "likely", "unlikely", "gibberish"), 0, 1)
SECOND: Answer = (("likely", "likely", "unlikely", "unlikely", "likely", "unlikely"), 1, 0)
NEITHER: Answer = (("unlikely", "likely", "likely", "unlikely", "unlikely", "unlikely"), 1, 2)
FEW: Answer = (("likely", "likely", "gibberish", "gibberish", "unlikely", "unlikely"), 0, 1)


def context(number: int, found: str = "", sent1: str = "", split: str = "") -> Context:
    """A context in a video of its own; splits take turns: train, train, val, test."""
    sent1 = sent1 or f"Person {number} sits down."
    found = found or f"stands up {number}."
    return Context(
        id=context_id(f"anetv_{number}", 1, sent1, "Then she", found),
        group=f"anetv_{number}",
        video_id=f"anetv_{number}",
        source_id="s1",
        document=f"v_{number}",
        position=1,
        sent1=sent1,
        sent2="Then she",
        found=found,
        fold=number % 2,
        split=split or ("train", *SPLITS)[number % 4],
    )


def filtered(
    root: Path,
    recipe: Recipe,
    contexts: Sequence[Context],
    wrong: Mapping[str, Sequence[str]] | None = None,
) -> Project:
    """A project whose filter is done. `wrong`: video -> its assigned endings by slot."""
    project = Project.create(root, recipe)
    store = project.store
    info = SourceInfo("s1", "val_1.json", "activitynet", "ab" * 32, 1, 1, 1, 0)
    store.stage_source(info)
    for c in contexts:
        texts = (c.sent1, f"{c.sent2} {c.found}")
        store.add_captions(
            "s1",
            [
                Caption(c.document, c.group, c.video_id, i, f" {text.upper()}", i * 5.0, i * 5 + 4)
                for i, text in enumerate(texts)
            ],
        )
    store.publish_source(info)
    made = {stage: project.begin(stage, recipe) for stage in STAGES[:-1]}
    rows = sorted(contexts, key=lambda c: c.id)
    store.add_contexts(made["prepare"].version, rows)
    for c in rows:
        texts = (wrong or {}).get(c.video_id) or [f"wrong {j} of {c.video_id}." for j in range(K)]
        endings = [
            Ending(ending_id(c.id, t), c.id, t, "generated" if j else "found", j * 7)
            for j, t in enumerate([c.found, *texts])
        ]
        store.put_endings(endings)
        store.put_assignments(
            made["filter"].version,
            [(c.id, j, e.id, e.row, j / -4) for j, e in enumerate(endings)],
        )
    _iterations(AssignmentLog(project.folder(made["filter"])), len(rows))
    for fold in range(recipe.prepare.folds):
        path = project.folder(made["train_lm"]) / f"fold-{fold}.json"
        write_json(path, {"blake2b": f"hash of fold {fold}"})
    for stage, artifact in made.items():
        project.finish(artifact, {"gold_unseen": True} if stage == "train_lm" else {})
    for person in PEOPLE:
        store.put_annotator(person)
    return project


def _iterations(log: AssignmentLog, contexts: int) -> None:
    """Slots 1 to 9 hold rows 7 to 63; slot 1 held row 3, then row 5 from iteration 0 to 2."""
    rows = np.tile(np.arange(1, K + 1, dtype=np.uint16) * 7, (contexts, 1))
    rows[:, 0] = 3
    bits = np.packbits(np.ones((contexts, 72), np.uint8), axis=1, bitorder="little")
    log.begin(
        Assignment(
            np.arange(contexts), rows, bits.reshape(-1), np.arange(contexts + 1) * bits.shape[1]
        )
    )
    for iteration, (old, new) in enumerate([(3, 5), (0, 0), (5, 7)]):
        places = np.arange(contexts if new else 0)
        scores = np.zeros(len(places), np.float32)
        swaps = Swaps(
            place=places,
            slot=np.zeros(len(places), np.uint8),
            old=np.full(len(places), old, np.uint16),
            new=np.full(len(places), new, np.uint16),
            old_score=scores,
            new_score=scores,
            gold_score=scores,
            with_easy=0,
            exhausted=0,
            scanned=0,
        )
        log.commit(iteration, swaps, {})


def work_of(project: Project) -> HumanWork:
    lineage = Lineage.of(project)
    versions = lineage["filter"].version, lineage["prepare"].version
    return HumanWork(project.store, *versions, lineage.recipe.run.seed)


def judge(
    project: Project,
    answers: Mapping[str, Sequence[Answer]],
    annotators: Sequence[str] = ("a1",),
    rounds: int = 3,
) -> None:
    """The same answers of all these annotators; video -> answer by round, the last one repeated."""
    work = work_of(project)
    videos = {c.id: c.video_id for c in project.store.contexts(1)}
    tasks: list[Task] = work.open_first_round(
        contexts=[id for id, video in videos.items() if video in answers]
    )
    for number in range(rounds):
        given = []
        for task in tasks:
            mine = answers[videos[task.context_id]]
            labels, best, second = mine[min(number, len(mine) - 1)]
            given += [
                Judgement(task.id, annotator, tuple(labels), best, second, seconds=60.0)
                for annotator in annotators
            ]
        project.store.add_judgements(given)
        tasks = work.open_further_rounds()
