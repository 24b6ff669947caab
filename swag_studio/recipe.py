"""The recipe: every setting that changes a result, one frozen dataclass per stage.

A recipe reads and writes TOML, refuses what it does not know by name, and says which results
depend on which of its values (`stage_key`). Each field carries its help, range and unit, so that
a form or a command line can be generated from it.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from swag_studio.errors import RecipeError
from swag_studio.nesting import toml_nests_deeper
from swag_studio.sections import (
    FilterRecipe,
    GenerateRecipe,
    LmRecipe,
    PrepareRecipe,
    ReleaseRecipe,
    RunRecipe,
)

__all__ = [
    "PRESETS",
    "STAGES",
    "STAGE_FORMAT",
    "STAGE_SECTIONS",
    "FilterRecipe",
    "GenerateRecipe",
    "LmRecipe",
    "PrepareRecipe",
    "Recipe",
    "ReleaseRecipe",
    "RunRecipe",
    "checked_section",
    "from_dict",
    "from_toml",
    "load",
    "preset",
]

Section = TypeVar("Section")

STAGES = ("prepare", "train_lm", "generate", "filter", "release")

MOST_NESTING = 16  # of arrays and inline tables in each other; a recipe needs one

# A stage's number goes up when the same recipe would give other bytes than before.
STAGE_FORMAT = {"prepare": 2, "train_lm": 1, "generate": 1, "filter": 3, "release": 1}

# The sections that a stage's result depends on, besides what it gets from the stage before.
STAGE_SECTIONS = {
    "prepare": ("prepare",),
    "train_lm": ("lm",),
    "generate": ("generate",),
    "filter": ("filter",),
    "release": ("release",),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """All settings. Made by `preset`, `from_toml` or `with_values`; immutable."""

    run: RunRecipe = field(default_factory=RunRecipe)
    prepare: PrepareRecipe = field(default_factory=PrepareRecipe)
    lm: LmRecipe = field(default_factory=LmRecipe)
    generate: GenerateRecipe = field(default_factory=GenerateRecipe)
    filter: FilterRecipe = field(default_factory=FilterRecipe)
    release: ReleaseRecipe = field(default_factory=ReleaseRecipe)

    def __post_init__(self) -> None:
        _check_across(self)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Section -> key -> value; tuples become lists."""
        return {
            section.name: {
                f.name: _plain(getattr(getattr(self, section.name), f.name))
                for f in fields(getattr(self, section.name))
            }
            for section in fields(self)
        }

    def to_toml(self) -> str:
        """TOML with every value, each under its help text. `from_toml` gives the same recipe."""
        lines: list[str] = []
        for section in fields(self):
            part = getattr(self, section.name)
            lines += [f"[{section.name}]  # {_first_line(type(part).__doc__)}"]
            for f in fields(part):
                lines += [f"# {f.metadata['help']}", f"{f.name} = {_toml(getattr(part, f.name))}"]
            lines.append("")
        return "\n".join(lines)

    def with_values(self, values: Mapping[str, Any]) -> Recipe:
        """This recipe with `{"filter.replace": 1}` and the like set.

        Values may be strings, as typed on a command line ("1e-3", "true", "mlp,bow").
        Raises RecipeError for an unknown key or a value that does not fit.
        """
        data = self.to_dict()
        for key, value in values.items():
            section, _, name = key.partition(".")
            if section not in data or name not in data[section]:
                raise _unknown(key, [f"{s}.{k}" for s, part in data.items() for k in part])
            data[section][name] = _parse_typed(key, value, _field_of(section, name))
        return from_dict(data)

    def changes(self, other: Recipe) -> dict[str, tuple[Any, Any]]:
        """The keys in which two recipes differ: key -> (mine, theirs)."""
        mine, theirs = self.to_dict(), other.to_dict()
        return {
            f"{s}.{k}": (v, theirs[s][k])
            for s, part in mine.items()
            for k, v in part.items()
            if v != theirs[s][k]
        }

    def stage_key(
        self,
        stage: str,
        inputs: Sequence[str],
        format: int = 0,
        known: Mapping[str, Collection[str]] | None = None,
        outside: Mapping[str, str] | None = None,
    ) -> str:
        """The hash of all that the result of `stage` depends on.

        `inputs` are the keys of what it reads: source hashes for Prepare, else the key of the
        stage before. Two runs with equal keys on one machine give equal bytes. What an older
        program made is told by the stage's `format` of then (0: that of now) and the fields of
        each section that it knew (None: all). `outside` has the digest of what is in a file or
        folder outside the project, by the recipe key that names it: its contents count, not its
        place.
        """
        sections = {
            name: _keyed(getattr(self, name), known and known[name])
            for name in STAGE_SECTIONS[stage]
        }
        for key, digest in (outside or {}).items():
            section, _, name = key.partition(".")
            sections[section][name] = digest
        content = {
            "stage": stage,
            "format": format or STAGE_FORMAT[stage],
            "run": _keyed(self.run, known and known["run"]),
            "sections": sections,
            "inputs": list(inputs),
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


# --- presets ---------------------------------------------------------------------------------

_SMALL_MODELS: dict[str, Any] = {
    "filter.mlp_width": 256,
    "filter.ensemble_width": 128,
    "filter.embedding_dim": 32,
    "filter.cnn_filters": 24,
    "filter.pos_hidden": 32,
    "filter.learning_rate": 3e-3,
    "filter.mlp_batch": 256,
    "filter.epochs": 5,
    "filter.patience": 2,
}

_PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "small": {
        **_SMALL_MODELS,
        "prepare.folds": 2,
        "prepare.max_contexts": 1000,
        "lm.dim": 192,
        "lm.learning_rate": 3e-3,
        "lm.epochs": 8,
        "generate.candidates": 255,
        "generate.floor": 64,
        "filter.mlp_iterations": 30,
        "filter.ensemble_iterations": 30,
    },
    "demo": {
        **_SMALL_MODELS,
        "prepare.folds": 2,
        "prepare.max_contexts": 360,
        "lm.dim": 96,
        "lm.layers": 1,
        "lm.batch": 16,
        "lm.learning_rate": 6e-3,
        "lm.epochs": 7,
        "generate.candidates": 127,
        "generate.floor": 48,
        # Few iterations, so that it is over in minutes; each replaces more instead.
        "filter.mlp_iterations": 2,
        "filter.ensemble_iterations": 24,
        "filter.replace": 3,
        "filter.epochs": 4,
        "filter.crossfit_folds": 2,
        "filter.strength_folds": 2,
    },
}

