"""Every code that the engine can give has its words."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from swag_studio.engine import pairs, prepare
from swag_studio.engine.registry import SOURCES
from swag_studio.engine.splitters import spacy_dependency
from swag_studio.recipe import STAGES
from swag_studio.reviewing import BEFORE
from swag_studio.ui import words
from swag_studio.views import Origin


def codes(module: ModuleType) -> set[str]:
    """Reasons that the module's functions return, or give to `left_out`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Return) and node.value is not None:
            found |= constants(node.value)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "left_out":
            found |= constants(node.args[0])
    return found - {""}


def constants(value: ast.expr) -> set[str]:
    """The strings that an expression can be."""
    if isinstance(value, ast.IfExp):
        return constants(value.body) | constants(value.orelse)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return {value.value}
    return set()


def test_when_a_distractor_came_in() -> None:
    assert [words.since(i) for i in (BEFORE, -1, 0, 11)] == [
        "earlier run", "first draw", "iteration 1", "iteration 12",
    ]  # fmt: skip
    origins = (Origin(2, 11), Origin(1, -1), Origin(1, None, curator=True), Origin(3))
    assert [words.inherited(origin) for origin in origins] == [
        "run 2, iteration 12", "run 1, first draw", "run 1, by a curator", "run 3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "known"),
    [(pairs, "several_sentences"), (prepare, "unknown_word"), (spacy_dependency, "no_subject")],
)
def test_every_reason_of_prepare_has_words(module: ModuleType, known: str) -> None:
    found = codes(module)
    assert known in found and found <= set(words.PAIR_REASONS)


def test_every_format_and_stage_has_words() -> None:
    assert set(words.FORMATS) == set(SOURCES)
    assert set(words.STAGE_TITLES) == set(STAGES)
    assert set(STAGES) < set(words.STAGE_NAMES)


def test_a_code_without_words_is_made_readable() -> None:
    assert words.reason("some_new_reason") == "Some new reason"
    assert words.count(1, "pair") == "1 pair" and words.count(1200, "pair") == "1,200 pairs"


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 tasks wait"), (1, "1 task waits"), (1200, "1,200 tasks wait")]
)
def test_a_verb_follows_its_number(number: int, told: str) -> None:
    assert words.does(number, "task", "waits", "wait") == told
