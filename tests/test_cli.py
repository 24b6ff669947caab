"""The command line: what it prints, its exit codes, its JSON, and how it stops. Fake stages."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from swag_studio import __version__, app, cli
from swag_studio.cli import figures
from swag_studio.cli.terminal import TerminalReporter
from swag_studio.engine import pipeline
from swag_studio.errors import StageError
from swag_studio.events import Event, Finished, Message, Metric, Progress
from swag_studio.project import Project
from swag_studio.recipe import STAGES, Recipe, preset
from swag_studio.records import STATE_WORDS

CAPTIONS = {
    "v_a": {"duration": 9.0, "timestamps": [[0, 3], [3, 6]], "sentences": ["He sits.", "He runs."]},
    "v_b": {"duration": 9.0, "timestamps": [[0, 3]], "sentences": ["She sings."]},
}


def fake(name: str) -> Callable[[Recipe, Project], Iterator[Event]]:
    """A stage that writes one small file into its folder."""

    def run(recipe: Recipe, project: Project) -> Iterator[Event]:
        artifact = project.begin(name, recipe)
        yield Progress(name, 1, 2, "things")
        yield Metric(name, "loss", 0, float("nan"))
        yield Message(name, f"{name} has something to say.", "warning", "in two\nlines")
        (project.folder(artifact) / "file.txt").write_text("x", encoding="utf-8")
        project.finish(artifact, {"contexts": 2})
        yield Finished(name, {"contexts": 2})

    return run


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own, with fake stages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pipeline, "RUNNERS", {name: fake(name) for name in STAGES})
    monkeypatch.setattr(pipeline, "_use_threads", lambda count: None)  # spares torch
    (tmp_path / "captions.json").write_text(json.dumps(CAPTIONS), encoding="utf-8")
    return tmp_path


@pytest.fixture
def made(here: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A project with captions in it."""
    assert cli.main(["new", "p.swag", "--recipe", "demo"]) == 0
    assert cli.main(["import", "p.swag", "captions.json"]) == 0
    capsys.readouterr()
    return here / "p.swag"


def json_lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    out, err = capsys.readouterr()
    assert err == ""
    return [json.loads(line) for line in out.splitlines()]


# --- the way from captions to files --------------------------------------------------------------


