"""Opens every page of a project off screen and saves pictures, light and dark, at 100% and 150%.

    python docs/screenshots/make.py PROJECT.swag [FOLDER] [--page TITLE] [--text PERCENT ...]

The project is opened as a window opens it, so nothing else may hold it. Nothing is changed in it.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QImageWriter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from swag_studio import app as wiring
from swag_studio.judging import Annotator, Label
from swag_studio.project import Project
from swag_studio.ui.annotate_page import AnnotatePage
from swag_studio.ui.application import Application
from swag_studio.ui.desk import Answer
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.release_page import ReleasePage
from swag_studio.ui.store_desk import StoreDesk

SIZES = {100: (1280, 840), 150: (1600, 1000), 200: (1920, 1200)}
SETTLE = 400  # ms that layouts and charts get


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    parser.add_argument("--page", action="append", help="only this page; may be repeated")
    parser.add_argument("--text", type=int, action="append", help="size of text in percent")
    wish = parser.parse_args()
    app = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as profile:
        application = Application(app, wiring.parts(Path(profile)))
        for theme in ("light", "dark"):
            for percent in wish.text or (100, 150):
                application.change_settings(theme=theme, text_percent=percent)
                take(application, wish, theme, percent)
        application.shut_down()


def take(application: Application, wish: argparse.Namespace, theme: str, percent: int) -> None:
    """All pictures of one look."""
    start = application.show_start()
    if not wish.page:
        save(at_rest(start), wish.folder / f"start-{theme}-{percent}.png")
    window = application.open(wish.project)
    if window is None:
        sys.exit(start.problem.text())
    window.resize(*SIZES.get(percent, SIZES[100]))
    window.make_pages()
    for i, step in enumerate(window.step_list):
        if step.page and (not wish.page or step.title in wish.page):
            window.show_page(i)
            settle(window)
            if step.title == ReleasePage.title:
                checking(window)
            name = step.title.lower().replace(" ", "-")
            save(at_rest(window), wish.folder / f"{name}-{theme}-{percent}.png")
            if step.title == AnnotatePage.title:
                judging(window, wish.folder, f"{theme}-{percent}")
    if not wish.page:
        dialogs(application, window, wish.folder, f"{theme}-{percent}")
    window.close()
    QTest.qWait(SETTLE)


def at_rest(window: QWidget) -> QWidget:
    """The window with the focus nowhere: on a step of the bar it looks like the page's mark."""
    window.activateWindow()
    QTest.qWait(SETTLE)
    if (focused := window.focusWidget()) is not None:
        focused.clearFocus()
    return window


def settle(window: MainWindow) -> None:
    """Waits until the page has read what it shows."""
    QTest.qWait(SETTLE)
    while window.workspace.reader.busy:
        QTest.qWait(SETTLE)


def checking(window: MainWindow) -> None:
    """The next release, checked. Where only simulated annotators judged, they count in it."""
    page = window.page(window.stack.currentIndex())
    assert isinstance(page, ReleasePage)
    if page.outlook is None or page.outlook.questions == 0:
        page.form.simulated.click()
        settle(window)
    page.next.check.click()
    for _ in range(150):
        if page.rehearsal is not None:
            break
        QTest.qWait(SETTLE)
    settle(window)


def judging(window: MainWindow, folder: Path, look: str) -> None:
    """An item of which some endings have their labels, and one whose best ending is marked."""
    project = window.workspace.project
    work = {a.id: len(project.store.allocations(a.id)) for a in project.store.annotators()}
    if not any(work.values()):
        print("Nobody has judged in this project: there is nothing to show of it.")
        return
    page = window.page(window.stack.currentIndex())
    assert isinstance(page, AnnotatePage)
    for step in ("labels", "ranks"):
        page.seat_at(Retold(project, max(work, key=work.__getitem__), step))
        assert page.bench is not None
        page.bench.saved.draft()
        page.bench.card.go(3)
        window.activateWindow()
        save(window, folder / f"annotate-{step}-{look}.png")
    page.unseat()


class Retold(StoreDesk):
    """What somebody judged, as it was half-way through: the rest is open again.

    Of each open item a part of the answer is given: three labels, or all of them and the best
    ending. Nothing is kept.
    """

    def __init__(self, project: Project, annotator: str, step: str) -> None:
        self.step = step
        super().__init__(project, Annotator(annotator, "Ada Lovelace"))

    def reload(self) -> None:
        super().reload()
        half = len(self._queue) // 2
        for key in self._queue[half:]:
            self._states[key] = "open"
            self._when.pop(key, None)
            self._seconds.pop(key, None)

    def draft(self, key: str) -> Answer | None:
        given = self.given(key)
        if given is None:
            return None
        labels = self._sensible(key, given)
        if self.step == "ranks":
            return dataclasses.replace(given, labels=labels, second=None)
        return Answer((*labels[:3], *[None] * (len(labels) - 3)))

    def _sensible(self, key: str, given: Answer) -> tuple[Label, ...]:
        """Labels as a person might give: simulated annotators draw theirs."""
        item = self._item(key)
        assert item is not None
        others = [place for place in range(len(item.endings)) if place != given.best]
        shortest = min(others, key=lambda place: len(item.endings[place]))
        labels: list[Label] = ["gibberish"] * len(item.endings)
        labels[shortest] = "unlikely"
        if given.best is not None:
            labels[given.best] = "likely"
        return tuple(labels)

    def keep_draft(self, key: str, answer: Answer | None) -> None:
        """Nowhere."""


def dialogs(application: Application, window: MainWindow, folder: Path, look: str) -> None:
    """Settings and the sheet of keys."""
    settings = application.show_settings(window)
    save(settings, folder / f"settings-{look}.png")
    settings.close()


def fewer_colours(image: QImage) -> QImage:
    """The image in its 256 most frequent colours: enough for a window, in a third of the bytes."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    colours, counts = np.unique(np.frombuffer(image.constBits(), np.uint32), return_counts=True)
    table = [int(c) for c in colours[np.argsort(-counts, kind="stable")][:256]]
    flags = Qt.ImageConversionFlag.ThresholdDither | Qt.ImageConversionFlag.AvoidDither
    return image.convertToFormat(QImage.Format.Format_Indexed8, table, flags)


def save(widget: QWidget, path: Path) -> None:
    QTest.qWait(SETTLE)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = QImageWriter(str(path))
    writer.setCompression(100)
    if not writer.write(fewer_colours(widget.grab().toImage())):
        sys.exit(f"{path} could not be written: {writer.errorString()}.")
    print(path)


if __name__ == "__main__":
    main()
