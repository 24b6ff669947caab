"""All that can be seen of the program: pages with their tabs, dialogs, the window of a packet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fakes import DrawnWatch, FakeJobs
from judged_project import BEST, SECOND, context, filtered, work_of
from packet_project import ANNA, give_out
from PySide6.QtWidgets import QApplication, QDialog, QTabWidget
from pytestqt.qtbot import QtBot
from test_candidates_page import sample
from test_filtering_page import beside, iteration
from waiting import at_rest

from swag_studio import packet_exchange
from swag_studio import recipe as recipes
from swag_studio.allocation import OverlapPlan
from swag_studio.events import Metric
from swag_studio.judging import Judgement
from swag_studio.packet_answers import PacketAnswers
from swag_studio.packets import file_bytes
from swag_studio.policy import VerificationPolicy
from swag_studio.project import Project
from swag_studio.ui import again_dialog
from swag_studio.ui import help as sheets
from swag_studio.ui.annotate_keys import KeyMap, KeysDialog
from swag_studio.ui.annotate_page import AnnotatePage
from swag_studio.ui.application import Application
from swag_studio.ui.crash_dialog import CrashDialog
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.merge_dialog import MergeDialog
from swag_studio.ui.packet_window import PacketWindow
from swag_studio.ui.policy_dialog import PolicyDialog
from swag_studio.ui.restoring import BackupsDialog
from swag_studio.ui.review_dialogs import EditDialog, NameDialog, ReplaceDialog
from swag_studio.ui.start import NewProjectDialog
from swag_studio.ui.steps import StepDialog, Steps
from swag_studio.ui.work_dialog import SimulateDialog, WorkDialog


def everything(application: Application, jobs: FakeJobs, tmp_path: Path) -> MainWindow:
    """A project in which everything was run, and two people judge; all pages are made."""
    recipe = recipes.preset("demo")
    project = filtered(tmp_path / "p.swag", recipe, [context(n) for n in range(8)])
    store = project.store
    store.put_metrics(1, [m for i in range(6) for m in iteration(i)] + beside(5))
    curve = [Metric("train_lm", "dev_ppl", i, 90.0 - i, {"fold": "0"}) for i in range(3)]
    store.put_metrics(1, curve)
    list(store.build_review(1, 1, {}))
    tasks = work_of(project).open_first_round(count=3)
    store.allocate((task.id, person) for task in tasks for person in ("a1", "a2"))
    for person, (labels, best, second) in {"a1": BEST, "a2": SECOND}.items():
        store.add_judgements([Judgement(tasks[0].id, person, tuple(labels), best, second)])
    sample(project, jobs, "dog", "cat", "ship")
    jobs.watch_reader = DrawnWatch("A man waits. / He / leaves.\n cat dog owl\n cat fox owl")
    project.close()
    window = application.open(tmp_path / "p.swag")
    assert window is not None
    window.resize(1280, 840)
    window.make_pages()
    return window


def sights(window: MainWindow, qtbot: QtBot) -> Iterator[str]:
    """Every page with each of its tabs, and the bench of who judges, when all is read."""
    for i, page in enumerate(window.pages):
        window.show_page(i)
        settle(window, qtbot)
        tabs = page.findChildren(QTabWidget)
        yield page.title
        for bar in tabs:
            for k in range(1, bar.count()):
                bar.setCurrentIndex(k)
                settle(window, qtbot)
                yield f"{page.title}, {bar.tabText(k)}"
        if isinstance(page, AnnotatePage):
            page.seat(window.workspace.project.store.annotators()[0])
            page.bench.ask_skip()  # type: ignore[union-attr]
            QApplication.processEvents()
            yield "Annotate, the bench"


def settle(window: MainWindow, qtbot: QtBot) -> None:
    """Until all is read and told, also by the pages that are not seen, which have their turns."""
    at_rest(qtbot, window.workspace.reader)
    while window._in_turn.isActive() or window._builder.isActive():
        qtbot.waitUntil(lambda: not (window._in_turn.isActive() or window._builder.isActive()))
        at_rest(qtbot, window.workspace.reader)


def dialogs(window: MainWindow) -> dict[str, QDialog]:
    """One of each kind, shown by nobody yet."""
    plan = OverlapPlan(100, 2, 1)
    merge = packet_exchange.Merge("p", "Anna", (), 0, 0, (object(),), (), {})  # type: ignore[arg-type]
    rules = {
        "policy": ("Verdicts", "What follows", VerificationPolicy()),
        "more": ("More", "What else", VerificationPolicy()),
    }
    beginning = "A man waits. He"
    return {
        "new": NewProjectDialog(window),
        "backups": BackupsDialog(window.workspace.project.root, window),
        "again": again_dialog.ask(window.workspace, window),
        "sheet": sheets.keys(window),
        "keys": KeysDialog(KeyMap(), window),
        "work": WorkDialog([], 40, 4, plan, 0.1, 1, window),
        "simulate": SimulateDialog(40, 4, plan, window),
        "merge": MergeDialog("a.swagpacket", merge, window),
        "rules": PolicyDialog(rules, window),
        "name": NameDialog("Your name", "Beside each change", "Ada", window),
        "edit": EditDialog(beginning, "sits.", "leaves.", ["eats."], "", window),
        "replace": ReplaceDialog(beginning, "sits.", "leaves.", window),
        "crash": CrashDialog(Path("crash.log"), window),
        "step": StepDialog(
            Steps(window.workspace.reader, "step", lambda: iter(()), window), "Undo"
        ),
        "about": sheets.about(window),
    }


def packet_of(project: Project, folder: Path) -> Path:
    """A packet with Anna's work."""
    give_out(project)
    path = folder / "Anna.swagpacket"
    path.write_bytes(file_bytes(packet_exchange.export(project.store, 7, ANNA)))
    return path


def packet_window(project: Project, folder: Path, qtbot: QtBot) -> PacketWindow:
    """Anna's packet, at an item about which she is asked why she skips it."""
    window = PacketWindow(PacketAnswers(packet_of(project, folder)))
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.bench.ask_skip()
    QApplication.processEvents()
    return window
