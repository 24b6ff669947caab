"""What a person prefers on this machine. Nothing in here changes a result.

What does change one is in the project's recipe.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import appdirs

from swag_studio.files import read_object, write_json

MOST_RECENT = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """Per-user settings; a key that this version does not know is dropped at the next save."""

    recent: tuple[str, ...] = ()  # project folders, the last used first
    theme: str = "system"  # or light, dark
    text_percent: int = 100  # size of the window's text, 80 to 200
    geometry: str = ""  # the window's size and place, in hexadecimal
    cost_per_hour: float = 0.0  # of this machine, in any currency; 0: not known

    def with_recent(self, project: Path) -> Settings:
        """These settings with `project` as the one used last."""
        path = str(project.absolute())
        rest = [p for p in self.recent if p != path]
        return dataclasses.replace(self, recent=(path, *rest)[:MOST_RECENT])


def file(basedir: Path | None = None) -> Path:
    """Where the settings are: where the platform puts them, or in a profile of their own."""
    folder = basedir or Path(appdirs.user_config_dir("swag-studio", appauthor=False))
    return folder / "settings.json"


def load(basedir: Path | None = None) -> Settings:
    """The saved settings. What is missing or damaged has its default: nothing depends on it."""
    return _from(read_object(file(basedir)))


def save(settings: Settings, basedir: Path | None = None) -> None:
    """Writes the settings whole."""
    write_json(file(basedir), dataclasses.asdict(settings))


def _from(data: dict[str, Any]) -> Settings:
    """Settings from JSON; a value of the wrong kind has its default."""
    values: dict[str, Any] = {}
    recent = data.get("recent")
    if isinstance(recent, list):
        values["recent"] = tuple(p for p in recent if isinstance(p, str))[:MOST_RECENT]
    if data.get("theme") in ("system", "light", "dark"):
        values["theme"] = data["theme"]
    percent = data.get("text_percent")
    if isinstance(percent, int) and 80 <= percent <= 200:
        values["text_percent"] = percent
    if isinstance(data.get("geometry"), str):
        values["geometry"] = data["geometry"]
    cost = data.get("cost_per_hour")
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= 1e6:
        values["cost_per_hour"] = float(cost)
    return Settings(**values)
