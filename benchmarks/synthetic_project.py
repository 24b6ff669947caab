"""A project of any size, filtered and judged, made fast: random words, simulated annotators.

It is written in the project's own formats by the thousand rows, without a stage having run. What a
release reads is all there: captions, contexts, assignments with the whole history of the filter,
tasks of all rounds with allocations, judgements and adjudications, curators' edits, and the blocks
of the pool that candidates were taken from.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from review_table import sentence
from synthetic_pool import WIDTH, make_corpus

from swag_studio import recipe as recipes
from swag_studio.connections import sliced
from swag_studio.engine.assignment import Assignment, AssignmentLog
from swag_studio.engine.features import FEATURE_NAMES
from swag_studio.engine.remap import Swaps
from swag_studio.engine.text import TextMaker
from swag_studio.files import write_json
from swag_studio.judging import Adjudication, Judgement, Task
from swag_studio.policy import VerificationPolicy
from swag_studio.pool import Pool, PoolLayout, Rows
from swag_studio.project import Project
from swag_studio.records import Caption, Context, Ending, SourceInfo, content_id, ending_id
from swag_studio.reviewing import Curated
from swag_studio.simulation import Simulated, crew, simulate
from swag_studio.store import Store
from swag_studio.verification import draw_task, next_task, verdict

SEED = 1
GROUP = 5  # contexts of a video
ROWS = 1024  # of a context in the pool
ITERATIONS, SWAPPED = 150, 1 / 3  # of the filter; the share of contexts that each changes
EDITED, TAKEN = 20, 100  # one context in so many was edited, has a candidate of the pool
SEVERAL = 10  # one context in so many is judged by three
ANNOTATORS = 25
AT = "2024-01-01T00:00:00.000Z"
_STEP = 5  # from one row of the pool to the next one assigned; has no factor with ROWS - 1


def make_project(root: Path, contexts: int) -> None:
    """A project whose filter is done, and whose contexts are judged to the end."""
    with Project.create(root, recipes.preset("paper")) as project:
        recipe, store = project.recipe, project.store
        every = [_context(number) for number in range(contexts)]
        _captions(store, every)
        every.sort(key=lambda c: c.id)
        stages = ("prepare", "train_lm", "generate", "filter")
        made = {stage: project.begin(stage, recipe) for stage in stages}
        version = made["filter"].version
        store.add_contexts(made["prepare"].version, every)
        corpus = dataclasses.replace(make_corpus(contexts), context_ids=tuple(c.id for c in every))
        corpus.save(project.folder(made["prepare"]))
        for fold in range(recipe.prepare.folds):
            path = project.folder(made["train_lm"]) / f"fold-{fold}.json"
            write_json(path, {"blake2b": f"{fold:032x}"})
        held = _iterations(AssignmentLog(project.folder(made["filter"])), contexts)
        taken = _take(project.folder(made["generate"]), contexts, TextMaker(corpus.vocabulary))
        people = crew(ANNOTATORS, SEED, created=AT)
        for one in people:
            store.put_annotator(one.annotator)
        work = _Work(version, people)
        rng = random.Random(SEED)
        for part in sliced(enumerate(every), 1000):
            rows = [(place, c, _endings(c, held[place], rng)) for place, c in part]
            store.put_endings(e for _, _, endings in rows for e in endings)
            store.put_assignments(
                version,
                [(c.id, j, e.id, e.row, rng.gauss(0, 1)) for _, c, es in rows
                 for j, e in enumerate(es)],
            )  # fmt: skip
            for place, c, endings in rows:
                ids = [e.id for e in endings]
                if place % EDITED == 0 or place in taken:
                    ids[1:] = work.edit(c, ids[1:], taken.get(place))
                work.judge(c, ids, 3 if place % SEVERAL == 0 else 1)
            work.write(store)
        for artifact in made.values():
            project.finish(artifact, {})


def _context(number: int) -> Context:
    rng, video = random.Random(number), f"v_{number // GROUP:06d}"
    sent1, found = sentence(rng, 12).capitalize(), sentence(rng, 9)
    return Context(
        id=content_id("context", str(number)),
        group=video,
        video_id=f"anetv_{video}",
        source_id="s1",
        document=video,
        position=1 + number % GROUP,
        sent1=sent1,
        sent2="The man",
        found=found,
        fold=number // GROUP % 5,
        split="train" if number // GROUP % 9 < 5 else ("val", "test")[number // GROUP % 2],
    )


def _captions(store: Store, contexts: Sequence[Context]) -> None:
    """Each video's: the first sentence of each context, and one at the end."""
    info = SourceInfo("s1", "captions.json", "activitynet", "ab" * 32, 1, 1, len(contexts), 0)
    store.stage_source(info)
    store.add_captions(
        info.id,
        (
            Caption(c.document, c.group, c.video_id, i, text, i * 5.0, i * 5 + 4.0)
            for document in map(list, _by_document(contexts))
            for i, (c, text) in enumerate([*((c, c.sent1) for c in document),
                                           (document[-1], document[-1].found)])
        ),
    )  # fmt: skip
    store.publish_source(info)


