"""Import: one caption file into the project, whole or not at all.

Its rows are staged in short transactions, invisible until one last small one publishes them. It
knows neither the formats (sources/) nor what Prepare makes of captions.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from swag_studio.engine.registry import SOURCES
from swag_studio.engine.sources.base import REASONS, Item, Source, open_file
from swag_studio.errors import SourceError
from swag_studio.events import Changed, Event, Finished, Message, Progress
from swag_studio.project import Project
from swag_studio.records import Caption, LeftOut, OwnContext, SourceInfo, content_id
from swag_studio.store import Store

STAGE = "ingest"
TABLES = ("sources", "captions", "own_contexts", "left_out_of_source")

_HASH_CHUNK = 1 << 23
_ITEMS = 1_000  # held before they are staged: some 30 ms of writing
_ENDINGS = 10_000
_PLACES = 5  # shown per reason

# What is left out under these reasons is no text.
_HARMLESS = frozenset({"byte_order_mark", "column_not_used"})


def guess(path: Path) -> str:
    """The name of the source that can read the file. Raises SourceError where none can."""
    for name in SOURCES:
        if SOURCES[name].sniff(path):
            return name
    raise SourceError(
        str(path),
        "",
        "its format is not recognised",
        f"Name it with --source: {', '.join(SOURCES)}.",
    )


def run_import(
    path: Path,
    project: Project,
    source_name: str | None = None,
    dry_run: bool = False,
    preview: int = 5,
    places: int = 0,
) -> Iterator[Event]:
    """Imports one file, and yields as a stage does.

    Finished's summary: file, format, source_id, sha256, bytes; documents, captions,
    adjacent_pairs (captions that follow each other in a document), own_contexts, own_endings;
    left_out (reason -> count); preview (the first `preview` captions or own contexts);
    already_imported; with `places`, left_out_rows (reason -> the first `places` LeftOut as
    dicts). A dry run gives the same summary and writes nothing. A file that is in the
    project already is not read again: its summary lacks what only reading tells (adjacent_pairs,
    own_endings, preview).

    Raises SourceError for a file that is refused, RecipeError for an unknown source name. Then,
    and when the generator is closed early, nothing of the file is in the project.
    """
    name = source_name or guess(path)
    source: Source = SOURCES[name](path)
    sha256, size = yield from _hashed(path, source.passes)
    tally = _Tally(preview, max(places, _PLACES))
    source_id = content_id("source", name, sha256)
    info = SourceInfo(source_id, _file_name(path), name, sha256, size, 0, 0, 0)
    known = next((s for s in project.store.sources() if s.id == source_id), None)
    if known is not None:
        yield Message(STAGE, f"{path} is imported already; nothing was done.")
        yield Finished(STAGE, _facts(known) | {"already_imported": True})
        return
    if dry_run:
        yield from _read(source, info, tally, None)
    else:
        project.store.stage_source(info)
        try:
            yield from _read(source, info, tally, project.store)
            project.store.publish_source(tally.info(info))
        except BaseException:
            project.store.discard_source(source_id)
            raise
        yield Changed(TABLES)
    yield from tally.messages()
    rows = {"left_out_rows": tally.rows()} if places else {}
    yield Finished(STAGE, _facts(tally.info(info)) | tally.summary() | rows)


def _hashed(path: Path, passes: int) -> Generator[Event, None, tuple[str, int]]:
    """(SHA-256, bytes) of the file."""
    digest, size = hashlib.sha256(), 0
    total = path.stat().st_size * (1 + passes) if path.is_file() else 0
    with open_file(path) as file:
        while data := file.read(_HASH_CHUNK):
            digest.update(data)
            size += len(data)
            yield Progress(STAGE, size, total, "bytes", path.name)
    return digest.hexdigest(), size


def _read(source: Source, info: SourceInfo, tally: _Tally, store: Store | None) -> Iterator[Event]:
    """Reads the file whole, counts, and stages where there is a store."""
    total = info.bytes * (1 + source.passes)
    held: list[Item] = []
    weight = 0
    with closing(source.read()) as items:
        for item in items:
            if item is not None:
                tally.add(item)
                held.append(item)
                weight += len(item.endings) if isinstance(item, OwnContext) else 0
            if item is None or len(held) >= _ITEMS or weight >= _ENDINGS:
                if store is not None:
                    _stage(store, info.id, held)
                held, weight = [], 0
                yield Progress(
                    STAGE, info.bytes + source.bytes_read, total, "bytes", source.path.name
                )
    if store is not None:
        _stage(store, info.id, held)
    if source.digests != {info.sha256}:
        raise SourceError(str(source.path), "", "it changed while it was read", "Import it again.")
    if not tally.captions and not tally.own_contexts:
        reasons = "; ".join(REASONS[reason] for reason in sorted(tally.left_out))
        raise SourceError(
            str(source.path), "", f"nothing in it can be used ({reasons or 'it has no captions'})"
        )


def _stage(store: Store, source_id: str, items: list[Item]) -> None:
    store.add_captions(source_id, [i for i in items if isinstance(i, Caption)])
    store.add_own_contexts(source_id, [i for i in items if isinstance(i, OwnContext)])
    store.add_left_out_of_source(source_id, [i for i in items if isinstance(i, LeftOut)])


def _facts(info: SourceInfo) -> dict[str, Any]:
    return {
        "file": info.file,
        "format": info.format,
        "source_id": info.id,
        "sha256": info.sha256,
        "bytes": info.bytes,
        "documents": info.documents,
        "captions": info.captions,
        "own_contexts": info.own_contexts,
        "left_out": dict(info.left_out),
    }


def _file_name(path: Path) -> str:
    """The name without its folder. Bytes of a name that are no text become question marks."""
    return path.name.encode("utf-8", "replace").decode()


@dataclass
class _Tally:
    """Counts of what a source gives, document after document."""

    preview_size: int
    most_places: int
    documents: int = 0
    captions: int = 0
    adjacent_pairs: int = 0
    own_contexts: int = 0
    own_endings: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    places: defaultdict[str, list[LeftOut]] = field(default_factory=lambda: defaultdict(list))
    preview: list[dict[str, Any]] = field(default_factory=list)
    _last: Caption | None = None

    def add(self, item: Item) -> None:
        if isinstance(item, LeftOut):
            self.left_out[item.reason] += 1
            if len(self.places[item.reason]) < self.most_places:
                self.places[item.reason].append(item)
            return
        if isinstance(item, Caption):
            self.captions += 1
            same = self._last is not None and self._last.document == item.document
            self.documents += not same
            if same and self._last is not None and self._last.position + 1 == item.position:
                self.adjacent_pairs += 1
            self._last = item
        else:
            self.documents += 1
            self.own_contexts += 1
            self.own_endings += len(item.endings)
        if len(self.preview) < self.preview_size:
            shown = asdict(item)
            if isinstance(item, OwnContext):
                shown["endings"] = list(item.endings[: self.preview_size])
            self.preview.append(shown)

    def info(self, info: SourceInfo) -> SourceInfo:
        """`info` with the counts."""
        return SourceInfo(
            id=info.id,
            file=info.file,
            format=info.format,
            sha256=info.sha256,
            bytes=info.bytes,
            documents=self.documents,
            captions=self.captions,
            own_contexts=self.own_contexts,
            left_out=dict(sorted(self.left_out.items())),
        )

    def messages(self) -> Iterator[Message]:
        """One message per reason, with the first places."""
        for reason, count in sorted(self.left_out.items()):
            first = [
                i.place + (f" ({i.detail})" if i.detail else "")
                for i in self.places[reason][:_PLACES]
            ]
            yield Message(
                STAGE,
                f"{count:,} x {REASONS[reason]}.",
                "info" if reason in _HARMLESS else "warning",
                "\n".join(first) + ("\n..." if count > _PLACES else ""),
            )

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The kept rows of each reason."""
        return {reason: [asdict(i) for i in rows] for reason, rows in sorted(self.places.items())}

    def summary(self) -> dict[str, Any]:
        """What only the reading of the file tells."""
        return {
            "adjacent_pairs": self.adjacent_pairs,
            "own_endings": self.own_endings,
            "preview": self.preview,
            "already_imported": False,
        }
