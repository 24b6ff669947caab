"""What a curator does to contexts on the Review page: named once, checked, written, told.

A change of one context is written at once, in a few milliseconds, so that what is shown as done is
on the disk; what concerns many is counted and written in the reading thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from swag_studio import curating
from swag_studio.curating import COMMENT, Change, Curator, EditError, offers
from swag_studio.errors import in_words
from swag_studio.records import EndingKind
from swag_studio.reviewing import Batch
from swag_studio.store import Store
from swag_studio.ui.background import Background
from swag_studio.ui.review_dialogs import BulkDialog, EditDialog, NameDialog, Offer, ReplaceDialog
from swag_studio.ui.review_reading import Detail, Readers
from swag_studio.ui.review_table import Ids
from swag_studio.ui.rows_dialog import RowsDialog
from swag_studio.ui.steps import Steps, broken_off
from swag_studio.ui.tables import Column

log = logging.getLogger(__name__)

WHO = "Your name stands beside each of your changes in the log. You are asked once per project."
_FAULT = "A fault of the program; the log has more. Nothing was changed."


def _many(contexts: int | None) -> str:
    return f"{contexts:,}" if contexts else ""


_LOG_COLUMNS = (
    Column("Step", lambda batch: batch.id),
    Column("When", lambda batch: batch.at, lambda at: at[:19].replace("T", " "), "UTC"),
    Column("Who", lambda batch: batch.who),
    Column("What", lambda batch: batch.name, stretch=True),
    Column("Not reached", lambda batch: batch.remaining or None, _many, "Contexts; it was stopped"),
    Column("Takes back", lambda batch: batch.undoes or None, lambda n: f"step {n}" if n else ""),
)

Work = Callable[[Curator, str], Batch | None]  # a curator, a context's id
At = tuple[int, str]  # version, context id


class Actions(QObject):
    """Acts on the context that is shown. `done` comes after each change."""

    done = Signal()
    refused = Signal()  # what is shown must be shown as it is in the store
    told = Signal(str, str)  # text, role
    named = Signal(str)  # who works here
    drafted = Signal()  # something half written was finished or given up

    def __init__(self, store: Store, reader: Background, parent: QWidget) -> None:
        super().__init__(parent)
        self.store, self.reader, self._parent = store, reader, parent
        self.readers: Readers | None = None
        self.version = 0
        self.detail: Detail | None = None
        self.drafts: dict[curating.Where, str] = {}
        self._asked = 0  # bulk changes so far: their keys must not meet

    # --- who -----------------------------------------------------------------------------

    def ask_name(self, then: Callable[[], None] | None = None) -> NameDialog:
        """Asks who works here, then goes on."""
        begin = curating.who(self.store) or curating.login()
        dialog = NameDialog("Your name", WHO, begin, self._parent)

        def named(name: str) -> None:
            curating.set_who(self.store, name)
            self.named.emit(name)
            if then is not None:
                then()

        dialog.named.connect(named)
        dialog.rejected.connect(self.refused)
        dialog.open()
        return dialog

    def _as_curator(self, version: int, then: Callable[[Curator], None]) -> None:
        """Calls `then` with who works here on a run, as soon as that is known."""

        def go() -> None:
            then(Curator(self.store, version, curating.who(self.store)))

        if curating.who(self.store):
            go()
        else:
            self.ask_name(go)

    # --- one context ---------------------------------------------------------------------

    @property
    def shown(self) -> At | None:
        """The context that is shown, and of which run."""
        return (self.version, self.detail.row.context_id) if self.detail is not None else None

    def do(
        self,
        work: Work,
        at: At | None = None,
        refused: Callable[[str], None] | None = None,
        made: Callable[[], None] | None = None,
        seen: Detail | None = None,
    ) -> None:
        """Makes a change of a context, by itself of the one that is shown; tells what was done.

        `seen` is what the person went by, by itself what is shown: where another ending stands in
        a place by now, nothing is changed.
        `made` is called before anyone hears of it, `refused` with the reason why it is not.
        """
        if at is None:
            at, seen = self.shown, self.detail
        if at is None:
            return
        version, context = at

        def go(curator: Curator) -> None:
            try:
                if seen is not None:
                    curator = replace(curator, seen=seen.state.endings)
                batch = work(curator, context)
            except Exception as error:
                if not isinstance(error, EditError):
                    log.exception("a change was not made")
                words = in_words(error, _FAULT)
                if refused is not None:
                    refused(words)
                else:
                    self.told.emit(words, "bad")
                self.refused.emit()
            else:
                if made is not None:
                    made()
                self._tell(batch)

        self._as_curator(version, go)

    def _tell(self, batch: Batch | None) -> None:
        if batch is None:
            self.told.emit("Nothing was changed.", "muted")
        else:
            said = f"{batch.name}: done{broken_off(batch)}. Ctrl+Z takes it back."
            self.told.emit(said, "warn" if batch.remaining else "good")
        self.done.emit()

    def comment(self, text: str) -> None:
        """Keeps a comment, and its draft no more."""
        at = self.shown
        self.do(
            lambda curator, id: curator.comment(id, text),
            at,
            made=lambda: self.keep_draft(COMMENT, "", at),
        )

    def keep_draft(self, place: int, text: str, at: At | None = None) -> None:
        """Keeps what is half written in a place of a context, else of the one that is shown."""
        at = at or self.shown
        if at is not None:
            where = (*at, place)
            curating.keep_draft(self.store, where, text)
            self.drafts[where] = text
            if not text:
                self.drafted.emit()

    def know_drafts(self, kept: Mapping[curating.Where, str]) -> None:
        """What the store had when it was read; what was typed or given up since stays so."""
        self.drafts = {**kept, **self.drafts}

    def unfinished(self, version: int) -> list[curating.Where]:
        """Where edits of a run's endings were typed and not saved."""
        left = (where for where, text in self.drafts.items() if text)
        return [where for where in left if where[0] == version and where[2] != COMMENT]

    def draft(self, place: int) -> str:
        """What was typed there and not saved."""
        assert self.shown is not None
        return self.drafts.get((*self.shown, place), "")

    def edit(self, place: int) -> EditDialog | None:
        """Opens the text of an ending. It closes when the text is written, and not before.

        Whatever is shown behind it by then, it is the text of this context.
        """
        detail, at = self.detail, self.shown
        if detail is None:
            return None
        ending = detail.endings[place].ending
        others = [e.ending.text for e in detail.endings if e.place != place]
        dialog = EditDialog(
            beginning_of(detail),
            ending.text,
            detail.row.found,
            others,
            self.draft(place),
            self._parent,
        )

        closed: list[int] = []
        dialog.finished.connect(closed.append)

        def written() -> None:
            if not closed:
                dialog.accept()
            self.keep_draft(place, "", at)

        dialog.decided.connect(
            lambda text: self.do(
                lambda curator, id: curator.edit_text(id, place, text),
                at,
                dialog.refuse,
                written,
                detail,
            )
        )
        dialog.draft.connect(lambda text: self.keep_draft(place, text, at))
        dialog.open()
        return dialog

    def replace(self, place: int) -> ReplaceDialog | None:
        """Opens the candidates that may stand in the place of an ending."""
        detail, readers, at = self.detail, self.readers, self.shown
        if detail is None or readers is None:
            return None
        text = detail.endings[place].ending.text
        dialog = ReplaceDialog(beginning_of(detail), text, detail.row.found, self._parent)
        closed: list[int] = []
        dialog.finished.connect(closed.append)
        taken = [e.ending.text for e in (detail.found, *detail.endings)]

        def candidates() -> tuple[tuple[str, ...], list[Offer]]:
            pool = readers.pool()
            there = pool.place_of(detail.row.context_id)
            return pool.feature_names, [] if there is None else offers(pool.endings(there), taken)

        def show(result: tuple[tuple[str, ...], list[Offer]]) -> None:
            if not closed:
                dialog.show_offers(*result)

        def fail(text: str) -> None:
            if not closed:
                dialog.fail(text)

        own = any(e.ending.kind == "own" for e in detail.endings)
        kind: EndingKind = "own" if own else "generated"

        def decided(text: str) -> None:
            dialog.accept()
            self.do(lambda curator, id: curator.replace(id, place, text, kind), at, seen=detail)

        dialog.decided.connect(decided)
        self.reader.ask("review.offers", candidates, show, fail)
        dialog.open()
        return dialog

    # --- many contexts -------------------------------------------------------------------

    def bulk(self, version: int, ids: Ids, change: Change) -> None:
        """Shows what a change of these rows would do; it is made as one step when confirmed."""
        if not len(ids):
            self.told.emit("No context is chosen.", "muted")
            return
        self._asked += 1
        key, store = f"review.bulk.{self._asked}", self.store
        contexts: list[str] = []

        def go(curator: Curator) -> None:
            dialog = BulkDialog(change, len(ids), self._parent)
            closed: list[int] = []
            dialog.finished.connect(closed.append)

            def failed(text: str) -> None:
                if not closed:
                    dialog.refuse(text)
                self.told.emit(text, "bad")
                self.done.emit()  # a part of it may have been

            def preview() -> tuple[int, int]:
                contexts[:] = store.review_context_ids(ids)
                return curator.preview(contexts, change)

            def previewed(counts: tuple[int, int]) -> None:
                if not closed:
                    dialog.show_preview(*counts)

            def written(batch: Batch | None) -> None:
                if not closed:
                    dialog.accept()
                self._tell(batch)

            steps = Steps(self.reader, key, lambda: curator.changing(contexts, change), self)
            steps.made.connect(dialog.progress.show_made)
            steps.finished.connect(written)
            steps.failed.connect(failed)
            dialog.stopped.connect(steps.stop)
            dialog.decided.connect(steps.start)
            self.reader.ask(key, preview, previewed, failed)
            dialog.open()

        self._as_curator(version, go)

    # --- the log -------------------------------------------------------------------------

    def show_log(self) -> RowsDialog:
        """All steps of the project, the newest first."""
        note = "Every change, by whoever made it. Nothing is ever taken out; undoing is a step too."
        rows = self.store.batches()[::-1]
        empty = "Nobody has changed anything yet."
        dialog = RowsDialog(
            "Log of all changes", note, _LOG_COLUMNS, rows, self._parent, empty=empty
        )
        dialog.show()
        return dialog


def beginning_of(detail: Detail) -> str:
    """What an ending goes on from."""
    return f"{detail.row.sent1}  {detail.row.sent2} …"
