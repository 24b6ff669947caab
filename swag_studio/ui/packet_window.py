"""The window of a work packet: an annotator at another machine judges, and sends a file back.

Nothing of a project is here: no pages, no engine, only the bench on a desk of its own. Answers are
kept beside the packet when they are given; Finish writes the file to send back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from swag_studio.errors import in_words
from swag_studio.packet_answers import PacketAnswers
from swag_studio.packets import MOST_SECONDS, PacketAnswer, PacketDraft, PacketItem, PacketSkip
from swag_studio.store_people import now
from swag_studio.ui.actions import Keys, add
from swag_studio.ui.annotate_bench import Bench
from swag_studio.ui.desk import Answer, Item, QueueDesk, State
from swag_studio.ui.page import set_role
from swag_studio.ui.theme import ems
from swag_studio.ui.window import Window
from swag_studio.ui.words import does


class PacketDesk(QueueDesk):
    """The desk of a packet: a `Desk` over what is kept beside the packet file."""

    may_edit = False  # the guidelines are the project's

    def __init__(self, answers: PacketAnswers) -> None:
        self._work = answers
        self.name = answers.packet.annotator
        self._items = {item.id: item for item in answers.packet.items}
        self._line_up(self._items)
        self.reload()

    def reload(self) -> None:
        self._given = {answer.item: answer for answer in self._work.answers}

    # --- items ---------------------------------------------------------------------------

    def _state(self, key: str) -> State:
        if key in self._work.skips:
            return "skipped"
        return "done" if key in self._given else "open"

    def _times(self) -> Mapping[str, str]:
        done = {key: row.given for key, row in self._given.items()}
        return done | {key: skip.given for key, skip in self._work.skips.items()}

    def _paces(self) -> Collection[float]:
        return [answer.seconds for answer in self._given.values()]

    def _make(self, key: str, number: int, state: State) -> Item:
        item: PacketItem = self._items[key]
        return Item(key, number, item.sent1, item.opening, item.endings, state)

    # --- answers -------------------------------------------------------------------------

    def given(self, key: str) -> Answer | None:
        return _shown(self._given[key]) if key in self._given else None

    def draft(self, key: str) -> Answer | None:
        return _shown(self._work.drafts[key]) if key in self._work.drafts else None

    def keep_draft(self, key: str, answer: Answer | None) -> None:
        if answer is None:
            self._work.forget(key)
        else:
            a = answer
            seconds = _seconds(a)
            self._work.draft(PacketDraft(key, a.labels, a.best, a.second, a.comment, seconds))

    def submit(self, key: str, answer: Answer) -> None:
        labels = tuple(label for label in answer.labels if label is not None)
        assert answer.best is not None and answer.second is not None
        given = PacketAnswer(
            item=key,
            labels=labels,
            best=answer.best,
            second=answer.second,
            comment=answer.comment,
            seconds=_seconds(answer),
            given=now(),
        )
        self._work.answer(given)
        self._given[key] = given

    def skip(self, key: str, reason: str) -> None:
        self._work.skip(PacketSkip(key, reason, now()))

    def reopen(self, key: str) -> None:
        self._work.reopen(key)

    # --- the rest ------------------------------------------------------------------------

    def idle(self) -> tuple[str, str]:
        skipped = len(self._work.skips)
        left = f" You skipped {skipped:,} of them." if skipped else ""
        return (
            f"All items of this packet are done. Thank you!{left} Press Finish and send the file "
            "back that it writes.",
            "",
        )

    def setting(self, name: str, default: Any) -> Any:
        value = self._work.settings.get(name, default)
        if name == "guidelines":
            return self._work.packet.guidelines or default
        return value if _same_kind(value, default) else default

    def keep_setting(self, name: str, value: Any) -> None:
        self._work.setting(name, value)


def _shown(row: PacketAnswer | PacketDraft) -> Answer:
    return Answer(row.labels, row.best, row.second, row.comment, row.seconds)


def _seconds(answer: Answer) -> float:
    return min(round(answer.seconds, 1), MOST_SECONDS)


def _same_kind(value: Any, default: Any) -> bool:
    """Whether a setting of this machine can be what is asked for: a text, or texts by name."""
    if isinstance(value, dict) and isinstance(default, dict):
        return all(isinstance(x, str) for pair in value.items() for x in pair)
    return isinstance(value, type(default))


class PacketWindow(Window):
    """Judges one packet. `closed` when it has given the packet back."""

    closed = Signal()

    def __init__(self, answers: PacketAnswers, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work, self.path = answers, answers.path
        self._leaving = False
        self.setWindowTitle(f"{answers.path.name} – SWAG Studio")
        self.resize(ems(self, 180), ems(self, 110))
        who = QLabel(f"Judging as {answers.packet.annotator}")
        set_role(who, "title")
        self.told = QLabel("Every answer is kept beside the packet when you submit it.")
        self.told.setWordWrap(True)
        set_role(self.told, "muted")
        self.folder = QPushButton("Show the file")
        self.folder.clicked.connect(self._show_folder)
        self.folder.hide()
        self.finish_button = QPushButton("Finish")
        self.finish_button.setToolTip("Writes the file to send back. You can go on afterwards.")
        self.finish_button.clicked.connect(self.finish)
        self.bench = Bench(PacketDesk(answers))
        self.bench.answered.connect(self._answered)
        for label in (who, self.told):
            label.setTextFormat(Qt.TextFormat.PlainText)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(who)
        words.addWidget(self.told)
        top = QHBoxLayout()
        top.addLayout(words, 1)
        top.addWidget(self.folder)
        top.addWidget(self.finish_button)
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(16, 12, 16, 8)
        layout.setSpacing(10)
        layout.addLayout(top)
        layout.addWidget(self.bench, 1)
        self.setCentralWidget(centre)
        self._make_menus()
        self._answered()

    def _make_menus(self) -> None:
        file, edit, help_menu = self.add_menus("&File", "&Edit", "&Help")
        add(file, "&Finish: write the file to send back", self.finish, Keys.Save)
        self.add_leaving(file)
        self.add_settings(edit)
        self.add_help(help_menu)

    # --- finishing -----------------------------------------------------------------------

    def finish(self) -> None:
        """Writes the file to send back, and says where it is."""
        if not self.bench.keep_draft():
            return
        try:
            self._target = self._work.finish()
        except Exception as error:
            self._tell(in_words(error, "The file could not be written."), "bad")
            return
        s = self.bench.desk.standing()
        left = s.total - s.done - s.skipped
        still = does(left, "item", "is", "are")
        more = f"\n{still} still open: go on, and finish again." if left else ""
        self._tell(f"Send this file back: {self._target}{more}", "good")
        self.folder.show()

    def _answered(self) -> None:
        """Finish is the thing to press once nothing is open."""
        s = self.bench.desk.standing()
        set_role(self.finish_button, "primary" if s.done + s.skipped == s.total else "")
        if self.folder.isVisibleTo(self):
            self.folder.hide()
            self._tell("There are answers since the file was written: finish again.", "warn")

    def _tell(self, words: str, role: str) -> None:
        self.told.setText(words)
        set_role(self.told, role)

    def say(self, text: str, level: str, detail: str = "") -> None:
        """Beside the annotator's name."""
        self._tell(text, {"warning": "warn", "error": "bad"}.get(level, "muted"))

    def _show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._target.parent)))

    def leave(self) -> None:
        """Closes without asking, as far as the half-given answer can be kept."""
        self._leaving = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not (self.bench.keep_draft() or self._leaving):
            event.ignore()  # the bench says why
            return
        super().closeEvent(event)
        self.bench.hide()  # it keeps nothing later than this
        self._work.close()
        self.closed.emit()


class PacketWindows(QObject):
    """The packets that are open."""

    made = Signal(object)  # a window that is there for the first time
    closed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.windows: list[PacketWindow] = []

    def open(self, path: Path) -> PacketWindow:
        """Opens a packet, or brings its window to the front. Raises PacketError."""
        path = path.absolute()
        window = next((w for w in self.windows if w.path == path), None)
        if window is None:
            window = self._window(PacketAnswers(path))
        window.show()
        window.raise_()
        window.activateWindow()
        return window

    def _window(self, answers: PacketAnswers) -> PacketWindow:
        try:
            window = PacketWindow(answers)
        except BaseException:
            answers.close()
            raise
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        window.closed.connect(lambda: self._closed(window))
        self.windows.append(window)
        self.made.emit(window)
        return window

    def _closed(self, window: PacketWindow) -> None:
        self.windows.remove(window)
        self.closed.emit()

    def leave(self, asking: bool) -> None:
        """Closes all of them; `asking` leaves those open whose draft could not be kept."""
        for window in list(self.windows):
            window.close() if asking else window.leave()
