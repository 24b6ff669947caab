"""Commands and options: what README and docs/ say of them is true, and nothing is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from documents import COMMANDED, DOCUMENTS, GUIDE, README, REPOSITORY, lines_of, named, spans
from typer.main import get_command

from swag_studio import app as wiring

WINDOW_OPTIONS = {"--basedir"}


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


def test_the_guide_has_every_option_of_every_command() -> None:
    """In the rows of its commands; `--json` and `--help`, which all take, stand below them."""
    told: dict[str, set[str]] = {}
    for words in rows_of(GUIDE):
        name, arguments = parted(words)
        told.setdefault(name, {"--help", "--json"}).update(w for w in arguments if w[:2] == "--")
    missing = {name: options(commands()[name]) - told[name] for name in told}
    assert {name: kept for name, kept in missing.items() if kept} == {}


@pytest.mark.parametrize("group", ["", "packets"])
def test_help_tells_every_command_in_a_whole_sentence(
    group: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from swag_studio.cli import main

    monkeypatch.setenv("COLUMNS", "80")
    assert main([*group.split(), "--help"]) == 0
    names = [n for n in commands() if n.rpartition(" ")[0] == group]
    lines = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines] == [name.split()[-1] for name in names]
    assert [line for line in lines if not re.search(r"\w\.$", line)] == []


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
