"""Runs a project in processes of its own, kills them, and compares what is left on the disk."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiny import captions

from swag_studio.engine.ingest import run_import
from swag_studio.project import FOLDERS, Project
from swag_studio.recipe import STAGES, Recipe

LIMIT = 1800.0  # seconds after which a run counts as hung


def make(root: Path, recipe: Recipe, documents: int) -> Path:
    """A project with the first `documents` of the demo's captions; 0 takes them all."""
    with Project.create(root, recipe) as project:
        list(run_import(captions(root.with_suffix(".json"), documents), project))
    return root


def start(root: Path) -> subprocess.Popen[str]:
    """`swag-studio run` in a process of its own, telling events as JSON lines."""
    return subprocess.Popen(
        [sys.executable, "-m", "swag_studio", "run", str(root), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(root: Path) -> list[dict[str, Any]]:
    """Runs to the end and returns the events."""
    process = start(root)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    return [json.loads(line) for line in out.splitlines()]


def stages_of(events: list[dict[str, Any]]) -> list[str]:
    """Whose each event is, in their order."""
    return [event["stage"] for event in events if event.get("stage")]


def kill_at(root: Path, stage: str, number: int, delay: float) -> str:
    """Runs until a stage told `number` events more than one, or a later stage told any, and
    `delay` seconds passed, then kill -9.

    Returns the stage that was killed, or "" when the run ended before.
    """
    process = start(root)
    assert process.stdout is not None
    at, told = "", 0
    try:
        for text in process.stdout:
            event = json.loads(text)
            if event["type"] in ("summary", "error"):
                assert event["type"] == "summary", event
                return ""
            at = event.get("stage", at)
            told += event.get("stage") == stage
            if told > number or (at and STAGES.index(at) > STAGES.index(stage)):
                break
        time.sleep(delay)
        return at if process.poll() is None else ""
    finally:
        process.kill()
        process.communicate()


def killed(root: Path, kills: int, told: list[str], rng: random.Random) -> list[str]:
    """Kills a run `kills` times at random moments; returns the stages that were killed.

    `told` has the stages of the events of an unbroken run: the moments are drawn so that the kills
    spread over all of it but its short last stage. They are places within a stage, since a run on
    a busy machine tells of its progress more often than one on an idle machine.
    """
    places = [place for place, stage in enumerate(told) if stage != STAGES[-1]]
    stages = []
    for place in sorted(rng.sample(places, kills)):
        number = told[:place].count(told[place])
        if stage := kill_at(root, told[place], number, rng.uniform(0, 0.2)):
            stages.append(stage)
    finish(root)
    return stages


def fingerprint(root: Path) -> dict[str, str]:
    """Every file of every artifact but run.json, by hash, and the rows that the stages wrote."""
    found = {}
    for folder in FOLDERS.values():
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.name != "run.json":
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path.relative_to(root))] = digest
    with Project.open(root, readonly=True) as project:
        store = project.store
        rows: dict[str, Any] = {
            "contexts": list(store.contexts(1)),
            "dropped": list(store.dropped_pairs(1)),
            "assigned": list(store.assigned(1)),
        }
        for stage in STAGES:
            (artifact,) = store.artifacts(stage)
            rows[f"summary of {stage}"] = artifact.summary
            rows[f"metrics of {stage}"] = [
                m for m in store.metrics(stage, 1) if m.name not in CLOCKED
            ]
        assert project.check() == []
    found |= {name: hashlib.sha256(repr(r).encode()).hexdigest() for name, r in rows.items()}
    return found


@dataclass(frozen=True)
class Unbroken:
    """A run of the tiny project that nobody broke."""

    fingerprint: dict[str, str]
    told: list[str]  # the stages of its events


CLOCKED = ("seconds",)  # metrics that tell time, and so differ from run to run


def differences(a: dict[str, str], b: dict[str, str]) -> list[str]:
    """The names that are not the same in both."""
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
