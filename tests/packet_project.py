"""A project with work given out, made by hand: no stage runs."""

from __future__ import annotations

from collections.abc import Sequence

from swag_studio.judging import Annotator, Task, TaskKind, task_id
from swag_studio.project import Project
from swag_studio.records import Artifact, Context, Ending, context_id, ending_id

ANNA, BEN = Annotator("a" * 16, "Anna"), Annotator("b" * 16, "Ben")
TEXTS = ("A man sits.", "彼は椅子に座る。", 'She says "=1+1", and\nleaves.')


def give_out(
    project: Project, texts: Sequence[str] = TEXTS, who: Sequence[Annotator] = (ANNA, BEN)
) -> list[Task]:
    """Contexts with these first sentences, six endings each, judged by all of `who`.

    The second is a hidden check, the third an entry test.
    """
    store = project.store
    store.put_artifact(Artifact("prepare", 1, "key", "prepared/v1", True, ""))
    contexts, endings, tasks = [], [], []
    for i, text in enumerate(texts):
        opening, found = f"Opening {i} of {text}", f"found one {i}"
        identity = context_id(f"video-{i}", i, text, opening, found)
        contexts.append(
            Context(
                id=identity,
                group=f"video-{i}",
                video_id=f"video-{i}",
                source_id="source-id",
                document=f"document-{i}",
                position=i,
                sent1=text,
                sent2=opening,
                found=found,
                fold=0,
                split="train",
            )
        )
        rows = [found, *(f"wrong one {i} {k} {text}" for k in range(5))]
        ids = tuple(ending_id(identity, row) for row in rows)
        endings += [
            Ending(e, identity, row, "generated" if k else "found", k)
            for k, (e, row) in enumerate(zip(ids, rows, strict=True))
        ]
        kind: TaskKind = "check" if i == 1 else "test" if i == 2 else "work"
        key = {"top": [0], "gibberish": []} if kind != "work" else {}
        tasks.append(Task(task_id(identity, 0, ids, kind), identity, 1, 0, ids, kind, key))
    store.add_contexts(1, contexts)
    store.put_endings(endings)
    store.put_tasks(tasks)
    for annotator in who:
        store.put_annotator(annotator)
    store.allocate((task.id, annotator.id) for annotator in who for task in tasks)
    return tasks
