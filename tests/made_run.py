"""A filter run made by hand, for tests of human work: contexts, endings, assignments; no models."""

from __future__ import annotations

import random
from pathlib import Path

from swag_studio.project import Project
from swag_studio.recipe import Recipe, preset
from swag_studio.records import Context, Ending, SourceInfo, context_id, ending_id
from swag_studio.store import Store

TEXT = "slowly walks over the old wooden bridge and waves both hands at his friends"
K = 9


def make_context(number: int, split: str, found: str = "") -> Context:
    """A context of a group that three have."""
    group = f"g{number // 3}"
    sent1, found = f"Person {number} comes in.", found or f"sits down at table {number}."
    name = context_id(group, number, sent1, "She", found)
    return Context(name, group, group, "s0", group, number, sent1, "She", found, 0, split)


def fill(store: Store, contexts: int, version: int = 1, *, k: int = K, seed: int = 5) -> list[str]:
    """Contexts under Prepare 1, assigned by filter `version`; returns their ids, by number."""
    rng = random.Random(seed)
    made = [make_context(i, ("train", "train", "val", "test")[i % 4]) for i in range(contexts)]
    store.add_contexts(1, made)
    for c in made:
        texts = [c.found]
        while len(texts) <= k:
            text = " ".join(rng.sample(TEXT.split(), 8)) + "."
            if text not in texts:
                texts.append(text)
        endings = [
            Ending(ending_id(c.id, t), c.id, t, "generated" if n else "found", n)
            for n, t in enumerate(texts)
        ]
        store.put_endings(endings)
        store.put_assignments(version, [(c.id, n, e.id, n, 0.0) for n, e in enumerate(endings)])
    store.publish_source(SourceInfo("s0", "captions.json", "json", "", 1, 1, contexts, 0))
    return [c.id for c in made]


def make_store(folder: Path, contexts: int) -> Store:
    """A store with a run and its curators' table."""
    store = Store(folder / "project.db")
    store.migrate()
    fill(store, contexts)
    list(store.build_review(1, 1, {}))
    return store


def make_project(root: Path, contexts: int) -> None:
    """A project whose stages up to the filter are done, with such a run."""
    recipe: Recipe = preset("demo")
    with Project.create(root, recipe) as project:
        fill(project.store, contexts)
        for stage in ("prepare", "train_lm", "generate", "filter"):
            project.finish(project.begin(stage, recipe), {"contexts": contexts})
        list(project.store.build_review(1, 1, {}))
