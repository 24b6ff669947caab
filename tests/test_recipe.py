"""A recipe survives TOML, refuses what it does not know, and says what depends on what."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio import recipe as recipes
from swag_studio.errors import RecipeError
from swag_studio.recipe import PRESETS, STAGES, Recipe, from_toml, load, preset

FIELDS = {
    f"{section.name}.{f.name}": f
    for section in dataclasses.fields(Recipe)
    for f in dataclasses.fields(getattr(Recipe(), section.name))
}


def value_for(f: dataclasses.Field[Any]) -> st.SearchStrategy[Any]:
    """Values that a field may take."""
    low, high = f.metadata["low"], f.metadata["high"]
    if f.metadata["choices"]:
        return st.sampled_from(f.metadata["choices"])
    return {
        "int": lambda: st.integers(low, high),
        "float": lambda: st.floats(low, high),
        "bool": st.booleans,
        "str": lambda: st.text(st.characters(exclude_categories=["Cs"])),
        "tuple[str, ...]": lambda: st.lists(st.sampled_from("abc"), min_size=1, unique=True),
    }[str(f.type)]()


changes = st.sampled_from(sorted(FIELDS)).flatmap(
    lambda key: st.tuples(st.just(key), value_for(FIELDS[key]))
)


@settings(max_examples=50)
@given(st.sampled_from(PRESETS), st.lists(changes, max_size=4))
def test_toml_gives_the_same_recipe(name: str, values: list[tuple[str, Any]]) -> None:
    try:
        recipe = preset(name).with_values(dict(values))
    except RecipeError:  # values that don't fit each other
        return
    assert from_toml(recipe.to_toml()) == recipe
    assert tomllib.loads(recipe.to_toml()) == recipe.to_dict()
    assert from_toml("\ufeff" + recipe.to_toml().replace("\n", "\r\n")) == recipe


def test_every_field_is_described() -> None:
    for key, f in FIELDS.items():
        assert re.fullmatch(r"[A-Z].*\.", f.metadata["help"], re.DOTALL), key
        if f.type in ("int", "float"):
            assert f.metadata["low"] is not None and f.metadata["high"] is not None, key
            assert f.metadata["low"] <= f.default <= f.metadata["high"], key


def test_presets() -> None:
    """What the issue asks of small, and METHOD of paper."""
    small, paper = preset("small"), preset("paper")
    assert paper == Recipe() == from_toml("")
    assert (small.lm.dim, small.filter.mlp_width, small.generate.candidates) == (192, 256, 255)
    assert (small.filter.mlp_iterations, small.filter.ensemble_iterations) == (30, 30)
    assert (small.prepare.folds, small.prepare.max_contexts) == (2, 1000)
    assert (paper.lm.dim, paper.lm.layers, paper.generate.candidates) == (512, 2, 1023)
    assert (paper.filter.mlp_iterations, paper.filter.ensemble_iterations) == (100, 50)
    assert (paper.filter.distractors, paper.filter.replace, paper.prepare.folds) == (9, 2, 5)


# --- values from a command line ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("lm.dim", "64", 64),
        ("lm.learning_rate", "1e-4", 1e-4),
        ("lm.learning_rate", "1", 1.0),
        ("filter.probe", "FALSE", False),
        ("filter.members", "mlp, bow,", ("mlp", "bow")),
        ("lm.pretrain_folder", "3", "3"),
        ("run.device", "cpu", "cpu"),
    ],
)
def test_typed_values(key: str, text: str, value: object) -> None:
    section, name = key.split(".")
    assert getattr(getattr(Recipe().with_values({key: text}), section), name) == value


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("lm.dimm", "64", "unknown recipe key lm.dimm. Did you mean lm.dim?"),
        ("lm.replace", 1, "unknown recipe key lm.replace. Did you mean filter.replace?"),
        ("dim", 1, "unknown recipe key dim. Did you mean lm.dim?"),
        ("lm.dim", "64.0", "lm.dim must be a whole number, not '64.0'."),
        ("lm.dim", True, "lm.dim must be a whole number, not True."),
        ("lm.dim", 64.0, "lm.dim must be a whole number, not 64.0."),
        ("lm.dim", 4, "lm.dim must be from 8 to 4096, not 4."),
        ("lm.clip", "nan", "lm.clip must be a number, not nan."),
        ("lm.clip", "inf", "lm.clip must be a number, not inf."),
        ("lm.clip", 10**400, "lm.clip must be a number, not inf."),
        ("filter.probe", "yes", "filter.probe must be true or false, not 'yes'."),
        ("filter.probe", 1, "filter.probe must be true or false, not 1."),
        ("filter.members", [1], "filter.members must be a list of names, not [1]."),
        ("filter.policy", "best", "must be one of random, hardest, softmax, not 'best'."),
        ("lm.pretrain_folder", "a\ud800", r"lm.pretrain_folder must be text, not 'a\ud800'."),
        ("lm.pretrain_folder", 3, "lm.pretrain_folder must be text, not 3."),
        pytest.param("lm.dim", 10**5000, "4096, not so large a number.", id="large"),
        ("generate.floor", 9999, "generate.floor must not be above generate.candidates."),
        ("filter.members", "bow", "filter.mlp_iterations needs the member mlp"),
        ("filter.members", "mlp,mlp", "each once"),
        ("generate.max_tokens", 24, "prepare.max_ending_tokens must not be above"),
    ],
)
def test_refused_values(key: str, value: object, message: str) -> None:
    with pytest.raises(RecipeError) as caught:
        Recipe().with_values({key: value})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lmm]\ndim = 3", "unknown section lmm. Did you mean lm?"),
        ("lm = 3", "lm must be a section with keys"),
        ("[lm]\ndimm = 3", "unknown recipe key lm.dimm. Did you mean lm.dim?"),
        ("[lm]\ndim = 1979-05-27", "lm.dim must be a whole number"),
        ("[lm]\ndim = 64\ndim = 64", "not valid TOML"),
        ("[lm", "not valid TOML"),
        ("[lm]\ndim = " + "9" * 5000, "not valid TOML"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("[lm]\nclip = " + "9" * 400, "lm.clip must be a number"),
    ],
)
def test_refused_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(RecipeError) as caught:
        load(str(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 500


def test_load(tmp_path: Path) -> None:
    assert load("small") == preset("small")
    path = tmp_path / "small.toml"
    path.write_text("[lm]\ndim = 64\n")
    assert load(str(path)) == Recipe().with_values({"lm.dim": 64})
    path.write_bytes(b"\xff")
    for name in ("smal", str(path), str(tmp_path), ""):
        with pytest.raises(RecipeError):
            load(name)
    with pytest.raises(RecipeError, match="Did you mean small"):
        preset("smal")


@given(st.text())
def test_any_text_is_a_recipe_or_refused(text: str) -> None:
    try:
        from_toml(text)
    except RecipeError as error:
        assert str(error)


# --- what depends on what ----------------------------------------------------------------------


def keys(recipe: Recipe, sources: list[str]) -> list[str]:
    found, inputs = [], sources
    for stage in STAGES:
        inputs = [recipe.stage_key(stage, inputs)]
        found += inputs
    return found


@pytest.mark.parametrize(
    ("key", "first_stale"),
    [
        ("run.seed", 0),
        ("prepare.max_gap", 0),
        ("lm.dim", 1),
        ("generate.temperature", 2),
        ("filter.replace", 3),
        ("release.distractors", 4),
    ],
)
def test_a_change_makes_its_stage_and_the_later_ones_stale(key: str, first_stale: int) -> None:
    f = FIELDS[key]
    other = f.metadata["high"] if f.default != f.metadata["high"] else f.metadata["low"]
    before, after = keys(Recipe(), ["s"]), keys(Recipe().with_values({key: other}), ["s"])
    same = [a == b for a, b in zip(before, after, strict=True)]
    assert same == [True] * first_stale + [False] * (len(STAGES) - first_stale)
    assert Recipe().changes(Recipe().with_values({key: other})) == {key: (f.default, other)}


def test_sources_matter_to_every_stage() -> None:
    assert not set(keys(Recipe(), ["s"])) & set(keys(Recipe(), ["s", "t"]))
    assert len(set(keys(Recipe(), ["s"]))) == len(STAGES)


def test_a_field_that_came_later_leaves_older_results_theirs() -> None:
    """The keys of before there was feedback (in format 3 of the stage), and others with it."""
    demo = preset("demo")
    assert demo.stage_key("filter", ["s"]) == "04af1278ca1d4d2d6ff9190d29f67d64"
    assert preset("paper").stage_key("filter", ["s"]) == "41c82414bf21a8c2ecec97de5270a5f5"
    later = demo.with_values({"filter.feedback": "v1:0123456789ab"})
    barred = later.with_values({"filter.bar_gibberish": True})
    assert len({r.stage_key("filter", ["s"]) for r in (demo, later, barred)}) == 3


def test_every_section_belongs_to_a_stage() -> None:
    named = {name for names in recipes.STAGE_SECTIONS.values() for name in names}
    assert named | {"run"} == {section.name for section in dataclasses.fields(Recipe)}
    assert set(recipes.STAGE_FORMAT) == set(recipes.STAGE_SECTIONS) == set(STAGES)
