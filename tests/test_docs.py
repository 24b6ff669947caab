"""What README and docs/ say is true: settings, words, keys, links, libraries, worked examples."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from documents import (
    DESIGN,
    DOCUMENTS,
    EXTENDING,
    GUIDE,
    LIBRARIES,
    REPOSITORY,
    blocks,
    lines_of,
    named,
    prose,
    spans,
)

from swag_studio import recipe as recipes
from swag_studio.engine import registry, release_checks
from swag_studio.engine.ingest import guess, run_import
from swag_studio.engine.registry import Registry
from swag_studio.evidence import MEMBERS
from swag_studio.project import Project
from swag_studio.ui.annotate_keys import ACTIONS
from swag_studio.ui.pages import PAGES
from swag_studio.ui.words import FORMATS

SETTING = re.compile(r"(run|prepare|lm|generate|filter|release)\.[a-z][a-z_]*")


# --- settings, words and keys --------------------------------------------------------------------


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    small = recipes.preset("small").to_dict()
    keys = {f"{section}.{key}" for section, values in small.items() for key in values}
    files = {"release.py", "release.json", "run.json", "prepare.py"}
    shown = {s.partition("=")[0] for s in spans(path) if SETTING.fullmatch(s.partition("=")[0])}
    assert shown - files <= keys
    for words in lines_of(path):
        if words[:1] == ["recipe"]:
            recipes.preset("small").with_values(dict(w.split("=") for w in words[2:]))


class Seen(ast.NodeVisitor):
    """The texts of a module that can be read on the screen: no docstrings, no accessible names."""

    heard = ("setAccessibleName", "setAccessibleDescription")

    def __init__(self) -> None:
        self.texts: list[str] = []

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func).rpartition(".")[2]
        if called not in self.heard:
            named = called == "Table"  # its first argument is heard, its columns are seen
            for part in (node.func, *node.args[named:], *node.keywords):
                self.visit(part)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.texts.append(node.value.replace("&", ""))


@cache
def screen() -> list[str]:
    """Every text of the window's code that is seen, with the words that the terminal has too."""
    seen, package = Seen(), REPOSITORY / "swag_studio"
    for path in (package / "records.py", *sorted((package / "ui").glob("*.py"))):
        seen.visit(ast.parse(path.read_text("utf-8")))
    return seen.texts


def test_bold_words_of_the_guide_stand_on_the_screen() -> None:
    bold = re.findall(r"\*\*([^*]+)\*\*", prose(GUIDE))
    assert len(bold) > 50
    parts = {" ".join(part.split()) for words in bold for part in re.split(r"\s>\s", words)}
    texts = "\n".join(screen())
    missing = [p for p in sorted(parts) if not re.search(rf"(?<!\w){re.escape(p)}(?!\w)", texts)]
    assert missing == []


def test_the_guide_explains_every_member_and_what_it_is_compared_with() -> None:
    words = GUIDE.read_text("utf-8").partition("\n## Install\n")[0]
    rows = re.findall(r"^\| ([^|]+) \|", words, re.MULTILINE)
    assert {*(MEMBERS[name] for name in registry.MEMBERS), "unfiltered"} <= set(rows)
    commands = (REPOSITORY / "swag_studio/cli").glob("*.py")
    terminal = "\n".join(path.read_text("utf-8") for path in commands)
    assert re.findall(r'"[^"\n]*\bcontrol arm\b[^"\n]*"', terminal) == []


def test_the_guide_has_a_chapter_on_every_page() -> None:
    text = GUIDE.read_text("utf-8")
    missing = [s.title for s in PAGES if f"\n## {s.title}\n" not in text]
    assert missing == []


def test_the_guide_has_the_keys_of_judging() -> None:
    text = GUIDE.read_text("utf-8")
    names = {"Return": "Enter"}
    wanted = [f"| {a.words} | `{names.get(a.key, a.key)}`" for a in ACTIONS]
    assert [row for row in wanted if row not in text] == []


