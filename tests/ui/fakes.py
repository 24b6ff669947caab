"""The engine and its work as the window sees them, without either."""

from __future__ import annotations

import queue
import traceback
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from swag_studio.errors import ProjectError, SourceError, UserError
from swag_studio.events import Cancelled, Changed, Event, Failed, Finished, Message, Progress
from swag_studio.files import write_json
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import Caption, LeftOut, SourceInfo
from swag_studio.releases import ReleaseOptions
from swag_studio.ui.bridge import Job
from swag_studio.views import (
    Comparison,
    ContextRow,
    Difference,
    FeedbackPreview,
    Outlook,
    PoolReader,
    Rehearsal,
    ShownQuestion,
    Slot,
    WatchReader,
)

REASONS = {"empty_sentence": "the sentence is empty", "no_sentences": "the video has no sentences"}


class FakeEngine:
    """Does nothing by itself: `work` pulls all jobs to their end, `step` one event."""

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.jobs: list[Iterator[Event]] = []
        self.paused = self.closed = False
        self.cancelled = 0

    @property
    def busy(self) -> bool:
        return bool(self.jobs)

    def submit(self, job: Job) -> None:
        self.jobs.append(job())

    def step(self) -> None:
        try:
            event = next(self.jobs[0], None)
        except UserError as error:
            event = Failed("", str(error))
            self.jobs.pop(0)
        except Exception as error:
            event = Failed("", type(error).__name__, traceback.format_exc())
            self.jobs.pop(0)
        if event is None:
            self.jobs.pop(0)
        else:
            self.events.put(event)

    def work(self) -> None:
        while self.jobs:
            self.step()

    def cancel(self) -> None:
        self.cancelled += 1
        self.paused = False
        for job in self.jobs:
            job.close()  # type: ignore[attr-defined]
        if self.jobs:
            self.jobs.clear()
            self.events.put(Cancelled(""))

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def join(self, timeout: float | None = None) -> bool:
        return True

    def close(self, timeout: float | None = None) -> bool:
        self.cancel()
        self.closed = True
        return True


