"""The stage "generate": candidates for every context, scored, a block at a time into the pool.

A block's bytes depend on the recipe alone: its contexts are fixed, and each context's draws have
their own seed. An interrupted run goes on with the blocks that are not written.

    block-000000.safetensors   the pool (pool.py)
    counts/block-000000.json   what was drawn for the block, for the summary; written before it
    batch.json                 the rows that fit the device's memory, once they did not
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from swag_studio.engine import runtime
from swag_studio.engine.candidates import BATCH_ROWS, Beats, BlockMaker, Made, join
from swag_studio.engine.corpus import Corpus
from swag_studio.engine.features import FEATURE_NAMES
from swag_studio.errors import StageError
from swag_studio.events import Event, Finished, Message, Progress
from swag_studio.files import read_json, write_json
from swag_studio.pool import Pool, PoolLayout
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import OwnContext
from swag_studio.store import Store

STAGE = "generate"
BEAT = 0.1  # s between two Progress events


def run(recipe: Recipe, project: Project) -> Iterator[Event]:
    """Runs the stage. Raises StageError when no context has enough candidates."""
    artifact = project.begin(STAGE, recipe)
    if artifact.done:
        return
    yield Progress(STAGE, 0, 0, "contexts", "loading")
    prepared, folder = project.require("prepare", recipe), project.folder(artifact)
    corpus = Corpus.load(project.folder(prepared))
    layout = PoolLayout(
        contexts=len(corpus.context_ids),
        contexts_per_block=recipe.generate.contexts_per_block,
        max_tokens=recipe.generate.max_tokens,
        feature_names=FEATURE_NAMES,
    )
    pool = Pool.create(folder, layout)
    device, dtype = runtime.choose_device(recipe.run.device, recipe.run.dtype)
    models = project.folder(project.require("train_lm", recipe))
    own = _OwnContexts(project.store, prepared.version)
    maker = BlockMaker(recipe, corpus, models, device, dtype, own)
    for block in pool.missing():
        contexts = layout.contexts_of(block)
        made = yield from _made(maker, contexts, layout, folder / "batch.json")
        write_json(_counts_path(folder, block), _counts(made))
        pool.write(block, *join(made))
        yield Progress(STAGE, contexts.stop, layout.contexts, "contexts")
    summary = _summary([read_json(_counts_path(folder, b)) for b in range(layout.blocks)])
    if not summary["contexts"]:
        raise StageError(_none_left(recipe, layout.contexts))
    known = artifact.summary.get("pool")  # of one that was done before
    summary["pool"] = pool.finish(known if isinstance(known, str) else None)
    yield from _messages(summary, recipe)
    project.finish(artifact, summary)
    yield Finished(STAGE, summary)


def _made(
    maker: BlockMaker, contexts: range, layout: PoolLayout, batch: Path
) -> Generator[Event, None, list[Made]]:
    """A block's contexts. Where they do not fit the device's memory together, in smaller batches.

    The size is kept in the file `batch`: the numbers depend on it in their last bits, and so an
    interrupted run must go on with it.
    """
    while True:
        rows = int(read_json(batch)["rows"]) if batch.exists() else BATCH_ROWS
        try:
            return (yield from _paced(maker.make(contexts, rows), contexts.start, layout))
        except RuntimeError as error:
            if not runtime.is_out_of_memory(error) or rows < 2:
                raise
        write_json(batch, {"rows": rows // 2})
        runtime.free_memory()
        yield Message(
            STAGE,
            f"{rows} endings at once do not fit the device's memory: going on with {rows // 2}.",
            "warning",
        )


def _paced(
    work: Beats[list[Made]], done: int, layout: PoolLayout
) -> Generator[Event, None, list[Made]]:
    """The work, with Progress no more often than a screen can show."""
    last = monotonic()
    while True:
        try:
            next(work)
        except StopIteration as stop:
            result: list[Made] = stop.value
            return result
        if monotonic() - last >= BEAT:
            yield Progress(STAGE, done, layout.contexts, "contexts")
            last = monotonic()


class _OwnContexts:
    """Own contexts by the id that Prepare gave them. Reads the ids when first asked."""

    def __init__(self, store: Store, version: int) -> None:
        self._store, self._version = store, version
        self._places: dict[str, tuple[str, str]] = {}

    def __call__(self, context_id: str) -> OwnContext:
        if not self._places:
            self._places = {
                c.id: (c.source_id, c.document)
                for c in self._store.contexts(self._version, selected_only=True)
                if c.origin == "own"
            }
        own = self._store.own_context(*self._places[context_id])
        assert own is not None, "the source of a prepared context is gone"
        return own


# --- telling ---------------------------------------------------------------------------------


def _counts_path(folder: Path, block: int) -> Path:
    return folder / "counts" / f"block-{block:06d}.json"


def _counts(made: Sequence[Made]) -> dict[str, Any]:
    """What the summary needs of one block; `found` and `generated` are sums of features."""
    kept = [m.rows for m in made if m.kept]
    empty = np.zeros((0, len(FEATURE_NAMES)), np.float32)
    found, generated = (
        np.concatenate([empty, *(r.features[part] for r in kept)]).sum(0, dtype=np.float64)
        for part in (slice(0, 1), slice(1, None))
    )
    return {
        "contexts": len(kept),
        "left_out": len(made) - len(kept),
        "candidates": sum(len(r) - 1 for r in kept),
        "cut_off": sum(int((r.complete == 0).sum()) for r in kept),
        "drawn": sum(m.drawn for m in made),
        "repeated": sum(m.repeated for m in made),
        "found": found.tolist(),
        "generated": generated.tolist(),
    }


def _summary(counts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Counts, shares and mean features, JSON-ready.

    A mean that differs between found and generated endings is what a classifier of features sees
    before any filtering.
    """
    plain = ("contexts", "left_out", "candidates", "cut_off", "drawn", "repeated")
    summary: dict[str, Any] = {name: sum(c[name] for c in counts) for name in plain}
    contexts, candidates = max(summary["contexts"], 1), max(summary["candidates"], 1)
    summary["candidates_per_context"] = round(candidates / contexts, 1)
    summary["cut_off_share"] = round(summary["cut_off"] / candidates, 4)
    summary["repeated_share"] = round(summary["repeated"] / max(summary["drawn"], 1), 4)
    for kind, rows in (("found", contexts), ("generated", candidates)):
        sums = np.sum([c[kind] for c in counts], axis=0)
        means = [round(float(x) / rows, 4) for x in sums]
        summary[kind] = dict(zip(FEATURE_NAMES, means, strict=True))
    return summary


def _messages(summary: dict[str, Any], recipe: Recipe) -> Iterator[Event]:
    """What a curator should know about the result."""
    yield Message(
        STAGE,
        f"{summary['contexts']} contexts have {summary['candidates_per_context']} candidates on "
        f"average; {summary['cut_off_share']:.1%} of them were cut off.",
    )
    if left_out := summary["left_out"]:
        yield Message(
            STAGE,
            f"{left_out} contexts were left out: too few different complete candidates "
            f"(generate.floor is {recipe.generate.floor}).",
            "warning",
        )


def _none_left(recipe: Recipe, contexts: int) -> str:
    return (
        f"None of {contexts} contexts has {recipe.generate.floor} different complete candidates. "
        "Raise generate.draw_budget or generate.temperature, lower generate.floor, or train the "
        "language models on more captions."
    )
