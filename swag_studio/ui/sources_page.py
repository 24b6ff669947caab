"""The first step: caption files come in, and Prepare makes contexts of them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFileDialog,
    QFrame,
    QLabel,
    QPushButton,
    QSizePolicy,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from swag_studio.events import Progress
from swag_studio.recipe import Recipe
from swag_studio.records import SourceInfo
from swag_studio.ui.import_panel import ImportPanel
from swag_studio.ui.import_queue import ImportQueue, WaitingFile
from swag_studio.ui.late import Late
from swag_studio.ui.page import STATE_ROLES, STATE_WORDS, Page, card, set_role, splitter
from swag_studio.ui.prepare_card import ExamplesCard, PrepareCard
from swag_studio.ui.prepare_recipe import PrepareRecipePanel
from swag_studio.ui.rows_dialog import RowsDialog
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.words import FORMATS, count, reason
from swag_studio.ui.workspace import Workspace

FIRST = 200  # rows that a source opens

SOURCE_COLUMNS = (
    Column("File", lambda s: s.file, stretch=True),
    Column("Format", lambda s: FORMATS.get(s.format, s.format)),
    Column("Documents", lambda s: s.documents, help="Videos, or what the captions come from"),
    Column("Captions", lambda s: s.captions or None, optional=True),
    Column("Own contexts", lambda s: s.own_contexts or None, optional=True),
    Column("Set aside", lambda s: sum(s.left_out.values())),
)
LEFT_OUT_COLUMNS = (
    Column("Because", lambda row: row[1], stretch=True),
    Column("Document", lambda row: row[0].document or None, optional=True),
    Column("Place in the file", lambda row: row[0].place),
    Column("Detail", lambda row: row[0].detail or None, optional=True),
)


class SourcesPage(Page):
    """Files in, contexts out."""

    title = "Sources"
    stage = "prepare"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.setAcceptDrops(True)
        self.queue = ImportQueue(workspace, self)
        self.queue.imported.connect(self._imported)
        self._brought = ""
        self.panel = ImportPanel(self.queue)
        self.table = Table("Imported files", SOURCE_COLUMNS, "No captions yet.")
        self.table.setToolTip("Double-click a row, or press Enter, to see what was set aside")
        self.table.opened.connect(self.open_source)
        self.prepared = PrepareCard(workspace)
        heading = QLabel("Imported files")
        set_role(heading, "heading")
        self.examples = ExamplesCard(workspace)
        self.below = splitter(Qt.Orientation.Vertical)
        row = splitter(Qt.Orientation.Horizontal)
        row.addWidget(card(heading, self.table))
        row.addWidget(self.prepared)
        row.setSizes([1150, 1000])
        self.below.addWidget(row)
        self.below.addWidget(self.examples)
        self.below.setSizes([450, 550])
        self.captions = _Fitting()
        column = QVBoxLayout(self.captions)
        column.setContentsMargins(0, 8, 0, 0)
        column.addWidget(self._drop_area())
        column.addWidget(self.panel, 1)
        column.addWidget(self.below, 1)
        column.addStretch(0)
        self.recipe_tab = Late(self._make_recipe)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Captions and recipe")
        self.tabs.addTab(self.captions, "Captions")
        self.tabs.addTab(self.recipe_tab, "Recipe")
        self.keep_height(self.panel.tables, 6)
        self.keep_height(self.below, 25)
        self.body.addWidget(self.tabs, 1)
        self.queue.changed.connect(self._layout_changed)

    def _make_recipe(self) -> PrepareRecipePanel:
        panel = PrepareRecipePanel(self.workspace.project)
        panel.changed.connect(self._recipe_changed)
        return panel

    def _drop_area(self) -> QFrame:
        self.drop_area = QFrame()
        self.drop_area.setProperty("drop", "idle")
        self.drop_words = QLabel("")
        self.choose_button = QPushButton("Choose files …")
        self.choose_button.clicked.connect(self.choose)
        formats = QLabel(
            "ActivityNet Captions, TACoS, LSMDC16, CSV, TSV or JSON lines, "
            "or contexts with candidates of your own. Files stay where they are."
        )
        formats.setWordWrap(True)
        set_role(formats, "muted")
        self.formats = formats
        line = self.drop_line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self.drop_area)
        line.setContentsMargins(14, 10, 14, 10)
        line.setSpacing(12)
        for widget in (self.drop_words, self.choose_button, formats):
            line.addWidget(widget)
        line.addStretch(0)
        return self.drop_area

    def _show_drop_area(self, *, large: bool) -> None:
        """Most of the page while it is empty, one line once there is something to look at."""
        direction = QBoxLayout.Direction
        self.drop_line.setDirection(direction.TopToBottom if large else direction.LeftToRight)
        centre = Qt.AlignmentFlag.AlignHCenter if large else Qt.AlignmentFlag(0)
        for widget in (self.drop_words, self.choose_button):
            self.drop_line.setAlignment(widget, centre)
        self.drop_line.setStretchFactor(self.formats, 0 if large else 1)
        self.formats.setAlignment(centre | Qt.AlignmentFlag.AlignVCenter)
        self.drop_words.setText(
            "Drop caption files here" if large else "Drop caption files anywhere on this page, or"
        )
        set_role(self.drop_words, "title" if large else "")
        margin = 80 if large else 10
        self.drop_line.setContentsMargins(14, margin, 14, margin)
        self.drop_area.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def _layout_changed(self) -> None:
        """One thing at a time: what is in the project stands back for a file to be looked at."""
        sources = bool(self.table.rows_model.rows)
        looking = not (self.panel.isHidden() or self.panel.tables.isHidden())
        self.below.setVisible(sources and not looking)
        self.formats.setVisible(not looking)
        self._show_drop_area(large=not (self.table.rows_model.rows or self.queue.files))

    # --- files -------------------------------------------------------------------------------

    def choose(self) -> None:
        """Asks for files, and reads them."""
        chosen, _ = QFileDialog.getOpenFileNames(self, "Choose caption files")
        if chosen:
            self.add_files([Path(name) for name in chosen])

    def add_files(self, paths: list[Path]) -> None:
        """Reads files, and shows what they hold, before anything is imported."""
        self._brought = ""
        self.tabs.setCurrentWidget(self.captions)
        self.queue.add(paths)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()
            self._show_drop("over")

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._show_drop("idle")

    def dropEvent(self, event: QDropEvent) -> None:
        self._show_drop("idle")
        urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
        if urls:
            event.acceptProposedAction()
            self.add_files([Path(url.toLocalFile()) for url in urls])

    def _show_drop(self, state: str) -> None:
        self.drop_area.setProperty("drop", state)
        self.drop_area.style().unpolish(self.drop_area)
        self.drop_area.style().polish(self.drop_area)

    def _imported(self, file: WaitingFile) -> None:
        summary = file.summary
        what = (
            count(summary["own_contexts"], "context")
            if summary.get("own_contexts")
            else count(summary.get("captions", 0), "caption")
        )
        self._brought = f"{file.path.name}: {what} imported. "
        self.refresh(frozenset())

    def open_source(self, source: SourceInfo) -> None:
        """Shows what was set aside of an imported file."""
        store, words = self.workspace.project.store, self.workspace.jobs.source_reasons()
        found = islice(store.left_out_of_source(source.id), FIRST)
        rows = [(row, reason(row.reason, words)) for row in found]
        total = sum(source.left_out.values())
        first = f"The first {FIRST:,} of {total:,} notes" if total > FIRST else "What"
        verb = "" if total > FIRST else " was"
        note = f"{first}{verb} set aside or noted when {source.file} was imported."
        RowsDialog(source.file, note, LEFT_OUT_COLUMNS, rows, self, "Nothing was set aside.").show()

    # --- recipe ------------------------------------------------------------------------------

    @property
    def recipe_panel(self) -> PrepareRecipePanel:
        """The recipe's part, made if it is not there yet."""
        return self.recipe_tab.content()

    def show_setting(self, key: str) -> None:
        self.tabs.setCurrentWidget(self.recipe_tab)
        self.recipe_panel.show_setting(key)

    def _recipe_changed(self, recipe: Recipe) -> None:
        self.workspace.project.set_recipe(recipe)
        self.refresh(frozenset({"recipe"}))
        self.workspace.bridge.changed.emit(frozenset({"recipe"}))

    # --- page --------------------------------------------------------------------------------

    def refresh(self, tables: frozenset[str]) -> None:
        if tables and not tables & {"sources", "contexts", "dropped_pairs", "recipe"}:
            return
        if self.recipe_tab.made:
            self.recipe_panel.set_recipe(self.workspace.project.recipe)
        sources = self.workspace.project.store.sources()
        self.table.set_rows(sources)
        state = self.state()
        self.prepared.show_state(state)
        self.examples.show_state(state)
        self._layout_changed()
        if self.running:
            self.tell("running", "good", "The contexts are being prepared; you may go on working.")
            return
        if not sources:
            hint = "Bring in captions of videos, in the order in which things happen."
            self.tell("no captions yet", "muted", hint)
            return
        assert state is not None
        role = STATE_ROLES[state.state]
        if state.state == "done":
            contexts = int(str(state.artifact.summary.get("selected", 0))) if state.artifact else 0
            hint = f"{count(contexts, 'context')} ready. Next: train the language models."
            self.tell(STATE_WORDS["done"], role, self._brought + hint, "Language models ›")
        elif state.state == "stale":
            hint = "The captions or the recipe have changed since: prepare the contexts anew."
            self.tell(STATE_WORDS["stale"], role, self._brought + hint, "Prepare again")
        elif state.state == "unfinished":
            hint = "Preparing was interrupted. It starts over; that takes minutes at most."
            self.tell(STATE_WORDS["unfinished"], role, hint, "Prepare contexts")
        else:
            hint = "Next: prepare, which pairs the captions and cuts the second one of each pair."
            total = sum(s.captions + s.own_contexts for s in sources)
            status = f"{count(total, 'caption')} imported"
            self.tell(status, "good", self._brought + hint, "Prepare contexts")

    def show_progress(self, progress: Progress) -> None:
        if progress.stage == self.stage and self.action.isVisibleTo(self):
            self.refresh(frozenset())

    def act(self) -> None:
        """Prepares, or goes on to the next step where that is done."""
        state = self.state()
        if state is not None and state.state == "done":
            self.go_to.emit("Language models")
        else:
            self._brought = ""
            super().act()


class _Fitting(QWidget):
    """Asks for the least height that its layout can do with: it takes what room there is."""

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.totalMinimumHeightForWidth(width) if layout is not None else -1
