"""The window with the engine that it ships with: an import by hand, and the end by a signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from dragging import drop
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from waiting import end

from swag_studio import app as wiring
from swag_studio import recipe as recipes
from swag_studio.project import Project
from swag_studio.ui.application import Application
from swag_studio.ui.sources_page import SourcesPage

LEFT = Qt.MouseButton.LeftButton
WITHIN = 30_000  # ms: for a machine that does much else


@pytest.fixture
def application(qapp: QApplication, tmp_path: Path) -> Iterator[Application]:
    application = Application(qapp, wiring.parts(tmp_path / "profile"))
    yield application
    end(application)


def videos(count: int) -> dict[str, object]:
    """ActivityNet Captions with `count` videos of three sentences, the last of them blank."""
    return {
        f"v_{i}": {
            "duration": 9.0,
            "timestamps": [[0, 3], [3, 6], [6, 9]],
            "sentences": [f"A man opens door {i}.", " He walks through it.", " "],
        }
        for i in range(count)
    }


def test_a_file_is_dropped_read_and_imported(
    qtbot: QtBot, application: Application, tmp_path: Path
) -> None:
    file = tmp_path / "val.json"
    file.write_text(json.dumps(videos(4)), encoding="utf-8")
    bad = tmp_path / "bad.json"
    bad.write_bytes(b'{"v_1": \xff')
    window = application.new(tmp_path / "p.swag", "demo")
    assert window is not None
    page = window.page(0)
    assert isinstance(page, SourcesPage)
    drop(page, file, bad)
    qtbot.waitUntil(page.panel.bring_in.isVisible, timeout=WITHIN)
    assert page.panel.counts.text() == (
        "8 captions in 4 documents; 4 pairs of captions that follow each other."
    )
    assert [row[1:] for row in page.panel.reasons.rows_model.rows] == [("The sentence is empty", 4)]
    page.panel.open_reason(page.panel.reasons.rows_model.row(0))
    qtbot.mouseClick(page.panel.bring_in, LEFT)
    qtbot.waitUntil(lambda: bool(page.table.rows_model.rows), timeout=WITHIN)
    qtbot.waitUntil(page.panel.error.isVisible, timeout=WITHIN)
    assert "not text in UTF-8" in page.panel.error.text()
    assert sum(s.captions for s in window.workspace.project.store.sources()) == 8
    qtbot.waitUntil(lambda: window.workspace.bridge.idle, timeout=WITHIN)  # else it asks
    window.close()
    assert [t.name for t in threading.enumerate() if t.name == "engine"] == []


ENDLESS = """
import sys
from swag_studio import app
from swag_studio.events import Progress
from swag_studio.ui import application, closing

application.LEAVE_WITHIN, closing.MOMENT = 60_000, 60  # however busy the machine is

def run(self, recipe, project, until):
    i = 0
    while True:
        i += 1
        yield Progress("prepare", i, 0, "captions")
        if i == 1000:
            print("at work", flush=True)

app.EngineJobs.run = run
sys.exit(app.main(sys.argv[1:]))
"""


def test_sigterm_pauses_a_running_job_and_ends_with_0(tmp_path: Path) -> None:
    root = tmp_path / "demo.swag"
    Project.create(root, recipes.preset("demo")).close()
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, "demo", str(tmp_path), "--basedir", str(tmp_path / "me")],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "at work\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    assert json.loads((root / "paused.json").read_text()) == {"until": "release"}
    assert not (root / "lock.json").exists()
    with Project.open(root) as project:
        assert project.store.sources() and project.check() == []
    assert json.loads((tmp_path / "me" / "settings.json").read_text())["recent"] == [str(root)]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], ([], None)),
        (["a.swag"], ([Path("a.swag")], None)),
        (["x/a.swag/a.swagproj", "b.swag"], ([Path("x/a.swag/a.swagproj"), Path("b.swag")], None)),
        (["demo"], ([], Path())),
        (["demo", "here"], ([], Path("here"))),
        (["demo", "--headless"], None),
        (["demo", "--json"], None),
        (["run", "a.swag"], None),
        (["--help"], None),
        (["--version"], None),
        (["--basedir"], None),
        (["--basedir", "b"], ([], None)),
    ],
)
def test_the_window_opens_for_projects_and_the_demo(
    words: list[str], wanted: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    wish = wiring._window_wanted(words)
    assert (None if wish is None else (wish.paths, wish.demo)) == wanted


def test_without_a_display_everything_is_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert wiring._window_wanted([]) is None and wiring._window_wanted(["demo"]) is None


def test_the_window_is_there_before_torch_and_spacy() -> None:
    code = (
        "import sys; from swag_studio import app; app._without_pandas();"
        "import swag_studio.ui.application, swag_studio.ui.sources_page, swag_studio.ui.charts;"
        "app.parts(None);"
        "print([m for m in ('torch', 'spacy', 'scipy', 'pandas', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
