"""The keys of judging: what each does, what it may be changed to, and the dialog that changes it.

A key is Qt's portable name of it ("1", "B", "Return"). It knows no page and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QKeySequenceEdit,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from swag_studio.ui.page import not_by_enter, set_role
from swag_studio.ui.theme import ems


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a key does. The keys in `also` always do it as well."""

    code: str
    words: str
    key: str
    also: tuple[str, ...] = ()


ACTIONS = (
    Action("likely", "Likely", "1"),
    Action("unlikely", "Unlikely", "2"),
    Action("gibberish", "Gibberish", "3"),
    Action("best", "Best", "B"),
    Action("second", "Second best", "S"),
    Action("down", "Next ending", "J", ("Down",)),
    Action("up", "Previous ending", "K", ("Up",)),
    Action("submit", "Submit", "Return"),
    Action("back", "Back to an earlier item", "Backspace", ("Alt+Left",)),
    Action("forward", "Forward again", "F", ("Alt+Right",)),
    Action("skip", "Skip the item", "X"),
    Action("comment", "Comment", "C"),
    Action("guidelines", "Show or hide the guidelines", "G"),
)
REPEATING = {"up", "down"}  # what a key that is held down does again and again
UNDO = "undo"
_KEPT = {"Tab", "Esc", "Space", "Left", "Right"} | {key for a in ACTIONS for key in a.also}
_DROPPED = (
    Qt.KeyboardModifier.ShiftModifier
    | Qt.KeyboardModifier.KeypadModifier
    | Qt.KeyboardModifier.GroupSwitchModifier
)


class KeyMap:
    """Action -> key, without duplicates. Keys that cannot be used have their default."""

    def __init__(self, keys: Mapping[str, str] | None = None) -> None:
        self.keys = {action.code: action.key for action in ACTIONS}
        wanted = self.keys | {a: k for a, k in (keys or {}).items() if a in self.keys}
        if len(set(wanted.values())) == len(wanted) and not any(map(_unusable, wanted.values())):
            self.keys = wanted
        self._actions = {key: code for code, key in self.keys.items()}
        self._actions |= {key: action.code for action in ACTIONS for key in action.also}

    def action(self, event: QKeyEvent) -> str:
        """What a key press does; "" for nothing. Shift and the number pad make no difference."""
        if event.matches(QKeySequence.StandardKey.Undo):
            return UNDO
        return self._actions.get(pressed(event), "")

    def shown(self, code: str) -> str:
        """An action's key as a person knows it."""
        return native(self.keys[code])

    def refusal(self, code: str, key: str) -> str:
        """Why an action cannot have a key, as a sentence; "" when it can."""
        if trouble := _unusable(key):
            return trouble
        for action in ACTIONS:
            if action.code != code and self.keys[action.code] == key:
                return f"{native(key)} is the key of “{action.words}” already."
        return ""

    def changed(self, code: str, key: str) -> KeyMap:
        """With another key for one action. Raises ValueError when it cannot have it."""
        if trouble := self.refusal(code, key):
            raise ValueError(trouble)
        return KeyMap(self.keys | {code: key})


def pressed(event: QKeyEvent) -> str:
    """The portable name of the key that was pressed; "" for one that has none."""
    try:
        key = Qt.Key(event.key())
    except ValueError:
        return ""
    key = Qt.Key.Key_Return if key == Qt.Key.Key_Enter else key
    keys = QKeySequence(QKeyCombination(event.modifiers() & ~_DROPPED, key))
    return keys.toString(QKeySequence.SequenceFormat.PortableText)


def native(key: str) -> str:
    """A key as this system writes it."""
    text = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    return "Enter" if key == "Return" else text


def _unusable(key: str) -> str:
    if not key:
        return "Press a key."
    if key in _KEPT:
        return f"{native(key)} moves about the window. Choose another key."
    if "+" in key and key != "+":
        return "Choose a key by itself, without Ctrl, Alt or Shift."
    return ""


class _Field(QKeySequenceEdit):
    """Takes any key but Esc, which closes the dialog as it closes any other one."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)


class KeysDialog(QDialog):
    """Changes the keys; `changed` carries the new map after every change."""

    changed = Signal(object)

    def __init__(self, keymap: KeyMap, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keys of judging")
        self.keymap = keymap
        self.edits: dict[str, QKeySequenceEdit] = {}
        self.trouble = QLabel()
        self.trouble.setWordWrap(True)
        self.trouble.setAccessibleName("Why a key cannot be used")
        set_role(self.trouble, "bad")
        form = QFormLayout()
        for action in ACTIONS:
            edit = self.edits[action.code] = _Field()
            edit.setMaximumSequenceLength(1)
            edit.setAccessibleName(f"Key of: {action.words}")
            edit.editingFinished.connect(lambda code=action.code: self._edited(code))
            also = f" (also {_listed(action.also)})" if action.also else ""
            form.addRow(action.words + also, edit)
        note = QLabel(
            "Click a field, or go to it with Tab, and press the new key. A key does nothing while "
            "you write."
        )
        note.setWordWrap(True)
        set_role(note, "muted")
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.RestoreDefaults | QDialogButtonBox.StandardButton.Close
        )
        buttons.rejected.connect(self.reject)
        self.defaults = buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults)
        self.defaults.clicked.connect(lambda: self._set(KeyMap()))
        not_by_enter(buttons)
        layout = QVBoxLayout(self)
        layout.addWidget(note)
        layout.addLayout(form)
        layout.addWidget(self.trouble)
        layout.addWidget(buttons)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setFocus()  # a key that is pressed too soon is nobody's
        self.setMinimumWidth(ems(self, 56))
        self._show()

    def _show(self) -> None:
        for code, edit in self.edits.items():
            edit.setKeySequence(QKeySequence(self.keymap.keys[code]))

    def _edited(self, code: str) -> None:
        key = self.edits[code].keySequence().toString(QKeySequence.SequenceFormat.PortableText)
        key = "Return" if key == "Enter" else key
        if trouble := self.keymap.refusal(code, key):
            self.trouble.setText(trouble)
            self._show()
        elif key != self.keymap.keys[code]:
            self._set(self.keymap.changed(code, key))

    def _set(self, keymap: KeyMap) -> None:
        self.keymap = keymap
        self.trouble.setText("")
        self._show()
        self.changed.emit(keymap)


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(native(key) for key in keys)
