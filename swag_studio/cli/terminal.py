"""The reporter for a person: progress bars and tables in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from swag_studio import events
from swag_studio.cli import figures
from swag_studio.events import Event, Message, Metric

PLAIN_EVERY = 10.0  # seconds between two progress lines where there is no terminal

_STYLES = {"warning": "yellow", "error": "bold red"}


class TerminalReporter:
    """Prints to stdout, errors to stderr. Without a terminal: no bars, a line now and then."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._bars: _Bars | None = None
        self._metrics: list[Metric] = []
        self._last_line = 0.0

    @contextmanager
    def watching(self) -> Iterator[object]:
        if not self.console.is_terminal:
            yield self
            return
        with _Bars(self.console) as self._bars:
            yield self
        self._bars = None

    def event(self, event: Event) -> None:
        if isinstance(event, Metric):  # they come in batches: one line for each
            self._metrics.append(event)
            return
        self._flush_metrics()
        if isinstance(event, events.Progress):
            self._progress(event)
        elif isinstance(event, Message):
            self.say(event.text, event.level)
            for line in event.detail.splitlines():
                self.console.print(Text(f"  {line}", style="dim"), soft_wrap=True)
        elif isinstance(event, events.Finished):
            if self._bars:
                self._bars.finished(event.stage)
            text = figures.summary_text(event.stage, event.summary)
            self.say(f"{figures.title(event.stage)} done: {text}".removesuffix(": "))

    def say(self, text: str, level: str = "info") -> None:
        self.console.print(Text(text, style=_STYLES.get(level, "")), soft_wrap=True)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        table = Table(title=escape(title) or None, title_justify="left")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(escape(cell) for cell in row))
        self.console.print(table)

    def summary(self, command: str, values: Mapping[str, Any]) -> None:
        pass  # said already, in sentences and tables

    def error(self, text: str, kind: str = "user") -> None:
        print(f"swag-studio: {text}", file=sys.stderr, flush=True)

    # --- events ------------------------------------------------------------------------------

    def _progress(self, event: events.Progress) -> None:
        if self._bars:
            self._bars.progress(event)
        elif time.monotonic() - self._last_line > PLAIN_EVERY:
            self._last_line = time.monotonic()
            self.say(figures.progress_text(event))

    def _flush_metrics(self) -> None:
        metrics, self._metrics = self._metrics, []
        if not metrics:
            return
        for line in figures.metric_lines(metrics):
            if self._bars and metrics[0].stage == "filter":
                self._bars.status(line)  # one line that changes
            else:
                self.say(line)


class _Bars:
    """A bar per stage with its remaining time, and one line of figures that changes."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        self._status = Text("")
        self._live = Live(
            Group(self._progress, self._status), console=console, refresh_per_second=5
        )
        self._tasks: dict[str, tuple[TaskID, str, int]] = {}  # stage -> task, unit, total

    def __enter__(self) -> _Bars:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.plain = ""
        self._live.stop()

    def status(self, line: str) -> None:
        self._status.plain = line

    def progress(self, event: events.Progress) -> None:
        task, unit, total = self._tasks.get(event.stage, (None, "", 0))
        if task is not None and (unit, total) != (event.unit, event.total):
            self._progress.remove_task(task)  # another phase of the stage, with its own pace
            task = None
        if task is None:
            # Begun at `done`, so that what an earlier run did makes no pace.
            task = self._progress.add_task(
                figures.title(event.stage),
                total=event.total or None,
                completed=event.done,
                unit=event.unit,
                note=escape(event.note),
            )
            self._tasks[event.stage] = (task, event.unit, event.total)
        else:
            self._progress.update(task, completed=event.done, note=escape(event.note))

    def finished(self, stage: str) -> None:
        self._status.plain = ""
        if stage in self._tasks:
            self._progress.remove_task(self._tasks.pop(stage)[0])