PRESETS = tuple(sorted(_PRESETS))


def preset(name: str) -> Recipe:
    """One of the recipes that come with the program: demo, small or paper."""
    if name not in _PRESETS:
        raise _unknown(name, list(_PRESETS), what="preset")
    return Recipe().with_values(_PRESETS[name])


def load(name_or_file: str) -> Recipe:
    """A preset by name, or a recipe from a TOML file."""
    if name_or_file in _PRESETS:
        return preset(name_or_file)
    path = Path(name_or_file)
    if not path.is_file():
        raise RecipeError(
            f"{name_or_file} is neither a preset ({', '.join(PRESETS)}) nor a recipe file."
        )
    try:
        return from_toml(path.read_text(encoding="utf-8"))
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise RecipeError(f"{path}: not a text file in UTF-8.") from None
    except OSError as error:
        raise RecipeError(f"{path} cannot be read: {error.strerror}.") from None


@lru_cache(maxsize=32)  # a window asks at each look for that of the project, and of its runs
def from_toml(text: str) -> Recipe:
    """A recipe from TOML. Keys that are absent keep their default (that of `paper`)."""
    text = text.removeprefix("\ufeff")
    if toml_nests_deeper(text, MOST_NESTING):
        raise RecipeError("nested too deeply.")
    try:
        data = tomllib.loads(text)
    except ValueError as error:  # also a number of too many digits
        raise RecipeError(f"not valid TOML: {error}.") from None
    return from_dict(data)


def from_dict(data: Mapping[str, Any]) -> Recipe:
    """A recipe from section -> key -> value, checked for names, types and ranges."""
    sections = {f.name: f for f in fields(Recipe)}
    built: dict[str, Any] = {}
    for section, values in data.items():
        if section not in sections:
            raise _unknown(section, list(sections), what="section")
        built[section] = checked_section(_SECTION_CLASSES[section], section, values)
    return Recipe(**built)


def checked_section(cls: type[Section], name: str, values: object) -> Section:
    """A dataclass of `setting` fields from key -> value, checked for names, types and ranges.

    `name` stands before the keys in what RecipeError says.
    """
    if not isinstance(values, Mapping):
        raise RecipeError(f"{name} must be a section with keys, not a single value.")
    known = {f.name: f for f in fields(cast(Any, cls))}
    for key in values:
        if key not in known:
            raise _unknown(f"{name}.{key}", [f"{name}.{k}" for k in known])
    return cls(**{k: _checked(f"{name}.{k}", v, known[k]) for k, v in values.items()})


_SECTION_CLASSES: dict[str, Any] = {
    "run": RunRecipe,
    "prepare": PrepareRecipe,
    "lm": LmRecipe,
    "generate": GenerateRecipe,
    "filter": FilterRecipe,
    "release": ReleaseRecipe,
}


# --- checks ----------------------------------------------------------------------------------


