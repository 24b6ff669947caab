"""What README and docs/ say is true: commands, options, settings, keys, links, worked examples."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from typer.main import get_command

from swag_studio import app as wiring
from swag_studio import recipe as recipes
from swag_studio.engine import registry, release_checks
from swag_studio.engine.ingest import guess, run_import
from swag_studio.engine.registry import Registry
from swag_studio.project import Project
from swag_studio.ui.annotate_keys import ACTIONS
from swag_studio.ui.pages import PAGES
from swag_studio.ui.words import FORMATS

REPOSITORY = Path(__file__).resolve().parent.parent
README, GUIDE = REPOSITORY / "README.md", REPOSITORY / "docs/guide.md"
EXTENDING, DESIGN = REPOSITORY / "docs/extending.md", REPOSITORY / "docs/design.md"
COMMANDED = (README, GUIDE, EXTENDING)
DOCUMENTS = sorted(
    [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md"), *REPOSITORY.glob("docs/*/*.md")]
)
SETTING = re.compile(r"(run|prepare|lm|generate|filter|release)\.[a-z][a-z_]*")
WINDOW_OPTIONS = {"--basedir"}


def named(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def prose(path: Path) -> str:
    """The text without its blocks of code."""
    text = path.read_text("utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def spans(path: Path) -> list[str]:
    """The pieces of code within the text."""
    return re.findall(r"`([^`\n]+)`", prose(path))


# --- commands ----------------------------------------------------------------------------------


@cache
def commands() -> dict[str, Any]:
    """ "run", "packets", "packets merge" ... -> the command."""
    import swag_studio.cli.commands as found
    from swag_studio.cli import main

    main(["--version"])  # registers those of the other files

    def walk(group: Any, before: str) -> Iterator[tuple[str, Any]]:
        for name, command in group.commands.items():
            yield before + name, command
            if hasattr(command, "commands"):
                yield from walk(command, f"{before}{name} ")

    return dict(walk(get_command(found.app), ""))


def options(command: Any) -> set[str]:
    return {"--help"}.union(
        *({o for o in (*p.opts, *p.secondary_opts) if o.startswith("--")} for p in command.params)
    )


def lines_of(path: Path) -> list[list[str]]:
    """The words after "swag-studio" of each such line of a block, comments left out."""
    found = []
    for block in blocks(path.read_text("utf-8"), "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words and Path(words[0]).name == "swag-studio":
                found.append(words[1:])
    return found


def rows_of(path: Path) -> list[list[str]]:
    """The words of the first cells of tables of commands: "run PROJECT [--until STAGE]"."""
    tables = re.findall(r"^\| command \|.*\n\|[-| ]+\n((?:\|.*\n)+)", path.read_text("utf-8"), re.M)
    first = re.findall(r"^\| ([^|]+) \|", "".join(tables), re.MULTILINE)
    shown = [span for cell in first for span in re.findall(r"`([^`]+)`", cell)]
    return [re.sub(r"[\[\]]", " ", span).split() for span in shown]


def parted(words: list[str]) -> tuple[str, list[str]]:
    """(the command's name, its arguments); the name is "" for a line that opens a window."""
    pair = " ".join(words[:2])
    size = 2 if pair in commands() else 1 if words and words[0] in commands() else 0
    return " ".join(words[:size]), words[size:]


@pytest.mark.parametrize("path", COMMANDED, ids=named)
def test_every_line_is_one_that_the_program_takes(path: Path) -> None:
    lines = lines_of(path)
    assert lines
    for words in lines:
        name, arguments = parted(words)
        if name:  # raises for an unknown option, a missing argument or a value of another kind
            commands()[name].make_context(name, arguments)
        else:
            files = [w for w in words if not w.startswith("--") and w != "DIR"]
            assert {w for w in words if w.startswith("--")} <= WINDOW_OPTIONS
            assert all(Path(file).suffix in wiring._OPENED for file in files), words


@pytest.mark.parametrize("path", (README, GUIDE), ids=named)
def test_every_row_of_a_table_of_commands_is_a_command_with_these_options(path: Path) -> None:
    rows = rows_of(path)
    assert rows
    for words in rows:
        name, arguments = parted(words)
        assert name, words
        shown = {re.split("[=,]", w)[0] for w in arguments if w.startswith("--")}
        assert shown <= options(commands()[name]), words


def test_the_guide_names_every_command() -> None:
    told = {parted(words)[0] for words in rows_of(GUIDE)}
    assert {n for n, c in commands().items() if not hasattr(c, "commands")} - told == set()


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_every_option_in_the_text_is_one_of_a_command(path: Path) -> None:
    known = WINDOW_OPTIONS.union({"--version"}, *(options(c) for c in commands().values()))
    own = [s for s in spans(path) if re.match(r"--\w|swag-studio ", s)]
    shown = {w for s in own for w in re.findall(r"(?<!\S)--[a-z][a-z-]*", s)}
    assert shown <= known


def test_make_and_the_lines_without_it_are_the_same() -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8").replace("$(BIN)", ".venv/bin")
    for target in ("run", "test"):
        recipe = re.search(rf"^{target}:.*\n\t(.+)$", makefile, re.MULTILINE)
        assert recipe and recipe[1] in README.read_text("utf-8"), target


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
    """Every text of the window's code that is seen."""
    seen = Seen()
    for path in sorted((REPOSITORY / "swag_studio/ui").glob("*.py")):
        seen.visit(ast.parse(path.read_text("utf-8")))
    return seen.texts


def test_bold_words_of_the_guide_stand_on_the_screen() -> None:
    bold = re.findall(r"\*\*([^*]+)\*\*", prose(GUIDE))
    assert len(bold) > 50
    parts = {" ".join(part.split()) for words in bold for part in re.split(r"\s>\s", words)}
    texts = "\n".join(screen())
    missing = [p for p in sorted(parts) if not re.search(rf"(?<!\w){re.escape(p)}(?!\w)", texts)]
    assert missing == []


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
        r"^\| (error|warning) \| \|\n\|[-| ]+\n((?:\|.*\n)+)", GUIDE.read_text(), re.M
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
            timeout=60,
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
