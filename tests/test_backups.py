"""Backups: what is kept, what never counts as one, and what a restore leaves."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio import backups, cli
from swag_studio import recipe as recipes
from swag_studio.backups import Backup
from swag_studio.connections import in_short
from swag_studio.errors import ProjectError
from swag_studio.project import Project
from swag_studio.records import Caption, SourceInfo
from swag_studio.store import Store

NOON = datetime(2020, 11, 29, 12, 0, 0)
DAY = timedelta(days=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A closed project with one source."""
    with Project.create(tmp_path / "p.swag", recipes.preset("demo")) as project:
        add_source(project, "s1")
    return tmp_path / "p.swag"


def add_source(project: Project, name: str) -> None:
    info = SourceInfo(name, f"{name}.csv", "csv", name, 1, 300, 300, 0)
    project.store.stage_source(info)
    rows = [Caption(f"d{i}", "g", "v", 0, f"{name} {i} " * 20) for i in range(300)]
    project.store.add_captions(name, rows)
    project.store.publish_source(info)


def sources(root: Path) -> list[str]:
    with Project.open(root) as project:
        assert project.check() == []
        return [source.id for source in project.store.sources()]


def work(root: Path, name: str) -> None:
    with Project.open(root) as project:
        add_source(project, name)


def changed_at(root: Path, when: datetime) -> None:
    os.utime(root / "project.db", (when.timestamp(), when.timestamp()))


# --- rotation ----------------------------------------------------------------------------------


def at(moment: datetime) -> Backup:
    return Backup(Path(f"project-{moment:%Y%m%d-%H%M%S}.db"), "project", moment, 1)


def kept(moments: set[datetime]) -> set[datetime]:
    backups_made = {at(moment) for moment in moments}
    return {b.made for b in backups_made - set(backups.surplus(backups_made))}


MOMENTS = st.datetimes(datetime(2026, 11, 1), datetime(2027, 1, 31)).map(
    lambda moment: moment.replace(microsecond=0)
)


@given(st.sets(MOMENTS, max_size=60))
def test_the_newest_of_seven_days_and_of_four_weeks_is_kept(moments: set[datetime]) -> None:
    def monday(moment: datetime) -> date:
        return moment.date() - timedelta(days=moment.weekday())

    days = sorted({m.date() for m in moments})[-7:]
    weeks = sorted({monday(m) for m in moments})[-4:]
    daily = {max(m for m in moments if m.date() == day) for day in days}
    weekly = {max(m for m in moments if monday(m) == week) for week in weeks}
    assert kept(moments) == daily | weekly


@given(st.sets(MOMENTS, max_size=60))
def test_pruning_after_each_backup_keeps_what_pruning_at_the_end_does(
    moments: set[datetime],
) -> None:
    there: set[datetime] = set()
    for moment in sorted(moments):
        there = kept(there | {moment})
        assert moment in there and len(there) <= 11
    assert there == kept(moments)


def test_a_backup_is_due_after_a_day_and_a_change(root: Path) -> None:
    first = backups.keep(root, now=NOON)
    assert first is not None and first.made == NOON
    changed_at(root, NOON + DAY / 2)
    assert backups.keep(root, now=NOON + DAY / 2) is None
    assert backups.keep(root, backups.HOURLY, NOON + DAY / 2) is not None
    assert backups.keep(root, now=NOON + 9 * DAY) is None  # nothing changed
    changed_at(root, NOON + 9 * DAY)
    assert backups.keep(root, now=NOON + 9 * DAY) is not None


def test_a_year_of_work_keeps_eleven_at_most(root: Path) -> None:
    for day in range(0, 60):
        changed_at(root, NOON + day * DAY)
        assert backups.keep(root, now=NOON + day * DAY) is not None
    made = [b.made for b in backups.found(root)]
    assert [m for m in made if m > NOON + 52 * DAY] == [NOON + i * DAY for i in range(59, 52, -1)]
    assert len(made) <= 11 and made[-1] < NOON + 45 * DAY


def test_a_backup_from_the_future_stops_nothing(root: Path) -> None:
    """A clock that was wrong once: its backups neither count nor go."""
    future = [backups.make(root, NOON + i * 400 * DAY).name for i in range(1, 9)]
    changed_at(root, NOON - DAY)
    made = backups.keep(root, now=NOON)
    assert made is not None
    assert {b.name for b in backups.found(root)} == {*future, made.name}


def test_other_files_are_no_backups(root: Path) -> None:
    folder = root / "backups"
    for name in ("notes.txt", "project-20261399-000000.db", "project-2026.db", ".project.tmp"):
        (folder / name).write_bytes(b"x")
    (folder / "project-20260101-000000.db").mkdir()
    assert backups.found(root) == []
    assert backups.found(root / "nowhere") == []


