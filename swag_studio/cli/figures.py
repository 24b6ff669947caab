"""Metrics and summaries in the words of a person. Text only: no terminal, no project."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from swag_studio.errors import quoted
from swag_studio.events import Metric, Progress

if TYPE_CHECKING:
    from swag_studio.mending import Mended

TITLES = {
    "ingest": "Import",
    "prepare": "Prepare",
    "train_lm": "Language models",
    "generate": "Candidates",
    "filter": "Filtering",
    "release": "Draft release",
    "publish": "Release",
    "simulate": "Simulated annotators",
}


def title(stage: str) -> str:
    return TITLES.get(stage, stage)


def progress_text(event: Progress) -> str:
    """ "Candidates: 96 of 400 contexts, fold 1"."""
    amount = f"{event.done:,} of {event.total:,}" if event.total else f"{event.done:,}"
    text = f"{title(event.stage)}: {amount} {event.unit}".rstrip()
    return f"{text}, {event.note}" if event.note else text


# --- metrics ---------------------------------------------------------------------------------


def metric_lines(metrics: Sequence[Metric]) -> list[str]:
    """The key metrics of one batch as lines: perplexities per epoch, accuracies per iteration."""
    lines = []
    for stage, step, fold in dict.fromkeys((m.stage, m.step, m.tags.get("fold")) for m in metrics):
        group = [m for m in metrics if (m.stage, m.step, m.tags.get("fold")) == (stage, step, fold)]
        if stage == "train_lm":
            where = "" if fold is None else f"fold {fold}, "
            values = _values(group, "perplexity", "direction", "{:.1f}")
            lines.append(values and f"{where}epoch {step + 1}: perplexity {values}")
        elif stage == "filter":
            main = [m for m in group if m.tags.get("arm", "main") == "main"]
            loop = [m for m in main if m.tags.get("member") != "probe"]
            values = _values(loop, "accuracy_4way", "member", "{:.1%}")
            lines.append(values and f"iteration {step + 1}: 4-way accuracy {values} (chance 25%)")
    return [line for line in lines if line]


def _values(metrics: Sequence[Metric], name: str, tag: str, form: str) -> str:
    """ "forward 81.3, backward 79.9"; empty where there is no such metric."""
    found = [m for m in metrics if m.name == name and math.isfinite(m.value)]
    return ", ".join(f"{m.tags.get(tag, '')} {form.format(m.value)}".strip() for m in found)


def mended_lines(mended: Sequence[Mended], project: str) -> list[str]:
    """What was done about damage, a sentence each, and what to do next."""
    lines = []
    for m in mended:
        if m.how == "removed":
            lines.append(f"{m.name} is removed: it was damaged, and nothing depends on it.")
        elif m.how == "recipe":
            aside = f" What was there is in {m.aside}." if m.aside else ""
            lines.append(
                f"{m.name} is written as the newest result has it; look whether it is as you want "
                f"it: swag-studio recipe {quoted(project)}.{aside}"
            )
        elif m.how == "earlier":
            lines.append(
                f"{m.name} is left as it is: it was made with an earlier recipe or by an earlier "
                "version of the program, and a run would not make it."
            )
        else:
            aside = f" What was there is in {m.aside}, and may be deleted." if m.aside else ""
            lines.append(f"{m.name} is made anew at the next run.{aside}")
    if any(m.how == "anew" for m in mended):
        lines.append(f"Next: swag-studio run {quoted(project)}")
    return lines


# --- summaries -------------------------------------------------------------------------------


def summary_text(stage: str, summary: Mapping[str, Any]) -> str:
    """A stage's key figures: "17,505 captions, 12,588 adjacent pairs"."""
    parts = [_counted(summary, name) for name in _COUNTS.get(stage, summary)]
    if stage == "train_lm":
        folds = summary.get("folds") or [{}]
        found = [v for f in folds for v in f.get("held_out_perplexity", {}).values()]
        parts = [f"{len(folds)} models"]
        if found:
            parts.append(f"perplexity {min(found):.1f} to {max(found):.1f} on unseen captions")
    elif stage == "filter":
        for name, (first, last) in _curve(summary, "ensemble").items():
            if name == "ensemble":
                parts.append(f"ensemble {first:.1%} -> {last:.1%} (chance 25%)")
    return ", ".join(part for part in parts[:5] if part)


def curve_rows(summary: Mapping[str, Any]) -> list[list[str]]:
    """The filter's 4-way accuracies: member, first -> last of each phase, and of the control arm.

    First and last are means over five iterations; the control arm's distractors are random.
    """
    mlp, joint = _curve(summary, "mlp"), _curve(summary, "ensemble")
    beside = summary.get("beside", {})
    rows = []
    for name in dict.fromkeys([*joint, *mlp]):
        control = _both(beside, "control", name)
        rows.append([name, _arrow(mlp.get(name)), _arrow(joint.get(name)), control])
    if probe := _both(beside, "probe", "probe"):
        rows.append(["held-out probe", "", probe, ""])
    return rows


_COUNTS: dict[str, tuple[str, ...]] = {
    "ingest": ("documents", "captions", "adjacent_pairs", "own_contexts"),
    "prepare": ("pairs", "contexts", "selected"),
    "train_lm": (),
    "generate": ("contexts", "candidates", "left_out"),
    "filter": ("contexts", "left_out"),
    "release": ("questions", "train", "val", "test"),
    "publish": ("questions", "train", "val", "test", "unverified"),
}


def _counted(summary: Mapping[str, Any], name: str) -> str:
    """ "1,983 contexts"; empty for what is no number, is zero, or is absent."""
    value = summary.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not value:
        return ""
    return f"{value:,} {name.replace('_', ' ')}"


def _curve(summary: Mapping[str, Any], phase: str) -> dict[str, tuple[float, float]]:
    """Member -> 4-way accuracy at the phase's first and last iterations."""
    members = summary.get("phases", {}).get(phase, {})
    curves = {name: figures.get("accuracy_4way", {}) for name, figures in members.items()}
    return {n: (c["first"], c["last"]) for n, c in curves.items() if c.keys() >= {"first", "last"}}


def _both(beside: Mapping[str, Any], measure: str, member: str) -> str:
    """A measure before and after the filter; empty unless both were taken."""
    taken = [beside.get(f"{measure}-{when}", {}).get(member, {}) for when in ("before", "after")]
    values = [t.get("accuracy_4way") for t in taken]
    return "" if None in values else _arrow((values[0], values[1]))


def _arrow(pair: tuple[float, float] | None) -> str:
    return "" if pair is None else f"{pair[0]:.1%} -> {pair[1]:.1%}"


def duration(seconds: float) -> str:
    """ "41 s", "3 min 20 s", "2 h 5 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
