"""What every page gets: the open project, the way to start jobs, and the look.

The engine's work is handed in as `Jobs` by app.py, so that no page imports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from swag_studio.events import Event
from swag_studio.project import Project, StageState
from swag_studio.recipe import Recipe
from swag_studio.releases import ReleaseOptions
from swag_studio.settings import Settings
from swag_studio.ui.background import Background
from swag_studio.ui.bridge import Bridge
from swag_studio.ui.theme import Theme
from swag_studio.ui.words import STAGE_TITLES
from swag_studio.views import (
    Comparison,
    FeedbackPreview,
    Outlook,
    PoolReader,
    ShownQuestion,
    WatchReader,
)


class Jobs(Protocol):
    """The work that a window can ask for. Each is a generator of events for the engine."""

    def run(self, recipe: Recipe, project: Project, until: str) -> Iterator[Event]: ...

    def import_file(
        self, path: Path, project: Project, source: str | None, dry_run: bool
    ) -> Iterator[Event]: ...

    def check(self, project: Project) -> Iterator[Event]: ...

    def source_names(self) -> list[str]: ...

    def source_reasons(self) -> Mapping[str, str]:
        """Why something of a file is not used: code -> words."""
        ...

    def demo_captions(self) -> Path: ...

    def pool(self, project: Project) -> PoolReader:
        """The current pool, to be called in the reading thread; ProjectError when there is none."""
        ...

    def watch(self, project: Project, version: int) -> WatchReader:
        """A filter version's assignments, to be called in the reading thread."""
        ...

    def review(self, project: Project, version: int) -> Iterator[int]:
        """Fills the curators' table of a done filter version; yields contexts by now.

        For the reading thread; ProjectError when what it lists is gone.
        """
        ...

    def publish(self, project: Project, options: ReleaseOptions) -> Iterator[Event]:
        """Writes a verified release whole, or nothing."""
        ...

    def rehearse(self, project: Project, options: ReleaseOptions) -> Iterator[Event]:
        """Does what comes before writing; the summary's "rehearsal" is a Rehearsal."""
        ...

    def outlook(self, project: Project, options: ReleaseOptions) -> Outlook:
        """What a release would hold, to be called in the reading thread.

        ProjectError without a run of the filter.
        """
        ...

    def release_formats(self) -> Mapping[str, str]:
        """Every format of a release -> the package that it lacks here, "" where none."""
        ...

    def release_questions(self, folder: Path) -> Sequence[ShownQuestion]:
        """The first questions of each split of a written release, for the reading thread."""
        ...

    def compare_releases(self, first: Path, second: Path) -> Comparison:
        """What differs between two written releases, for the reading thread."""
        ...

    def feedback_preview(self, project: Project) -> FeedbackPreview:
        """What filtering again would change, to be called in the reading thread; UserError."""
        ...

    def filter_again(self, project: Project, gibberish: str, iterations: int) -> Iterator[Event]:
        """A filter run with what people said; `gibberish`: off, bar, member or both."""
        ...

    def accelerator(self) -> str:
        """The memory that the accelerator gives to this program, in words; "" without one."""
        ...


@dataclass
class Workspace:
    """One project window's shared state."""

    project: Project
    bridge: Bridge
    jobs: Jobs
    theme: Theme
    settings: Settings
    reader: Background = field(default_factory=Background)
    _states: list[StageState] | None = field(default=None, init=False)

    def states(self) -> list[StageState]:
        """Where every stage stands; within `one_look` it is found out once."""
        return self.project.states() if self._states is None else self._states

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """While all pages refresh, nothing changes between them."""
        self._states = self.project.states()
        try:
            yield
        finally:
            self._states = None

    def run_until(self, stage: str) -> None:
        """Queues the pipeline with the project's recipe."""
        recipe, project, jobs = self.project.recipe, self.project, self.jobs
        name = "Run everything" if stage == "release" else f"Run up to {STAGE_TITLES[stage]}"
        self.bridge.submit(lambda: jobs.run(recipe, project, stage), name, stage, recipe)

    def check(self) -> None:
        """Queues the verification of the database and of every block."""
        project, jobs = self.project, self.jobs
        self.bridge.submit(lambda: jobs.check(project), "Check project")
