"""Has the next run make anew what a check found lost or damaged.

Only of the recipe's own results, which a run makes. What was made with an earlier recipe, or by an
earlier program, stays as it is: people's work may hang on it, and is read and released without
its files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from swag_studio.integrity import Look
from swag_studio.project import RECIPE, Project
from swag_studio.recipe import STAGES, from_toml
from swag_studio.records import Artifact


@dataclass(frozen=True, slots=True)
class Mended:
    """What was done about something damaged.

    anew      the next run makes it anew, from the same recipe with the same bytes; what was there
              of it is in `aside`, a path in the project, or ""
    removed   it is gone, and nothing depends on it
    earlier   nothing: no run with the recipe makes it
    recipe    the recipe is as the newest result has it; `aside` as above
    """

    name: str
    how: Literal["anew", "removed", "earlier", "recipe"]
    aside: str = ""


def mend(project: Project, looks: Iterable[Look]) -> list[Mended]:
    """Reopens the results that a check found damaged; `looks` are what it told.

    A kill within leaves what a further check finds, and a further mending mends.
    """
    looks = list(looks)
    recipe = [_recipe_back(project) for look in looks if look.mend == "recipe"]
    return recipe + [  # whether a result belongs to the recipe is asked when there is one
        mended
        for artifact, found in _damaged(project, looks)
        for mended in _mended(project, artifact, found)
    ]


def mendable(project: Project, looks: Iterable[Look]) -> bool:
    """Whether `mend` would do anything about what a check found."""
    looks = list(looks)
    return any(look.mend == "recipe" for look in looks) or any(
        look.mend == "drop" or _is_own(project, artifact)
        for artifact, found in _damaged(project, looks)
        for look in found
    )


def _damaged(project: Project, looks: Iterable[Look]) -> Iterator[tuple[Artifact, list[Look]]]:
    """The results that something is wrong with, and what."""
    wrong: dict[str, list[Look]] = {}
    for look in looks:
        if look.problem and look.mend and look.name != RECIPE:
            wrong.setdefault("/".join(look.name.split("/")[:2]), []).append(look)
    if not wrong:  # the database may be what is damaged
        return iter(())
    made = {a.folder: a for stage in STAGES for a in project.store.artifacts(stage)}
    return ((made[folder], found) for folder, found in wrong.items())


def _is_own(project: Project, artifact: Artifact) -> bool:
    """Whether it belongs to the present recipe and captions, so that a run would make it."""
    return artifact.key == project.key(artifact.stage)


def _mended(project: Project, artifact: Artifact, looks: Sequence[Look]) -> Iterator[Mended]:
    """What is done about one result. Its row comes last: till then a check finds the damage."""
    for look in looks:
        if look.mend == "drop":
            (project.root / look.name).unlink(missing_ok=True)
            yield Mended(look.name, "removed")
    kinds = {look.mend for look in looks} - {"drop"}
    if kinds and not _is_own(project, artifact):
        yield Mended(artifact.folder, "earlier")
        return
    if "anew" in kinds:
        folder = project.folder(artifact)
        aside = _put_aside(folder).relative_to(project.root).as_posix() if folder.is_dir() else ""
        yield Mended(artifact.folder, "anew", aside)
    elif kinds:
        for look in looks:
            if look.mend == "block":
                (project.root / look.name).unlink(missing_ok=True)
                yield Mended(look.name, "anew")
    if kinds and artifact.done:
        project.store.put_artifact(replace(artifact, done=False))


def _recipe_back(project: Project) -> Mended:
    """Writes the recipe of the newest result in the place of one that cannot be read."""
    path = project.root / RECIPE
    aside = _put_aside(path).name if path.is_file() else ""
    project.set_recipe(from_toml(project.last_recipe()))
    return Mended(RECIPE, "recipe", aside)


def _put_aside(folder: Path) -> Path:
    """Renames what is damaged: nothing that a person may want is deleted."""
    target, count = folder.with_name(f"damaged-{folder.name}"), 1
    while target.exists():
        count += 1
        target = folder.with_name(f"damaged-{folder.name}-{count}")
    return folder.rename(target)
