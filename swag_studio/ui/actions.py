"""Entries of menus, the keys that they have on this platform, and the list that is made of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

Keys = QKeySequence.StandardKey
Key = QKeySequence.StandardKey | str


def add(menu: QMenu, text: str, slot: Callable[[], object], *keys: Key) -> QAction:
    """An entry that does `slot`, also by each of its keys; the menu shows the first."""
    action = menu.addAction(text)
    action.triggered.connect(lambda *_: slot())
    action.setShortcuts(bindings(*keys))
    return action


def bindings(*keys: Key) -> list[QKeySequence]:
    """Keys by their names, and all that the platform has for a standard one: several, or none."""
    found: list[QKeySequence] = []
    for key in keys:
        usual = QKeySequence.keyBindings(key) if isinstance(key, Keys) else [QKeySequence(key)]
        found += [sequence for sequence in usual if sequence not in found]
    return found


def shortcuts(menus: Iterable[QMenu]) -> list[tuple[str, str, str]]:
    """(menu, action, its keys) of every action that has a key, in the order of the menus."""
    return [
        (menu.title().replace("&", ""), action.text().replace("&", ""), _native(action))
        for menu in menus
        for action in menu.actions()
        if action.shortcuts()
    ]


def _native(action: QAction) -> str:
    style = QKeySequence.SequenceFormat.NativeText
    return " or ".join(sequence.toString(style) for sequence in action.shortcuts())
