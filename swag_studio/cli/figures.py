"""Metrics and summaries in the words of a person. Text only: no terminal, no project."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from swag_studio.events import Metric, Progress

TITLES = {
    "ingest": "Import",
    "prepare": "Prepare",
    "train_lm": "Language models",
    "generate": "Candidates",
    "filter": "Filtering",
    "release": "Draft release",
}

# What of a stage's summary is told first. A summary without them is told from its beginning.
KEY_FIGURES = {
    "ingest": ("documents", "captions", "adjacent_pairs", "own_contexts"),
    "prepare": ("pairs", "contexts", "selected", "vocabulary"),
    "release": ("questions", "train", "val", "test"),
}


def title(stage: str) -> str:
    return TITLES.get(stage, stage)


def progress_text(event: Progress) -> str:
    """ "Candidates: 96 of 400 contexts, fold 1"."""
    amount = f"{event.done:,} of {event.total:,}" if event.total else f"{event.done:,}"
    text = f"{title(event.stage)}: {amount} {event.unit}".rstrip()
    return f"{text}, {event.note}" if event.note else text


def metric_lines(metrics: Sequence[Metric]) -> list[str]:
    """The key metrics of one batch as lines: perplexities per epoch, accuracies per iteration."""
    lines = []
    for key in dict.fromkeys((m.stage, m.step, m.tags.get("fold", "")) for m in metrics):
        group = [m for m in metrics if (m.stage, m.step, m.tags.get("fold", "")) == key]
        stage, step, fold = key
        if stage == "train_lm":
            values = _values(group, "perplexity", "direction")
            if values:
                where = f"fold {fold}, " if fold else ""
                lines.append(f"{where}epoch {step + 1}: perplexity {values}")
        elif stage == "filter":
            main = [m for m in group if m.tags.get("arm", "main") == "main"]
            values = _values(main, "accuracy_4way", "member", percent=True)
            if values:
                lines.append(f"iteration {step + 1}: 4-way accuracy {values} (chance 25%)")
    return lines


def _values(metrics: Sequence[Metric], name: str, tag: str, percent: bool = False) -> str:
    found = [m for m in metrics if m.name == name and math.isfinite(m.value)]
    form = "{:.1%}" if percent else "{:.1f}"
    return ", ".join(f"{m.tags.get(tag, '')} {form.format(m.value)}".strip() for m in found)


def summary_text(stage: str, summary: Mapping[str, Any], most: int = 5) -> str:
    """A stage's key figures: "12,588 adjacent pairs, 17,505 captions"."""
    names = [name for name in KEY_FIGURES.get(stage, ()) if name in summary] or list(summary)
    texts = [(name.replace("_", " "), _figure(summary[name])) for name in names]
    return ", ".join(f"{text} {name}" for name, text in texts if text not in (None, "0"))


def _figure(value: Any) -> str | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}" if math.isfinite(value) else "undefined"
    return None


def duration(seconds: float) -> str:
    """ "41 s", "3 min 20 s", "2 h 5 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
