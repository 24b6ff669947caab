"""What the Agreement page does: it asks, has it kept in the background, and tells what came of it.

Nothing here shows how the work stands; the page reads that anew after each action.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QInputDialog, QMessageBox, QWidget

from swag_studio import packet_exchange, packets
from swag_studio.allocation import Preview
from swag_studio.errors import UserError, in_words
from swag_studio.files import write_bytes, write_text
from swag_studio.judging import Adjudication, Annotator
from swag_studio.plan import Assumptions
from swag_studio.rounds import HumanWork, Worker
from swag_studio.ui import people_readings as readings
from swag_studio.ui.merge_dialog import MergeDialog
from swag_studio.ui.page import set_role
from swag_studio.ui.people_panel import to_csv
from swag_studio.ui.people_readings import Giving, Overview, Simulation
from swag_studio.ui.policy_dialog import PolicyDialog
from swag_studio.ui.words import count, does
from swag_studio.ui.work_dialog import SimulateDialog, WorkDialog
from swag_studio.ui.workspace import Workspace

GIVEN = frozenset({"tasks", "allocations", "people", "review_rows"})
JUDGED = frozenset({"judgements", "allocations", "adjudications", "review_rows"})


class PeopleActions(QObject):
    """Dialogs and deeds for one page. `work` and `overview` are set by it before anything."""

    told = Signal(str, str)  # a sentence, its role
    busy_changed = Signal(bool)

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self.workspace, self._window = workspace, window
        self.work: HumanWork | None = None
        self.overview: Overview | None = None
        self.dialog: QDialog | None = None  # the one that is open
        self._numbers = itertools.count()
        self._at_work = 0  # what is being kept or read

    @property
    def busy(self) -> bool:
        """Whether something is being kept, or read for a dialog."""
        return self._at_work > 0

    def do(self, name: str, worker: Worker | None) -> None:
        """An action by its name; `worker` is the chosen annotator. None while one is at work."""
        if self.work is None or self.overview is None or self.busy:
            return
        actions: dict[str, Callable[[], None]] = {
            "add": self.add,
            "give": self.give,
            "simulate": self.simulate,
            "save": self.save,
            "rules": self.rules,
            "merge": self.merge,
            "round": self.next_round,
        }
        if name in actions:
            actions[name]()
        elif worker is None:
            self.told.emit("Choose an annotator's line first.", "warn")
        elif name == "drop":
            self.drop(worker)
        elif name == "export":
            self.export(worker.annotator)

    # --- keeping -----------------------------------------------------------------------------

    def keep(
        self,
        deed: Callable[[], Any],
        tables: frozenset[str],
        told: Callable[[Any], str] = lambda _: "",
        over: Callable[[], None] = lambda: None,
    ) -> None:
        """Has something written in the background, and all pages told that `tables` changed.

        `over` is called before they are told, whether it was written or not.
        """

        def done(result: Any) -> None:
            over()
            self.told.emit(told(result), "good")
            self.workspace.bridge.changed.emit(tables)

        def failed(text: str) -> None:
            over()
            self.told.emit(f"⚠ {text}", "bad")
            self.workspace.bridge.changed.emit(tables)  # a part of it may have been done

        self._ask(deed, done, failed)

    def _ask(
        self, work: Callable[[], Any], then: Callable[[Any], None], failed: Callable[[str], None]
    ) -> None:
        """Has something done in the background, during which nothing else can be asked for."""

        def after(tell: Callable[[Any], None], result: Any) -> None:
            self._at_work -= 1
            self.busy_changed.emit(self.busy)
            tell(result)

        self._at_work += 1
        self.busy_changed.emit(True)
        # A key of its own: what is to be kept must not make room for a newer ask.
        key = f"people.do.{next(self._numbers)}"
        self.workspace.reader.ask(key, work, partial(after, then), partial(after, failed))

    def settle(self, record: Adjudication, over: Callable[[], None]) -> None:
        """Keeps how a tie was settled; `over` is called then."""
        work = self._work
        self.keep(
            lambda: work.settle(record),
            JUDGED,
            lambda verdict: f"Settled: {verdict.reason}" if verdict else "Settled.",
            over,
        )

    def keep_plan(self, plan: Assumptions) -> None:
        self._work.keep(plan=plan)

    def count_simulated(self, on: bool) -> None:
        work = self._work

        def deed() -> None:
            work.keep(count_simulated=on)
            work.refresh()

        self.keep(deed, GIVEN | JUDGED)

    # --- annotators --------------------------------------------------------------------------

    def add(self) -> None:
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle("Add annotator")
        dialog.setLabelText("Name, as everyone here knows them:")
        dialog.setOkButtonText("Add")
        dialog.textValueSelected.connect(self._added)
        self._open(dialog)

    def _added(self, name: str) -> None:
        name = " ".join(name.split())
        if not name:
            self.told.emit("⚠ An annotator needs a name.", "bad")
            return
        try:
            self._work.store.put_annotator(Annotator(secrets.token_hex(16), name))
        except UserError as error:
            self.told.emit(f"⚠ {in_words(error, '')}", "bad")
            return
        self.told.emit(
            f"{name} can judge now: they choose themselves on the page Annotate.", "good"
        )
        self.workspace.bridge.changed.emit(frozenset({"annotators"}))

    def drop(self, worker: Worker) -> None:
        """Asks, with the count of work that goes to others."""
        name, work = worker.annotator.name, self._work
        open_, done = worker.progress.get("open", 0), worker.progress.get("done", 0)
        box = QMessageBox(self._window)
        box.setWindowTitle("Drop an annotator")
        box.setText(f"Drop {name}?")
        box.setInformativeText(
            f"{count(open_, 'open task')} and {count(done, 'judged one')} go to the others. What "
            f"{name} answered is kept, and no longer counts."
        )
        drop = box.addButton("Drop", QMessageBox.ButtonRole.DestructiveRole)
        set_role(drop, "danger")
        keep = box.addButton("Keep", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)

        def deed() -> int:
            requeued = work.drop(worker.annotator.id)
            work.refresh()
            return requeued

        drop.clicked.connect(
            lambda: self.keep(
                deed,
                GIVEN | {"annotators"},
                lambda n: f"{name} is dropped; {count(n, 'task')} went to the others.",
            )
        )
        self._open(box)

    def save(self) -> None:
        assert self.overview is not None
        workers = self.overview.workers
        dialog = QFileDialog(self._window, "Save time and pay", "annotators.csv", "CSV (*.csv)")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("csv")

        def write(path: str) -> None:
            try:
                write_text(Path(path), to_csv(workers))
            except OSError as error:
                self.told.emit(f"⚠ {path} cannot be written: {error.strerror}.", "bad")
            else:
                self.told.emit(f"Saved as {path}.", "good")

        dialog.fileSelected.connect(write)
        self._open(dialog)

    # --- work --------------------------------------------------------------------------------

    def give(self) -> None:
        work, overview = self._work, self.overview
        assert overview is not None
        if not overview.people:
            self.told.emit("Add an annotator first: work is given to somebody.", "warn")
            return
        dialog = WorkDialog(
            overview.workers,
            overview.contexts,
            overview.begun,
            work.overlap,
            work.checks.share,
            work.seed,
            self._window,
        )

        def show(giving: Giving, found: Preview) -> None:
            if self.dialog is dialog:  # else it is closed by now
                dialog.show_preview(giving, found)

        def refuse(giving: Giving, text: str) -> None:
            if self.dialog is dialog and dialog.giving == giving:
                dialog.refuse(text)

        def preview(giving: Giving) -> None:
            self.workspace.reader.ask(
                "people.preview",
                lambda: readings.preview_giving(work, giving),
                partial(show, giving),
                partial(refuse, giving),
            )

        dialog.preview_wanted.connect(preview)
        dialog.given.connect(
            lambda giving: self.keep(lambda: readings.give_out(work, giving), GIVEN, _dealt)
        )
        self._open(dialog)

    def next_round(self) -> None:
        work = self._work
        self.keep(
            lambda: readings.open_next_round(work),
            GIVEN,
            lambda n: f"{count(n, 'context')} went into another round.",
        )

    def simulate(self) -> None:
        overview, work = self.overview, self._work
        assert overview is not None
        dialog = SimulateDialog(overview.contexts, overview.begun, work.overlap, self._window)

        def run(simulation: Simulation) -> None:
            self.workspace.bridge.submit(
                lambda: readings.simulating(work, simulation), "Simulate annotators"
            )

        dialog.chosen.connect(run)
        self._open(dialog)

    def rules(self) -> None:
        work = self._work
        dialog = PolicyDialog(
            {
                "policy": ("Verdicts", "What follows from people's answers", work.policy),
                "checks": ("Tests and checks", "Items whose answer is known", work.checks),
                "pay": ("Pay", "What annotators earn", work.pay),
            },
            self._window,
        )

        def deed(changes: dict[str, Any]) -> None:
            work.keep(**changes)
            work.refresh()

        dialog.saved.connect(
            lambda changes: self.keep(
                lambda: deed(changes), GIVEN | JUDGED, lambda _: "The rules are kept."
            )
        )
        self._open(dialog)

    # --- packets -----------------------------------------------------------------------------

    def export(self, annotator: Annotator) -> None:
        work = self._work
        kind = f"Work packets (*{packets.SUFFIX})"
        dialog = QFileDialog(self._window, "Export packet", f"{annotator.name}", kind)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(packets.SUFFIX.removeprefix("."))

        def deed(path: Path) -> int:
            packet = packet_exchange.export(work.store, work.seed, annotator)
            write_bytes(path, packets.file_bytes(packet))
            return len(packet.items)

        dialog.fileSelected.connect(
            lambda path: self.keep(
                lambda: deed(Path(path)),
                frozenset({"packets"}),
                lambda n: (
                    f"{path} has {count(n, 'item')} for {annotator.name}. They open it "
                    "on another machine, and send back what Finish writes."
                ),
            )
        )
        self._open(dialog)

    def merge(self) -> None:
        kind = f"Work packets (*{packets.SUFFIX})"
        dialog = QFileDialog(self._window, "Merge packet", "", kind)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.preview_merge(Path(path)))
        self._open(dialog)

    def preview_merge(self, path: Path) -> None:
        """Reads a packet that came back, and shows what it would bring."""
        work = self._work

        def read() -> tuple[packets.PacketFile, packet_exchange.Merge]:
            file = packets.read(path)
            return file, packet_exchange.preview(work.store, file)

        def show(found: tuple[packets.PacketFile, packet_exchange.Merge]) -> None:
            file, merge = found
            dialog = MergeDialog(path.name, merge, self._window)

            def deed(keep: packet_exchange.Keep) -> packet_exchange.Merge:
                merged = packet_exchange.merge(work.store, file, keep)
                work.refresh()
                return merged

            dialog.chosen.connect(
                lambda keep: self.keep(
                    lambda: deed(keep),
                    JUDGED,
                    lambda m: f"{count(m.answers, 'answer')} of {m.annotator} came in.",
                )
            )
            self._open(dialog)

        self._ask(read, show, lambda text: self.told.emit(f"⚠ {text}", "bad"))

    # --- inner -------------------------------------------------------------------------------

    @property
    def _work(self) -> HumanWork:
        assert self.work is not None
        return self.work

    def _open(self, dialog: QDialog) -> None:
        """One dialog at a time, which blocks nothing but the window below it."""
        self.dialog = dialog

        def gone() -> None:
            self.dialog = None if self.dialog is dialog else self.dialog
            dialog.deleteLater()

        dialog.finished.connect(gone)
        dialog.open()


def _dealt(preview: Preview) -> str:
    new = sum(preview.new.values())
    text = f"{count(new, 'task')} for {count(len(preview.new), 'annotator')}."
    if preview.short:
        text += f" {does(len(preview.short), 'context', 'lacks', 'lack')} an annotator."
    return text
