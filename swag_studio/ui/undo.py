"""Undo and Redo of the Edit menu, named after the steps of the log: "Undo Exclude 12 contexts".

The log is in the project, so both go on where they stood after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from swag_studio import curating
from swag_studio.reviewing import Batch, Made
from swag_studio.store import Store
from swag_studio.ui.actions import Keys, add
from swag_studio.ui.steps import Steps, broken_off, show_when_slow
from swag_studio.ui.workspace import Workspace

CURATED = frozenset({"curated"})  # what a step of the log changes, as pages hear of it


class Undo(QObject):
    """Two actions of a menu. `told` says in words what was done, or why it was not."""

    told = Signal(str, str)  # text, level

    def __init__(self, workspace: Workspace, menu: QMenu) -> None:
        super().__init__(menu)
        self.workspace, self._menu = workspace, menu
        self._going: Steps | None = None  # one at a time: each takes up where the last one ended
        self._named = {"Undo": 0, "Redo": 0}  # the step that each names; 0 while that is not known
        self._reads = 0  # of the steps: an answer to an earlier one no longer holds
        self.undo_action = add(menu, "Undo", self.undo, Keys.Undo)
        self.redo_action = add(menu, "Redo", self.redo, "Ctrl+Shift+Z", Keys.Redo)
        self._wait()
        workspace.bridge.changed.connect(self._changed)
        self.refresh()

    def undo(self) -> None:
        """Takes the last step back."""
        self._go("Undo", "Undone", curating.undoing)

    def redo(self) -> None:
        """Does the step again that was undone last."""
        self._go("Redo", "Done again", curating.redoing)

    def refresh(self) -> None:
        """Reads what the next step of each is."""
        self._reads += 1
        self._named = dict.fromkeys(self._named, 0)
        stacks, show = self.workspace.project.store.undo_stacks, partial(self._show, self._reads)
        self.workspace.reader.ask("undo", stacks, show, self._unread)

    def _meant(self, word: str) -> int:
        """The step that is named, or, just after a change, the last one at this moment."""
        if not self._named[word]:
            with suppress(Exception):  # else it is tried without; what comes of it is told
                done, undone = self.workspace.project.store.undo_stacks()
                if steps := done if word == "Undo" else undone:
                    return steps[-1].id
        return self._named[word]

    def _wait(self) -> None:
        for action in (self.undo_action, self.redo_action):
            action.setEnabled(False)  # until it is known what the next one is

    def _go(self, title: str, word: str, work: Callable[[Store, str, int], Iterator[Made]]) -> None:
        if self._going is not None:
            return
        self._wait()
        store, asked = self.workspace.project.store, self._meant(title)

        def making() -> Iterator[Made]:
            return work(store, curating.who(store) or curating.login(), asked)

        steps = self._going = Steps(self.workspace.reader, f"undo.{word}", making, self)
        show_when_slow(steps, title, self._menu.parentWidget())

        def done(step: Batch | None) -> None:
            self._going = None
            if step is not None:
                self.told.emit(f"{word}: {step.name}{broken_off(step)}.", "info")
            self.workspace.bridge.changed.emit(CURATED)

        def failed(text: str) -> None:
            self._going = None
            self.told.emit(text, "warning")
            self.workspace.bridge.changed.emit(CURATED)  # a part of it may have been done

        steps.finished.connect(done)
        steps.failed.connect(failed)
        steps.start()

    def _changed(self, tables: frozenset[str]) -> None:
        if tables & CURATED:
            self.refresh()

    def _show(self, read: int, stacks: tuple[list[Batch], list[Batch]]) -> None:
        if read != self._reads:
            return
        for action, word, steps in zip(
            (self.undo_action, self.redo_action), ("Undo", "Redo"), stacks, strict=True
        ):
            self._named[word] = steps[-1].id if steps else 0
            name = steps[-1].name.replace("&", "&&") if steps else ""
            action.setText(f"{word} {name}".strip())
            # What was asked before a step was begun is no longer true, and more is to come.
            action.setEnabled(bool(steps) and self._going is None)

    def _unread(self, text: str) -> None:
        """Without their names both can still be tried; what comes of it is told."""
        self.told.emit(text, "warning")
        for action, word in ((self.undo_action, "Undo"), (self.redo_action, "Redo")):
            action.setText(word)
            action.setEnabled(self._going is None)
