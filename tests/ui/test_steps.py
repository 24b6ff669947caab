"""Steps of many contexts in the window: how far they are, and that they can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot
from test_store_review import CONTEXTS, VERSION, fill
from waiting import at_rest

from swag_studio import curating, store_steps
from swag_studio.curating import Change, Curator, EditError
from swag_studio.reviewing import ReviewFilter
from swag_studio.store import Store
from swag_studio.ui import steps as ui_steps
from swag_studio.ui.review_actions import Actions
from swag_studio.ui.review_dialogs import BulkDialog
from swag_studio.ui.steps import StepDialog
from swag_studio.ui.undo import CURATED, Undo
from swag_studio.ui.workspace import Workspace

SLICE = 4


@pytest.fixture
def store(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A project whose steps are told of slice by slice."""
    monkeypatch.setattr(store_steps, "SLICE_OF_STEP", SLICE)
    monkeypatch.setattr(ui_steps, "PULL", -1.0)
    store = workspace.project.store
    fill(store)
    list(store.build_review(VERSION, 1, {}))
    curating.set_who(store, "Ann")
    return store


@pytest.fixture
def parent(qtbot: QtBot) -> Iterator[QWidget]:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    yield widget


@pytest.fixture
def undo(workspace: Workspace, parent: QWidget, qtbot: QtBot, store: Store) -> Undo:
    made = Undo(workspace, QMenu(parent))
    settle(qtbot, workspace)
    return made


def settle(qtbot: QtBot, workspace: Workspace) -> None:
    at_rest(qtbot, workspace.reader)


def excluded(store: Store) -> int:
    return len(store.review_ids(VERSION, ReviewFilter(excluded=True)))


def exclude_all(
    qtbot: QtBot, workspace: Workspace, parent: QWidget, told: Callable[[str, str], object]
) -> BulkDialog:
    store = workspace.project.store
    actions = Actions(store, workspace.reader, parent)
    actions.told.connect(told)
    actions.bulk(VERSION, store.review_ids(VERSION), Change("exclude"))
    settle(qtbot, workspace)
    (dialog,) = parent.findChildren(BulkDialog)
    return dialog


def test_a_bulk_change_shows_how_far_it_is(
    qtbot: QtBot, workspace: Workspace, store: Store, parent: QWidget
) -> None:
    told: list[str] = []
    dialog = exclude_all(qtbot, workspace, parent, lambda text, _: told.append(text))
    seen: list[int] = []
    dialog.progress.bar.valueChanged.connect(seen.append)
    assert dialog.progress.isHidden() and dialog.no.text() != "Stop"
    dialog.yes.click()
    assert dialog.progress.isVisible() and dialog.no.text() == "Stop"
    settle(qtbot, workspace)
    assert seen == [*range(SLICE, CONTEXTS, SLICE), CONTEXTS]
    assert told == [f"Exclude {CONTEXTS} contexts: done. Ctrl+Z takes it back."]
    assert not parent.findChildren(BulkDialog) or not dialog.isVisible()


def test_a_bulk_change_that_is_stopped_says_what_it_did(
    qtbot: QtBot, workspace: Workspace, store: Store, parent: QWidget
) -> None:
    told: list[str] = []
    dialog = exclude_all(qtbot, workspace, parent, lambda text, _: told.append(text))
    dialog.progress.bar.valueChanged.connect(lambda done: done == SLICE and dialog.reject())
    dialog.yes.click()
    settle(qtbot, workspace)
    done = excluded(store)
    assert SLICE <= done < CONTEXTS
    rest = f"(stopped, {CONTEXTS - done} contexts to go)"
    assert told == [f"Exclude {done} contexts: done {rest}. Ctrl+Z takes it back."]
    assert store.undo("Ann") and excluded(store) == 0


def test_an_undo_that_takes_long_can_be_stopped_and_goes_on(
    qtbot: QtBot,
    workspace: Workspace,
    store: Store,
    parent: QWidget,
    undo: Undo,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ui_steps, "SLOW", -1.0)
    ids = store.review_context_ids(store.review_ids(VERSION))
    Curator(store, VERSION, "Ann").bulk(ids, Change("exclude"))
    told: list[str] = []
    undo.told.connect(lambda text, _: told.append(text))
    shown: list[str] = []

    def stop() -> None:
        for dialog in parent.findChildren(StepDialog):
            shown.append(dialog.name.text())
            dialog.no.click()

    undo.undo()
    (steps,) = undo.findChildren(ui_steps.Steps)
    steps.made.connect(stop)
    settle(qtbot, workspace)
    left = excluded(store)
    name = f"Exclude {CONTEXTS} contexts"
    assert shown and shown[0] == f"Undo: {name}" and 0 < left < CONTEXTS
    assert told == [f"Undone: {name} (stopped, {left} contexts to go)."]
    assert undo.undo_action.text() == f"Undo {name}" and undo.redo_action.text() == f"Redo {name}"
    undo.undo()
    settle(qtbot, workspace)
    assert excluded(store) == 0 and not undo.undo_action.isEnabled()
    undo.redo()
    settle(qtbot, workspace)
    assert excluded(store) == CONTEXTS and told[1:] == [f"Undone: {name}.", f"Done again: {name}."]


