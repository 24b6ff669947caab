"""What is asked of a release, looked at before anything is chosen: a slip costs no waiting.

It knows options, the names of checks and formats, and which packages there are; no project.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec

from swag_studio.engine.registry import EXPORTERS
from swag_studio.engine.release_checks import ERRORS, KINDS
from swag_studio.releases import ReleaseError, ReleaseOptions, checked_language, checked_version

ALWAYS = ("swag_csv", "swag_full")  # other tools of this program read these


@dataclass(frozen=True, slots=True)
class Formats:
    """What is written, in the registry's order, and what is left out -> the package it lacks."""

    written: tuple[str, ...]
    left_out: Mapping[str, str]


def formats() -> dict[str, str]:
    """Every format's name -> the package that it lacks here; "" where it can be written."""
    needs = {name: str(getattr(EXPORTERS[name], "needs", "")) for name in EXPORTERS}
    return {name: need if need and not find_spec(need) else "" for name, need in needs.items()}


def checked(options: ReleaseOptions) -> ReleaseOptions:
    """The options in the form that a manifest holds. Raises ReleaseError for one that cannot be."""
    checked_version(options.version)
    _check_overrides(options)
    chosen(options)
    if options.cost_per_hour is not None and not 0 <= options.cost_per_hour < math.inf:
        raise ReleaseError("The cost per hour is no sum of money: give a number, 0 or more.")
    return replace(options, language=checked_language(options.language))


def _check_overrides(options: ReleaseOptions) -> None:
    """Each is of an error that there is, and there is a reason for all."""
    for kind in options.overrides:
        if kind not in KINDS:
            raise ReleaseError(f"{kind} is no check. The errors are {', '.join(ERRORS)}.")
        if kind not in ERRORS:
            raise ReleaseError(
                f"{kind} is a warning, which blocks no release: leave its override out."
            )
    if options.overrides and not options.override_reason.strip():
        raise ReleaseError(
            f"A release in spite of {', '.join(options.overrides)} says on its card why. Give the "
            "reason with --because TEXT."
        )


def chosen(options: ReleaseOptions) -> Formats:
    """The formats of a release. One that was named is never left out in silence.

    Raises ReleaseError for a name that there is not, and where a named one lacks its package.
    """
    known = formats()
    for name in options.formats:
        if name not in known:
            raise ReleaseError(f"{name} is no format. The formats are {', '.join(known)}.")
        if known[name]:
            raise ReleaseError(
                f"The format {name} needs the package {known[name]}, which is not installed. "
                "Install it, or leave the format out."
            )
    wanted = {*ALWAYS, *(options.formats or known)}
    return Formats(
        tuple(name for name in known if name in wanted and not known[name]),
        {name: known[name] for name in known if name in wanted and known[name]},
    )