def test_the_guide_says_of_every_check_whether_it_blocks_a_release() -> None:
    tables = re.findall(
        r"^\| (error|warning) \| \|\n\|[-| ]+\n((?:\|.*\n)+)", GUIDE.read_text("utf-8"), re.M
    )
    told = {kind: level for level, rows in tables for kind in re.findall(r"`(\w+)`", rows)}
    assert told == {kind: rule[0] for kind, rule in release_checks._RULES.items()}


def test_the_guide_names_every_format_of_sources() -> None:
    rows = GUIDE.read_text("utf-8").partition("\n| format | |\n")[2].partition("\n\n")[0]
    assert [name for name in registry.SOURCES if FORMATS[name] not in rows] == []


@pytest.mark.parametrize(("language", "format"), [("text", "csv"), ("json", "own")])
def test_the_files_that_the_guide_shows_come_in(
    language: str, format: str, project: Project, tmp_path: Path
) -> None:
    (shown,) = blocks(GUIDE.read_text("utf-8"), language)
    path = tmp_path / "shown"
    path.write_text(shown, encoding="utf-8")
    assert guess(path) == format
    *_, last = run_import(path, project)
    assert last.summary["left_out"] == {}
    assert last.summary["adjacent_pairs"] + last.summary["own_contexts"] == 1


# --- links ---------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """The headings as links name them."""
    heads = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_what_is_linked_is_there(path: Path) -> None:
    links = re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)", prose(path))
    for target, anchor in links:
        if re.match(r"[a-z]+:", target):
            continue
        file = path.parent / target if target else path
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), anchor


def test_the_guide_shows_every_page_that_was_photographed() -> None:
    pictures = {p.name for p in (REPOSITORY / "docs/screenshots").glob("*-light-100.png")}
    shown = set(re.findall(r"screenshots/([\w-]+\.png)", GUIDE.read_text("utf-8")))
    assert pictures <= shown


def test_every_module_that_is_named_is_there() -> None:
    there = {path.name for path in REPOSITORY.glob("[!.]*/**/*.py")}
    mine = {Path(file).name for e in EXAMPLES.values() for file in (e.file, e.test_file)}
    named = {n for d in DOCUMENTS for n in re.findall(r"\b\w+\.py\b", d.read_text("utf-8"))}
    assert named - there - mine - {"x.py", "test_x.py"} == set()


def test_the_tree_names_every_module_of_the_engine() -> None:
    modules = {path.name for path in (REPOSITORY / "swag_studio/engine").glob("[!_]*.py")}
    assert modules - set(re.findall(r"\w+\.py", DESIGN.read_text("utf-8"))) == set()


# --- libraries -----------------------------------------------------------------------------------


def test_every_library_is_explained_and_the_program_imports_it_unless_that_is_said() -> None:
    pyproject = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    wanted = {re.split("[>=<]", line)[0] for line in pyproject["project"]["dependencies"]}
    table = LIBRARIES.read_text("utf-8").partition("\nExtras")[0]
    rows = dict(re.findall(r"^\| ([\w, .-]+?) \| (.*)$", table, re.MULTILINE))
    del rows["library"]
    reasons = {n.split()[0]: row for names, row in rows.items() for n in names.split(", ")}
    assert reasons.keys() == wanted
    sources = "\n".join(p.read_text("utf-8") for p in (REPOSITORY / "swag_studio").rglob("*.py"))
    other = {"scikit-learn": "sklearn", "PySide6-Essentials": "PySide6"}
    for name, reason in reasons.items():
        module = other.get(name, name.replace("-", "_"))
        used = re.search(
            rf'^\s*(?:import|from) {module}\b|^MODELS = .*"{module}"', sources, re.MULTILINE
        )
        assert bool(used) != ("Nothing of the program imports it" in reason), name


# --- floors --------------------------------------------------------------------------------------


