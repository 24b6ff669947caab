"""No thread but the window's has Qt's classes made."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from pytestqt.qtbot import QtBot

from swag_studio.ui import qt_classes
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.pages import PAGES, Step
from swag_studio.ui.workspace import Workspace

CODE = """
import json, sys
from swag_studio.ui import main_window, qt_classes
turns = 1
while not qt_classes.make_some(0.001):
    turns += 1
before = {m for m in sys.modules if m.startswith("PySide6.Qt")}
lazy = [f"{m}.{name}" for m in sorted(before) for name in dir(sys.modules[m])
        if name not in vars(sys.modules[m])]
import pyqtgraph
later = sorted({m for m in sys.modules if m.startswith("PySide6.Qt")} - before)
print(json.dumps([turns, len(before), lazy, later]))
"""


def test_charts_find_every_class_made() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    turns, modules, lazy, later = json.loads(done.stdout)
    assert turns > 1  # a piece at a time
    assert modules >= 3 and lazy == [] and later == []


def test_no_page_is_read_before(
    qtbot: QtBot, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    answers = iter([False, False, True, True, True])

    def make_some(seconds: float) -> bool:
        told.append("some")
        return next(answers)

    monkeypatch.setattr(qt_classes, "make_some", make_some)
    monkeypatch.setattr(Step, "fetch", lambda self, _: told.append(self.title))
    window = MainWindow(workspace, PAGES[:2])
    window.show()
    qtbot.waitUntil(lambda: len(window.pages) == 2)
    assert told == ["some", "some", "some", "Sources", "some", "Language models"]
    window.close()