def test_a_quick_undo_opens_nothing(
    qtbot: QtBot, workspace: Workspace, store: Store, parent: QWidget, undo: Undo
) -> None:
    Curator(store, VERSION, "Ann").exclude(store.review_context_ids(store.review_ids(VERSION))[0])
    opened: list[object] = []
    undo.undo()
    (steps,) = undo.findChildren(ui_steps.Steps)
    steps.made.connect(lambda _: opened.extend(parent.findChildren(StepDialog)))
    settle(qtbot, workspace)
    assert excluded(store) == 0 and opened == []


def test_an_undo_is_not_begun_again_by_what_was_read_before_it(
    qtbot: QtBot, workspace: Workspace, store: Store, undo: Undo
) -> None:
    """Two of them would take each other's turns, and one would never come to an end."""
    ids = store.review_context_ids(store.review_ids(VERSION))
    for half in (ids[: CONTEXTS // 2], ids[CONTEXTS // 2 :]):
        Curator(store, VERSION, "Ann").bulk(half, Change("exclude"))
    undo.refresh()
    settle(qtbot, workspace)
    told: list[str] = []
    undo.told.connect(lambda text, _: told.append(text))
    turns = threading.Event(), threading.Event()
    workspace.reader.ask("a page", lambda: turns[0].wait(60), lambda _: None)
    undo.refresh()  # asked before the step, answered while it waits
    answered: list[bool] = []
    workspace.reader.ask("another page", lambda: None, lambda _: answered.append(True))
    workspace.reader.ask("a third page", lambda: turns[1].wait(60), lambda _: None)
    undo.undo_action.trigger()
    turns[0].set()
    qtbot.waitUntil(lambda: bool(answered))
    undo.undo_action.trigger()  # as who keeps pressing Ctrl+Z
    turns[1].set()
    settle(qtbot, workspace)
    assert undo.findChildren(ui_steps.Steps) == []
    assert len(told) == 1 and excluded(store) == CONTEXTS // 2
    assert undo.undo_action.isEnabled()
    undo.undo_action.trigger()
    settle(qtbot, workspace)
    assert len(told) == 2 and excluded(store) == 0


def test_an_undo_whose_name_cannot_be_read_can_still_be_tried(
    qtbot: QtBot, workspace: Workspace, store: Store, undo: Undo, monkeypatch: pytest.MonkeyPatch
) -> None:
    Curator(store, VERSION, "Ann").exclude(store.review_context_ids(store.review_ids(VERSION))[0])
    told: list[str] = []
    undo.told.connect(lambda text, _: told.append(text))

    def fails() -> None:
        raise EditError("The disk is away.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "undo_stacks", fails)
        undo.refresh()
        settle(qtbot, workspace)
    assert told == ["The disk is away."] and undo.undo_action.text() == "Undo"
    undo.undo_action.trigger()
    settle(qtbot, workspace)
    assert excluded(store) == 0 and told[1:] == ["Undone: Exclude a context."]
    undo.undo_action.trigger()  # nothing is left to take back
    settle(qtbot, workspace)
    assert len(told) == 2 and not undo.undo_action.isEnabled()


def test_what_is_changed_while_an_undo_waits_is_not_taken_back_in_its_place(
    qtbot: QtBot, workspace: Workspace, store: Store, undo: Undo
) -> None:
    ann, (one, other, *_) = (
        Curator(store, VERSION, "Ann"),
        store.review_context_ids(store.review_ids(VERSION)),
    )
    ann.exclude(one)
    undo.refresh()
    settle(qtbot, workspace)
    assert undo.undo_action.text() == "Undo Exclude a context"
    told: list[str] = []
    undo.told.connect(lambda text, _: told.append(text))
    gate = threading.Event()
    workspace.reader.ask("gate", gate.wait, lambda _: None)
    undo.undo_action.trigger()
    ann.comment(other, "see video")
    gate.set()
    settle(qtbot, workspace)
    assert len(told) == 1 and "nothing was taken back" in told[0]
    assert excluded(store) == 1 and store.curated(VERSION, other).comment == "see video"
    assert undo.undo_action.text() == "Undo Comment on a context" and undo.undo_action.isEnabled()


def test_what_was_just_done_is_taken_back_before_undo_names_it(
    qtbot: QtBot, workspace: Workspace, store: Store, undo: Undo
) -> None:
    """The thread that reads its name has something else to do."""
    ann, (one, other, *_) = (
        Curator(store, VERSION, "Ann"),
        store.review_context_ids(store.review_ids(VERSION)),
    )
    ann.exclude(one)
    workspace.bridge.changed.emit(CURATED)
    settle(qtbot, workspace)
    told: list[str] = []
    undo.told.connect(lambda text, _: told.append(text))
    gate = threading.Event()
    workspace.reader.ask("gate", gate.wait, lambda _: None)
    ann.comment(other, "see video")
    workspace.bridge.changed.emit(CURATED)
    assert undo.undo_action.text() == "Undo Exclude a context"  # as yet
    undo.undo_action.trigger()
    gate.set()
    settle(qtbot, workspace)
    assert told == ["Undone: Comment on a context."]
    assert excluded(store) == 1 and store.curated(VERSION, other).comment == ""
