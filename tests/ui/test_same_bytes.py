"""The window and the command line make the same bytes of the same captions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dragging import drop
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tiny import DOCUMENTS, captions, tiny_recipe
from waiting import end

from swag_studio import app as wiring
from swag_studio import cli
from swag_studio.events import Failed, Finished
from swag_studio.project import FOLDERS, Project
from swag_studio.recipe import STAGES
from swag_studio.ui.application import Application
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.sources_page import SourcesPage

WITHIN = 600_000  # ms: for a machine that does much else
SMALLER = {
    "prepare.max_contexts": 40,
    "filter.mlp_iterations": 1,
    "filter.ensemble_iterations": 1,
}


@pytest.fixture
def application(qapp: QApplication, tmp_path: Path) -> Iterator[Application]:
    application = Application(qapp, wiring.parts(tmp_path / "profile"))
    yield application
    end(application)


def test_clicks_and_commands_make_the_same_files(
    qtbot: QtBot, application: Application, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tiny_recipe().with_values(SMALLER)
    file = captions(tmp_path / "captions.json", DOCUMENTS)
    clicked, commanded = tmp_path / "clicked.swag", tmp_path / "commanded.swag"
    Project.create(clicked, recipe).close()
    window = application.open(clicked)
    assert window is not None
    by_hand(qtbot, window, file)
    window.close()

    toml = tmp_path / "recipe.toml"
    toml.write_text(recipe.to_toml(), encoding="utf-8")
    for words in (["new", "--recipe", str(toml)], ["import", str(file)], ["run"]):
        assert cli.main([words[0], str(commanded), *words[1:]]) == 0, capsys.readouterr().err

    made = files(clicked)
    assert {"releases/v1/train.csv", "releases/v1/manifest.json"} <= made.keys()
    other = files(commanded)
    assert sorted(made) == sorted(other)
    assert [name for name in made if made[name] != other[name]] == []


def by_hand(qtbot: QtBot, window: MainWindow, file: Path) -> None:
    """Drops the file, looks at it, brings it in, and runs everything."""
    page = window.page(0)
    assert isinstance(page, SourcesPage)
    drop(page, file)
    qtbot.waitUntil(page.panel.bring_in.isVisible, timeout=WITHIN)
    qtbot.mouseClick(page.panel.bring_in, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(page.table.rows_model.rows), timeout=WITHIN)
    bridge = window.workspace.bridge
    qtbot.waitUntil(lambda: bridge.idle, timeout=WITHIN)
    ends: list[object] = []
    bridge.ended.connect(ends.append)
    actions = [action for menu in window.menus for action in menu.actions()]
    next(a for a in actions if a.text() == "Run &everything").trigger()
    qtbot.waitUntil(lambda: bridge.idle, timeout=WITHIN)
    assert [end for end in ends if isinstance(end, Failed)] == []
    assert [end.stage for end in ends if isinstance(end, Finished)] == list(STAGES)


def files(root: Path) -> dict[str, bytes]:
    """Every file that the stages made, but the account of time and machine."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for folder in FOLDERS.values()
        for path in (root / folder).rglob("*")
        if path.is_file() and path.name != "run.json"
    }
