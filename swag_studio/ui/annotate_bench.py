"""Where one annotator judges: an item, its keys, what is saved, how much is left.

It works on any `Desk`, a project's or a packet's, and knows nothing of where answers go. What it
says is saved was saved.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from swag_studio.errors import in_words
from swag_studio.judging import LABELS, problem
from swag_studio.ui import eta
from swag_studio.ui.active_time import ActiveTime
from swag_studio.ui.annotate_keys import REPEATING, UNDO, KeyMap, KeysDialog, native
from swag_studio.ui.annotate_view import BUTTONS, BenchView
from swag_studio.ui.desk import Answer, Desk, Item
from swag_studio.ui.guidelines import DEFAULT, GuidelinesPanel
from swag_studio.ui.page import set_role

log = logging.getLogger(__name__)

KEEP_AFTER = 2000  # ms from the first change to the draft's being kept
_TEXTS = (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox)
_ALWAYS = {"back", "guidelines", UNDO}  # also where there is nothing to judge
_RUN_AGAIN = "run again: it goes on where it stopped."  # what to do about a stage that failed


class Bench(BenchView):
    """Judging at a desk. `answered` after every answer or skip that is on the disk."""

    answered = Signal()
    go_to = Signal(str)  # title of a page that helps when there is nothing to judge

    def __init__(
        self,
        desk: Desk,
        parent: QWidget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        text = str(desk.setting("guidelines", DEFAULT))
        super().__init__(
            KeyMap(desk.setting("keys", {})), GuidelinesPanel(text, desk.may_edit), parent
        )
        self.desk, self._clock = desk, clock
        self.item: Item | None = None
        self._given: Answer | None = None  # the answer that counts, where there is one
        self._kept = Answer(())  # what the disk has of what is on the screen
        self.active = ActiveTime()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(KEEP_AFTER)
        self._timer.timeout.connect(self.keep_draft)
        self._do: dict[str, Callable[[], object]] = {
            **{label: partial(self.card.label, label) for label in LABELS},
            "best": lambda: self.card.rank("best"),
            "second": lambda: self.card.rank("second"),
            "down": lambda: self.card.step(1),
            "up": lambda: self.card.step(-1),
            "submit": self.submit,
            "back": self.back,
            "forward": self.forward,
            "skip": self.ask_skip,
            "comment": self.comment.write,
            "guidelines": self.toggle_guidelines,
            UNDO: self.undo,
        }
        self._connect()
        self.advance()

    def _connect(self) -> None:
        for code, button in self.buttons.items():
            button.clicked.connect(lambda _=False, code=code: self._do[code]())
        self.guide_button.clicked.connect(self.toggle_guidelines)
        self.keys_button.clicked.connect(self.ask_keys)
        self.card.changed.connect(self._changed)
        self.card.told.connect(self._tell)
        self.card.seen.connect(self._sign)
        self.area.verticalScrollBar().valueChanged.connect(self._sign)
        self.guidelines.view.verticalScrollBar().valueChanged.connect(self._sign)
        self.guidelines.changed.connect(self._keep_guidelines)
        self.comment.textChanged.connect(self._changed)
        self.idle.go_to.connect(self.go_to)
        self.idle.back.connect(self.back)
        self.strip.skipped.connect(self._skip)

    # --- showing -------------------------------------------------------------------------

    def advance(self) -> None:
        """On to the first open item, or to the word that there is none."""
        try:
            self.show_item(self.desk.next())
        except Exception as error:
            log.exception("an item could not be read")
            self.item = None
            self._show_idle(_words(error))

    def show_item(self, item: Item | None) -> None:
        """Shows an item with what was given of it: the draft, else the answer that counts."""
        self.strip.hide()
        if item is None:
            self.item = None
            self._show_idle()
            return
        given = self.desk.given(item.key) if item.state == "done" else None
        draft = self.desk.draft(item.key)
        self.item, self._given = item, given  # both or, where one cannot be read, neither
        self._kept = draft or self._given or Answer.empty(len(item.endings))
        self.stack.setCurrentIndex(0)
        self.comment.show_text(self._kept.comment)
        self.card.show_item(item, self._kept)
        self.active.start(self._clock(), self._kept.seconds)
        self._show_standing()
        if draft is not None:
            self.saved.restored()

    def _show_idle(self, trouble: str = "") -> None:
        self.stack.setCurrentIndex(1)
        self._show_standing()
        standing, (words, way) = self.desk.standing(), self.desk.idle()
        if not words:
            number = standing.skipped
            skipped = f" {number:,} {'was' if number == 1 else 'were'} skipped." if number else ""
            all_of = "The item is" if standing.total == 1 else f"All {standing.total:,} items are"
            words = f"{all_of} done. Thank you!{skipped}"
        earlier = f"Back to earlier items  {self.keymap.shown('back')}"
        given = standing.done + standing.skipped
        self.idle.show_words(trouble or words, "" if trouble else way, earlier if given else "")
        self.setFocus()

    def _show_standing(self) -> None:
        s, item = self.desk.standing(), self.item
        state = {"done": ", answered", "skipped": ", skipped"}.get(item.state if item else "", "")
        self.heading.setText(f"Item {item.number:,}{state}" if item else "")
        self.heading.setVisible(item is not None)
        words = f"{s.done:,} of {s.total:,} done" if s.total else ""
        if s.skipped:
            words += f", {s.skipped:,} skipped"
        left = s.total - s.done - s.skipped
        if s.seconds is not None and left:
            words += f", about {eta.in_words(left * s.seconds)} left"
        self.progress.setText(words)
        self.bar.setRange(0, max(1, s.total))
        self.bar.setValue(s.done)
        self._name_buttons()
        self._show_missing()

    def _name_buttons(self) -> None:
        for code, words in BUTTONS.items():
            key = self.keymap.shown(code) if code != UNDO else native("Ctrl+Z")
            self.buttons[code].setText(f"{words}  {key}".replace("&", "&&"))
        number, state = self.desk.undoable(self._key)
        self.buttons[UNDO].setEnabled(number > 0)
        if number:
            what = "skip" if state == "skipped" else "submit"
            self.buttons[UNDO].setText(f"Undo {what} of item {number:,}  {native('Ctrl+Z')}")
        shown = "Hide" if self.panel.isVisibleTo(self) else "Show"
        self.guide_button.setText(f"{shown} guidelines  {self.keymap.shown('guidelines')}")

    def _show_missing(self) -> None:
        a = self.card.answer
        trouble = problem(a.labels, a.best, a.second) if self.item else ""
        corrected = self._given is not None and not self.answer().same_as(self._given)
        told = "The answer you gave before counts until you submit this one." if corrected else ""
        self.buttons["submit"].setEnabled(not trouble)
        self._tell(trouble or told, "muted")

    def _tell(self, words: str, role: str = "warn") -> None:
        if words or role == "muted":
            self.note.setText(words)
            set_role(self.note, role)

    # --- acting --------------------------------------------------------------------------

    @property
    def _key(self) -> str:
        return self.item.key if self.item else ""

    def answer(self) -> Answer:
        """What is on the screen, with its comment and the active time so far."""
        seconds = self.active.seconds(self._clock())
        comment = self.comment.toPlainText().strip()
        return replace(self.card.answer, comment=comment, seconds=seconds)

    def submit(self) -> None:
        """Gives the answer if it is complete, and goes on."""
        if self.item is None:
            return
        answer, item = self.answer(), self.item
        if trouble := problem(answer.labels, answer.best, answer.second):
            self._tell(trouble)
        elif self._given is not None and answer.same_as(self._given):
            self.keep_draft()
            self.advance()
        elif self._write("Not saved", lambda: self.desk.submit(item.key, answer)):
            self._go_on(f"Item {item.number:,} saved")

    def ask_skip(self) -> None:
        """Asks why the item is skipped."""
        if self.item is not None and self.item.state == "done":
            self._tell("This item is answered. Change the answer and submit it again.")
        elif self.item is not None:
            self.strip.ask()

    def _skip(self, reason: str) -> None:
        if (item := self.item) is None:
            return
        if self._write("Not saved", lambda: self.desk.skip(item.key, reason)):
            self._go_on(f"Item {item.number:,} skipped, saved")

    def _go_on(self, saved: str) -> None:
        self._timer.stop()
        self.item = None
        self.saved.saved(saved)
        self.answered.emit()
        self.advance()

    def back(self) -> None:
        """To one's own answer before this item."""
        self._visit(self.desk.before, "There is no earlier item.")

    def forward(self) -> None:
        """The way that `back` came."""
        self._visit(self.desk.after, "This is the item to be judged now.")

    def undo(self) -> None:
        """Opens again what was submitted or skipped last."""
        key = self._key
        if item := self._visit(self.desk.last, "There is nothing to undo."):
            if item.state == "skipped" and self._write(
                "Still skipped", lambda: self.desk.reopen(item.key)
            ):
                self.show_item(replace(item, state="open"))
                self.answered.emit()
            elif item.key != key:
                self._tell("Open again with your answer, which counts until you submit another.")

    def _visit(self, find: Callable[[str], Item | None], otherwise: str) -> Item | None:
        """Shows another item. Nothing is left before what is half-given is kept."""
        if not self.keep_draft():
            return None
        try:
            item = find(self._key)
            if item is not None and item.key != self._key:
                self.show_item(item)
                return item
            self._tell(otherwise)
        except Exception as error:
            log.exception("an item could not be read")
            self._tell(_words(error))
        return None

    # --- keeping -------------------------------------------------------------------------

    def keep_draft(self) -> bool:
        """Keeps what is half-given, where that is new. False when it could not be kept."""
        self._timer.stop()
        answer = self.answer()
        if self.item is None or answer.same_as(self._kept):
            self.saved.as_before()
            return True
        key = self.item.key
        same = self._given is not None and answer.same_as(self._given)
        kept = self._write(
            "Draft not kept", lambda: self.desk.keep_draft(key, None if same else answer)
        )
        if kept:
            self._kept = answer
            self.saved.draft()
        return kept

    def _write(self, failing: str, work: Callable[[], object]) -> bool:
        """Whether a write was done. If not, it is told, and the screen stays as it is."""
        try:
            work()
        except Exception as error:
            log.exception("an answer could not be written")
            self.saved.failed(failing, _words(error))
            return False
        return True

    def _changed(self) -> None:
        self._sign()
        if self.item is not None:
            self.saved.waiting()
            self._show_missing()
            if not self._timer.isActive():
                self._timer.start()

    def _sign(self) -> None:
        self.active.sign(self._clock())

    def _keep_guidelines(self, text: str) -> None:
        self._write("Guidelines not saved", lambda: self.desk.keep_setting("guidelines", text))

    def reload(self) -> None:
        """What is given out may have changed elsewhere. The item on the screen stays."""
        self.desk.reload()
        if self.item is None or not self.desk.holds(self.item.key):
            self.keep_draft()  # what is taken back may come again
            self.advance()
        else:
            self._show_standing()

    # --- keys ----------------------------------------------------------------------------

    def toggle_guidelines(self) -> None:
        """Shows the guidelines beside the item, or hides them."""
        self.panel.setVisible(not self.panel.isVisibleTo(self))
        self._name_buttons()

    def ask_keys(self) -> KeysDialog:
        """Opens the dialog that changes the keys."""
        dialog = KeysDialog(self.keymap, self)
        dialog.changed.connect(self._set_keys)
        dialog.open()
        return dialog

    def _set_keys(self, keymap: KeyMap) -> None:
        self.keymap = keymap
        self._write("Keys not saved", lambda: self.desk.keep_setting("keys", keymap.keys))
        self.card.show_keys(keymap)
        self._name_buttons()

    def _action(self, event: QKeyEvent) -> str:
        """What a key does here; nothing while a text has the focus."""
        focus = QApplication.focusWidget()
        writing = isinstance(focus, _TEXTS) or (focus and self.strip.isAncestorOf(focus))
        return "" if writing else self.keymap.action(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._sign()
        action = self._action(event)
        if event.key() == Qt.Key.Key_Escape and self.item is not None:
            self.strip.hide()
            self.card.go(self.card.here)
        elif not action:
            super().keyPressEvent(event)
        elif (self.item is not None or action in _ALWAYS) and (
            not event.isAutoRepeat() or action in REPEATING
        ):
            self._do[action]()

    def event(self, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride:  # a menu's key must not come before
            assert isinstance(event, QKeyEvent)
            if self._action(event):
                event.accept()
                return True
        elif kind == QEvent.Type.WindowDeactivate:
            self.keep_draft()
            self.active.stop(self._clock())
        elif kind == QEvent.Type.WindowActivate and self.isVisible():
            self._sign()
        return super().event(event)

    # --- coming and going ----------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._sign()
        if self.item is not None:
            self.card.go(self.card.here)

    def hideEvent(self, event: QHideEvent) -> None:
        self.keep_draft()
        self.active.stop(self._clock())
        super().hideEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Close:  # before the project is closed
            self.keep_draft()
        return False


def _words(error: Exception) -> str:
    fault = f"A fault of the program ({type(error).__name__}); the log has more."
    return in_words(error, fault).replace(_RUN_AGAIN, "do it again: nothing on the screen is lost.")