def _by_document(contexts: Sequence[Context]) -> Iterator[Iterator[Context]]:
    return (group for _, group in itertools.groupby(contexts, key=lambda c: c.document))


# --- the filter ----------------------------------------------------------------------------------


def _iterations(log: AssignmentLog, contexts: int) -> np.ndarray:
    """A history in which no candidate comes twice; returns the rows held at the end, (C, k)."""
    rng, k = np.random.default_rng(SEED), recipes.preset("paper").filter.distractors

    def row(count: np.ndarray, context: np.ndarray) -> np.ndarray:
        return (1 + (context * 7 + count * _STEP) % (ROWS - 1)).astype(np.uint16)

    every = np.arange(contexts)
    held = row(np.arange(k), every[:, None])
    size = -(-ROWS // 8)
    bits = np.full(contexts * size, 255, np.uint8)
    log.begin(Assignment(every, held.copy(), bits, np.arange(contexts + 1, dtype=np.int64) * size))
    count = np.full(contexts, k)
    for iteration in range(ITERATIONS):
        place = np.flatnonzero(rng.random(contexts) < SWAPPED)
        slot = rng.integers(k, size=len(place)).astype(np.uint8)
        old, new = held[place, slot], row(count[place], place)
        scores = rng.normal(size=(3, len(place))).astype(np.float32)
        log.commit(iteration, Swaps(place, slot, old, new, *scores, 0, 0, 0), {})
        held[place, slot] = new
        count[place] += 1
    return held


def _take(folder: Path, contexts: int, maker: TextMaker) -> dict[int, str]:
    """Place -> the text of a candidate that a curator took; writes those blocks of the pool."""
    rng = np.random.default_rng(SEED)
    recipe = recipes.preset("paper").generate
    layout = PoolLayout(contexts, recipe.contexts_per_block, WIDTH, FEATURE_NAMES)
    pool, wanted = Pool.create(folder, layout), range(TAKEN // 2, contexts, TAKEN)
    for block in sorted({layout.block_of(place)[0] for place in wanted}):
        here = len(layout.contexts_of(block))
        lengths = rng.integers(5, WIDTH + 1, here * ROWS).astype(np.uint8)
        tokens = rng.integers(4, 6000, (here * ROWS, WIDTH), dtype=np.uint16)
        tokens[np.arange(WIDTH) >= lengths[:, None]] = 0
        ones = np.ones(here * ROWS, np.uint8)
        features = np.zeros((here * ROWS, len(FEATURE_NAMES)), np.float32)
        rows = Rows(tokens, lengths, ones, np.zeros(here * ROWS, np.uint16), features)
        pool.write(block, np.arange(here + 1, dtype=np.int64) * ROWS, rows)
    return {
        place: maker.ending(pool.context(place).tokens[int(rng.integers(1, ROWS))].tolist())
        for place in wanted
    }


def _endings(c: Context, rows: Iterable[int], rng: random.Random) -> list[Ending]:
    texts = [(c.found, 0), *((sentence(rng, 9), int(row)) for row in rows)]
    return [
        Ending(ending_id(c.id, text), c.id, text, "generated" if row else "found", row)
        for text, row in texts
    ]


# --- people --------------------------------------------------------------------------------------


def _moment(number: int) -> str:
    """The moment of an answer: one each second, for people's work is caught up with by them."""
    at = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class _Work:
    """People's work on one filter run, some hundred contexts at a time, as rows to be written."""

    version: int
    people: Sequence[Simulated]
    policy: VerificationPolicy = field(default_factory=VerificationPolicy)
    steps: int = 0
    given: list[int] = field(default_factory=lambda: [0] * ANNOTATORS)
    endings: list[Ending] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    adjudications: list[Adjudication] = field(default_factory=list)
    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)

    def edit(self, c: Context, wrong: list[str], taken: str | None) -> list[str]:
        """A curator's step: an ending that is written anew, or one that is taken from the pool."""
        self.steps += 1
        text = taken or f"{c.found.rstrip('.')} and edits it."
        new = Ending(ending_id(c.id, text), c.id, text, "generated" if taken else "edited", -1)
        self.endings.append(new)
        after = [new.id, *wrong[1:]]
        states = [Curated(tuple(ids)).to_json() for ids in (wrong, after)]
        name = "Replace an ending" if taken else "Edit an ending"
        self._row("edit_batches", self.steps, AT, f"Curator {self.steps % 7}", name, 0, 0)
        self._row("edits", self.steps, self.version, c.id, *states)
        self._row("curated", self.version, c.id, states[1])
        if not taken:
            self._row("ending_parents", new.id, wrong[0], f"Curator {self.steps % 7}", AT)
        return after

    def judge(self, c: Context, ids: Sequence[str], by: int) -> None:
        """All rounds of a context, to a verdict that is final."""
        chain = [draw_task(c.id, ids, self.version, SEED, self.policy)]
        answers, settled = list[Judgement](), list[Adjudication]()
        while True:
            answers += self._answers(chain[-1], by)
            now = verdict(chain, answers, settled, ids, self.policy, split=c.split, seed=SEED)
            if now.kind == "adjudicate":
                a = next(j for j in answers if j.task_id == chain[-1].id)
                told = Adjudication(a.task_id, "Judge 1", a.labels, a.best, a.second, AT)
                settled.append(told)
                now = verdict(chain, answers, settled, ids, self.policy, split=c.split, seed=SEED)
            if now.kind != "reannotate":
                break
            chain.append(next_task(chain[-1], now))
        self.tasks += chain
        self.judgements += answers
        self.adjudications += settled

    def _answers(self, task: Task, by: int) -> Iterator[Judgement]:
        first = int(task.id[1:9], 16)
        for i in range(by):
            who = (first + i) % ANNOTATORS
            yield simulate(task, self.people[who].annotator, 1.0, SEED, _moment(sum(self.given)))
            annotator, place = self.people[who].annotator.id, self.given[who]
            self._row("allocations", annotator, place, task.id, "done")
            self.given[who] += 1

    def _row(self, table: str, *values: Any) -> None:
        self.rows.setdefault(table, []).append(values)

    def write(self, store: Store) -> None:
        """Writes all of it and forgets it. Not by the store's own writers, which sync each row."""
        store.put_endings(self.endings)
        store.put_tasks(self.tasks)
        with store.write() as connection:
            store.add_rows(connection, self.judgements)
            for table, rows in self.rows.items():
                marks = ",".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        for one in self.adjudications:
            store.adjudicate(one)
        for kept in (self.endings, self.tasks, self.judgements, self.adjudications, self.rows):
            kept.clear()
