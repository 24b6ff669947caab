"""The facts that a stage yields while it works. They know neither screen nor terminal nor log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` units of the stage's work; `total` 0 means that it is not known yet."""

    stage: str
    done: int
    total: int
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """One point of one series.

    `name` is the quantity ("perplexity", "accuracy_4way"), `step` an epoch or iteration counted
    from 0, `tags` tell the series apart (member="bow", fold="0", direction="forward",
    arm="control"). The same (stage, name, tags, step) always has the same value, also after a
    kill and resume.
    """

    stage: str
    name: str
    step: int
    value: float
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def series(self) -> str:
        """The name with its tags in a fixed order: "accuracy_4way arm=main member=bow"."""
        return " ".join([self.name, *(f"{k}={v}" for k, v in sorted(self.tags.items()))])


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence for the person who watches the run; `detail` is folded away at first."""

    stage: str
    text: str
    level: Level = "info"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """Rows of these tables were committed; views that show them refresh."""

    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """The stage is complete. `summary` holds counts and figures, JSON-ready."""

    stage: str
    summary: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """The stage ended with an error; the project is whole and the stage can be run again."""

    stage: str
    error: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The stage was told to stop; what it had committed stays."""

    stage: str


Event = Progress | Metric | Message | Changed | Finished | Failed | Cancelled