class FakeJobs:
    """Files are what the test says they are; stages finish at once, or never."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, Any]] = {}  # name -> captions, left_out, error
        self.asked: list[tuple[str, str | None, bool]] = []
        self.ran: list[str] = []
        self.endless = False
        self.error: Exception | None = None
        self.pool_reader: PoolReader | None = None
        self.watch_reader: WatchReader | None = None
        self.feedback: FeedbackPreview | None = None
        self.found, self.simulated = 312, False  # contexts that give a question; by whom
        self.problems: tuple[dict[str, Any], ...] = ()  # what the checks of a release find
        self.counted: list[ReleaseOptions] = []
        self.published: list[ReleaseOptions] = []

    def run(self, recipe: Recipe, project: Project, until: str) -> Iterator[Event]:
        self.ran.append(until)
        yield Progress(until, 0, 10, "things")
        while self.endless:
            yield Progress(until, 1, 10, "things")
        if self.error:
            raise self.error
        yield Message(until, "All went well.")
        yield Finished(until)

    def import_file(
        self, path: Path, project: Project, source: str | None, dry_run: bool
    ) -> Iterator[Event]:
        self.asked.append((path.name, source, dry_run))
        file = self.files[path.name]
        yield Progress("ingest", 1, 2, "bytes")
        if "error" in file and (source is None or source == file.get("only")):
            raise SourceError(str(path), "line 3", file["error"])
        captions: list[Caption] = file["captions"]
        left_out: list[LeftOut] = file.get("left_out", [])
        info = _info(path.name, source or "activitynet", captions, left_out)
        known = any(s.id == info.id for s in project.store.sources())
        if not dry_run and not known:
            store = project.store
            store.stage_source(info)
            store.add_captions(info.id, captions)
            store.add_left_out_of_source(info.id, left_out)
            store.publish_source(info)
            yield Changed(("sources", "captions"))
        yield Message("ingest", "said during the import")
        yield Finished("ingest", _summary(info, captions, left_out, known))

    def check(self, project: Project) -> Iterator[Event]:
        yield Message("check", "The project is whole.")
        yield Finished("check")

    def source_names(self) -> list[str]:
        return ["activitynet", "csv", "own"]

    def source_reasons(self) -> dict[str, str]:
        return REASONS

    def demo_captions(self) -> Path:
        return Path("captions.json")

    def pool(self, project: Project) -> PoolReader:
        if self.pool_reader is None:
            raise ProjectError("There are no candidates for the current recipe yet.")
        return self.pool_reader

    def watch(self, project: Project, version: int) -> WatchReader:
        if self.watch_reader is None:
            raise ProjectError("There is no such filter run.")
        return self.watch_reader

    def review(self, project: Project, version: int) -> Iterator[int]:
        yield from project.store.build_review(version, 1, {})

    def publish(self, project: Project, options: ReleaseOptions) -> Iterator[Event]:
        self.published.append(options)
        folder = project.root / "releases" / options.version
        yield Progress("publish", 0, 2, "questions")
        while self.endless:
            yield Progress("publish", 1, 2, "questions")
        if self.error:
            raise self.error
        write_release(folder, options)
        yield Changed(("releases",))
        yield Finished("publish", {"folder": str(folder)})

    def rehearse(self, project: Project, options: ReleaseOptions) -> Iterator[Event]:
        yield Progress("rehearse", 1, 2, "questions")
        while self.endless:
            yield Progress("rehearse", 1, 2, "questions")
        found = Rehearsal(self.outlook(project, options), self.problems, 3, (question(),))
        yield Finished("rehearse", {"rehearsal": found})

    def outlook(self, project: Project, options: ReleaseOptions) -> Outlook:
        self.counted.append(options)
        return made_outlook(self.found + 100 * options.unverified, simulated=self.simulated)

    def release_formats(self) -> dict[str, str]:
        return {"swag_csv": "", "swag_full": "", "hellaswag": "", "parquet": "pyarrow"}

    def release_questions(self, folder: Path) -> list[ShownQuestion]:
        return [question(f"A man of {folder.name}. He")]

    def compare_releases(self, first: Path, second: Path) -> Comparison:
        rows = (
            Difference("added", (), None, question("A new one. She")),
            Difference("changed", ("right ending",), question(right="sat."), question()),
        )
        told = f"From {first.name} to {second.name}: one added, one changed."
        return Comparison((first.name, second.name), (told,), rows, 5)

    def feedback_preview(self, project: Project) -> FeedbackPreview:
        if self.feedback is None:
            raise ProjectError("There is no filter run yet.")
        return self.feedback

    def filter_again(self, project: Project, gibberish: str, iterations: int) -> Iterator[Event]:
        self.ran.append(f"again {gibberish} {iterations}")
        yield Finished("filter")

    def accelerator(self) -> str:
        return ""


def made_outlook(found: int, *, simulated: bool = False) -> Outlook:
    """`found` contexts of 1,000 give a training question each; 12 are tied, the rest is open."""
    none = {"all": 0, "gold": 0, "gen": 0, "unverified": 0}
    counts = {
        "questions": {"train": {**none, "all": found, "gold": found}, "val": none, "test": none},
        "contexts": found,
        "left_out": {"adjudicate": 12, "not judged": 988 - found},
        "groups": {"train": found, "val": 0, "test": 0},
        "with_fourth": 0,
        "surprising": 0,
        "preferences": 0,
    }
    people = {
        "annotators": 2,
        "judgements": found,
        "simulated_annotators": int(simulated),
        "simulated_judgements": 9 * simulated,
        "adjudications": 0,
        "unverified_questions": 0,
    }
    return Outlook(1000, counts, people)


def question(start: str = "A man waits. He", right: str = "leaves.") -> ShownQuestion:
    """A training question whose third ending is right."""
    endings = ("<b>eats</b> it.", "sits.", right, "runs.")
    return ShownQuestion("train", 0, "c1", "anetv_1", start, endings, 2, "gold", True)


def write_release(folder: Path, options: ReleaseOptions) -> None:
    """A release of three training questions, as far as a list shows it."""
    folder.mkdir(parents=True)
    text = "".join(f'{i},"a, b\nc"\n' for i in range(3))
    (folder / "train.csv").write_text(f",sent1\n{text}", encoding="utf-8")
    (folder / "README.md").write_text("# The card\n", encoding="utf-8")
    manifest = {
        "version": options.version,
        "title": options.title,
        "package": {"name": "swag-studio", "version": "0"},
        "counts": {"questions": {"train": {"all": 3}}},
        "verification": {"by": "people"},
        "files": {"train.csv": {"sha256": "ab" * 32}},
    }
    write_json(folder / "manifest.json", manifest)
    write_json(folder / "run.json", {"written": "2026-05-04T03:02:01Z"})


def captions(count: int, document: str = "v_one") -> list[Caption]:
    """`count` captions of one video."""
    return [
        Caption(document, document, document, i, f"Sentence {i} of {document}.", i, i + 1)
        for i in range(count)
    ]


def _info(name: str, source: str, captions: list[Caption], left_out: list[LeftOut]) -> SourceInfo:
    counts: dict[str, int] = {}
    for row in left_out:
        counts[row.reason] = counts.get(row.reason, 0) + 1
    documents = len({c.document for c in captions})
    return SourceInfo(f"s-{name}", name, source, "0", 10, documents, len(captions), 0, counts)


def _summary(
    info: SourceInfo, captions: list[Caption], left_out: list[LeftOut], known: bool
) -> dict[str, Any]:
    facts = {
        "file": info.file,
        "format": info.format,
        "documents": info.documents,
        "captions": info.captions,
        "own_contexts": 0,
        "left_out": dict(info.left_out),
        "already_imported": known,
    }
    if known:
        return facts
    rows: dict[str, list[dict[str, Any]]] = {}
    for r in left_out:
        rows.setdefault(r.reason, []).append(
            {"document": r.document, "position": r.position, "place": r.place, "detail": r.detail}
        )
    shown = [{"document": c.document, "start": c.start, "text": c.text} for c in captions[:5]]
    pairs = len(captions) - info.documents
    return facts | {"adjacent_pairs": pairs, "preview": shown, "left_out_rows": rows}


class DrawnWatch:
    """A filter run drawn as text: contexts below each other, each a line with its words and then a
    line for each state of its slots. `after` hides what later iterations did.

        A man waits. / He / leaves.
            cat dog owl
            cat fox owl
    """

    version = 1

    def __init__(self, drawing: str) -> None:
        self._rows: list[ContextRow] = []
        self.states: list[list[list[str]]] = []
        self.after = 1_000_000
        self.asked = 0  # times that a history was read
        self.error: Exception | None = None
        for line in filter(str.strip, drawing.splitlines()):
            if "/" in line:
                sent1, sent2, found = (part.strip() for part in line.split("/"))
                place = 2 * len(self._rows)  # of a pool with contexts that have no distractors
                row = ContextRow(place, f"c{len(self._rows)}", sent1, sent2, 9, found)
                self._rows.append(row)
                self.states.append([])
            else:
                self.states[-1].append(line.split())

    def iterations(self) -> int:
        if self.error is not None:
            raise self.error
        return min(self.after, max((len(s) - 1 for s in self.states), default=0))

    def contexts(self) -> list[ContextRow]:
        return self._rows

    def slots(self, place: int, iterations: int) -> list[Slot]:
        states = self.states[place // 2]
        result = []
        for slot, text in enumerate(states[iterations]):
            since = iterations - 1
            while since >= 0 and states[since][slot] == text:
                since -= 1
            displaced = states[since][slot] if since >= 0 else ""
            result.append(Slot(slot, 1 + slot, text, since, displaced))
        return result

    def place_of(self, context_id: str) -> int | None:
        return next((row.place for row in self._rows if row.id == context_id), None)

    def changes(self, place: int) -> list[tuple[int, int, str, str]]:
        self.asked += 1
        states = self.states[place // 2]
        return [
            (i, slot, out, into)
            for i, (before, after) in enumerate(pairwise(states))
            for slot, (out, into) in enumerate(zip(before, after, strict=True))
            if out != into
        ]
