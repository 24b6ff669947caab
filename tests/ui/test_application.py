"""Opening, settings and the end, with fake engines."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import filelock
import pytest
from fakes import FakeEngine, FakeJobs, captions
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFontMetrics, QPalette
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QFileDialog
from pytestqt.qtbot import QtBot

from swag_studio import recipe as recipes
from swag_studio import settings
from swag_studio.project import Project
from swag_studio.settings import Settings
from swag_studio.ui import theme
from swag_studio.ui.application import Application
from swag_studio.ui.main_window import MainWindow
from swag_studio.ui.settings_dialog import SettingsDialog
from swag_studio.ui.start import NewProjectDialog

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project that is closed."""
    Project.create(tmp_path / "mine.swag", recipes.preset("small")).close()
    return tmp_path / "mine.swag"


def opened(application: Application, root: Path) -> MainWindow:
    window = application.open(root)
    assert window is not None
    return window


def problem(application: Application) -> str:
    assert application.start_window is not None and application.windows == []
    assert application.start_window.problem.isVisible()
    return application.start_window.problem.text()


# --- opening ---------------------------------------------------------------------------------


def test_without_a_project_the_start_window_shows(application: Application) -> None:
    application.start([])
    assert application.start_window is not None and application.start_window.isVisible()


def test_a_project_opens_by_its_folder_or_the_file_inside(
    application: Application, root: Path
) -> None:
    application.start([root / "mine.swagproj"])
    assert application.start_window is None
    assert [w.windowTitle() for w in application.windows] == ["mine – SWAG Studio"]
    assert application.open(root) is application.windows[0]
    assert len(application.windows) == 1


def test_a_broken_last_project_never_blocks_the_start(
    qtbot: QtBot, application: Application, root: Path, tmp_path: Path
) -> None:
    (root / "project.db").write_bytes(b"no database" * 100)
    gone = str(tmp_path / "gone" / "away.swag")
    application.change_settings(recent=(str(root), gone, "\0"))
    start = application.show_start()
    items = [start.recent.item(i) for i in range(start.recent.count())]
    assert [bool(i.flags() & Qt.ItemFlag.ItemIsEnabled) for i in items] == [True, False, False]
    start.recent.setCurrentRow(0)
    qtbot.keyClick(start.recent, Qt.Key.Key_Return)
    assert "cannot be opened as a project database" in problem(application)


def damage_recipe(root: Path) -> None:
    (root / "recipe.toml").write_text("[filter]\nreplaces = 2\n", encoding="utf-8")


def damage_recipe_s_bytes(root: Path) -> None:
    (root / "recipe.toml").write_bytes(b"\xff\xfe\x00")


def lose_recipe(root: Path) -> None:
    (root / "recipe.toml").unlink()


def lose_table(root: Path) -> None:
    with sqlite3.connect(root / "project.db") as connection:
        connection.execute("DROP TABLE sources")
    connection.close()


def make_newer(root: Path) -> None:
    with sqlite3.connect(root / "project.db") as connection:
        connection.execute("UPDATE _sqlite_migrations SET name = name || '_of_2031'")
    connection.close()


def remove(root: Path) -> None:
    (root / "mine.swagproj").unlink()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (damage_recipe, "unknown recipe key filter.replaces"),
        (damage_recipe_s_bytes, "recipe.toml"),
        (lose_recipe, "recipe.toml"),
        (lose_table, "cannot be opened (OperationalError). The log folder has the details"),
        (make_newer, "newer version"),
        (remove, "lacks its file mine.swagproj"),
    ],
)
def test_what_is_wrong_with_a_project_is_a_sentence_in_the_start_window(
    application: Application, root: Path, harm: object, said: str
) -> None:
    harm(root)  # type: ignore[operator]
    application.start([root])
    assert said in problem(application)
    with filelock.FileLock(root / "lock", blocking=False):
        pass  # nothing of it is held


def test_a_locked_project_says_who_has_it(application: Application, root: Path) -> None:
    with Project.open(root):
        application.start([root])
        assert "is in use by process" in problem(application)
    assert application.open(root) is not None
    assert application.start_window is None


def test_a_new_project_is_asked_for_and_opened(
    qtbot: QtBot, application: Application, tmp_path: Path
) -> None:
    start = application.show_start()
    qtbot.mouseClick(start.new_button, LEFT)
    dialog = start.findChild(NewProjectDialog)
    create = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert not create.isEnabled()
    dialog.place.setText(str(tmp_path))
    qtbot.keyClicks(dialog.name, "a/b")
    assert not create.isEnabled() and "without slashes" in dialog.note.text()
    dialog.name.clear()
    dialog.name.setText("活動")  # as an input method commits it
    dialog.recipe.setCurrentIndex(dialog.recipe.findData("demo"))
    qtbot.mouseClick(create, LEFT)
    (window,) = application.windows
    assert window.workspace.project.root == tmp_path / "活動.swag"
    assert window.workspace.project.recipe == recipes.preset("demo")