# --- making ------------------------------------------------------------------------------------


def test_a_backup_is_whole_beside_an_open_transaction(root: Path) -> None:
    with Project.open(root) as project:
        with project.store.write() as connection:
            connection.execute("DELETE FROM captions")
            made = backups.make(root)
        assert not project.store.db.execute("SELECT count(*) FROM captions").fetchone()[0]
    backups.restore(root, made.name)
    with Project.open(root) as project:
        assert project.store.db.execute("SELECT count(*) FROM captions").fetchone()[0] == 300


def test_a_backup_holds_what_is_only_in_the_log_yet(root: Path) -> None:
    with Project.open(root) as project:
        add_source(project, "s2")
        assert (root / "project.db-wal").stat().st_size
        made = backups.make(root)
    work(root, "s3")
    backups.restore(root, made.name)
    assert sources(root) == ["s1", "s2"]


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def cut_within_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def spoil(path: Path) -> None:
    """Overwrites a third of the pages, but not the first, which says that it is a database."""
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 3 * 4096):
        data[start : start + 4096] = b"\xa5" * 4096
    path.write_bytes(data)


def fill_with_junk(path: Path) -> None:
    path.write_bytes(b"no database " * 1000)


def lose(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


Harm = Callable[[Path], None]
DAMAGES = [cut, cut_within_a_page, spoil, fill_with_junk]


@pytest.mark.parametrize("harm", DAMAGES)
def test_a_damaged_database_pushes_no_backup_out(root: Path, harm: Harm) -> None:
    good = backups.make(root, NOON)
    harm(root / "project.db")
    changed_at(root, NOON + DAY)
    with pytest.raises(ProjectError, match="is damaged"):
        backups.keep(root, now=NOON + 2 * DAY)
    assert backups.found(root) == [good]
    assert [p.name for p in (root / "backups").iterdir()] == [good.name]


def test_what_a_kill_left_is_swept(root: Path) -> None:
    left = root / "backups" / ".project-20261129-120000.db.1.tmp"
    left.write_bytes(b"half")
    long_ago = time.time() - 2 * backups.LEFT.total_seconds()
    os.utime(left, (long_ago, long_ago))
    made = backups.make(root)
    assert list((root / "backups").iterdir()) == [made.path]


def test_two_at_once_leave_each_others_copy_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the window's hourly one, and `backups --make` beside it, between copying and checking."""
    look, others = backups.problems, list[Backup]()

    def looked(path: Path) -> list[str]:
        monkeypatch.setattr(backups, "problems", look)
        monkeypatch.setattr(os, "getpid", lambda: 1)  # another process
        others.append(backups.make(root, NOON + DAY))
        monkeypatch.undo()
        return look(path)

    monkeypatch.setattr(backups, "problems", looked)
    made = backups.make(root, NOON)
    assert backups.found(root) == [*others, made] and len(others) == 1
    assert [backups.problems(b.path) for b in (*others, made)] == [[], []]


# --- putting back ------------------------------------------------------------------------------


@pytest.mark.parametrize("harm", [*DAMAGES, lose, empty])
def test_a_restore_mends_and_keeps_what_was_there(root: Path, harm: Harm) -> None:
    made = backups.make(root)
    work(root, "s2")
    harm(root / "project.db")
    broken = (root / "project.db").read_bytes() if (root / "project.db").exists() else None
    restored = backups.restore(root, made.name)
    assert sources(root) == ["s1"]
    if broken is None:
        assert restored.replaced is None
    else:
        assert restored.replaced is not None and restored.replaced.read_bytes() == broken
    assert not (root / "lock.json").exists()


def test_a_restore_can_be_taken_back(root: Path) -> None:
    made = backups.make(root)
    work(root, "s2")
    restored = backups.restore(root, made.name)
    assert restored.replaced is not None and sources(root) == ["s1"]
    again = backups.restore(root, restored.replaced.name)
    assert sources(root) == ["s1", "s2"]
    assert again.replaced != restored.replaced and restored.replaced.exists()


def test_the_old_log_is_not_played_into_the_backup(root: Path) -> None:
    made = backups.make(root)
    leave = "import os, sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path; "
    leave += "from test_backups import *; p = Project.open(Path(sys.argv[1])); "
    leave += "add_source(p, 's2'); os._exit(0)"
    subprocess.run([sys.executable, "-c", leave, root, Path(__file__).parent], check=True)
    assert (root / "project.db-wal").stat().st_size
    restored = backups.restore(root, made.name)
    assert sources(root) == ["s1"]
    assert restored.replaced is not None
    backups.restore(root, restored.replaced.name)  # with the log that belongs to it
    assert sources(root) == ["s1", "s2"]


def test_a_log_without_its_database_is_moved_too(root: Path) -> None:
    """As a restore leaves it that was killed between its two moves."""
    made = backups.make(root)
    (root / "project.db").unlink()
    (root / "project.db-wal").write_bytes(b"frames")
    assert backups.restore(root, made.name).replaced is None
    assert not (root / "project.db-wal").exists()
    assert [p.read_bytes() for p in (root / "backups").glob("*-wal")] == [b"frames"]
    assert sources(root) == ["s1"]


def newer_as_it_is(backup: Backup) -> Backup:
    """With the size that it has after a harm."""
    return replace(backup, size=backup.path.stat().st_size)


@pytest.mark.parametrize("harm", [*DAMAGES, empty])
def test_a_damaged_backup_is_refused_and_nothing_changes(root: Path, harm: Harm) -> None:
    older, newer = backups.make(root, NOON), backups.make(root, NOON + DAY)
    harm(newer.path)
    work(root, "s2")
    with pytest.raises(ProjectError, match="Nothing was changed"):
        backups.restore(root, newer.name)
    assert sources(root) == ["s1", "s2"]
    assert not list(root.glob(".*"))
    assert backups.newest_whole(root) == backups.Newest(older, (newer_as_it_is(newer),))
    assert backups.newest_whole(root).skipped() == f"Newer, but damaged: {newer.name}."


def test_some_other_database_is_no_backup(root: Path) -> None:
    path = root / "backups" / "project-20260101-000000.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(ProjectError, match="no project's tables"):
        backups.restore(root, path.name)
    newest = backups.newest_whole(root)
    assert newest.backup is None
    assert newest.skipped() == f"No copy is whole. Damaged: {path.name}."


def test_a_backup_of_a_newer_program_is_refused(root: Path) -> None:
    made = backups.make(root)
    with sqlite3.connect(made.path) as connection:
        connection.execute("UPDATE _sqlite_migrations SET name = name || '_of_2031'")
    connection.close()
    with pytest.raises(ProjectError, match="newer version"):
        backups.restore(root, made.name)
    assert sources(root) == ["s1"]


def test_an_open_project_is_not_restored(root: Path) -> None:
    with Project.open(root):
        made = backups.make(root)
        with pytest.raises(ProjectError, match="is in use"):
            backups.restore(root, made.name)
        assert (root / "lock.json").exists()


@pytest.mark.parametrize("name", ["", "none.db", "../project.db", "/etc/passwd"])
def test_only_backups_are_restored(root: Path, name: str) -> None:
    with pytest.raises(ProjectError, match="has no backup"):
        backups.restore(root, name)


def test_folders_that_the_backup_does_not_know_are_named(root: Path) -> None:
    made = backups.make(root)
    with Project.open(root) as project:
        project.begin("prepare", project.recipe)
    assert backups.restore(root, made.name).unknown == ("prepared/v1",)


# --- the command -------------------------------------------------------------------------------


def test_commands_that_write_back_up_and_those_that_look_do_not(root: Path) -> None:
    assert cli.main(["status", str(root)]) == 0
    assert backups.found(root) == []
    assert cli.main(["recipe", str(root), "filter.replace=1"]) == 0
    (made,) = backups.found(root)
    assert backups.problems(made.path) == []


def test_that_no_backup_is_possible_stops_no_command(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "backups").rmdir()
    (root / "backups").write_text("a file")
    assert cli.main(["recipe", str(root), "filter.replace=1"]) == 0
    assert capsys.readouterr().err


def test_backups_are_listed_made_and_restored(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["backups", str(root)]
    assert cli.main(command) == 0
    assert "There are no backups yet" in capsys.readouterr().out
    assert cli.main([*command, "--make"]) == 0
    (made,) = backups.found(root)
    assert made.name in capsys.readouterr().out
    work(root, "s2")
    (root / "project.db").unlink()
    assert cli.main(["status", str(root)]) == 1
    assert f"swag-studio backups {root}" in capsys.readouterr().err
    assert cli.main([*command, "--restore", "newest"]) == 0
    assert sources(root) == ["s1"]
    assert cli.main([*command, "--restore", "gone.db"]) == 1
    assert "has no backup gone.db" in capsys.readouterr().err
    assert cli.main([*command, "--make", "--restore", "newest"]) == 1
    assert cli.main(["backups", str(root.parent / "none.swag")]) == 1


def test_a_skipped_copy_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backups.make(root, NOON)
    newer = backups.make(root, NOON + DAY)
    fill_with_junk(newer.path)
    assert cli.main(["backups", str(root), "--restore", "newest"]) == 0
    out = capsys.readouterr().out
    assert f"Newer, but damaged: {newer.name}." in out and f"{NOON:%d %B %Y}" in out


def test_where_no_copy_is_whole_they_are_named(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["backups", str(root), "--restore", "newest"]) == 1
    assert "has no backup to restore. None was made yet." in capsys.readouterr().err
    made = backups.make(root, NOON)
    fill_with_junk(made.path)
    assert cli.main(["backups", str(root), "--restore", "newest"]) == 1
    assert f"No copy is whole. Damaged: {made.name}." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--make"], [], ["--restore", "newest"]])
def test_a_folder_that_is_no_project_gets_no_backups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    folder = tmp_path / "holiday"
    folder.mkdir()
    assert cli.main(["backups", str(folder), *words]) == 1
    assert "is not a project" in capsys.readouterr().err
    assert list(folder.iterdir()) == []
    with pytest.raises(ProjectError, match="is not a project"):
        backups.make(folder)
    assert list(folder.iterdir()) == []


def test_a_file_where_backups_go_is_one_sentence(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "backups").rmdir()
    (root / "backups").write_text("a file")
    assert cli.main(["backups", str(root), "--make"]) == 1
    assert capsys.readouterr().err == (
        f"swag-studio: {root / 'backups'} is a file, and backups need a folder there. Move it "
        "away and try again.\n"
    )


@pytest.mark.parametrize("harm", [fill_with_junk, lose, empty])
def test_what_cannot_be_opened_says_how_to_go_back(
    root: Path, capsys: pytest.CaptureFixture[str], harm: Harm
) -> None:
    harm(root / "project.db")
    for command in ("status", "check", "run"):
        assert cli.main([command, str(root)]) == 1
        assert f"swag-studio backups {root} --restore newest" in capsys.readouterr().err


def test_a_database_that_a_check_finds_damaged_says_so_too(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "problems", lambda self: ["project.db: row 3 is torn"])
    assert cli.main(["check", str(root)]) == 1
    out = capsys.readouterr().out
    assert "project.db: row 3 is torn" in out
    assert f"swag-studio backups {root} --restore newest" in out


# --- a disk that does not play along -----------------------------------------------------------


class Filling(sqlite3.Connection):
    """A connection whose copy meets a full disk: SQLite's own error, by a limit on pages."""

    def backup(self, target: sqlite3.Connection, **_: object) -> None:  # type: ignore[override]
        target.execute("PRAGMA max_page_count = 1")
        target.execute("CREATE TABLE filling (text)")
        target.execute("INSERT INTO filling VALUES (zeroblob(100000))")


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        backups,
        "_connect",
        lambda path, how: sqlite3.connect(
            f"{path.absolute().as_uri()}?{how}", uri=True, factory=Filling
        ),
    )


@pytest.mark.usefixtures("full")
def test_a_full_disk_is_no_damage(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else a person would be told to put an old copy in the place of what they have."""
    assert cli.main(["backups", str(root), "--make"]) == 1
    told = capsys.readouterr().err
    assert "full" in told and "No backup was made" in told
    assert "damaged" not in told and "--restore" not in told
    assert list((root / "backups").iterdir()) == []


def test_a_restore_onto_a_full_disk_changes_nothing(
    root: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    made, before = backups.make(root), (root / "project.db").read_bytes()
    request.getfixturevalue("full")
    assert cli.main(["backups", str(root), "--restore", made.name]) == 1
    told = capsys.readouterr().err
    assert "The disk is full." in told and "damaged" not in told
    assert (root / "project.db").read_bytes() == before
    assert list((root / "backups").iterdir()) == [made.path]


def test_the_newest_is_not_one_from_a_future_that_a_wrong_clock_saw(root: Path) -> None:
    future, past, journey = (NOON + step for step in (1000 * DAY, -DAY, DAY / 2))
    for moment in (future, past):
        backups.make(root, moment)
    assert (found := backups.newest_whole(root, NOON).backup) and found.made == past
    backups.make(root, journey)
    assert (found := backups.newest_whole(root, NOON).backup) and found.made == journey
    early = backups.newest_whole(root, past - 9 * DAY).backup  # the clock was set back instead
    assert early and early.made == future


def test_of_many_faults_the_first_is_told() -> None:
    rows = [
        "*** in database main ***\nOn tree page 2 cell 7: torn\nPage 3: never used",
        "row 1 lost",
    ]
    assert in_short(rows) == "On tree page 2 cell 7: torn, and 2 more"
    assert in_short(rows[1:]) == "row 1 lost"
    assert "\n" not in in_short(["*** in database main ***\n"])


def test_text_that_is_none_any_more_is_told_as_damage_without_it(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(root / "project.db") as connection:
        connection.execute("UPDATE sources SET file = CAST(x'736563726574ff' AS TEXT)")
    assert cli.main(["status", str(root)]) == 1
    told = capsys.readouterr()
    assert "database is damaged" in told.err and "secret" not in told.err + told.out