def _unknown(key: str, known: Sequence[str], what: str = "recipe key") -> RecipeError:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    if not near:  # a right key under a wrong section is the commonest slip
        tail = key.rpartition(".")[2]
        near = [k for k in known if k.rpartition(".")[2] == tail][:1]
    hint = f" Did you mean {near[0]}?" if near else f" Known: {', '.join(sorted(known))}."
    return RecipeError(f"unknown {what} {key}.{hint}")


def _field_of(section: str, name: str) -> dataclasses.Field[Any]:
    return next(f for f in fields(_SECTION_CLASSES[section]) if f.name == name)


_TYPE_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "tuple[str, ...]": "a list of names",
}


def _checked(key: str, value: Any, f: dataclasses.Field[Any]) -> Any:
    """`value` as the field's type, or a RecipeError that names the key."""
    kind = str(f.type)
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 10**300 else math.inf
    fits = {
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, float) and math.isfinite(value),
        "bool": isinstance(value, bool),
        "str": isinstance(value, str) and _is_text(value),
        "tuple[str, ...]": isinstance(value, list | tuple)
        and all(isinstance(v, str) and _is_text(v) for v in value),
    }[kind]
    if not fits:
        raise RecipeError(f"{key} must be {_TYPE_NAMES[kind]}, not {_short(value)}.")
    low, high, choices = f.metadata["low"], f.metadata["high"], f.metadata["choices"]
    if (low is not None and value < low) or (high is not None and value > high):
        raise RecipeError(f"{key} must be from {low} to {high}, not {_short(value)}.")
    if choices and value not in choices:
        raise RecipeError(f"{key} must be one of {', '.join(choices)}, not {_short(value)}.")
    return tuple(value) if kind == "tuple[str, ...]" else value


def _parse_typed(key: str, value: Any, f: dataclasses.Field[Any]) -> Any:
    """A command line's text as the field's type; other values pass through."""
    if not isinstance(value, str) or f.type == "str":
        return value
    kind = str(f.type)
    try:
        if kind == "int":
            return int(value)
        if kind == "float":
            return float(value)
    except ValueError:
        raise RecipeError(f"{key} must be {_TYPE_NAMES[kind]}, not {_short(value)}.") from None
    if kind == "bool" and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if kind == "tuple[str, ...]":
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _check_across(recipe: Recipe) -> None:
    """The rules that tie fields to each other."""
    p, g, f = recipe.prepare, recipe.generate, recipe.filter
    rules = [
        (
            p.min_context_tokens <= p.max_context_tokens,
            "prepare.min_context_tokens must not be above prepare.max_context_tokens.",
        ),
        (
            p.min_ending_tokens <= p.max_ending_tokens,
            "prepare.min_ending_tokens must not be above prepare.max_ending_tokens.",
        ),
        (
            p.val_share + p.test_share < 1,
            "prepare.val_share and prepare.test_share must leave something for train.",
        ),
        (
            p.max_ending_tokens <= g.max_tokens,
            "prepare.max_ending_tokens must not be above generate.max_tokens: a found ending would "
            "be longer than any candidate.",
        ),
        (g.floor <= g.candidates, "generate.floor must not be above generate.candidates."),
        (f.distractors <= g.floor, "filter.distractors must not be above generate.floor."),
        (f.mlp_iterations + f.ensemble_iterations >= 1, "the filter needs at least one iteration."),
        (
            len(set(f.members)) == len(f.members) > 0,
            "filter.members must name at least one member, each once.",
        ),
        (
            f.mlp_iterations == 0 or "mlp" in f.members,
            "filter.mlp_iterations needs the member mlp; set it to 0 or add mlp to filter.members.",
        ),
        (
            bool(f.feedback) or not (f.bar_gibberish or "gibberish" in f.members),
            "filter.bar_gibberish and the member gibberish rest on what people said: start such a "
            "run with filter-again.",
        ),
        (
            recipe.release.distractors <= f.distractors,
            "release.distractors must not be above filter.distractors.",
        ),
    ]
    for holds, text in rules:
        if not holds:
            raise RecipeError(text)


# --- text ------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _keyed(section: Any, known: Collection[str] | None) -> dict[str, Any]:
    """What of a section a key depends on, where its `known` fields are all that there were."""
    return {
        f.name: _plain(value)
        for f in fields(section)
        if (value := getattr(section, f.name)) != f.default or not f.metadata["later"]
        if known is None or f.name in known
    }


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of too many digits
        return "so large a number"
    return text if len(text) <= 60 else text[:60] + "..."


def _is_text(value: str) -> bool:
    """Whether UTF-8 can hold it: half a character, as a broken file name has it, cannot be."""
    return not any("\ud800" <= c <= "\udfff" for c in value)


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().splitlines()[0]