def test_a_name_that_is_taken_is_refused(
    qtbot: QtBot, application: Application, root: Path
) -> None:
    start = application.show_start()
    start.new_requested.emit()
    dialog = start.findChild(NewProjectDialog)
    dialog.place.setText(str(root.parent))
    qtbot.keyClicks(dialog.name, "mine")
    assert dialog.note.text() == f"{root} exists already."
    dialog.close()


@pytest.mark.parametrize(
    ("name", "place", "told"),
    [
        ("a" * 300, ".", "It cannot be made in .: "),
        ("mine", "~nobody-of-this-name/x", "~nobody-of-this-name/x is the folder of nobody here."),
    ],
)
def test_a_place_where_no_project_can_be_is_refused(
    qtbot: QtBot, application: Application, name: str, place: str, told: str
) -> None:
    start = application.show_start()
    start.new_requested.emit()
    dialog = start.findChild(NewProjectDialog)
    dialog.place.setText(place)
    dialog.name.setText(name)
    assert dialog.note.text().startswith(told)
    assert not dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()
    dialog.close()


def test_open_asks_for_a_folder(
    qtbot: QtBot, application: Application, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(root))
    qtbot.mouseClick(application.show_start().open_button, LEFT)
    assert len(application.windows) == 1


def test_recent_projects_are_remembered_in_order(
    application: Application, root: Path, tmp_path: Path
) -> None:
    opened(application, root)
    application.new(tmp_path / "other.swag", "demo")
    stored = settings.load(tmp_path / "profile")
    assert [Path(p).name for p in stored.recent] == ["other.swag", "mine.swag"]


# --- demo ------------------------------------------------------------------------------------


def test_the_demo_imports_runs_everything_and_is_resumed(
    qtbot: QtBot, application: Application, jobs: FakeJobs, tmp_path: Path
) -> None:
    jobs.files["captions.json"] = {"captions": captions(4)}
    qtbot.mouseClick(application.show_start().demo_button, LEFT)
    (window,) = application.windows
    engine = window.workspace.bridge.engine
    assert isinstance(engine, FakeEngine)
    assert window.workspace.project.root == tmp_path / "profile" / "demo.swag"
    engine.work()
    assert jobs.asked == [("captions.json", None, False)] and jobs.ran == ["release"]
    window.workspace.bridge.drain()
    application.open_demo()
    engine.work()
    assert len(jobs.asked) == 1 and jobs.ran == ["release", "release"]
    window.workspace.bridge.drain()


# --- settings --------------------------------------------------------------------------------


def test_settings_act_while_they_are_changed_and_are_kept(
    qtbot: QtBot, qapp: QApplication, application: Application, root: Path, tmp_path: Path
) -> None:
    window = opened(application, root)
    before = qapp.font().pointSizeF()
    window.settings_requested.emit()
    dialog = application.show_settings(window)
    assert window.findChildren(SettingsDialog) == [dialog]  # two would undo each other's changes
    dialog.theme.setCurrentIndex(dialog.theme.findData("dark"))
    qtbot.waitUntil(lambda: window.workspace.theme is theme.DARK)
    assert qapp.palette().color(QPalette.ColorRole.Window).name() == theme.DARK.window
    dialog.text_percent.selectAll()
    qtbot.keyClicks(dialog.text_percent, "150")
    qtbot.keyClick(dialog.text_percent, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: application.settings.text_percent == 150)
    assert qapp.font().pointSizeF() == pytest.approx(before * 1.5)
    assert window.fontMetrics().height() == QFontMetrics(qapp.font()).height()
    dialog.cost.selectAll()
    qtbot.keyClicks(dialog.cost, dialog.cost.locale().toString(2.5))
    qtbot.keyClick(dialog.cost, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: application.settings.cost_per_hour == 2.5)
    stored = settings.load(tmp_path / "profile")
    assert (stored.theme, stored.text_percent, stored.cost_per_hour) == ("dark", 150, 2.5)
    assert stored.recent == (str(root),)
    qtbot.mouseClick(dialog.defaults, LEFT)
    qtbot.waitUntil(lambda: application.settings.theme == "system")
    stored = settings.load(tmp_path / "profile")
    assert (stored.theme, stored.text_percent, stored.cost_per_hour) == ("system", 100, 0.0)
    assert qapp.font().pointSizeF() == pytest.approx(before)
    dialog.close()