def test_each_step_says_what_to_do_next(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new", "p.swag"]) == 0
    assert "Next: swag-studio import p.swag FILE" in capsys.readouterr().out
    assert cli.main(["status", "p.swag"]) == 0
    assert "Next: swag-studio import p.swag FILE" in capsys.readouterr().out
    assert cli.main(["import", "p.swag", "captions.json"]) == 0
    assert "Next: swag-studio run p.swag" in capsys.readouterr().out
    assert cli.main(["run", "p.swag", "--until", "generate"]) == 0
    out = capsys.readouterr().out
    assert "Candidates done: 2 contexts" in out and "Next: swag-studio run p.swag" in out
    assert "generate has something to say.\n  in two\n  lines" in out
    assert cli.main(["run", "p.swag"]) == 0
    assert "Next" not in capsys.readouterr().out
    assert cli.main(["release", "p.swag"]) == 0
    assert str(Path("p.swag/releases/v1/file.txt")) in capsys.readouterr().out


def test_a_dry_run_shows_and_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new", "p.swag"]) == 0
    assert cli.main(["import", "p.swag", "captions.json", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "2 documents, 3 captions, 1 adjacent pairs" in out and "He sits." in out
    with Project.open(here / "p.swag", readonly=True) as project:
        assert project.store.sources() == []


def test_release_copies_its_files(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["release", "p.swag", "--out", "out"]) == 0
    assert Path("out/file.txt").read_text(encoding="utf-8") == "x"
    assert cli.main(["release", "p.swag", "--out", "out"]) == 1
    assert "out is not empty" in capsys.readouterr().err


def test_the_demo_goes_on_where_it_stopped(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "sub", "--headless"]) == 0
    assert "Candidates done" in capsys.readouterr().out
    with Project.open(here / "sub/demo.swag", readonly=True) as project:
        assert project.store.sources()[0].documents > 700
    assert cli.main(["demo", "sub", "--json"]) == 0
    *events, summary = json_lines(capsys)
    assert [e["text"] for e in events] == [
        f"{stage} is done already ({folder})."
        for stage, folder in zip(
            STAGES, ["prepared/v1", "models/v1", "pool/v1", "filter/v1", "releases/v1"], strict=True
        )
    ]
    assert summary["project"] == str(Path("sub/demo.swag"))


# --- the recipe ------------------------------------------------------------------------------


def test_a_recipe_change_tells_what_is_stale(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "p.swag"]) == 0
    assert cli.main(["recipe", "p.swag", "filter.replace=1", "--json"]) == 0
    summary = json_lines_last(capsys)
    assert summary["changed"] == {"filter.replace": [1, preset("demo").filter.replace]}
    assert summary["stale"] == ["filter", "release"]
    assert cli.main(["status", "p.swag", "--json"]) == 0
    stages = json_lines_last(capsys)["stages"]
    assert [s["state"] for s in stages.values()] == ["done"] * 3 + ["stale"] * 2
    assert cli.main(["recipe", "p.swag"]) == 0
    assert "replace = 1\n" in capsys.readouterr().out


def json_lines_last(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    last: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return last


def test_a_wrong_value_changes_nothing(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (made / "recipe.toml").read_bytes()
    for word, said in [
        ("filter.replase=1", "filter.replace"),
        ("filter.replace=0", "from 1 to 100"),
        ("filter.replace", "KEY=VALUE"),
    ]:
        assert cli.main(["recipe", "p.swag", "run.seed=7", word]) == 1
        assert said in capsys.readouterr().err
    assert (made / "recipe.toml").read_bytes() == before


# --- JSON ------------------------------------------------------------------------------------


def test_json_is_one_object_a_line_with_the_summary_last(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "p.swag", "--until", "prepare", "--json"]) == 0
    lines = json_lines(capsys)
    assert [line["type"] for line in lines] == [
        "progress", "metric", "message", "finished", "summary",
    ]  # fmt: skip
    assert lines[0] == {
        "type": "progress", "stage": "prepare", "done": 1, "total": 2, "unit": "things", "note": "",
    }  # fmt: skip
    assert lines[1]["value"] is None  # JSON has no NaN
    assert lines[-1]["stages"]["prepare"]["state"] == "done"


@pytest.mark.parametrize(
    "words",
    [
        ["new", "q.swag"],
        ["import", "p.swag", "captions.json"],
        ["import", "p.swag", "captions.json", "--dry-run"],
        ["recipe", "p.swag"],
        ["run", "p.swag"],
        ["release", "p.swag"],
        ["status", "p.swag"],
        ["check", "p.swag"],
        ["demo"],
    ],
)
def test_every_command_sums_up_in_json(
    made: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert cli.main([*words, "--json"]) == 0
    lines = json_lines(capsys)
    assert lines[-1]["type"] == "summary"
    assert [line["type"] for line in lines].count("summary") == 1
    assert lines[-1]["command"] == words[0]


@pytest.mark.parametrize(
    ("words", "kind", "code"),
    [
        (["run", "none.swag"], "user", 1),
        (["run", "p.swag", "--until", "nowhere"], "user", 1),
        (["run"], "usage", 2),
        (["fly"], "usage", 2),
    ],
)
def test_an_error_in_json(
    made: Path, capsys: pytest.CaptureFixture[str], words: list[str], kind: str, code: int
) -> None:
    assert cli.main([*words, "--json"]) == code
    (line,) = json_lines(capsys)
    assert line["type"] == "error" and line["kind"] == kind and line["text"]


# --- errors and exit codes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "none.swag"], "none.swag is not a project"),
        (["new", "name"], "*.swag"),
        (["new", "q.swag", "--recipe", "huge"], "neither a preset"),
        (["import", "p.swag", "none.json"], "none.json"),
        (["import", "p.swag", "captions.json", "--source", "vcr"], "unknown source vcr"),
    ],
)
def test_a_users_error_is_one_line_without_traceback(
    made: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert cli.main(words) == 1
    out, err = capsys.readouterr()
    assert err.startswith("swag-studio: ") and err.count("\n") == 1 and said in err
    assert out == ""


@pytest.mark.parametrize(
    "words", [["run"], ["run", "p.swag", "--fast"], ["fly"], ["status", "--until"]]
)
def test_wrong_usage_is_2(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert cli.main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and "--help" in err


def test_a_stages_error_is_a_users_error(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(recipe: Recipe, project: Project) -> Iterator[Event]:
        project.begin("prepare", recipe)
        yield Progress("prepare", 0, 1)
        raise StageError("no context is left.")

    monkeypatch.setattr(pipeline, "RUNNERS", {"prepare": fails})
    assert cli.main(["run", "p.swag"]) == 1
    assert capsys.readouterr().err == "swag-studio: no context is left.\n"


def test_a_full_disk_is_one_line(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fills(recipe: Recipe, project: Project) -> Iterator[Event]:
        yield Progress("prepare", 0, 1)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pipeline, "RUNNERS", {"prepare": fills})
    assert cli.main(["run", "p.swag"]) == 1
    assert "The disk is full." in capsys.readouterr().err


def test_a_fault_keeps_its_traceback(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(recipe: Recipe, project: Project) -> Iterator[Event]:
        raise ZeroDivisionError
        yield

    monkeypatch.setattr(pipeline, "RUNNERS", {"prepare": breaks})
    with pytest.raises(ZeroDivisionError):
        cli.main(["run", "p.swag"])
    with Project.open(made):  # the lock was given back
        pass


def test_a_locked_project_can_be_looked_at_but_not_run(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Project.open(made):
        assert cli.main(["status", "p.swag"]) == 0
        assert cli.main(["run", "p.swag"]) == 1
        assert "is in use" in capsys.readouterr().err


def test_check_tells_what_is_damaged(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "p.swag"]) == 0
    assert "p.swag: the database is whole." in capsys.readouterr().out
    assert cli.main(["run", "p.swag", "--until", "prepare"]) == 0
    folder = made / "prepared/v1"
    folder.rename(made / "elsewhere")
    capsys.readouterr()
    assert cli.main(["check", "p.swag"]) == 1
    assert capsys.readouterr().out == (
        "prepared/v1: missing\nHave it made anew: swag-studio check p.swag --mend\n"
    )


def test_what_is_lost_is_told_by_every_command_till_it_is_made_anew(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "p.swag"]) == 0
    shutil.rmtree(made / "releases/v1")
    capsys.readouterr()
    remedy = "swag-studio check p.swag --mend"
    assert cli.main(["status", "p.swag"]) == 0
    out = capsys.readouterr().out
    assert "releases/v1 is missing, though it was made" in out and remedy in out
    for command in ("run", "release"):
        assert cli.main([command, "p.swag"]) == 1
        assert remedy in capsys.readouterr().err
    assert cli.main(["status", "p.swag", "--json"]) == 0
    assert json_lines_last(capsys)["stages"]["release"]["lost"]
    cli.main(["check", "p.swag", "--mend"])
    out = capsys.readouterr().out
    assert "releases/v1 is made anew at the next run.\nNext: swag-studio run p.swag\n" in out
    assert cli.main(["status", "p.swag"]) == 0
    assert "interrupted" in capsys.readouterr().out
    assert cli.main(["release", "p.swag"]) == 0
    assert "releases/v1/file.txt" in capsys.readouterr().out


def test_status_has_the_words_of_the_window(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "p.swag", "--until", "prepare"]) == 0
    assert cli.main(["recipe", "p.swag", "prepare.folds=3"]) == 0
    with Project.open(made) as project:
        project.begin("train_lm", project.recipe)
    capsys.readouterr()
    assert cli.main(["status", "p.swag"]) == 0
    out = capsys.readouterr().out
    assert "Out of date, for" in out
    for state, word in STATE_WORDS.items():
        if state != "running":
            assert word in out and (word == state or state not in out)


@pytest.mark.parametrize(
    ("file", "instead"),
    [("mine.swag", "status"), ("a/mine.swagproj", "status"), ("a.swagpacket", "packets check")],
)
def test_a_window_that_cannot_be_shown_names_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: str, instead: str
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert app.main([file]) == 1
    assert capsys.readouterr().err == (
        f"swag-studio: {file} opens in a window, and there is no display here. In a terminal: "
        f"swag-studio {instead} {file}; all commands: swag-studio --help\n"
    )


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"SWAG Studio {__version__}\n"
    assert cli.main(["--help"]) == 0
    helped = capsys.readouterr().out
    assert "demo" in helped
    assert cli.main([]) == 0
    assert capsys.readouterr().out == helped


def test_help_loads_neither_torch_nor_spacy_nor_numpy() -> None:
    code = (
        "import sys; from swag_studio.app import main; main(['--help']);"
        "print([m for m in ('torch', 'spacy', 'numpy', 'PySide6') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(sys.platform == "win32", reason="a crash is no signal there")
def test_a_crash_says_on_the_terminal_where_it_happened() -> None:
    code = "import faulthandler; from swag_studio.app import main; main(['--version']);"
    command = [sys.executable, "-c", code + "faulthandler._sigsegv()"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == -signal.SIGSEGV
    assert "Segmentation fault" in done.stderr and 'File "<string>", line 1' in done.stderr


# --- stopping --------------------------------------------------------------------------------

SLOW = """
import sys, time
from swag_studio import cli
from swag_studio.engine import pipeline
from swag_studio.events import Progress

def slow(recipe, project):
    artifact = project.begin("prepare", recipe)
    try:
        for step in range(10_000):
            yield Progress("prepare", step, 10_000)
            time.sleep(0.01)
    except GeneratorExit:
        (project.root / "closed").touch()
        raise

pipeline.RUNNERS = {"prepare": slow}
pipeline._use_threads = lambda count: None
sys.exit(cli.main(sys.argv[1:]))
"""


def test_ctrl_c_between_events_is_130(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(project: Project) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Project, "checking", interrupt)
    assert cli.main(["check", "p.swag", "--json"]) == 130
    assert json_lines(capsys)[-1]["kind"] == "interrupted"


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_pauses_cleanly(made: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "run", "p.swag", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["type"] == "progress"
    process.send_signal(number)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    summary = json.loads(out.splitlines()[-1])
    assert summary["type"] == "summary" and summary["interrupted"] is True
    assert summary["go_on"] == "swag-studio run p.swag"
    assert err == "" and (made / "closed").exists()
    with Project.open(made) as project:  # the lock was given back
        assert project.states()[0].state == "unfinished"


# --- the words -------------------------------------------------------------------------------


def test_metric_lines() -> None:
    epoch = [
        Metric("train_lm", "perplexity", 2, 81.26, {"fold": "1", "direction": "forward"}),
        Metric("train_lm", "perplexity", 2, 79.9, {"fold": "1", "direction": "backward"}),
    ]
    assert figures.metric_lines(epoch) == [
        "fold 1, epoch 3: perplexity forward 81.3, backward 79.9"
    ]
    iteration = [
        Metric("filter", "accuracy_4way", 0, 0.5, {"arm": "main", "member": "mlp"}),
        Metric("filter", "accuracy_4way", 0, 0.9, {"arm": "control", "member": "mlp"}),
        Metric("filter", "accuracy_4way", 0, 0.7, {"arm": "main", "member": "probe"}),
        Metric("filter", "seconds", 0, 3.0, {"arm": "main"}),
    ]
    assert figures.metric_lines(iteration) == ["iteration 1: 4-way accuracy mlp 50.0% (chance 25%)"]


def test_key_figures() -> None:
    folds = [
        {"held_out_perplexity": {"forward": 90.04, "backward": 88.0}},
        {"held_out_perplexity": {"forward": 92.0, "backward": 85.26}},
    ]
    assert figures.summary_text("train_lm", {"folds": folds, "gold_unseen": True}) == (
        "2 models, perplexity 85.3 to 92.0 on unseen captions"
    )
    assert figures.summary_text("generate", {"candidates": 50_800, "contexts": 400}) == (
        "400 contexts, 50,800 candidates"
    )
    assert figures.summary_text("filter", {"contexts": 9}) == "9 contexts"


def test_the_table_of_curves() -> None:
    def curve(first: float, last: float) -> dict[str, Any]:
        return {"accuracy_4way": {"first": first, "last": last}}

    summary = {
        "phases": {
            "mlp": {"mlp": curve(0.6, 0.4)},
            "ensemble": {"ensemble": curve(0.5, 0.35), "mlp": curve(0.3, 0.25)},
        },
        "beside": {
            "control-before": {"mlp": {"accuracy_4way": 0.6}},
            "control-after": {"mlp": {"accuracy_4way": 0.61}},
            "probe-before": {"probe": {"accuracy_4way": 0.7}},
            "probe-after": {"probe": {"accuracy_4way": 0.4}},
        },
    }
    assert figures.curve_rows(summary) == [
        ["ensemble", "", "50.0% -> 35.0%", ""],
        ["mlp", "60.0% -> 40.0%", "30.0% -> 25.0%", "60.0% -> 61.0%"],
        ["held-out probe", "", "70.0% -> 40.0%", ""],
    ]
    assert figures.curve_rows({}) == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert figures.duration(seconds) == text


def test_a_terminal_shows_bars_and_leaves_the_lines() -> None:
    console = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
    reporter = TerminalReporter(console)
    with reporter.watching():
        reporter.event(Progress("train_lm", 5, 10, "epochs", "[fold 1]"))
        reporter.event(Progress("train_lm", 6, 10, "epochs"))
        reporter.event(Metric("train_lm", "perplexity", 5, 80.0, {"direction": "forward"}))
        reporter.event(Progress("train_lm", 0, 0, "scores"))
        reporter.event(Finished("train_lm", {"folds": [{}, {}]}))
    text = console.export_text()
    assert "epoch 6: perplexity forward 80.0" in text
    assert "Language models done: 2 models" in text
