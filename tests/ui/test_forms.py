"""Recipe forms: what each field says, refuses and leads to, and the way back to the preset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from swag_studio import recipe as recipes
from swag_studio.project import StageState
from swag_studio.recipe import PRESETS, Recipe, preset
from swag_studio.records import Artifact
from swag_studio.ui import forms
from swag_studio.ui.forms import RecipeForm

SECTIONS = [f.name for f in fields(Recipe)]
ALL = [(s, f) for s in SECTIONS for f in fields(getattr(Recipe(), s))]
DEMO = preset("demo")


@pytest.fixture
def make(qtbot: QtBot) -> Callable[..., RecipeForm]:
    def make(section: str, recipe: Recipe = DEMO, **more: Any) -> RecipeForm:
        form = RecipeForm(section, recipe, **more)
        qtbot.addWidget(form)
        form.show()
        return form

    return make


def line(form: RecipeForm, name: str) -> QLineEdit:
    editor = form.fields[name].editor
    assert isinstance(editor, QLineEdit)
    return editor


def enter(qtbot: QtBot, form: RecipeForm, name: str, text: str) -> None:
    """Types over what stands in a line, and presses Enter."""
    editor = line(form, name)
    editor.selectAll()
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)


# --- what a field says -----------------------------------------------------------------------


@pytest.mark.parametrize("section", SECTIONS)
def test_every_setting_has_a_label_of_its_own_help_range_and_unit(
    make: Callable[..., RecipeForm], section: str
) -> None:
    form = make(section)
    labels = [form.fields[f.name].editor.accessibleName() for s, f in ALL if s == section]
    assert len(set(labels)) == len(labels)
    for label in labels:
        assert label[0].isupper() and "_" not in label
    for f in fields(getattr(DEMO, section)):
        shown = [label.text() for label in form.fields[f.name].findChildren(QLabel)]
        help_text = next(text for text in shown if text.startswith(f.metadata["help"]))
        assert ("From " in help_text[len(f.metadata["help"]) :]) == (f.metadata["low"] is not None)
        assert f.metadata["unit"] in (*shown, "")


def test_words_for_settings_are_of_settings_that_there_are() -> None:
    assert set(forms.SETTINGS) <= {f.name for _, f in ALL}
    assert forms.readable("mlp_width") == "MLP width"
    assert forms.readable("seed") == "Seed"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, 2**31 - 1, " From 0 to 2,147,483,647."),
        (1e-6, 1.0, " From 0.000001 to 1."),
        (0.005, 0.5, " From 0.005 to 0.5."),
        (None, None, ""),
    ],
)
def test_ranges_are_written_out(low: float | None, high: float | None, words: str) -> None:
    assert forms.span({"low": low, "high": high}) == words


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers()))
def test_what_stands_in_a_line_is_the_value_itself(value: float) -> None:
    assert type(value)(forms.typed(value)) == value


# --- editing ---------------------------------------------------------------------------------


def test_a_valid_value_is_passed_on_once(make: Callable[..., RecipeForm], qtbot: QtBot) -> None:
    form, told = make("lm"), list[Recipe]()
    form.changed.connect(told.append)
    enter(qtbot, form, "learning_rate", "1e-6")
    assert told == [DEMO.with_values({"lm.learning_rate": 1e-6})] == [form.recipe]
    assert line(form, "learning_rate").text() == "0.000001"
    qtbot.keyClick(line(form, "learning_rate"), Qt.Key.Key_Return)
    assert len(told) == 1


def test_choices_and_marks_pass_on_what_was_chosen(make: Callable[..., RecipeForm]) -> None:
    form = make("filter")
    policy, adaptive = form.fields["policy"].editor, form.fields["adaptive"].editor
    assert isinstance(policy, QComboBox) and isinstance(adaptive, QCheckBox)
    policy.setCurrentText("hardest")
    adaptive.click()
    assert form.recipe == DEMO.with_values({"filter.policy": "hardest", "filter.adaptive": True})


@pytest.mark.parametrize(
    ("section", "name", "text", "says"),
    [
        ("lm", "dim", "5", "“Width” must be from 8 to 4096, not 5. It stays 96."),
        ("lm", "dim", "wide", "“Width” must be a whole number, not 'wide'. It stays 96."),
        (
            "generate",
            "floor",
            "500",
            "“Candidates at least” must not be above “Candidates”. It stays 48.",
        ),
    ],
)
def test_an_invalid_value_is_explained_in_place_and_changes_nothing(
    make: Callable[..., RecipeForm], qtbot: QtBot, section: str, name: str, text: str, says: str
) -> None:
    form, told = make(section), list[Recipe]()
    form.changed.connect(told.append)
    field = form.fields[name]
    assert not field.error.isVisible()
    enter(qtbot, form, name, text)
    assert field.error.isVisible() and field.error.text() == f"⚠ {says}"
    assert field.editor.accessibleDescription() == says
    assert (told, form.recipe, line(form, name).text()) == ([], DEMO, text)
    enter(qtbot, form, name, "64")
    assert not field.error.isVisible() and len(told) == 1


def test_the_wheel_changes_no_choice_that_is_only_passed_over(
    make: Callable[..., RecipeForm],
) -> None:
    form = make("filter")
    policy = form.fields["policy"].editor
    assert isinstance(policy, QComboBox)
    event = QWheelEvent(
        QPointF(5, 5), policy.mapToGlobal(QPointF(5, 5)), QPoint(0, -120), QPoint(0, -120),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase,
        False,
    )  # fmt: skip
    form.fields["distractors"].editor.setFocus()
    QApplication.sendEvent(policy, event)
    assert policy.currentText() == "random"


# --- the way back ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_a_recipe_with_a_few_changes_is_nearest_to_its_preset(name: str) -> None:
    changed = preset(name).with_values({"lm.dim": 77, "lm.epochs": 2, "filter.replace": 1})
    assert forms.nearest_preset(changed) == forms.nearest_preset(preset(name)) == name


def test_a_changed_field_shows_the_way_back_to_the_preset(
    make: Callable[..., RecipeForm], qtbot: QtBot
) -> None:
    form = make("lm", DEMO.with_values({"lm.dim": 128}))
    assert [n for n, f in form.fields.items() if f.reset.isVisible()] == ["dim"]
    button = form.fields["dim"].reset
    assert button.text() == "↺ 96" and "demo" in button.toolTip()
    assert button.accessibleName() == "Width: back to 96, the preset's value"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert form.recipe == DEMO and not button.isVisible()
    assert line(form, "dim").text() == "96"


def test_a_value_that_was_refused_can_be_given_up(
    make: Callable[..., RecipeForm], qtbot: QtBot
) -> None:
    form = make("lm")
    enter(qtbot, form, "dim", "wide")
    field = form.fields["dim"]
    qtbot.mouseClick(field.reset, Qt.MouseButton.LeftButton)
    assert line(form, "dim").text() == "96" and not field.error.isVisible()
    assert not field.reset.isVisible()


@pytest.mark.parametrize(
    ("section", "name", "other"),
    [
        ("filter", "members", ("mlp",)),
        ("filter", "probe", False),
        ("filter", "policy", "softmax"),
        ("lm", "pretrain_folder", "/x" * 20),
    ],
)
def test_every_kind_of_field_goes_back(
    make: Callable[..., RecipeForm], qtbot: QtBot, section: str, name: str, other: Any
) -> None:
    form = make(section, DEMO.with_values({f"{section}.{name}": other}))
    qtbot.mouseClick(form.fields[name].reset, Qt.MouseButton.LeftButton)
    assert form.recipe == DEMO


def test_another_recipe_is_shown_with_its_own_preset(make: Callable[..., RecipeForm]) -> None:
    form = make("lm", DEMO.with_values({"lm.dim": 128}))
    form.set_recipe(preset("paper"))
    assert line(form, "dim").text() == "512"
    assert not any(f.reset.isVisible() for f in form.fields.values())


# --- what a change leads to ------------------------------------------------------------------


def standing(**states: str) -> list[StageState]:
    made = Artifact("", 1, "", "", True, "")
    every = {stage: states.get(stage, "missing") for stage in recipes.STAGES}
    return [StageState(s, state, made) for s, state in every.items()]  # type: ignore[arg-type]


DONE = {"prepare": "done", "train_lm": "done", "generate": "done"}
STALE = {"prepare": "done", "train_lm": "stale", "generate": "stale"}


@pytest.mark.parametrize(
    ("before", "after", "says", "role"),
    [
        (DONE, STALE, "↻ Out of date with these values: Language models, Candidates.", "warn"),
        (STALE, DONE, "✓ Up to date with these values: Language models, Candidates.", "good"),
        ({"train_lm": "unfinished"}, {}, "◐ Starts anew: Language models.", "warn"),
        (DONE | {"generate": "missing"}, STALE | {"generate": "missing"},
         "↻ Out of date with these values: Language models.", "warn"),
        ({"prepare": "done"}, {"prepare": "done"}, "", "muted"),
    ],
)  # fmt: skip
def test_what_a_change_leads_to(
    before: dict[str, str], after: dict[str, str], says: str, role: str
) -> None:
    told, of = forms.consequences("lm", standing(**before), standing(**after))
    assert (told.removesuffix(" What was made is kept."), of) == (says, role)


def test_a_change_says_under_its_field_what_becomes_out_of_date(
    make: Callable[..., RecipeForm], qtbot: QtBot
) -> None:
    form = make("lm", states=lambda r: standing(**(DONE if r.lm == DEMO.lm else STALE)))
    dim, layers = form.fields["dim"], form.fields["layers"]
    enter(qtbot, form, "dim", "64")
    assert dim.note.isVisible() and "Language models, Candidates" in dim.note.text()
    enter(qtbot, form, "layers", "2")
    assert layers.note.isVisible() and not dim.note.isVisible()
    layers.reset.click()
    dim.reset.click()
    assert dim.note.text().startswith("✓ Up to date") and not layers.note.isVisible()


def test_without_a_project_a_change_names_the_steps_that_depend_on_it(
    make: Callable[..., RecipeForm], qtbot: QtBot
) -> None:
    form = make("generate")
    enter(qtbot, form, "temperature", "0.9")
    note = form.fields["temperature"].note.text()
    assert note == "These steps depend on it: Candidates, Filtering, Draft release."
    assert forms.depends_on("run").startswith("These steps depend on it: Prepare, Language")
    assert replace(DEMO, generate=form.recipe.generate) == form.recipe