def test_the_look_changes_once_while_a_key_is_held_down(qtbot: QtBot) -> None:
    dialog = SettingsDialog(settings.Settings())
    qtbot.addWidget(dialog)
    dialog.show()
    told: list[settings.Settings] = []
    dialog.changed.connect(told.append)
    with qtbot.waitSignal(dialog.changed):
        for _ in range(5):  # each would style every widget of the window anew
            qtbot.keyClick(dialog.text_percent, Qt.Key.Key_Up)
        assert told == []
    assert [changed.text_percent for changed in told] == [150]


def test_what_is_set_and_left_at_once_is_kept(
    qtbot: QtBot, application: Application, root: Path, tmp_path: Path
) -> None:
    dialog = application.show_settings(opened(application, root))
    dialog.text_percent.setValue(120)
    dialog.cost.selectAll()
    qtbot.keyClicks(dialog.cost, "7")  # and no Enter
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    stored = settings.load(tmp_path / "profile")
    assert (stored.text_percent, stored.cost_per_hour) == (120, 7.0)


def test_text_is_readable_on_every_background() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    for look in (theme.LIGHT, theme.DARK):
        for background in (look.window, look.surface, look.field, look.raised):
            for text in (look.text, look.muted, look.good, look.warn, look.bad, look.accent):
                assert contrast(text, background) >= 4.5, (look.name, text, background)
        assert contrast(look.on_accent, look.accent) >= 4.5
        for line in look.series:
            assert contrast(line, look.surface) >= 3.0, (look.name, line)


def test_geometry_is_kept_and_can_be_reset(
    qtbot: QtBot, application: Application, root: Path
) -> None:
    window = opened(application, root)
    window.resize(750, 650)  # the screen has 800 x 800
    window.close()
    window = opened(application, root)
    assert (window.width(), window.height()) == (750, 650)
    window.reset_layout()
    assert (window.width(), window.height()) == (1240, 820)


def test_another_program_s_settings_are_not_lost(application: Application, tmp_path: Path) -> None:
    settings.save(Settings(cost_per_hour=3.0), tmp_path / "profile")
    application.change_settings(theme="light")
    assert settings.load(tmp_path / "profile") == Settings(theme="light", cost_per_hour=3.0)


# --- the end ---------------------------------------------------------------------------------


def test_a_signal_pauses_and_closes_everything(
    qtbot: QtBot, application: Application, jobs: FakeJobs, root: Path
) -> None:
    quits: list[int] = []
    application.over.connect(lambda: quits.append(1))
    before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)}
    application.watch_signals()
    application.start([root])
    try:
        (window,) = application.windows
        jobs.endless = True
        window.workspace.run_until("filter")
        engine = window.workspace.bridge.engine
        assert isinstance(engine, FakeEngine)
        engine.step()
        signal.raise_signal(signal.SIGTERM)
        qtbot.waitUntil(lambda: bool(quits), timeout=30_000)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert application.windows == [] and engine.closed
    assert not (root / "lock.json").exists()
    again = opened(application, root)
    assert "Filtering was paused" in again.job_panel.latest.text()


def test_a_fault_in_the_window_is_told_and_logged(
    qtbot: QtBot, application: Application, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    window = opened(application, root)
    try:
        raise RuntimeError("a bug")
    except RuntimeError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    assert window.job_panel.latest.text() == (
        "✗ A fault in the window (RuntimeError). Your work is safe."
    )
    assert "a bug" in window.job_panel.list.text()
    assert "a bug" in (application.parts.logs / "swag-studio.log").read_text("utf-8")
    assert "a bug" in capsys.readouterr().err


def test_closing_the_last_window_leaves_nothing(application: Application, root: Path) -> None:
    window = opened(application, root)
    engine = window.workspace.bridge.engine
    window.close()
    assert isinstance(engine, FakeEngine) and engine.closed
    assert application.windows == []
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_the_icon_and_the_name_of_the_desktop_entry(application: Application) -> None:
    assert application.app.desktopFileName() == "swag-studio"
    sizes = {size.width() for size in application.app.windowIcon().availableSizes()}
    assert sizes == {16, 24, 32, 48, 64, 128, 256}


def test_it_can_quit_when_all_is_done(
    qtbot: QtBot, application: Application, jobs: FakeJobs
) -> None:
    jobs.files["captions.json"] = {"captions": captions(4)}
    over: list[int] = []
    application.over.connect(lambda: over.append(1))
    application.start([], application.parts.basedir)
    (window,) = application.windows
    application.quit_when_done()
    QApplication.processEvents()
    assert application.windows == [window]
    engine = window.workspace.bridge.engine
    assert isinstance(engine, FakeEngine)
    engine.work()
    window.workspace.bridge.drain()
    qtbot.waitUntil(lambda: bool(over))
    assert application.windows == [] and jobs.ran == ["release"]