def test_the_drawing_of_the_floors_is_in_their_order() -> None:
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {
        module.removeprefix("swag_studio."): place
        for place, layer in enumerate(layers)
        for module in layer.split(" : ")
    }
    (drawing,) = [b for b in blocks(DESIGN.read_text("utf-8"), "text") if "┌" in b]
    drawn = [w for w in re.findall(r"[a-z_]{2,}", drawing) if w in height]
    assert len(drawn) == len(set(drawn)) > len(height) // 2
    assert [height[w] for w in drawn] == sorted(height[w] for w in drawn)


# --- worked examples -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """A chapter of docs/extending.md: a module, its line in a registry, and its test."""

    file: str
    code: str
    table: str
    line: str
    test_file: str
    test: str

    @property
    def module(self) -> str:
        return ".".join(Path(self.file).with_suffix("").parts)

    @property
    def entry(self) -> tuple[str, str]:
        """The line's name and "module:Class"."""
        ((name, place),) = eval(f"{{{self.line}}}", {"_E": registry._E}).items()
        return name, place


def examples() -> dict[str, Example]:
    found = {}
    for chapter in EXTENDING.read_text("utf-8").split("\n## ")[1:]:
        code = re.findall(r"`([\w/]+\.py)`:\n\n```python\n(.*?)^```$", chapter, re.M | re.S)
        line = re.search(r"^The line in `(\w+)`:\n\n```python\n(.*?)\n```$", chapter, re.M | re.S)
        if line:
            example = Example(*code[0], line[1], line[2], *code[1])
            found[example.entry[0]] = example
    return found


EXAMPLES = examples()
TESTS = [
    (name, node.name)
    for name, example in EXAMPLES.items()
    for node in ast.parse(example.test).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]


def put(monkeypatch: pytest.MonkeyPatch, example: Example) -> ModuleType:
    """Puts the example where it says it belongs, as far as imports and the registry can see."""
    module = ModuleType(example.module)
    monkeypatch.setitem(sys.modules, example.module, module)
    exec(compile(example.code, example.file, "exec"), module.__dict__)
    table: Registry = getattr(registry, example.table)
    monkeypatch.setitem(table._parts, *example.entry)
    return module


def test_there_is_an_example_of_each() -> None:
    assert [e.table for e in EXAMPLES.values()] == ["SOURCES", "MEMBERS", "EXPORTERS"]
    assert {name for name, _ in TESTS} == set(EXAMPLES)


@pytest.mark.parametrize(("name", "test"), TESTS)
def test_an_example_passes_its_own_test(
    name: str, test: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, EXAMPLES[name])
    space: dict[str, Any] = {}
    exec(compile(EXAMPLES[name].test, "docs/extending.md", "exec"), space)
    function: FunctionType = space[test]
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    function(**dict.fromkeys(wanted, tmp_path))


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_an_example_is_what_its_line_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = put(monkeypatch, EXAMPLES[name])
    part = getattr(registry, EXAMPLES[name].table)[name]
    assert part.__module__ == module.__name__ == EXAMPLES[name].module


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_an_example_is_in_the_style_of_the_house(name: str) -> None:
    example = EXAMPLES[name]
    files = ((example.file, example.code), (example.test_file, example.test))
    unsorted = "--ignore=I001"  # ruff takes a module that is no file for one of others
    for mode, (file, code) in product((["check", unsorted], ["format", "--check"]), files):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *mode, "--stdin-filename", file, "-"],
            input=code,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_source_is_recognised_and_imported(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, EXAMPLES["subrip"])
    path = tmp_path / "kitchen.srt"
    times = "00:00:0{0},000 --> 00:00:0{0},900"
    texts = ("A cook cracks two eggs.", "He beats them with a fork.", "He lights the stove.")
    path.write_text(
        "\n".join(f"{i}\n{times.format(i)}\n{text}\n" for i, text in enumerate(texts, 1))
    )
    assert guess(path) == "subrip"
    *_, last = run_import(path, project)
    assert last.summary["captions"] == 3
    assert last.summary["adjacent_pairs"] == 2
    assert [c.text for _, c in project.store.captions()] == list(texts)
