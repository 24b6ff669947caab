"""Review: all contexts of a filter run in a table, and the chosen one in full, to rank and edit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio import curating
from swag_studio.curating import COMMENT, Change, ChangeKind
from swag_studio.lineage import filter_run, filter_runs
from swag_studio.records import Artifact
from swag_studio.reviewing import FLAGS, Curated, ReviewFilter, ReviewRow
from swag_studio.store import Store
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.page import Page, Stack, card, set_role, splitter
from swag_studio.ui.review_actions import Actions
from swag_studio.ui.review_detail import NO_CONTEXT, DetailPanel
from swag_studio.ui.review_dialogs import label
from swag_studio.ui.review_filters import FilterBar, options_of
from swag_studio.ui.review_making import Making
from swag_studio.ui.review_reading import (
    About,
    Beside,
    Detail,
    Listed,
    Readers,
    human_work_of,
    read,
    read_about,
    read_beside,
    read_listed,
)
from swag_studio.ui.review_table_panel import TablePanel
from swag_studio.ui.run_bar import RunPicker
from swag_studio.ui.undo import CURATED
from swag_studio.ui.words import count
from swag_studio.ui.workspace import Workspace

NOTHING_YET = (
    "Here every context of a filter run will stand, with its found ending, its wrong endings and "
    "what people said of them: to search, sort, rank, edit, flag and exclude, with every change "
    "kept in a log and undone by name.\n\nRun the filter first."
)
HINT = (
    "In the table: 1 to 6 flag, X excludes, Ctrl+A chooses all that is shown. In the list of "
    "endings: Alt+Up and Alt+Down rank, F2 edits, R replaces. Ctrl+Z takes any step back."
)
_CONCERN = frozenset(
    {"curated", "judgements", "assignments", "endings", "artifacts", "annotators", "verdicts"}
)
_LINES = 30  # of text that table and detail are high at least
_SAVED = "review_filters"


class ReviewPage(Page):
    """The page of curators. It shows one filter version at a time."""

    title = "Review"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.store: Store = workspace.project.store
        self.version = 0
        self._total = 0
        self._stale = True  # something may be new since it was read
        self._opened = 0  # the version whose table is shown
        self._looked_at = -1  # the id of the row
        self._making = Making(workspace.reader)
        self._narrow = ReviewFilter()  # which rows were asked for last
        self._wanted = ""  # a context to look at, until it is shown
        self._edit_next: tuple[str, int] | None = None  # context and place, once it is shown
        self._other = 0  # an older version with human work on it
        self.curation = Actions(self.store, workspace.reader, self)
        self.curation.readers = Readers(workspace.jobs, workspace.project)
        self._build()
        self._connect()
        self._say(NOTHING_YET)

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        self.filters, self.panel, self.detail = FilterBar(), TablePanel(), DetailPanel()
        self.table = self.panel.table
        self.versions = RunPicker()
        self.warning = label(role="warn")
        self.other, self.unfinished = QPushButton(""), QPushButton("")
        for hidden in (self.warning, self.other, self.unfinished):
            hidden.hide()
        self.who = QPushButton("Your name …")
        self.all_changes = QPushButton("Log of all changes …")
        top = FlowLayout(spacing=8)
        for widget in (self.versions, self.who, self.all_changes, self.unfinished, self.other):
            top.addWidget(widget)
        parts = self.parts = splitter(Qt.Orientation.Horizontal)
        parts.addWidget(card(self.panel))
        parts.addWidget(card(self.detail))
        parts.setSizes([640, 560])
        parts.setStretchFactor(0, 1)
        parts.setStretchFactor(1, 1)
        self.keep_height(parts, _LINES)
        self.content = QWidget()
        layout = QVBoxLayout(self.content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(top)
        layout.addWidget(self.warning)
        layout.addWidget(self.filters)
        layout.addWidget(parts, 1)
        self.words = label(role="muted")
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.worded = card(self.words, margins=40)
        self.stack = Stack(self.worded, self.content)
        self.body.addWidget(self.stack)

    def _connect(self) -> None:
        self.versions.picked.connect(self.show_version)
        self.filters.changed.connect(lambda _: self._ask_rows())
        self.filters.saved_changed.connect(partial(self.store.set_people_setting, _SAVED))
        self.table.rows_model.order_chosen.connect(self._ask_rows)
        self.table.wanted.connect(self._ask_missing)
        self.table.walked.connect(self._walked)
        self.panel.bulk_asked.connect(self.bulk)
        self.other.clicked.connect(lambda: self.show_version(self._other))
        self.unfinished.clicked.connect(self._go_on)
        self._connect_actions()
        for view in (self.table, self.detail.endings):
            for i, flag in enumerate(FLAGS, 1):
                self._key(view, str(i), partial(self._toggle_flag, flag))
            self._key(view, "X", self._toggle_excluded)

    def _connect_actions(self) -> None:
        curation, detail, notes = self.curation, self.detail, self.detail.notes
        curation.done.connect(lambda: self.workspace.bridge.changed.emit(CURATED))
        curation.refused.connect(self._ask_detail)
        curation.drafted.connect(self._show_unfinished)
        curation.named.connect(self._show_name)
        curation.told.connect(self.panel.tell)
        self.who.clicked.connect(lambda: curation.ask_name())
        self.all_changes.clicked.connect(lambda: curation.show_log())
        detail.endings.ranked.connect(lambda places: curation.do(lambda c, id: c.rank(id, places)))
        detail.edit_asked.connect(curation.edit)
        detail.replace_asked.connect(curation.replace)
        detail.restore_asked.connect(
            lambda place, ending: curation.do(lambda c, id: c.restore(id, place, ending))
        )
        notes.flagged.connect(lambda flag, on: curation.do(lambda c, id: c.flag(id, flag, on)))
        notes.excluded.connect(lambda on: curation.do(lambda c, id: c.exclude(id, on)))
        notes.commented.connect(curation.comment)
        notes.draft.connect(partial(curation.keep_draft, COMMENT))

    def _key(self, view: QWidget, key: str, slot: Callable[[], None]) -> None:
        """A key that acts in one view alone, and so never while a text has the focus."""
        shortcut = QShortcut(QKeySequence(key), view, slot)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)

    # --- hooks ---------------------------------------------------------------------------

    def refresh(self, tables: frozenset[str]) -> None:
        if tables and not tables & _CONCERN:
            return
        if not tables or "artifacts" in tables:
            self.curation.readers = Readers(self.workspace.jobs, self.workspace.project)
        if not tables or tables & {"artifacts", "assignments"}:
            self._opened = 0
        self._stale = True
        if self.isVisible():
            self._look()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._look()

    def act(self) -> None:
        self.go_to.emit("Filtering")

    # --- versions ------------------------------------------------------------------------

    def _look(self) -> None:
        """Reads what may be new of the version that is shown, or of the one to show first."""
        self._stale = False
        project = self.workspace.project
        run = filter_run(project, self.version)
        if run is None:
            self.version = self._opened = 0
            self.tell("", "muted", "", "Filtering ›")
            self._say(NOTHING_YET)
            return
        self.tell("", "muted", HINT)
        self._show_name(curating.who(self.store))
        self.version = run.version
        self.versions.show_runs(filter_runs(project), run.version)
        self._open(run)

    def show_version(self, version: int) -> None:
        """Shows another run of the filter. Nothing can be done to the rows of the one before."""
        if version != self.version:
            self.table.empty = "Reading the contexts …"
            self.table.show_ids(self.table.rows_model.ids[:0], (), -1, 0)
        self.version, self._looked_at = version, -1
        self._look()

    def show_context(self, context_id: str, version: int = 0) -> None:
        """Shows a context of a run (0: the one that is shown), whatever the filter leaves out."""
        self._wanted = context_id
        if version not in (0, self.version):
            self.show_version(version)
        self.filters.show_filter(ReviewFilter())  # it may not be among those shown
        self._ask_rows()

    def _open(self, artifact: Artifact) -> None:
        version = artifact.version
        if self._opened == version:
            self._ask_about()
            self._ask_rows()
            return
        if self.stack.shown is self.worded:
            self._say("Reading the contexts …")
        self.filters.show_saved(self.store.people_setting(_SAVED, {}))

        def opened(ready: bool) -> None:
            if version == self.version:
                if ready:
                    self._show_table()
                else:
                    self._make(artifact)

        self.workspace.reader.ask(
            "review.ready",
            lambda: self.store.review_ready(version),
            opened,
            partial(self._failed, version),
        )

    def _show_table(self) -> None:
        self._opened = self.version
        self.stack.show_only(self.content)
        self._ask_about()
        self._ask_rows()

    def _make(self, artifact: Artifact) -> None:
        """Has the table made, if it is not being made."""
        total, jobs, project = (
            artifact.summary.get("contexts", 0),
            self.workspace.jobs,
            self.workspace.project,
        )

        def made(version: int, done: int | None) -> bool:
            if version == self.version:
                if done is None:
                    self._show_table()
                else:
                    self._say(f"Listing the contexts, once: {done:,} of {total:,} …")
            return version == self.version

        version = artifact.version
        if self._making.begin(version, lambda: jobs.review(project, version), made, self._failed):
            self._say("Listing the contexts, once …")

    def _say(self, text: str, role: str = "muted") -> None:
        self.words.setText(text)
        set_role(self.words, role)
        self.stack.show_only(self.worded)

    def _failed(self, version: int, text: str) -> None:
        if version == self.version:
            self._opened = 0
            self._say(text, "bad")

    # --- what the filters offer -------------------------------------------------------------

    def _ask_about(self) -> None:
        store, version = self.store, self.version
        self.workspace.reader.ask(
            "review.about", lambda: read_about(store, version), partial(self._show_about, version)
        )

    def _show_about(self, version: int, about: About) -> None:
        if version != self.version:
            return
        self._total = about.total
        self.curation.know_drafts(about.drafts)
        self.table.rows_model.sources = about.files
        self.filters.offer(options_of(about.values, about.files, about.people))
        self.filters.show_count(self.table.rows_model.rowCount(), self._total)
        self._show_unfinished()
        others = {v: work for v, work in about.work.items() if v < version}
        self.warning.setVisible(bool(others))
        self.other.setVisible(bool(others))
        if others:
            self.warning.setText("⚠ " + human_work_of(others))
            self._other = max(others)
            self.other.setText(f"Show run {self._other}")

    def _show_unfinished(self) -> None:
        left = self.curation.unfinished(self.version)
        self.unfinished.setText(f"Go on with {count(len(left), 'unfinished edit')} …")
        self.unfinished.setVisible(bool(left))

    def _show_name(self, name: str) -> None:
        self.who.setText(f"You are {name} …" if name else "Your name …")

    # --- rows ----------------------------------------------------------------------------

    def _ask_rows(self) -> None:
        """Reads which contexts are shown, in their order, and the rows around the present one."""
        if self._opened != self.version:
            return
        store, version, narrow = self.store, self.version, self.filters.filter
        model, wanted = self.table.rows_model, self._wanted
        order = model.sort_field, model.descending
        look_at = wanted, self._looked_at, max(0, self.table.currentIndex().row())
        self._narrow = narrow

        def show(listed: Listed) -> None:
            if version != self.version or narrow != self._narrow:
                return  # what is wanted since has its own reading
            if wanted == self._wanted:
                self._wanted = ""
            at = listed.looked_at if wanted else self._looked_at  # one may have walked on since
            self.table.empty = "No context fits this filter." if self._total else ""
            self.filters.show_count(len(listed.ids), max(self._total, len(listed.ids)))
            place = max(0, self.table.currentIndex().row())
            self.table.show_ids(listed.ids, listed.around, at, place)

        self.workspace.reader.ask(
            "review.ids",
            lambda: read_listed(store, version, narrow, order, look_at),
            show,
            partial(self._failed, version),
        )

    def _ask_missing(self, first: int, last: int) -> None:
        """Reads rows that came on the screen."""
        model = self.table.rows_model
        ids, lacking, version = model.ids, model.lacking(first, last), self.version

        def show(rows: list[ReviewRow]) -> None:
            if model.ids is ids:
                model.put_rows(rows, first, last)
                current = self.table.currentIndex().row()
                if first <= current < last and int(ids[current]) in lacking:
                    self._walked(current)

        if lacking:
            self.workspace.reader.ask(
                "review.rows",
                lambda: self.store.review_rows(lacking),
                show,
                partial(self._failed, version),
            )

    # --- the context that is looked at -------------------------------------------------------

    def _walked(self, place: int) -> None:
        if place < 0:
            self._show_no_detail(NO_CONTEXT)
            return
        self._looked_at = int(self.table.rows_model.ids[place])
        self._ask_detail()  # of a row that is not in memory: once it is

    def _ask_detail(self) -> None:
        row = self.table.rows_model.row(self.table.currentIndex().row())
        version, store, readers = self.version, self.store, self.curation.readers
        if row is None or readers is None:
            return

        def if_here(show: Callable[[Any], None]) -> Callable[[Any], None]:
            """Shows an answer unless another context is looked at by then."""

            def shown(answer: Any) -> None:
                if version == self.version and row.id == self._looked_at:
                    show(answer)

            return shown

        ask = self.workspace.reader.ask
        ask(
            "review.detail",
            lambda: read(store, version, row),
            if_here(self._show_detail),
            if_here(self._show_no_detail),
        )
        ask(
            "review.beside",
            lambda: read_beside(readers, version, row.context_id),
            if_here(self.detail.show_beside),
            if_here(lambda text: self.detail.show_beside(Beside(trouble=text))),
        )

    def _show_no_detail(self, text: str) -> None:
        self.detail.show_words(text)  # it has a comment kept, of the context that was shown
        self.curation.detail = None

    def _show_detail(self, detail: Detail) -> None:
        other = self.curation.detail
        if other is not None and other.row.context_id != detail.row.context_id:
            self.detail.notes.keep()  # a comment of the one before
        self.curation.version, self.curation.detail = self.version, detail
        self.detail.show_detail(detail, self.curation.draft(COMMENT))
        if self._edit_next is not None and not self._wanted:  # else it is still to be shown
            (context, place), self._edit_next = self._edit_next, None
            if context == detail.row.context_id:  # else someone walked on
                self.curation.edit(place)

    # --- changes -------------------------------------------------------------------------

    def bulk(self, change: Change) -> None:
        """Offers a change of all chosen contexts."""
        self.curation.bulk(self.version, self.table.chosen_ids(), change)

    def _toggle_flag(self, flag: str) -> None:
        self._toggle("flag", "unflag", flag, lambda state: flag in state.flags)

    def _toggle_excluded(self) -> None:
        self._toggle("exclude", "include", "", lambda state: state.excluded)

    def _toggle(
        self, on: ChangeKind, off: ChangeKind, flag: str, is_on: Callable[[Curated], bool]
    ) -> None:
        """Of one context at once; of several with a preview, and always on."""
        chosen = self.table.chosen_ids()
        if len(chosen) > 1:
            self.bulk(Change(on, flag))
            return
        at = None  # the context in full
        if len(chosen) and self.table.hasFocus():  # whose context in full may not be read yet
            at = self.version, self.store.review_context_ids(chosen)[0]
        self.curation.do(
            lambda c, id: c.bulk([id], Change(off if is_on(c.state(id)) else on, flag)), at
        )

    def _go_on(self) -> None:
        """Opens an edit that was not saved, with what was typed."""
        if left := self.curation.unfinished(self.version):
            _, context, place = left[0]
            self._edit_next = (context, place)
            self.show_context(context)
