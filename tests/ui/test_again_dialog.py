"""Filtering again with what people said: counted first, then queued as it was chosen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fakes import FakeJobs
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from waiting import at_rest

from swag_studio.ui.again_dialog import AgainDialog, ask
from swag_studio.ui.workspace import Workspace
from swag_studio.views import FeedbackPreview

COUNTS = FeedbackPreview(1, 12, 7, 93, 5, 2, 60, 400, "", False)


@pytest.fixture
def opened(qtbot: QtBot, workspace: Workspace) -> Callable[[], AgainDialog]:
    window = QWidget()
    qtbot.addWidget(window)

    def opened() -> AgainDialog:
        dialog = ask(workspace, window)
        at_rest(qtbot, workspace.reader)
        return dialog

    return opened


def test_it_counts_and_then_runs_what_was_chosen(
    opened: Callable[[], AgainDialog], jobs: FakeJobs, settle: Callable[[], None]
) -> None:
    jobs.feedback = COUNTS
    dialog = opened()
    counts = dict(dialog.table.rows_model.rows)
    assert counts["endings that can no longer be assigned"] == 12
    assert counts["contexts that move"] == 7
    dialog.use.setCurrentIndex(dialog.use.findData("both"))
    dialog.iterations.setValue(9)
    dialog.go.click()
    settle()
    assert jobs.ran == ["again both 9"]


def test_too_few_labels_leave_the_classifier_out_and_say_so(
    opened: Callable[[], AgainDialog], jobs: FakeJobs, settle: Callable[[], None]
) -> None:
    jobs.feedback = FeedbackPreview(1, 12, 7, 93, 5, 0, 3, 40, "Only 3 endings of 50.", True)
    dialog = opened()
    assert not dialog.use.isEnabled() and "Only 3" in dialog.said.text()
    assert "simulated" in dialog.said.text()
    dialog.go.click()
    settle()
    assert jobs.ran == ["again off 0"]


def test_there_is_nothing_to_do_before_anybody_said_anything(
    opened: Callable[[], AgainDialog], jobs: FakeJobs
) -> None:
    jobs.feedback = FeedbackPreview(1, 0, 0, 100, 0, 0, 0, 0, "", False)
    dialog = opened()
    assert not dialog.go.isEnabled() and "Nobody has refused" in dialog.said.text()
    dialog.reject()


def test_without_a_run_it_says_so(opened: Callable[[], AgainDialog]) -> None:
    dialog = opened()
    assert dialog.said.text() == "There is no filter run yet." and not dialog.go.isEnabled()
    dialog.reject()


def test_a_refusal_stands_instead_of_an_empty_table(qtbot: QtBot) -> None:
    dialog = AgainDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.refuse("There is no finished run.")
    assert dialog.said.text() == "There is no finished run." and not dialog.table.isVisible()
    assert not dialog.go.isEnabled() and not dialog.use.isEnabled()
